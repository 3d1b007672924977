"""What a refusal means (llm-endpoints.md 14, 15, 18.3).

The message is read before the status: llama.cpp, Ollama and others send client errors as
500. Vendor texts are match keys only; several keys each, codes before sentences.
"""

import re
from collections.abc import Callable
from typing import Final, Literal

from logagent.expressions import expression
from logagent.llm._failure import Failure

Kind = Literal["transient", "rate_limit", "warming_up", "overflow", "lower_cap", "no_tools", "final"]

_NEAR: Final = 120
_SERVER_ERROR: Final = 500
_TOO_LARGE: Final = 413
_RATE_LIMIT: Final = 429
_NO_BALANCE: Final = 402
_BAD_REQUEST: Final = 400
_UNREADY: Final = 503


def _words(*patterns: str) -> re.Pattern[str]:
    return expression("|".join(patterns), re.IGNORECASE)


_THROTTLED = _words(
    "rate.?limit",
    "throttl",
    "too many requests",
    "please wait",
    "requests per (minute|day|second)",
    "tokens per (minute|day)",
    "请求过于频繁",
    "限流",
    "速率限制",
)
_LOADING = _words("loading model", r"model.{0,60}\b(is|still) (currently )?loading", "model is not ready", "warming up")
_MONEY_CODE = _words(r'"(code|type)":\s*"(insufficient_quota|insufficient_balance|billing[a-z_]*)"')
_MONEY_TEXT = _words(
    "insufficient.{0,10}(balance|funds|credit)",
    "(credit|account) balance",
    "balance is (too low|not enough|insufficient)",
    "(out of|not enough|requires more) credits",
    "payment required",
    "in arrears",
    "余额不足",
    "欠费",
)
_FILTERED = _words("content_filter", "content_policy", "ResponsibleAIPolicyViolation", "data_inspection_failed")
_CONTEXT = _words(
    "context_length_exceeded",
    "model_context_window_exceeded",
    "exceed_context_size_error",
    "ContextWindowExceeded",
    r"maximum context length (is|of) [\d,]+",
    "exceeds? the (model's )?(available )?context (window|size|length)",
    r"at least \d+ input tokens",
    "requested token count exceeds",
    r"prompt is too long: \d+",
    r"input length and .{1,3}max_tokens.{1,3} exceed context limit",
    r"input token count .{0,60}exceeds the maximum",
    r"prompt contains \d+ tokens.{0,60}too large for model",
    "exceeded model token limit",
    r"input length \(?\d+\)? exceeds",
    "range of input length",
    "context (window|length|size) (exceeds|exceeded|is full|has been exceeded)",
    r"maximum prompt length is \d+",
    "reduce the length of (the|your) (messages|prompt|input)",
    "longer than the model.s context length",
    "input is too long for requested model",
    "greater than the context length",
    "prompt too long; exceeded",
    "no user query found in messages",
    "request_too_large",
    r"request too large for .{0,160}requested \d+",
    "tokens must be reduced",
    "(request entity|payload) too large",
)
_CAP = _words(
    r"max_(completion_|output_)?tokens.{0,60}(too (large|high|big)|at most|less than|<=|must be|exceed|range|maximum)",
    r"(at most|maximum of) \d+ (completion|output) tokens",
    "range of max_tokens",
    "maximum (allowed )?number of output tokens",
)
_SUM = expression(r"(\d[\d,]*)\s*\+\s*(\d[\d,]*)\s*>\s*(\d[\d,]*)")
_TOOLS = expression(r"(tool|function)( |_|-)?(s|calling|calls?|use|choice|param)?", re.IGNORECASE)
_UNABLE = expression(
    r"(not|n't) support|unsupported|not enabled|no endpoints|requires? --|to be set|not available",
    re.IGNORECASE,
)
_STRICT_NO_TOOLS = expression(
    r'(extra_forbidden|unrecognized).*?("body",\s*"tools"\s*\]|: tools\b)|"tools"\].{0,80}Extra'
)
_NUMBER = expression(r"\d[\d,]{2,}")
_FIELD_NUMBERS = {
    "window": expression(r'"(?:n_ctx|max_model_len|context_length|max_context_length)":\s*(\d+)'),
    "prompt": expression(r'"n_prompt_tokens":\s*(\d+)'),
}
_WINDOW = _words(
    r"maximum context length (?:is|of) ([\d,]+)",
    r"prompt is too long: [\d,]+ tokens > ([\d,]+)",
    r"context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)",
    r"maximum number of tokens allowed \(?([\d,]+)",
    r"too large for model with ([\d,]+)",
    r"model token limit: ([\d,]+)",
    r"(?:input|context) length (?:of|is)? ?\(?([\d,]+)\)?$",
    r"maximum prompt length is ([\d,]+)",
    r"context (?:size|length|window)[^\d\n]{0,30}?\(?([\d,]+)(?: tokens)?\)?",
)
_CAP_LIMIT = _words(
    r"(?:at most|maximum of|less than or equal to|<=)\s*:?([\d,]+)",
    r"maximum allowed number of output tokens for [^\s]+,? (?:which )?is ([\d,]+)",
    r"max_(?:completion_|output_)?tokens[^\d]{0,60}\[\d+,\s*(\d+)\]",
    r"supports at most ([\d,]+)",
    r"> ([\d,]+), which is the maximum",
)


def is_overflow(failure: Failure) -> bool:
    """Whether the endpoint says in any vendor's words that the prompt is too long; throttling is not that."""
    if failure.transport or _is_throttled(failure):
        return False
    return failure.status == _TOO_LARGE or bool(_CONTEXT.search(failure.text)) or _is_empty_refusal(failure)


def lacks_tools(failure: Failure) -> bool:
    """Whether the endpoint says that it knows no native tools."""
    if failure.status not in {400, 404, 405, 422, 500, 501} or "tool_choice" in failure.text:
        return False
    if "without `tools=`" in failure.text or failure.param.startswith("tools["):
        return False
    if _STRICT_NO_TOOLS.search(failure.body):
        return True
    text = f"{failure.message} {failure.code}"
    return any(_UNABLE.search(text[max(0, m.start() - _NEAR) : m.end() + _NEAR]) for m in _TOOLS.finditer(text))


def classify(failure: Failure) -> Kind:
    """What to do about a failure that no change of the request mends."""
    for kind, applies in _RULES:
        if applies(failure):
            return kind
    if failure.status in {0, 408, 409, 425} or failure.status >= _SERVER_ERROR:
        return "transient"
    return "final"


def learned_window(failure: Failure) -> int | None:
    """Context window that an overflow text names."""
    named = _FIELD_NUMBERS["window"].search(failure.body)
    if named:
        return int(named[1])
    found = _WINDOW.search(failure.message or failure.body)
    return _integer(next((each for each in found.groups() if each), "")) if found else None


def allowed_cap(failure: Failure, cap: int) -> int | None:
    """Largest output cap that would have passed, as far as the text gives numbers; `cap` is the one that did not."""
    numbers = _SUM.search(failure.text)
    if numbers:
        return (_integer(numbers[3]) or 0) - (_integer(numbers[1]) or 0)
    window = learned_window(failure)
    if window is not None:
        counted = _input_tokens(failure, window, cap)
        return window - counted if counted else None
    found = _CAP_LIMIT.search(failure.message or failure.body)
    return _integer(next((each for each in found.groups() if each), "")) if found else None


def fits_without_cap(failure: Failure, cap: int) -> bool:
    """Whether an overflow comes from the cap: the text counts it in, and the input alone fits."""
    window = learned_window(failure)
    counted = _input_tokens(failure, window, cap) if window else None
    return bool(window and counted and str(cap) in failure.message.replace(",", "") and counted < window)


def _input_tokens(failure: Failure, window: int, cap: int) -> int | None:
    """Input tokens that a text counts: its largest number but the window, the cap, and the sum of cap and input."""
    numbers = {number for each in _NUMBER.findall(failure.message) if (number := _integer(each))} - {window, cap}
    return max((number for number in numbers if number - cap not in numbers), default=None)


def _integer(text: str) -> int | None:
    digits = text.replace(",", "")
    return int(digits) if digits.isdigit() else None


def _is_throttled(failure: Failure) -> bool:
    if failure.status == _TOO_LARGE or _CONTEXT.search(failure.text):
        return False
    return failure.status == _RATE_LIMIT or bool(_THROTTLED.search(failure.text))


def _is_empty_refusal(failure: Failure) -> bool:
    """Cerebras refuses a prompt that is too long with an empty body; no other 400 is empty."""
    return failure.status == _BAD_REQUEST and not failure.body


def is_filtered(failure: Failure) -> bool:
    """Whether a content filter refused the request."""
    return bool(_FILTERED.search(failure.text))


def is_out_of_money(failure: Failure) -> bool:
    """Whether the account has no balance or quota left; the word quota in free text alone is a rate limit."""
    return bool(_MONEY_CODE.search(failure.body) or _MONEY_TEXT.search(failure.text))


def _is_final(failure: Failure) -> bool:
    return failure.status == _NO_BALANCE or is_out_of_money(failure) or is_filtered(failure)


def _is_rate_limit(failure: Failure) -> bool:
    quota = "quota" in failure.text and failure.status in {0, 403, 503}
    return _is_throttled(failure) or quota


def _is_cap(failure: Failure) -> bool:
    if failure.status not in {400, 422, 500}:
        return False
    numbers = _SUM.search(failure.text)
    if numbers:
        return (_integer(numbers[1]) or 0) < (_integer(numbers[3]) or 0)
    return bool(_CAP.search(failure.text)) and not _CONTEXT.search(failure.text) and "unsupported" not in failure.text


_RULES: tuple[tuple[Kind, Callable[[Failure], bool]], ...] = (
    ("transient", lambda failure: bool(failure.transport)),
    ("final", _is_final),
    ("warming_up", lambda failure: failure.status == _UNREADY and bool(_LOADING.search(failure.text))),
    ("rate_limit", _is_rate_limit),
    ("lower_cap", _is_cap),
    ("overflow", is_overflow),
    ("no_tools", lacks_tools),
)
