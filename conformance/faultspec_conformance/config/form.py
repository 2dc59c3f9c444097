"""The grammar of `conformance.yaml`: its keys and their values."""

from faultspec.language.grammar import (
    Anything,
    Choice,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Nothing,
    Number,
    Record,
    Text,
)

#: The methods of RFC 9110, 9, and RFC 5789, without CONNECT, which does not address a resource.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")

#: `config.requests` checks request lines, with better messages than a pattern can give.
_REQUEST = Text(
    r"\S[\s\S]*", "a method and a path, such as `GET /orders/{id}`, or the name of a method or tool"
)
_NAMES = Either((Text(), Many(Text(), 1)))
_HEADER_NAME = Text(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+", "a header name (RFC 9110 token)")
_HEADERS = Named(Either((Text(blank=True), Number())), _HEADER_NAME)
_HEADERS_OF_CALL = Named(Either((Text(blank=True), Number(), Nothing())), _HEADER_NAME)
_QUERY = Named(Either((Text(blank=True), Number(), Flag())))
#: A path below the address, perhaps with a method before it and a query behind.
PATH_PATTERN = r"(?:(?:GET|POST|PUT|PATCH|DELETE) )?/(?!/)[\x21-\x7e]{0,500}"
_PATH = Text(
    PATH_PATTERN, "a path such as /orders/17 or `POST /orders`, without host and other blanks"
)

_POINTER = Text(r"(/([^~/]|~[01])*)*", "a JSON Pointer such as /id (RFC 6901)")
_VARIABLE_NAME = Text(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable")
#: Classes of statuses, a connection that ends without an answer, and bodies of a 200 that cannot be
#: used.
_WORDS = Choice(
    ("4xx", "5xx", "closed", "silent", "slow", "truncated", "html", "empty", "mistyped")
)
_FAILURE = Either(
    (
        _WORDS,
        Integer(400, 599),
        Record(
            "a failure",
            {
                "answer": Key(
                    Either((_WORDS, Integer(400, 599))), "What the upstream does instead.", True
                ),
                "path": Key(
                    Text(r"/\S*", "a path such as /v1/charges, where `*` stands for any text"),
                    "The calls that fail; default all. `*` stands for any text.",
                ),
                "after": Key(Integer(0, 1000), "How many of these calls succeed before."),
                "within": Key(
                    Number(0),
                    "Seconds in which the service must answer; default 15, as for any request.",
                ),
            },
        ),
    )
)
_IDENTITY_NAME = Text(r"[A-Za-z_][A-Za-z0-9_.\-]*", "a name (letters, digits, `_`, `.` and `-`)")
_LOOPBACK = Text(
    r"(127\.0\.0\.1|localhost):[0-9]{1,5}", "a loopback address such as 127.0.0.1:9900"
)

_AS = Key(Text(), "The identity that sends the request, or `anonymous`.")
_PARAMS = Key(
    Anything(),
    "The params of a method, or the arguments of a tool. `${unique}` is new in every request.",
)
_VALUES = Named(
    Either((Text(blank=True), Number(), Flag())),
    Text(r"[A-Za-z_][A-Za-z0-9_\-]*", "a name (letters, digits, `_` and `-`)"),
)
_CALL_KEYS = {
    "request": Key(
        _REQUEST,
        "The method and the path, such as `POST /orders` or `GET /orders/{id}`. "
        "Without HTTP: the name of a method or tool.",
        True,
    ),
    "headers": Key(
        _HEADERS_OF_CALL,
        "Headers in addition to those of the identity and a new idempotency key. `null`: the "
        "request goes without the header.",
    ),
    "query": Key(_QUERY, "Query parameters."),
    "body": Key(
        Anything(),
        "The JSON body. `${unique}`, `${unique:int}`, `${unique:date}` and `${unique:datetime}` "
        "are new in every request. `${bytes:100}` is a text of that many bytes, and `${room.id}` "
        "a member of a created resource.",
    ),
    "raw": Key(Text(blank=True), "The body as text, sent verbatim."),
}
_CALL = Either((_REQUEST, Record("a request", _CALL_KEYS)))
_CREATE_KEYS = {
    **_CALL_KEYS,
    "id": Key(_POINTER, "The place of the new id in the answer; default `/id`."),
    "unique": Key(
        Either(
            (
                Text(),
                Many(Text(), 1),
                Record(
                    "a uniqueness",
                    {
                        "fields": Key(_NAMES, "The members.", True),
                        "together": Key(
                            Flag(),
                            "True: only all values together are unique, such as a room and a day. "
                            "Default: each member is.",
                        ),
                        "code": Key(Text(), "The code of a request that repeats their values."),
                    },
                ),
            )
        ),
        "Members of the body whose values must differ between resources.",
    ),
}
_CREATE = Either((_REQUEST, Record("a creation", _CREATE_KEYS)))
_SCALAR = Either((Text(blank=True), Number(), Flag()))
_REPEAT = Record(
    "a repetition",
    {
        "until": Key(
            Either(
                (
                    Integer(100, 599),
                    Named(Either((_SCALAR, Many(_SCALAR, 1))), _POINTER, least=1),
                )
            ),
            "What ends it: a status, or a state of the answer. A state has its values by JSON "
            "Pointer, such as `{/state: [failed, done]}`. Without HTTP and without a state, the "
            "code of the recipe ends it.",
        ),
        "at_most": Key(Integer(1, 100_000), "The highest number of requests."),
        "seconds": Key(Number(0), "How long the state may take; default 5."),
        "scope": Key(
            Choice(("caller", "tenant", "service")),
            "Whose requests the limit counts that `until: 429` reaches: those of one identity, of "
            "a tenant, or all. Another caller or tenant is not refused.",
        ),
    },
)
_PLACE = Text(
    r"(/([^~/]|~[01])*)*|(header|cookie) [^\s;=]+",
    "a JSON Pointer such as /id, `header NAME` or `cookie NAME`",
)
_SAVED = Record(
    "a value to keep",
    {
        "at": Key(_PLACE, "Its place in the answer: a JSON Pointer, `header NAME`, `cookie NAME`."),
        "header": Key(Text(), "An older form of `at: header NAME`."),
        "match": Key(
            Text(),
            "A regular expression. Its first group is kept, or all that it matches: `[^/]+$` is "
            "the last segment of a path.",
        ),
    },
)
_SAVE = Either((_PLACE, _SAVED))
_PARALLEL = Record(
    "requests at once",
    {
        "requests": Key(Integer(2, 50), "How many requests are sent at the same time.", True),
        "succeed": Key(Integer(0), "How many of them succeed; default 1."),
    },
)
_STEP_NAME = Text(r"[a-z_]\w*", "a name (lower-case letters, digits and `_`)")
_STEP_KEYS = {
    **_CALL_KEYS,
    "params": _PARAMS,
    "as": _AS,
    "repeat": Key(_REPEAT, "Repeat the request, for example to exceed a rate limit."),
    "save": Key(
        Named(_SAVE),
        "Values of the answer to keep, by name: a JSON Pointer, `header NAME` or `cookie NAME`. "
        "Later steps use them as `${name}` or `{name}`.",
    ),
    "status": Key(
        Integer(100, 599),
        "The status of the answer: that the code has here, or of a refusal on the way.",
    ),
    "parallel": Key(
        _PARALLEL,
        "Send the request several times at the same time. Those that do not succeed get the code.",
    ),
    "notification": Key(Flag(), "JSON-RPC: it is a notification, which gets no answer."),
    "wait": Key(
        Flag(),
        "JSON-RPC, `false`: the next step does not wait for the answer, which is judged when it "
        "comes.",
    ),
    "id": Key(
        _STEP_NAME,
        "JSON-RPC: the name by which later steps use the id of the request, as `${name}`.",
    ),
    "may_fail": Key(
        Flag(), "JSON-RPC and MCP: the recipe goes on if the service answers with an error."
    ),
}
_EXPECT = Record(
    "an expectation",
    {
        "status": Key(Integer(100, 599), "The status of the last answer."),
        "slots": Key(Named(Anything()), "Values of slots of the envelope, by slot."),
        "details": Key(Named(Anything()), "Values of details, by name; null: it is missing."),
        "headers": Key(
            Named(Either((Text(blank=True), Number(), Nothing()))),
            "Values of headers, by name; null: the header is missing.",
        ),
        "upstream_calls": Key(
            Named(Integer(0)), "The calls that each upstream gets for the last request."
        ),
    },
)
_FAULTS = Record(
    "a fault switch",
    {
        "header": Key(Text(), "The header that makes any operation fail."),
        "query": Key(Text(), "The query parameter that makes any operation fail."),
        "body": Key(Text(), "The member of a JSON body that makes any write fail."),
        "values": Key(
            Either((Many(Text(), 1), Named(_SCALAR, least=1))),
            "The value that brings about each code, by code; a list: the codes themselves.",
            True,
        ),
        "as": _AS,
    },
)
_STEP = Record("a step", _STEP_KEYS)
#: Steps beside those that provoke a code, which only services that are called by name have.
_NAMED_STEP = Record(
    "a step",
    {
        **{
            name: _STEP_KEYS[name]
            for name in ("request", "params", "as", "notification", "may_fail")
        },
        "save": Key(
            Named(_POINTER),
            "Values of the answer to keep, by name: a JSON Pointer such as `/result/id`. Later "
            "steps use them as `${name}`.",
        ),
    },
)
_RECIPE = Record(
    "a recipe",
    {
        **_STEP_KEYS,
        "request": Key(_REQUEST, "The request that the service answers with the code."),
        "steps": Key(
            Many(_STEP, 1),
            "Several requests. The service answers the last one with the code.",
        ),
        "values": Key(
            _VALUES,
            "Values that are made up once, before the first step, by name. All steps use them as "
            "`${name}` or `{name}`.",
        ),
        "not_provokable": Key(Text(), "Why no request can bring the code about."),
        "expect": Key(_EXPECT, "What the last answer has besides its code."),
        "action": Key(
            Either((_REQUEST, _STEP, Many(_STEP, 1))),
            "The request, or the requests, of the action that `retriable: {until: ACTION}` of the "
            "code names. After them the last request must not get the code.",
        ),
        "fresh": Key(
            Flag(), "Standard streams: the recipe gets a process of its own, which ends with it."
        ),
        "after": Key(
            Many(_NAMED_STEP, 1),
            "JSON-RPC and MCP: steps that undo what the recipe changed. They are sent whether or "
            "not the code came.",
        ),
        "notifications": Key(
            Many(Text(), 1),
            "JSON-RPC: names of notifications that the service sends meanwhile, such as "
            "`$/progress`.",
        ),
        "surface": Key(
            Text(),
            "The surface of a failure whose name is not a code of the taxonomy. The answer has "
            "`status` and belongs to this surface.",
        ),
        "rendering": Key(
            Text(),
            "The rendering of the taxonomy that tells the code, in place of an envelope: a tool "
            "message in a chat, for example.",
        ),
    },
)
_UPSTREAM_CALL = Record(
    "a call",
    {
        **_CALL_KEYS,
        "as": _AS,
        "idempotent": Key(Flag(), "Whether the service may send its call upstream twice."),
        "before": Key(
            Many(Either((_REQUEST, Record("a request", {**_CALL_KEYS, "as": _AS}))), 1),
            "Requests that bring the resource of the call into the state that it needs, such as "
            "`POST /orders/${order.id}/approve`. They succeed, and go before each call, which then "
            "gets a new resource.",
        ),
    },
)
_PASS_ON = Record(
    "headers to pass on",
    {
        "always": Key(
            Many(Text(), 1), "Headers whose value each call has, such as `X-Correlation-Id`."
        ),
        "never": Key(
            Many(Text(), 1),
            (
                "Headers, and parameters of the query, whose value stands in no call, such as "
                "`Authorization` and `Cookie`."
            ),
        ),
    },
)
_UPSTREAM = Record(
    "an upstream",
    {
        "env": Key(
            _VARIABLE_NAME,
            "The variable that gives the service the address, if `target.command` starts it.",
        ),
        "listen": Key(_LOOPBACK, "The address that the service expects. Default: a free port."),
        "calls": Key(
            Many(_UPSTREAM_CALL, 1),
            "Requests to the service. Each makes it call the upstream once.",
            True,
        ),
        "fails": Key(
            Named(Either((_FAILURE, Many(_FAILURE, 1)))),
            "Codes that the service answers, each with the behaviour of the upstream: "
            "a status or a class of statuses such as `4xx`, `closed` for a connection that ends, "
            "`silent` for one without an answer, `slow` for an answer that never ends, or a 200 "
            "whose body is `truncated`, `html`, `empty` or `mistyped`.",
        ),
        "error": Key(
            Anything(),
            "The JSON body of its failures with a code, in which `$code` stands for that code. "
            "Rows of `upstream.codes` with `code` need it.",
        ),
        "answer": Key(
            Anything(), "The JSON body of the upstream's successes; default an empty object."
        ),
        "status": Key(Integer(200, 202), "The status of the upstream's successes; default 200."),
        "pass_on": Key(
            _PASS_ON,
            "Headers of a request that the service's calls upstream repeat, or must not repeat.",
        ),
        "scale": Key(
            Number(0),
            "The delays of the service as a multiple of the policy's, such as 0.05; default 1.",
        ),
    },
)
_CLIENT = Record(
    "a client",
    {
        "command": Key(Many(Text(), 1), "The command that makes one call and ends.", True),
        "env": Key(_VARIABLE_NAME, "The variable that gives the command the address.", True),
        "request": Key(
            _REQUEST,
            (
                "The call to judge, such as `POST /orders`. Its other requests are answered with "
                "success."
            ),
            True,
        ),
        "scale": Key(
            Number(0),
            "The delays of the client as a multiple of the policies', such as 0.05; default 1.",
        ),
        "seconds": Key(Number(0), "How long one run of the command may take; default 60."),
    },
)
_TARGET = Record(
    "a target",
    {
        "http": Key(Text(), "The address of the service, such as http://127.0.0.1:8080."),
        "openapi": Key(
            _NAMES,
            (
                "The service's OpenAPI document: a path under the address, a URL, a file, or "
                "`none`. A list names the files of one document: first the one that has the "
                "paths, then those that its references lead to. Nothing else is read or fetched."
            ),
        ),
        "stdio": Key(
            Many(Text(blank=True), 1),
            (
                "A command that speaks JSON-RPC on its standard streams. It runs in the folder of "
                "this file."
            ),
        ),
        "framing": Key(
            Choice(("lines", "content-length")),
            "How standard streams separate messages: one a line, or a header with the length.",
        ),
        "jsonrpc": Key(
            Text(), "The address of a JSON-RPC service, such as http://127.0.0.1:6800/jsonrpc."
        ),
        "mcp": Key(
            Either((Text(), Many(Text(blank=True), 1))),
            "The address of an MCP server (streamable HTTP), such as http://127.0.0.1:8000/mcp, or "
            "the command of one that speaks on its standard streams, as a list. The command runs "
            "in the folder of this file.",
        ),
        "revision": Key(
            Choice(("2025-11-25", "2026-07-28")),
            "The revision of MCP to speak. Default: the handshake of 2025-11-25, in which the "
            "server may choose an earlier one.",
        ),
        "command": Key(
            Many(Text(), 1),
            "The command that starts a service over HTTP, in the folder of this file, as a list: "
            '`[uvicorn, app:app, --port, "8080"]`. It is stopped after the run.',
        ),
    },
)
_LOGIN = Record(
    "a login",
    {
        **_CALL_KEYS,
        "save": Key(
            Named(_SAVE, least=1),
            "The values of the answer that the headers and the query of the identity use as "
            "`${name}`, by name.",
            True,
        ),
    },
)
_OPERATION = Text(
    r"[A-Z]+ \*|((\*|[A-Z]+) )?/\S*",
    "a method and a path, such as `POST /logout`, `DELETE *` or `/admin/*`",
)
_IDENTITY = Record(
    "an identity",
    {
        "tenant": Key(Text(), "The tenant of the identity."),
        "headers": Key(
            _HEADERS, "The headers with its credentials. `${NAME}` comes from the environment."
        ),
        "query": Key(
            _QUERY,
            "Parameters of the query that each of its requests has, such as `api_key: ${API_KEY}`, "
            "for services that read credentials there.",
        ),
        "scopes": Key(
            Either((Text(), Many(Text()))),
            "What the identity is allowed to do, if it is not allowed everything.",
        ),
        "forbidden": Key(
            Many(_OPERATION, 1),
            "Operations that the service refuses to the identity with 403, such as those of "
            "another role: `[POST /refunds, DELETE *]`.",
        ),
        "login": Key(
            _LOGIN,
            "The request that yields its credentials. It is sent before the first request of the "
            "identity, and again if the service refuses credentials that it accepted before. "
            "`${NAME}` in its body and query comes from the environment.",
        ),
    },
)
_PARAMETER = Text(r"\S+", "the name of a parameter of the query")
_PAGES = Record(
    "the pages of a list",
    {
        "size": Key(_PARAMETER, "The parameter for the number of items on a page."),
        "cursor": Key(_PARAMETER, "The parameter for a cursor that an answer gave."),
        "page": Key(_PARAMETER, "The parameter for the number of a page."),
        "offset": Key(_PARAMETER, "The parameter for the number of items before a page."),
        "next": Key(
            _POINTER, "The place of the next cursor, or of the URL of the next page, in an answer."
        ),
        "more": Key(_POINTER, "The place of a flag: whether another page follows."),
        "items": Key(_POINTER, "The place of the items; default the first list of the answer."),
    },
)
_RESOURCE = Record(
    "a resource",
    {
        "create": Key(_CREATE, "The request that creates one."),
        "read": Key(_CALL, "The request that reads one."),
        "update": Key(_CALL, "The request that changes one."),
        "delete": Key(_CALL, "The request that deletes one."),
        "list": Key(_CALL, "The request that lists all."),
        "batch": Key(
            _CALL, "The request that creates several. The first list in its body has the items."
        ),
        "as": Key(Text(), "The identity that owns them."),
        "stale": Key(Text(), "The code of a write with an `If-Match` that is out of date."),
        "server_owned": Key(
            Many(_POINTER, 1),
            "Members of the answers that the service itself sets, such as `/owner` and `/role`. No "
            "creation and no update sets them.",
        ),
        "pages": Key(
            _PAGES,
            "Names in the list that are not in common use, such as `{cursor: from, next: /link}`.",
        ),
    },
)
_SAMPLE = Record(
    "a call",
    {
        "request": Key(_REQUEST, "The name of the method or tool.", True),
        "params": _PARAMS,
        "as": _AS,
        "before": Key(
            Many(_NAMED_STEP, 1),
            "Steps that the call needs each time, such as one that opens a file.",
        ),
        "invalid": Key(
            Many(Anything(), 1),
            "Params or arguments that the service must refuse. A mapping of `params` and `code` "
            "alone names the code, or the number of the protocol, of the refusal.",
        ),
        "safe": Key(
            Flag(), "Whether it changes nothing. A safe call does not need `writes: true`."
        ),
    },
)
#: The checks of schemathesis that may be switched on. Those that hold an answer to the document are
#: always on, as clauses `document/*`; `not_a_server_error` is what the taxonomy decides.
SCHEMATHESIS_CHECKS = (
    "use_after_free",
    "ensure_resource_availability",
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "unsupported_method",
)
_SWEEP = Record(
    "a sweep",
    {
        "requests": Key(
            Integer(0),
            "The highest number of generated requests; default 300. With 0 only the probes of all "
            "operations run.",
        ),
        "checks": Key(
            Many(Choice(SCHEMATHESIS_CHECKS)),
            "Checks of schemathesis that conclude from several answers or from generated data. "
            "Their failures are warnings. Default: `use_after_free`.",
        ),
        "leave_out": Key(
            Many(_OPERATION),
            "Operations that get no generated request. Default: those whose names say that they "
            "end a session, remove the caller or change credentials.",
        ),
    },
)
_LIMITS = Record(
    "limits",
    {
        "requests": Key(Integer(1), "The highest number of requests of a run."),
        "seconds": Key(Number(0), "The longest time of a run."),
        "rate": Key(
            Number(0),
            "The highest number of requests a second. Limits of the service are not tested then.",
        ),
        "settle": Key(
            Number(0),
            "Seconds until reads show what was written, for services that are eventually "
            "consistent.",
        ),
        "writes": Key(
            Flag(), "Whether a run may send more than GET, HEAD, OPTIONS and `safe` calls."
        ),
    },
)
_ENDING = Record(
    "an end of the process",
    {
        "steps": Key(
            Many(_NAMED_STEP, 1), "The requests and notifications that end the process.", True
        ),
        "exit_code": Key(Integer(0, 255), "The exit code of the process."),
        "seconds": Key(Number(0), "How long the process may take to end; default 5."),
    },
)
_SESSION = Record(
    "a session",
    {
        "start": Key(
            Many(_NAMED_STEP, 1),
            "Requests and notifications at the start of each process, such as `initialize`. The "
            "service answers them with success.",
        ),
        "replies": Key(
            Named(Anything()),
            "The results of the requests of the service itself, by method. Others are refused. MCP "
            "has `elicitation/create`, `sampling/createMessage` and `roots/list`.",
        ),
        "end": Key(
            Either((_ENDING, Many(_ENDING, 1))),
            "How the process is asked to end. It ends by itself and leaves no process behind. Of "
            "several ends, each is tried in a process of its own.",
        ),
    },
)
_AUDIT = Record(
    "the audit of the service",
    {
        "lookup": Key(
            _CALL,
            "The request that reads the record of one failure. A placeholder with the name of a "
            "slot of the envelope stands for the id: `GET /v1/audit/${audit_id}`.",
            True,
        ),
        "as": Key(
            Text(), "The identity that may read every record; default the caller of the failure."
        ),
    },
)
_REFERENCES = Record(
    "the references of errors",
    {
        "files": Key(
            Text(), "The folder below which the files lie, relative to this file, such as `.`."
        ),
        "hosts": Key(
            Many(Text(r"[A-Za-z0-9.-]+(:[0-9]+)?", "a host such as docs.example.com"), 1),
            "Hosts beside that of `target` that the run may ask for the pages behind URLs.",
        ),
    },
)
CONFIGURATION = Record(
    "the configuration",
    {
        "taxonomy": Key(Text(), "The taxonomy of the service, relative to this file."),
        "target": Key(_TARGET, "The service to judge."),
        "client": Key(
            Either((_CLIENT, Many(_CLIENT, 1))),
            "Clients that `faultspec conform --client` judges, in place of a service.",
        ),
        "identities": Key(
            Named(_IDENTITY, _IDENTITY_NAME), "The callers, the most ordinary one first."
        ),
        "resources": Key(
            Named(_RESOURCE),
            "Resources for the tests of replay, duplicates, stale writes and concealment.",
        ),
        "provoke": Key(
            Named(Either((_RECIPE, Many(_RECIPE, 1)))),
            "How to bring about the codes that no general probe does, by code.",
        ),
        "faults": Key(
            Either((_FAULTS, Many(_FAULTS, 1))),
            "Fault switches: what makes any operation of the service fail with a code.",
        ),
        "calls": Key(
            Named(Either((_REQUEST, _SAMPLE))),
            "JSON-RPC and MCP: calls that succeed, by any name. Ids, batches, notifications and "
            "walks are tested on them.",
        ),
        "session": Key(
            Either((Many(_NAMED_STEP, 1), _SESSION)),
            "JSON-RPC over standard streams: what each process gets at its start, and how one is "
            "asked to end. A list: the steps at the start.",
        ),
        "sinks": Key(
            Named(Text(), least=1),
            "The file of each surface with `transport: log`, relative to this file. The errors "
            "that the service appends to it during the run are judged.",
        ),
        "upstreams": Key(
            Named(_UPSTREAM), "Scripted upstreams, to observe the retries of the service."
        ),
        "values": Key(
            _VALUES,
            "Constants by name, for parameters of paths such as `{region}`, and for requests of "
            "this file as `${region}`.",
        ),
        "confidential": Key(
            Many(_POINTER, 1),
            "Places in bodies of requests, or in params and arguments of calls, such as "
            "`/card/number`, whose values may stand in no answer and no log. The document's "
            "`writeOnly` and `format: password` need no entry.",
        ),
        "paths": Key(
            Many(_PATH, 1),
            "Paths of a service without an OpenAPI document, such as `/orders/17` or "
            "`/search?q=tea`, or as the router of the service writes them: `/orders/:id`. The run "
            "asks for them by GET, and learns routes from the answers. `POST /orders` names a "
            "route that takes JSON.",
        ),
        "audit": Key(_AUDIT, "How support reads the record of a failure by the id in its answer."),
        "references": Key(
            _REFERENCES,
            "Where the values of details and slots with `refers_to` may be followed to.",
        ),
        "skip": Key(
            Named(Text(), _OPERATION),
            "Operations that no request is sent to, each with the reason: "
            "`{POST /logout: it ends the session}`.",
        ),
        "sweep": Key(_SWEEP, "Generated traffic."),
        "limits": Key(_LIMITS, "What a run may cost and do."),
        "waivers": Key(
            Either((Text(), Many(Anything()))),
            "Known failures: a file, relative to this one, or the list itself.",
        ),
    },
)
