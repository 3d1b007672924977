"""A model that follows a script, over real HTTP on loopback: for our tests and for those of others.

    with ScriptedModel([calls("search_logs", query="level:error"), submit(headline="...")]) as model:
        client = ChatClient(Endpoint(model.url, "scripted"))

It refuses what the script does not expect, and complains on exit about what was not asked for.
Nothing looks at the requests while the script runs; assert on `model.requests` afterwards.
"""

from logagent.testing._evil import EvilModel
from logagent.testing._model import ScriptedModel
from logagent.testing._script import (
    Answer,
    Call,
    Fault,
    Raw,
    calls,
    hangs,
    http,
    raw,
    says,
    several,
    submit,
)

__all__ = [
    "Answer",
    "Call",
    "EvilModel",
    "Fault",
    "Raw",
    "ScriptedModel",
    "calls",
    "hangs",
    "http",
    "raw",
    "says",
    "several",
    "submit",
]
