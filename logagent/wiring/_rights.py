"""A key that can do more than read: a warning, or the end where the user asked for that (LA204)."""

from logagent.diagnosis import Caveat
from logagent.errors import StoreDenied
from logagent.events import Notice, OnEvent
from logagent.settings import Settings
from logagent.stores._base import LogStore
from logagent.texts import Catalogue as Texts

_SHOWN = 6


def warn_of_rights(settings: Settings, store: LogStore, texts: Texts, on_event: OnEvent) -> Caveat | None:
    """Ask the server what the key may do; nothing where there is no key or the server does not tell.

    Raises:
        StoreDenied: LA204, the key can write, or nobody can tell, and `require_read_only` is set.
    """
    ask = getattr(store, "beyond_reading", None)
    if ask is None or not settings.es.has_credentials:
        return None
    found: tuple[str, ...] | None = ask()
    values: dict[str, object] = {"privileges": ", ".join(found[:_SHOWN])} if found else {}
    if settings.es.require_read_only and (found is None or found):
        told = f"can also {', '.join(found)}" if found else "cannot be checked on this server"
        raise StoreDenied(f"The API key {told}.", code="LA204", values=values)
    if not found:
        return None
    on_event(Notice("LA204", values))
    return Caveat(code="LA204", severity="warning", text=texts.error("LA204", values).title)
