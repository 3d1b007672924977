"""Licences of the locked distributions, as installed: `python -m supply.licences [LOCK]`."""

import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from supply.lock import ROOT, pins

ALLOWED = frozenset(
    "MIT MIT-0 BSD BSD-2-Clause BSD-3-Clause 0BSD Apache-2.0 ISC PSF-2.0 MPL-2.0 Unlicense CC0-1.0 CNRI-Python".split()  # noqa: SIM905 - a list of words reads best as words
)
"""MPL-2.0 covers files of its own and nothing of ours."""
_NAMES = (
    (r"\bmit\b", "MIT"), (r"apache", "Apache-2.0"), (r"mozilla|mpl", "MPL-2.0"), (r"\bisc\b", "ISC"),
    (r"python software foundation|psf", "PSF-2.0"), (r"unlicense", "Unlicense"),
    (r"\bbsd\b", "BSD-3-Clause"),
)  # fmt: skip


def licence_of(name: str) -> str:
    """SPDX expression of an installed distribution; "" where it is not installed or says nothing that is known."""
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    expression = told.get_all("License-Expression")
    if expression:
        return str(expression[0])
    words = [one.rpartition("::")[2] for one in told.get_all("Classifier") or () if one.startswith("License ::")]
    words += [str(one)[:200] for one in told.get_all("License") or ()]
    return next((spdx for word in words for form, spdx in _NAMES if re.search(form, word.lower())), "")


def strange(licence: str) -> list[str]:
    """Parts of an expression that are not on the list.

    >>> strange("MIT AND (Apache-2.0 OR GPL-3.0-only)")
    ['GPL-3.0-only']
    """
    parts = re.split(r"\s+(?:AND|OR|WITH)\s+|[()\s]+", licence)
    return [part for part in parts if part and part not in ALLOWED and not part.endswith("-exception")]


def main(arguments: Sequence[str]) -> int:
    """Print name, version and licence; 1 where one is not on the list."""
    path = Path(arguments[0]) if arguments else ROOT / "requirements" / "runtime.txt"
    rows = [(pin.name, pin.version, licence_of(pin.name)) for pin in pins(path)]
    print("\n".join(f"{name} {version} {licence or 'not installed here'}" for name, version, licence in rows))
    return 1 if any(strange(licence) for _, _, licence in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
