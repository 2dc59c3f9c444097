"""Hold the structured content of tool results to the schemas that the server publishes."""

from collections.abc import Iterator

from faultspec.language.values import imported_problems
from faultspec.runtime.nodes import child
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import ToolSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    passed,
    point,
    protocol_error,
)
from faultspec_conformance.session.observations import Note

CLAUSE = "mcp/output-schema"


def output_schemas(session: ToolSession) -> Iterator[Outcome | Note]:
    """Check each result so far of a tool with an output schema (MCP 2025-06-18, server/tools,
    "Output Schema"). Results that are errors need not have the structure.
    """
    schemas = {name: tool.output for name, tool in session.tools().items() if tool.output}
    if session.revision is not None:
        yield Note(f"the server speaks revision {session.revision} of MCP")
    found = [
        seen
        for seen in session.observations.exchanges
        if seen.exchange.operation in schemas and _is_result(seen)
    ]
    if not found:
        reason = "no tool with an output schema gave a result"
        yield not_exercised(CLAUSE, reason if schemas else "no tool has an output schema")
    for seen in found:
        yield _check_result(seen, schemas[seen.exchange.operation or ""])


def _is_result(seen: Observation) -> bool:
    body = seen.json
    is_error = protocol_error(body) is not None or point(body, "/isError") is True
    return isinstance(body, dict) and seen.exchange.transport == "mcp" and not is_error


def _check_result(seen: Observation, schema: object) -> Outcome:
    content = point(seen.json, "/structuredContent")
    name = seen.exchange.operation
    if content is None:
        message = f"`{name}` has an output schema, and its result has no structured content"
        return failed(CLAUSE, message, seen, variant="missing")
    problem = next(imported_problems(schema, content), None)
    if problem is None:
        return passed(CLAUSE)
    if problem.keyword == "unusable":
        return Outcome(CLAUSE, "undecided", f"the output schema of `{name}` {problem.problem}")
    pointer = "/structuredContent"
    for step in problem.path:
        pointer = child(pointer, step)
    message = f"the structured content of `{name}` {problem.problem}"
    return failed(CLAUSE, message, seen, pointer=pointer)
