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
from logagent.fields import FieldInfo, FieldMap, resolve
from logagent.stores._local_roles import ALONE, Part, alike, by_file, computed, extends, merged, told_apart
from logagent.stores._local_shape import MOST_FIELDS, Shape
from logagent.stores._local_sql import literal, quoted
from logagent.stores._local_times import ABSURD

if TYPE_CHECKING:
    from logagent.stores._duckdb import DuckDBPyConnection

LINE = "__logagent_line"
"""Key of the line number in files that were parsed by `formats`."""
_CHUNKS = 32
_CHUNK_BYTES = 1 << 14
_LARGE_LINE = 1 << 28
_MOST_PATHS = 12
_DISTINCT = 50
_COMPUTED = ("ts", "sev", "status", "duration", "words")


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
    texts: Mapping[str, str] = field(default_factory=dict)
    """SQL expression of the roles that differ from file to file; of all others, the first of their fields has it."""


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
        shape, shapes = self._shapes(files)
        if shape.varies():
            files = [_alike(file, shape, folder / f"alike-{number}.ndjson") for number, file in enumerate(files)]
            shape, shapes = self._shapes(files)
        columns = self._columns(shape)
        whole = _infos(shape, columns)
        everything = resolve(whole, self._overrides, ALONE)
        infos = [whole if own is shape else _own(whole, own, columns) for own in shapes]
        guesses = [self._chosen(one) for one in infos]
        ranges = self._insert(list(zip(files, shapes, guesses, strict=True)), shape, columns)
        parts = [self._resolved(one, columns, span) for one, span in zip(infos, ranges.values(), strict=True)]
        self._recompute(columns, guesses, parts)
        fields = merged(parts, everything) if len(parts) > 1 else parts[0].fields
        texts = self._tell_apart(parts, fields, columns)
        ordered = self._order_untimed()
        return Table(fields, _idents(columns), ranges, _array_names(shape), self._notes, ordered, texts)

    def _tell_apart(self, parts: Sequence[Part], fields: FieldMap, columns: Sequence[_Column]) -> dict[str, str]:
        """Columns of the roles that not all files take from the same fields, where these contradict each other."""
        found = told_apart(parts, fields, _idents(columns)) if len(parts) > 1 else {}
        if found:
            more = ", ".join(f"{sql} AS role_{role}" for role, sql in found.items())
            self._connection.execute(f"CREATE OR REPLACE TABLE logs AS SELECT *, {more} FROM logs")
        return {role: f"role_{role}" for role in found}

    def _shapes(self, files: Sequence[JsonLines]) -> tuple[Shape, list[Shape]]:
        """The shape of all records of all files, and that of the sampled records of each."""
        shape = Shape()
        shapes = [Shape() if len(files) > 1 else shape for _ in files]
        for file, own in zip(files, shapes, strict=True):
            _sample(file.path, [shape] if own is shape else [shape, own])
            self._scan_keys(file, shape)
        return shape, shapes

    def _scan_keys(self, file: JsonLines, shape: Shape) -> None:
        """Look for keys in all lines, where the sample did not hold the whole file."""
        if file.path.stat().st_size <= _CHUNKS * _CHUNK_BYTES:
            return
        paths = list(shape.paths())[:_MOST_PATHS]
        asked = ["$", *("".join(["$", *(f".{_json_key(key)}" for key in path)]) for path in paths)]
        reader = f"read_ndjson_objects({literal(file.path)}, ignore_errors=true, compression='uncompressed'"
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
        self, files: Sequence[tuple[JsonLines, Shape, FieldMap]], shape: Shape, columns: Sequence[_Column]
    ) -> dict[str, tuple[int, int]]:
        """Read each file with its own shape and the roles that its sample shows."""
        declared = ", ".join(f"{column.ident} VARCHAR" for column in columns)
        comma = ", " if declared else ""
        self._connection.execute(
            "CREATE TABLE logs "
            "(line INTEGER, ts TIMESTAMP, sev TINYINT, status SMALLINT, duration DOUBLE, words VARCHAR"
            f"{comma}{declared})"
        )
        line = f"TRY_CAST({quoted(LINE)} AS INTEGER)" if LINE in shape.children else "NULL"
        inner = ", ".join([f"{line} AS line", *(f"{column.source} AS {column.ident}" for column in columns)])
        ranges: dict[str, tuple[int, int]] = {}
        end = 0
        for file, own, guess in files:
            found = computed(_idents(columns), guess, self._shift)
            outer = ", ".join(["line", *(found[name] for name in _COMPUTED), *(column.ident for column in columns)])
            reader = (
                f"read_json({literal(file.path)}, format='newline_delimited', columns={_reader_columns(shape, own)}, "
                "ignore_errors=true, compression='uncompressed', maximum_object_size={size})"
            )
            self._read(f"INSERT INTO logs SELECT {outer} FROM (SELECT {inner} FROM " + reader + ")", [])
            start, end = end, self._scalar("SELECT count(*) FROM logs")
            ranges[file.name] = (start, end)
        return ranges

    def _recompute(self, columns: Sequence[_Column], guesses: Sequence[FieldMap], parts: Sequence[Part]) -> None:
        """Mend the computed columns where whole files tell more than samples did."""
        pairs = [(part.fields, guess) for part, guess in zip(parts, guesses, strict=True)]
        same = all(alike(fields, guess) for fields, guess in pairs)
        if same and all(fields.levels == guess.levels for fields, guess in pairs):
            return
        found = [computed(_idents(columns), part.fields, self._shift) for part in parts]
        mended = {name: by_file(parts, [one[name] for one in found]) for name in _COMPUTED}
        if same and all(extends(fields.levels, guess.levels) for fields, guess in pairs):
            level = mended["sev"]
            self._connection.execute(f"UPDATE logs SET sev = {level} WHERE sev IS NULL AND ({level}) IS NOT NULL")
            return
        replaced = ", ".join(f"{sql} AS {name}" for name, sql in mended.items())
        self._connection.execute(f"CREATE OR REPLACE TABLE logs AS SELECT * REPLACE ({replaced}) FROM logs")

    def _resolved(self, infos: Sequence[FieldInfo], columns: Sequence[_Column], span: tuple[int, int]) -> Part:
        """Roles of one file by the true coverage of each field and by all values of the level fields."""
        start, end = span
        where = f" WHERE rowid >= {start} AND rowid < {end}"
        if not columns or start == end:
            return Part(start, end, self._chosen(infos))
        counted = self._connection.execute(
            f"SELECT {', '.join(f'count({column.ident})' for column in columns)} FROM logs{where}"
        ).fetchone()
        counts = dict(zip((column.name for column in columns), counted or (), strict=False))
        infos = [replace(info, coverage=counts[info.name] / (end - start)) for info in infos]
        first = self._chosen(infos)
        levels = {choice.name for choice in first.roles.get("severity", ())}
        idents = _idents(columns)
        infos = [
            replace(info, samples=(*info.samples, *self._distinct(idents[info.name], where)))
            if info.name in levels
            else info
            for info in infos
        ]
        return Part(start, end, self._chosen(infos), frozenset(name for name, count in counts.items() if count))

    def _chosen(self, infos: Sequence[FieldInfo]) -> FieldMap:
        """Roles of one file; the user's own choice holds where the file has that field."""
        present = {info.name for info in infos if info.coverage}
        wished = {role: name for role, name in self._overrides.items() if name in present}
        return resolve(infos, wished, ALONE)

    def _distinct(self, ident: str, where: str) -> tuple[str, ...]:
        rows = self._connection.execute(
            f"SELECT {ident} FROM logs{where} AND {ident} IS NOT NULL "
            f"GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT {_DISTINCT}"
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


def _idents(columns: Sequence[_Column]) -> dict[str, str]:
    return {column.name: column.ident for column in columns}


def _sample(path: Path, shapes: Sequence[Shape]) -> None:
    """Learn the shapes from a small file, or from chunks spread evenly over a large one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= _CHUNKS * _CHUNK_BYTES:
            _learn_lines(file.read().split(b"\n"), shapes)
            return
        for index in range(_CHUNKS):
            file.seek(index * (size - _CHUNK_BYTES) // (_CHUNKS - 1), os.SEEK_SET)
            lines = file.read(_CHUNK_BYTES).split(b"\n")
            _learn_lines(lines[bool(index) : -1], shapes)


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


def _learn_lines(lines: Iterable[bytes], shapes: Sequence[Shape]) -> None:
    for line in lines:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            for shape in shapes:
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
        path = literal(f"$.{_json_key(key)}")
        if child.nested:
            _mixed_below(child, f"{name}.{key}", f"{sql} -> {path}", sources)
        else:
            sources.setdefault(f"{name}.{key}", []).append(f"{sql} ->> {path}")


def _mixed_below(shape: Shape, name: str, sql: str, sources: dict[str, list[str]]) -> None:
    for key, child in shape.children.items():
        path = literal(f"$.{_json_key(key)}")
        if child.nested:
            _mixed_below(child, f"{name}.{key}", f"({sql}) -> {path}", sources)
        else:
            sources.setdefault(f"{name}.{key}", []).append(f"({sql}) ->> {path}")


def _reader_columns(shape: Shape, own: Shape | None) -> str:
    """Keys to read, spelled as this file spells them: it may differ in case from the file before."""
    inner = ", ".join(
        f"{literal(_spelled(own, key))}: {literal(_reader_type(child, _below(own, key)))}"
        for key, child in shape.children.items()
    )
    return f"{{{inner or literal(LINE) + ': ' + literal('VARCHAR')}}}"


def _reader_type(shape: Shape, own: Shape | None) -> str:
    if shape.nested:
        inner = (
            f"{quoted(_spelled(own, key))} {_reader_type(child, _below(own, key))}"
            for key, child in shape.children.items()
        )
        return f"STRUCT({', '.join(inner)})"
    return "JSON" if shape.mixed else "VARCHAR"


def _spelled(own: Shape | None, key: str) -> str:
    if own is None or key in own.children or key.lower() not in own.spelled:
        return key
    return next(name for name in own.children if name.lower() == key.lower())


def _below(own: Shape | None, key: str) -> Shape | None:
    return own.children.get(_spelled(own, key)) if own else None


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


def _own(whole: Sequence[FieldInfo], shape: Shape, columns: Sequence[_Column]) -> list[FieldInfo]:
    """What one of several files tells of the fields; of those that its sample lacks, what all files tell."""
    seen: dict[str, Shape] = {}
    _flatten(shape, "", seen)
    own = {info.name: info for info in _infos(shape, [column for column in columns if column.name in seen])}
    return [own.get(info.name, replace(info, coverage=0.0)) for info in whole]


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


def _json_key(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
