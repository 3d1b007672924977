"""Fixtures for all tests, and one profile for property tests: the same examples on every run, no stop-watch."""

from hypothesis import settings

from tests.nodes.plugin import node, node_pool, prefix

__all__ = ["node", "node_pool", "prefix"]

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
