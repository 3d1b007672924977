"""Which lines belong to one request: those of one trace id, or of one id within one process."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from logagent.analysis.trace_ids import lines_of, per_process, place
from logagent.logs import LogRecord
from logagent.query import And, Exists, Node, Phrase
from logagent.tools._base import ToolContext

_SAMPLED_IDS: Final = 150
_SAMPLED_LINES: Final = 5_000
_NOTE: Final = "each process counts its own trace ids here: a request is one id in one service and pod, not across"


@dataclass(frozen=True, slots=True)
class Joined:
    """How lines are joined in this run."""

    local: bool = False
    """Each process counts its own ids."""

    @property
    def note(self) -> str:
        """Why lines of one id in two places are not joined; "" where they are."""
        return _NOTE if self.local else ""

    def key(self, record: LogRecord) -> tuple[str, ...]:
        """What all lines of one request have in common."""
        return (record.trace_id, *place(record)) if self.local else (record.trace_id,)

    def of(self, record: LogRecord) -> Node:
        """The filter for the request of a line."""
        parts: list[Node] = [Phrase("trace_id", record.trace_id)]
        if self.local:
            role = "pod" if record.pod else "host"
            named = zip(("service", role), place(record), strict=True)
            parts += [Phrase(name, value) for name, value in named if value]
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def one(self, records: Sequence[LogRecord]) -> str:
        """The trace id of all these lines, or "" where they are of none or of several requests, or one line only."""
        keys = {self.key(record) for record in records}
        return keys.pop()[0] if len(keys) == 1 and len(records) > 1 else ""


def joined(context: ToolContext) -> Joined:
    """How lines are joined in this run, found out from a sample of all that it may read: one request, once."""
    if context.local_ids is None:
        query = context.scope.query(Exists("trace_id"), context.scope.reach)
        sample = context.store.traces(query, ids=_SAMPLED_IDS, limit=_SAMPLED_LINES).records
        context.local_ids = per_process(lines_of(sample))
    return Joined(context.local_ids)


def joined_of(records: Sequence[LogRecord], context: ToolContext) -> Joined:
    """The same, asked only where these lines are of one id in several places: elsewhere it makes no difference."""
    ids, places = {record.trace_id for record in records}, {place(record) for record in records}
    return joined(context) if len(ids) == 1 and "" not in ids and len(places) > 1 else Joined()
