"""`logagent doctor`: one line a check, in order of dependence, each failing one with a remedy (ux.md 2.11)."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from logagent.errors import LogAgentError
from logagent.events import ignore
from logagent.fields import ECS, FieldMap, Role
from logagent.query import Term
from logagent.settings import RunOptions, Settings
from logagent.stores._base import Description, LogStore
from logagent.wiring._source import make_plan, open_store

Word = Literal["ok", "warn", "fail", "skip"]
_ROLES: tuple[Role, ...] = ("service", "severity", "trace_id", "status", "host", "version")
_LOW = 0.9
_OLD_HOURS = 24
SHOWN = 5
"""Sources that are named in one line."""
AREAS = ("config", "es", "fields", "llm")


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One line: name, word, finding; a remedy and an exit status where it failed."""

    name: str
    word: Word
    finding: str
    remedy: str = ""
    exit_code: int = 0


def doctor(settings: Settings, options: RunOptions, only: tuple[str, ...] = ()) -> list[DoctorCheck]:
    """All checks, or those of the areas in `only` (config, es, fields, llm)."""
    areas = only or AREAS
    checks = [_config(settings)] if "config" in areas else []
    if {"es", "fields"} & set(areas):
        checks += _source(settings, options)
    if "llm" in areas:
        checks.append(_model(settings))
    return checks


def _config(settings: Settings) -> DoctorCheck:
    own = sum(1 for origin in settings.origins.values() if origin.startswith("environment"))
    profile = f"profile {settings.profile}" if settings.profile else "no profile"
    return DoctorCheck("config", "ok", f"{profile}, {len(settings.origins)} values set, {own} from environment")


def _source(settings: Settings, options: RunOptions) -> list[DoctorCheck]:
    began = time.monotonic()
    try:
        store = open_store(settings, options, None)
    except LogAgentError as error:
        return [_failed("network", error)]
    try:
        description = store.describe()
    except LogAgentError as error:
        store.close()
        return [_failed("server", error)]
    seconds = time.monotonic() - began
    try:
        return list(_described(settings, options, store, description, seconds))
    finally:
        store.close()


def _described(
    settings: Settings, options: RunOptions, store: LogStore, description: Description, seconds: float
) -> Iterator[DoctorCheck]:
    checks: tuple[Callable[[], DoctorCheck], ...] = (
        lambda: DoctorCheck("server", "ok", f"{description.product}; answered in {seconds:.1f} s"),
        lambda: _rights(settings, description),
        lambda: _indices(description),
        lambda: _time(description, datetime.now(UTC)),
        lambda: _fields(description.fields),
        lambda: _messages(store, description),
        lambda: _baseline(options, description),
    )
    for check in checks:
        try:
            yield check()
        except LogAgentError as error:
            yield _failed("server", error)


def _rights(settings: Settings, description: Description) -> DoctorCheck:
    if description.backend == "embedded":
        return DoctorCheck("rights", "ok", "files are only read")
    if not settings.es.has_credentials:
        return DoctorCheck("rights", "warn", "no credentials; logagent itself issues only reads")
    return DoctorCheck("rights", "ok", "the scope can be read; logagent itself issues only reads")


def _indices(description: Description) -> DoctorCheck:
    names = ", ".join(f"{one.name} ({one.events:,} events)" for one in description.sources[:SHOWN])
    more = f" and {len(description.sources) - SHOWN} more" if len(description.sources) > SHOWN else ""
    if not description.events:
        return DoctorCheck(
            "indices", "fail", f"no events in {names or 'the scope'}", "logagent doctor --index 'logs-*'", 5
        )
    word: Word = "warn" if description.unparsed else "ok"
    bad = f"; {description.unparsed:,} lines could not be read as records" if description.unparsed else ""
    return DoctorCheck("indices", word, f"{names}{more}{bad}")


def _time(description: Description, now: datetime) -> DoctorCheck:
    choice = description.fields.first("timestamp")
    if choice is None or description.last is None:
        return DoctorCheck("time", "fail", "no usable time field", "logagent explain LA302", 5)
    if description.future:
        remedy = "logagent explain LA305"
        return DoctorCheck("time", "warn", f"{description.future:,} events lie in the future", remedy)
    age = (now - description.last).total_seconds()
    lag = f", lag p95 {description.lag_seconds:.0f} s" if description.lag_seconds is not None else ""
    old: Word = "warn" if age > _OLD_HOURS * 3600 and description.backend != "embedded" else "ok"
    names = ", ".join(f"{one.name} ({one.type})" for one in description.fields.roles["timestamp"])
    return DoctorCheck("time", old, f"{names}; newest event {_age(age)} ago{lag}")


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


def _fields(fields: FieldMap) -> DoctorCheck:
    shown, weak = [], False
    for role in _ROLES:
        choice, cover = fields.first(role), fields.coverage(role)
        weak = weak or cover < _LOW
        shown.append(f"{ECS[role]} {cover:.0%}" + (f" ({choice.name})" if choice and choice.name != ECS[role] else ""))
    schema = f"schema {fields.schema}; " if fields.schema else ""
    return DoctorCheck("fields", "warn" if weak else "ok", schema + ", ".join(shown))


def _messages(store: LogStore, description: Description) -> DoctorCheck:
    choice = description.fields.first("message")
    if choice is None:
        return DoctorCheck(
            "messages",
            "fail",
            "no message field",
            'name it: [profiles.NAME.fields] message = "FIELD" in config.toml',
            5,
        )
    plan = make_plan(RunOptions(), description, datetime.now(UTC))
    page = store.search(plan.scope.query(Term("", "error")), limit=1, exact_total=False)
    return DoctorCheck(
        "messages", "ok", f"{choice.name} is {choice.type}; word search works ({page.total:,} with 'error')"
    )


def _baseline(options: RunOptions, description: Description) -> DoctorCheck:
    plan = make_plan(options, description, datetime.now(UTC))
    days = plan.baseline.history.total_seconds() / 86_400
    return DoctorCheck("baseline", "ok", f"{days:.1f} days of history before the window: {plan.baseline.method}")


def _model(settings: Settings) -> DoctorCheck:
    if not settings.llm.base_url or not settings.llm.model:
        return DoctorCheck("model", "warn", "no model configured", "export LOGAGENT_LLM_URL=URL LOGAGENT_MODEL=NAME")
    from logagent.wiring._model import probe  # noqa: PLC0415  # httpx is paid for with a model only

    try:
        finding, word = probe(settings, ignore)
    except LogAgentError as error:
        return _failed("model", error, "logagent diagnose --no-llm")
    return DoctorCheck("model", word, finding)


def _failed(name: str, error: LogAgentError, remedy: str = "") -> DoctorCheck:
    code = f"{error.code} " if error.code else ""
    return DoctorCheck(name, "fail", f"{code}{error.message}", remedy or error.hint, error.exit_code)
