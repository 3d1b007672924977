# ruff: noqa: SIM905 - lists of words read best as words
"""Is what stands behind a telling key a secret, or a word, a number, a path, a mask?"""

import re

from logagent.expressions import expression

_INNOCENT = expression(
    r"(?:null|none|nil|true|false|undefined|empty|unset|yes|no|on|off|default|n/a|\(?(?:hidden|masked|redacted|filtered"
    r"|removed|secret|omitted)\)?|[-+]?\d{1,5}(?:\.\d*)?|[*•xX.#?_-]+|\$\{?[\w.:-]+\}?|\{\{.*\}\}|%[\w()]{1,20}|\{\w{0,30}\}"
    r"|<[^<>]{0,64}>?|\[[^\[\]]{0,64}\]?|REDACTED\]?|FILTERED\]?|[*x]{3,}.{0,4}|:\w+|\$\d)\Z",
    re.IGNORECASE,
)
_PATH = expression(r"(?:~|\.{0,2})?/[\w.@+/-]*\Z|[A-Za-z]:\\|file:|https?://[^\s:@]*\Z|arn:aws")
SHORT = 4
_WEAK_LENGTH = 8
PROSE = frozenset(
    "must is was are has have had incorrect invalid required expired mismatch not authentication failed does do "
    "did cannot can too should missing for of and or to in on at by with from the a an be been will would wrong "
    "denied rejected unknown error empty change changed reset received sent used needed valid verification "
    "validation check login user please no than rotated refreshed issued revoked generated updated created found "
    "retrieved length contains unauthorized forbidden unexpected accepted provided supplied ok success successful "
    "failure".split()
)


def is_innocent(value: str) -> bool:
    """Nothing, a placeholder, a mask, a word of state, or a number of fewer than six digits."""
    return not value or _INNOCENT.match(value) is not None


def is_path(value: str) -> bool:
    """A file name, URL or ARN, and not base64 that begins with a slash."""
    if not _PATH.match(value):
        return False
    return not value.startswith("/") or all(len(part) <= 24 for part in value.split("/"))  # noqa: PLR2004


def looks_random(value: str) -> bool:
    """Long enough, and not one lower-case word: digits, mixed case or symbols."""
    if value.isdigit():
        return len(value) >= 6  # noqa: PLR2004
    if len(value) < _WEAK_LENGTH or " " in value.strip():
        return False
    mixed = value != value.lower() and value != value.upper()
    return any(char.isdigit() for char in value) or mixed or len(value) >= 24  # noqa: PLR2004
