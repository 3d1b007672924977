"""Output of `docker compose logs` and `kubectl logs --prefix`: the service's name, then its line."""

import re
from typing import Any

from logagent.expressions import expression
from logagent.formats import generic
from logagent.formats._base import Format, Parse, Sample
from logagent.formats.cri import carried

_LINE = expression(
    r"^(?:(?P<service>[\w.-]+?)(?:[-_](?P<number>\d+))?\s*\| ?"
    r"|\[pod/(?P<pod>[\w.-]+)/(?P<container>[\w.-]+)\] )(?P<text>.*)$",
    re.DOTALL,
)
_TIME = expression(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) ")


def _reader(sample: Sample) -> Parse:
    texts = [found["text"] for line in sample.lines if (found := _LINE.match(line))]
    stamped = generic.FORMAT.reader(Sample(texts, sample.now))

    def parse(line: str) -> dict[str, Any] | None:
        found = _LINE.match(line)
        if found is None or found["text"][:1] in {" ", "\t"}:
            return None
        text = found["text"]
        fields: dict[str, Any] = {"service.name": found["service"] or found["container"]}
        if found["pod"]:
            fields["kubernetes.pod.name"] = found["pod"]
        if time := _TIME.match(text):
            fields["@timestamp"] = time[1]
            text = text[time.end() :]
            return {**carried(text), **fields}
        if text.startswith("{"):
            return {**fields, **carried(text)}
        return {**fields, **(stamped(text) or carried(text))}

    return parse


FORMAT = Format("compose", "compose log", 25, _reader)
