"""One JSON document: an array of records, a search answer, or records under `events`, `logs`, `records`, `Records`."""

from collections.abc import Iterator, Mapping
from typing import Any

from logagent.formats._base import Event, Format, Parse, Sample
from logagent.formats.jsonlines import loaded, without_halves

_WRAPPERS = ("events", "logs", "logEvents", "records", "Records", "entries", "items", "data", "result", "results")


def _reader(sample: Sample) -> Parse:
    """Recognised by its first character; whatever follows belongs to it."""
    first = sample.lines[0].lstrip()[:1] if sample.lines else ""
    whole = (first == "[" and _starts_array(sample)) or (first == "{" and not _one_object_a_line(sample))
    return lambda line: {"message": line} if whole else None


def _starts_array(sample: Sample) -> bool:
    text = "".join(line.strip() for line in sample.lines[:3])[1:].lstrip()
    return text[:1] in {"{", "]"} and (text[:2] in {'{"', "{}"} or text[:1] == "]")


def _one_object_a_line(sample: Sample) -> bool:
    return len(sample.lines) > 1 and sum(
        line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in sample.lines
    ) * 2 >= len(sample.lines)


def _read_all(text: str) -> Iterator[Event]:
    document = loaded(text)
    if document is None:
        yield from _broken(without_halves(text))
        return
    for number, record in enumerate(_records(document), 1):
        yield Event(number, record if isinstance(record, Mapping) and record else None)


def _records(document: object) -> list[Any]:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        return [None]
    hits = document.get("hits")
    if isinstance(hits, dict) and isinstance(hits.get("hits"), list):
        return [hit.get("_source", hit) if isinstance(hit, dict) else None for hit in hits["hits"]]
    for name in _WRAPPERS:
        if isinstance(document.get(name), list):
            return list(document[name])
    return [document]


def _broken(text: str) -> Iterator[Event]:
    """A document that breaks off or holds several: object by object, as far as they are whole."""
    import json  # noqa: PLC0415 - only for broken documents; orjson cannot say where an object ends

    decoder = json.JSONDecoder()
    at, number = 0, 0
    while (at := text.find("{", at)) >= 0:
        number += 1
        try:
            record, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            yield Event(number, None)
            newline = text.find("\n{", at + 1)
            if newline < 0:
                return
            at = newline + 1
            continue
        yield Event(number, record or None)


FORMAT = Format("json_array", "JSON document", 5, _reader, read_all=_read_all, joins=False)
