"""Entry point of the `logagent` command; the only place where any exception is caught."""

import gc
import sys

_COLLECT = 50_000
"""New objects between two runs of the garbage collector: events live to the end, and looking at them costs a tenth."""


def main() -> int:
    """Run the command line and give the exit status; a bug becomes LA801 and a crash file without log text."""
    gc.set_threshold(_COLLECT, 20, 20)
    try:
        from logagent.cli._app import run  # noqa: PLC0415

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - the one place: a traceback is no message for an engineer at 3 a.m.
        from logagent.cli._crash import report_crash  # noqa: PLC0415

        return report_crash(error, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
