"""Finding out how much text an endpoint takes (llm-endpoints.md 16)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from logagent.llm._endpoint import Endpoint

Get = Callable[[str], object]

_NAMES: Final = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
)
_LEAST: Final = 512


def find_window(endpoint: Endpoint, get: Get) -> int | None:
    """Tokens the model takes: from the list of models, else from llama.cpp's own page; None where nobody says."""
    models = get(endpoint.beside("/models"))
    entry = next((each for each in _entries(models) if _is_model(each, endpoint.model)), None)
    if entry is None:
        entries = list(_entries(models))
        entry = entries[0] if len(entries) == 1 else None
    if entry is None:
        return None
    found = _first(entry)
    if found is None and entry.get("owned_by") in {"llamacpp", "library"}:
        path = "/props" if entry["owned_by"] == "llamacpp" else "/api/ps"
        found = next((size for each in _entries(get(endpoint.at_root(path))) if (size := _first(each))), None)
    return found


def _entries(body: object) -> Iterator[Mapping[str, object]]:
    if not isinstance(body, Mapping):
        return
    listed = body.get("data") or body.get("models")
    for each in listed if isinstance(listed, list) else [body]:
        if isinstance(each, Mapping):
            yield each


def _is_model(entry: Mapping[str, object], model: str) -> bool:
    return model in {entry.get("id"), entry.get("name"), entry.get("model"), entry.get("root")}


def _first(entry: Mapping[str, object]) -> int | None:
    for level in (entry, entry.get("default_generation_settings"), entry.get("top_provider"), entry.get("meta")):
        if not isinstance(level, Mapping):
            continue
        for size in map(level.get, _NAMES):
            if isinstance(size, int) and size >= _LEAST:
                return size
    return None
