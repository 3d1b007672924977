"""Regular expressions that are compiled when they are first used.

A run uses a part of the few hundred that the modules name, and compiling all of them would take longer than importing
the modules.
"""

import re
from typing import Any, AnyStr, Generic, cast


class _Expression(Generic[AnyStr]):
    """What stands for a `re.Pattern` until somebody asks it; from then on its methods are those of the pattern."""

    _compiled: re.Pattern[AnyStr] | None

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._flags = flags
        self._compiled = None

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet: each method once."""
        if name.startswith("__"):
            raise AttributeError(name)
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def expression(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, later: a pattern that is wrong raises `re.error` where it is first used.

    >>> expression(r"[0-9]+").findall("10 of 20")
    ['10', '20']
    """
    return cast("re.Pattern[AnyStr]", _Expression(pattern, flags))
