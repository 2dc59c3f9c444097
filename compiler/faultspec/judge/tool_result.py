"""Tool results of MCP: the error mark, and texts that repeat the structured content."""

from collections.abc import Iterator

from faultspec.contract.model import Claim
from faultspec.exchange.body import DecodedBody, read
from faultspec.judge.collector import FindingCollector
from faultspec.language.model import Code
from faultspec.language.values import show
from faultspec.runtime.pointers import resolve


def texts_of(result: object) -> Iterator[tuple[str, str]]:
    """The texts of a tool result as (pointer, text)."""
    content = resolve(result, "/content")[1]
    for index, block in enumerate(content if isinstance(content, list) else ()):
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield f"/content/{index}/text", text


def mirrors(result: object) -> Iterator[str]:
    """The pointers of texts that repeat the structured content as JSON.

    MCP 2025-06-18, server/tools, "Structured Content".
    """
    exists, structured = resolve(result, "/structuredContent")
    for pointer, text in texts_of(result) if exists else ():
        if read(text.encode("utf-8", "replace")) == DecodedBody(structured, None):
            yield pointer


def _says_something(result: object) -> bool:
    """Whether a tool result has a text, another block or structured content."""
    content = resolve(result, "/content")[1]
    others = [
        block
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") != "text"
    ]
    says = any(text.strip() for _, text in texts_of(result))
    return bool(says or others or resolve(result, "/structuredContent")[1])


def judge_words(findings: FindingCollector, result: object) -> None:
    """Check that a result that is marked as an error says something.

    MCP 2025-11-25, server/tools, "Error Handling": errors of tools have actionable feedback, by
    which a model corrects itself.
    """
    if findings.exchange.transport != "mcp" or resolve(result, "/isError")[1] is not True:
        return
    surfaces = findings.contract.taxonomy.surfaces.values()
    if not any(surface.transport == "mcp" for surface in surfaces):
        return
    findings.exercise("mcp/error-text")
    if not _says_something(result):
        message = "the result is marked as an error, and has neither text nor structured content"
        findings.add("mcp/error-text", message, pointer="/content")


def judge_mark(findings: FindingCollector, code: Code, result: object) -> None:
    """Check that ``isError`` is what the code declares.

    MCP 2025-06-18, server/tools, "Error Handling".
    """
    if code.mcp is None or findings.exchange.transport != "mcp":
        return
    findings.exercise("mcp/is-error")
    marked = resolve(result, "/isError")[1] is True  # absent means false
    if marked not in (code.mcp.is_error, code.mcp.strict):
        findings.add(
            "mcp/is-error",
            f"`isError` is {show(marked)}; `{code.name}` requires {show(code.mcp.is_error)}",
            pointer="/isError",
            source=code.source,
        )


def judge_text(findings: FindingCollector, claim: Claim, result: object) -> None:
    """Check that a text block repeats the structured content."""
    if not claim.surface.structured:
        return
    exists, structured = resolve(result, "/structuredContent")
    first = next(texts_of(result), None)
    # MCP libraries wrap a value that is not an object into `result`; its text has the bare value.
    if (
        not exists
        or first is None
        or (isinstance(structured, dict) and set(structured) == {"result"})
    ):
        return
    findings.exercise("mcp/text")
    if not any(mirrors(result)):
        findings.add_at(
            "mcp/text",
            first[0],
            "does not repeat the structured content, nor does another text; expected the same JSON",
            source=claim.surface.source,
            level="warning",
        )
