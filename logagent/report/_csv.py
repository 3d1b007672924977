"""CSV that a spreadsheet opens as text: no cell is a formula."""

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""Also in full width: some spreadsheets read them alike."""


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A header and rows, RFC 4180 with line feeds. A text that a spreadsheet would compute gets an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name.lstrip("@") for name in head])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    """Numbers of ours stay numbers, also negative ones; texts of logs never become formulas.

    >>> _cell("=1+1"), _cell(-3)
    ("'=1+1", -3)
    """
    if value is None:
        return ""
    if isinstance(value, str) and (value.lstrip().startswith(_FORMULA) or value.startswith(("\t", "\r"))):
        return f"'{value}"
    return value
