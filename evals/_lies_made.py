"""True sentences about rows of evidence in many wordings, and the same with one lie in them."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from logagent.analysis.redact import Redactor
from logagent.analysis.sanitise import looks_like_instructions
from logagent.evidence import Evidence, Ledger

LIES = ("number", "service", "id", "quote", "words", "time", "base", "no id")
_SERVICE = re.compile(r'service:"([^"]+)"')
_MS = re.compile(r"(?<![\w.])(\d{3,6}) ?ms\b")
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # fmt: skip  # noqa: E501, SIM905
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Made:
    """A sentence with its ids, what kind of statement it is, and the lie in it ("" for a true one)."""

    kind: str
    text: str
    lie: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
    """A true statement about a row, as far as it can be worded or bent: only what it states is set."""

    row: Evidence
    kind: str
    service: str = ""
    number: float = 0.0
    """A count, a share in percent, a multiple, or milliseconds."""
    at: datetime | None = None
    quote: str = ""


def statements(ledger: Ledger) -> list[Stated]:
    """Everything that can be said of the rows of a run."""
    return [one for row in ledger for one in _of(row)]


def _of(row: Evidence) -> Iterator[Stated]:
    service = service_of(row)
    operation = row.query.figure.op
    if operation == "count" and isinstance(row.value, int | float) and row.value >= 1:
        yield Stated(row, "count", service, float(row.value))
        if isinstance(row.baseline_value, int | float) and 1 <= row.baseline_value < row.value / 1.5:
            yield Stated(row, "multiple", service, row.value / row.baseline_value)
    if operation == "ratio" and isinstance(row.value, int | float) and 0.005 < row.value < 1:
        yield Stated(row, "share", service, 100 * float(row.value))
    if operation == "first" and isinstance(row.value, str):
        yield Stated(row, "time", service, at=datetime.fromisoformat(row.value))
    for sample in row.samples[:1]:
        words = sample.message.split("\n")[0].split()
        plain = " ".join(words[:9])
        if len(words) > 2 and not set(plain) & set("\"'`“”「」") and not _is_withheld(plain):
            yield Stated(row, "quote", sample.service, quote=plain)
        if (found := _MS.search(sample.message)) is not None:
            yield Stated(row, "duration", sample.service, float(found[1]))


def _is_withheld(text: str) -> bool:
    """A secret is masked and an order to a reader is withheld, by design: no quote of either is to be kept."""
    return looks_like_instructions(text) or Redactor("0000")(text) != text


def service_of(row: Evidence) -> str:
    """The one service that a row is about, or ""."""
    named = set(_SERVICE.findall(row.query.text)) | ({row.service} if row.service else set())
    return named.pop() if len(named) == 1 else ""


# -- wordings ------------------------------------------------------------------------------------------------------


def truth(one: Stated, chance: random.Random) -> Made:
    """A true sentence in one of its wordings."""
    return Made(one.kind, f"{_sentence(one, chance)} [{one.row.id}].")


def _sentence(one: Stated, chance: random.Random) -> str:
    name = one.service or chance.choice(("the system", "the window"))
    texts: Sequence[str]
    match one.kind:
        case "count":
            number = chance.choice(_counts(one.number))
            texts = (
                f"{name} logged {number} such lines",
                f"There are {number} events of {name}",
                f"{number} lines come from {name}",
                f"{name} 共有{_chinese_count(one.number, chance)}条此类日志",
            )
        case "multiple":
            texts = (
                f"{name} has {one.number:.1f} times as many of these as before",
                f"These lines of {name} are {one.number:.1f}x as frequent",
                f"{name} 的此类日志是之前的{one.number:.1f}倍",
            )
        case "share":
            texts = tuple(f"{share} of them fail in {name}" for share in _shares(one.number))
            texts = (*texts, f"{name} 中占{one.number:.1f}%", f"{name} 中占百分之{_chinese(round(one.number))}")
        case "time":
            texts = tuple(f"{name} begins {when}" for when in _times(one.at or one.row.query.window.start))
        case "duration":
            seconds = one.number / 1000
            texts = (
                f"A call of {name} ended after {one.number:.0f} ms",
                f"A call of {name} took {one.number:,.0f}ms",
                f"{name} waited {seconds:.1f} s",
                f"{name} waited {seconds:.2f} seconds",
                f"{name} 等待了{one.number:.0f}毫秒",
                f"{name} 等待了 {seconds:.1f} 秒",
            )
        case _:
            texts = _quoting(one, name)
    return chance.choice(texts)


def _counts(number: float) -> list[str]:
    whole = round(number)
    found = [str(whole), f"{whole:,}"]
    if 2 <= whole < 1000:
        found.append(_english(whole))
    if whole >= 20:
        unit = 10 ** (len(str(whole)) - 1)
        found += [
            f"about {round(whole / unit) * unit:,}",
            f"roughly {round(whole / (unit // 10 or 1)) * (unit // 10 or 1)}",
        ]
    if whole >= 1000:
        found += [f"{whole / 1000:.1f}k", f"{whole / 1000:.2f} thousand"]
    return found


def _chinese_count(number: float, chance: random.Random) -> str:
    whole = round(number)
    return chance.choice((f" {whole} ", f"{whole}", _chinese(whole) if whole != 1 else "1"))


def _shares(percent: float) -> list[str]:
    found = [f"{percent:.1f} %", f"{percent:.1f}%", f"{percent:.2f} percent", f"About {percent:.0f} %"]
    one_in = 100 / percent
    if 2 <= one_in <= 12 and abs(one_in - round(one_in)) < 0.2:
        found += [f"1 in {round(one_in)}", f"One in {_ONES[round(one_in)]}"]
    if 47 < percent < 53:
        found.append("About half")
    return found


def _times(at: datetime) -> list[str]:
    east = at + timedelta(hours=8)
    return [f"at {at:%H:%M:%S}", f"at {at:%H:%M} UTC", f"about {at:%H:%M}", f"at {at:%Y-%m-%dT%H:%M:%SZ}",
            f"at {east:%H:%M:%S} +08:00", f"at {east:%H:%M} UTC+8", f"于北京时间 {east:%H:%M:%S}", f"于{at:%H:%M:%S}",
            f"于{at.hour}点{at:%M}分"]  # fmt: skip


def _quoting(one: Stated, name: str) -> tuple[str, ...]:
    words = one.quote.split()
    cut = " ".join(words[:4])
    gap = f"{' '.join(words[:2])} ... {' '.join(words[-2:])}" if len(words) > 4 else one.quote
    return (
        f'{name} says "{one.quote}"',
        f"{name} logs “{one.quote}”",
        f"{name} logs `{cut}`",
        f'"{gap}" is what {name} says',
        f"{name} 的日志写着“{one.quote}”",
        f"{name} 的日志写着「{cut}」",
    )


def _english(whole: int) -> str:
    if whole < 20:
        return _ONES[whole]
    if whole < 100:
        return _TENS[whole // 10] + (f"-{_ONES[whole % 10]}" if whole % 10 else "")
    rest = whole % 100
    return f"{_ONES[whole // 100]} hundred" + (f" and {_english(rest)}" if rest else "")


def _chinese(whole: int) -> str:
    if whole == 0:
        return "零"
    digits, text, gap = "零一二三四五六七八九", "", False
    for power, name in ((10_000, "万"), (1000, "千"), (100, "百"), (10, "十"), (1, "")):
        part, whole = divmod(whole, power)
        if part:
            text += ("零" if gap and text else "") + (_chinese(part) if part > 9 else digits[part]) + name
        gap = not part and bool(text) and bool(whole)
    return text.removeprefix("一") if text.startswith("一十") else text


# -- lies ----------------------------------------------------------------------------------------------------------


def lie(kind: str, every: Sequence[Stated], chance: random.Random) -> Made | None:
    """A sentence with one lie of this kind; None where this draw cannot be bent so, or would be true."""
    one = chance.choice(every)
    bent = _BENT[kind](one, every, chance)
    return None if bent is None else Made(one.kind, bent, kind)


def _with_id(one: Stated, chance: random.Random) -> str:
    return f"{_sentence(one, chance)} [{one.row.id}]."


def _wrong(one: Stated, chance: random.Random) -> float | None:
    """A number that no rounding of the true one, nor another of the row, comes near."""
    if not one.number:
        return None
    factor = chance.choice((0.5, 0.7, 1.4, 1.8, 3.0, 10.0))
    number = one.number * factor if one.kind in {"share", "multiple"} else float(round(one.number * factor))
    beside = [one.number, *_figures_of(one.row)]
    if one.kind == "share" and number >= 100:
        return None
    near = any(abs(number - other) <= max(1.0, 0.16 * max(number, other)) for other in beside)
    return None if near or number < 2 else number


def _figures_of(row: Evidence) -> list[float]:
    """Every number of a row, also as share and multiple of one another."""
    texts = [row.statement, row.query.text, *(sample.message for sample in row.samples)]
    found = [float(hit.replace(",", "")) for text in texts for hit in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]
    values = [float(one) for one in (row.value, row.baseline_value) if isinstance(one, int | float)]
    shares = [100 * one for one in values if one <= 1] + [1 / one for one in values if 0 < one < 1]
    pairs = [a / b for a in values for b in values if b] + [100 * a / b for a in values for b in values if b]
    return [*found, *(one / 1000 for one in found), *values, *shares, *pairs]


def _bent_number(one: Stated, _every: Sequence[Stated], chance: random.Random) -> str | None:
    number = _wrong(one, chance)
    if number is None:
        return None
    text = _with_id(replace(one, number=number), chance)
    close = 0.4 < number / one.number < 2.5
    return None if close and re.search(r"\b(?:about|roughly)\b", text, re.IGNORECASE) else text


def _bent_words(one: Stated, _every: Sequence[Stated], chance: random.Random) -> str | None:
    number = _wrong(one, chance) if one.kind == "count" else None
    if number is None or number >= 1000:
        return None
    said = (
        f"{_english(round(number))} such lines come from {one.service or 'the system'}",
        f"{one.service or '系统'} 有{_chinese(round(number))}条此类日志",
    )
    return f"{chance.choice(said)} [{one.row.id}]."


def _bent_service(one: Stated, every: Sequence[Stated], chance: random.Random) -> str | None:
    shown = f"{one.row.statement} {one.row.query.text} {one.row.query.figure.of} {one.row.samples}"
    others = sorted({other.service for other in every if other.service and other.service not in shown})
    if not one.service or not others:
        return None
    return _with_id(replace(one, service=chance.choice(others)), chance)


def _bent_id(one: Stated, every: Sequence[Stated], chance: random.Random) -> str | None:
    """Another row, which neither is about the service nor has the number, time or quote."""
    other = chance.choice(every).row
    shown = f"{other.statement} {other.query.text} {other.query.figure.of} {other.samples} {other.value}"
    if other.id == one.row.id or not one.service or one.service in shown:
        return None
    return f"{_sentence(one, chance)} [{other.id}]."


def _bent_quote(one: Stated, _every: Sequence[Stated], chance: random.Random) -> str | None:
    letters = [at for at, letter in enumerate(one.quote[:40]) if letter.isalnum()]
    if not letters or one.kind != "quote":
        return None
    at = chance.choice(letters)
    new = (
        "7" if one.quote[at] in "0123456" else "3" if one.quote[at].isdigit() else "q" if one.quote[at] != "q" else "z"
    )
    quote = one.quote[:at] + new + one.quote[at + 1 :]
    return f'{one.service} says "{quote}" [{one.row.id}].' if quote not in str(one.row.samples) else None


def _bent_time(one: Stated, _every: Sequence[Stated], chance: random.Random) -> str | None:
    if one.at is None:
        return None
    at = one.at + timedelta(hours=chance.choice((1, -1, 8, -8)))
    window = one.row.query.window
    near = any(abs((at - end).total_seconds()) % 86_400 < 360 for end in (window.start, window.end))
    return None if near else _with_id(replace(one, at=at), chance)


def _bent_base(one: Stated, every: Sequence[Stated], chance: random.Random) -> str | None:
    """The count as a share of a whole that no cited row holds."""
    if one.kind != "count":
        return None
    whole = max(other.number for other in every if other.kind == "count") * chance.choice((1.3, 2.1, 3.7))
    share = 100 * one.number / whole
    if not 1 < share < 95 or any(abs(share - other) < 0.15 * share + 0.5 for other in _figures_of(one.row)):
        return None
    return f"{share:.1f} % of the lines are of this kind in {one.service or 'the system'} [{one.row.id}]."


def _bent_without(one: Stated, _every: Sequence[Stated], chance: random.Random) -> str | None:
    return f"{_sentence(one, chance)}."


Bend = Callable[[Stated, Sequence[Stated], random.Random], str | None]
_BENT: dict[str, Bend] = {
    "number": _bent_number, "service": _bent_service, "id": _bent_id, "quote": _bent_quote, "words": _bent_words,
    "time": _bent_time, "base": _bent_base, "no id": _bent_without,
}  # fmt: skip
