"""DuckDB's compiled core: what `import duckdb` re-exports, without its relational API, which is half of the import.

Imported inside functions only: 0.05 s that other stores need not pay.
"""

try:
    from _duckdb import DuckDBPyConnection, Error, InvalidInputException, __version__, connect
except ImportError:  # the core has had another name, and may have one again
    from duckdb import DuckDBPyConnection, Error, InvalidInputException, __version__, connect

__all__ = ["DuckDBPyConnection", "Error", "InvalidInputException", "__version__", "connect"]
