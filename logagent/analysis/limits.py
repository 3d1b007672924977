"""Thresholds that several signals share; analysis.md section 4 tells how each was set."""

from typing import Final

ALPHA: Final = 0.02
"""Significance per family of tests (steps, latency, counts), after Bonferroni-Tarone inside it."""
REACHABLE: Final = ALPHA / 10
"""Only tests that could reach this p are done (Tarone)."""
HIGH: Final = 0.8
"""Share of requests from which on a step is usual."""
LOW: Final = 0.2
"""Share of requests up to which a step is gone."""
RISE: Final = 0.5
"""Least change of a share."""
MIN_SIDE: Final = 4
"""Requests on either side of a change."""
MIN_FAIL: Final = 4
"""Failing lines that a test needs."""
ERROR: Final = 2
"""Severity class of templates from which on a line is an error (3: it also states a mechanism)."""
STATED: Final = 3
"""Severity class of templates whose lines state a mechanism."""
EVEN: Final = 2
"""A share times this above the whole is a majority."""
SMALL: Final = 50
"""Lines under which a window is too small for rates."""
EDGE: Final = 0.05
"""Share of the window that counts as the same time."""
