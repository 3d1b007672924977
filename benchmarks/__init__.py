"""Measurements: side by side, on generated data."""
