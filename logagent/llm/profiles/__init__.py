"""Vendor quirks as data: each module exports one `PROFILE` and is found by its file."""
