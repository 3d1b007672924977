"""What every command needs first: settings, console, and the options of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from logagent.cli._console import CURRENT, Console, make_console
from logagent.cli._options import GlobalOptions, RunLimits, ScopeOptions
from logagent.errors import UsageError

if TYPE_CHECKING:
    from logagent.settings import RunOptions, Settings

_CHOICES = {
    "color": ("auto", "always", "never"),
    "progress": ("auto", "plain", "json", "none"),
    "lang": ("auto", "en", "zh-CN"),
    "effort": ("quick", "standard", "deep"),
}
_LANGUAGES = {"zh": "zh-CN", "zh_CN": "zh-CN", "zh-cn": "zh-CN", "zh_cn": "zh-CN"}


@dataclass(slots=True)
class Context:
    """A command that is about to run."""

    settings: "Settings"
    console: Console
    options: GlobalOptions
    environ: Mapping[str, str]
    stdin: BinaryIO | None = None


def make_context(options: GlobalOptions, limits: RunLimits | None = None) -> Context:
    """Read the settings and look at the streams.

    Raises:
        UsageError: LA702, LA703, LA706.
    """
    from logagent.settings import environment, load  # noqa: PLC0415

    environ = environment()
    CURRENT.console = plain_console(options, environ)
    for name, value in (("color", options.color), ("progress", options.progress), ("lang", _language(options.lang))):
        require_choice(f"--{name}", value, _CHOICES[name])
    if options.json and options.output_format not in (None, "json"):
        raise _refused(f"--json and --format {options.output_format} exclude each other")
    settings = load(_settings_options(options, limits), environ)
    console = make_console(options, environ, settings.ui.lang, settings.ui.tz)
    if settings.ui.accessible:
        console.accessible, console.unicode = True, False
        console.progress = "plain" if console.progress == "tty" else console.progress
    if options.color is None and settings.ui.color != "auto" and not environ.get("NO_COLOR"):
        console.colour = console.colour_errors = settings.ui.color == "always"
    CURRENT.console = console
    if settings.es.insecure and settings.es.url:
        console.say(console.texts.say("cli.insecure"))
    if settings.es.allow_http and settings.es.has_credentials and (settings.es.url or "").startswith("http:"):
        console.say(console.texts.say("cli.allow_http"))
    return Context(settings, console, options, environ)


def plain_console(options: GlobalOptions, environ: Mapping[str, str]) -> Console:
    """A console before the settings are read: enough to print that they are wrong."""
    from logagent.settings import resolve_language  # noqa: PLC0415

    choice = _language(options.lang) or environ.get("LOGAGENT_LANG") or "auto"
    return make_console(options, environ, resolve_language(choice, environ), "UTC")


def _language(given: str | None) -> str | None:
    return _LANGUAGES.get(given, given) if given else None


def require_choice(option: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices.

    Raises:
        UsageError: LA702.
    """
    if value is not None and value not in choices:
        raise _refused(f"{option} is one of {', '.join(choices)}, not {value!r}")


def _settings_options(options: GlobalOptions, limits: RunLimits | None) -> dict[str, object]:
    given: dict[str, object] = {
        "profile": options.profile,
        "es.url": options.es_url,
        "es.index": ",".join(options.index) if options.index else None,
        "es.api_key_file": str(Path(options.api_key_file).expanduser()) if options.api_key_file else None,
        "es.ca_cert": options.ca_cert,
        "es.cert_fingerprint": options.cert_fingerprint,
        "es.insecure": options.insecure or None,
        "es.allow_http": options.allow_http or None,
        "es.require_read_only": options.require_read_only or None,
        "es.request_timeout": options.request_timeout,
        "llm.allow_http": options.allow_http or None,
        "ui.tz": options.tz,
        "ui.lang": _language(options.lang),
    }
    if limits is not None:
        given |= {
            "llm.base_url": limits.llm_url,
            "llm.model": limits.model,
            "llm.max_cost_usd": limits.max_cost or None,
            "analysis.effort": limits.effort,
            "analysis.deadline": limits.deadline,
            "knowledge.enabled": False if limits.no_knowledge else None,
        }
    return given


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command was asked, before it is made into RunOptions."""

    command: Literal["diagnose", "ask", "demo"] = "diagnose"
    names: tuple[str, ...] = ()
    question: str | None = None
    scenario: str | None = None
    case: str | None = None


def make_run_options(context: Context, asked: Asked, scope: ScopeOptions, limits: RunLimits | None) -> "RunOptions":
    """RunOptions for wiring; also finds out what the positional names are and keeps stdin in the context.

    Raises:
        StoreUnavailable: LA307.
        UsageError: LA701, LA702.
    """
    from logagent.cli._targets import read_targets  # noqa: PLC0415
    from logagent.settings import RunOptions  # noqa: PLC0415
    from logagent.times import parse_duration  # noqa: PLC0415

    if limits is not None and limits.no_llm and limits.require_llm:
        raise _refused("--no-llm and --require-llm exclude each other")
    _require_no_blank(scope)
    settings = context.settings
    targets = read_targets(asked.names, scope.service or (), has_cluster=settings.es.url is not None)
    context.stdin = targets.stdin
    shift = parse_duration(scope.time_shift).total_seconds() if scope.time_shift else 0.0
    run = RunOptions(
        command=asked.command,
        question=asked.question,
        services=targets.services,
        files=targets.files,
        indices=tuple(context.options.index or ()),
        since=scope.since,
        until=scope.until,
        at=scope.at,
        baseline=scope.baseline or settings.baseline.mode,
        filters=tuple(scope.filter or ()),
        excludes=(*settings.analysis.always_exclude, *(scope.exclude or ())),
        fields=_role_values(scope),
        time_shift_seconds=shift,
        scenario=asked.scenario,
        case=asked.case,
        language=settings.ui.lang,
        zone=settings.ui.tz,
        effort=settings.analysis.effort,
        deadline_seconds=settings.analysis.deadline,
        max_cost=settings.llm.max_cost_usd,
        use_model=False,
        save=False,
    )
    context.console.source = run.source_words
    return _limited(run, limits) if limits else run


def _require_no_blank(scope: ScopeOptions) -> None:
    """An empty value is what an unset variable of a script leaves; it must not mean the default, or everything."""
    for name in ("since", "until", "at", "baseline", "time_shift"):
        value = getattr(scope, name)
        if value is not None and not value.strip():
            raise _refused(f"--{name.replace('_', '-')} is empty; leave it out for the default")
    for name in ("service", "env", "host", "namespace", "version_of", "filter", "exclude", "trace_id"):
        given = getattr(scope, name)
        values = [given] if isinstance(given, str) else given or []
        if not all(value.strip() for value in values):
            raise _refused(f"--{name.replace('_', '-')} is empty; leave it out for all")


def _refused(reason: str) -> UsageError:
    return UsageError(reason, code="LA702", values={"reason": reason})


def _limited(run: "RunOptions", limits: RunLimits) -> "RunOptions":
    return replace(
        run,
        max_requests=limits.max_requests,
        max_tokens=limits.max_tokens,
        use_model=not limits.no_llm,
        require_model=limits.require_llm,
        strict=limits.strict,
        save=limits.save,
        dry_run=limits.dry_run,
        assumptions=tuple(limits.assume or ()),
    )


def _role_values(scope: ScopeOptions) -> dict[str, tuple[str, ...]]:
    """Values asked for, by role of `logagent.fields`."""
    given = {
        "environment": tuple(scope.env or ()),
        "host": tuple(scope.host or ()),
        "namespace": tuple(scope.namespace or ()),
        "version": tuple(scope.version_of or ()),
        "trace_id": (scope.trace_id,) if scope.trace_id else (),
    }
    return {role: values for role, values in given.items() if values}


def language_of(text: str) -> str:
    """Language of a question: Chinese where a Han character stands outside of code spans and quotation marks."""
    import re  # noqa: PLC0415

    bare = re.sub(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|'[^']*'", " ", text)
    return "zh-CN" if re.search(r"[\u3400-\u9fff]", bare) else "en"
