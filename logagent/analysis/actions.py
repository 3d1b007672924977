"""Read-only next steps from the catalogue `actions.toml`, with slots filled by code. Nothing here is ever run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from logagent.expressions import expression

Kind = Literal["logagent", "kubectl", "systemd", "network", "sql", "es", "kafka", "redis", "none"]

MOST = 3
"""Steps that are printed."""

_SLOT = expression(r"\{([a-z_]+)\}")
_WHERE = {"en": " (on {place})", "zh": "（在 {place} 上）"}
_LAST_PORT = 65_535
_LONGEST = 300
"""No rule admits more; longer values are refused before any rule is tried."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step as it is shown. `action`, `command` and the expectations are "" where there is none."""

    purpose: str
    kind: Kind = "none"
    action: str = ""
    """Id of the catalogue entry."""
    command: str = ""
    expect_if_true: str = ""
    expect_if_false: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One entry of the catalogue; texts by language (`en`, `zh`)."""

    id: str
    kind: Kind
    command: str
    """Template; `{name}` is a slot."""
    on: str
    """Where to run it, a template too, or ""."""
    fits: frozenset[str]
    product: tuple[str, ...]
    purpose: Mapping[str, str]
    expect_if_true: Mapping[str, str]
    expect_if_false: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ActionCatalogue:
    """The entries in file order, and the rule that a slot's value must match from end to end."""

    version: str
    actions: tuple[Action, ...]
    rules: Mapping[str, re.Pattern[str]]

    @classmethod
    def from_toml(cls, spec: Mapping[str, Any]) -> "ActionCatalogue":
        """The catalogue from the parsed file.

        Raises:
            ValueError: an entry that is not read-only, or a slot without a rule.
        """
        rules = {name: re.compile(slot["rule"], re.ASCII) for name, slot in spec["slots"].items()}
        actions = tuple(_action(row, rules) for row in spec["action"])
        return cls(spec["version"], actions, rules)

    def choose(
        self,
        mechanism: str,
        rivals: Sequence[str],
        slots: Mapping[str, str],
        words: str,
        lang: str = "en",
        *,
        checks: Sequence[str] = (),
    ) -> list[Step]:
        """At most MOST steps: entries that fit the mechanism, then its rivals, then the general ones, in file order.

        Where no entry that fits the mechanism can be filled in, its `checks` stand in, as words without a command. What
        asks a product of `words` goes before what looks at a whole host, and so do the checks that stand in for it.

        An entry is left out when a slot has no allowed value, when none of its products occurs in `words`, when it is
        `kubectl` and no namespace is known, or `systemd` and the records come from a pod. Values are refused, never
        escaped.

        Args:
            mechanism: id of the leading hypothesis' mechanism, "" where it has none.
            rivals: ids of the mechanisms to be ruled out.
            slots: values by slot name, as the platform or this run has them; times in RFC 3339.
            words: names and lines in which a product may occur.
            lang: `en`, or anything that begins with `zh`.
            checks: `first_checks` of the mechanism in that language.
        """
        known = {name: value for name, value in slots.items() if self.allows(name, value)}
        key = "zh" if lang.lower().startswith("zh") else "en"
        steps: list[Step] = []
        for action, in_time in self._in_order(mechanism, rivals, words.lower()):
            if not in_time and not steps:
                steps = [Step(check) for check in checks[: MOST - 1]]
            if len(steps) == MOST:
                break
            if _applies(action, known, words.lower()) and (command := _command(action, known)) is not None:
                steps.append(_step(action, command, known, key))
        return steps

    def allows(self, slot: str, value: str) -> bool:
        """Whether a value may stand in a command."""
        rule = self.rules.get(slot)
        if rule is None or len(value) > _LONGEST or rule.fullmatch(value) is None:
            return False
        return slot != "port" or int(value) <= _LAST_PORT

    def _in_order(self, mechanism: str, rivals: Sequence[str], words: str) -> Iterator[tuple[Action, bool]]:
        """Every entry once, best fit first, and whether it goes before the checks of the mechanism."""
        others = set(rivals) - {mechanism}
        fitting = [action for action in self.actions if mechanism in action.fits]
        asked = any(action.product and _is_about(action, words) for action in fitting)
        wide = [action for action in fitting if asked and _is_wide(action)]
        yield from ((action, True) for action in fitting if action not in wide)
        yield from ((action, False) for action in wide)
        yield from ((a, False) for a in self.actions if a not in fitting and not others.isdisjoint(a.fits))
        yield from ((a, False) for a in self.actions if not a.fits)


def _action(row: Mapping[str, Any], rules: Mapping[str, object]) -> Action:
    if row["read_only"] is not True:
        msg = f"action {row['id']} is not read-only"
        raise ValueError(msg)
    unknown = set(_SLOT.findall(row["command"] + row.get("on", ""))) - rules.keys()
    if unknown:
        msg = f"action {row['id']} has slots without a rule: {', '.join(sorted(unknown))}"
        raise ValueError(msg)
    return Action(
        id=row["id"],
        kind=row["kind"],
        command=row["command"],
        on=row.get("on", ""),
        fits=frozenset(row["fits"]),
        product=tuple(word.lower() for word in row.get("product", ())),
        purpose=row["purpose"],
        expect_if_true=row["expect_if_true"],
        expect_if_false=row["expect_if_false"],
    )


def _is_about(action: Action, words: str) -> bool:
    return not action.product or any(word in words for word in action.product)


def _is_wide(action: Action) -> bool:
    """Whether it looks at a whole host, whatever runs there."""
    return bool(action.on) and not action.product and "{service}" not in action.command


def _applies(action: Action, slots: Mapping[str, str], words: str) -> bool:
    if not _is_about(action, words):
        return False
    if action.kind == "kubectl":
        return "namespace" in slots
    return action.kind != "systemd" or "pod" not in slots


def _command(action: Action, slots: Mapping[str, str]) -> str | None:
    """The command with its slots filled in, None where a value is missing."""
    if not slots.keys() >= set(_SLOT.findall(action.command + action.on)):
        return None
    return _SLOT.sub(lambda hit: _written(action, hit[1], slots[hit[1]]), action.command)


def _written(action: Action, slot: str, value: str) -> str:
    """The value as the tool reads it: systemd wants `2026-11-30 06:01:00 UTC` for a time."""
    if action.kind == "systemd" and slot in {"since", "until"}:
        return value.replace("T", " ").replace("Z", " UTC")
    return value


def _step(action: Action, command: str, slots: Mapping[str, str], lang: str) -> Step:
    place = _SLOT.sub(lambda hit: slots[hit[1]], action.on)
    where = _WHERE[lang].format(place=place) if place else ""
    return Step(
        purpose=action.purpose[lang] + where,
        kind=action.kind,
        action=action.id,
        command=command,
        expect_if_true=action.expect_if_true[lang],
        expect_if_false=action.expect_if_false[lang],
    )
