"""The conversation: turns of one reply and its results, shortened from the oldest on when the window fills up."""

from dataclasses import dataclass, field, replace

from logagent.agent._prompt import say
from logagent.analysis.redact import ModelText
from logagent.analysis.trim import cut
from logagent.evidence import Ledger
from logagent.llm._wire import Message
from logagent.tools._registry import ToolResult

SHARE = 0.6
"""Part of the window at which older results are shortened."""
_KEPT_WHOLE = 1
"""Newest turns whose results stay whole."""
_STATEMENT = 90
_IDS_LISTED = 8
_EARLIER_LINES = 24


@dataclass(slots=True)
class Turn:
    """One reply with what answered it."""

    reply: Message | None
    results: list[ToolResult] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Tool and arguments of each call, for the list of earlier calls."""
    nudges: list[str] = field(default_factory=list)
    short: bool = False


@dataclass(slots=True)
class Talk:
    """All messages of a run. System prompt, question, digest and all evidence ids always stay."""

    system: ModelText
    user: ModelText
    ledger: Ledger
    turns: list[Turn] = field(default_factory=list)
    summary: str = ""
    """The model's own words for the oldest of them, where lines took too much."""
    earlier: list[str] = field(default_factory=list)
    """Calls of turns that were taken out, one line each."""
    opening: list[str] = field(default_factory=list)
    """Nudges before the first reply."""

    def messages(self) -> list[Message]:
        """The conversation as the model gets it."""
        found = [Message("system", self.system), Message("user", self._user())]
        for turn in self.turns:
            found += self._turn(turn)
        return found

    def nudge(self, text: str) -> None:
        """Say something inside the last tool result or user text; never a second time the same in a row."""
        nudges = self.turns[-1].nudges if self.turns else self.opening
        if text not in nudges:
            nudges.append(text)

    def _user(self) -> ModelText:
        parts = [self.user]
        if self.earlier:
            lines = [say("user.earlier"), *filter(None, [self.summary]), *self.earlier]
            parts.append(ModelText("\n".join(lines)))
        return ModelText("\n\n".join([*parts, *self.opening]))

    def _turn(self, turn: Turn) -> list[Message]:
        found = [turn.reply] if turn.reply is not None else []
        nudge = "\n\n".join(turn.nudges)
        for place, result in enumerate(turn.results):
            text = self._shortened(result) if turn.short else result.text
            if nudge and place == len(turn.results) - 1:
                text = ModelText(f"{text}\n\n{nudge}")
            found.append(Message("tool", text, call_id=result.call_id))
        if nudge and not turn.results:
            found.append(Message("user", ModelText(nudge)))
        return found

    # -- shortening ------------------------------------------------------------------------------------------------

    def shorten(self) -> bool:
        """One step: results of older turns to one line an id, then the oldest half of the turns to one line a call.

        Answers False where nothing more can be taken away.
        """
        older = [turn for turn in self.turns[:-_KEPT_WHOLE] if not turn.short and turn.results]
        if older:
            for turn in older:
                turn.short = True
            return True
        half = (len(self.turns) - _KEPT_WHOLE + 1) // 2
        if half < 1:
            return self._shorten_rest()
        for turn in self.turns[:half]:
            self.earlier += [
                f"{said}: {result.summary}{_range(result.evidence)}"
                for said, result in zip(turn.said, turn.results, strict=False)
            ]
        del self.turns[:half]
        self._fold()
        return True

    def _shorten_rest(self) -> bool:
        rest = [turn for turn in self.turns if turn.results and not turn.short]
        for turn in rest:
            turn.short = True
        return bool(rest)

    def fold(self) -> bool:
        """The last step: of the lines of earlier calls only the newest stay. False where there is nothing to fold."""
        return self._fold(_EARLIER_LINES // 4)

    def _fold(self, most: int = _EARLIER_LINES) -> bool:
        """The oldest lines become one that names the ids only."""
        if len(self.earlier) <= most:
            return False
        self.earlier[: len(self.earlier) - most + 1] = [f"calls before: rows {spans(self.ledger.rows)}"]
        return True

    def _shortened(self, result: ToolResult) -> ModelText:
        if not result.evidence:
            return ModelText(cut(result.summary or result.text, 200))
        lines = [result.summary]
        for evidence_id in result.evidence[:_IDS_LISTED]:
            row = self.ledger.get(evidence_id)
            lines.append(f"{evidence_id} {cut(row.statement, _STATEMENT) if row else ''}".rstrip())
        if len(result.evidence) > _IDS_LISTED:
            lines.append(spans(result.evidence[_IDS_LISTED:]))
        return ModelText("shortened: " + "\n".join(lines))

    @property
    def lines_of_earlier_calls(self) -> str:
        """What is left of the turns that were taken out, one line a call."""
        return "\n".join(self.earlier)

    def sum_up(self, summary: ModelText) -> None:
        """The model's own words in place of the lines of earlier calls; all ids stay."""
        self.summary, self.earlier = summary, [f"calls before: rows {spans(self.ledger.rows)}"]

    def restart(self) -> None:
        """Forget nudges that no longer hold (a limit was lifted)."""
        self.turns = [replace(turn, nudges=[]) for turn in self.turns]


def _range(ids: tuple[str, ...]) -> str:
    return f" ({spans(ids)})" if ids else ""


def spans(ids: object) -> str:
    """Ids in ranges: `E2-E5, E9`."""
    numbers = sorted({int(str(one)[1:]) for one in ids})  # type: ignore[attr-defined]
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"E{part[0]}-E{part[-1]}" if len(part) > 1 else f"E{part[0]}" for part in parts)
