"""An answer as the events of a stream."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from logagent.testing._script import Answer, Body, Call

_PIECE: Final = 24
"""Characters of text or arguments in one event of the stream."""
_CHARS_A_TOKEN: Final = 4


def completion(answer: Answer, body: Body, number: int) -> Iterator[Body]:
    """The events of one answer, the usage last."""
    base: Body = {"id": f"chatcmpl-{number:04d}", "object": "chat.completion.chunk", "model": body.get("model")}

    def chunk(delta: Body, finish: str | None = None) -> Body:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(answer.reasoning):
        yield chunk({"reasoning_content": piece})
    in_words = bool(answer.calls) and not body.get("tools")
    for piece in _pieces(_in_words(answer) if in_words else answer.text):
        yield chunk({"content": piece})
    for index, call in enumerate(() if in_words else answer.calls):
        call_id = call.id or f"call_{number:04d}_{index}"
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield chunk({"tool_calls": [head]})
        for piece in _pieces(_json(call.arguments)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, answer.finish or ("tool_calls" if answer.calls and not in_words else "stop"))
    yield {**base, "choices": [], "usage": _usage(answer, body)}


def _in_words(answer: Answer) -> str:
    blocks = [
        f"```logagent-call\n{json.dumps({'tool': call.name, 'args': call.arguments}, ensure_ascii=False)}\n```"
        for call in answer.calls
    ]
    return "\n\n".join(part for part in (answer.text, *blocks) if part)


def _usage(answer: Answer, body: Body) -> Body:
    prompt = answer.prompt_tokens
    if prompt is None:
        prompt = len(json.dumps(body, ensure_ascii=False)) // _CHARS_A_TOKEN
    written = len(answer.text + answer.reasoning + "".join(_json(call.arguments) for call in answer.calls))
    output = 1 + written // _CHARS_A_TOKEN
    return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))


def _json(arguments: Mapping[str, object] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def as_answer(item: Mapping[str, object]) -> Answer:
    """An answer written as a mapping."""
    listed = item.get("tool_calls")
    made = [
        Call(str(call["name"]), call.get("arguments", {}), str(call.get("id", "")))
        for call in (listed if isinstance(listed, list) else [])
    ]
    return Answer(str(item.get("content") or ""), tuple(made), str(item.get("finish_reason") or ""))


def last_text(body: Body) -> str:
    """The end of the conversation, to show which request it was."""
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    return str(last.get("content"))[:200] if isinstance(last, dict) else ""
