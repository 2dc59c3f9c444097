"""Everything that can be asserted of a system: the closed list of clauses.

A clause has an address (``headers/retry-after``) that names it in findings, waivers, reports and on the command line.
It says when it applies: an exchange that gives no occasion to check it leaves it *not exercised*, which is not passed.
A clause that presupposes another is not reported on an exchange where the other is broken: an HTML page has no
details to complain of.

``reads`` names the facts of an exchange a clause depends on. Clauses that read only groupable facts can be judged once
per combination; those that read values see every record. An exchange that lacks a fact, as one read from a log may, is
no occasion for a clause that needs it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from faultspec.language.model import HeaderRule, RetryPolicy, Source, Taxonomy

GROUPABLE = frozenset(
    {
        "transport",
        "surface",
        "operation",
        "method",
        "status",
        "code",
        "flag",
        "boundary",
        "actions",
        "headers",
        "shape",
        "details",
        "identity",
    }
)
"""Facts with few distinct values. ``headers`` is which are present, ``shape`` which members of which type, ``details`` the
same of the details, ``identity`` whether the caller was known."""

VALUES = frozenset(
    {"body", "ids", "message", "header-values", "detail-values", "request", "elapsed", "sequence"}
)
"""Facts as many as there are records. ``sequence``: more than one exchange."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that can be asserted.

    ``why``: what goes wrong for someone when it is broken. ``applies``: the occasion on which it is exercised.
    ``statements``: those of the document at hand; the bare table has none. ``relation``: it takes several exchanges, so
    a probe asserts it, not the judge. ``needs``: the facts without which nothing can be said, where that is not all it
    ``reads``: a clause that only looks at whatever of them is there names those that must be.
    """

    address: str
    title: str
    why: str
    applies: str
    presupposes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    relation: bool = False
    needs: tuple[str, ...] = ()

    def judgeable(self, lacks: frozenset[str]) -> bool:
        """Whether anything can be said of an exchange that ``lacks`` these facts, or whose recorder names the clause."""
        return self.address not in lacks and lacks.isdisjoint(self.needs or self.reads)


_JSON = ("surface/known", "envelope/json")

_SINGLE = (
    Clause(
        "surface/known",
        "An error stands on a declared surface",
        "No client can be written against an error nobody described.",
        "Every error.",
        (),
        ("transport", "operation", "method", "status"),
    ),
    Clause(
        "envelope/media-type",
        "An error has the media type of its envelope",
        "Clients choose their parser by Content-Type; a page of HTML breaks them.",
        "An error with a body, on HTTP, where an envelope is declared.",
        ("surface/known",),
        ("surface", "header-values"),
    ),
    Clause(
        "envelope/json",
        "The body of an error is JSON",
        "A client that can't parse the body can't know what went wrong.",
        "An error that can have a body, where an envelope is declared.",
        ("surface/known",),
        ("surface", "body"),
    ),
    Clause(
        "envelope/shape",
        "The body of an error has the shape of its envelope",
        "Clients find the code, the message and the correlation id by place.",
        "An error with a JSON body, where an envelope is declared.",
        _JSON,
        ("surface", "shape"),
    ),
    Clause(
        "envelope/additional",
        "The envelope has no members but its own",
        "An undeclared member becomes a contract the first time a client reads it.",
        "An error with a JSON body, unless the envelope allows others.",
        (*_JSON, "envelope/shape"),
        ("surface", "shape"),
    ),
    Clause(
        "envelope/types",
        "The members of the envelope have their types and values",
        "A null or a number where a string is promised is a crash in a typed client.",
        "An error with a JSON body.",
        _JSON,
        ("surface", "code", "shape", "body"),
    ),
    Clause(
        "envelope/status",
        "The status inside the body is the status of the response",
        "Logs and clients that believe different statuses disagree on what happened.",
        "An error whose envelope repeats the status.",
        _JSON,
        ("surface", "status", "body"),
    ),
    Clause(
        "envelope/absent-on-success",
        "A success carries no error envelope",
        "An error under a status of success is one that nobody notices.",
        "A 2xx or 3xx answer with a JSON body.",
        (),
        ("surface", "status", "shape"),
    ),
    Clause(
        "code/declared",
        "The code is declared",
        "Clients branch on a closed list; an invented code falls through it.",
        "An error in whose body a code was found, unless the surface is open.",
        _JSON,
        ("surface", "code"),
    ),
    Clause(
        "code/reserved",
        "The code is not a reserved or removed one",
        "A tombstone that speaks means something else to every generation of clients.",
        "An error in whose body a code was found.",
        _JSON,
        ("surface", "code"),
    ),
    Clause(
        "code/operation",
        "The code is one that this surface and operation may answer with",
        "An operation's errors are part of its signature.",
        "An error with a declared code, where the surface lists its codes or the operation is known.",
        ("code/declared",),
        ("surface", "operation", "code"),
    ),
    Clause(
        "code/status",
        "Code and status go together",
        "Proxies, caches and retries act on the status, clients on the code; they have to mean the same.",
        "An error with a declared code, on HTTP.",
        ("code/declared", "code/reserved"),
        ("status", "code", "identity", "detail-values"),
        needs=("status", "code"),
    ),
    Clause(
        "boundary/allowed",
        "The layer named is one that produces the code",
        "Alerts go to the layer named; the wrong one wakes the wrong people.",
        "An error whose envelope names the layer, or a fact that the code fixes.",
        ("code/declared",),
        ("code", "boundary"),
    ),
    Clause(
        "retriable/agrees",
        "The retry flag agrees with the code",
        "A client that believes the wrong flag hammers a service or gives up on it.",
        "An error that carries the flag, where the code and what is known of the exchange determine it.",
        ("code/declared",),
        ("code", "status", "flag", "operation", "identity", "detail-values"),
        needs=("code", "flag"),
    ),
    Clause(
        "actions/agree",
        "An error suggests actions of its code, and a retriable one an action that sends again what failed",
        "A person who is offered what does not help, or no way to try again, gives up on what would have worked.",
        "An error which lists actions, where its code declares some, or its flag is true and an action is declared to send again.",
        ("code/declared",),
        ("code", "flag", "actions"),
        needs=("code", "actions"),
    ),
    Clause(
        "details/schema",
        "The details have the declared types and values",
        "Machine-readable context has to be readable by the same machine everywhere.",
        "An error with details and a declared code.",
        ("code/declared",),
        ("code", "details", "detail-values"),
    ),
    Clause(
        "details/registered",
        "The keys of the details are registered",
        "A key used before it is registered gets two meanings.",
        "An error with details, where the keys are registered.",
        ("code/declared",),
        ("code", "details"),
    ),
    Clause(
        "details/required",
        "The details have what the code requires",
        "The code's remedy needs that value.",
        "An error with a declared code that requires details.",
        ("code/declared",),
        ("surface", "code", "details"),
    ),
    Clause(
        "details/validator",
        "A detail that repeats a header says the same",
        "A client goes by either, a validator or a wait; only one of two that differ is right.",
        "An error with both the detail and the header.",
        ("details/schema",),
        ("detail-values", "header-values"),
    ),
    Clause(
        "ids/format",
        "Identifiers have their declared format",
        "An id that doesn't fit the index can't be searched for.",
        "An error with an identifier in its envelope.",
        _JSON,
        ("ids",),
    ),
    Clause(
        "http/head-body",
        "An answer that can't have content has none",
        "The bytes are read as the beginning of the next answer.",
        "HEAD, and the statuses 1xx, 204 and 304.",
        (),
        ("method", "status", "shape"),
    ),
    Clause(
        "batch/mixed-only",
        "Multi-status is for outcomes that differ",
        "A client that reads only the status takes a failed batch for a successful one.",
        "A multi-status answer whose items were found.",
        (),
        ("surface", "status", "body"),
    ),
    Clause(
        "batch/items",
        "Each item of a batch has a status, and a failed one an envelope",
        "An item without a status neither failed nor succeeded.",
        "A multi-status answer whose items were found.",
        (),
        ("surface", "shape"),
    ),
    Clause(
        "stream/offset",
        "An error in a stream says how far it had come",
        "Without it the consumer starts over or loses records.",
        "An error on a stream that requires it.",
        ("code/declared",),
        ("surface", "details"),
    ),
    Clause(
        "success/requires",
        "A success has the members that it owes",
        "A client that goes on from the answer finds nothing to go on with.",
        "A success on a surface that owes members.",
        (),
        ("surface", "shape", "body"),
    ),
    Clause(
        "mcp/is-error",
        "A tool result is marked as an error where its code says so",
        "An agent's host decides by the mark whether the model is told of a failure.",
        "A tool result with a code that declares its mark.",
        ("code/declared",),
        ("surface", "code", "shape"),
    ),
    Clause(
        "mcp/text",
        "A text of a tool result is its structured content once more",
        "A host that reads texts alone, as older ones do, tells its model something else.",
        "A tool result with structured content and a text, where the taxonomy's errors stand in the structured content.",
        ("surface/known",),
        ("surface", "body"),
    ),
    Clause(
        "deadline/kept",
        "An answer that says a budget ran out comes when it ran out",
        "A budget that isn't kept is one that nobody can plan with.",
        "An error whose code has a deadline and whose details tell it.",
        ("code/declared",),
        ("code", "detail-values", "elapsed"),
    ),
    Clause(
        "leaks/stack-trace",
        "No stack trace",
        "It maps the inside of the service for whoever asks.",
        "Every error.",
        (),
        ("message", "body", "header-values"),
        needs=("message",),
    ),
    Clause(
        "leaks/sql",
        "No statement or message of a database",
        "It tells table names, and which injection works.",
        "Every error.",
        (),
        ("message", "body", "header-values"),
        needs=("message",),
    ),
    Clause(
        "leaks/connection-string",
        "No connection string",
        "It is an address with its password.",
        "Every error.",
        (),
        ("message", "body", "header-values"),
        needs=("message",),
    ),
    Clause(
        "leaks/path",
        "No path of the server's file system",
        "It tells the layout of the machine and the names of its users.",
        "Every error.",
        (),
        ("message", "body", "header-values", "request"),
        needs=("message", "request"),
    ),
    Clause(
        "leaks/private-address",
        "No private address or internal host",
        "It maps the network behind the gateway.",
        "Every error.",
        (),
        ("message", "body", "header-values", "request"),
        needs=("message", "request"),
    ),
    Clause(
        "leaks/secret",
        "No key, token or password",
        "Errors are logged, shared and pasted into tickets.",
        "Every error.",
        (),
        ("message", "body", "header-values"),
        needs=("message",),
    ),
    Clause(
        "leaks/email",
        "No e-mail address",
        "It is personal data of someone who didn't ask.",
        "Every error.",
        (),
        ("message", "body", "header-values"),
        needs=("message",),
    ),
    Clause(
        "leaks/internal-name",
        "No name of a queue, topic or other internal resource",
        "Names are half of an attack, and a contract nobody meant.",
        "Every error.",
        (),
        ("message", "body", "header-values"),
        needs=("message",),
    ),
    Clause(
        "leaks/canary",
        "No value that was planted in the request",
        "Input that comes back in an error is where secrets and scripts come back.",
        "Every error to a request in which values were planted.",
        (),
        ("message", "body", "header-values", "request"),
        needs=("message", "request"),
    ),
    Clause(
        "leaks/echoed-tenant",
        "No tenant's identifier",
        "Tenants are not to learn of each other, not even their own internal id.",
        "Every error to a caller whose tenant is known.",
        (),
        ("message", "body", "header-values", "request"),
        needs=("message", "request"),
    ),
)


def _relation(
    address: str, title: str, why: str, applies: str, presupposes: tuple[str, ...] = (), *reads: str
) -> Clause:
    return Clause(address, title, why, applies, presupposes, ("sequence", *reads), (), True)


_RELATIONS = (
    _relation(
        "surface/repeated",
        "An error is told once more, alike, on each surface that repeats it",
        "Who listens there alone, a window or another process, goes on as if nothing had failed.",
        "An error with a declared code on a surface that another one repeats, where that other is heard.",
        (),
        "surface",
        "code",
        "body",
    ),
    _relation(
        "service/alive",
        "The service answers",
        "Nothing can be said of one that doesn't.",
        "Every run.",
    ),
    _relation(
        "provoke/code",
        "A recipe brings about the code it names",
        "A code that can't be provoked is a code nobody has seen.",
        "Every recipe of the configuration.",
        (),
        "code",
    ),
    _relation(
        "correlation/echo",
        "An inbound correlation id comes back",
        "It is what binds the caller's logs to the service's.",
        "A request with a well-formed id.",
        ("ids/format",),
        "request",
        "body",
        "header-values",
    ),
    _relation(
        "correlation/generated",
        "A correlation id is made where none was sent",
        "An error without one can't be found again.",
        "A request without an id.",
        (),
        "body",
        "header-values",
    ),
    _relation(
        "correlation/unique",
        "Generated correlation ids differ",
        "Two incidents under one id are one incident to whoever searches.",
        "Two requests without an id.",
        ("ids/format",),
        "body",
        "header-values",
    ),
    _relation(
        "correlation/invalid-inbound",
        "A malformed correlation id is handled as declared",
        "Reflected input in a header is header injection.",
        "A request with a malformed id.",
        (),
        "request",
        "body",
        "header-values",
    ),
    Clause(
        "correlation/header-equals-body",
        "The header and the body name the same identifier",
        "Support is told one, the logs have the other.",
        "An error with both.",
        ("ids/format",),
        ("body", "header-values"),
    ),
    _relation(
        "idempotency/replay",
        "A replay returns the same result",
        "The network loses answers; without this, retrying a write writes twice.",
        "The same write with the same key, twice.",
        (),
        "request",
        "body",
        "header-values",
    ),
    _relation(
        "idempotency/concurrent",
        "The same write under one key, sent several times at once, is done once",
        "Who looks a key up before the first write has stored it writes again; a client that is impatient sends it at once.",
        "The same creation with the same key several times at the same time, and a replay of it.",
        ("idempotency/replay",),
        "request",
        "body",
    ),
    _relation(
        "idempotency/distinct-keys",
        "Different keys are different intents",
        "A second order is not the first one again.",
        "The same write with two keys.",
        (),
        "request",
        "body",
    ),
    _relation(
        "idempotency/mismatch",
        "One key with two bodies is answered as declared",
        "Otherwise the caller believes that the second write was done.",
        "Two writes under one key.",
        (),
        "request",
        "status",
        "code",
    ),
    _relation(
        "idempotency/isolation",
        "One caller's key does nothing for another",
        "Otherwise a guessed key reads another tenant's result.",
        "The same key from two tenants.",
        (),
        "request",
        "body",
    ),
    _relation(
        "tenancy/concealed",
        "Another tenant's resource looks like one that isn't there",
        "Any difference answers the question whether it exists.",
        "A resource of another tenant and an unknown one.",
        (),
        "status",
        "code",
        "body",
        "header-values",
    ),
    _relation(
        "preconditions/stale",
        "A stale precondition is refused",
        "Otherwise the later writer erases the earlier one's work.",
        "A write with an outdated validator.",
        (),
        "request",
        "status",
        "code",
    ),
    _relation(
        "preconditions/recovers",
        "After a refetch the write succeeds",
        "A conflict that can't be resolved is an outage.",
        "A refused write, a read, and the write again.",
        ("preconditions/stale",),
        "request",
        "status",
    ),
    _relation(
        "duplicates/refused",
        "A duplicate is refused",
        "Otherwise the invariant is not one.",
        "The same unique value, created twice.",
        (),
        "request",
        "status",
        "code",
    ),
    _relation(
        "duplicates/existing-id",
        "A refused duplicate names the resource that exists",
        "A client that is told it exists needs to find it.",
        "A refused duplicate.",
        ("duplicates/refused",),
        "detail-values",
    ),
    _relation(
        "retry/recovers",
        "After the announced wait the request succeeds",
        "A Retry-After that isn't true makes clients ignore all of them.",
        "A refused request, a wait, and the request again.",
        ("headers/retry-after",),
        "status",
        "header-values",
    ),
    _relation(
        "framework/unknown-route",
        "An unknown route is refused in the declared form",
        "Frameworks answer in their own, and that is the error clients see first.",
        "A request for a route that isn't there.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/method",
        "A method the route does not have is refused in the declared form",
        "Frameworks answer in their own.",
        "A request with an undeclared method.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/malformed-json",
        "Malformed JSON is refused in the declared form",
        "A parser's message is not an error contract.",
        "A write with a broken body.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/media-type",
        "A body of the wrong media type is refused in the declared form",
        "Otherwise it is read as something it is not.",
        "A write with another Content-Type.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/not-acceptable",
        "A request for a representation that isn't there is answered in the declared form",
        "The error about the format has to be readable too.",
        "A request that accepts no offered type.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/oversized",
        "An oversized body is refused in the declared form",
        "The server in front answers these, and rarely as documented.",
        "A write with a large body.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/large-head",
        "A header section that is too large is refused in the declared form",
        "The server refuses it before the application sees it, so it is a warning at most; and the service has to outlive it.",
        "A request with a large header section, if it is refused.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/unknown-id",
        "An id that names nothing is refused in the declared form",
        "A client that is told 200, or 500, goes on with what isn't there.",
        "An operation on an item that does not exist.",
        (),
        "status",
        "code",
    ),
    _relation(
        "framework/invalid-input",
        "Input that the document rules out is refused in the declared form",
        "The caller's mistake, told as a success or as a crash, is looked for in the wrong place.",
        "A body or a query that the OpenAPI document rules out.",
        (),
        "status",
        "code",
    ),
    _relation(
        "auth/missing",
        "A request without credentials is refused",
        "What anyone may call is not protected.",
        "A protected operation, called by nobody.",
        (),
        "status",
        "code",
    ),
    _relation(
        "auth/garbage",
        "A request with worthless credentials is refused",
        "A token that isn't checked is decoration.",
        "A protected operation, called with garbage.",
        (),
        "status",
        "code",
    ),
    _relation(
        "auth/scope",
        "A request beyond the caller's scope is refused",
        "A scope that isn't checked is decoration.",
        "A protected operation, called by someone who may not.",
        (),
        "status",
        "code",
    ),
    _relation(
        "stream/announced",
        "A stream that breaks says so in an error event",
        "A stream that just ends looks like one that was read to its end.",
        "A stream that is made to fail.",
        (),
        "body",
    ),
    _relation(
        "batch/bad-items",
        "A batch that fails as a whole lists its bad items",
        "The caller has to know what to fix.",
        "A batch of which every item is bad.",
        (),
        "status",
        "detail-values",
    ),
    _relation(
        "rpc/response",
        "An answer is one of JSON-RPC 2.0",
        "A client library refuses what is none, whatever it says.",
        "Every answer of a JSON-RPC service.",
        (),
        "body",
    ),
    _relation(
        "rpc/id",
        "An answer has the id of its request",
        "A client that has several calls under way hands the answer to the wrong one, or to none.",
        "Every answer to a JSON-RPC request.",
        ("rpc/response",),
        "request",
        "body",
    ),
    _relation(
        "rpc/unknown-method",
        "A method that there is not is refused as JSON-RPC has it",
        "A client tells an older service from a broken one by this number.",
        "A JSON-RPC request for a method that isn't there.",
        (),
        "code",
    ),
    _relation(
        "rpc/parse-error",
        "What is no JSON is refused as JSON-RPC has it",
        "A peer that says nothing, or ends, leaves its client waiting.",
        "A JSON-RPC message that is no JSON.",
        (),
        "code",
    ),
    _relation(
        "rpc/invalid-request",
        "What is no request is refused as JSON-RPC has it",
        "A mistake in the framing of a call must not look like a failure of the application.",
        "A JSON-RPC message that is no request.",
        (),
        "code",
    ),
    _relation(
        "rpc/invalid-params",
        "Params that don't fit are refused in the declared form",
        "The caller's mistake, told as a success or as a crash, is looked for in the wrong place.",
        "A JSON-RPC request with params that the file says don't fit.",
        (),
        "code",
    ),
    _relation(
        "rpc/batch",
        "Each request of a batch is answered once, under its id",
        "A call without its answer is one that nobody knows the outcome of.",
        "A JSON-RPC batch, if the service takes any.",
        (),
        "request",
        "body",
    ),
    _relation(
        "rpc/notification",
        "A notification is not answered",
        "The answer is taken for one to something else.",
        "A JSON-RPC request without an id.",
        (),
        "request",
        "body",
    ),
    _relation(
        "mcp/unknown-tool",
        "A tool that there is not is refused",
        "An agent that is told of a result goes on as if the tool had run.",
        "A call of a tool that isn't there.",
        (),
        "code",
    ),
    _relation(
        "mcp/invalid-arguments",
        "Arguments that the tool's own schema rules out are refused",
        "The caller's mistake, told as a success or as a crash, is looked for in the wrong place.",
        "A call with arguments that its schema, or the file, rules out.",
        (),
        "code",
    ),
    _relation(
        "navigation/offered",
        "What is offered can be taken",
        "Who follows the offers and is refused has nothing left to follow.",
        "A step that the answer before it offered.",
        (),
        "sequence",
        "code",
    ),
    _relation(
        "navigation/not-offered",
        "What exists and is not offered is refused as out of reach, what does not exist as unknown",
        "An agent asks again for the one, and never for the other.",
        "A step that the answer before it did not offer.",
        (),
        "sequence",
        "code",
    ),
    _relation(
        "audit/recorded",
        "What happened is found in the audit, once, as it happened",
        "The record is what is left when the answer is forgotten.",
        "Failures, or exchanges, and then the audit read back.",
        (),
        "sequence",
        "body",
    ),
    _relation(
        "discovery/agrees",
        "What the service publishes of itself is what it does",
        "Clients are generated from what is published.",
        "A published list of errors or actions, and the contract or the last answer.",
        (),
        "sequence",
        "body",
    ),
)

_UPSTREAM = (
    _relation(
        "upstream/attempts",
        "A failure upstream is tried again as often as the policy says",
        "Who tries too often is an attack on a service that is down already; who never does fails for nothing.",
        "A failure upstream that the policy is for, every time.",
    ),
    _relation(
        "upstream/delays",
        "The waits between tries lie in the policy's bounds",
        "Tries without a wait meet the same failure, and keep it going.",
        "A failure upstream that is tried again.",
    ),
    _relation(
        "upstream/jitter",
        "The waits between tries are spread",
        "Callers that failed together come back together.",
        "Enough waits that chance decides, each with room for it.",
        ("upstream/delays",),
    ),
    _relation(
        "upstream/not-eligible",
        "What the policy is not for is not sent again",
        "A refusal that is repeated stays one, and locks accounts.",
        "A failure upstream that the policy is not for.",
    ),
    _relation(
        "upstream/unsafe",
        "What is not safe to send twice is sent once",
        "The message goes out twice, or the money.",
        "A failure upstream of a call that is declared not idempotent.",
    ),
    _relation(
        "upstream/key",
        "The tries of one call name one intent, and another call another",
        "Upstream can tell a second try from a second order by nothing else.",
        "A call upstream that writes.",
    ),
    _relation(
        "upstream/recovers",
        "What another try mends does not fail",
        "The retry was paid for, and its success thrown away.",
        "A failure upstream that the policy is for, once.",
        ("upstream/attempts",),
    ),
    _relation(
        "upstream/surfaces",
        "A failure upstream comes out as the declared code",
        "A failure that was swallowed is found by its victims.",
        "A failure upstream.",
        (),
        "status",
        "code",
    ),
    _relation(
        "upstream/stops",
        "After a failed call upstream no other call is made",
        "What comes next builds on what did not happen, or hides that it did not.",
        "A failure upstream.",
    ),
    _relation(
        "upstream/retried",
        "The details tell how often was retried, truly",
        "Whoever is told of three tries does not look for the fault in the first one.",
        "A failure upstream, where the policy names a detail for it.",
        ("upstream/surfaces",),
        "detail-values",
    ),
    _relation(
        "upstream/status",
        "The details tell what the upstream answered, truly",
        "Whoever is told of another failure looks for it in the wrong service.",
        "A failure upstream with a status, where the taxonomy names a detail for it and the answer has it.",
        ("upstream/surfaces",),
        "detail-values",
    ),
)

_CLIENT = (
    _relation(
        "client/retries",
        "A failure that can be tried again is tried again",
        "The user is shown a failure that the next second would have mended.",
        "An error whose client action is retry, every time.",
    ),
    _relation(
        "client/attempts",
        "No more tries are made than the policy allows",
        "A client without an end is an attack on a service that is down already.",
        "An error whose client action is retry, every time.",
    ),
    _relation(
        "client/waits",
        "The waits between tries lie in the policy's bounds",
        "Tries without a wait meet the same failure, and keep it going.",
        "An error whose code has a retry policy, tried again.",
    ),
    _relation(
        "client/jitter",
        "The waits between tries are spread",
        "Clients that failed together come back together.",
        "Enough waits that chance decides, each with room for it.",
        ("client/waits",),
    ),
    _relation(
        "client/retry-after",
        "The wait that the service asks for is kept",
        "Only the service knows when it will be back; who comes earlier makes it later.",
        "An error with a Retry-After that the policy obeys, tried again.",
    ),
    _relation(
        "client/gives-up",
        "What can't be tried again is not",
        "The same request gets the same refusal, and a client that does not know it never ends.",
        "An error whose client action is none or user.",
    ),
    _relation(
        "client/refetches",
        "What is stale is read again before it is written again",
        "The same write is refused for ever, or erases what somebody else has written.",
        "An error whose client action is refetch.",
    ),
    _relation(
        "client/unsafe",
        "What may have happened is not sent again without a key",
        "The order is there twice.",
        "An error that may have had an effect, to a write that is not idempotent.",
    ),
    _relation(
        "client/key",
        "The tries of one call have one idempotency key, and another call another",
        "With a new key each try is a new order; with an old one the second order is the first.",
        "A write that takes a key, tried again.",
        (),
        "request",
    ),
    _relation(
        "client/correlation",
        "A correlation id that the client sends is well formed",
        "The service replaces it, and the client's log has an id that nobody else has.",
        "A request with a correlation id.",
        (),
        "request",
    ),
)

CLAUSES: Mapping[str, Clause] = {
    clause.address: clause for clause in (*_SINGLE, *_RELATIONS, *_UPSTREAM, *_CLIENT)
}
"""Every clause but those of headers, which a taxonomy declares one by one: see ``header_clause``, ``clauses_of`` and
``clauses_of_clients``."""


def header_address(name: str) -> str:
    """The address of the clause about a response header."""
    return f"headers/{name.lower()}"


def header_clause(name: str, rules: Iterable[HeaderRule]) -> Clause:
    """The clause about one response header of a taxonomy."""
    rules = tuple(rules)
    summary = next((rule.summary for rule in rules if rule.summary), None)
    shown = [f"{rule.presence} on {', '.join(map(str, rule.on)) or 'its codes'}" for rule in rules]
    return Clause(
        header_address(name),
        f"`{name}` is there where it is required, and well formed",
        summary or "Clients and proxies act on the header.",
        f"An answer that a rule for the header is about: {'; '.join(dict.fromkeys(shown))}.",
        (),
        ("status", "code", "headers", "header-values", "body"),
        _statements(rule.source for rule in rules),
        needs=("status", "code", "headers", "header-values"),
    )


def service_clauses(taxonomy: Taxonomy) -> dict[str, Clause]:
    """The clauses of a taxonomy for its services: the closed list with the statements that its constructs name, and one
    clause a header.
    """
    found = _stated(taxonomy, (*_SINGLE, *_RELATIONS, *_UPSTREAM))
    rules: dict[str, list[HeaderRule]] = {}
    everyones = (rule for code in taxonomy.every_code() for rule in code.headers)
    for rule in (*taxonomy.headers, *everyones):
        rules.setdefault(rule.name.lower(), []).append(rule)
    for each in rules.values():
        clause = header_clause(each[0].name, each)
        found[clause.address] = clause
    return found


def client_clauses(taxonomy: Taxonomy) -> dict[str, Clause]:
    """The clauses of a taxonomy for those who call its services."""
    return _stated(taxonomy, _CLIENT)


def _stated(taxonomy: Taxonomy, clauses: Iterable[Clause]) -> dict[str, Clause]:
    sources, idle, found = _sources(taxonomy), _idle(taxonomy), {}
    for clause in clauses:
        if clause.address not in idle and clause.address.partition("/")[0] not in idle:
            own = sources.get(clause.address) or sources.get(clause.address.partition("/")[0]) or ()
            found[clause.address] = replace(clause, statements=_statements(own))
    return found


def _idle(taxonomy: Taxonomy) -> frozenset[str]:
    """The clauses, or families of them, about constructs that a taxonomy need not have and this one has not."""
    codes = tuple(taxonomy.every_code())
    transports = {surface.transport for surface in taxonomy.surfaces.values()}
    policies = taxonomy.retry_policies.values()
    behind = retries_upstream(taxonomy)
    there = {
        **{each: "jsonrpc" in transports for each in CLAUSES if each.startswith("rpc/")},
        **dict.fromkeys(("mcp/unknown-tool", "mcp/invalid-arguments"), "mcp" in transports),
        **{
            each: taxonomy.navigation is not None
            for each in CLAUSES
            if each.startswith("navigation/")
        },
        "audit/recorded": taxonomy.audit is not None and taxonomy.audit.lookup is not None,
        "discovery/agrees": any(
            each.kind in ("errors", "actions") for each in taxonomy.discovery.values()
        ),
        "upstream": behind is not None,
        "upstream/jitter": behind is not None and behind.policy.jitter.kind != "none",
        "upstream/key": behind is not None and bool(taxonomy.upstream and taxonomy.upstream.keys),
        "upstream/retried": behind is not None and behind.annotate is not None,
        "upstream/status": behind is not None
        and bool(taxonomy.upstream and taxonomy.upstream.status),
        "client/retries": any(each.client_action == "retry" for each in codes),
        "client/attempts": any(each.retry for each in codes),
        "client/waits": any(each.retry for each in codes),
        "client/jitter": any(policy.policy.jitter.kind != "none" for policy in policies),
        "client/retry-after": any(
            header.name.lower() == "retry-after" for header in taxonomy.headers
        )
        or any(each.name.lower() == "retry-after" for code in codes for each in code.headers),
        "client/refetches": any(each.client_action == "refetch" for each in codes),
        "client/unsafe": any(each.effect != "none" for each in codes),
        "client/key": taxonomy.idempotency is not None,
        "client/correlation": any(
            each.echo
            for envelope in taxonomy.envelopes.values()
            for each in envelope.fields.values()
        ),
        "surface/repeated": any(surface.repeats for surface in taxonomy.surfaces.values()),
        "success/requires": any(surface.success for surface in taxonomy.surfaces.values()),
        "actions/agree": bool(taxonomy.sending_again) or any(each.actions for each in codes),
        "mcp/is-error": any(each.mcp for each in codes),
        "mcp/text": any(surface.structured for surface in taxonomy.surfaces.values()),
        "deadline/kept": any(each.deadline for each in codes),
    }
    return frozenset(address for address, used in there.items() if not used)


def retries_upstream(taxonomy: Taxonomy) -> RetryPolicy | None:
    """The policy by which services call those behind them, if one is declared."""
    return (
        taxonomy.retry_policies.get(taxonomy.upstream.retry or "")
        if taxonomy.upstream is not None
        else None
    )


def _sources(taxonomy: Taxonomy) -> dict[str, tuple[Source, ...]]:
    """Where each clause, or each family of clauses, comes from in this taxonomy."""
    envelopes = tuple(each.source for each in taxonomy.envelopes.values())
    fields = tuple(
        field for envelope in taxonomy.envelopes.values() for field in envelope.fields.values()
    )
    surfaces = tuple(
        surface.source for surface in taxonomy.surfaces.values() if surface.batch is None
    )
    batches = tuple(
        surface.source for surface in taxonomy.surfaces.values() if surface.batch is not None
    )
    codes = tuple(code.source for code in taxonomy.every_code())
    keys = tuple(taxonomy.detail_keys.values())
    echoed = tuple(field.source for field in fields if field.echo or field.mirror)
    privacy = (taxonomy.privacy.source,) if taxonomy.privacy else ()
    fallbacks = tuple(fallback.source for fallback in taxonomy.fallbacks)
    validators = tuple(key.source for key in keys if key.equals_header)
    behind = retries_upstream(taxonomy)
    called = (taxonomy.upstream.source,) if taxonomy.upstream is not None else ()
    policies = tuple(policy.source for policy in taxonomy.retry_policies.values())
    idempotency = (taxonomy.idempotency.source,) if taxonomy.idempotency else ()
    retry_after = tuple(
        rule.source for rule in taxonomy.headers if rule.name.lower() == "retry-after"
    )
    return {
        "surface": surfaces,
        "surface/repeated": tuple(
            surface.source for surface in taxonomy.surfaces.values() if surface.repeats
        ),
        "envelope": envelopes,
        "envelope/absent-on-success": surfaces,
        "envelope/types": (*envelopes, *(field.source for field in fields)),
        "code": surfaces,
        "code/status": codes,
        "code/operation": (
            *codes,
            *(operation.source for operation in taxonomy.operations.values()),
        ),
        "boundary": tuple(boundary.source for boundary in taxonomy.boundaries.values()),
        "retriable": tuple(key.source for key in keys if key.role == "retriable") or codes,
        "actions": (
            *(taxonomy.actions[each].source for each in taxonomy.sending_again),
            *(code.source for code in taxonomy.every_code() if code.actions),
        ),
        "details": tuple(key.source for key in keys) or codes,
        "details/validator": validators,
        "ids": tuple(
            field.source for field in fields if field.schema.format or field.schema.pattern
        ),
        "correlation": echoed,
        "batch": batches,
        "stream": tuple(
            surface.source
            for surface in taxonomy.surfaces.values()
            if surface.transport == "stream"
        ),
        "leaks": privacy,
        "success": tuple(
            member.source
            for surface in taxonomy.surfaces.values()
            for member in surface.success.values()
        ),
        "rpc": tuple(
            surface.source
            for surface in taxonomy.surfaces.values()
            if surface.transport == "jsonrpc"
        ),
        "mcp": tuple(code.source for code in taxonomy.every_code() if code.mcp),
        "mcp/text": tuple(
            surface.source for surface in taxonomy.surfaces.values() if surface.structured
        ),
        "navigation": (taxonomy.navigation.source,) if taxonomy.navigation else (),
        "audit": (taxonomy.audit.source,) if taxonomy.audit else (),
        "discovery": tuple(each.source for each in taxonomy.discovery.values()),
        "deadline": tuple(code.deadline.source for code in taxonomy.every_code() if code.deadline),
        "idempotency": idempotency,
        "tenancy": tuple(concealment.source for concealment in taxonomy.privacy.conceal)
        if taxonomy.privacy
        else (),
        "preconditions": validators,
        "duplicates": tuple(key.source for key in keys if key.refers_to == "resource"),
        "retry": retry_after,
        "framework": fallbacks,
        "upstream": (behind.source,) if behind is not None else (),
        **dict.fromkeys(
            (
                "upstream/key",
                "upstream/unsafe",
                "upstream/surfaces",
                "upstream/stops",
                "upstream/status",
            ),
            called,
        ),
        "client": policies,
        "client/retry-after": (*retry_after, *policies),
        "client/gives-up": codes,
        "client/refetches": tuple(
            each.source for each in taxonomy.every_code() if each.client_action == "refetch"
        ),
        "client/unsafe": idempotency or policies,
        "client/key": idempotency,
        "client/correlation": echoed,
    }


def _statements(sources: Iterable[Source]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(statement for source in sources for statement in source.statements))
