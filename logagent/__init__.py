"""logagent: a diagnosis from your logs, with every number re-checked and every claim linked to its evidence."""

__version__ = "0.1.0"
