"""The end of a run: the model's words, checked against what was issued and shown (llm-endpoints.md 12.1)."""

from pydantic import BaseModel, ConfigDict, Field

from logagent.tools import _claims as claims
from logagent.tools._base import Answer, Row, Tool, ToolArgs, ToolContext
from logagent.tools._withheld import withheld

OTHER = claims.OTHER
_FAULTS = 12


class Entity(BaseModel):
    """The suspect."""

    model_config = ConfigDict(extra="forbid")

    service: str | None = None
    version: str | None = None
    host: str | None = None
    zone: str | None = None


class SubmittedHypothesis(BaseModel):
    """One explanation in the model's words."""

    model_config = ConfigDict(extra="forbid")

    statement: str = Field(description="What broke and how it leads to the symptom.")
    mechanism: str = Field(
        description="Id beside the line; without one network.latency, dependency.slow, resource.cpu, code.fault, other."
    )
    entity: Entity | None = Field(None, description="The suspect, values as in results.")
    supporting: list[str] = Field(description="Ids, e.g. E4.")
    contradicting: list[str] = Field(default_factory=list)
    would_refute: str | None = None


class RuledOut(BaseModel):
    """An explanation that the evidence excludes."""

    model_config = ConfigDict(extra="forbid")

    statement: str
    reason: str
    ids: list[str]


class Submission(ToolArgs):
    """What `submit_diagnosis` takes. Once accepted, everything in it passed the checks."""

    headline: str = Field(description="At most 120 characters: the symptom only, no numbers.")
    what_is_happening: str = Field(
        description="At most 4 sentences, each with ids, e.g. [E3]. No numbers: code prints them."
    )
    hypotheses: list[SubmittedHypothesis] = Field(description="Best first, at most 5; empty if nothing is wrong.")
    probable_cause: str | None = Field(
        None, description="1-2 sentences with ids. Leave out if the logs do not show a cause."
    )
    ruled_out: list[RuledOut] = Field(default_factory=list)
    next_step_ideas: list[str] = Field(
        default_factory=list, description="At most 3 read-only checks in words, no commands."
    )
    open_questions: list[str] = Field(default_factory=list, description="At most 3, for a person to answer.")


def submit_diagnosis(args: Submission, context: ToolContext) -> Answer:
    """Accept a diagnosis, or send it back once with its faults; the second time what is bad is left out."""
    kept, why = withheld(args, context)
    faults = [*why, *claims.faults(kept if why else args, context)]
    if faults and not context.faults:
        context.faults += 1
        context.draft = _backed(kept, context)
        rows = tuple(Row(f"- {fault}") for fault in faults[:_FAULTS])
        return Answer("Not accepted. Mend this and submit again:", rows, plain=True, failed=True)
    context.submission = _backed(kept, context)
    return Answer("Accepted.", final=True, plain=True)


def _backed(args: Submission, context: ToolContext) -> Submission | None:
    """The part of a submission that stands on evidence; None where nothing does."""
    kept = claims.without_faults(args, context)
    return kept if kept.what_is_happening or kept.hypotheses else None


TOOL = Tool(
    Submission,
    submit_diagnosis,
    "Ends the run with your diagnosis.",
    parallel=False,
    cost="none",
    result_tokens=600,
)
