"""Services whose calls have names (JSON-RPC, MCP), and what services publish and record."""

from functools import partial

from faultspec.contract.clauses.clause import (
    HTTP,
    JSON_RPC,
    MCP,
    Clause,
    Requirement,
    no_sources,
)
from faultspec.contract.clauses.constructs import (
    HTTP_ENVELOPE,
    any_code,
    any_surface,
    surface_sources,
)

_rpc = partial(
    Clause,
    reads=("sequence", "code"),
    requires=(
        any_surface(
            "no surface has `transport: jsonrpc`", lambda surface: surface.transport == "jsonrpc"
        ),
    ),
    sources=surface_sources(lambda surface: surface.transport == "jsonrpc"),
    transports=JSON_RPC,
)
_mcp = partial(
    Clause,
    sources=lambda taxonomy: (code.source for code in taxonomy.every_code() if code.mcp),
    transports=MCP,
)
_IS_MCP = any_surface("no surface has `transport: mcp`", lambda each: each.transport == "mcp")
_navigation = partial(
    Clause,
    reads=("sequence", "code"),
    requires=(Requirement("the taxonomy has no `navigation`", lambda each: bool(each.navigation)),),
    sources=lambda taxonomy: (taxonomy.navigation.source,) if taxonomy.navigation else (),
    transports=MCP,
)
_MISTAKE = (
    "If the caller's mistake looks like a success or a crash, people search in the wrong place."
)

CLAUSES = (
    _rpc(
        address="rpc/response",
        title="An answer is a JSON-RPC 2.0 response",
        why="A client library refuses anything else.",
        occasion="Every answer of a JSON-RPC service.",
        reads=("sequence", "body"),
    ),
    _rpc(
        address="rpc/id",
        title="An answer has the id of its request",
        why="A client with several open calls gives the answer to the wrong call, or to none.",
        occasion="Every answer to a JSON-RPC request.",
        presupposes=("rpc/response",),
        reads=("sequence", "request", "body"),
    ),
    _rpc(
        address="rpc/unknown-method",
        title="An unknown method is refused with the JSON-RPC code",
        why="By this number a client distinguishes an older service from a broken one.",
        occasion="A JSON-RPC request for a method that does not exist.",
    ),
    _rpc(
        address="rpc/parse-error",
        title="A message that is not JSON is refused with the JSON-RPC code",
        why="A service that stays silent or exits leaves its client waiting.",
        occasion="A JSON-RPC message that is not JSON.",
    ),
    _rpc(
        address="rpc/invalid-request",
        title="A message that is not a request is refused with the JSON-RPC code",
        why="A framing mistake must not look like a failure of the application.",
        occasion="A JSON-RPC message that is not a request.",
    ),
    _rpc(
        address="rpc/invalid-params",
        title="Invalid params are refused in the declared form",
        why=_MISTAKE,
        occasion="A JSON-RPC request with params that the configuration lists as invalid.",
    ),
    _rpc(
        address="rpc/batch",
        title="Each request of a batch gets one answer, with its id",
        why="Without an answer the outcome of the call is unknown.",
        occasion="A JSON-RPC batch, if the service accepts batches.",
        reads=("sequence", "request", "body"),
    ),
    _rpc(
        address="rpc/notification",
        title="A notification gets no answer",
        why="A client takes the answer for that of another request.",
        occasion="A JSON-RPC request without an id.",
        reads=("sequence", "request", "body"),
    ),
    _rpc(
        address="rpc/state",
        title="A call out of order is refused with the declared code",
        why="A client that began too early, or went on too long, must not take it for a crash.",
        occasion="A JSON-RPC request that a declared state of the session refuses.",
        requires=(any_surface("no surface has `states`", lambda surface: bool(surface.states)),),
        sources=surface_sources(lambda surface: bool(surface.states)),
    ),
    _rpc(
        address="rpc/end",
        title="A process ends as it is asked to",
        why="What is left of it goes on without anybody who could stop it.",
        occasion="The steps that the configuration names for the end of a process.",
        reads=("sequence",),
    ),
    _rpc(
        address="rpc/output",
        title="The standard output carries messages only",
        why="A client takes the line for a message and closes the connection.",
        occasion="The standard output of a process that the suite started.",
        reads=("sequence",),
        requires=(),
        transports=JSON_RPC | MCP,
    ),
    _mcp(
        address="mcp/is-error",
        title="A tool result is marked as an error where its code requires it",
        why="An agent's host decides by the mark whether to report a failure to the model.",
        occasion="A tool result whose code declares the mark.",
        presupposes=("code/declared",),
        reads=("surface", "code", "shape"),
        requires=(any_code("no code has `on.mcp`", lambda code: code.mcp),),
    ),
    _mcp(
        address="mcp/text",
        title="A text of a tool result repeats its structured content",
        why="Older hosts read only texts and give their model something else.",
        occasion="A tool result with text, on a surface with errors in the structured content.",
        presupposes=("surface/known",),
        reads=("surface", "body"),
        requires=(
            any_surface("no surface has `at: /structuredContent`", lambda each: each.structured),
        ),
        sources=surface_sources(lambda surface: surface.structured),
    ),
    _mcp(
        address="mcp/error-text",
        title="A tool result that is marked as an error says something",
        why="A model without a reason tries the same call again, or gives up.",
        occasion="A tool result with `isError`.",
        presupposes=("envelope/json", "envelope/shape", "envelope/types"),
        reads=("surface", "body"),
        requires=(_IS_MCP,),
        sources=no_sources,
    ),
    _mcp(
        address="mcp/unknown-tool",
        title="An unknown tool is refused",
        why="An agent that gets a result goes on as if the tool had run.",
        occasion="A call of a tool that does not exist.",
        reads=("sequence", "code"),
        requires=(_IS_MCP,),
    ),
    _mcp(
        address="mcp/invalid-arguments",
        title="Arguments that the tool's own schema forbids are refused",
        why=_MISTAKE,
        occasion="A call with arguments that its schema, or the configuration, forbids.",
        reads=("sequence", "code"),
        requires=(_IS_MCP,),
    ),
    _mcp(
        address="mcp/output-schema",
        title="The structured content of a result obeys the output schema of its tool",
        why="A host that reads the members by the schema fails, or shows nothing.",
        occasion="A result of a tool for which the server publishes an output schema.",
        reads=("sequence", "body"),
        sources=no_sources,
    ),
    _navigation(
        address="navigation/offered",
        title="An offered step can be taken",
        why="An agent that follows the offers and is refused has no other step to follow.",
        occasion="A step that the answer before it offered.",
    ),
    _navigation(
        address="navigation/not-offered",
        title="A step that is not offered is refused as out of reach, an unknown one as unknown",
        why="An agent asks again for the first, and never for the second.",
        occasion="A step that the answer before it did not offer.",
    ),
    Clause(
        address="audit/recorded",
        title="Every failure or exchange is in the audit once, as it happened",
        why="After the answer is lost, only the record shows what happened.",
        occasion="Failures or exchanges, followed by reading the audit.",
        reads=("sequence", "body"),
        requires=(
            Requirement(
                "the taxonomy has no `audit.lookup`",
                lambda taxonomy: bool(taxonomy.audit and taxonomy.audit.lookup),
            ),
        ),
        sources=lambda taxonomy: (taxonomy.audit.source,) if taxonomy.audit else (),
    ),
    Clause(
        address="audit/resolves",
        title="The id of a failure leads to its own audit record",
        why="Support asks for the id in the answer, and finds nothing or another failure.",
        occasion="Failures with an id, and the look-up of each, and of an unknown id.",
        reads=("sequence", "body"),
        requires=(HTTP_ENVELOPE,),
        transports=HTTP,
    ),
    Clause(
        address="audit/concealed",
        title="An audit record of another tenant looks like a missing one",
        why="A record tells what another tenant asked for, and that it failed.",
        occasion="A look-up of a failure by another tenant, and of an unknown id.",
        presupposes=("audit/resolves",),
        reads=("sequence", "status", "code", "body"),
        requires=(HTTP_ENVELOPE,),
        transports=HTTP,
    ),
    Clause(
        address="discovery/agrees",
        title="The service behaves as it publishes",
        why="Clients are generated from what is published.",
        occasion="A published list of errors or actions, and the contract or the last answer.",
        reads=("sequence", "body"),
        requires=(
            Requirement(
                "no entry of `discovery` has `kind: errors` or `kind: actions`",
                lambda taxonomy: any(
                    each.kind in ("errors", "actions") for each in taxonomy.discovery.values()
                ),
            ),
        ),
        sources=lambda taxonomy: (each.source for each in taxonomy.discovery.values()),
    ),
)
