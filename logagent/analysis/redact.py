"""Redaction: secrets and personal data become numbered masks before any text leaves the process.

One redactor serves one run. It has no off switch. Rules: security.md 7; their expressions are linear in time.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NewType

from logagent.analysis import _redact_keys, _redact_patterns, _redact_personal
from logagent.analysis._redact_screen import NOTHING, SCREEN
from logagent.analysis._redact_view import Hit, View, is_plain, views
from logagent.expressions import expression

ModelText = NewType("ModelText", str)
"""Text a model may see: redacted and sanitised. Raw text in its place is a type error, so every leak is found."""

FAILED = ModelText("[redaction failed]")
_PASSES = 4
_REMEMBERED, _MOST_REMEMBERED = 2_000, 20_000
"""Characters of a text, and texts."""
_ANY_MASK = expression(r"<[a-z_]{2,16}:[a-z0-9]{4,16}:[0-9]{1,9}>")
_NUMBER = expression(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_FOLDED = frozenset({"email"})
_SPACED = frozenset({"card", "iban", "phone"})


class Redactor:
    """Masks secrets for one run, as `<email:k7q2:1>`, `<password:k7q2:2>` and so on.

    The same value always gets the same mask, in every field, tool and turn, so the model can tell two users apart and
    evidence can be verified by masking the stored record again. Masks are numbers and not hashes, because the hash
    of a phone number can be undone by trying all of them. `k7q2` is the nonce of the run.

    Not thread-safe: only the loop's own thread redacts.
    """

    def __init__(self, nonce: str, *, addresses: bool = False, custom: Sequence[str] = ()) -> None:
        self._addresses = addresses
        self._custom = tuple(map(re.compile, custom))
        self._masks: dict[str, str] = {}
        self._originals: dict[str, str] = {}
        self._clean: set[str] = set()
        """Texts that hold no secret, or none any more: most texts of a run come again."""
        self._kinds: Counter[str] = Counter()
        self._mask_shape = re.compile(rf"<[a-z_]{{2,16}}:{re.escape(nonce)}:\d{{1,9}}>")
        self._nonce = nonce

    @property
    def counts(self) -> dict[str, int]:
        """Different values masked so far, by kind: `{"email": 12, "token": 9}`."""
        return dict(self._kinds)

    def __call__(self, text: str) -> ModelText:
        """Mask every secret in `text`; masking twice changes nothing. A failure masks the whole text."""
        if text in self._clean:
            return ModelText(text)
        try:
            for _ in range(_PASSES):
                masked = self._once(text)
                if masked == text:
                    break
                text = masked
        except (ValueError, LookupError, TypeError, RecursionError):
            return FAILED
        if len(text) <= _REMEMBERED:
            if len(self._clean) >= _MOST_REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return ModelText(text)

    def unmask_query(self, text: str) -> str:
        """Our own masks in a tool argument become the values they stand for; any other mask stays as it is."""
        if "<" not in text:
            return text
        return self._mask_shape.sub(lambda match: self._originals.get(match[0], match[0]), text)

    def _once(self, text: str) -> str:
        spans = secrets(text, addresses=self._addresses, custom=self._custom)
        if not spans:
            return text
        quoted = text[:1] in {"{", "["}
        parts: list[str] = []
        last = 0
        for start, end, kind in spans:
            parts.append(text[last:start])
            mask = self._mask(text[start:end], kind)
            parts.append(f'"{mask}"' if quoted and _is_bare_number(text, start, end) else mask)
            last = end
        parts.append(text[last:])
        masked = "".join(parts)
        return self._as_json(text) if quoted and _is_json(text) and not _is_json(masked) else masked

    def _as_json(self, text: str) -> str:
        """A document that a mask would break, masked value by value and written anew."""
        return json.dumps(self._walked(json.loads(text), ""), ensure_ascii=False)

    def _walked(self, value: object, key: str) -> object:
        if isinstance(value, dict):
            return {self._once(name): self._walked(part, name) for name, part in value.items()}
        if isinstance(value, list):
            return [self._walked(part, key) for part in value]
        if isinstance(value, bool) or value is None:
            return value
        kind = _redact_keys.names_secret(key, str(value))
        if kind:
            return self._mask(str(value), kind)
        masked = self._once(str(value))
        return value if masked == str(value) else masked

    def _mask(self, value: str, kind: str) -> str:
        key = _normal(value, kind)
        mask = self._masks.get(key)
        if mask is None:
            mask = f"<{kind}:{self._nonce}:{len(self._masks) + 1}>"
            self._masks[key] = mask
            self._originals[mask] = value
            self._kinds[kind] += 1
        return mask


def secrets(text: str, *, addresses: bool = False, custom: Sequence[re.Pattern[str]] = ()) -> list[Hit]:
    """Where secrets stand in `text`: merged, in order, without those that touch a mask. Safe in any thread."""
    if not addresses and not custom and is_plain(text) and SCREEN.called(text) is NOTHING:
        return []
    hits = sorted({view.raw_span(hit) for view in views(text) for hit in _hits(view, addresses=addresses)})
    if custom:
        own = (match.span() for rule in custom for match in rule.finditer(text))
        hits = sorted({*hits, *(Hit(start, end, "custom") for start, end in own)})
    if not hits:
        return []
    taken = [match.span() for match in _ANY_MASK.finditer(text)]
    merged: list[Hit] = []
    for hit in hits:
        if hit.end <= hit.start or _touches(hit, taken):
            continue
        if merged and hit.start < merged[-1].end:
            kind = merged[-1].kind if _length(merged[-1]) >= _length(hit) else hit.kind
            merged[-1] = Hit(merged[-1].start, max(hit.end, merged[-1].end), kind)
        else:
            merged.append(hit)
    return merged


def _hits(view: View, *, addresses: bool) -> Iterator[Hit]:
    called = SCREEN.called(view.text)
    if called.keys:
        yield from _redact_keys.find(view)
    if called.rules or called.block:
        yield from _redact_patterns.find(view, called.rules, block=called.block)
    if called.personal:
        yield from _redact_personal.find(view, announced=called.announced)
    if addresses:
        yield from _redact_personal.addresses(view.text)


def _normal(value: str, kind: str) -> str:
    """What makes two spellings the same value."""
    *_, decoded = views(value)
    plain = decoded.text
    if kind in _FOLDED:
        return plain.lower()
    return re.sub(r"[ ().-]", "", plain) if kind in _SPACED else plain


def _touches(hit: Hit, taken: list[tuple[int, int]]) -> bool:
    """Whether a hit overlaps one of the sorted spans."""
    after = bisect_right(taken, (hit.start, hit.end))
    near = taken[max(0, after - 1) : after + 1]
    return any(hit.start < end and start < hit.end for start, end in near)


def _length(hit: Hit) -> int:
    return hit.end - hit.start


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_bare_number(text: str, start: int, end: int) -> bool:
    """A number of a JSON document: its mask needs quotes, or the document breaks."""
    if not _NUMBER.fullmatch(text, start, end):
        return False
    before, after = text[:start].rstrip(), text[end:].lstrip()
    return before[-1:] in {":", ",", "["} and after[:1] in {",", "}", "]"}
