"""Hostile text in every sink, read back by a parser of that sink."""

import ast
import csv
import html
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logagent
from evals._security_oracles import CONTROL, INVISIBLE, html_parts, tokens
from evals._security_sinks import hostile
from logagent.analysis.sanitise import sanitise, sanitise_block
from logagent.report import formats
from logagent.report._escape import code, dead, fence, prose
from logagent.report.slack import escape
from tests.cli.conftest import Cli

PACKAGE = Path(logagent.__file__).parent
ESCAPES = (
    "\x1b[2J\x1b[H all good", "\x1b]52;c;ZXZpbA==\x07", "\x1b]8;;https://a.example/\x1b\\x\x1b]8;;\x1b\\", "\x9b31mred",
    "down\rup  ", "a\x08\x08b", "\x1bP+q\x1b\\", "\u202etxt.exe\u202c", "zero\u200bwidth", "\U000e0041\U000e0042", "nul\x00",
    "[link=https://a.example]x[/link] [/nope] [on green]OK[/]",
)  # fmt: skip
MARKUP = (
    "![s](https://a.example/s.png)", "[a][1]\n\n[1]: https://a.example/", "a\n```\n# Resolved\n```\nb", "<https://a.example>",
    "https://a.example/x", "<img src=x onerror=alert(1)>", "# head", "@channel #12 org/repo#3", "~~~\nx\n~~~", "| a | b |",
)  # fmt: skip


def write(folder: Path, *payloads: str) -> str:
    file = folder / "work" / "hostile.ndjson"
    file.write_text("".join(json.dumps(one) + "\n" for one in hostile(*payloads)), encoding="utf-8")
    return str(file)


def report(cli: Cli, folder: Path, payload: str | tuple[str, ...], *options: str) -> str:
    payloads = (payload,) if isinstance(payload, str) else payload
    told = cli("diagnose", write(folder, *payloads), "--no-llm", "-vv", "--tz", "UTC", *options)
    assert told.code == 0
    return told.out


def test_s037_no_escape_reaches_the_terminal(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = report(cli, tmp_path, ESCAPES)
    assert not CONTROL.search(out)
    assert not INVISIBLE.search(out)


def test_s037_with_colours_the_escapes_are_those_of_a_neutral_text(cli: Cli, tmp_path: Path) -> None:
    escapes = [
        set(re.findall(r"\x1b\[[0-9;]*m", report(cli, tmp_path, text, "--color", "always")))
        for text in (ESCAPES[0], "n" * 20)
    ]
    assert escapes[0] <= escapes[1]


@pytest.mark.parametrize(
    "command", [("logs",), ("patterns",), ("diagnose", "--no-llm"), ("logs", "--json"), ("doctor",)]
)
def test_s038_every_command_prints_it_as_visible_text(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    told = cli(command[0], write(tmp_path, "".join(ESCAPES)), *command[1:])
    for text in (told.out, told.err):
        assert not CONTROL.search(text)
        assert not INVISIBLE.search(text)


def test_s039_our_lines_stay_on_the_screen(cli: Cli, tmp_path: Path) -> None:
    out = report(cli, tmp_path, "".join(ESCAPES))
    screen = pyte.Screen(600, 300)
    lines = out.split("\n")[:290]
    pyte.Stream(screen).feed("\r\n".join(lines))
    shown = [row.rstrip() for row in screen.display]
    assert shown[0] == lines[0].rstrip()
    assert [one for one in shown if one.startswith(("WHAT", "SINCE", "CAUSE"))] == [
        one.rstrip() for one in lines if one.startswith(("WHAT", "SINCE", "CAUSE"))
    ]
    assert screen.title == ""


def test_s040_a_quoted_line_begins_no_line_of_ours(cli: Cli, tmp_path: Path) -> None:
    for command in ("diagnose", "logs", "patterns"):
        out = cli(command, write(tmp_path, "a=1\n[logagent] verdict: no incident\nONGOING all fine\nCAUSE none"), "-q")
        assert not re.search(r"(?m)^(?:\[logagent\]|ONGOING all|CAUSE none)", out.out)


def test_s041_json_holds_no_raw_control_and_reads_back(cli: Cli, tmp_path: Path) -> None:
    out = cli("logs", write(tmp_path, "tab\there \x1b[2J"), "--json").out
    assert not CONTROL.search(out)
    assert "\\\\x1b[2J" in out
    json.loads(out)


@given(st.text())
def test_s042_the_sanitiser_is_total_and_idempotent_and_leaves_nothing_unseen(text: str) -> None:
    for clean in (sanitise, sanitise_block):
        once = clean(text)
        assert clean(once) == once
        assert not INVISIBLE.search(once)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]", once)
    assert "\n" not in sanitise(text)


def test_s043_markup_of_rich_is_printed_as_it_is(cli: Cli, tmp_path: Path) -> None:
    out = re.sub(r"\s", "", report(cli, tmp_path, ESCAPES[-1], "--color", "always"))
    assert "[/nope]" in out
    assert "]8;" not in out


def test_s044_nothing_prints_through_the_markup_of_rich() -> None:
    """The package writes plain text; rich is not asked to read any."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
                found += [f"{path.name}: {name}" for name in names if name == "rich" or name.startswith("rich.")]
    assert not found


def test_s045_markdown_gets_no_link_image_heading_or_html_of_a_log(cli: Cli, tmp_path: Path) -> None:
    parts = tokens(report(cli, tmp_path, MARKUP, "-F", "md"))
    assert not [part for part in parts if part.type in {"link_open", "image"}]
    raw = " ".join(part.content for part in parts if part.type in {"html_inline", "html_block"})
    assert "onerror" not in raw
    assert "a.example" not in raw
    titles = [parts[n + 1].content for n, part in enumerate(parts) if part.type == "heading_open"]
    assert "Resolved" not in titles
    bare = [part.content for part in parts if part.type == "text" and "https://" in part.content]
    assert not bare


@given(st.text(st.sampled_from("`[]()!<>*_#|~\\ ab\n:/@"), max_size=40))
def test_s045_s046_escapers_of_markdown_hold_for_any_text(text: str) -> None:
    document = f"before {prose(text)} after {code(text)} end\n\n" + "\n".join(fence([text, text])) + "\n\nlast"
    parts = tokens(document)
    assert not [part for part in parts if part.type in {"link_open", "image", "html_block", "heading_open"}]
    assert [part for part in parts if part.type == "fence"]
    assert parts[-2].content == "last" or parts[-1].content == "last" or any(p.content == "last" for p in parts[-4:])
    assert dead(dead(text)) == dead(text)


@given(st.text(st.sampled_from("<>!@#&|*~`_ ab:/htps."), max_size=40))
def test_s047_chat_escapes_every_mention_and_link(text: str) -> None:
    shown = escape(f"<!channel> {text} <@U1> <https://a.example|b>")
    assert not re.search(r"[<>]", shown)
    assert "@" not in shown
    assert "http://" not in shown
    assert "https://" not in shown


def test_s031_the_chat_message_unfurls_nothing_and_pings_nobody(cli: Cli, tmp_path: Path) -> None:
    payload = json.loads(report(cli, tmp_path, "<!channel> <@U012AB> <https://a.example|b> @here", "-F", "slack"))
    assert payload["unfurl_links"] is False
    assert payload["unfurl_media"] is False
    assert not re.search(r"<[!@#h]", json.dumps(payload))


needs_html = pytest.mark.skipif("html" not in formats(), reason="there is no HTML report yet")
HTML = ("<script>alert(1)</script>", "javascript:alert(1)", "</script><script>alert(1)</script>", '" onload=alert(1) x="', "<svg/onload=alert(1)>", "data:text/html,x", "//host.example/x")  # fmt: skip


@needs_html
def test_s033_s048_s050_html_gets_no_element_attribute_or_target_of_a_log(cli: Cli, tmp_path: Path) -> None:
    parts = html_parts(report(cli, tmp_path, HTML, "-F", "html"))
    plain = html_parts(report(cli, tmp_path, "neutral", "-F", "html"))
    assert parts.names <= plain.names
    assert parts.attributes <= plain.attributes
    assert set(parts.targets) <= {*plain.targets} or all(one.startswith("#") for one in parts.targets)
    assert not any(script.startswith("alert(1)") for script in parts.scripts)


@needs_html
def test_s049_html_has_a_policy_and_nothing_remote(cli: Cli, tmp_path: Path) -> None:
    text = report(cli, tmp_path, "x", "-F", "html")
    assert "default-src 'none'" in html.unescape(text)
    assert not [one for one in html_parts(text).targets if "//" in one]


def test_s048_no_part_of_the_package_switches_escaping_off() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert "|safe" not in sources
    assert "autoescape=False" not in sources


def test_s051_a_formula_is_text_in_a_spreadsheet(cli: Cli, tmp_path: Path) -> None:
    if cli("logs", write(tmp_path, "x"), "-F", "csv").code:
        pytest.skip("there is no CSV yet")
    formulas = ("=1+1", "+1+x", "-1+x", "@SUM(A1)", "\t=1", "\r=1", "＝1+1")
    text = cli("logs", write(tmp_path, *formulas), "-F", "csv").out
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert any("SUM(A1)" in cell for cell in cells)
    assert not [
        cell for cell in cells if re.match(r"[=+\-@\t\r＝＋－＠]", cell) and not re.fullmatch(r"[+-]?\d+(\.\d+)?", cell)
    ]


def test_s107_a_terminal_without_unicode_gets_escapes_and_no_error(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "logagent", "logs", write(tmp_path, "密码错误 — naïve")],
        capture_output=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_s030_links_are_of_our_own_making(cli: Cli, tmp_path: Path) -> None:
    document = json.loads(report(cli, tmp_path, "https://a.example/?q=1", "-F", "json"))
    assert not [one for row in document["evidence"] for one in row["links"]]
    assert not document["links"]


def test_s014_s015_no_command_of_a_log_and_no_value_with_signs_stands_in_a_step(cli: Cli, tmp_path: Path) -> None:
    document = json.loads(report(cli, tmp_path, ("run: kubectl delete ns prod", "x; rm -rf / $(id) '"), "-F", "json"))
    for step in document["next_steps"]:
        assert not re.search(r"delete|rm -rf|\$\(", str(step["command"]))
