"""The one door between the model and everything else: finds tools, checks calls, runs them, makes their text safe."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import ModuleType
from typing import Any

import logagent.tools
from logagent import plugins
from logagent.analysis.redact import ModelText
from logagent.analysis.sanitise import sanitise
from logagent.analysis.trim import cut
from logagent.errors import LogAgentError, StoreDenied, StoreUnavailable, ToolError
from logagent.llm._wire import ToolCall, ToolDeclaration
from logagent.tools._arguments import outline, read, wire_schema
from logagent.tools._asked import ask, span
from logagent.tools._base import Answer, RangeArgs, Tool, ToolArgs, ToolContext
from logagent.tools._groups import BUDGET, CORE, OPEN, Groups, declared_tokens, hide
from logagent.tools._render import render

Approve = Callable[[str, str], bool]
"""Asks a human whether a restricted tool may run: name, exact arguments as JSON. False where nobody can be asked."""

SUBMIT = "submit_diagnosis"
_ERROR_LIMIT = 900
_SHORT = 10
"""Most characters of a description that is told with every tool: `Max 25`."""
_DENIED = "permission denied: {name} needs a person's yes for exactly these arguments, and there was none"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model reads in answer to one call, and what the loop needs to know about it."""

    call_id: str
    text: ModelText
    is_error: bool = False
    evidence: tuple[str, ...] = ()
    summary: str = ""
    """The first line of the answer: what stays of it when the conversation is compacted."""
    final: bool = False
    """The diagnosis was accepted."""
    lost: bool = False
    """The log source gave no answer at all."""


@dataclass(frozen=True, slots=True)
class Job:
    """A call that was read: ready to run, or refused with a reason."""

    call: ToolCall
    tool: Tool | None = None
    args: ToolArgs | None = None
    refusal: str = ""
    key: str = ""
    """What makes two calls the same call: name and normalised arguments, without `why`."""
    why: str = ""
    allowed: bool = False
    """A person said yes to exactly these arguments."""
    notes: tuple[str, ...] = ()
    """What was made smaller to fit, said in the first line of the answer."""

    @property
    def parallel(self) -> bool:
        """Whether it may run beside other calls."""
        return self.tool is not None and self.tool.parallel and self.tool.permission == "read"


@dataclass(slots=True)
class ToolRegistry:
    """All tools by name; those of `logagent.tools` by default. `approve` is asked before a restricted tool runs.

    One for each run. Tools beyond the eight are declared while they fit into `budget` tokens; else their groups are
    named by `open_tools`, and a group is declared once the model asked for it.
    """

    tools: Mapping[str, Tool] = field(default_factory=lambda: found_in(logagent.tools))
    approve: Approve = lambda _name, _arguments: False
    budget: int = BUDGET
    schemas: dict[str, dict[str, Any]] = field(init=False)
    groups: Groups = field(init=False)

    def __post_init__(self) -> None:
        self.schemas = {name: wire_schema(tool.args) for name, tool in self.tools.items()}
        self.groups = Groups({})
        self.groups = hide(self.tools, self.tokens(), self.budget)
        if self.groups.hidden:
            self.tools = {**self.tools, OPEN: self.groups.tool()}
            self.schemas[OPEN] = wire_schema(self.tools[OPEN].args)

    @property
    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """The tools as the model is told of them: always in the same order, groups that were asked for behind them.

        An argument that several tools share is described in the first of them only.
        """
        groups = self.groups
        late = [name for group in groups.opened for name in groups.hidden[group]]
        first = [name for name in self.tools if name not in late and not groups.group_of(name)]
        first.sort(key=lambda name: name not in CORE)
        told: set[tuple[str, str]] = set()
        return tuple(
            ToolDeclaration(name, self.tools[name].description, _told_once(self.schemas[name], told))
            for name in [*first, *late]
        )

    def tokens(self) -> dict[str, int]:
        """Estimated cost of each declaration in every request."""
        return {declared.name: declared_tokens(declared) for declared in self.declarations}

    def every_cost(self) -> dict[str, int]:
        """The same for all tools, those not declared yet included, each as if it stood alone."""
        alone = (ToolDeclaration(name, tool.description, self.schemas[name]) for name, tool in self.tools.items())
        return {one.name: declared_tokens(one) for one in alone} | self.tokens()

    def prepare(self, call: ToolCall, context: ToolContext) -> Job:
        """Read a call. On the loop's thread: masks in the arguments are mapped back here."""
        name = call.name.strip()
        tool = self.tools.get(name)
        if tool is None:
            near = get_close_matches(name, self.tools, 1, 0.5)
            first = f"; nearest: {near[0]}" if near else ""
            return Job(call, refusal=f"no tool {sanitise(name)[:64]!r}{first}; tools: {', '.join(self.tools)}")
        group = self.groups.group_of(name)
        if group:
            return Job(call, tool, refusal=f"{name} is not declared yet: call {OPEN} with group {group!r} first")
        try:
            args, notes = read(context.redact.unmask_query(call.arguments), tool.args, self.schemas[name])
        except ToolError as error:
            return Job(call, tool, refusal=error.message)
        plain = args.model_dump(exclude={"why"}, exclude_none=True, exclude_defaults=True)
        key = f"{name} {json.dumps(_normal(plain, args, context), sort_keys=True, ensure_ascii=False)}"
        return Job(call, tool, args, "", key, getattr(args, "why", None) or "", notes=notes)

    def permit(self, job: Job) -> Job:
        """The job with a person's yes or no, where its tool needs one; asked on the loop's thread, before it runs."""
        if job.tool is None or job.args is None or job.tool.permission != "restricted" or job.refusal:
            return job
        name = job.call.name.strip()
        arguments = job.args.model_dump(exclude={"why"}, exclude_none=True, exclude_defaults=True)
        if self.approve(name, json.dumps(arguments, ensure_ascii=False)):
            return replace(job, allowed=True)
        return replace(job, refusal=_DENIED.format(name=name))

    def run(self, job: Job, context: ToolContext) -> Answer | LogAgentError:
        """Run a call; safe in any thread. What the store or the model did wrong comes back as a value."""
        if job.refusal or job.tool is None or job.args is None:
            return ToolError(job.refusal)
        if job.tool.permission == "restricted" and not job.allowed:
            return ToolError(_DENIED.format(name=job.call.name.strip()))
        try:
            return job.tool.handler(job.args, context)
        except LogAgentError as error:
            return error
        except ValueError as error:  # a limit of the store that a handler did not check
            return ToolError(str(error))

    def deliver(self, job: Job, outcome: Answer | LogAgentError, context: ToolContext) -> ToolResult:
        """Make the text the model reads. On the loop's thread, in the order of the calls."""
        call_id = job.call.call_id
        if isinstance(outcome, LogAgentError):
            text = _error(outcome, context)
            lost = isinstance(outcome, StoreUnavailable | StoreDenied)
            return ToolResult(call_id, text, is_error=True, summary=str(text)[:120], lost=lost)
        if job.notes:
            outcome = replace(outcome, head="; ".join([outcome.head, *job.notes]))
        budget = job.tool.result_tokens if job.tool else 0
        text, ids = render(outcome, context, budget)
        summary = cut(sanitise(context.redact(outcome.head)), 160)
        return ToolResult(call_id, text, outcome.failed, ids, summary, outcome.final)

    def call(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """Read, run and deliver one call. What the model did wrong comes back as a result, never as an exception."""
        job = self.permit(self.prepare(call, context))
        return self.deliver(job, self.run(job, context), context)

    def outline(self, name: str) -> str:
        """The arguments of a tool in one line."""
        return outline(self.schemas[name])


def found_in(package: ModuleType) -> dict[str, Tool]:
    """All tools of a package, in order of name: each public module exports `TOOL`. There is no list to edit."""
    return {name: module.TOOL for name, module in plugins.modules(package)}


def _error(error: LogAgentError, context: ToolContext) -> ModelText:
    hint = f" {error.hint}" if error.hint and error.hint not in error.message else ""
    text = cut(sanitise(context.redact(f"error: {error.message}{hint}")), _ERROR_LIMIT)
    return ModelText(text.replace(f"{context.nonce}>>", ">>"))


def _normal(plain: Mapping[str, object], args: ToolArgs, context: ToolContext) -> dict[str, object]:
    """Arguments without differences that change nothing: spelling of the query, of times and of sources."""
    normal = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in plain.items()}
    if isinstance(args, RangeArgs):
        try:
            asked = ask(args, context)
        except LogAgentError:
            return normal  # it will be refused when it runs
        for name in ("query", "start_time", "end_time", "index_pattern"):
            normal.pop(name, None)
        normal["asked"] = [asked.text, span(asked.window), *asked.query.indices]
    return normal


def _told_once(schema: Mapping[str, Any], told: set[tuple[str, str]]) -> dict[str, Any]:
    properties = {}
    for name, part in schema["properties"].items():
        described = (name, part.get("description", ""))
        again = described in told and len(described[1]) > _SHORT
        told.add(described)
        properties[name] = {key: value for key, value in part.items() if not (again and key == "description")}
    return {**schema, "properties": properties}
