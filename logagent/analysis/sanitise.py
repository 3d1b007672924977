# ruff: noqa: E501, ISC004 - one phrase a line; a long one is continued in the next
r"""One sanitiser for every sink: what cannot be seen is made visible, what could act is made harmless.

The output goes to the model, the terminal and the transcript, so that all three show the same text (security.md 6).
Escapes stand as text: `\x1b`, `\u202e`, `\U000e0041`; a long run is shortened to its first three and a count.
"""

import re
import unicodedata
from functools import cache, lru_cache
from urllib.parse import unquote

from logagent.analysis.digits import alike

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_ASCII_CONTROL = "\x00-\x08\x0b-\x1f\x7f"
_SHORT_NAMES = {"\n": "\\n", "\r": "\\r", "\x0b": "\\x0b", "\x0c": "\\x0c"}
_RUN_SHOWN = 3
_RUN_LIMIT = 8
_EMOJI_SELECTOR = "\ufe0f"
_SO = frozenset({"So", "Sk", "Nd", "Po"})


def sanitise(text: str) -> str:
    r"""One value as one line of visible text: NFC, no control, bidi, zero-width or tag character, no line break.

    Idempotent, total. Tabs stay; a variation selector stays behind an emoji.

    >>> sanitise("red\x1b[31m\u202eevil\nnext")
    'red\\x1b[31m\\u202eevil\\nnext'
    """
    return _safe(text, "\n")


def sanitise_block(text: str) -> str:
    """As `sanitise`, but line feeds stay: for text of our own making that holds several lines."""
    return _safe(text, "")


def _safe(text: str, also: str) -> str:
    if text.isascii():
        return text if text.isprintable() else _unsafe(_ASCII_CONTROL, also).sub(_escape_run, text)
    return unicodedata.normalize("NFC", _unsafe(_CONTROL + _INVISIBLE, also).sub(_escape_run, text))


@cache
def _unsafe(characters: str, also: str) -> re.Pattern[str]:
    """Runs of these characters. Compiled when needed: those beyond ASCII cost 5 ms."""
    return re.compile(f"(?:[{also}{characters}])+")


def _escape_run(match: re.Match[str]) -> str:
    run = match[0]
    if run[0] == _EMOJI_SELECTOR and match.start() and _is_emoji(match.string[match.start() - 1]):
        return _EMOJI_SELECTOR + _escaped(run[1:])
    return _escaped(run)


def _escaped(run: str) -> str:
    if len(run) <= _RUN_LIMIT:
        return "".join(_escape(char) for char in run)
    shown = "".join(_escape(char) for char in run[:_RUN_SHOWN])
    return f"{shown}[+{len(run) - _RUN_SHOWN} hidden]"


def _escape(char: str) -> str:
    code = ord(char)
    if char in _SHORT_NAMES:
        return _SHORT_NAMES[char]
    if code <= 0xFF:  # noqa: PLR2004 - one byte, one \x escape
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - BMP or not


def _is_emoji(char: str) -> bool:
    return unicodedata.category(char) in _SO


# -- does a line talk to an assistant? ------------------------------------------------------------------------------

_HIDDEN_TEXT = "[\U000e0020-\U000e007f]{4}|[\u202d\u202e\u2066-\u2068]|\\w[\u200b-\u200d\u2060]\\w|\x1b\\]"
_OUR_TOOLS = (
    "list_log_sources|search_logs|get_error_stats|get_log_patterns|get_timeline|compare_windows|get_log_context"
    "|submit_diagnosis"
)
_ANSWER = r"(?:answer|response|reply|replies|summary|summaries|output|report)"
_PHRASES = (
    # orders to forget
    r"\b(?:ignore|disregard|forget|override)\b.{0,20}\b(?:previous|prior|above|earlier|your|other|all)\b.{0,20}"
    r"\b(?:instructions?|prompts?|rules|context|content|directives|info|errors|warnings)\b",
    # text that addresses an assistant or claims a role
    r"\b(?:ai|llm|gpt|claude)[ -](?:assistants?|analysts?|responders?|agents?|models?)\b",
    r"\b(?:analyst|assistant|responder)s? (?:ai|llm)\b",
    r"\bto you, (?:the )?(?:ai|assistant|model)\b|\bdear (?:ai|assistant|model)\b",
    r"\b(?:note|message|instructions?|attention) (?:to|for) (?:the )?(?:ai|llm|assistant|model|analyst)\b",
    r"\(system_message\)|^\W*system message\b|\bsystem: (?:the|new|you|ignore|from now)\b",
    r"\bnew instructions?: |\byou are now (?:in|an?|the|dan)\b(?! (?:connected|logged|leader|follower|master|slave))",
    r"\{\s*\"role\"\s*:\s*\"(?:system|assistant|user|tool)\"\s*,\s*\"content\"",
    r"\{\s*\"tool\"\s*:\s*\"(?:" + _OUR_TOOLS + r")\"",
    r"\b(?:call|use|run|invoke) (?:the )?(?:" + _OUR_TOOLS + r")\b",
    # chat templates
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>|<<sys>>|\[/inst\]",
    r"(?:\n|\\n|^)\s*(?:human|user): .{0,400}(?:\n|\\n)\s*assistant:",
    r"</?(?:tool_result|function_results|system_prompt|tool_response|untrusted)\b",
    # what to do with the answer
    r"\bin (?:your|the|any|all) " + _ANSWER + r"\b.{0,60}\b(?:mention|include|write|say|add|show|promote|state)\b",
    r"\b(?:mention|include|write|add|integrate|insert|put|end|start)\b.{0,80}\b(?:in|with|into) your " + _ANSWER,
    r"\b(?:encrypt|express|write|provide|translate|encode|enhance|modify|respond|rewrite|give)\b.{0,20}\byour "
    + _ANSWER,
    r"^in your " + _ANSWER + r"\b|\bdo not mention\b.{0,80}\b" + _ANSWER + r"|\b(?:reply|answer|respond) with only\b",
    r"\bjust (?:print|say|output|reply|answer|respond|write)\b|\b(?:print|say|output|reply|answer|respond|return|write)\b"
    r".{0,80}\bnothing else\b|\b(?:include|copy|repeat|quote|paste|insert)\b.{0,60}\b(?:verbatim|word for word)\b",
    r"\banswer only '|\b(?:just|only) (?:print|say|output|reply) \"|\b(?:summaries|reports?|answers?) must (?:start|end)",
    r"\b(?:report|mark) (?:status|every|all|that there|the incident as)\b.{0,30}"
    r"\b(?:green|healthy|resolved|no incident|closed)\b",
    r"\bclose the incident\b|\bmust be excluded from any\b|\bend the investigation\b|\bto finish the analysis\b",
    # leaks
    r"\b(?:print|output|display|repeat|reveal|show|quote)\b.{0,40}"
    r"\b(?:system[ _]prompt|initial (?:prompt|configuration|instructions)|(?:entire|whole|our) conversation)\b",
    r"!\[[^\]]{0,80}\]\(\s*https?://|\]\(\s*https?://[^)]{0,200}\[|\bdecode and (?:obey|follow|execute)\b",
    # other languages
    r"\bignorier\w* (?:alle|die|bitte)\b.{0,30}\banweisung|\bignor\w+ (?:las|todas|tutte|toutes|les)\b.{0,40}\binstru[ck]",
    r"\bconsigne pour l'assistant|\ban den assistenten:|\bpara el asistente:",
    r"игнориру\w*.{0,40}инструкци|(?:指示|命令|ルール).{0,10}無視|(?:지시|명령|규칙).{0,12}무시",
    r"忽略.{0,12}(?:指令|指示|说明|规则)|你现在是.{0,20}(?:助手|模型)|(?:请|必须)在.{0,8}(?:回答|报告|总结)中",
)
_ADDRESSES = "(?i:" + "|".join(f"(?:{phrase})" for phrase in _PHRASES) + ")"
_CLUES = (
    "ignor", "disregard", "forget", "override", "assistant", "analyst", "responder", " ai", "ai ", "llm", "gpt", "claude",
    "model", "system", "instruction", "you are now", '"role"', '"tool"', "call ", "use ", "run ", "invoke", "<|", "<<sys",
    "[/inst", "</", "answer", "response", "reply", "summar", "report", "output", "incident", "excluded", "prompt",
    "conversation", "](", "decode", "<tool", "<system", "忽略", "你现在", "игнор", "無視", "무시", "just ", "nothing else", "verbatim", "word for word", "中", "investigation", "analysis",
)  # fmt: skip
_LONGEST = 4_000


@cache
def _once(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed, which is never in most runs."""
    return re.compile(pattern)


def looks_like_instructions(text: str) -> bool:
    """Whether a line seems written for an assistant: for a warning flag, precision first (security.md P6).

    Looks at the text, at the text without invisible characters, and at its percent-decoded form. Linear: at most
    4,000 characters are read.
    """
    text = text[:_LONGEST]
    # digits stand for each other in every phrase, but not in percent codes, and NFKC knows more digits than ASCII
    return _addressed(text if "%" in text or not text.isascii() else alike(text))


@lru_cache(maxsize=1 << 12)
def _addressed(text: str) -> bool:
    if "\x1b]" in text:
        return True
    shown = text
    if not text.isascii():
        if _once(_HIDDEN_TEXT).search(text):
            return True
        shown = unicodedata.normalize("NFKC", _once(f"[{_INVISIBLE}]").sub("", text))
    if "%" in shown:
        shown = f"{shown}\n{unquote(shown)}"
    lower = shown.lower()
    for clue in _CLUES:  # a plain loop: this is asked of every line
        if clue in lower:
            return _once(_ADDRESSES).search(shown) is not None
    return False
