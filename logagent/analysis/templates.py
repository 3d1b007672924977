"""Templates: generic masks, then a small Drain per service and call site (depth 2, similarity 0.7)."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat

from logagent.analysis.digits import alike
from logagent.analysis.events import error_fields
from logagent.analysis.facts import Event
from logagent.analysis.redact import secrets
from logagent.expressions import expression

LIMIT = 1500
"""Characters of a message that take part in its template."""

SLOT = "<*>"
_SHORT = 80
_WARN, _ERROR = 3, 4

MASK = expression(
    r"(?P<id>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})"
    r"|(?P<url>\b[a-z][a-z0-9+]{1,9}://[^\s,;'\"\])>]+)"
    r"|(?P<time>\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)"
    r"|(?P<ip>/?(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?:,(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?)*)"
    r"|(?P<hex>\b0[xX][0-9a-fA-F]+\b)"
    r"|(?P<path>(?:/[\w.@%+=~-]+){2,}/?(?:\?[^\s\"'<>(){}\[\]]*)?)"
    r"|(?P<key>\b(?=[a-f]*\d[0-9a-f]{7})[0-9a-f]{8,}\b|\b(?=[a-z]*\d+[a-z]+\d)[a-z0-9]{9,}\b)"
    r"|(?P<num>[-+]?\d+(?:[.,]\d+)*(?:µs|ms|us|ns|s|m|h|d|[KMGT]i?B?|B|%)?)"
)
"""What varies from line to line. Linear: no alternative can match one stretch in two ways."""

_SHOWN = {"id": "<id>", "url": "<url>", "time": "<time>", "ip": "<ip>", "hex": "<hex>", "path": "<path>", "key": "<id>"}
_TYPED_SLOT = expression("|".join([*dict.fromkeys(_SHOWN.values()), "<num>"]))
_DATE = expression(r"\d{4}-\d\d-\d\d$")
_REMEMBERED = 64
"""Longest word whose mask is remembered: most words come again and again."""
_LINED = expression(r"[#:]\d{1,9}$")
"""A call site with its line number."""

_DELIMITERS = r"[\s\[\]{}(),=:：|]+"
_SPLIT = expression(_DELIMITERS)
_PIECE = expression(r"[^\s\[\]{}(),=:：|]+")
_MORE = "\ue000"
"""Stands for each further word of a secret until the words are aligned; a private character, never shown."""
_WITH_MORE = expression(rf"{_DELIMITERS}{_MORE}")
_PERSONAL = {kind: f"<{kind}>" for kind in ("email", "phone", "card", "iban", "national_id")}
_MASKED = "<masked>"
"""Not `<password>`: that reads like an XML element with a password behind it."""
_BEYOND = 256
"""Characters behind LIMIT that tell whether a secret is cut there."""
_EMPTY, _FILLED = " ()", f" ({SLOT})"
"""A value that is missing once is still a value: `from host ()` is `from host (name)`."""
_STATE_WORDS = (
    "up down open opened closed close on off ok failed failure success succeeded error ready notready true false "
    "enabled disabled started stopped starting stopping healthy unhealthy connected disconnected available unavailable "
    "passed running offline online active inactive gained lost half_open half-open get post put delete patch head"
)
_STATE = frozenset(_STATE_WORDS.split())
"""Words of state, and HTTP methods: never merged into a slot, else "link up" and "link down" are one template."""

_STATUS = expression(
    r"(HTTP/\d(?:\.\d)?\"?\s+|\bstatus(?:[ _]?code)?[\"\s:=]+|\b(?:GET|POST|PUT|DELETE|PATCH|HEAD)\s+\S+\s+)"
    r"([1-5])\d\d\b",
    re.IGNORECASE,
)
_STATUS_WORDS = ("http/", "status", "get", "post", "put", "delete", "patch", "head")
_STATUS_LETTERS = "abcde"
_FAILED_STATUS = "status-exx"


def tokens(text: str) -> list[str]:
    """Words of a masked text."""
    return [word for word in _SPLIT.split(text) if word]


def split_words(text: str) -> tuple[list[str], list[str]]:
    """Words of a masked text with the empty ones at its ends, and what stands between each two."""
    return _SPLIT.split(text), _SPLIT.findall(text)


def join_words(words: Sequence[str], gaps: Sequence[str]) -> str:
    """The text that `split_words` took apart."""
    return "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))


def mask(message: str) -> str:
    """The first LIMIT characters with everything that varies replaced by `<*>`.

    >>> mask("user 42 from 10.0.0.7:5432 in 12ms")
    'user <*> from <*> in <*>'
    """
    text = message[:LIMIT]
    if "0x" in text or "0X" in text:
        return _mask_text(text)  # the one place where a digit is not like any other
    return _mask_alike(alike(text))


@lru_cache(maxsize=1 << 12)
def _mask_alike(text: str) -> str:
    """The mask of all texts that differ in digits only: those are masked whatever they are."""
    return _mask_text(text)


def _mask_text(text: str) -> str:
    words = []
    for word in text.split(" "):
        masked = _mask_word(word) if len(word) <= _REMEMBERED else MASK.sub(SLOT, word)
        if masked is None:
            return MASK.sub(SLOT, text).replace(_EMPTY, _FILLED)
        words.append(masked)
    return " ".join(words).replace(_EMPTY, _FILLED)


@lru_cache(maxsize=1 << 14)
def _mask_word(word: str) -> str | None:
    """One word between blanks, masked; None for a date, which may go on with its time behind the blank."""
    return None if _DATE.search(word) else MASK.sub(SLOT, word)


def typed_mask(message: str) -> str:
    """The same for readers: slots say what they hold, and a secret is a slot too.

    >>> typed_mask("user 42 from 10.0.0.7:5432 in 12ms, mail jo7@example.com")
    'user <num> from <ip> in <num>, mail <email>'
    """
    return _WITH_MORE.sub("", _typed(message))


def filled(typed: str, messages: Sequence[str]) -> str:
    """A typed template with the value in place of each slot that holds the same one in all its lines.

    No slot is filled where slots and values cannot be told to be the same places, or where there is a secret: what all
    lines hold stands in the first of them.

    >>> filled("user <num> waits <num>", ["user 7 waits 30s", "user 8 waits 30s"])
    'user <num> waits 30s'
    """
    if not messages or any(True for _ in secrets(messages[0][: LIMIT + _BEYOND])):
        return typed
    held = [[hit[0] for hit in MASK.finditer(keep_status(message[:LIMIT]))] for message in messages]
    if {len(values) for values in held} != {len(_TYPED_SLOT.findall(typed))}:
        return typed
    values = iter([one[0] if len(set(one)) == 1 else "" for one in zip(*held, strict=True)])
    return _TYPED_SLOT.sub(lambda hit: next(values) or hit[0], typed)


def _typed(message: str) -> str:
    """`typed_mask` with as many words as the plain mask has: each further word of a secret is `_MORE`."""
    return _slotted(message, _kind, lambda kind: chain([_PERSONAL.get(kind, _MASKED)], repeat(_MORE)))


def _kind(hit: re.Match[str]) -> str:
    return _SHOWN.get(str(hit.lastgroup), "<num>")


def _plain(message: str) -> str:
    """The mask without any secret, in as many words: each further word of a secret is `_MORE`."""
    return _slotted(message, lambda _: SLOT, lambda _: chain([SLOT], repeat(_MORE)))


def _slotted(message: str, shown: Callable[[re.Match[str]], str], secret: Callable[[str], Iterator[str]]) -> str:
    """What varies replaced by `shown`, and the words of each secret by those of `secret(kind)`.

    Secrets are looked for in the whole text: once its digits are slots, a token is no longer known for one.
    """
    hits = list(MASK.finditer(message[:LIMIT]))
    parts, last = [], 0
    for start, end, kind in _bare_secrets(message, hits):
        before = [hit for hit in hits if last <= hit.start() and hit.end() <= start]
        parts.append(_replaced(message, last, start, before, shown))
        inside = [hit for hit in hits if start <= hit.start() and hit.end() <= end]
        words = secret(kind)
        held = _replaced(message, start, end, inside, lambda _: "x")
        parts.append(_PIECE.sub(lambda _, words=words: next(words), held))  # type: ignore[misc]
        last = end
    rest = [hit for hit in hits if last <= hit.start()]
    parts.append(_replaced(message, last, min(len(message), LIMIT), rest, shown))
    return "".join(parts).replace(_EMPTY, _FILLED)


def _bare_secrets(message: str, hits: Sequence[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    """Secrets of which the slots of `hits` leave something to read, widened to the slots they touch."""
    for start, end, kind in secrets(message[: LIMIT + _BEYOND]):
        begin, stop = start, min(end, LIMIT)
        touched = [hit for hit in hits if hit.start() < stop and begin < hit.end()]
        left = _replaced(message, begin, stop, touched, lambda _: "") if begin < stop else ""
        if touched:
            begin, stop = min(begin, touched[0].start()), max(stop, touched[-1].end())
        if _PIECE.search(left):
            yield begin, stop, kind


def _replaced(
    text: str, start: int, end: int, hits: Sequence[re.Match[str]], shown: Callable[[re.Match[str]], str]
) -> str:
    """`text[start:end]` with each hit replaced, as far as it lies inside."""
    parts = []
    for hit in hits:
        parts += [text[start : max(start, hit.start())], shown(hit)]
        start = max(start, hit.end())
    return "".join([*parts, text[start:end]])


def keep_status(message: str) -> str:
    """HTTP status codes as their class, so that the number mask does not hide a failure.

    >>> keep_status("GET /cart 503")
    'GET /cart status-exx'
    """
    low = message.lower()
    for word in _STATUS_WORDS:  # most messages hold none, and looking is much cheaper than matching
        if word in low:
            return _STATUS.sub(lambda hit: f"{hit[1]}status-{_STATUS_LETTERS[int(hit[2]) - 1]}xx", message)
    return message


def status_codes(message: str) -> list[str]:
    """The codes that `keep_status` would fold.

    >>> status_codes("GET /cart 503")
    ['503']
    """
    low = message.lower()
    if not any(word in low for word in _STATUS_WORDS):
        return []
    return [hit[0][len(hit[1]) :] for hit in _STATUS.finditer(message[:LIMIT])]


class Drain:
    """Groups of equal length and first token whose tokens agree to `similarity` (He et al., ICWS 2017).

    Attributes:
        texts: masked text of each template, by id: the text of its first message, without secrets.
        alike: the same with one slot for each secret, however many words it has: what readers take for one text.
        keys: (service, call site) of each template, by id.
    """

    def __init__(self, similarity: float = 0.7) -> None:
        self.similarity = similarity
        self.texts: list[str] = []
        self.alike: list[str] = []
        self.keys: list[tuple[str, str]] = []
        self._raw: list[str] = []
        self._words: list[list[str]] = []
        self._exact: dict[tuple[str, str, str], int] = {}
        self._sites: dict[tuple[str, str], int] = {}
        self._groups: dict[tuple[str, str, int, str], list[int]] = {}

    def add(self, service: str, callsite: str, message: str, *, plain: bool = False) -> int:
        """Template id of one message; with `plain`, a call site with a line number is the template."""
        if plain and _LINED.search(callsite):
            found = self._sites.get((service, callsite))
            if found is None:
                found = self._sites[service, callsite] = self._new(service, callsite, mask(message), message)
            return found
        masked = mask(message)
        key = (service, callsite, masked)
        found = self._exact.get(key)
        if found is None:
            found = self._exact[key] = self._match(key, message)
        return found

    def display(self, template: int) -> str:
        """The template for readers: typed slots, and `<*>` where words were merged."""
        text = _typed(self._raw[template])
        typed, delimiters = split_words(text)
        words = iter(self._words[template])
        kept = ("<", _MORE)
        shown = [word if not word or next(words, "") != SLOT or word.startswith(kept) else SLOT for word in typed]
        return _WITH_MORE.sub("", join_words(shown, delimiters)).strip()

    def common(self, templates: Sequence[int]) -> str:
        """The masked text that all lines of all these templates share, `<*>` for every word in which any differ."""
        text = self.texts[templates[0]]
        typed, delimiters = split_words(text)
        own = [self._words[template] for template in templates]
        alike = [words for words in own if len(words) == len(own[0])]
        words = iter([some[0] if len(set(some)) == 1 else SLOT for some in zip(*alike, strict=True)])
        shown = [word if not word or next(words, "") == word else SLOT for word in typed]
        return join_words(shown, delimiters)

    def _new(self, service: str, callsite: str, masked: str, message: str) -> int:
        plain = _plain(message)
        self.texts.append(plain.replace(_MORE, SLOT))
        self.alike.append(" ".join(_WITH_MORE.sub("", plain).split()))
        self.keys.append((service, callsite))
        self._raw.append(message[: LIMIT + _BEYOND])
        self._words.append(tokens(masked))
        return len(self.texts) - 1

    def _match(self, key: tuple[str, str, str], message: str) -> int:
        service, callsite, masked = key
        words = tokens(masked)
        group = self._groups.setdefault((service, callsite, len(words), words[0] if words else ""), [])
        best, score = None, self.similarity
        for template in group:
            share = _agreement(self._words[template], words)
            if share >= score:
                best, score = template, share
        if best is None:
            best = self._new(service, callsite, masked, message)
            group.append(best)
        else:
            self._words[best] = [a if a == b else SLOT for a, b in zip(self._words[best], words, strict=True)]
        return best


def _agreement(group: Sequence[str], words: Sequence[str]) -> float:
    """Share of tokens that agree; -1 where a word of state differs."""
    same = 0
    for a, b in zip(group, words, strict=True):
        if a in (b, SLOT):
            same += 1
        if a != b and (_word(a) in _STATE or _word(b) in _STATE):
            return -1.0
    return same / max(1, len(words))


def _word(token: str) -> str:
    return token.strip("\"'").lower()


def mine(events: Iterable[Event]) -> Drain:
    """Set `template` of every event; answers the miner.

    A 5xx status, in a field or in the text, makes a template of its own and marks the event as failed.
    """
    drain = Drain()
    for event in events:
        text = keep_status(event.message[: LIMIT + _BEYOND])
        event.failed = event.failed or _FAILED_STATUS in text
        bland = (event.level or 0) >= _WARN and len(event.message) < _SHORT and bool(event.extra)
        if bland and (more := error_fields(event)):
            text += " | " + more
        plain = event.level is not None and event.level < _ERROR and not event.failed
        text += " [failed: 5xx]" if event.failed else ""
        event.template = drain.add(event.service, event.callsite, text, plain=plain)
    return drain
