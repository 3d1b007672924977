"""The part of a run with a model: endpoint, tools, loop, and what came back in the form the diagnosis takes."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from logagent import __version__
from logagent.agent import Agent, AgentLimits, Outcome, StopReason
from logagent.analysis.redact import ModelText
from logagent.analysis.sanitise import sanitise_block
from logagent.diagnosis import Caveat, Cost, ModelUse
from logagent.errors import ModelError, ModelUnavailable
from logagent.events import Notice, OnEvent
from logagent.llm import ChatClient, ChatModel, Endpoint, Message
from logagent.logs import iso
from logagent.settings import Settings
from logagent.tools import ToolContext, ToolRegistry
from logagent.triage import Findings, discriminating_rows, mechanism_rows, render_digest
from logagent.verify import ROUND_TRIPS
from logagent.wiring._called import rows_since
from logagent.wiring._reader import Reader
from logagent.wiring._source import REQUESTS
from logagent.wiring._told import Told

if TYPE_CHECKING:
    from logagent.wiring._session import Session

TURNS = {"quick": 4, "standard": 10, "deep": 24}
SECONDS = {"quick": 15.0, "standard": 60.0, "deep": 180.0}
SMALL_WINDOW = 8_192
DIGEST, SMALL_DIGEST, LEAST_DIGEST = 6_000, 2_000, 1_500
UNKNOWN_WINDOW = 32_768


def investigate(session: "Session", findings: Findings) -> Told | None:
    """Let the model look further; None where none is configured.

    A model that fails leaves the diagnosis by rule, with a notice; with `require_model` it is an error.

    Raises:
        ModelError: the model failed and one is required.
    """
    llm = session.settings.llm
    if not llm.base_url or not llm.model:
        _without(session, "LA501")
        return None
    mark = len(session.ledger)
    if session.model is not None:
        outcome = _run(session, findings, session.model)
    else:
        client = open_client(session.settings)
        try:
            client.detect_window()
            outcome = _run(session, findings, client)
        finally:
            client.close()
    if outcome.error is not None:
        _notice(session, outcome.error)
    told = _told(session, findings, outcome)
    if not told.hypotheses:
        told.cited = rows_since(session.ledger, mark)
    return told


def open_client(settings: Settings) -> ChatClient:
    """A client for the configured endpoint; what it learns is kept in the state folder."""
    llm = settings.llm
    endpoint = Endpoint(
        llm.base_url or "",
        llm.model,
        api_key=llm.api_key.get_secret_value(),
        context_window=llm.context_window,
        tools=llm.tools,
        allow_http=llm.allow_http,
    )
    if settings.origin("llm.timeout") != "default":
        patience = replace(endpoint.patience, first_token=llm.timeout, progress=llm.timeout)
        endpoint = replace(endpoint, limits=patience)
    return ChatClient(endpoint, memory=settings.paths.state / "endpoints")


def probe(settings: Settings, _on_event: OnEvent) -> tuple[str, Literal["ok", "warn"]]:
    """One short request: whether the endpoint answers, and how fast.

    Raises:
        ModelError: it does not.
    """
    client = open_client(settings)
    try:
        began = time.monotonic()
        reply = client.complete([Message("user", ModelText("Answer with the word ok."))], [], deadline=began + 30)
        seconds = time.monotonic() - began
        window = f", {client.window:,} tokens of context" if client.window else ""
        return f"{client.name} answered in {seconds:.1f} s{window}", "ok" if reply.text else "warn"
    finally:
        client.close()


def _without(session: "Session", code: str) -> None:
    if session.options.require_model:
        message = "No model is configured and --require-llm was given."
        raise ModelUnavailable(message, code=code, values={"required": "--require-llm"})
    session.on_event(Notice(code))
    session.caveats.append(Caveat(code=code, severity="info", text=session.words.texts.error(code).title))


def _notice(session: "Session", error: ModelError) -> None:
    if session.options.require_model:
        raise error
    code = error.code or "LA506"
    session.on_event(Notice(code, error.values))
    text = session.words.texts.describe(error).title
    session.caveats.append(Caveat(code=code, severity="warning", text=session.clean(text)))


def _run(session: "Session", findings: Findings, client: ChatModel) -> Outcome:
    options = session.options
    scope = replace(session.plan.scope, window=findings.bad, baselines=findings.good)
    context = ToolContext(
        store=session.store,
        fields=session.description.fields,
        scope=scope,
        ledger=session.ledger,
        redact=session.redactor,
        catalogue=session.catalogue,
        nonce=session.nonce,
    )
    seconds = options.deadline_seconds or session.settings.analysis.deadline or SECONDS.get(options.effort, 60.0)
    limits = AgentLimits(
        max_turns=TURNS.get(options.effort, 10),
        deadline=session.clock() + max(1.0, seconds - session.progress.seconds),
        max_tokens=options.max_tokens,
        max_cost=options.max_cost or session.settings.llm.max_cost_usd,
        price_input=session.settings.llm.price_per_million.input,
        price_output=session.settings.llm.price_per_million.output,
        max_requests=_requests_before_verification(session),
    )
    if limits.max_cost is not None and not limits.price_input and not limits.price_output:
        session.caveats.append(Caveat(code="no_prices", severity="warning", text=session.words.say("caveat.no_prices")))
    digest = _digest(session, findings, client)
    session.note("LoopBegan", _begun(session, context, limits.max_turns, digest))
    agent = Agent(
        client,
        ToolRegistry(approve=session.approve),
        context,
        limits,
        on_event=session.on_event,
        clock=session.clock,
        language=language_name(options.language),
    )
    return agent.investigate(options.question or "", digest)


def _begun(session: "Session", context: ToolContext, turns: int, digest: str) -> dict[str, object]:
    """What a replay must know of the start of the loop; texts as the model reads them."""
    scope, redact = context.scope, context.redact
    return {
        "version": __version__,
        "model": session.settings.llm.model,
        "language": session.options.language,
        "question": sanitise_block(redact(session.options.question or "")),
        "digest": sanitise_block(redact(digest)),
        "turns": turns,
        "nonce": context.nonce,
        "window": [iso(scope.window.start), iso(scope.window.end)],
        "reach": [iso(scope.reach.start), iso(scope.reach.end)],
        "now": iso(scope.now),
        "zone": scope.zone,
        "sources": [source.name for source in session.description.sources],
        "issued": list(context.ledger.rows),
    }


def language_name(code: str) -> str:
    """The language of the answer, as the prompt names it."""
    return "Simplified Chinese" if code.lower().startswith("zh") else "English"


def _requests_before_verification(session: "Session") -> int:
    """Requests of the whole run after which no turn begins: those that verification needs are kept."""
    most = session.options.max_requests or REQUESTS.get(session.options.effort, 60)
    return max(0, most - ROUND_TRIPS)


def _digest(session: "Session", findings: Findings, client: ChatModel) -> str:
    """The digest within a quarter of the window; a small window gets a smaller one and a notice (LA504)."""
    window = client.window or UNKNOWN_WINDOW
    budget = min(DIGEST, max(LEAST_DIGEST, window // 4))
    if window < SMALL_WINDOW:
        budget = min(budget, SMALL_DIGEST)
        session.on_event(Notice("LA504", {"model": client.name, "window": window, "digest": budget}))
    return render_digest(findings, budget, session.clean)


def _told(session: "Session", findings: Findings, outcome: Outcome) -> Told:
    prices = session.settings.llm.price_per_million
    amount = (outcome.input_tokens * prices.input + outcome.output_tokens * prices.output) / 1e6
    use = ModelUse(
        provider="openai-compatible",
        model=session.settings.llm.model,
        requests=outcome.turns,
        input_tokens=outcome.input_tokens,
        output_tokens=outcome.output_tokens,
        cost=Cost(amount=round(amount, 4)) if amount else None,
    )
    if outcome.stop is StopReason.INTERRUPTED:
        session.caveats.append(session.interrupted())
    if outcome.stop is not StopReason.SUBMITTED:
        session.caveats.append(_stopped(session, outcome))
    if outcome.submission is None:
        return Told(use)
    reader = Reader(
        session.clean,
        session.ledger,
        session.catalogue.ids,
        lambda service: (mechanism_rows(findings, service), discriminating_rows(findings, service)),
    )
    return reader.told(outcome.submission, use)


def _stopped(session: "Session", outcome: Outcome) -> Caveat:
    key = "caveat.no_submission" if outcome.submission is None else "caveat.part_of_submission"
    text = session.words.say(key, reason=outcome.stop.value)
    return Caveat(code="LA505", severity="warning", text=text)
