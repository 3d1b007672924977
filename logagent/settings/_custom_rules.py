"""Rules of a team's own for the redactor: regular expressions that cannot run away.

The engine of Python backtracks. An expression is refused where it could try more than a fixed number of ways for a
character: repetitions inside repetitions, back references, and repetitions without a limit one behind the other.
"""

import re
from re import _constants, _parser  # type: ignore[attr-defined]  # the tree that `re` itself compiles
from typing import Any

LONGEST = 500
_MANY = 1_000
"""A repetition up to this many times counts as limited."""
_REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT})
_FORBIDDEN = frozenset({_constants.GROUPREF, _constants.GROUPREF_EXISTS, _constants.GROUPREF_IGNORE})


def check(pattern: str) -> str:
    """The pattern, where it can be run on every line.

    Raises:
        ValueError: it is no expression, matches nothing at all, or could take long; the text says which.
    """
    if len(pattern) > LONGEST:
        raise ValueError(f"an expression of more than {LONGEST} characters")
    try:
        tree, compiled = _parser.parse(pattern), re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"no regular expression: {error}") from error
    if compiled.match("") is not None:
        raise ValueError("an expression that matches nothing at all matches everywhere")
    if _unlimited(tree, inside=False) > 1:
        raise ValueError("more than one repetition without a limit: write {0,200} in place of *")
    return pattern


def _unlimited(tree: Any, *, inside: bool) -> int:
    """Repetitions without a limit; refuses those that multiply."""
    count = 0
    for operation, argument in tree:
        if operation in _FORBIDDEN:
            raise ValueError("a reference to a group cannot be limited in time")
        if operation is _constants.BRANCH and inside:
            raise ValueError("a choice inside a repetition can take very long: write [ab] in place of a|b")
        if operation in _REPEATS:
            _, most, body = argument
            endless = most is _constants.MAXREPEAT or most > _MANY
            if inside and most != 1:
                raise ValueError("a repetition inside a repetition can take very long")
            count += endless + _unlimited(body, inside=inside or most != 1)
        else:
            count += sum(_unlimited(part, inside=inside) for part in _parts(argument))
    return count


def _parts(argument: Any) -> list[Any]:
    """The expressions inside of a group, a branch or an assertion."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, list | tuple):
        return [found for one in argument for found in _parts(one)]
    return []
