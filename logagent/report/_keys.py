"""Names of patterns that survive between runs: a hash of whose line it is and of its text."""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logagent.diagnosis import Pattern


def pattern_key(one: "Pattern") -> str:
    """Eight hexadecimal digits; the same for the same services and template, whatever its P id or count."""
    services = ",".join(sorted(one.fields.get("service.name", [])))
    return hashlib.sha256(f"{services}\0{one.template}".encode()).hexdigest()[:8]
