"""The environment itself, and the language it asks for; imports nothing heavy, since every help page needs it."""

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """The environment of the process; everything else gets it as an argument."""
    return os.environ  # noqa: TID251 - the one reader


def forgo_plugins() -> None:
    """No plugins of pydantic in this process: looking through all installed packages for one takes 0.1 s."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # noqa: TID251


def resolve_language(choice: str, environ: Mapping[str, str]) -> str:
    """`en` or `zh-CN` for `auto`, `en`, `zh`, `zh_CN.UTF-8` and so on; `auto` asks the locale variables."""
    for name in (choice, *(environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))):
        if name and name != "auto":
            return "zh-CN" if name.lower().startswith("zh") else "en"
    return "en"
