# ruff: noqa: S608 - names come from the loaded columns only, values are parameters
"""Files of JSON lines -> one DuckDB table, in which every field is kept as text by its dotted name.

Nothing is lost on the way: all keys are looked for in all lines, every value is read as text and cast later, and a
line that is no record becomes an empty row that is counted.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from logagent.errors import StoreUnavailable
from logagent.fields import FieldChoice, FieldInfo, FieldMap, resolve
from logagent.logs import Severity
from logagent.stores._local_shape import MOST_FIELDS, Shape
from logagent.stores._local_sql import quoted
from logagent.stores._local_times import ABSURD, duration_sql, timestamp_sql
from logagent.stores._local_words import words_sql

if TYPE_CHECKING:
    from logagent.stores._duckdb import DuckDBPyConnection

LINE = "__logagent_line"
"""Key of the line number in files that were parsed by `formats`."""
_CHUNKS = 32
_CHUNK_BYTES = 1 << 14
_LARGE_LINE = 1 << 28
_MOST_PATHS = 12
_DISTINCT = 50
_FAILURE = r"(?i)\b(?:error|exception|failed|failure|fatal|panic)\b"
"""The words that the cluster store takes too, where a source has no levels."""
_NO_WORDS = "''"


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file of JSON lines to load. `name` is what the user called it; `parsed`: written by ourselves."""

    name: str
    path: Path
    parsed: bool = False


@dataclass(slots=True)
class Table:
    """What was loaded."""

    fields: FieldMap
    columns: dict[str, str]
    """SQL expression of each field by its dotted name."""
    ranges: dict[str, tuple[int, int]]
    """Row ids of each source, [first, last)."""
    arrays: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    ordered: bool = False
    """No time was found: `ts` counts lines as seconds from 1970."""


@dataclass(frozen=True, slots=True)
class _Column:
    """One field: its column in the table and where its value comes from in the JSON reader."""

    name: str
    ident: str
    source: str


class Loader:
    """Loads files into the table `logs` of a connection.

    Args:
        connection: an empty in-memory database.
        overrides: role -> field name, the user's own choice.
        zone: time zone of stamps that have none.
        shift: is added to every stamp.
    """

    def __init__(
        self, connection: "DuckDBPyConnection", overrides: Mapping[str, str], zone: str, shift: timedelta
    ) -> None:
        self._connection = connection
        self._overrides = overrides
        self._zone = zone
        self._shift = shift
        self._notes: list[str] = []

    def load(self, files: Sequence[JsonLines], folder: Path) -> Table:
        """Read all files, in order; `folder` is for copies.

        Raises:
            StoreUnavailable: LA307, DuckDB cannot read a file.
        """
        self._connection.execute("SET TimeZone = ?", [self._zone])
        shape = self._shape(files)
        if shape.varies():
            files = [_alike(file, shape, folder / f"alike-{number}.ndjson") for number, file in enumerate(files)]
            shape = self._shape(files)
        columns = self._columns(shape)
        guess = resolve(_infos(shape, columns), self._overrides)
        ranges = self._insert(files, shape, columns, guess)
        fields = self._resolved(shape, columns, ranges)
        self._recompute(columns, guess, fields)
        ordered = self._order_untimed()
        idents = {column.name: column.ident for column in columns}
        return Table(fields, idents, ranges, _array_names(shape), self._notes, ordered)

    def _shape(self, files: Sequence[JsonLines]) -> Shape:
        """The shape of all records of all files."""
        shape = Shape()
        for file in files:
            _sample(file.path, shape)
            self._scan_keys(file, shape)
        return shape

    def _scan_keys(self, file: JsonLines, shape: Shape) -> None:
        """Look for keys in all lines, where the sample did not hold the whole file."""
        if file.path.stat().st_size <= _CHUNKS * _CHUNK_BYTES:
            return
        paths = list(shape.paths())[:_MOST_PATHS]
        asked = ["$", *("".join(["$", *(f".{_json_key(key)}" for key in path)]) for path in paths)]
        reader = f"read_ndjson_objects({_literal(file.path)}, ignore_errors=true, compression='uncompressed'"
        keys = self._read(
            "SELECT any_value(keys) FROM (SELECT json_keys(json, ?) AS keys FROM "
            + reader
            + ", maximum_object_size={size})) GROUP BY hash(keys)",  # a third faster than DISTINCT lists
            [asked],
        )
        for (found,) in keys:
            names = dict(zip([(), *paths], found or (), strict=False))
            for path in names:
                _learn_keys(shape, path, names)

    def _columns(self, shape: Shape) -> list[_Column]:
        sources: dict[str, list[str]] = {}
        for key, child in shape.children.items():
            if key != LINE:
                _sources(child, key, quoted(key), sources)
        if len(sources) > MOST_FIELDS:
            self._notes.append(f"{len(sources):,} different fields; the first {MOST_FIELDS:,} were read")
        columns, arrays = [], _array_names(shape)
        for index, (name, found) in enumerate(list(sources.items())[:MOST_FIELDS]):
            source = found[0] if len(found) == 1 else f"coalesce({', '.join(found)})"
            columns.append(_Column(name, f"f{index}", _unlisted(source) if name in arrays else source))
        return columns

    def _insert(
        self, files: Sequence[JsonLines], shape: Shape, columns: Sequence[_Column], guess: FieldMap
    ) -> dict[str, tuple[int, int]]:
        reader_columns = _reader_columns(shape)
        declared = ", ".join(f"{column.ident} VARCHAR" for column in columns)
        comma = ", " if declared else ""
        self._connection.execute(
            "CREATE TABLE logs "
            "(line INTEGER, ts TIMESTAMP, sev TINYINT, status SMALLINT, duration DOUBLE, words VARCHAR"
            f"{comma}{declared})"
        )
        line = f"TRY_CAST({quoted(LINE)} AS INTEGER)" if LINE in shape.children else "NULL"
        inner = ", ".join([f"{line} AS line", *(f"{column.source} AS {column.ident}" for column in columns)])
        computed = self._computed_sql({column.name: column.ident for column in columns}, guess)
        outer = ", ".join(["line", *computed, *(column.ident for column in columns)])
        ranges: dict[str, tuple[int, int]] = {}
        end = 0
        for file in files:
            reader = (
                f"read_json({_literal(file.path)}, format='newline_delimited', columns={reader_columns}, "
                "ignore_errors=true, compression='uncompressed', maximum_object_size={size})"
            )
            self._read(f"INSERT INTO logs SELECT {outer} FROM (SELECT {inner} FROM " + reader + ")", [])
            start, end = end, self._scalar("SELECT count(*) FROM logs")
            ranges[file.name] = (start, end)
        return ranges

    def _computed_sql(self, idents: Mapping[str, str], fields: FieldMap) -> list[str]:
        """SQL of ts, sev, status, duration and words: those of the message, then of the text of the error."""

        def chosen(role: str) -> list[tuple[str, str]]:
            choices: Iterable[FieldChoice] = fields.roles.get(role, ())
            return [(choice.name, idents[choice.name]) for choice in choices if choice.name in idents]

        times = [timestamp_sql(ident, self._shift) for _, ident in chosen("timestamp")]
        levels = [_severity_sql(ident, fields.levels) for _, ident in chosen("severity")]
        if not levels:
            levels = [_guessed_sql({role: chosen(role) for role in ("status", "error_type", "stack", "message")})]
        statuses = [f"TRY_CAST(TRY_CAST({ident} AS DOUBLE) AS SMALLINT)" for _, ident in chosen("status")]
        durations = [duration_sql(name, ident) for name, ident in chosen("duration")]
        messages = [ident for _, ident in chosen("message")]
        errors = [ident for _, ident in chosen("error_message") if ident not in messages]
        texts = [words_sql(_first(one, "VARCHAR")) for one in (messages, errors) if one]
        return [
            f"{_first(times, 'TIMESTAMP')} AS ts",
            f"{_first(levels, 'TINYINT')} AS sev",
            f"{_first(statuses, 'SMALLINT')} AS status",
            f"{_first(durations, 'DOUBLE')} AS duration",
            f"{' || '.join(f'coalesce({one}, {_NO_WORDS})' for one in texts) or 'NULL'} AS words",
        ]

    def _recompute(self, columns: Sequence[_Column], guess: FieldMap, fields: FieldMap) -> None:
        """Mend the computed columns where the whole file tells more than the sample did."""
        computed = self._computed_sql({column.name: column.ident for column in columns}, fields)
        if _chosen(fields) != _chosen(guess) or not _extends(fields.levels, guess.levels):
            self._connection.execute(
                f"CREATE OR REPLACE TABLE logs AS SELECT * REPLACE ({', '.join(computed)}) FROM logs"
            )
        elif fields.levels != guess.levels:
            severity = computed[1].removesuffix(" AS sev")
            self._connection.execute(f"UPDATE logs SET sev = {severity} WHERE sev IS NULL AND ({severity}) IS NOT NULL")

    def _resolved(self, shape: Shape, columns: Sequence[_Column], ranges: Mapping[str, tuple[int, int]]) -> FieldMap:
        """Roles by the true coverage of each field and by all values of the level fields."""
        total = max((end for _, end in ranges.values()), default=0)
        if not columns or not total:
            return resolve(_infos(shape, columns), self._overrides)
        counted = self._connection.execute(
            f"SELECT {', '.join(f'count({column.ident})' for column in columns)} FROM logs"
        ).fetchone()
        counts = dict(zip((column.name for column in columns), counted or (), strict=False))
        infos = [
            FieldInfo(info.name, info.type, counts[info.name] / total, info.samples, info.exact)
            for info in _infos(shape, columns)
        ]
        first = resolve(infos, self._overrides)
        levels = {choice.name for choice in first.roles.get("severity", ())}
        idents = {column.name: column.ident for column in columns}
        infos = [
            FieldInfo(info.name, info.type, info.coverage, (*info.samples, *self._distinct(idents[info.name])))
            if info.name in levels
            else info
            for info in infos
        ]
        return resolve(infos, self._overrides)

    def _distinct(self, ident: str) -> tuple[str, ...]:
        rows = self._connection.execute(
            f"SELECT {ident} FROM logs WHERE {ident} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT {_DISTINCT}"
        ).fetchall()
        return tuple(value for (value,) in rows)

    def _order_untimed(self) -> bool:
        """Where no record has a time, the order of lines is the only time: steps of 1 s from 1970."""
        self._connection.execute(f"UPDATE logs SET ts = NULL WHERE {ABSURD}")
        if self._scalar("SELECT count(*) FROM logs WHERE ts IS NOT NULL"):
            return False
        self._notes.append("LA308: no time found; the order of the lines is used, one line a second from 1970")
        self._connection.execute(
            "CREATE OR REPLACE TABLE logs AS SELECT * REPLACE (make_timestamp(rowid * 1000000) AS ts) FROM logs"
        )
        return True

    def _scalar(self, sql: str) -> int:
        row = self._connection.execute(sql).fetchone()
        return int(row[0]) if row else 0

    def _read(self, sql: str, values: Sequence[object]) -> list[tuple[list[list[str]]]]:
        """Run a statement that reads a file; lines over 16 MB get a second try with larger buffers."""
        from logagent.stores import _duckdb as duckdb  # noqa: PLC0415 - 0.05 s that other stores need not pay

        try:
            return self._connection.execute(sql.replace("{size}", str(1 << 24)), values).fetchall()
        except duckdb.InvalidInputException as error:
            if "maximum_object_size" not in str(error):
                raise StoreUnavailable(f"cannot read the log file: {error}", code="LA307") from error
        try:
            return self._connection.execute(sql.replace("{size}", str(_LARGE_LINE)), values).fetchall()
        except duckdb.Error as error:
            raise StoreUnavailable(f"a line of the log file is too long: {error}", code="LA307") from error


def _sample(path: Path, shape: Shape) -> None:
    """Learn the shape from a small file, or from chunks spread evenly over a large one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= _CHUNKS * _CHUNK_BYTES:
            _learn_lines(file.read().split(b"\n"), shape)
            return
        for index in range(_CHUNKS):
            file.seek(index * (size - _CHUNK_BYTES) // (_CHUNKS - 1), os.SEEK_SET)
            lines = file.read(_CHUNK_BYTES).split(b"\n")
            _learn_lines(lines[bool(index) : -1], shape)


def _alike(file: JsonLines, shape: Shape, target: Path) -> JsonLines:
    """A copy of a file in which a key has one spelling: DuckDB would lose what stands under the others."""
    with file.path.open("rb") as lines, target.open("wb") as out:
        for line in lines:
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError:
                out.write(line)  # is counted as unread where all are
                continue
            out.write(orjson.dumps(shape.alike(record)) + b"\n")
    return replace(file, path=target)


def _learn_lines(lines: Iterable[bytes], shape: Shape) -> None:
    for line in lines:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            shape.learn(value)


def _learn_keys(shape: Shape, path: tuple[str, ...], names: Mapping[tuple[str, ...], Sequence[str] | None]) -> None:
    parent = shape.at(path)
    if path and not names[path] and path[-1] in (names.get(path[:-1]) or ()):
        parent.kinds.setdefault("string", 1)  # no object in some record, after all
    for name in names[path] or ():
        if name and (known := parent.know(name)) not in parent.children and len(parent.children) < MOST_FIELDS:
            parent.children[known] = Shape({"string": 1})


def _sources(shape: Shape, name: str, sql: str, sources: dict[str, list[str]]) -> None:
    """Where each field comes from, below one key."""
    if shape.nested:
        for key, child in shape.children.items():
            _sources(child, f"{name}.{key}", f"{sql}.{quoted(key)}", sources)
        return
    if not shape.mixed:
        sources.setdefault(name, []).append(sql)
        return
    scalar = f"CASE WHEN json_type({sql}) = 'OBJECT' THEN NULL ELSE {sql} ->> '$' END"
    sources.setdefault(name, []).append(scalar if shape.children else f"{sql}::VARCHAR")
    for key, child in shape.children.items():
        path = _literal(f"$.{_json_key(key)}")
        if child.nested:
            _mixed_below(child, f"{name}.{key}", f"{sql} -> {path}", sources)
        else:
            sources.setdefault(f"{name}.{key}", []).append(f"{sql} ->> {path}")


def _mixed_below(shape: Shape, name: str, sql: str, sources: dict[str, list[str]]) -> None:
    for key, child in shape.children.items():
        path = _literal(f"$.{_json_key(key)}")
        if child.nested:
            _mixed_below(child, f"{name}.{key}", f"({sql}) -> {path}", sources)
        else:
            sources.setdefault(f"{name}.{key}", []).append(f"({sql}) ->> {path}")


def _reader_columns(shape: Shape) -> str:
    inner = ", ".join(f"{_literal(key)}: {_literal(_reader_type(child))}" for key, child in shape.children.items())
    return f"{{{inner or _literal(LINE) + ': ' + _literal('VARCHAR')}}}"


def _reader_type(shape: Shape) -> str:
    if shape.nested:
        return f"STRUCT({', '.join(f'{quoted(key)} {_reader_type(child)}' for key, child in shape.children.items())})"
    return "JSON" if shape.mixed else "VARCHAR"


def _infos(shape: Shape, columns: Sequence[_Column]) -> list[FieldInfo]:
    seen: dict[str, Shape] = {}
    _flatten(shape, "", seen)
    total = max((child.count for child in shape.children.values()), default=1) or 1
    infos = []
    for column in columns:
        found = seen[column.name]
        infos.append(
            FieldInfo(column.name, found.type, min(1.0, found.count / total), tuple(found.samples), column.name)
        )
    return infos


def _flatten(shape: Shape, prefix: str, seen: dict[str, Shape]) -> None:
    for key, child in shape.children.items():
        if not child.nested:
            seen.setdefault(prefix + key, child)
        if child.children:
            _flatten(child, f"{prefix}{key}.", seen)


def _unlisted(sql: str) -> str:
    """A list of one value as that value, as a search server takes it; longer lists and lists of objects stay."""
    json = f"TRY_CAST(CASE WHEN {sql} LIKE '[%' THEN {sql} END AS JSON)"
    single = f"json_array_length({json}) = 1 AND json_type({json}, '$[0]') NOT IN ('OBJECT', 'ARRAY')"
    return f"CASE WHEN {single} THEN {json} ->> '$[0]' ELSE {sql} END"


def _array_names(shape: Shape) -> frozenset[str]:
    """Fields that hold a list in some record."""
    seen: dict[str, Shape] = {}
    _flatten(shape, "", seen)
    return frozenset(name for name, found in seen.items() if "array" in found.kinds)


def _chosen(fields: FieldMap) -> object:
    """The fields that the computed columns depend on."""
    return [[choice.name for choice in fields.roles.get(role, ())] for role in _COMPUTED]


_COMPUTED = ("timestamp", "severity", "status", "duration", "error_type", "stack", "message")


def _extends(levels: Mapping[Severity, Sequence[str]], known: Mapping[Severity, Sequence[str]]) -> bool:
    """Whether all known values keep their class."""
    return all(set(values) <= set(levels.get(severity, ())) for severity, values in known.items())


def _severity_sql(ident: str, levels: Mapping[Severity, Sequence[str]]) -> str:
    cases = "".join(
        f" WHEN {ident} IN ({', '.join(map(_literal, values))}) THEN {severity.value}"
        for severity, values in levels.items()
        if values
    )
    return f"CASE{cases} END::TINYINT" if cases else "NULL::TINYINT"


def _guessed_sql(chosen: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """No level anywhere: status 5xx, an error class, a stack, or a word of failure count as error."""
    tests = [f"TRY_CAST({ident} AS DOUBLE) >= 500" for _, ident in chosen["status"]]
    tests += [f"{ident} IS NOT NULL" for role in ("error_type", "stack") for _, ident in chosen[role]]
    tests += [f"regexp_matches({ident}, '{_FAILURE}')" for _, ident in chosen["message"]]
    return f"CASE WHEN {' OR '.join(tests)} THEN {Severity.ERROR.value} END::TINYINT" if tests else "NULL::TINYINT"


def _first(expressions: Sequence[str], kind: str) -> str:
    if not expressions:
        return f"NULL::{kind}"
    return expressions[0] if len(expressions) == 1 else f"coalesce({', '.join(expressions)})"


def _literal(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _json_key(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
