"""``faultspec mcp``: codes, clauses and findings explained to coding assistants, over the Model
Context Protocol.
"""

import io
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from faultspec.cli.bounded_lines import BoundedLines
from faultspec.cli.explanations import Explanations, code_address, load_explanations
from faultspec.cli.extra import is_installed, refuse_missing, require_conformance
from faultspec.cli.interruption import (
    INTERRUPTED,
    MOST_MEMORY,
    TimeIsUp,
    handle_signals,
    limit_computing,
)
from faultspec.cli.secrets import bypass_masks
from faultspec.language.grammar import closest
from faultspec.language.model import Code, Taxonomy

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from faultspec_conformance.results.model import Report

_INSTRUCTIONS = """\
The error contract of this project: the codes that its API may answer with, and the rules that they
keep. Look codes up before you raise, handle or document one. Look up findings of `faultspec
conform`, `audit` and `lint` by the name in brackets or after `error:`."""

#: Names that a search lists, the best first. A reader asks again rather than read more.
_FOUND = 20

#: Characters of a question. The longest names and paths are much shorter.
_QUESTION = 1_000

#: Seconds of the processor for a question: a search in 10,000 codes takes a few.
_SECONDS = 60.0

#: Findings of a report that are explained at once. Each takes some twenty lines.
_FINDINGS = 20


class NoExplanation(Exception):
    """A question that has no answer; the message says why, and what to ask."""


def list_declared_codes(path: str | None) -> str:
    """The codes of a taxonomy, or of the project's, one a line. Raises NoExplanation if none can be
    read.
    """
    explanations = load_explanations(path)
    lines = [
        _code_line(taxonomy, code, code_address(place, code))
        for taxonomy in explanations.taxonomies
        for place, code in taxonomy.located_codes()
    ]
    if not lines:
        raise NoExplanation(f"no code can be read{_hint_at_files(explanations)}")
    return "\n".join(lines)


def _code_line(taxonomy: Taxonomy, code: Code, name: str) -> str:
    statuses = ", ".join(map(str, code.http.statuses)) or "no status"
    stage = "" if code.lifecycle == "stable" else f" ({code.lifecycle})"
    return f"{name} [{taxonomy.name}] {statuses}{stage}: {' '.join(code.summary.split())}"


def explain_name(path: str | None, name: str) -> str:
    """The explanation of a name. Raises NoExplanation for an unknown one."""
    explanations = load_explanations(path)
    found = explanations.find(name)
    if found:
        return "\n\n".join(found)
    hint = closest(name, explanations.names())
    raise NoExplanation(
        f"`{name}` is unknown" + (f"; {hint}" if hint else "") + _hint_at_files(explanations)
    )


def _hint_at_files(explanations: Explanations) -> str:
    named = ", ".join(explanations.unreadable)
    return f"; {named} could not be read, see `faultspec lint`" if named else ""


def search_explanations(path: str | None, words: str) -> str:
    """The names whose explanations have all words, one a line: first those whose name has them,
    then those whose first lines do. Raises NoExplanation if there is none.
    """
    wanted = words.lower().split()
    ranks: dict[str, int] = {}
    for name, lines in load_explanations(path).texts:
        text = "\n".join(lines)
        begins = " ".join(" ".join(text.splitlines()[:3]).split())
        places = (name.lower(), begins.lower(), text.lower())
        found = [[word in place for place in places] for word in wanted]
        if found and all(map(any, found)):
            ranks.setdefault(begins, sum(each.index(True) for each in found))
    if not ranks:
        raise NoExplanation(f"no explanation has all of the words `{words}`")
    best = sorted(ranks, key=lambda line: (ranks[line], line))
    more = [f"… and {len(best) - _FOUND} more"] if len(best) > _FOUND else []
    return "\n".join([*best[:_FOUND], *more])


def explain_report(path: str | None, report: str, finding: str) -> str:
    """The findings of a JSON report in the working directory, each with its clause.

    ``finding``: the beginning of a fingerprint, or the name of a clause; empty for all. Raises
    NoExplanation.
    """
    from dataclasses import replace

    from faultspec_conformance.reports.console import findings_text, summary

    read = _read_report(report)
    chosen = tuple(
        each
        for each in read.result.findings
        if each.finding.fingerprint.startswith(finding) or each.finding.clause == finding
    )
    if finding and not chosen:
        names = ", ".join(dict.fromkeys(each.finding.clause for each in read.result.findings))
        raise NoExplanation(f"{report} has no finding `{finding}`; it has {names or 'none'}")
    if not chosen:
        return summary(read)
    shown = replace(read, result=replace(read.result, findings=chosen[:_FINDINGS]))
    more = len(chosen) - _FINDINGS
    parts = [findings_text(shown), *_explain_clauses(path, shown)]
    parts += [f"{more} more findings; ask for a clause or a fingerprint"] if more > 0 else []
    return "\n\n".join(parts)


def _explain_clauses(path: str | None, report: "Report") -> Iterator[str]:
    explanations = load_explanations(path)
    for clause in dict.fromkeys(each.finding.clause for each in report.result.findings):
        yield from explanations.find(clause)


def _read_report(name: str) -> "Report":
    """Read a report of this folder: an assistant may be led to ask for others. Raises
    NoExplanation.
    """
    from faultspec.cli.reporting import REPORT_BYTES, Refused, load_report

    here = Path.cwd()
    try:
        place = (here / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links; a name that no file can have
        raise NoExplanation(f"{name!r} is not a file") from None
    if not place.is_relative_to(here.resolve()):
        raise NoExplanation(f"{name} is not below {here}")
    try:
        return load_report(name)
    except Refused:
        raise NoExplanation(
            f"{name} is not a JSON report of at most {REPORT_BYTES // 1024**2} MiB; "
            "`faultspec conform --report json=FILE` writes one"
        ) from None
    except OSError as error:
        raise NoExplanation(f"{name}: {error.strerror}") from None


@click.command(name="mcp")
@click.option(
    "--taxonomy",
    "path",
    type=click.Path(),
    help="The taxonomy; default: those of faultspec.yaml, else taxonomy.yaml.",
)
def command(path: str | None) -> int:
    """Serve the Model Context Protocol over standard input and output, for coding assistants.

    Its tools list the codes of the taxonomy, explain codes, clauses, lint rules, diagnostics and
    keys, search their explanations, and explain the findings of a JSON report. Files are read again
    for each question, and none is written.
    """
    require_conformance()
    if not is_installed("mcp"):
        refuse_missing("mcp", "mcp")
    logging.disable()  # the library reports each refused call on standard error
    sys.stdin = io.TextIOWrapper(BoundedLines(sys.stdin.buffer), encoding="utf-8")
    handle_signals(_end)
    with redirect_stdout(bypass_masks(sys.stdout)):
        build_server(path).run()
    return 0


def _end(number: int, frame: FrameType | None) -> None:
    """End at a signal. A thread of the library waits for standard input, and an exception would
    wait for the thread.
    """
    with suppress(OSError):  # standard error is closed
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def build_server(path: str | None) -> "MCPServer":
    """The server and its tools. ``path``: the taxonomy; None is that of the project."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations

    server = MCPServer("faultspec", instructions=_INSTRUCTIONS)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @contextmanager
    def answering(*questions: str) -> Iterator[None]:
        try:
            if any(len(question) > _QUESTION for question in questions):
                raise NoExplanation(f"a question has at most {_QUESTION} characters")
            with limit_computing(_SECONDS):
                yield
        except (NoExplanation, TimeIsUp) as error:
            raise ToolError(str(error)) from None
        except MemoryError:
            raise ToolError(f"this takes more than {MOST_MEMORY} MiB of memory") from None

    # Only the main thread can be interrupted; the library calls other functions in threads.

    @server.tool("list_codes", annotations=reads, structured_output=False)
    async def _list_codes() -> str:
        """List the error codes that this project declares, with their HTTP statuses."""
        with answering():
            return list_declared_codes(path)

    @server.tool("explain", annotations=reads, structured_output=False)
    async def _explain(name: str) -> str:
        """Explain a name: an error code, a clause of a finding (leaks/stack-trace), a lint rule or
        diagnostic (unknown-key), a rule of `faultspec diff` (code/status), or a key of the
        taxonomy or of another file of faultspec (codes.retriable, limits.requests).
        """
        with answering(name):
            return explain_name(path, name)

    @server.tool("search", annotations=reads, structured_output=False)
    async def _search(words: str) -> str:
        """Find the names whose explanations have all these words. `explain` tells the rest."""
        with answering(words):
            return search_explanations(path, words)

    @server.tool("explain_report", annotations=reads, structured_output=False)
    async def _explain_report(report: str, finding: str = "") -> str:
        """Explain the findings of a JSON report of `faultspec conform`, `audit` or `proxy`, with
        the requests that show them.

        `report` is a path in the working directory. `finding` is a clause or the beginning of a
        fingerprint; without it, all findings are explained.
        """
        with answering(report, finding):
            return explain_report(path, report, finding)

    return server
