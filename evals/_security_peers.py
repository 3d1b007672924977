"""Other redactors over the same lines, as far as they are installed: recall on secrets, damage to look-alikes."""

import importlib
import re
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from logagent.analysis.redact import secrets

Finder = Callable[[str], list[tuple[int, int]]]
_COVERED = 0.9
_PERSONAL = frozenset({"email", "credit_card", "iban", "phone", "ssn", "national_id", "ip_public"})


def compare(
    positives: Sequence[Mapping[str, Any]], negatives: Sequence[Mapping[str, Any]], rules: Path | None
) -> list[dict[str, Any]]:
    """One row a tool: credentials, personal data, look-alikes damaged, milliseconds a line; or why it did not run."""
    tools: dict[str, Callable[[], Finder]] = {
        "logagent": lambda: lambda text: [(hit.start, hit.end) for hit in secrets(text)],
        "detect-secrets": _detect_secrets,
        "gitleaks rules": lambda: _gitleaks(rules),
        "presidio (patterns)": _presidio,
        "scrubadub": _scrubadub,
        "datafog": _datafog,
    }
    return [_measured(name, make, positives, negatives) for name, make in tools.items()]


def _measured(
    name: str,
    make: Callable[[], Finder],
    positives: Sequence[Mapping[str, Any]],
    negatives: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    try:
        find = make()
    except (ImportError, OSError, ValueError, AttributeError) as error:
        return {"tool": name, "absent": str(error) or "not given"}
    began = time.perf_counter()
    shares = {"credentials": [0, 0], "personal": [0, 0]}
    for row in positives:
        share = shares["personal" if row["type"] in _PERSONAL else "credentials"]
        share[1] += 1
        share[0] += all(_covers(find(row["text"]), span["start"], span["end"]) for span in row["spans"])
    damaged = sum(_damages(find(row["text"]), row) for row in negatives)
    lines = len(positives) + len(negatives)
    return {
        "tool": name,
        **{kind: {"right": right, "of": of} for kind, (right, of) in shares.items()},
        "damaged": {"right": damaged, "of": len(negatives)},
        "ms_per_line": round(1000 * (time.perf_counter() - began) / max(1, lines), 3),
    }


def _covers(hits: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    inside = sum(any(first <= at < last for first, last in hits) for at in range(start, end))
    return inside >= _COVERED * (end - start)


def _damages(hits: Sequence[tuple[int, int]], row: Mapping[str, Any]) -> bool:
    text = row["text"]
    places = [(text.find(literal), text.find(literal) + len(literal)) for literal in row["must_survive"]]
    return any(first < end and start < last for first, last in hits for start, end in places)


def _everywhere(text: str, value: str) -> list[tuple[int, int]]:
    return [(match.start(), match.end()) for match in re.finditer(re.escape(value), text)] if value else []


def _detect_secrets() -> Finder:
    scan = importlib.import_module("detect_secrets.core.scan")
    settings = importlib.import_module("detect_secrets.settings")

    def find(text: str) -> list[tuple[int, int]]:
        with settings.default_settings():
            found = [one for line in text.splitlines() for one in scan.scan_line(line)]
        return [span for one in found for span in _everywhere(text, one.secret_value or "")]

    return find


def _gitleaks(path: Path | None) -> Finder:
    """Its rules by Python's `re`; those that it cannot read are left out, like keywords and allow-lists of paths."""
    if path is None:
        raise ValueError("--gitleaks names no file")
    rules = tomllib.loads(path.read_text(encoding="utf-8"))["rules"]
    patterns = []
    for rule in rules:
        try:
            plain = re.sub(r"\\z", r"\\Z", re.sub(r"\[\[:(\w+):\]\]", r"[\\w]", rule["regex"]))
            patterns.append((tuple(rule.get("keywords", ())), re.compile(plain)))
        except (KeyError, re.error):
            continue

    def find(text: str) -> list[tuple[int, int]]:
        lower = text.lower()
        called = [rule for words, rule in patterns if not words or any(word.lower() in lower for word in words)]
        hits = (match for rule in called for match in rule.finditer(text))
        return [match.span(1 if match.re.groups and match[1] else 0) for match in hits]

    return find


def _presidio() -> Finder:
    predefined = importlib.import_module("presidio_analyzer.predefined_recognizers")
    names = ("CreditCardRecognizer", "IbanRecognizer", "IpRecognizer", "UsSsnRecognizer", "CryptoRecognizer")
    recognisers = [getattr(predefined, name)() for name in names]

    def find(text: str) -> list[tuple[int, int]]:
        hits = (hit for one in recognisers for hit in one.analyze(text, one.supported_entities, None) or [])
        return [(hit.start, hit.end) for hit in hits if hit.score >= 0.4]

    return find


def _scrubadub() -> Finder:
    scrubber = importlib.import_module("scrubadub").Scrubber()
    return lambda text: [(one.beg, one.end) for one in scrubber.iter_filth(text)]


def _datafog() -> Finder:
    annotator = importlib.import_module("datafog.processing.text_processing.regex_annotator.regex_annotator")
    made = annotator.RegexAnnotator()

    def find(text: str) -> list[tuple[int, int]]:
        found = (one for values in made.annotate(text).values() for one in values)
        return [span for one in found for span in _everywhere(text, one)]

    return find


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The comparison as lines."""
    lines = []
    for row in rows:
        if "absent" in row:
            lines.append(f"{row['tool']:20} not run: {row['absent'][:80]}")
            continue
        shown = "  ".join(
            f"{name} {row[name]['right']}/{row[name]['of']}" for name in ("credentials", "personal", "damaged")
        )
        lines.append(f"{row['tool']:20} {shown}  {row['ms_per_line']} ms a line")
    return lines
