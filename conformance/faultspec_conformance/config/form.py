"""The grammar of `conformance.yaml`: every key there is, and what may stand there."""

from faultspec.language.grammar import (
    Anything,
    Choice,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Number,
    Record,
    Text,
)

#: The methods of RFC 9110 section 9 and RFC 5789, but for CONNECT, which asks for no resource.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")

#: What is wrong with a request is said by `_Reading.request`, in more words than a pattern has.
_REQUEST = Text(
    r"\S(.|\n)*", "a method and a path, such as `GET /orders/{id}`, or the name of a method or tool"
)
_NAMES = Either((Text(), Many(Text(), 1)))
_HEADERS = Named(
    Either((Text(blank=True), Number())),
    Text(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+", "a header name (RFC 9110 token)"),
)
_QUERY = Named(Either((Text(blank=True), Number(), Flag())))
_POINTER = Text(r"(/([^~/]|~[01])*)*", "a JSON Pointer such as /id (RFC 6901)")

_CALL_KEYS = {
    "request": Key(
        _REQUEST,
        "The method and the path, such as `POST /orders` or `GET /orders/{id}`; the name of a method or tool where there is no HTTP.",
        True,
    ),
    "headers": Key(_HEADERS, "Headers beyond those of the identity."),
    "query": Key(_QUERY, "Query parameters."),
    "body": Key(Anything(), "The JSON body; `${unique}` is new every time."),
    "raw": Key(Text(blank=True), "The body as text, sent as it is."),
}
_PARAMS = Key(
    Anything(), "The params of a method, the arguments of a tool; `${unique}` is new every time."
)
_CALL = Either((_REQUEST, Record("a request", _CALL_KEYS)))
_CREATE = Either(
    (
        _REQUEST,
        Record(
            "a creation",
            {
                **_CALL_KEYS,
                "id": Key(
                    _POINTER, "Where in the answer the new id stands; `/id` where nothing is said."
                ),
                "unique": Key(
                    _NAMES,
                    "The members of the body of which no two resources have the same values.",
                ),
            },
        ),
    )
)
_STEP_KEYS = {
    **_CALL_KEYS,
    "params": _PARAMS,
    "as": Key(Text(), "The identity that sends it, or `anonymous`."),
    "repeat": Key(
        Record(
            "a repetition",
            {
                "until": Key(
                    Integer(100, 599),
                    "The status that ends it; where there is no HTTP, the code does.",
                ),
                "at_most": Key(Integer(1, 100_000), "How many requests it may take."),
            },
        ),
        "Send it again and again, as for a rate limit.",
    ),
    "save": Key(
        Named(_POINTER),
        "Values of the answer to keep, by name; later steps use them as `${name}` or `{name}`.",
    ),
}
_VARIABLE_NAME = Text(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable")
_BEHAVIOUR = Either((Choice(("closed",)), Integer(400, 599)))
_UPSTREAM = Record(
    "an upstream",
    {
        "env": Key(
            _VARIABLE_NAME,
            "The variable that tells the service the address, where `target.command` starts it.",
        ),
        "listen": Key(
            Text(
                r"(127\.0\.0\.1|localhost):[0-9]{1,5}", "a loopback address such as 127.0.0.1:9900"
            ),
            "Where the service expects it; with port 0, or left out, a free one.",
        ),
        "calls": Key(
            Many(
                Record(
                    "a call",
                    {
                        **_CALL_KEYS,
                        "as": Key(Text(), "The identity that sends it, or `anonymous`."),
                        "idempotent": Key(
                            Flag(), "Whether the service may send its call upstream twice."
                        ),
                    },
                ),
                1,
            ),
            "Requests to the service, each of which makes it call the upstream once.",
            True,
        ),
        "fails": Key(
            Named(Either((_BEHAVIOUR, Many(_BEHAVIOUR, 1)))),
            "The codes that the service answers, each with what the upstream did: a status, or `closed` for no answer at all.",
            True,
        ),
        "answer": Key(
            Anything(), "The JSON body of the upstream's good answers; default an empty object."
        ),
        "scale": Key(
            Number(0), "What the service's delays are of the policy's, such as 0.05; default 1."
        ),
    },
)
_CLIENT = Record(
    "a client",
    {
        "command": Key(Many(Text(), 1), "What makes one call and ends.", True),
        "env": Key(
            _VARIABLE_NAME, "The variable that tells the command the address to call.", True
        ),
        "request": Key(
            _REQUEST,
            "The call that it makes, such as `POST /orders`; what else it sends is answered well.",
            True,
        ),
        "scale": Key(
            Number(0), "What the client's delays are of the policies', such as 0.05; default 1."
        ),
        "seconds": Key(Number(0), "How long one run of it may take; default 60."),
    },
)
_RECIPE = Record(
    "a recipe",
    {
        **_STEP_KEYS,
        "request": Key(_REQUEST, "The request that is answered with the code."),
        "steps": Key(
            Many(Record("a step", _STEP_KEYS), 1),
            "Several requests; the last one is answered with the code.",
        ),
        "not_provokable": Key(Text(), "Why the code can't be brought about from outside."),
        "status": Key(Integer(100, 599), "The status that the code travels under here."),
    },
)
CONFIGURATION = Record(
    "the configuration",
    {
        "taxonomy": Key(
            Text(), "The taxonomy that the service is judged by, relative to this file."
        ),
        "target": Key(
            Record(
                "a target",
                {
                    "http": Key(
                        Text(), "The address of the service, such as http://127.0.0.1:8080."
                    ),
                    "openapi": Key(
                        Text(),
                        "The service's OpenAPI document: a path under the address, a URL, a file, or `none`.",
                    ),
                    "stdio": Key(
                        Many(Text(blank=True), 1),
                        "A command that speaks JSON-RPC on its standard streams; it is started beside this file.",
                    ),
                    "framing": Key(
                        Choice(("lines", "content-length")),
                        "How messages on standard streams are told apart: each is a line, or each has a header with its length.",
                    ),
                    "jsonrpc": Key(
                        Text(),
                        "The address of a JSON-RPC service, such as http://127.0.0.1:6800/jsonrpc.",
                    ),
                    "mcp": Key(
                        Text(),
                        "The address of an MCP server (streamable HTTP), such as http://127.0.0.1:8000/mcp.",
                    ),
                    "command": Key(
                        Many(Text(), 1),
                        "What starts a service over HTTP, in the folder of this file; it is ended after the run.",
                    ),
                },
            ),
            "The service that is judged.",
        ),
        "client": Key(
            Either((_CLIENT, Many(_CLIENT, 1))),
            "Clients that `faultspec conform --client` watches, in place of a service.",
        ),
        "identities": Key(
            Named(
                Record(
                    "an identity",
                    {
                        "tenant": Key(Text(), "The tenant the identity belongs to."),
                        "headers": Key(
                            _HEADERS,
                            "The headers that show who it is; `${NAME}` comes from the environment.",
                        ),
                        "scopes": Key(
                            Either((Text(), Many(Text()))),
                            "What the identity may do, where it may not do everything.",
                        ),
                    },
                ),
                Text(r"[A-Za-z_][A-Za-z0-9_.\-]*", "a name (letters, digits, `_`, `.` and `-`)"),
            ),
            "Who calls, the most ordinary caller first.",
        ),
        "resources": Key(
            Named(
                Record(
                    "a resource",
                    {
                        "create": Key(_CREATE, "How one is made."),
                        "read": Key(_CALL, "How one is read."),
                        "update": Key(_CALL, "How one is changed."),
                        "delete": Key(_CALL, "How one is deleted."),
                        "list": Key(_CALL, "How all are listed."),
                        "batch": Key(
                            _CALL,
                            "How several are made at once; the first list in the body holds them.",
                        ),
                        "as": Key(Text(), "The identity that owns them."),
                    },
                )
            ),
            "What relations such as replay, duplicate, stale write and concealment are tested on.",
        ),
        "provoke": Key(
            Named(Either((_RECIPE, Many(_RECIPE, 1)))),
            "How to bring a code about where nothing general does, by code.",
        ),
        "calls": Key(
            Named(
                Either(
                    (
                        _REQUEST,
                        Record(
                            "a call",
                            {
                                "request": Key(_REQUEST, "The name of the method or tool.", True),
                                "params": _PARAMS,
                                "as": Key(Text(), "The identity that sends it, or `anonymous`."),
                                "invalid": Key(
                                    Many(Anything(), 1), "Params or arguments that must be refused."
                                ),
                                "safe": Key(
                                    Flag(),
                                    "It changes nothing, so it is sent without `writes: true` too.",
                                ),
                            },
                        ),
                    )
                )
            ),
            "JSON-RPC and MCP: calls that succeed, by any name; ids, batches, notifications and walks are tested on them.",
        ),
        "upstreams": Key(
            Named(_UPSTREAM), "Scripted upstreams, where retries of the service are to be observed."
        ),
        "limits": Key(
            Record(
                "limits",
                {
                    "requests": Key(Integer(1), "How many requests a run may send."),
                    "seconds": Key(Number(0), "How long a run may take."),
                    "rate": Key(
                        Number(0),
                        "How many requests a second a run sends at most; limits of the service are not tried then.",
                    ),
                    "writes": Key(
                        Flag(),
                        "Whether anything but GET, HEAD, OPTIONS and `safe` calls may be sent.",
                    ),
                },
            ),
            "What a run may cost and do.",
        ),
        "waivers": Key(
            Either((Text(), Many(Anything()))),
            "Known failures: a file, relative to this one, or the list itself.",
        ),
    },
)
