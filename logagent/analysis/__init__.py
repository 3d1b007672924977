"""What the logs show, as pure functions: no clock, no network, no files."""
