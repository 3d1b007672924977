"""Changes before the onset: rare lines that tell of one, and settings that got another value (analysis.md 3.12)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from logagent.analysis.facts import ChangeFact, Event
from logagent.analysis.gauges import COUNTER, NOISE, NUMBER
from logagent.analysis.limits import ERROR
from logagent.analysis.study import Study
from logagent.expressions import expression

LOOK_BACK_S = 900.0
"""How long before the onset a change may lie, or 30 % of the window."""
_LOOK_BACK_SHARE = 0.3
_MOST = 4
_RARE = 5
_BAD_LINES = 200
_TEXT, _LINE, _SHARED = 160, 120, 3
_KINDS = {
    "deploy": "deployment",
    "rollback": "deployment",
    "version": "deployment",
    "start": "restart",
    "stop": "restart",
    "restart": "restart",
    "config_reload": "config",
    "scaling": "scaling",
    "failover": "failover",
    "certificate": "certificate",
    "feature_flag": "feature_flag",
}
_TOKEN = expression(r"\d+\.\d+(?:\.\d+)+|v\d+[\w.]*|[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)+|\b\d{2,6}\b", re.IGNORECASE)
"""What a change may be recognised by: a version, a host, a user, a flag, a number."""
_TOKEN_CHARS = 3
_CONFIG = expression(r"config|setting|reload|applied|parameter|option", re.IGNORECASE)
_SETTING_LINES = range(2, 13)
_WORDS_BEFORE = 24
_CAMEL = expression(r"(?<=[a-z])(?=[A-Z])")
_NAME = expression(r"[a-z]{3,}", re.IGNORECASE)
_COMMON = frozenset(
    {"config", "configuration", "size", "max", "min", "done", "the", "reload", "reloaded", "settings", "applied"}
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration value that differs from the last time the same line was written."""

    event: Event
    what: str
    """`pool.max 50 -> 3`."""
    words: str
    """The words before the values."""


def changed_settings(study: Study) -> list[Setting]:
    """All settings that changed inside the window."""
    found = []
    for template, indices in study.window.by_template.items():
        if len(indices) in _SETTING_LINES and _CONFIG.search(study.window.first(template).message):
            for old, new in pairwise(study.events_with(template)):
                setting = _setting(old, new)
                if setting is not None:
                    found.append(setting)
    return found


def _setting(old: Event, new: Event) -> Setting | None:
    text = NOISE.sub(" ", new.message)
    before = list(NUMBER.finditer(NOISE.sub(" ", old.message)))
    after = list(NUMBER.finditer(text))
    if len(before) != len(after):
        return None
    moved = [
        (text[max(0, y.start() - _WORDS_BEFORE) : y.start()].strip(" =:(,"), x[1], y[1])
        for x, y in zip(before, after, strict=True)
        if x[1] != y[1] and not COUNTER.search(text[: y.start()])
    ]
    if not moved:
        return None
    what = "; ".join(f"{words} {x} -> {y}" for words, x, y in moved[:_MOST])
    return Setting(new, what, " ".join(words for words, _, _ in moved))


def changes_before(
    study: Study, onset: float | None, service: str, bad: Sequence[Event], settings: Sequence[Setting]
) -> list[ChangeFact]:
    """Changes before the onset, the latest first, at most four.

    Supported means that the failing lines name a version, host, user, flag or number of the change that earlier lines
    do not name, or a word of the changed setting; the others only coincide.
    """
    if onset is None:
        return []
    reach = max(LOOK_BACK_S, _LOOK_BACK_SHARE * study.window.length)
    bad_text = " ".join(dict.fromkeys(event.message for event in bad[:_BAD_LINES])).lower()
    near = [setting for setting in settings if 0 <= onset - setting.event.time <= reach]
    told = {id(setting.event) for setting in near}
    found = [_of_setting(setting, onset, bad_text) for setting in near]
    found += [change for change in _lines(study, onset, reach, service, bad_text) if id(change.event) not in told]
    return sorted(found, key=lambda change: change.seconds_before)[:_MOST]


def _of_setting(setting: Setting, onset: float, bad_text: str) -> ChangeFact:
    spoken = _CAMEL.sub(" ", setting.words).replace(".", " ")
    keys = {word.lower() for word in _NAME.findall(spoken)} - _COMMON
    shared = tuple(sorted(key for key in keys if key in bad_text))
    event = setting.event
    text = f'configuration value changed: {setting.what} ("{event.message[:_LINE]}")'
    return ChangeFact(onset - event.time, event.service, text, bool(shared), shared[:_SHARED], "config", event)


def _lines(study: Study, onset: float, reach: float, service: str, bad_text: str) -> Iterator[ChangeFact]:
    """Rare lines with a change cue."""
    candidates = [
        (event, ids)
        for template in study.window.by_template
        if study.window.severity[template] < ERROR and study.rare(template, _RARE)
        for event in study.events_with(template)
        if 1 < onset - event.time <= reach
        and not study.opens(event.time)
        and (ids := study.window.catalogue.change(event.message))
    ]
    if not candidates:
        return
    usual = _usual(study, onset, reach)
    for event, ids in candidates:
        tokens = {token.lower() for token in _TOKEN.findall(event.message) if len(token) >= _TOKEN_CHARS}
        named = tokens - {service.lower()}
        shared = tuple(sorted(token for token in named if token in bad_text and token not in usual))
        kind = next((_KINDS[name] for each in ids if (name := each.split(".", 1)[-1]) in _KINDS), "other")
        yield ChangeFact(
            onset - event.time, event.service, event.message[:_TEXT], bool(shared), shared[:_SHARED], kind, event
        )


def _usual(study: Study, onset: float, reach: float) -> str:
    """All that healthy lines say well before the onset, or often."""
    window = study.window
    messages = {
        event.message
        for event in window.events
        if event.time < onset - 1
        and window.severity[event.template] < ERROR
        and (event.time < onset - reach / 2 or not study.rare(event.template, _RARE))
    }
    return " ".join(messages).lower()
