"""The only place that knows settings and classes: from options to a Diagnosis."""

from typing import TYPE_CHECKING, BinaryIO

from logagent.diagnosis import Diagnosis
from logagent.events import OnEvent
from logagent.settings import RunOptions, Settings
from logagent.wiring._doctor import DoctorCheck, doctor
from logagent.wiring._recheck import requery
from logagent.wiring._session import Session

if TYPE_CHECKING:
    from logagent.tools import Approve  # with the model client 0.1 s that a run without a model need not pay


def open_session(
    settings: Settings,
    options: RunOptions,
    on_event: OnEvent,
    stdin: BinaryIO | None = None,
    approve: "Approve | None" = None,
) -> Session:
    """Open the source and fix the scope; close the session when done (context manager).

    `approve` asks a person before a restricted tool runs; without it such tools are refused.

    Raises:
        LogAgentError: the source cannot be opened, or the options contradict it.
    """
    session = Session(settings, options, on_event, stdin)
    session.approve = approve or session.approve
    return session


def run(settings: Settings, options: RunOptions, on_event: OnEvent, stdin: BinaryIO | None = None) -> Diagnosis:
    """One whole run.

    Raises:
        LogAgentError: nothing usable could be collected.
    """
    with open_session(settings, options, on_event, stdin) as session:
        return session.run()


__all__ = ["DoctorCheck", "Session", "doctor", "open_session", "requery", "run"]
