"""A CycloneDX 1.5 bill of materials, made from the lock alone: `python -m supply.sbom [LOCK] > sbom.json`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import logagent
from supply.licences import licence_of
from supply.lock import ROOT, Pin, pins


def main(arguments: Sequence[str]) -> int:
    """Print the bill of materials of a lock file, by default of what the package needs to run."""
    path = Path(arguments[0]) if arguments else ROOT / "requirements" / "runtime.txt"
    print(json.dumps(bill(list(pins(path))), indent=1))
    return 0


def bill(found: Sequence[Pin]) -> dict[str, Any]:
    """The document: one component a pin. It has no time and no serial number, so that equal locks give equal bytes."""
    own = {"type": "application", "name": "logagent", "version": logagent.__version__, "bom-ref": "logagent"}
    components = [_component(pin) for pin in found]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own | {"licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": components,
        "dependencies": [{"ref": "logagent", "dependsOn": [one["bom-ref"] for one in components]}],
    }


def _component(pin: Pin) -> dict[str, Any]:
    url = f"pkg:pypi/{pin.name}@{pin.version}"
    component: dict[str, Any] = {
        "type": "library",
        "name": pin.name,
        "version": pin.version,
        "purl": url,
        "bom-ref": url,
        "externalReferences": [
            {"type": "distribution", "url": url, "hashes": [{"alg": "SHA-256", "content": one} for one in pin.hashes]}
        ],
    }
    licence = licence_of(pin.name)
    return component | {"licenses": [{"expression": licence}]} if licence else component


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
