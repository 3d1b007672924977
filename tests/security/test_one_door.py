"""One door in: no text of a log, an error, a mapping, a name or a question reaches a message but masked and visible."""

import ast
import json
import re
from pathlib import Path

import logagent
from evals._security_oracles import INVISIBLE
from evals._security_scene import incident, investigate
from logagent.testing import EvilModel
from tests.security.attacks import CARRIERS, document
from tests.security.test_redaction import VALUE

PACKAGE = Path(logagent.__file__).parent
DOORS = frozenset(
    ["analysis/redact.py", "agent/_calls.py", "agent/_loop.py", "agent/_prompt.py", "agent/_talk.py", "llm/_client.py", "llm/_outgoing.py", "llm/_run.py", "llm/_shrink.py", "llm/_text_protocol.py", "llm/_body.py", "llm/_wire.py", "tools/_registry.py", "tools/_render.py", "wiring/_model.py", "wiring/_replay.py"]
)  # fmt: skip
"""Modules that may make a `ModelText`: a new one has to be looked at, and then stands here."""


def makers() -> set[str]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ModelText":
                found.add(str(path.relative_to(PACKAGE)))
    return found


def test_s053_only_the_known_modules_make_text_for_a_model() -> None:
    assert makers() <= DOORS


def test_s053_a_message_takes_no_plain_text() -> None:
    source = (PACKAGE / "llm" / "_wire.py").read_text(encoding="utf-8")
    assert re.search(r"text: ModelText", source)


def test_s053_no_field_of_a_log_brings_a_secret_or_a_control_into_a_message() -> None:
    text = f"\x1b[2J\u202e\u200b password={VALUE} \x9b31m"
    lines = [document(carrier, text) for carrier in CARRIERS]
    with EvilModel([text]) as model:
        investigate([*incident(), *lines], model, question=f"why is password={VALUE} \x1b[2J refused?")
        sent = [message for request in model.requests for message in request["messages"]]  # type: ignore[attr-defined]
    whole = json.dumps(sent, ensure_ascii=False)
    foreign = "".join(str(one.get("content")) for one in sent if one["role"] in {"system", "user", "tool"})
    assert "password" in foreign
    assert VALUE not in foreign
    assert not INVISIBLE.search(foreign)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", foreign)
    assert whole
