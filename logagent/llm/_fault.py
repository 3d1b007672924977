"""What is wrong with an answer of status 200 before its words are read."""

from logagent.errors import ModelProtocolError
from logagent.llm._answer import Answer
from logagent.llm._failure import Failure, from_body, is_page, read_failure


def find_fault(answer: Answer, url: str) -> Failure | None:
    """What is wrong with a 200 answer before its words are read.

    Raises:
        ModelProtocolError: it is no chat completion at all.
    """
    if answer.error is not None:
        failure = from_body(answer.error)
        if not (failure.message or failure.code or failure.type or failure.status):
            if isinstance(answer.error, dict) and "choices" in answer.error:
                return Failure(message="an answer without choices")
            raise ModelProtocolError(f"{url} answered with JSON that is no chat completion.", code="LA506")
        return failure
    if answer.any_delta:
        ended = answer.finish or answer.done or not answer.streamed
        return None if ended else Failure(transport="cut", message="the answer ended without a finish reason")
    if answer.junk:
        raise _no_completion(answer.junk, url)
    return Failure(message="an empty answer" if not answer.streamed else "the stream ended before it began")


def _no_completion(junk: str, url: str) -> ModelProtocolError:
    said = read_failure(200, junk).said
    kind = "a page" if is_page(junk) else "text that is no chat completion"
    values = {"url": url, "reason": said[:200]}
    hint = "Check the base URL of the model endpoint; most end in /v1."
    return ModelProtocolError(f"{url} answered with {kind}: {said}", code="LA506", hint=hint, values=values)
