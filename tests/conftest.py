"""Fixtures for all tests."""

from tests.nodes.plugin import node, node_pool, prefix

__all__ = ["node", "node_pool", "prefix"]
