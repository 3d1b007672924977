"""What a run is about: services asked for, and how a question was read without a model."""

import re
from dataclasses import replace
from datetime import datetime

from logagent import demo
from logagent.logs import TimeWindow, iso
from logagent.query import Scope
from logagent.settings import RunOptions
from logagent.stores._base import Description, LogStore
from logagent.times import parse_window_words
from logagent.wiring._nodata import unknown_service
from logagent.wiring._source import display_zone

MOST_SERVICES = 50
_PREFERRED = ("-api", "-service", "-svc", "", "-server", "-app")
_CHINESE = {
    "订单": "order", "支付": "payment", "库存": "inventory", "用户": "user", "登录": "auth", "认证": "auth",
    "搜索": "search", "购物车": "cart", "网关": "gateway", "结账": "checkout", "通知": "notification",
}  # fmt: skip


def known_services(store: LogStore, scope: Scope) -> dict[str, int]:
    """Services of the whole reach with their counts, most frequent first; empty without a service field."""
    if not store.describe().fields.roles.get("service"):
        return {}
    answer = store.top_values(scope.query(window=scope.reach), ["service"], size=MOST_SERVICES)
    return {one.value: one.count for one in answer.fields[0].values}


def check_services(store: LogStore, scope: Scope, services: tuple[str, ...]) -> None:
    """Refuse a service that does not log in the scope.

    Raises:
        NoData: LA304, with near names.
    """
    if not services:
        return
    known = known_services(store, scope)
    for name in services:
        if known and name not in known:
            raise unknown_service(name, known)


def read_window(options: RunOptions, description: Description, clock: datetime) -> RunOptions:
    """The window that a question names, or that belongs to a bundled scenario, where no option names one."""
    if options.since or options.until or options.at:
        return options
    if options.scenario is not None:
        window = demo.truth(options.scenario)["window"]
        return replace(options, since=window["from"], until=window["to"])
    if options.question is None:
        return options
    zone = display_zone(options.zone)
    newest = description.last
    fresh = newest is None or description.backend != "embedded"
    now = clock if fresh or newest is None else newest
    found: TimeWindow | None = parse_window_words(options.question, now, zone)
    if found is None:
        return options
    return replace(options, since=iso(found.start), until=iso(found.end) if found.end < now else None)


def services_named(question: str, known: dict[str, int]) -> tuple[str, ...]:
    """Services that a question names, by the values that exist: whole names first, else the best of a common stem."""
    text = question.lower()
    for word, english in _CHINESE.items():
        text = text.replace(word, f" {english} ")
    whole = [name for name in known if re.search(rf"(?<![\w.-]){re.escape(name.lower())}(?![\w-])", text)]
    if whole:
        return tuple(whole)
    words = set(re.findall(r"[a-z0-9]{3,}", text))
    stems = {word.rstrip("s") for word in words} | words
    by_stem: dict[str, list[str]] = {}
    for name in known:
        stem = re.split(r"[-_.]", name.lower())[0]
        if stem in stems:
            by_stem.setdefault(stem, []).append(name)
    return tuple(_best(names, known) for names in by_stem.values())


def _best(names: list[str], known: dict[str, int]) -> str:
    """Of several services of one stem, the one that serves requests; then the one that logs most."""

    def order(name: str) -> tuple[int, int]:
        place = next((i for i, suffix in enumerate(_PREFERRED) if suffix and name.endswith(suffix)), len(_PREFERRED))
        return place, -known[name]

    return min(names, key=order)
