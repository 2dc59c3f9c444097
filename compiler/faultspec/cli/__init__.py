"""The command line: a table of commands, each imported when it is called.

Exit codes: 0 clean; 1 findings; 2 could not run (bad usage, unreadable input, an unreachable
service); 130 interrupted. Errors in a taxonomy are findings of `lint`; other commands cannot run.
Data goes to stdout, everything else to stderr.
"""

import atexit
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from faultspec.cli.interruption import (
    INTERRUPTED,
    LONGEST_COMPILE,
    LONGEST_COMPUTING,
    MOST_MEMORY,
    TimeIsUp,
    end_by_interrupt,
    interruption_behind,
    limit_computing,
    limit_memory,
)


class Command(NamedTuple):
    """The place of a command (``module:attribute``), and what it does in one line.

    ``reads_traffic``: it reads answers of services, so secrets of the environment are masked.
    ``seconds``: of the processor that it may take; None if it limits itself, or has no limit
    (SECURITY.md says why). ``megabytes``: of memory, the same.
    """

    address: str
    summary: str
    seconds: float | None = LONGEST_COMPUTING
    megabytes: int | None = MOST_MEMORY
    reads_traffic: bool = False


COMMANDS: Mapping[str, Command] = {
    "init": Command("faultspec.cli.init:command", "Create a taxonomy.", reads_traffic=True),
    "lint": Command("faultspec.cli.lint:command", "Check a taxonomy."),
    "compile": Command(
        "faultspec.cli.compile:command",
        "Compile a taxonomy into bindings, schemas and OpenAPI components.",
        LONGEST_COMPILE,
    ),
    "diff": Command(
        "faultspec.cli.diff:command", "Report what a change of a taxonomy breaks, and for whom."
    ),
    "changelog": Command(
        "faultspec.cli.diff:changelog", "Write the changelog of a taxonomy since a revision."
    ),
    "import": Command(
        "faultspec.cli.import_:command",
        "Create a taxonomy from an OpenAPI document or a botocore model.",
        None,
    ),
    "explain": Command(
        "faultspec.cli.explain:command", "Explain a code, a rule, a clause or a construct."
    ),
    "trace-code": Command(
        "faultspec.cli.trace_code:command", "Compare what a program raises with its taxonomy."
    ),
    "conform": Command(
        "faultspec.cli.conform:command",
        "Judge a running service by a taxonomy.",
        None,
        None,
        reads_traffic=True,
    ),
    "audit": Command(
        "faultspec.cli.audit:command",
        "Judge recorded traffic and logs by a taxonomy.",
        None,
        None,
        reads_traffic=True,
    ),
    "proxy": Command(
        "faultspec.cli.proxy:command",
        "Judge the traffic between clients and a service.",
        None,
        None,
        reads_traffic=True,
    ),
    "report": Command(
        "faultspec.cli.report:command",
        "Merge the reports of shards, or convert a report.",
        megabytes=None,
        reads_traffic=True,
    ),
    "replay": Command(
        "faultspec.cli.replay:command",
        "Send the requests of a finding again, and judge them.",
        megabytes=None,
        reads_traffic=True,
    ),
    "waivers": Command(
        "faultspec.cli.waivers:command",
        "Add and remove waivers by the report of a run.",
        megabytes=None,
        reads_traffic=True,
    ),
    "serve": Command(
        "faultspec.cli.serve:command",
        "Serve the errors of a taxonomy, to test clients.",
        None,
        None,
        reads_traffic=True,
    ),
    "mcp": Command(
        "faultspec.cli.mcp:command",
        "Explain codes and findings to coding assistants.",
        None,
        reads_traffic=True,
    ),
    "demo": Command(
        "faultspec.cli.demo:command",
        "Judge the orders service, without and with a defect.",
        None,
        None,
        reads_traffic=True,
    ),
}

#: New containers between two runs of the garbage collector. With the default of 700, a tenth of a
#: short command goes into collecting nothing. This many take about 10 MB, so long commands are
#: still collected.
_COLLECT_AFTER = 100_000

#: If it is set, and not to 0, an unexpected error shows its traceback.
DEBUG_VARIABLE = "FAULTSPEC_DEBUG"


#: The object of the context if the process is the command alone, and not a test or a notebook.
PROGRAM = object()


class _Lazy(click.Group):
    """A group with the names and summaries of its commands. It imports only the one that is
    called.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = COMMANDS.get(cmd_name)
        if found is None:
            return None
        module, _, attribute = found.address.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from faultspec.cli.secrets import remember_environment

        # click would import every command to compare the names.
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(_unknown_command_message(name), ctx)
        found = COMMANDS.get(name)
        if found is not None and found.reads_traffic:
            remember_environment()
        if found is not None and found.seconds is not None:
            ctx.with_resource(limit_computing(found.seconds))
        # The bound is that of the process, which may be that of a test.
        if found is not None and found.megabytes is not None and ctx.obj is PROGRAM:
            ctx.with_resource(limit_memory(found.megabytes))
        return super().resolve_command(ctx, args)


def _unknown_command_message(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else "")


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("faultspec")
        except PackageNotFoundError:
            found = "(not installed)"
        click.echo(f"faultspec {found}")
        ctx.exit()


@click.command(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes of every command: 0 clean, 1 findings, 2 could not run. A taxonomy with errors "
        "gives 1 in lint, and 2 in commands that need a valid one."
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
def cli() -> None:
    """Error taxonomies of APIs: check them, compile them, and judge services by them."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit. Errors show a traceback only if ``FAULTSPEC_DEBUG`` is set."""
    gc.set_threshold(_COLLECT_AFTER)
    atexit.register(gc.freeze)  # at exit, Python would collect everything, which ends anyway
    sys.exit(finish(lambda: _start(arguments)))


def _start(arguments: Sequence[str] | None) -> int:
    if arguments is None:
        end_by_interrupt()
    return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    from faultspec.cli.secrets import masked_output

    def call() -> Any:
        return cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="faultspec",
            standalone_mode=False,
            obj=PROGRAM if arguments is None else None,
        )

    with masked_output(sys.argv[1:] if arguments is None else arguments):
        return finish(call)


def finish(work: Callable[[], Any]) -> int:
    """Do the work of a command, and return its exit code, also that of an exception."""
    try:
        code = work()
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt, TimeIsUp) as error:
        return _end_early(error)
    except BrokenPipeError:
        # The reader of our output has ended (`| head`). Python would report it when it flushes at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        from faultspec.diagnostics.formats.escaping import escape_line

        name = error.filename
        place = f"{os.fsdecode(name)}: " if isinstance(name, str | bytes) else ""
        reason = escape_line(f"{place}{error.strerror or error}")
        click.echo(f"error[file-unusable]: {reason}", err=True)
        click.echo("  = hint: make sure that the file is there and can be used", err=True)
        return 2
    except Exception as error:
        if _lacks_memory(error):
            return _refuse_size()
        interruption = interruption_behind(error)
        if interruption is not None:
            return _end_early(interruption)
        if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        click.echo(
            (
                f"error[internal-error]: {text}\n  = hint: run again with {DEBUG_VARIABLE}=1 and "
                "report the traceback"
            ),
            err=True,
        )
        return 2
    return code if isinstance(code, int) else 0


def _lacks_memory(error: Exception) -> bool:
    # The library of MCP reads its input in a group of tasks.
    inner = error.subgroup(MemoryError) if isinstance(error, ExceptionGroup) else None
    return isinstance(error, MemoryError) or inner is not None


def _refuse_size() -> int:
    click.echo(
        f"error[too-large]: this takes more than {MOST_MEMORY} MiB of memory\n"
        "  = hint: give it a smaller input",
        err=True,
    )
    return 2


def _end_early(reason: BaseException) -> int:
    """Say why a command ended early, and return its exit code."""
    if isinstance(reason, TimeIsUp):
        click.echo(f"error[too-long]: {reason}\n  = hint: give it a smaller input", err=True)
        return 2
    click.echo("interrupted", err=True)
    return INTERRUPTED
