"""What a key may do beyond reading, where the server tells (security.md 8)."""

from collections.abc import Sequence

from logagent.errors import SourceError
from logagent.stores._transport import ReadOnlyTransport

_OF_INDICES = (
    "write", "index", "create", "create_doc", "delete", "create_index", "delete_index", "manage", "all",
)  # fmt: skip
_OF_CLUSTER = ("manage", "manage_security", "manage_api_key", "manage_index_templates", "all")


def beyond_reading(transport: ReadOnlyTransport, indices: Sequence[str]) -> tuple[str, ...] | None:
    """Privileges of the key that write or manage; None where the server cannot be asked (OpenSearch, no security)."""
    body = {
        "cluster": list(_OF_CLUSTER),
        "index": [{"names": list(indices), "privileges": list(_OF_INDICES)}],
    }
    try:
        answer = transport.call("POST", "/_security/user/_has_privileges", what="rights", body=body).body
    except SourceError:
        return None
    cluster, index = answer.get("cluster"), answer.get("index")
    if not isinstance(cluster, dict) or not isinstance(index, dict):
        return None
    found = [f"cluster:{name}" for name, held in cluster.items() if held is True]
    held = {name for rights in index.values() if isinstance(rights, dict) for name, has in rights.items() if has}
    return (*found, *(name for name in _OF_INDICES if name in held))
