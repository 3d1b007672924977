"""The transcript of a case as a timeline: what was asked, why, how long it took, what it cost, what came of it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from logagent.texts import Catalogue

_KINDS = {"ModelAsked": "model", "ModelReplied": "model", "ModelFailed": "model", "ToolStarted": "tool"} | {
    "ToolFinished": "tool"
}
_NAME, _RESULT = 19, 110
_REASONS, _REASON = 13, 200
Record = Mapping[str, Any]


def steps_of(records: Iterable[Record]) -> list[dict[str, Any]]:
    """One entry a step, in order: its beginning, completed by its end where that is on record."""
    steps: dict[int, dict[str, Any]] = {}
    for record in records:
        kind = _KINDS.get(str(record.get("kind")))
        if kind is None:
            continue
        number = int(record.get("step") or len(steps) + 1)
        own = {key: value for key, value in record.items() if key not in {"kind", "at"}}
        steps[number] = {"step": number, "what": kind, **steps.get(number, {}), **own}
        steps[number].setdefault("began", record.get("at"))
    return [steps[number] for number in sorted(steps)]


def ending_of(records: Iterable[Record]) -> dict[str, Any] | None:
    """How the loop ended; None where it was killed."""
    found = None
    for record in records:
        if record.get("kind") == "LoopEnded":
            found = {key: value for key, value in record.items() if key not in {"kind", "at"}}
    return found


def as_text(records: Sequence[Record], texts: Catalogue) -> str:
    """The timeline for a terminal."""
    steps, ending = steps_of(records), ending_of(records)
    if not steps:
        return texts.say("cli.steps.none")
    lines = [texts.say("cli.steps.head")]
    for step in steps:
        lines += _lines(step, texts)
    if ending is None:
        return "\n".join([*lines, "", texts.say("cli.steps.open")])
    said = texts.say(
        "cli.steps.ended",
        stop=ending["stop"],
        turns=ending["turns"],
        seconds=f"{ending['seconds']:.1f}",
        input=f"{ending['input_tokens']:,}",
        output=f"{ending['output_tokens']:,}",
        cost=f", {ending['cost']:.4f}" if ending.get("cost") else "",
    )
    return "\n".join([*lines, "", said])


def as_lines(records: Iterable[Record]) -> str:
    """The whole transcript, one record a line."""
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def _lines(step: Record, texts: Catalogue) -> list[str]:
    """One line of figures and the result, then the reason the model gave, and why a call was refused."""
    model = step["what"] == "model"
    name = texts.say("cli.steps.asks") if model else str(step.get("tool", ""))
    ran = step.get("state") != "running"
    seconds = f"{step['seconds']:.1f}" if ran else "-"
    cost = f"{step['cost']:.4f}" if step.get("cost") else "-"
    tokens = _tokens(step)
    head = (
        f"{step['step']:>4}  {step.get('turn', 0):>4}  {name[:_NAME]:<{_NAME}}  {seconds:>7}  {tokens:>9}  {cost:>8}  "
    )
    found = [head + _result(step, texts)[:_RESULT]]
    if not model and step.get("why"):
        found.append(f"{'':>12}{texts.say('cli.steps.because', why=step['why'])}")
    if not model and ran and not step.get("ok"):
        found += [f"{'':>12}{line[:_REASON]}" for line in str(step.get("result", "")).splitlines()[1:_REASONS]]
    return [" ".join(line.splitlines()).rstrip() for line in found]


def _tokens(step: Record) -> str:
    if step["what"] == "model" and "input_tokens" in step:
        return f"{step['input_tokens']}+{step['output_tokens']}"
    tokens = step.get("tokens")
    return "-" if tokens is None else f"{tokens}"


def _result(step: Record, texts: Catalogue) -> str:
    if step.get("state") == "running":
        return texts.say("cli.steps.running")
    if step["what"] == "model":
        if step.get("state") == "failed":
            return texts.say("cli.steps.failed", reason=f"{step.get('code', '')} {step.get('error', '')}".strip())
        calls = ", ".join(str(call[0]) for call in step.get("calls", ()))
        return calls or f"{texts.say('cli.steps.no_calls')}: {step.get('text', '')}"
    evidence = list(step.get("evidence", ()))
    ids = f" ({texts.say('cli.steps.evidence', ids=_span(evidence))})" if evidence else ""
    said = str(step.get("summary") or step.get("result", ""))
    return said[: _RESULT - len(ids)] + ids if step.get("ok") else texts.say("cli.steps.failed", reason=said)


def _span(ids: list[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{ids[0]}-{ids[-1]}"
