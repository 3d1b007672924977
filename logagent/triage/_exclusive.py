"""Queries of patterns made exclusive: none finds a line of another pattern, as far as a word or a field tells it."""

from collections.abc import Iterable
from dataclasses import replace

from logagent.analysis.apart import Kind, Kinds, kind_of, set_apart
from logagent.query import to_text
from logagent.triage._findings import Findings, PatternFinding

QUERY = 1_500
"""Characters of a query from which it is no longer read: the counts are then taken from the events."""


def keep_apart(findings: Findings, patterns: Iterable[PatternFinding]) -> None:
    """Give each pattern a query that leaves out the lines of all others, of those too that are not shown."""
    window = findings.analysis.window
    every = {template: _kind(findings, template) for template in window.by_template}
    kinds = Kinds(every.values())
    for pattern in patterns:
        own = [every[template] for template in pattern.templates if template in every]
        if not own:
            continue
        one = replace(
            own[0],
            text=window.miner.common([t for t in pattern.templates if t in every]),
            service="+",  # any name: that of a service is in the query already
            levels=set().union(*(kind.levels for kind in own)),
            messages=tuple(message for kind in own for message in kind.messages),
            lines=tuple(line for kind in own for line in kind.lines),
        )
        taken = {id(kind) for kind in own}
        others = (kind for kind in kinds.that_may_match(pattern.node) if id(kind) not in taken)
        node, _ = set_apart(pattern.node, one, others)
        if len(to_text(node)) <= max(QUERY, len(to_text(pattern.node))):
            pattern.node = node


def _kind(findings: Findings, template: int) -> Kind:
    window = findings.analysis.window
    events = [window.events[index] for index in window.by_template[template]]
    return kind_of(window.miner.texts[template], "", events)
