"""Merging the deltas of a stream into one assistant message (llm-endpoints.md 5 and 6)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

_SET_ONCE = frozenset({"id", "type", "role", "name", "index", "format", "object", "model"})
_TEXT_KEYS = ("text", "thinking", "content", "summary")


@dataclass(slots=True)
class Slot:
    """One tool call while its pieces arrive."""

    index: int | None = None
    id: str = ""
    names: list[str] = field(default_factory=list)
    """Distinct fragments; a name may be repeated whole, or come in pieces."""
    fragments: list[str] = field(default_factory=list)
    given: dict[str, object] | None = None
    """Arguments that came as an object."""
    extra: dict[str, object] = field(default_factory=dict)
    """Keys of the call that are unknown to us, e.g. signatures."""

    @property
    def arguments(self) -> object:
        """An object as it came, else the text so far."""
        return self.given if self.given is not None else "".join(self.fragments)

    @property
    def complete(self) -> bool:
        """Whether the arguments so far are an object."""
        return self.given is not None or is_object("".join(self.fragments))

    def add(self, arguments: object) -> None:
        """Append a piece; the whole text again is taken once."""
        if isinstance(arguments, dict):
            self.given = cast("dict[str, object]", arguments)
        elif isinstance(arguments, str):
            if arguments and not (arguments == "".join(self.fragments) and self.complete):
                self.fragments.append(arguments)
        elif arguments is not None:
            self.fragments.append(json.dumps(arguments))

    def name_among(self, known: Iterable[str]) -> str:
        """The joined fragments if that is a known tool, else a fragment that is, else the joined ones."""
        tools = frozenset(known)
        joined = "".join(self.names)
        for name in (joined, *reversed(self.names)):
            if name in tools:
                return name
        return joined


@dataclass(frozen=True, slots=True)
class _Piece:
    index: int | None
    id: str
    name: str
    arguments: object
    extra: Mapping[str, object]

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else ""

    @property
    def opens(self) -> bool:
        return isinstance(self.arguments, dict) or self.text.lstrip().startswith("{")


class CallMerger:
    """Collects the calls of one message. `feed` is for streams, `whole` for a JSON answer."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []

    def whole(self, items: object) -> None:
        """Each item of the list is one call."""
        for piece in _pieces(items):
            self.slots.append(Slot())
            self._put(self.slots[-1], piece)

    def feed(self, items: object) -> None:
        """Merge one delta's list."""
        pieces = _pieces(items)
        for position, piece in enumerate(pieces):
            slot = self._find(piece, position, len(pieces))
            if slot is None or self._is_another(slot, piece):
                slot = self._same_id(piece) if slot is not None and piece.id else None
                if slot is None or self._is_another(slot, piece):
                    slot = Slot(index=piece.index)
                    self.slots.append(slot)
            self._put(slot, piece)

    def _find(self, piece: _Piece, position: int, count: int) -> Slot | None:
        if piece.index is not None:
            return next((slot for slot in reversed(self.slots) if slot.index == piece.index), None)
        if piece.id:
            return self._same_id(piece)
        if not self.slots:
            return None
        if not piece.name:
            at = len(self.slots) - count + position
            return self.slots[at] if at >= 0 else self.slots[-1]
        last = self.slots[-1]
        goes_on = piece.name in last.names and not last.complete and not piece.opens
        return last if goes_on else None

    def _same_id(self, piece: _Piece) -> Slot | None:
        return next((slot for slot in reversed(self.slots) if slot.id == piece.id), None)

    def _is_another(self, slot: Slot, piece: _Piece) -> bool:
        if piece.id and slot.id and piece.id != slot.id and (piece.name or piece.opens or slot.complete):
            return True
        if not piece.opens or not slot.complete:
            return False
        new_name = bool(piece.name) and piece.name not in slot.names
        return new_name or (bool(piece.name or piece.id) and piece.arguments != slot.arguments)

    @staticmethod
    def _put(slot: Slot, piece: _Piece) -> None:
        slot.id = slot.id or piece.id
        if piece.name and piece.name not in slot.names:
            slot.names.append(piece.name)
        slot.add(piece.arguments)
        merge_objects(slot.extra, piece.extra)


class MessageMerger:
    """Collects text, reasoning and unknown keys of one message."""

    def __init__(self) -> None:
        self.calls = CallMerger()
        self._content: list[object] = []
        self._keys: dict[str, object] = {}
        self._texts: dict[str, list[str]] = {}

    def feed(self, delta: Mapping[str, object], *, whole: bool = False) -> bool:
        """Merge a delta, or take a whole message.

        Returns:
            Whether it brought anything: text, reasoning, or bytes of a call. Nulls and empty strings do not.
        """
        progress = False
        for key, value in delta.items():
            if value is None or value == "" or key == "role":
                continue
            progress = progress or bool(value)
            if key == "content":
                self._content.extend(value if isinstance(value, list) else [value])
            elif key in {"tool_calls", "function_call"}:
                items = [{"function": value}] if key == "function_call" else value
                self.calls.whole(items) if whole else self.calls.feed(items)
            elif isinstance(value, str) and key not in _SET_ONCE:
                self._texts.setdefault(key, []).append(value)
            else:
                merge_objects(self._keys, {key: value})
        return progress

    def message(self) -> dict[str, object]:
        """The message in the form of a whole answer, without its calls; content None where none came."""
        texts = {key: "".join(pieces) for key, pieces in self._texts.items()}
        return {"role": "assistant", "content": self._joined_content(), **self._keys, **texts}

    def _joined_content(self) -> object:
        if not self._content:
            return None
        if all(isinstance(piece, str) for piece in self._content):
            return "".join(cast("list[str]", self._content))
        parts: list[object] = []
        for piece in self._content:
            part = {"type": "text", "text": piece} if isinstance(piece, str) else piece
            if not _glue(parts, part):
                parts.append(dict(part) if isinstance(part, dict) else part)
        return parts


def is_object(text: str) -> bool:
    """Whether the text is a complete JSON object."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def merge_objects(into: dict[str, object], more: Mapping[str, object]) -> None:
    """Strings concatenate, objects merge, lists extend, of scalars the last wins; names and types are set once."""
    for key, value in more.items():
        old = into.get(key)
        if value is None and old is not None:
            continue
        if isinstance(old, str) and isinstance(value, str):
            into[key] = old or value if key in _SET_ONCE else old + value
        elif isinstance(old, dict) and isinstance(value, Mapping):
            merge_objects(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            _extend(old, value)
        else:
            into[key] = _copy(value)


def _extend(old: list[object], more: list[object]) -> None:
    for item in more:
        match = next((each for each in old if _same_item(each, item)), None)
        if isinstance(match, dict) and isinstance(item, dict):
            merge_objects(match, item)
        else:
            old.append(_copy(item))


def _same_item(one: object, other: object) -> bool:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return False
    if one.get("type", other.get("type")) != other.get("type", one.get("type")):
        return False
    for key in ("index", "id"):
        if one.get(key) is not None and other.get(key) is not None:
            return bool(one[key] == other[key])
    return False


def _glue(parts: list[object], part: object) -> bool:
    """Append a text piece to the part before it, where both are of one kind."""
    if not (parts and isinstance(parts[-1], dict) and isinstance(part, dict)):
        return False
    last = parts[-1]
    if last.get("type") != part.get("type") or set(last) != set(part):
        return False
    for key in _TEXT_KEYS:
        old, new = last.get(key), part.get(key)
        if isinstance(old, str) and isinstance(new, str):
            last[key] = old + new
            return True
        if isinstance(old, list) and isinstance(new, list):
            last[key] = [*old, *new]
            return True
    return False


def _copy(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def _pieces(items: object) -> list[_Piece]:
    found = items if isinstance(items, list) else [items]
    return [_piece(item) for item in found if isinstance(item, dict)]


def _piece(item: dict[str, object]) -> _Piece:
    function = item.get("function")
    body = function if isinstance(function, dict) else item
    index, call_id, name = item.get("index"), item.get("id"), body.get("name")
    extra = {key: value for key, value in item.items() if key not in {"index", "id", "function", "name", "arguments"}}
    inner = {} if body is item else {key: value for key, value in body.items() if key not in {"name", "arguments"}}
    if inner:
        extra["function"] = inner
    return _Piece(
        index=index if isinstance(index, int) and not isinstance(index, bool) else None,
        id=str(call_id) if isinstance(call_id, str | int) else "",
        name=name if isinstance(name, str) else "",
        arguments=body.get("arguments"),
        extra=extra,
    )
