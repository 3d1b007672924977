"""Which pins have a known hole, without a network: `python -m supply.audit ADVISORIES [LOCK]`.

ADVISORIES is a folder of OSV documents (`*.json`), as `osv.dev` exports them for PyPI: fetch it where there is a
network, audit where there is none. Exit 1 where a pin is hit, 0 where none is; a folder without documents is refused.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from supply.lock import ROOT, Pin, normal, pins


def main(arguments: Sequence[str]) -> int:
    """Print one line for each hit."""
    if not arguments or not (files := sorted(Path(arguments[0]).glob("*.json"))):
        print("supply.audit needs a folder of OSV documents", file=sys.stderr)
        return 2
    path = Path(arguments[1]) if len(arguments) > 1 else ROOT / "requirements" / "runtime.txt"
    found = list(pins(path))
    hits = [line for file in files for line in affected(json.loads(file.read_text(encoding="utf-8")), found)]
    print("\n".join(hits) or f"{len(found)} pins, {len(files)} advisories: nothing known")
    return 1 if hits else 0


def affected(advisory: Mapping[str, Any], found: Sequence[Pin]) -> Iterator[str]:
    """`name version id` of each pin that an advisory is about."""
    if advisory.get("withdrawn"):
        return
    for part in advisory.get("affected", ()):
        package = part.get("package", {})
        for pin in found:
            named = package.get("ecosystem") == "PyPI" and normal(str(package.get("name"))) == pin.name
            if named and _is_hit(part, pin.version):
                yield f"{pin.name} {pin.version} {advisory.get('id')}"


def _is_hit(part: Mapping[str, Any], version: str) -> bool:
    if version in part.get("versions", ()):
        return True
    return any(_within(span.get("events", ()), version) for span in part.get("ranges", ()) if span.get("type") != "GIT")


def _within(events: Sequence[Mapping[str, str]], version: str) -> bool:
    """Whether a version lies between an `introduced` and the `fixed` or `last_affected` behind it."""
    try:
        own, inside = Version(version), False
        for event in events:
            if "introduced" in event:
                inside = inside or event["introduced"] == "0" or own >= Version(event["introduced"])
            elif ("fixed" in event and own >= Version(event["fixed"])) or (
                "last_affected" in event and own > Version(event["last_affected"])
            ):
                inside = False
    except InvalidVersion:
        return False
    return inside


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
