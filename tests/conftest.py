"""Fixtures for all tests, and one profile for property tests: the same examples on every run, no stop-watch."""

import signal

from hypothesis import settings

from tests.nodes.plugin import node, node_pool, prefix

__all__ = ["node", "node_pool", "prefix"]

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell starts what it puts into the background with Ctrl-C ignored; the tests of Ctrl-C would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
