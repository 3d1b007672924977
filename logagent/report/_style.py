"""How a report is to look: language, zone, width, glyphs, colour. Colour only repeats what a word already says."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from logagent.expressions import expression
from logagent.texts import Catalogue

Tone = Literal["plain", "strong", "bad", "good", "warn", "dim"]
NARROW = 70
"""Below this many columns tables become lists."""
_SGR: dict[Tone, str] = {"plain": "", "strong": "1", "bad": "1;31", "good": "32", "warn": "33", "dim": "2"}
_OFFSET = expression(r"^(?:UTC)?([+-])(\d\d):?(\d\d)$")


@dataclass(frozen=True, slots=True)
class Style:
    """Choices of the reader.

    Attributes:
        language: BCP 47 name of the labels; one without texts is read in English.
        zone: IANA name or offset (`+08:00`) of the times that people see; an unknown one is UTC.
        width: columns, at least 40.
        unicode: whether sparklines and the ellipsis may be drawn; else the ASCII set.
        colour: whether to write the 16 theme colours.
        verbose: 0 one screen, 1 also the queries, 2 everything without a limit.
        budget: characters of a Markdown report; 0 is as many as a ticket takes.
        accessible: for a screen reader: no drawings, sentences in place of tables.
    """

    language: str = "en"
    zone: str = "UTC"
    width: int = 80
    unicode: bool = True
    colour: bool = False
    verbose: int = 0
    budget: int = 0
    accessible: bool = False
    dated: bool = False
    """Whether times need their day: the report spans more than one."""

    def say(self, key: str, **values: object) -> str:
        """The wording `report.{key}` with its values filled in."""
        return Catalogue(self.language).say(f"report.{key}", **values)

    def comma(self, *parts: str) -> str:
        """The parts that are not empty, separated by the comma of the language."""
        return self.say("join.comma").join(part for part in parts if part)

    def semicolon(self, *parts: str) -> str:
        """The parts that are not empty, separated by the semicolon of the language."""
        return self.say("join.semicolon").join(part for part in parts if part)

    def paren(self, text: str, more: str | None) -> str:
        """`text (more)` with the brackets of the language."""
        return self.say("join.paren", text=text, more=more) if more else text

    @property
    def tz(self) -> tzinfo:
        """The display zone."""
        if match := _OFFSET.match(self.zone):
            minutes = int(match[2]) * 60 + int(match[3])
            return timezone(timedelta(minutes=minutes if match[1] == "+" else -minutes))
        try:
            return ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return UTC

    @property
    def columns(self) -> int:
        """Width that is really used."""
        return max(40, self.width)

    @property
    def is_narrow(self) -> bool:
        """Whether tables become lists: where there is no room, and where nobody sees columns."""
        return self.accessible or self.columns < NARROW

    @property
    def ellipsis(self) -> str:
        """The mark of a cut."""
        return "…" if self.unicode else "..."

    def paint(self, text: str, tone: Tone) -> str:
        """`text` in a theme colour, where colour is wanted."""
        code = _SGR[tone] if self.colour else ""
        return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text

    def local(self, stamp: str) -> datetime:
        """An RFC 3339 text as local time."""
        return datetime.fromisoformat(stamp).astimezone(self.tz)

    def clock(self, stamp: str) -> str:
        """`14:05:20` in the display zone; `08-02 14:05:20` where the report spans several days."""
        return f"{self.local(stamp):%m-%d %H:%M:%S}" if self.dated else f"{self.local(stamp):%H:%M:%S}"

    def minute(self, stamp: str) -> str:
        """`14:05` in the display zone; `08-02 14:05` where the report spans several days."""
        return f"{self.local(stamp):%m-%d %H:%M}" if self.dated else f"{self.local(stamp):%H:%M}"

    def offset(self, stamp: str) -> str:
        """`+08:00` at that time."""
        return self.local(stamp).isoformat()[-6:]
