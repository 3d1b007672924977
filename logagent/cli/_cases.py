"""Saved cases for the commands, and where the logs of a case were: `verify` and `logs --case` ask there again."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logagent.cli._context import Context

if TYPE_CHECKING:
    from logagent.cases import CaseStore
    from logagent.diagnosis import Diagnosis
    from logagent.settings import RunOptions, Settings

_SOURCE = "source"


def open_cases(settings: "Settings") -> "CaseStore":
    """The cases of this user."""
    from logagent.cases import CaseStore  # noqa: PLC0415

    return CaseStore(settings.paths.cases, lambda: datetime.now(UTC), keep_days=settings.cases.keep_days)


def remember_source(context: Context, options: "RunOptions", diagnosis: "Diagnosis") -> None:
    """Note in the transcript where the logs of a saved run were: files by absolute path, a cluster by profile and URL.

    Standard input is not noted: it cannot be read again.
    """
    from logagent.errors import StoreUnavailable  # noqa: PLC0415

    try:
        _note_source(context, options, diagnosis)
    except StoreUnavailable:  # the answer is there, and counts more than the case
        folder = context.settings.paths.cases
        context.console.hint(context.console.texts.say("cli.after.not_saved", folder=folder))


def _note_source(context: Context, options: "RunOptions", diagnosis: "Diagnosis") -> None:
    es = context.settings.es
    open_cases(context.settings).append(
        diagnosis.id,
        {
            "kind": _SOURCE,
            "scenario": options.scenario,
            "stdin": "-" in options.files,
            "files": [str(Path(name).absolute()) for name in options.files if name != "-"],
            "profile": context.settings.profile,
            "es_url": None if options.files or options.scenario else es.url,
            "indices": [] if options.files or options.scenario else list(es.index),
        },
    )


def with_source(context: Context, case: str, diagnosis: "Diagnosis", options: "RunOptions") -> "RunOptions":
    """`options` with the source of the case, where they name none. A report file knows only its own name.

    Raises:
        UsageError: LA705, the logs came from standard input, which was not kept.
    """
    from logagent.errors import UsageError  # noqa: PLC0415

    if options.files:
        return options
    noted = _noted(context, case, diagnosis)
    if noted.get("stdin"):
        raise UsageError("standard input was not kept", code="LA705", values={"case": diagnosis.id})
    files = tuple(str(name) for name in noted.get("files") or ())
    scenario = noted.get("scenario")
    if noted.get("es_url") and context.settings.es.url is None:
        es = context.settings.es.model_copy(update={"url": noted["es_url"]})
        context.settings = context.settings.model_copy(update={"es": es})
    if not options.indices and noted.get("indices"):
        options = replace(options, indices=tuple(noted["indices"]))
    return replace(options, files=files, scenario=str(scenario) if scenario else None)


def _noted(context: Context, case: str, diagnosis: "Diagnosis") -> dict[str, Any]:
    from logagent.errors import UsageError  # noqa: PLC0415

    for name in (case, diagnosis.id):
        try:
            for record in open_cases(context.settings).transcript(name):
                if record.get("kind") == _SOURCE:
                    return record
        except UsageError:  # a report file from elsewhere has no transcript here
            continue
    return {}
