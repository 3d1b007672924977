"""Word lists: which lines excuse a mechanism, which blame somebody else, which tell of recovery. English.

Mechanisms are not here: they are data (`mechanisms.toml`).
"""

import re
from collections.abc import Iterable
from functools import cached_property

ERROR, WARN = 4, 3


class Wording:
    """An expression in any case, and literals in lower case of which every match holds one: they are looked for first.

    Most texts hold none, and looking for a literal is a hundred times cheaper than trying an alternation everywhere.
    """

    def __init__(self, clues: str, pattern: str) -> None:
        self.clues = tuple(clues.split("¦"))
        self.pattern = pattern

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        low = text.lower()
        for clue in self.clues:
            if clue in low:
                return self._regex.search(text)
        return None


WEAK = Wording(
    "fail¦error¦exception¦fatal¦unavailable¦denied¦refused¦time¦abort¦crash¦reject¦invalid¦critical¦down¦low¦"
    "degraded¦back¦retr¦unhealthy¦terminated¦not ready¦missing¦unexpected¦5¦no instances¦warn¦exceed¦drop¦lost¦"
    "stuck¦stall¦panic¦kill¦high¦approaching",
    r"\bfail(?:ed|ure|s)?\b|\berror\b|exception|\bfatal\b|unavailable|\bdenied\b|refused|\btime(?:d )?-?out|abort|"
    r"crash|\breject|invalid|critical|\bdown\b|\blow\b|\bslow|degraded|back-?off|retry|retries|unhealthy|terminated|"
    r"not ready|missing|unexpected|\b5\d\d\b|no instances|warn|exceed|\bdrop(?:ped)?\b|lost|stuck|stall|panic|kill|"
    r"high (?:memory|cpu|load|latency)|approaching",
)
"""Words that make a line worth a look."""

BENIGN = Wording(
    "retried successfully¦succeeded after¦recovered¦rollout¦graceful¦transient ¦no error¦no failure¦0 error¦"
    "0 fail¦autoscaling¦completed success¦resolved¦expected¦ignor¦dry¦test alert",
    r"retried successfully|succeeded after|\brecovered|during rollout|rollout (?:cleanup|complete)|graceful|"
    r"transient (?:issue|error|failure)?.{0,40}(?:retried|recover|ignor)|\bno (?:errors?|failures?)\b|"
    r"\b0 (?:errors?|failures?|failed)\b|autoscaling (?:initiated|in progress|complete)|completed success|"
    r"(?:issue|incident|alert|problem|been|now|is) resolved|\[resolved|(?:as|is|are|was) expected|"
    r"expected (?:during|while|behaviou?r)|ignor(?:ed|ing)|dry.?run|test alert",
)
"""The line itself says that it is no trouble."""

RECOVERY = Wording(
    "complet¦recover¦restored¦resumed¦available¦settled¦succe¦connect¦established¦ready¦back to normal¦resolved¦"
    "increased",
    r"complet|recover|restored|resumed|available\b|settled|succe(?:ss|eded)|re-?connect|\bconnected\b|established|"
    r"\bready\b|back to normal|resolved|increased",
)

HEALTHY_AGAIN = Wording(
    "recover¦restored¦establish¦connected¦resum¦resolved¦caught up¦healthy¦available¦reachable¦ready¦"
    "readiness¦back to normal¦complete¦finished¦succe¦done¦elected¦promoted¦replica¦cleared",
    r"\b(?:recovered|restored|re-?established|reconnected|resumed|resolved|caught up|healthy again|"
    r"(?:now|became|is) (?:healthy|available|reachable|ready)|back to normal|"
    r"(?:failover|switchover|rollout|roll-?out|upgrade|maintenance|recovery|resync|restart|deployment|autoscaling|"
    r"expansion)\b.{0,60}\b(?:complete[d]?|finished|succeeded|successful(?:ly)?|done)|"
    r"(?:completed|finished|successfully) (?:the )?(?:failover|rollout|rolled out|restart|recovery|upgrade)|"
    r"successfully rolled out|(?:new )?(?:leader|master|primary) (?:elected|promoted)|"
    r"readiness probe (?:succeeded|passed)|NodeReady|condition.{0,20}: ?Ready|all replicas (?:are )?ready|"
    r"alarm cleared|replica(?:s|tion)? (?:caught up|in sync)|"
    r"connected to (?:the )?(?:database|broker|redis|primary))\b",
)
"""A phrase of recovery, strict enough to end an incident."""

TRANSITION = Wording(
    "restart¦roll¦failover¦switchover¦autoscaling¦upgrade¦maintenance¦drain¦leader election¦rebalanc¦resharding¦"
    "promot¦shut¦sigterm¦terminat",
    r"\b(?:restart(?:ed|ing)?|roll(?:out|ed out|ing)|failover|switchover|autoscaling|upgrade|maintenance|"
    r"drain(?:ed|ing)?|leader election|rebalanc\w{1,10}|resharding|promot\w{1,10}|shut(?:ting)? ?down|sigterm|"
    r"terminat\w{1,10})\b",
)
"""Something moves on purpose: trouble beside it may be part of it."""

_FAILTEXT = Wording(
    "fail¦error¦exception¦can¦could¦unable to¦fatal¦panic¦traceback",
    r"\b(?:failed|failure|error|exception|cannot|can\'?t|could ?n[o\']t|unable to)\b.{0,80}[:;,] \S|"
    r"[:;] .{0,60}\b(?:failed|cannot|can\'?t|could ?n[o\']t|unable to)\b|"
    r"^\W{0,2}(?:error|fatal|panic|exception|traceback)\b",
)
ALERT = Wording(
    "alert¦alarm¦firing¦resolved¦incident¦pagerduty¦monitor¦notif",
    r"^\W{0,3}(?:\[?firing\b|\[?resolved\b|alert\b|alarm\b|\[alert\]|incident\b|pagerduty\b)|\balertname=|"
    r"\b(?:alert|alarm|monitor)\b.{0,80}\b(?:firing|triggered|fired|changed state|notification|in alarm|resolved)\b|"
    r"\bnotif(?:y|ied|ication)\b.{0,60}\b(?:alert|on-?call|pager)",
)
"""A notice about an alert; no failing line of a service."""

RELAY = Wording(
    "no instances available for¦upstream¦downstream¦dependenc¦remote¦resttemplate¦feign¦httpservererror¦"
    "httpclienterror¦returned¦responded with¦response¦status¦50¦service unavailable¦failed to ¦fetch failed¦"
    "bad gateway¦gateway time",
    r"no instances available for|\b(?:upstream|downstream|dependenc\w{1,6}|remote)\b|resttemplate|feign|"
    r"httpservererror|httpclienterror|(?:returned|responded with|response|status(?: code)?)\W{0,3}5\d\d|"
    r"\b50[0234]\b (?:internal|bad|service|gateway)|service unavailable|failed to (?:call|fetch|invoke)|fetch failed|"
    r"bad gateway|gateway time",
)
"""Words of a failed call: the error speaks of somebody else."""

DISCOVERY = re.compile(r"no (?:available )?(?:instance|server|provider)s?\b.{0,20}\b(?:available|for)\b", re.IGNORECASE)
_DURATION = re.compile(
    r"(?<![\w.])(\d{1,18}(?:\.\d{1,18})?)\s?(ms|milliseconds?|µs|us|s|secs?|seconds?)\b", re.IGNORECASE
)
_MAY_LAST = re.compile(r"[0-9]\s?[mMsSuUµ\u03bc\u039c\u017f]|[^\x00-\x7f]")
"""A digit before the first letter of a unit; any other text than ASCII is read in full."""
DURATION_FIELD = re.compile(
    r"(?:^|[._])(?:duration|latency|elapsed|took|response_?time|time_?taken|request_?time)"
    r"(?:[._]?(ms|s|us|ns|seconds|millis))?$",
    re.IGNORECASE,
)
"""Name of a field that holds a duration; group 1 is its unit (milliseconds where there is none)."""

_UNIT = {"ms": 1e-3, "millisecond": 1e-3, "us": 1e-6, "µs": 1e-6, "s": 1.0, "sec": 1.0, "second": 1.0}


def severity_class(level: int | None, text: str, hit: tuple[bool, bool], *, event: bool = False) -> int:
    """3 = an error that states a mechanism, 2 = an error, 1 = a warning or weak words, 0 = nothing.

    Args:
        level: severity class of the record, None where unknown.
        text: message and error fields.
        hit: (a strong cue matched, any cue matched).
        event: whether the record is a platform event.
    """
    if BENIGN.search(text):
        return 1 if (level or 0) >= WARN else 0
    if ALERT.search(text):
        return 0
    strong, any_hit = hit
    if level is not None and level >= ERROR:
        return 3 if strong else 2
    if level is None or level == WARN:
        return _class_of_warning(level, text, strong=strong, weak_event=event and any_hit, event=event)
    return 1 if strong else 0


def _class_of_warning(level: int | None, text: str, *, strong: bool, weak_event: bool, event: bool) -> int:
    if strong:
        return 3 if level is None or event else 2
    if weak_event or (level is None and _FAILTEXT.search(text)):
        return 2
    return 1 if level == WARN or WEAK.search(text) else 0


def durations(text: str) -> list[float]:
    """Durations written in a text, in seconds.

    >>> durations("took 1500 ms, budget 2s")
    [1.5, 2.0]
    """
    if not _MAY_LAST.search(text):
        return []
    return [float(value) * _UNIT[_unit(unit.lower())] for value, unit in _DURATION.findall(text)]


def _unit(unit: str) -> str:
    return unit if unit in _UNIT else unit.rstrip("s")


def named_services(text: str, services: Iterable[str], own: str) -> set[str]:
    """Other known services that a text names in full.

    >>> sorted(named_services("call to payment-api failed", ["payment-api", "payment", "order-api"], "order-api"))
    ['payment-api']
    """
    low = text.lower()
    return {s for s in services if s != own and (name := s.lower()) in low and _stands_alone(name, low)}


def _stands_alone(name: str, low: str) -> bool:
    spot = low.find(name)
    while spot >= 0:
        before, after = low[spot - 1 : spot], low[spot + len(name) : spot + len(name) + 1]
        if not (_word(before) or _word(after)):
            return True
        spot = low.find(name, spot + 1)
    return False


def _word(char: str) -> bool:
    return char.isalnum() or char in {"_", "-"}
