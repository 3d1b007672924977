"""The query language of people and of the model: text -> typed tree (ux.md 2.2). Each store compiles the tree.

A small Lucene-like subset: `field:value`, `"phrase"`, wildcards (not leading), ranges `[a TO b]`, `level>=error`,
AND OR NOT (also in lower case), grouping, `_exists_:field`. Terms without an operator are joined by AND.
A bare term or phrase searches the message role.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import NoReturn

from logagent.errors import UsageError
from logagent.expressions import expression
from logagent.fields import FieldMap
from logagent.logs import Severity, TimeWindow, instant, iso

MAX_LENGTH = 500
"""Most characters of a query that a person writes."""
MAX_CLAUSES = 50
"""Most leaves of one query."""
MAX_DEPTH = 12
"""Most nested groups and negations."""


@dataclass(frozen=True, slots=True)
class All:
    """Matches everything."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word or exact value. `field` is a role, an ECS name or a name of the source; "" is the message role."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in order (on the message role), or an exact value (on any other field)."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A value with `*` or `?`, never at its start."""

    field: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Range:
    """low <= field <= high; None is open. `include_low`/`include_high` False for `{a TO b}`, `>` and `<`."""

    field: str
    low: str | None
    high: str | None
    include_low: bool = True
    include_high: bool = True


@dataclass(frozen=True, slots=True)
class Level:
    """Severity class exactly (`level:error`), or that class and worse (`level>=error`)."""

    severity: int
    and_worse: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """The field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class Not:
    """Complement, also of records without the field."""

    node: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """All of two or more."""

    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of two or more."""

    nodes: tuple["Node", ...]


Node = All | Term | Phrase | Wildcard | Range | Level | Exists | Not | And | Or


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What to look at: a tree inside a window. `indices` empty means the whole scope of the store."""

    window: TimeWindow
    node: Node = All()
    indices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run may look at, fixed before the first log byte is read: every query is made by it, none can widen it.

    `base` holds the user's own filters and excludes; `reach` is the widest span any query may touch (window, baseline
    and look-back). `now` is what relative times count back from (ux.md 2.2).
    """

    window: TimeWindow
    reach: TimeWindow
    now: datetime
    base: Node = All()
    baselines: tuple[TimeWindow, ...] = ()
    indices: tuple[str, ...] = ()
    zone: str = "UTC"

    def query(self, node: Node = All(), window: TimeWindow | None = None, indices: tuple[str, ...] = ()) -> LogQuery:
        """A query inside the scope: `node` AND the base, the window clipped to `reach`."""
        asked = window or self.window
        start = min(max(asked.start, self.reach.start), self.reach.end)
        end = max(min(asked.end, self.reach.end), start)
        return LogQuery(TimeWindow(start, end), conjunction(self.base, node), indices or self.indices)


def conjunction(*nodes: Node) -> Node:
    """AND of the nodes, flattened, without `All`."""
    flat: list[Node] = []
    for node in nodes:
        if isinstance(node, And):
            flat.extend(node.nodes)
        elif not isinstance(node, All):
            flat.append(node)
    if not flat:
        return All()
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def parse(text: str, fields: FieldMap | None = None, *, max_length: int = MAX_LENGTH) -> Node:
    """Read a query; "" and `*` match everything.

    Tolerates what people and models write: KQL (`level: "error" and not msg: foo*`, `status >= 500`), `-x`, `!x`,
    `&&`, `||`. Only blanks, quotes, parentheses and backslashes end a bare word, so paths need no quotes.
    Instants in ranges become RFC 3339 in UTC; a level becomes its class.

    Args:
        text: the query.
        fields: what the source has; None skips the check of field names and of number types.
        max_length: most characters (600 for a model).

    Raises:
        UsageError: LA704, with `filter`, `reason` and `position` (from 1) in `values`.

    >>> parse('level:error and not "timed out"')
    And(nodes=(Level(severity=4, and_worse=False), Not(node=Phrase(field='', value='timed out'))))
    """
    return _Parser(text, fields).parse(max_length)


def to_text(node: Node) -> str:
    r"""Write a tree as a query: `parse(to_text(node)) == node` for every tree that `parse` makes.

    >>> to_text(And((Level(4, and_worse=True), Term("service", "order api"))))
    'level>=error AND service:order\\ api'
    """
    match node:
        case And(nodes):
            return " AND ".join(map(_operand, nodes))
        case Or(nodes):
            return " OR ".join(map(_operand, nodes))
        case Not(inner):
            return f"NOT {_operand(inner)}"
        case _:
            return _leaf_text(node)


_END = r"(?=[\s()]|$)"
_WORD = expression(r"(?:[^\s()\"\\]|\\.)+", re.DOTALL)
_AND = expression(rf"\s*(?:(?:AND|and){_END}|&&)")
_OR = expression(rf"\s*(?:(?:OR|or){_END}|\|\|)")
_NOT = expression(rf"\s*(?:(?:NOT|not){_END}|[!-](?=[^\s)]))")
_PLUS = expression(r"\s*\+(?=[^\s)])")
_EVERYTHING = expression(rf"\*(?::\*)?{_END}")
_FIELD = expression(r"(?![\d.]+:)((?:[\w@.*/-]|\\.)+?)\s*(:\s*(?:>=|<=|>|<)|:(?!//|:)|>=|<=|!=|>|<)\s*", re.DOTALL)
_PHRASE = expression(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BOUND = r'"(?:[^"\\]|\\.)*"|[^\s()\[\]{}"\\]+'
_RANGE = expression(rf"([\[{{])\s*({_BOUND})\s+(?:TO|to)\s+({_BOUND})\s*([\]}}])", re.DOTALL)
_REGEX = expression(rf"/(?:[^/\\\s]|\\.)+/{_END}")
_SUFFIX = expression(r"(?<!\\)(?:\\\\)*(~[\d.]*|\^[\d.]+)$")
_WILD = expression(r"(?<!\\)(?:\\\\)*[*?]")
_ONE_WORD = expression(r"(?:[\w*?.:'])+")
_ASSIGNED = expression(r"([\w@.-]+)=")
_CONTROL = expression(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_NUMBERS = frozenset(
    {"long", "integer", "short", "byte", "double", "float", "half_float", "scaled_float", "unsigned_long"}
)
_LEVEL_WORDS: Mapping[str, Severity] = {
    **{severity.word: severity for severity in Severity},
    **dict.fromkeys(("verbose", "finest"), Severity.TRACE),
    **dict.fromkeys(("information", "informational", "notice"), Severity.INFO),
    "warning": Severity.WARN,
    **dict.fromkeys(("err", "severe"), Severity.ERROR),
    **dict.fromkeys(("critical", "crit", "alert", "emergency", "emerg", "panic"), Severity.FATAL),
}


class _Parser:
    """Recursive descent over the text itself: what a character means depends on where it stands."""

    def __init__(self, text: str, fields: FieldMap | None) -> None:
        self._text = text
        self._fields = fields
        self._at = 0
        self._clauses = 0
        self._depth = 0

    def parse(self, max_length: int) -> Node:
        if len(self._text) > max_length:
            self._refuse(f"it has {len(self._text)} characters; {max_length} are allowed", max_length)
        if control := _CONTROL.search(self._text):
            self._refuse("a control character is not allowed", control.start())
        if not self._text.strip():
            return All()
        node = self._any("")
        if self._at < len(self._text):
            self._refuse('")" closes nothing')
        return node

    def _any(self, field: str) -> Node:
        nodes = [self._all(field)]
        while self._take(_OR):
            nodes.append(self._all(field))
        return nodes[0] if len(nodes) == 1 else Or(tuple(nodes))

    def _all(self, field: str) -> Node:
        nodes = [self._one(field)]
        while self._more():
            self._take(_AND)
            nodes.append(self._one(field))
        return nodes[0] if len(nodes) == 1 else And(tuple(nodes))

    def _more(self) -> bool:
        self._skip()
        return self._at < len(self._text) and self._text[self._at] != ")" and not _OR.match(self._text, self._at)

    def _one(self, field: str) -> Node:
        self._skip()
        self._expect_operand()
        if self._take(_NOT):
            self._nest(1)
            node = Not(self._one(field))
            self._nest(-1)
            return node
        if self._take(_PLUS):
            return self._one(field)
        if self._text[self._at] == "(":
            return self._group(field)
        if not field and (everything := _EVERYTHING.match(self._text, self._at)):
            self._at = everything.end()
            return All()
        if not field and (named := _FIELD.match(self._text, self._at)):
            return self._named(named)
        return self._value(field)

    def _expect_operand(self) -> None:
        if self._at >= len(self._text):
            self._refuse("it ends where a term is expected")
        for operator, word in ((_AND, "AND"), (_OR, "OR")):
            if operator.match(self._text, self._at):
                self._refuse(f"{word} needs a term on each side")
        if self._text[self._at] == ")":
            self._refuse('")" stands where a term is expected')

    def _group(self, field: str) -> Node:
        opened = self._at
        self._at += 1
        self._nest(1)
        node = self._any(field)
        self._nest(-1)
        if not self._text.startswith(")", self._at):
            self._refuse('"(" is never closed', opened)
        self._at += 1
        return node

    def _named(self, named: re.Match[str]) -> Node:
        start, name, operator = self._at, self._meant(_unescaped(named[1])), named[2].lstrip(": \t\n")
        self._at = named.end()
        if self._at >= len(self._text) or self._text[self._at] == ")":
            self._refuse(f"{name}: needs a value", start)
        if name == "_exists_":
            return self._exists()
        self._check_name(name, start)
        if operator == "!=":
            self._nest(1)
            node = Not(self._value(name))
            self._nest(-1)
            return node
        if operator:
            return self._compared(name, operator)
        return self._group(name) if self._text[self._at] == "(" else self._value(name)

    def _exists(self) -> Node:
        start = self._at
        name = self._raw_value()
        self._check_name(name, start)
        self._count()
        return Exists(name)

    def _compared(self, field: str, operator: str) -> Node:
        start, value = self._at, self._raw_value()
        if self._is(field, "severity"):
            low = value if operator[0] == ">" else None
            high = None if low else value
            return self._levels(low, high, (operator[-1] == "=", operator[-1] == "="), start)
        bound = self._bound(field, value, start)
        self._count()
        if operator[0] == ">":
            return Range(field, bound, None, include_low=operator == ">=")
        return Range(field, None, bound, include_high=operator == "<=")

    def _value(self, field: str) -> Node:
        start = self._at
        self._count()
        if phrase := _PHRASE.match(self._text, start):
            self._at = phrase.end()
            self._refuse_suffix(re.compile(r"[~^][\d.]*"))
            return self._exact(field, _unescaped(phrase[1]), start, Phrase)
        if self._text[start] in "[{":
            return self._range(field)
        if self._text[start] == '"':
            self._refuse("the quote is never closed")
        return self._word(field)

    def _word(self, field: str) -> Node:
        start = self._at
        if _REGEX.match(self._text, start):
            self._refuse('"/" starts a regular expression, which is not allowed; quote a path')
        found = _WORD.match(self._text, start)
        if found is None:
            self._refuse(f'"{self._text[start]}" stands where a value is expected')
        raw = found[0]
        if suffix := _SUFFIX.search(raw):
            self._refuse(f'"{suffix[1][0]}" is not allowed (no fuzzy search, no boosts)', start + suffix.start(1))
        if not field and (assigned := _ASSIGNED.match(raw)) and self._is_role(assigned[1]):
            self._refuse(f'"=" is not an operator; write {assigned[1]}:… or quote it', start + len(assigned[1]))
        self._at = found.end()
        if _WILD.search(raw):
            return self._wildcard(field, raw, start)
        return self._exact(field, _unescaped(raw), start, Term)

    def _wildcard(self, field: str, raw: str, start: int) -> Node:
        if raw == "*":
            return Exists(field)
        if raw[0] in "*?":
            self._refuse(self._instead_of_leading(field, raw), start)
        for role in ("severity", "timestamp"):
            if self._is(field, role):
                self._refuse(f"{field} takes no wildcard", start)
        if self._is(field, "message") and not _ONE_WORD.fullmatch(raw):
            self._refuse("a wildcard on the message matches one word, and this holds several; use a phrase", start)
        return Wildcard(field, re.sub(r"\\([^*?\\])", r"\1", raw))

    def _instead_of_leading(self, field: str, raw: str) -> str:
        """What a leading wildcard is refused with: a filter that works."""
        refused = f'"{raw[0]}" at the start of a value is not allowed (a leading wildcard)'
        rest = _WILD.sub(" ", raw).strip()
        if not self._is(field, "message"):
            return f"{refused}; a field is matched whole: write {field}:value or {field}:start*"
        found = f"; write {rest.split()[0]} or {rest.split()[0]}*" if rest else ""
        return f"{refused}; a bare word matches a whole word of the text, in any case, anywhere{found}"

    def _exact(self, field: str, value: str, start: int, kind: type[Term] | type[Phrase]) -> Node:
        if self._is(field, "severity"):
            return self._levels(value, value, (True, True), start)
        if self._is(field, "timestamp"):
            self._refuse(f"{field} takes a range, as in {field}>=2026-11-30T14:00:00Z", start)
        if not field and not value:
            self._refuse("the phrase is empty", start)
        if self._is_number(field):
            self._bound(field, value, start)
        return kind(field, value)

    def _range(self, field: str) -> Node:
        start = self._at
        found = _RANGE.match(self._text, start)
        if found is None or not field:
            reason = "a range needs a field" if found else "a range is written [a TO b]; quote other text"
            self._refuse(f'"{self._text[start]}" starts a range: {reason}')
        self._at = found.end()
        raw_low, raw_high = (None if found[i] == "*" else _bare(found[i]) for i in (2, 3))
        include = (found[1] == "[" or raw_low is None, found[4] == "]" or raw_high is None)
        if self._is(field, "severity"):
            return self._levels(raw_low, raw_high, include, start)
        low = None if raw_low is None else self._bound(field, raw_low, start)
        high = None if raw_high is None else self._bound(field, raw_high, start)
        if low is None and high is None:
            return Exists(field)
        return Range(field, low, high, *include)

    def _levels(self, low: str | None, high: str | None, include: tuple[bool, bool], start: int) -> Node:
        lowest = 0 if low is None else self._level(low, start) + (not include[0])
        highest = len(Severity) - 1 if high is None else self._level(high, start) - (not include[1])
        self._count(max(0, highest - lowest))
        if lowest > highest:
            self._refuse("no level lies in this range", start)
        if lowest == highest:
            return Level(lowest, and_worse=high is None)
        if highest == len(Severity) - 1:
            return Level(lowest, and_worse=True)
        return Or(tuple(Level(severity) for severity in range(lowest, highest + 1)))

    def _level(self, word: str, start: int) -> int:
        severity = _LEVEL_WORDS.get(word.strip().lower())
        if severity is None and self._fields is not None:
            severity = next((known for known, raw in self._fields.levels.items() if word in raw), None)
        if severity is None:
            known = ", ".join(severity.word for severity in Severity)
            self._refuse(f'"{word}" is no level; levels are {known}', start)
        return severity

    def _bound(self, field: str, value: str, start: int) -> str:
        if self._is(field, "message"):
            self._refuse("the message has no order: a range or comparison needs another field; quote text", start)
        if self._is(field, "timestamp"):
            try:
                return iso(_instant(value))
            except (ValueError, OverflowError):
                self._refuse(f'"{value}" is no time; write 2026-11-30T14:05:00Z', start)
        if self._is_number(field):
            try:
                float(value)
            except ValueError:
                self._refuse(f'{field} is a number and "{value}" is not', start)
        return value

    def _raw_value(self) -> str:
        found = _PHRASE.match(self._text, self._at)
        if found is None:
            found = _WORD.match(self._text, self._at)
        if found is None:
            self._refuse("a value is expected")
        self._at = found.end()
        return _bare(found[0])

    def _check_name(self, name: str, start: int) -> None:
        if "*" in name:
            self._refuse("a field name takes no wildcard", start)
        if self._fields is None or self._fields.knows(name):
            return
        known = sorted({*self._fields.roles, *self._fields.names, "level"})
        near = get_close_matches(name, known, 3, 0.6) or get_close_matches(name.rpartition(".")[2], known, 3, 0.6)
        hint = f"; near: {', '.join(near)}" if near else f"; known: {', '.join(sorted(self._fields.roles)[:12])}"
        self._refuse(f'no field "{name}"{hint} (text with a colon needs quotes)', start)

    def _meant(self, name: str) -> str:
        """The role that results tell under another name, where no field of the source has that name."""
        fields = self._fields or _NO_FIELDS
        role = _TOLD_AS.get(name, "")
        return role if fields.roles.get(role) and name not in fields.names else name

    def _is(self, field: str, role: str) -> bool:
        if not field:
            return role == "message"
        return (self._fields or _NO_FIELDS).role_of(field) == role

    def _is_role(self, name: str) -> bool:
        return bool((self._fields or _NO_FIELDS).role_of(name))

    def _is_number(self, field: str) -> bool:
        if self._fields is None or not field:
            return False
        choice = self._fields.first(self._fields.role_of(field))
        return (choice.type if choice else self._fields.names.get(field, "")) in _NUMBERS

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _take(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found is not None

    def _nest(self, step: int) -> None:
        self._depth += step
        if self._depth > MAX_DEPTH:
            self._refuse(f"more than {MAX_DEPTH} nested groups")

    def _count(self, leaves: int = 1) -> None:
        self._clauses += leaves
        if self._clauses > MAX_CLAUSES:
            self._refuse(f"more than {MAX_CLAUSES} terms")

    def _refuse_suffix(self, pattern: re.Pattern[str]) -> None:
        if pattern.match(self._text, self._at):
            self._refuse(f'"{self._text[self._at]}" is not allowed (no fuzzy search, no boosts)')

    def _refuse(self, reason: str, at: int | None = None) -> NoReturn:
        position = min(self._at if at is None else at, len(self._text)) + 1
        shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", self._text[:200])
        raise UsageError(
            f"cannot use the filter {shown}: at position {position}: {reason}",
            code="LA704",
            hint=f"allowed: {ALLOWED}",
            values={"filter": shown, "reason": reason, "position": position},
        )


ALLOWED = (
    'field:value, field:(a OR b), NOT field:(a OR b), level>=value, "phrase", wild* (not leading), [a TO b], '
    "AND OR NOT, ( ), _exists_:field"
)
"""What a query may hold, for error texts."""
_NO_FIELDS = FieldMap()
_TOLD_AS = {"duration_ms": "duration"}
"""Names under which results tell a role, with its unit."""
_ODD_STARTS = frozenset("-!+[{<>&|")


def _instant(value: str) -> datetime:
    if re.fullmatch(r"\d{9,19}(\.\d+)?", value):
        number = float(value)
        return instant(number / 10 ** (3 * ((len(value.partition(".")[0]) - 8) // 3)))
    at = datetime.fromisoformat(value)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _bare(text: str) -> str:
    return _unescaped(text[1:-1] if text.startswith('"') else text)


def _operand(node: Node) -> str:
    return f"({to_text(node)})" if isinstance(node, And | Or) else to_text(node)


def _leaf_text(node: All | Level | Exists | Term | Phrase | Wildcard | Range) -> str:
    match node:
        case All():
            return "*"
        case Level(severity, and_worse):
            return f"level{'>=' if and_worse else ':'}{Severity(severity).word}"
        case Exists(field):
            return f"_exists_:{_escaped_name(field)}"
        case Phrase(field, value):
            return _prefix(field) + _quoted(value)
        case Range(field, low, high, include_low, include_high):
            left, right = "[" if include_low else "{", "]" if include_high else "}"
            return f"{_prefix(field)}{left}{_bound_text(low)} TO {_bound_text(high)}{right}"
        case Term() | Wildcard():
            return _prefix(node.field) + _word_text(node)


def _prefix(field: str) -> str:
    return f"{_escaped_name(field)}:" if field else ""


def _word_text(node: Term | Wildcard) -> str:
    bare = not node.field
    if isinstance(node, Wildcard):
        parts = re.split(r"(\\.|[*?])", node.pattern)
        text = "".join(part if i % 2 else _escaped(part, bare=bare) for i, part in enumerate(parts))
    else:
        text = re.sub(r"([*?])", r"\\\1", _escaped(node.value.replace("\\", "\\\\"), bare=bare))
    starts_odd = text[:1] in _ODD_STARTS or text[:1] == ":" or text[:2] == "//" or (text[:1] == "/" == text[-1:])
    return "\\" + text if starts_odd or text.lower() in {"and", "or", "not"} else text


def _escaped(text: str, *, bare: bool) -> str:
    return re.sub(r'([\s()"~^:=<>!])' if bare else r'([\s()"~^])', r"\\\1", text)


def _escaped_name(name: str) -> str:
    starts_odd = name[:1] in _ODD_STARTS or name[:2] == "//" or not name.strip("0123456789.")  # digits: text
    return ("\\" if starts_odd else "") + re.sub(r"([^\w@./-])", r"\\\1", name)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _bound_text(bound: str | None) -> str:
    if bound is None:
        return "*"
    return bound if re.fullmatch(r'[^\s()\[\]{}"\\*]+', bound) else _quoted(bound)
