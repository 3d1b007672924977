"""The window of a run in words, before anything is opened, and the question that a very long one deserves."""

import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from logagent.cli._context import Context
from logagent.times import parse_time, parse_until

if TYPE_CHECKING:
    from logagent.settings import RunOptions

_DEFAULT = timedelta(minutes=30)
_AROUND = timedelta(minutes=15)
LONG = timedelta(days=7)


def window_title(context: Context, options: "RunOptions") -> str:
    """First line of the progress: files by name, a cluster with its absolute window; empty without a source."""
    if options.scenario is not None:
        return context.console.texts.say("cli.demo_title", scenario=options.scenario)
    if options.files:
        return " ".join(options.files)
    settings = context.settings
    if settings.es.url is None:  # LA705 follows
        return ""
    place = settings.profile or settings.es.url or ""
    index = ",".join(settings.es.index)
    start, end = _cluster_window(context, options)
    return f"{index} on {place}  {_span(start, end, ZoneInfo(options.zone))}"


def planned_window(context: Context, options: "RunOptions") -> str:
    """The window that a run would read: absolute for a cluster, in words for files, which are not opened for it.

    Raises:
        UsageError: LA701.
    """
    texts = context.console.texts
    if not options.files and options.scenario is None:
        return _span(*_cluster_window(context, options), ZoneInfo(options.zone))
    if options.at:
        return texts.say("cli.plan.around", at=options.at)
    if not options.since and not options.until:
        return texts.say("cli.plan.everything")
    start, end = texts.say("cli.plan.first"), texts.say("cli.plan.newest")
    return texts.say("cli.plan.between", since=options.since or start, until=options.until or end)


def _span(start: datetime, end: datetime, zone: ZoneInfo) -> str:
    first, last = start.astimezone(zone), end.astimezone(zone)
    same_day = first.date() == last.date() == datetime.now(UTC).astimezone(zone).date()
    form = "%H:%M:%S" if same_day else "%Y-%m-%d %H:%M:%S"
    return f"{first:{form}} to {last:{form}} {last.isoformat()[-6:]}"


def _cluster_window(context: Context, options: "RunOptions") -> tuple[datetime, datetime]:
    """Counted from this computer's clock; the run itself counts from the cluster's and says what it changed.

    Raises:
        UsageError: LA701.
    """
    now, zone = datetime.now(UTC), context.settings.zone
    if options.at:
        at = parse_time(options.at, now, zone)
        return at - _AROUND, at + _AROUND
    start = parse_time(options.since, now, zone) if options.since else None
    end = now
    if options.until:
        end = parse_until(options.until, start, now, zone) if start else parse_time(options.until, now, zone)
    return start or end - _DEFAULT, end


def confirm_long_window(context: Context, options: "RunOptions") -> bool:
    """Ask before a cluster is searched over more than seven days; where nobody can be asked, only say it."""
    if options.files or options.scenario is not None or not options.since:
        return True
    start, end = _cluster_window(context, options)
    if end - start <= LONG or context.options.yes:
        return True
    console = context.console
    question = console.texts.say("cli.long_window", days=(end - start).days)
    if not console.can_ask:
        console.hint(question.partition("?")[0].partition("？")[0])
        return True
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes", "是", "好")
