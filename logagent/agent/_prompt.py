"""The prompt of a run: fixed part first, scope last, then question and digest."""

from logagent.analysis.redact import ModelText
from logagent.analysis.sanitise import sanitise, sanitise_block
from logagent.analysis.trim import cut
from logagent.logs import TimeWindow, iso
from logagent.texts import Catalogue
from logagent.tools._base import ToolContext
from logagent.tools._render import frame

_QUESTION = 2_000
_SOURCES = 4
_TEXTS = Catalogue("en")


def system_prompt(context: ToolContext, *, language: str, turns: int) -> ModelText:
    """The same for all runs but for its last lines."""
    scope = context.scope
    sources = list(scope.indices) or [source.name for source in context.store.describe().sources]
    more = f" and {len(sources) - _SOURCES} more" if len(sources) > _SOURCES else ""
    filled = say(
        "system.scope",
        nonce=context.nonce,
        language=language,
        sources=cut(sanitise(context.redact(", ".join(sources[:_SOURCES]) + more)), 200),
        window=_span(scope.window),
        baseline="; ".join(_span(window) for window in scope.baselines) or "none",
        reach=_span(scope.reach),
        now=iso(scope.now),
        zone=scope.zone,
        turns=turns,
    )
    return ModelText(f"{say('system.fixed')}\n\n{filled}")


def user_message(question: str, digest: str, context: ToolContext) -> ModelText:
    """The question, then the digest between the marks of the run."""
    asked = cut(sanitise_block(context.redact(question.strip() or say("user.question"))), _QUESTION)
    framed = digest if digest.startswith(f"<<{context.nonce}|") else frame(ModelText(digest), context)
    return ModelText(say("user.message", question=asked, digest=framed))


def say(key: str, **values: object) -> str:
    """A text of `texts/en/model.toml`, filled in: English, whatever the language of the answer."""
    return _TEXTS.say(f"model.{key}", **values).strip()


def _span(window: TimeWindow) -> str:
    return f"{iso(window.start)} to {iso(window.end)}"
