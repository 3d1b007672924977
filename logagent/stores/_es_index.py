"""The grammar of index names and patterns (security.md 8), and what is narrower than what."""

from collections.abc import Sequence

from logagent.errors import StoreQueryError, UsageError
from logagent.expressions import expression

_NAME = expression(r"[a-z0-9][a-z0-9_.-]{0,200}\*?\Z")
_FEWEST_BEFORE_STAR = 4


def check_pattern(pattern: str, remotes: Sequence[str] = ()) -> str:
    """The pattern itself, when it is one index, data stream, alias or a pattern with one star at its end.

    Args:
        pattern: such as `logs-*` or `eu:logs-*`; no comma list.
        remotes: names of remote clusters that may stand before a colon.

    Raises:
        UsageError: anything else: hidden or system indices, `_all`, exclusions, date math, too short a prefix.
    """
    remote, colon, name = pattern.rpartition(":")
    if colon and remote not in remotes:
        raise UsageError(
            f"The remote cluster {remote!r} of index pattern {pattern!r} is not configured.",
            code="LA702",
            hint="List it in es.remotes.",
            values={"pattern": pattern, "remote": remote},
        )
    literal = name.removesuffix("*")
    if not _NAME.match(name) or ".." in name or (name.endswith("*") and len(literal) < _FEWEST_BEFORE_STAR):
        raise UsageError(
            f"The index pattern {pattern!r} is not allowed.",
            code="LA702",
            hint="Allowed: lower-case names with at most one *, at the end, after at least four characters (logs-*).",
            values={"pattern": pattern},
        )
    return pattern


def check_narrower(asked: Sequence[str], scope: Sequence[str]) -> tuple[str, ...]:
    """The asked names, when each is equal to or narrower than a pattern of the scope; the scope for none.

    Raises:
        StoreQueryError: a name outside the scope.
    """
    for name in asked:
        if not any(_covers(pattern, name) for pattern in scope):
            raise StoreQueryError(f"{name} is outside the scope.", hint=f"Allowed: {', '.join(scope)}.")
    return tuple(asked) or tuple(scope)


def _covers(pattern: str, name: str) -> bool:
    if pattern == name:
        return True
    literal = pattern.removesuffix("*")
    legal = _NAME.match(name.rpartition(":")[2])
    return pattern.endswith("*") and legal is not None and ".." not in name and name.startswith(literal)
