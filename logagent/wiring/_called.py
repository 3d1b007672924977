"""What the calls of a model found, for the diagnosis by rule: evidence stays where its finder is lost."""

from collections.abc import Sequence

from logagent.analysis.mechanisms import Catalogue
from logagent.diagnosis import Hypothesis
from logagent.evidence import Evidence, Ledger

MOST = 24
"""Rows of calls that are asked again and kept, the newest first: a model looks broadly first, then at the point."""
_ADDED = 3
"""Rows that one hypothesis takes."""


def rows_since(ledger: Ledger, mark: int) -> list[str]:
    """Ids that were issued after the first `mark` rows, at most MOST of them, in order."""
    return [row.id for row in ledger][mark:][-MOST:]


def support(hypotheses: Sequence[Hypothesis], ids: Sequence[str], ledger: Ledger, catalogue: Catalogue) -> None:
    """Add to each hypothesis the rows among `ids` that were verified and speak for it."""
    rows = [row for one in ids if (row := ledger.get(one)) is not None and row.verification.state == "verified"]
    for hypothesis in hypotheses:
        if hypothesis.state in {"ruled_out", "untested"}:
            continue
        fitting = [row.id for row in rows if _speaks_for(row, hypothesis, catalogue)]
        new = [one for one in fitting if one not in hypothesis.contradicting]
        hypothesis.supporting = list(dict.fromkeys([*hypothesis.supporting, *new[:_ADDED]]))


def _speaks_for(row: Evidence, hypothesis: Hypothesis, catalogue: Catalogue) -> bool:
    """A row of the suspect that shows its mechanism, or more of something than before."""
    service = hypothesis.entity.get("service.name", "")
    whose = {row.service, *(sample.service for sample in row.samples)}
    if not service or service not in whose:
        return False
    said = {catalogue.mechanism(sample.message, service) for sample in row.samples}
    if hypothesis.mechanism_id and hypothesis.mechanism_id in said:
        return True
    now, before = row.value, row.baseline_value
    return isinstance(now, int | float) and isinstance(before, int | float) and now > 2 * before
