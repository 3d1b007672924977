"""Sentences of a submission that speak for somebody else: they are withheld (security.md S5, S8, P7).

A model that obeys a log line recites its prompt, repeats the order, spells a password of the attacker or proposes a
change. None of that is an analysis of logs. What is found is left out, whatever the model was told.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from logagent.analysis.sanitise import looks_like_instructions, sanitise
from logagent.analysis.sentences import sentences
from logagent.expressions import expression
from logagent.texts import Catalogue
from logagent.tools._base import ToolContext

if TYPE_CHECKING:
    from logagent.tools.submit_diagnosis import Submission

_WORD = expression(r"\w+")
_RUN = 8
"""Words in a row that nobody writes by chance."""
_CODE = expression(r"(?<![\w-])(?=[A-Z0-9_-]*\d)(?=[A-Z0-9_-]*[A-Z][0-9_-]*[A-Z])[A-Z][A-Z0-9_-]{5,}(?![\w-])")
"""`ABC123`: a ticket, an advisory, a word to be repeated."""
_QUOTES = expression(r"\"[^\"]{2,160}\"|“[^”]{2,160}”|「[^」]{2,160}」")
_COMMAND = expression(
    r"(?:^|[`;|&]|\b(?:run|execute|type|paste|with)\s)\s*(?:sudo\s+)?(?:curl|wget|kubectl|helm|docker|podman|systemctl"
    r"|service|iptables|nft|ufw|apt(?:-get)?|yum|dnf|apk|pip3?|npm|gem|rm|chmod|chown|kill|pkill|ssh|scp|nc|bash|sh"
    r"|python3?|psql|mysql|redis-cli|aws|gcloud|az|terraform|git|export|alias)\s+[\w./~$\"'`-]|\$\(|\|\s*(?:ba)?sh\b",
    re.IGNORECASE,
)
_CHANGE = expression(
    r"(?:^|[,;:.]\s+|\b(?:and|then|or|please|to|by|should|must|you can|recommend(?:ed)?|suggest(?:ed)?)\s+)"
    r"(?:immediately\s+|temporarily\s+)?(?:add|allow|allowlist|whitelist|approve|block|change|close|create|decrease"
    r"|delete|deploy|disable|downgrade|drop|enable|exempt|flush|grant|increase|install|kill|lower|mute|open|pin|post"
    r"|purge|raise|reboot|remove|replace|reset|restart|revert|revoke|roll\s?back|rotate|scale|send|set|silence"
    r"|suppress|switch|terminate|transfer|truncate|turn\s+off|uninstall|update|upgrade|upload|wipe)(?:e?d|ing)?\b"
    r"|(?:请|立即|需要|应|可以|建议)?(?:重启|回滚|删除|关闭|禁用|降级|升级|安装|放行|加入白名单|静默|扩容|修改)",
    re.IGNORECASE,
)
_IDEAS = "next_step_ideas"
_NAMES = frozenset({"mechanism", "entity", "supporting", "contradicting", "ids", "why"})
"""No sentences: checked by `_claims`."""


def withheld(submitted: "Submission", context: ToolContext) -> tuple["Submission", list[str]]:
    """The same without such sentences, and why each went; codes that results show are put in quotes."""
    why: list[str] = []
    tree = {name: _without(value, context, why, ideas=name == _IDEAS) for name, value in submitted.model_dump().items()}
    return submitted.model_validate(tree), list(dict.fromkeys(why))


def _without(value: Any, context: ToolContext, why: list[str], *, ideas: bool) -> Any:
    if isinstance(value, str):
        return _kept(value, context, why, ideas=ideas)
    if isinstance(value, list):
        return [kept for part in value if (kept := _without(part, context, why, ideas=ideas)) not in ("", None)]
    if isinstance(value, dict):
        prose = {key: _without(part, context, why, ideas=ideas) for key, part in value.items() if key not in _NAMES}
        return value | prose
    return value


def _kept(text: str, context: ToolContext, why: list[str], *, ideas: bool) -> str:
    found = list(_reasons(text, context, ideas=ideas))
    if not found:
        return _quoted(text, context)
    why += found
    if ideas:
        return ""
    good = [one for one in sentences(text) if not any(_reasons(one, context, ideas=False))]
    kept = " ".join(good)
    return "" if any(_reasons(kept, context, ideas=False)) else _quoted(kept, context)


def _reasons(text: str, context: ToolContext, *, ideas: bool) -> Iterator[str]:
    if _recites(text, context.nonce):
        yield "a text repeats these instructions: answer from the logs"
    if looks_like_instructions(text):
        yield "a text speaks to a reader of logs: say what broke"
    for code in _CODE.findall(_QUOTES.sub(" ", text)):
        if not context.occurs(code):
            yield f"{sanitise(code)[:40]!r} occurs in no result"
    if _COMMAND.search(text):
        yield "a text holds a command: words only"
    elif ideas and _CHANGE.search(text):
        yield f"{_IDEAS}: checks that only read, no change"


def _recites(text: str, nonce: str) -> bool:
    """Whether a text holds eight words in a row of the fixed prompt, or the mark of this run's frames."""
    return f"<<{nonce}|" in text or f"|{nonce}>>" in text or any(run in _prompt() for run in _runs(text))


def _runs(text: str) -> set[str]:
    words = [word.lower() for word in _WORD.findall(text)]
    return {" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


@cache
def _prompt() -> frozenset[str]:
    return frozenset(_runs(Catalogue("en").say("model.system.fixed")))


def _quoted(text: str, context: ToolContext) -> str:
    """Codes in quotes: they are words of the logs, not of the report."""
    parts, last = [], 0
    for quote in _QUOTES.finditer(text):
        parts += [_CODE.sub(_in_quotes, text[last : quote.start()]), quote[0]]
        last = quote.end()
    return "".join([*parts, _CODE.sub(_in_quotes, text[last:])]) if context.shown else text


def _in_quotes(match: re.Match[str]) -> str:
    return f'"{match[0]}"'
