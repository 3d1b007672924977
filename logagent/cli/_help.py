"""Help pages: examples first, then the options by group (ux.md 2.12)."""

import textwrap
from typing import Any

from logagent.texts import Catalogue

ORDER = (
    "diagnose",
    "ask",
    "demo",
    "patterns",
    "compare",
    "watch",
    "logs",
    "trace",
    "show",
    "verify",
    "cases",
    "doctor",
    "config",
    "tools",
    "explain",
)
"""Commands as the help lists them: what is done most often first."""
MAIN = ("diagnose", "ask", "demo", "patterns", "logs", "doctor")
"""The ones that `logagent` alone describes."""

_GROUPS = ("cases", "config")
"""Commands with subcommands, which have pages of their own."""

_WIDTH = 80
_EXAMPLES = {
    "": ("logagent demo", "kubectl logs deploy/order-api --since=1h | logagent diagnose -"),
    "diagnose": (
        "logagent diagnose                                  # last 30 minutes, everything in the profile",
        "logagent diagnose order-api --since 2h",
        "logagent diagnose --at 14:05 --env prod --lang zh-CN",
        "logagent diagnose /var/log/app/*.log --no-llm",
        "kubectl logs deploy/order-api --since=1h | logagent diagnose -",
        "logagent diagnose --json --exit-code -q > d.json",
    ),
    "ask": (
        'logagent ask "what broke in the order service?"',
        'logagent ask "anything unusual between 2 and 3 last night?" app.log',
        'logagent ask "这是新问题还是一直都有？" --case last',
    ),
    "demo": (
        "logagent demo",
        "logagent demo vanished-heartbeat",
        "logagent demo all-quiet --lang zh-CN",
        "logagent demo injected --json",
    ),
    "patterns": (
        "logagent patterns payment-api --since 1h --only new,vanished",
        "logagent patterns app.log --format jsonl",
    ),
    "compare": (
        "logagent compare 'now-1h..now-30m' 'now-30m..now'",
        "logagent compare --before 14:05 --after 14:05 app.log",
        "logagent compare --by host.name web-1 web-2",
        "logagent compare good.log bad.log",
    ),
    "trace": (
        "logagent trace 4bf92f3577b34da6a3ce929d0e0e4736",
        "logagent trace req-8812 app.log --format json",
    ),
    "watch": (
        "logagent watch order-api --interval 30s",
        "logagent watch app.log --format jsonl --rounds 10 --exit-code",
    ),
    "logs": (
        "logagent logs order-api --since 10m -f 'level>=error'",
        "logagent logs app.log --order newest --limit 20",
        "logagent logs --case last E4                       # the lines behind a piece of evidence",
    ),
    "show": (
        "logagent show last",
        "logagent show last E4",
        "logagent show last -o report.json",
        "logagent show last --steps                         # what the model did, step by step",
        "logagent show last --replay                        # the same again from the transcript alone",
    ),
    "tools": ("logagent tools", "logagent tools --json"),
    "verify": ("logagent verify last", "logagent verify 20261130-1431-7f3a"),
    "cases": ("logagent cases list", "logagent cases rm 20261130-1431-7f3a"),
    "doctor": (
        "logagent doctor",
        "logagent doctor --only es,llm",
        "logagent doctor --print-role 'logs-payment-*'",
        "logagent doctor app.log",
    ),
    "config": (
        "logagent config show --origin                      # what counts, and where it comes from",
        "logagent config show es.url --origin",
        "logagent config set es.ca_cert ~/http_ca.crt",
        "logagent config path",
        "logagent config validate",
        "logagent config schema > logagent.schema.json",
        "logagent config trust ./.logagent.toml",
    ),
    "explain": ("logagent explain LA303",),
}


def short_overview(texts: Catalogue) -> str:
    """What `logagent` alone prints: twelve lines with two examples."""
    say = texts.say
    lines = [say("cli.help.tagline"), ""]
    lines += [f"  {name:<9} {say(f'cli.commands.{name}')}" for name in MAIN]
    others = "  ".join(name for name in ORDER if name not in MAIN)
    lines += _wrapped(f"  {say('cli.help.also')}  ", f"{others}  --help")
    lines += [f"{say('cli.help.examples')}:  {_EXAMPLES[''][0]}", f"  {_EXAMPLES[''][1]}"]
    return "\n".join(lines)


def _wrapped(label: str, names: str) -> list[str]:
    """Names in lines of at most 80 columns behind a label."""
    from wcwidth import wcswidth  # noqa: PLC0415

    columns = max(0, wcswidth(label))
    found = textwrap.wrap(names, _WIDTH - columns)
    return [f"{' ' * columns if number else label}{line}" for number, line in enumerate(found)]


def overview(texts: Catalogue) -> str:
    """What `logagent --help` prints: all commands."""
    say = texts.say
    lines = [say("cli.help.tagline"), ""]
    lines += [f"  {name:<9} {say(f'cli.commands.{name}')}" for name in ORDER]
    lines += ["", f"{say('cli.help.examples')}:  {_EXAMPLES[''][0]}", f"  {_EXAMPLES[''][1]}", say("cli.help.more")]
    return "\n".join(lines)


def format_command(command: Any, ctx: Any, formatter: Any, texts: Catalogue) -> None:
    """Write the help page of one command into typer's formatter."""
    name = ctx.command_path.removeprefix("logagent").split()
    key = name[0] if name else ""
    say = texts.say
    formatter.write_usage(ctx.command_path, " ".join(command.collect_usage_pieces(ctx)), f"{say('cli.help.usage')}: ")
    formatter.write_paragraph()
    is_whole = len(name) == 1 or key not in _GROUPS
    formatter.write_text(say(f"cli.commands.{key}") if is_whole else command.help or "")
    with formatter.section(say("cli.help.examples")):
        for example in _EXAMPLES.get(key, ()):
            if not is_whole and not example.startswith(ctx.command_path):
                continue
            formatter.write(f"{'':>{formatter.current_indent}}{example}\n")
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        is_argument = parameter.param_type_name == "argument"
        record = (parameter.metavar, parameter.help or "") if is_argument else parameter.get_help_record(ctx)
        if record is None:
            continue
        default = "cli.help.arguments" if is_argument else "cli.help.options"
        panel = getattr(parameter, "rich_help_panel", None)
        groups.setdefault(panel if isinstance(panel, str) else say(default), []).append(record)
    for subcommand in getattr(command, "commands", {}).values():
        groups.setdefault(say("cli.help.commands"), []).append((subcommand.name, subcommand.help or ""))
    for title, records in groups.items():
        with formatter.section(title):
            formatter.write_dl(records)
