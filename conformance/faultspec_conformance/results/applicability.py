"""Which clauses a transport gives no meaning."""

from collections.abc import Mapping

from faultspec_conformance.config import Transport

#: Families of clauses that one transport alone gives a meaning.
_OF_HTTP = (
    *(
        "http",
        "headers",
        "framework",
        "auth",
        "idempotency",
        "preconditions",
        "duplicates",
        "retry",
        "stream",
    ),
    *(
        "correlation",
        "tenancy",
        "batch",
        "envelope/media-type",
        "envelope/status",
        "envelope/absent-on-success",
        "code/status",
    ),
)
_OF_JSONRPC = ("rpc",)
_OF_MCP = ("mcp", "navigation")


def unspoken_over(transport: Transport) -> Mapping[str, str]:
    """Clauses, or families of them, that can't be broken over a transport, with the reason."""
    foreign = (
        ("HTTP", _OF_HTTP, transport == "http"),
        ("JSON-RPC", _OF_JSONRPC, transport in ("jsonrpc", "stdio")),
        ("MCP", _OF_MCP, transport == "mcp"),
    )
    return {
        each: f"it is of {name}, and this service speaks something else"
        for name, of, own in foreign
        if not own
        for each in of
    }
