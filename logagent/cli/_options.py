"""The options, declared once in groups; `takes` gives a command the groups it wants as one value each."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

CONNECTION, DISPLAY, WINDOW, SCOPE, BUDGET = "Source", "Output", "Window", "Scope", "Run"
Text = str | None
Texts = list[str] | None


def _option(*names: str, panel: str, text: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=panel, show_default=False, **more)


_source = functools.partial(_option, panel=CONNECTION)
_display = functools.partial(_option, panel=DISPLAY)
_window = functools.partial(_option, panel=WINDOW)
_scope = functools.partial(_option, panel=SCOPE)
_run = functools.partial(_option, panel=BUDGET)


@dataclasses.dataclass(frozen=True, slots=True)
class GlobalOptions:
    """Accepted by every command, before or after its name."""

    profile: Annotated[Text, _source("-p", "--profile", text="Named connection of the configuration.", metavar="NAME")]
    es_url: Annotated[Text, _source("--es-url", text="Elasticsearch or OpenSearch server.", metavar="URL")]
    index: Annotated[
        Texts, _source("-i", "--index", text="Index pattern such as 'logs-*' or 'eu:logs-*'; repeatable.", metavar="P")
    ]
    api_key_file: Annotated[Text, _source("--api-key-file", text="File of mode 0600 with the API key.", metavar="PATH")]
    ca_cert: Annotated[Text, _source("--ca-cert", text="CA certificate of the server.", metavar="PATH")]
    cert_fingerprint: Annotated[
        Text, _source("--cert-fingerprint", text="SHA-256 of the server's certificate.", metavar="HEX")
    ]
    insecure: Annotated[bool, _source("--insecure", text="No TLS verification; warns on every run.")]
    allow_http: Annotated[bool, _source("--allow-http", text="Credentials over plain http on a trusted network.")]
    require_read_only: Annotated[bool, _source("--require-read-only", text="Refuse a key that can write (exit 4).")]
    request_timeout: Annotated[
        Text, _source("--request-timeout", text="For each search; default 30s.", metavar="DURATION")
    ]
    tz: Annotated[Text, _display("--tz", text="Zone of shown and typed times: local, utc or a name.", metavar="ZONE")]
    lang: Annotated[Text, _display("--lang", text="Language: auto, en or zh-CN.", metavar="LANG")]
    output_format: Annotated[Text, _display("-F", "--format", text="text, json, ...; default text.", metavar="FORMAT")]
    json: Annotated[bool, _display("--json", text="Same as --format json.")]
    output: Annotated[
        Texts, _display("-o", "--output", text="Write to a file, format by extension; repeatable.", metavar="FILE")
    ]
    quiet: Annotated[bool, _display("-q", "--quiet", text="No progress, no hints.")]
    verbose: Annotated[int, _display("-v", "--verbose", text="Show queries; -vv shows everything.", count=True)]
    debug: Annotated[bool, _display("--debug", text="Write what happened to a log file; its path is printed.")]
    color: Annotated[Text, _display("--color", text="auto, always or never.", metavar="WHEN")]
    no_color: Annotated[bool, _display("--no-color", text="Same as --color never.")]
    ascii: Annotated[bool, _display("--ascii", text="No glyphs outside ASCII.")]
    no_pager: Annotated[bool, _display("--no-pager", text="Never start a pager.")]
    progress: Annotated[Text, _display("--progress", text="auto, plain, json or none.", metavar="MODE")]
    no_input: Annotated[bool, _display("--no-input", text="Never ask.")]
    yes: Annotated[bool, _display("--yes", text="Answer the questions of this run with yes.")]


@dataclasses.dataclass(frozen=True, slots=True)
class ScopeOptions:
    """Which window and which events."""

    since: Annotated[
        Text,
        _window("-s", "--since", text="Start: 30m, 14:05, yesterday 22:00, 昨晚10点; default 30m.", metavar="WHEN"),
    ]
    until: Annotated[Text, _window("-u", "--until", text="End; default now.", metavar="WHEN")]
    at: Annotated[Text, _window("--at", text="15 minutes on each side of an instant.", metavar="WHEN")]
    baseline: Annotated[
        Text,
        _window(
            "--baseline", text="auto, previous, yesterday, last-week, A..B or none; default auto.", metavar="WINDOW"
        ),
    ]
    time_shift: Annotated[
        Text, _window("--time-shift", text="Correct stored times for this run, e.g. -8h.", metavar="DURATION")
    ]
    service: Annotated[Texts, _scope("-S", "--service", text="Service name; repeatable.", metavar="NAME")]
    env: Annotated[Texts, _scope("--env", text="Environment.", metavar="NAME")]
    host: Annotated[Texts, _scope("--host", text="Host.", metavar="NAME")]
    namespace: Annotated[Texts, _scope("--namespace", text="Kubernetes namespace.", metavar="NAME")]
    version_of: Annotated[Texts, _scope("--version-of", text="Service version.", metavar="VERSION")]
    trace_id: Annotated[Text, _scope("--trace-id", text="Only this trace.", metavar="ID")]
    filter: Annotated[
        Texts, _scope("-f", "--filter", text="Query such as 'level>=error AND \"timed out\"'.", metavar="QUERY")
    ]
    exclude: Annotated[Texts, _scope("-x", "--exclude", text="Leave out what matches.", metavar="QUERY")]


@dataclasses.dataclass(frozen=True, slots=True)
class RunLimits:
    """How far an investigation goes."""

    effort: Annotated[Text, _run("--effort", text="quick, standard or deep; default standard.", metavar="LEVEL")]
    deadline: Annotated[Text, _run("--deadline", text="Report what is there after this time.", metavar="DURATION")]
    max_requests: Annotated[int | None, _run("--max-requests", text="Most requests to the store.", metavar="N", min=1)]
    max_cost: Annotated[float | None, _run("--max-cost", text="Most US dollars for the model.", metavar="USD", min=0)]
    max_tokens: Annotated[int | None, _run("--max-tokens", text="Most tokens of the model.", metavar="N", min=1)]
    no_llm: Annotated[bool, _run("--no-llm", text="Rules only, no model.")]
    require_llm: Annotated[bool, _run("--require-llm", text="Fail (exit 6) without a model.")]
    model: Annotated[Text, _run("--model", text="Name of the model.", metavar="NAME")]
    llm_url: Annotated[Text, _run("--llm-url", text="OpenAI-compatible endpoint, with /v1.", metavar="URL")]
    no_knowledge: Annotated[bool, _run("--no-knowledge", text="Leave runbooks and notes out.")]
    assume: Annotated[Texts, _run("--assume", text="Something you know; shown as yours.", metavar="TEXT")]
    dry_run: Annotated[bool, _run("--dry-run", text="Print the plan, run nothing.")]
    strict: Annotated[bool, _run("--strict", text="Partial data is an error (exit 7).")]
    exit_code: Annotated[bool, _run("--exit-code", text="Exit 10 when an anomaly was found.")]
    save: Annotated[bool, _run("--save/--no-save", text="Keep the run as a case; default yes.")]


NO_SCOPE = ScopeOptions(**dict.fromkeys(ScopeOptions.__dataclass_fields__))
"""For commands without these options."""
_DEFAULTS: dict[str, object] = {"save": True, "verbose": 0}


def takes(*groups: type) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options of `groups`; it receives one value of each group as keyword `g`, named in lower case.

    typer reads a signature, so the wrapper gets one with all options in it: `def diagnose(targets, *, options,
    scope)` would otherwise be a function of sixty parameters.
    """

    def wrap(command: Callable[..., int]) -> Callable[..., int]:
        own = {
            name: parameter
            for name, parameter in inspect.signature(command).parameters.items()
            if parameter.annotation not in groups
        }
        names = {
            parameter.annotation: name
            for name, parameter in inspect.signature(command).parameters.items()
            if parameter.annotation in groups
        }
        hints = {group: get_type_hints(group, include_extras=True) for group in groups}

        @functools.wraps(command)
        def call(**given: object) -> int:
            values = {names[group]: group(**{field: given.pop(field) for field in hints[group]}) for group in groups}
            return command(**given, **values)

        shared = [
            inspect.Parameter(field, inspect.Parameter.KEYWORD_ONLY, default=_default(field, hint), annotation=hint)
            for group in groups
            for field, hint in hints[group].items()
        ]
        signature = inspect.Signature([*own.values(), *shared], return_annotation=int)
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        del call.__wrapped__  # inspect would look through it
        return call

    return wrap


def _default(field: str, hint: Any) -> object:
    return _DEFAULTS.get(field, False if hint.__origin__ is bool else None)


def global_names() -> dict[str, bool]:
    """Every global option name with whether a value follows it."""
    found: dict[str, bool] = {}
    for name, hint in get_type_hints(GlobalOptions, include_extras=True).items():
        option = hint.__metadata__[0]
        valued = hint.__origin__ is not bool and name != "verbose"
        found |= dict.fromkeys((str(option.default), *(option.param_decls or ())), valued)
    return found
