"""Redaction as a type: only text of this type may reach a model."""

from typing import NewType

ModelText = NewType("ModelText", str)
"""Text a model may see: redacted and sanitised. Raw text in its place is a type error, so every leak is found."""
