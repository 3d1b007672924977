"""Plugins are found by file: every public module of a plugin package is one plugin, there is no list to edit."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def modules(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """The public modules of `package` with their names, in order of name; underscore modules are machinery.

    A module is imported when the iterator reaches it, so a caller that stops early pays for no more.
    """
    for name in names(package):
        yield name, importlib.import_module(f"{package.__name__}.{name}")


def names(package: ModuleType) -> tuple[str, ...]:
    """Names of the plugins of `package`, sorted, without importing any of them."""
    found = (info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))
