"""The table of `patterns` as Markdown and as CSV."""

from logagent.report._csv import csv_text
from logagent.report._escape import cell, code, prose
from logagent.report._keys import pattern_key
from logagent.report._text import clean
from logagent.texts import Catalogue
from logagent.triage import PatternTable

_HEAD = ("key", "change", "count", "baseline_count", "first_seen", "last_seen", "service", "level", "template")


def patterns_csv(found: PatternTable) -> str:
    """One row a pattern, and a last one for the lines that are in none."""
    rows: list[tuple[object, ...]] = [
        (
            pattern_key(one),
            one.change,
            one.count,
            one.baseline_count,
            one.first_seen,
            one.last_seen,
            clean(", ".join(one.fields.get("service.name", []))),
            clean(", ".join(one.fields.get("log.level", []))),
            clean(one.template),
        )
        for one in found.rows
    ]
    if found.others or found.lines:
        rows.append(("", "others", found.lines, None, None, None, "", "", f"{found.others} more patterns"))
    return csv_text(_HEAD, rows)


def patterns_markdown(found: PatternTable, texts: Catalogue) -> str:
    """A table, the words that became more frequent, and what is in no row."""
    names = ("change", "now", "usual", "first", "service", "text")
    titles = [texts.say(f"cli.patterns.{name}") for name in names]
    lines = [f"| {' | '.join(titles)} | |", "|---|---:|---:|---|---|---|---|"]
    for one in found.rows:
        usual = "-" if one.baseline_count is None else f"{one.baseline_count:,.0f}"
        service = prose(", ".join(one.fields.get("service.name", []))) or "-"
        lines.append(
            f"| {texts.say(f'cli.change.{one.change}')} | {one.count:,} | {usual} | {one.first_seen or '-'} | "
            f"{cell(service)} | {cell(code(one.template))} | {pattern_key(one)} |"
        )
    if found.others or found.lines:
        figures = {"patterns": f"{found.others:,}", "lines": f"{found.lines:,}", "total": f"{found.total:,}"}
        lines += ["", prose(texts.say("cli.patterns.others", **figures))]
    if found.keywords:
        lines += ["", prose(texts.say("report.compare.words_now", words=", ".join(map(clean, found.keywords))))]
    return "\n".join(lines)
