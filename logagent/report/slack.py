"""The head of a report as a Slack message (Block Kit JSON), to be posted by others: it pings nobody, unfurls nothing.

Text of logs and models stands in `plain_text` and, escaped, in `mrkdwn` code only. Everything fits into 9,000
characters: Slack takes about 13,200 for all blocks together (ux.md 5.1).
"""

import json
import re
from typing import Any

from logagent.analysis.trim import cut
from logagent.diagnosis import Diagnosis
from logagent.expressions import expression
from logagent.report import _facts
from logagent.report._style import Style
from logagent.report._text import clean

_HEADER, _TEXT, _PATTERNS = 150, 1_500, 5
_WEB = expression(r"\bhttp(?=s?://)", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escape(text: str) -> str:
    """Text inside `mrkdwn` in which nothing is a mention, a link or a format.

    >>> escape("<!channel> & <https://a.example|b>")
    '&lt;!channel&gt; &amp; &lt;hxxps://a.example|b&gt;'
    """
    shown = "".join(_ENTITIES.get(char, char) for char in _WEB.sub("hxxp", clean(text)))
    for active, plain in (("@", "＠"), ("`", "ˋ"), ("*", "∗"), ("~", "∼")):
        shown = shown.replace(active, plain)
    return shown


def render(diagnosis: Diagnosis, style: Style) -> str:
    """The payload of `chat.postMessage` or of an incoming webhook, without channel and credentials."""
    word, _ = _facts.status(diagnosis, style)
    title = f"{word}  {clean(diagnosis.summary.headline)}"
    rows = [(style.say("label.what"), _facts.impact(diagnosis, style))]
    since, since_ids = _facts.since(diagnosis, style)
    label, cause, cause_ids = _facts.cause(diagnosis, style)
    purpose, command = _facts.next_step(diagnosis, style)
    rows += [(style.say("label.since"), [(since, since_ids)]), (label, [(cause, cause_ids)])]
    rows += [(style.say("label.next"), [(f"{purpose} {command or ''}".strip(), [])])]
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(title, _HEADER)}]
    blocks += [_section(name, _sentences(cited)) for name, cited in rows]
    blocks += [_plain_section(clean(one.template)) for one in diagnosis.patterns[:_PATTERNS]]
    blocks.append({"type": "context", "elements": [_plain(_facts.verdict(diagnosis, style), _TEXT)]})
    payload = {"text": escape(cut(title, _HEADER)), "unfurl_links": False, "unfurl_media": False, "blocks": blocks}
    return json.dumps(payload, ensure_ascii=False, indent=1)


def _sentences(cited: list[_facts.Cited]) -> str:
    return " ".join(f"{text} {' '.join(ids)}".strip() for text, ids in cited if text)


def _plain(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": escape(cut(text, most)) or " ", "emoji": False}


def _section(name: str, text: str) -> dict[str, Any]:
    return {
        "type": "section",
        "text": {"type": "mrkdwn", "text": f"*{escape(name)}*\n{escape(cut(text, _TEXT)) or ' '}"},
    }


def _plain_section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": _plain(text, 300)}
