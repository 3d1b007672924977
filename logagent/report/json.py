"""The Diagnosis as one JSON document: what programs read. Field order is that of the model, so diffs are small."""

from logagent.diagnosis import Diagnosis
from logagent.report._style import Style


def render(diagnosis: Diagnosis, style: Style) -> str:
    """One line of JSON, valid against diagnosis.schema.json; `-v` indents it."""
    if style.verbose:
        return diagnosis.model_dump_json(by_alias=True, exclude_none=True, indent=2)
    return diagnosis.to_json()
