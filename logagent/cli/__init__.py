"""The command line: one public module a command, each exporting `APP`; underscore modules are machinery.

Only here are typer and the terminal known. Modules import what is heavy inside their functions: `logagent --help` must
not pay for pydantic, duckdb or an HTTP client.
"""
