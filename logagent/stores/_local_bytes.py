# ruff: noqa: S608 - the one name is a file of ours
"""Bytes of log files: compression and encoding, told by content and not by name."""

import bz2
import gzip
import io
import lzma
import os
import shutil
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from logagent.errors import StoreUnavailable
from logagent.expressions import expression
from logagent.stores._local_interrupt import interruptibly

_ZSTD, _SKIPPABLE = b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"
_BLOCK = 1 << 20
_HEAD = 1 << 18
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    _ZSTD: "zstd",
    b"\xfd7zXZ\x00": "xz",
}
_OPEN: Mapping[str, Callable[[Path], io.BufferedIOBase]] = {
    "gzip": gzip.GzipFile,
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}
_WIDE = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_FEW = 0.3
_ZEROS = expression(rb"\x00{16,}")
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\x1b\x0c\x08")


def compression_of(path: Path) -> str:
    """gzip, bzip2, zstd, xz or "", by the first bytes."""
    with path.open("rb") as file:
        head = file.read(6)
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


def decompress(source: Path, target: Path, compression: str) -> str:
    """Write the plain bytes; the answer says where the stream is broken, or is "".

    Raises:
        StoreUnavailable: LA307, nothing can be read.
    """
    if compression == "zstd":
        return _zstd(source, target)
    written = 0
    with target.open("wb") as out:
        try:
            with _OPEN[compression](source) as stream:
                while block := _next_block(stream):
                    written += out.write(block)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if not written:
                raise StoreUnavailable(
                    f"cannot read {source.name} (broken {compression})",
                    code="LA307",
                    values={"path": source.name, "reason": f"broken {compression} file"},
                ) from error
            return f"the {compression} stream breaks off after {written:,} bytes"
    return ""


def _next_block(stream: io.BufferedIOBase) -> bytes:
    """Small blocks, so that little before a break is lost."""
    return stream.read1(_BLOCK)


def _zstd(source: Path, target: Path) -> str:
    """DuckDB has the decoder that Python has only from 3.14 on."""
    from logagent.stores import _duckdb as duckdb  # noqa: PLC0415 - 0.05 s that other stores need not pay

    link = target.with_suffix(".zst")
    link.symlink_to(source.absolute())
    try:
        with duckdb.connect(":memory:") as connection:
            copy = (
                "COPY (SELECT line FROM read_csv(?, columns={'line': 'VARCHAR'}, delim=E'\\x01', quote='', escape='', "
                "header=false, auto_detect=false, max_line_size=64000000, null_padding=true, compression='zstd', "
                "parallel=false)) TO '" + str(target).replace("'", "''") + "' "
                "(FORMAT csv, HEADER false, DELIMITER E'\\x01', QUOTE '', ESCAPE '')"
            )
            interruptibly(connection, lambda: connection.execute(copy, [str(link)]))
    except duckdb.Error as error:
        raise StoreUnavailable(
            f"cannot read {source.name} (broken zstd)",
            code="LA307",
            values={"path": source.name, "reason": "broken zstd file"},
        ) from error
    return "the zstd stream breaks off" if _is_cut(source) else ""


def _is_cut(source: Path) -> bool:
    """Whether a file ends inside a zstd frame (RFC 8878, 3.1): the decoder of DuckDB does not say so."""
    with source.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(0)
        while head := file.read(4):
            if head[1:] == _SKIPPABLE:
                file.seek(int.from_bytes(file.read(4), "little"), os.SEEK_CUR)
            elif head == _ZSTD:
                _skip_frame(file)
            else:
                return len(head) < len(_ZSTD)  # what follows is no frame, and was not read either
            if file.tell() > end:
                return True
    return False


def _skip_frame(file: BinaryIO) -> None:
    """Go behind the frame whose magic number was read; behind the end of the file where that is cut."""
    flags = int.from_bytes(file.read(1) or b"\xff", "little")
    single, checked = flags >> 5 & 1, flags >> 2 & 1
    size = (single, 2, 4, 8)[flags >> 6]
    file.seek((0, 1, 2, 4)[flags & 3] + size + (not single), os.SEEK_CUR)
    last = False
    while not last:
        block = file.read(3)
        if len(block) < 3:  # noqa: PLR2004 - the head of a block
            file.seek(1, os.SEEK_END)
            return
        value = int.from_bytes(block, "little")
        last, kind = bool(value & 1), value >> 1 & 3
        file.seek(1 if kind == 1 else value >> 3, os.SEEK_CUR)
    file.seek(4 * checked, os.SEEK_CUR)


def decoded(source: Path, target: Path) -> str:
    """Which encoding the text has; what is not UTF-8 is written to `target` as UTF-8. "binary": no text at all."""
    with source.open("rb") as file:
        head = file.read(_HEAD)
    encoding = _encoding(head)
    if encoding in {"utf-8", "binary"}:
        return encoding
    with (
        source.open("r", encoding=encoding, errors="replace", newline="") as text,
        target.open("w", encoding="utf-8", newline="") as out,
    ):
        shutil.copyfileobj(text, out, _BLOCK)
    return encoding


def unwound(source: Path, target: Path) -> bool:
    """Whether lines end with a carriage return alone; such a text is written to `target` with line feeds."""
    with source.open("rb") as file:
        head = file.read(_HEAD)
    if b"\r" not in head or b"\n" in head:
        return False
    with (
        source.open("r", encoding="utf-8", errors="surrogateescape", newline=None) as text,
        target.open("w", encoding="utf-8", errors="surrogateescape", newline="") as out,
    ):
        shutil.copyfileobj(text, out, _BLOCK)
    return True


def _encoding(head: bytes) -> str:
    for mark, wide in _WIDE.items():
        if head.startswith(mark):
            return wide
    if b"\x00" in head:
        return _without_mark(head)
    sample = head[: head.rfind(b"\n") + 1] or head[:-4]
    if _is(sample, "utf-8"):
        return "utf-8" if len(head.translate(None, _CONTROLS)) >= len(head) * (1 - _FEW) else "binary"
    bad = sum(not _is(line, "utf-8") for line in sample.split(b"\n"))
    if bad <= max(1, sample.count(b"\n") // 10):
        return "utf-8"  # a few broken lines in a good file
    if len(head.translate(None, _CONTROLS)) < len(head) * 0.95:
        return "binary"
    return "gb18030" if _is(sample, "gb18030") else "latin-1"


def _without_mark(head: bytes) -> str:
    """UTF-16 of mostly Latin text has a zero in every second byte; other zeros mean a binary file."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2 or 1
    if odd > half * (1 - _FEW) and even < half * _FEW:
        return "utf-16-le"
    if even > half * (1 - _FEW) and odd < half * _FEW:
        return "utf-16-be"
    text = head.replace(b"\x00", b"")
    few = head.count(0) <= len(head) // 10_000 + 1 or _is_hole(head)
    return "utf-8" if few and _is(text[: text.rfind(b"\n") + 1] or text, "utf-8") else "binary"


def _is_hole(head: bytes) -> bool:
    """Zeros in long runs between text: a log that was cut to nothing while its writer kept its place."""
    return (
        bool(head.strip(b"\x00"))
        and len(_ZEROS.split(head)) - 1 <= head.count(b"\n")
        and not _ZEROS.sub(b"", head).count(0)
    )


def _is(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
