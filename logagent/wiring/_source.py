"""From settings and options to an open store, the scope of the run and its baseline."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import BinaryIO
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from logagent import demo
from logagent.errors import UsageError
from logagent.logs import TimeWindow
from logagent.query import Node, Not, Or, Phrase, Scope, conjunction, parse
from logagent.settings import RunOptions, Settings
from logagent.stores._base import Description, LogStore
from logagent.times import parse_span, parse_time, parse_until
from logagent.triage import BASELINES, BaselineChoice, choose_baseline

FRESH = timedelta(minutes=10)
"""A file whose newest event is at most this old is read against the clock."""
DEFAULT_SINCE = timedelta(minutes=30)
AROUND = timedelta(minutes=15)
WEEK = timedelta(days=8)
INSTANT = timedelta(milliseconds=1)
"""Windows are half-open; the instant that a person names as their end belongs to them."""
REQUESTS = {"quick": 25, "standard": 60, "deep": 120}


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be looked at, and what relative times count back from."""

    scope: Scope
    baseline: BaselineChoice
    now_from: str
    trimmed_seconds: float
    alert: float | None
    zone: tzinfo


def open_store(settings: Settings, options: RunOptions, stdin: BinaryIO | None) -> LogStore:
    """The embedded store for files, stdin and the demo; else the cluster of the profile.

    Raises:
        UsageError: LA705, no source is named anywhere.
        SourceError: the source cannot be opened.
    """
    if options.scenario is not None:
        return _local(settings, (str(demo.logs(options.scenario)),), None)
    if options.files:
        return _local(settings, options.files, stdin)
    if settings.es.url is None:
        raise UsageError("No log source: no profile, no file, no LOGAGENT_ES_URL.", code="LA705")
    return _cluster(settings, options)


def field_overrides(settings: Settings) -> dict[str, str]:
    """Role to the field that the profile names for it."""
    return {role: names[0] for role, names in settings.fields.items() if names}


def _local(settings: Settings, files: tuple[str, ...], stdin: BinaryIO | None) -> LogStore:
    from logagent.stores import local  # noqa: PLC0415  # duckdb costs 0.1 s that --help need not pay

    return local.BACKEND.open(local.LocalOptions(paths=files, stdin=stdin, field_overrides=field_overrides(settings)))


def _cluster(settings: Settings, options: RunOptions) -> LogStore:
    from logagent.stores import elasticsearch as cluster  # noqa: PLC0415  # elastic_transport costs 0.3 s

    es = settings.es
    es.require_safe_transport()
    return cluster.BACKEND.open(
        cluster.ElasticsearchOptions(
            url=es.url or "",
            indices=options.indices or tuple(es.index),
            api_key=es.api_key.get_secret_value(),
            username=es.username,
            password=es.password.get_secret_value(),
            ca_cert=es.ca_cert or None,
            fingerprint=es.cert_fingerprint or None,
            insecure=es.insecure,
            request_timeout=es.request_timeout,
            max_requests=options.max_requests or REQUESTS.get(options.effort, 60),
            remotes=tuple(es.remotes),
            field_overrides=field_overrides(settings),
        )
    )


def display_zone(name: str) -> tzinfo:
    """The zone of `--tz`; `local` is that of this computer.

    Raises:
        UsageError: the name is no IANA zone.
    """
    if name.lower() == "utc":
        return UTC
    if name == "local":
        return datetime.now().astimezone().tzinfo or UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(
            f"No time zone {name!r}.", hint="Use local, utc or an IANA name such as Europe/Paris."
        ) from error


def make_plan(options: RunOptions, description: Description, clock: datetime) -> Plan:
    """Window, baseline and reach of a run, fixed before the first log line is read.

    Raises:
        UsageError: LA701 for a time that cannot be read, LA702 for a baseline, LA704 for a filter.
    """
    try:
        return _plan(options, description, clock)
    except OverflowError as error:
        shown = options.at or f"{options.since or ''}..{options.until or 'now'}"
        raise UsageError(
            f"{shown} reaches beyond the years 1 to 9999.", code="LA701", values={"text": shown}
        ) from error


def _plan(options: RunOptions, description: Description, clock: datetime) -> Plan:
    zone = display_zone(options.zone)
    embedded = description.backend == "embedded"
    now, now_from = _now(description, clock, embedded=embedded)
    window, trimmed, alert = _window(options, description, now, zone, embedded=embedded)
    explicit = _explicit(options.baseline, now, zone)
    asked = "auto" if explicit else options.baseline
    oldest = description.first
    baseline = choose_baseline(asked, window, oldest, zone, explicit)
    starts = [window.start, *(one.start for one in baseline.ranges), window.start - WEEK]
    scope = Scope(
        window=window,
        reach=TimeWindow(min(starts), max(window.end, *(one.end for one in baseline.ranges), window.end)),
        now=now,
        base=_base(options, description),
        baselines=baseline.ranges,
        zone=options.zone,
    )
    return Plan(scope, baseline, now_from, trimmed, alert, zone)


def _now(description: Description, clock: datetime, *, embedded: bool) -> tuple[datetime, str]:
    """Relative times count back from the clock; in files from the newest event, unless that is fresh (ux.md 2.2)."""
    newest = description.last
    if not embedded or newest is None:
        return clock, "clock"
    if timedelta(0) <= clock - newest <= FRESH:
        return clock, "clock"
    return newest, "newest_event"


def _window(
    options: RunOptions, description: Description, now: datetime, zone: tzinfo, *, embedded: bool
) -> tuple[TimeWindow, float, float | None]:
    """(window, seconds cut from its end for ingest lag, time of an alert)."""
    if options.at is not None:
        at = parse_time(options.at, now, zone)
        return TimeWindow(at - AROUND, at + AROUND), 0.0, at.timestamp()
    whole = embedded and options.since is None and options.until is None
    if whole and description.first is not None and description.last is not None:
        return TimeWindow(description.first, description.last + INSTANT), 0.0, None
    lag = min(description.lag_seconds or 0.0, 300.0) if not embedded else 0.0
    start = parse_time(options.since, now, zone) if options.since else None
    if options.until is not None:
        end = parse_until(options.until, start, now, zone) if start else parse_time(options.until, now, zone)
        end += INSTANT
        lag = 0.0
    else:
        end = now - timedelta(seconds=lag)
        if embedded:
            end += INSTANT
    if start is None:
        start = (description.first if embedded and description.first else None) or end - DEFAULT_SINCE
    if start >= end:
        raise UsageError(
            f"The window ends before it starts: {options.since} to {options.until or 'now'}.",
            code="LA701",
            values={"span": f"{options.since or ''} .. {options.until or 'now'}"},
        )
    return TimeWindow(start, end), lag, None


def _explicit(text: str, now: datetime, zone: tzinfo) -> TimeWindow | None:
    if ".." in text:
        return parse_span(text, now, zone)
    if text not in BASELINES:
        reason = f"there is no baseline {text!r}; there are: {', '.join(BASELINES)}, or a range A..B"
        raise UsageError(reason, code="LA702", values={"reason": reason})
    return None


def _base(options: RunOptions, description: Description) -> Node:
    """The user's own filters and excludes; a service asked for is a focus, not a filter."""
    fields = description.fields
    parts: list[Node] = [parse(text, fields) for text in options.filters]
    parts += [Not(parse(text, fields)) for text in options.excludes]
    for role, values in options.fields.items():
        some: list[Node] = [Phrase(role, value) for value in values]
        parts.append(some[0] if len(some) == 1 else Or(tuple(some)))
    return conjunction(*parts)
