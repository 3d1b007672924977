"""Log formats of files and standard input: lines in, records out. Every public module is one format."""

from logagent.formats._base import Event, Format, Parse, Sample, read_events, recognise

__all__ = ["Event", "Format", "Parse", "Sample", "read_events", "recognise"]
