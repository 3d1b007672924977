"""A comparison of two sides as text, Markdown or JSON; the same rows in the same order in all three."""

import json
import math
from collections.abc import Callable, Sequence
from datetime import tzinfo

from logagent.evidence import Evidence
from logagent.logs import TimeWindow, iso
from logagent.report._escape import cell, code, prose
from logagent.report._text import cells, clean, fit_mark, pad, right
from logagent.texts import Catalogue
from logagent.triage._comparison import Comparison, Counted, Shifted, Side

Mask = Callable[[str], str]
_PATTERNS, _VALUES, _NUMBERS = 8, 5, 4
"""Rows of each kind on a terminal; Markdown and JSON have all that were counted."""
_COUNT = 9
_MANY = 100.0


def compared_text(found: Comparison, texts: Catalogue, zone: tzinfo, width: int, mask: Mask) -> str:
    """At most 40 lines for a terminal: volume, failing, levels, patterns, values, numbers."""
    lines = [*_sides(found, texts, zone), "", _columns(texts)]
    lines += [_count_line(row, texts, mask, width) for row in found.rows if row.kind in {"volume", "failing", "level"}]
    for kind, most in (("pattern", _PATTERNS), ("value", _VALUES)):
        rows = [row for row in found.rows if row.kind == kind and row.change != "steady"]
        if rows:
            lines += ["", texts.say(f"report.compare.{kind}s")]
            lines += [_count_line(row, texts, mask, width) for row in rows[:most]]
        lines += [texts.say("report.compare.more", n=len(rows) - most)] if len(rows) > most else []
    if found.numbers:
        lines += ["", texts.say("report.compare.numbers")]
        lines += [_number_line(row, mask, width) for row in found.numbers[:_NUMBERS]]
    return "\n".join([*lines, "", *_foot(found, texts, mask)])


def _sides(found: Comparison, texts: Catalogue, zone: tzinfo) -> list[str]:
    title = texts.say("report.compare.title")
    if found.basis == "events":
        return [
            f"{title}  A {clean(found.a.name)}   B {clean(found.b.name)}",
            f"{pad('', cells(title))}  {_span(found.a.query.window, zone)}",
        ]
    return [f"{title}  A  {_name(found.a, zone)}", f"{pad('', cells(title))}  B  {_name(found.b, zone)}"]


def _name(side: Side, zone: tzinfo) -> str:
    return f"{clean(side.name)}  {_span(side.query.window, zone)}" if side.name else _span(side.query.window, zone)


def _span(window: TimeWindow, zone: tzinfo) -> str:
    first, last = window.start.astimezone(zone), window.end.astimezone(zone)
    end = f"{last:%H:%M:%S}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M:%S}"
    return f"{first:%Y-%m-%d %H:%M:%S} - {end} {last.isoformat()[-6:]}"


def _columns(texts: Catalogue) -> str:
    return f"{pad('', 9)}{right('A', _COUNT)}{right('B', _COUNT)}  {right(texts.say('report.compare.ratio'), 6)}"


def _count_line(row: Counted, texts: Catalogue, mask: Mask, width: int) -> str:
    a, b = f"{row.a:,}", f"{row.b:,}"
    head = f"{pad(_word(row, texts), 9)}{right(a, _COUNT)}{right(b, _COUNT)}  {right(_ratio(row.contrast.ratio), 6)}"
    text = clean(mask(f"{row.service + ': ' if row.service else ''}{row.name}"))
    if row.kind in {"volume", "failing", "level"}:
        name = texts.say(f"report.compare.{row.kind}") if row.kind != "level" else row.name
        shares = "" if row.kind == "volume" else f"  {_share(row.share_a)} | {_share(row.share_b)}"
        text = f"{name}{shares}"
    if row.kind == "value":
        text = f"{text}  {_share(row.share_a)} | {_share(row.share_b)}"
    return _fitted(f"{head}  {text}", width)


def _word(row: Counted, texts: Catalogue) -> str:
    return texts.say(f"cli.change.{row.change}")


def _ratio(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"x{ratio:,.0f}" if ratio >= _MANY else f"x{ratio:.2g}" if ratio < 1 else f"x{ratio:.3g}"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _number_line(row: Shifted, mask: Mask, width: int) -> str:
    ratio = "" if math.isinf(row.ratio) else f" {_ratio(row.ratio)}"
    text = clean(mask(f"{row.service + ': ' if row.service else ''}{row.name}"))
    head = f"p50 {row.a.p50:.3g} > {row.b.p50:.3g}  p95 {row.a.p95:.3g} > {row.b.p95:.3g} {ratio}"
    return _fitted(f"{pad(head, 42)}  {text}", width)


def _fitted(line: str, width: int) -> str:
    return line if cells(line) <= width else fit_mark(line, width, "...")


def _foot(found: Comparison, texts: Catalogue, mask: Mask) -> list[str]:
    lines = []
    if found.keywords:
        lines.append(texts.say("report.compare.words", words=", ".join(clean(mask(word)) for word in found.keywords)))
    lines.append(texts.say(f"report.compare.basis_{found.basis}"))
    counted = sum(row.kind == "pattern" for row in found.rows)
    if found.patterns > counted:
        lines.append(texts.say("report.compare.left", shown=counted, total=found.patterns))
    if not found.completeness.complete:
        lines.append(texts.say("report.compare.partial"))
    return lines


def compared_markdown(found: Comparison, texts: Catalogue, zone: tzinfo, mask: Mask) -> str:
    """All rows as tables, and the queries of both sides that give the figures."""
    say = texts.say
    lines = [f"## {say('report.compare.title')}", ""]
    lines += [f"- **{letter}** {prose(_name(side, zone))}" for letter, side in (("A", found.a), ("B", found.b))]
    lines += [
        "",
        f"| {say('cli.patterns.change')} | A | B | {say('report.compare.ratio')} | p | {say('cli.patterns.text')} | |",
    ]
    lines += ["|---|---:|---:|---:|---:|---|---|"]
    for row in found.rows:
        name = clean(mask(f"{row.service + ': ' if row.service else ''}{row.name}"))
        figures = f"{row.a:,} ({_share(row.share_a)}) | {row.b:,} ({_share(row.share_b)})"
        ids = " ".join(one.id for one in row.evidence)
        lines.append(
            f"| {_word(row, texts)} | {figures} | {_ratio(row.contrast.ratio)} | {row.contrast.p:.2g} | "
            f"{cell(code(name))} | {ids} |"
        )
    if found.numbers:
        lines += ["", f"| {say('report.compare.numbers')} | p50 A | p50 B | p95 A | p95 B | p | |"]
        lines += ["|---|---:|---:|---:|---:|---:|---|"]
    for one in found.numbers:
        name = clean(mask(f"{one.service + ': ' if one.service else ''}{one.name}"))
        spread = " | ".join(f"{value:.4g}" for value in (one.a.p50, one.b.p50, one.a.p95, one.b.p95))
        lines.append(f"| {cell(code(name))} | {spread} | {one.p:.2g} | {' '.join(row.id for row in one.evidence)} |")
    lines += [
        "",
        *(f"{prose(line)}  " for line in _foot(found, texts, mask)),
        "",
        "<details><summary>queries</summary>",
        "",
    ]
    lines += [
        f"- {row.id} {code(mask(row.query.text))} {iso(row.query.window.start)} {iso(row.query.window.end)}"
        for row in _evidence(found)
    ]
    return "\n".join([*lines, "", "</details>"])


def _evidence(found: Comparison) -> list[Evidence]:
    rows: Sequence[Counted | Shifted] = (*found.rows, *found.numbers)
    return [one for row in rows for one in row.evidence]


def compared_json(found: Comparison, mask: Mask) -> str:
    """One document: both sides, rows, numbers, and the query behind each figure."""

    def clean_text(text: str) -> str:
        return clean(mask(text))

    def side(one: Side) -> dict[str, object]:
        window = one.query.window
        return {"name": clean_text(one.name), "from": iso(window.start), "to": iso(window.end)}

    document = {
        "kind": "comparison",
        "schema_version": 1,
        "a": side(found.a),
        "b": side(found.b),
        "basis": found.basis,
        "rows": [_row_out(row, clean_text) for row in found.rows],
        "numbers": [_number_out(row, clean_text) for row in found.numbers],
        "keywords": [clean_text(word) for word in found.keywords],
        "patterns": {"total": found.patterns, "counted": sum(row.kind == "pattern" for row in found.rows)},
        "numbers_read": {"a": found.read[0], "b": found.read[1]},
        "complete": found.completeness.complete,
        "evidence": [_evidence_out(one, clean_text) for one in _evidence(found)],
    }
    return json.dumps(document, ensure_ascii=False)


def _row_out(row: Counted, clean_text: Mask) -> dict[str, object]:
    return {
        "kind": row.kind,
        "name": clean_text(row.name),
        "service": clean_text(row.service),
        "level": row.level,
        "change": row.change,
        "a": row.a,
        "b": row.b,
        "share_a": row.share_a,
        "share_b": row.share_b,
        "ratio": row.contrast.ratio,
        "p": row.contrast.p,
        "significant": row.stands,
        "evidence": [one.id for one in row.evidence],
    }


def _number_out(row: Shifted, clean_text: Mask) -> dict[str, object]:
    def spread(one: object) -> dict[str, object]:
        return {name: getattr(one, name) for name in ("n", "p50", "p95")}

    return {
        "name": clean_text(row.name),
        "service": clean_text(row.service),
        "a": spread(row.a),
        "b": spread(row.b),
        "ratio": None if math.isinf(row.ratio) else row.ratio,
        "p": row.p,
        "evidence": [one.id for one in row.evidence],
    }


def _evidence_out(one: Evidence, clean_text: Mask) -> dict[str, object]:
    window = one.query.window
    query = {"text": clean_text(one.query.text), "from": iso(window.start), "to": iso(window.end)}
    return {"id": one.id, "statement": clean_text(one.statement), "value": one.value, "query": query}
