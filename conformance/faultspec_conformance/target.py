"""`conformance.yaml` → what is judged and as whom: the service, identities, resources, provocations, limits.

`${NAME}` in capitals comes from the environment and is masked in everything reported; `${unique}` is new in every request;
other names are values that an earlier step saved. Everything wrong with the file is a `Diagnostic`, never an exception.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast
from urllib.parse import urlsplit

from faultspec.clauses import retries_upstream
from faultspec.diagnostic import Diagnostic, ordered
from faultspec.diagnostic import Path as Place
from faultspec.exchange import Headers
from faultspec.language import grammar
from faultspec.language.grammar import Anything, Choice, Either, Flag, Integer, Key, Many, Named, Number, Record, Text
from faultspec.language.model import Code, Taxonomy
from faultspec.language.prune import prune
from faultspec.source import UNTOLD, Document, SourceError, load
from faultspec_conformance.drivers.http import Limits

#: The caller without credentials; every configuration has him.
ANONYMOUS = "anonymous"

#: Names in capitals are read from the environment, so that secrets need not stand in the file.
_VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")

#: Headers whose value is a credential wherever it comes from.
CREDENTIALS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "apikey", "x-auth-token"}
)

_EMPTY: Mapping[str, str] = MappingProxyType({})

#: Seconds that one run of a client may take: a few tries with a wait of some seconds each.
_CLIENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller. ``shown``: his headers as the file has them, with ``${NAME}`` in place of values from the environment.

    ``tenant``: whom he belongs to; two identities of different tenants make concealment testable. ``scopes``: what he may
    do, where the file says so.
    """

    name: str
    headers: Headers = ()
    shown: Headers = ()
    tenant: str | None = None
    scopes: tuple[str, ...] | None = None
    secrets: tuple[tuple[str, str], ...] = ()

    @property
    def anonymous(self) -> bool:
        """Whether he shows no credentials; what else a request needs, such as a tenant, he may still say."""
        return self.name == ANONYMOUS or not self.headers


NOBODY = Identity(ANONYMOUS)


class _Absent:
    """No body was given, which is not the body `null`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Call:
    """A request as the file writes it. ``path`` may hold ``{placeholders}`` and a query; ``raw``: the body's text, verbatim."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = ABSENT
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceConfig:
    """What the file says of a resource; what it leaves out is inferred. ``id``: where in the created body its id stands."""

    name: str
    create: Call | None = None
    read: Call | None = None
    update: Call | None = None
    delete: Call | None = None
    list: Call | None = None
    batch: Call | None = None
    id: str | None = None
    unique: tuple[str, ...] = ()
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a recipe. ``until``: repeat until this status, ``at_most`` so often. ``save``: names → JSON Pointers."""

    call: Call
    identity: str | None = None
    until: int | None = None
    at_most: int = 1
    save: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a code is brought about, or ``not_provokable``: why it can't be. ``status``: the one it must travel under here.

    ``place``: where the file has it.
    """

    code: str
    steps: tuple[Step, ...] = ()
    not_provokable: str | None = None
    status: int | None = None
    place: Place = ()


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """A request to the service that makes it call the upstream once; ``idempotent``: whether it may do so again."""

    call: Call
    identity: str | None = None
    idempotent: bool | None = None


@dataclass(frozen=True, slots=True)
class UpstreamConfig:
    """A scripted upstream on loopback. ``fails``: what it does, a status or `closed`, and the code the service answers then.

    ``port`` 0: a free one, and the variable ``env`` tells the service the address. ``answer``: the body of good answers.
    ``scale``: what the service's delays are of the policy's.
    """

    name: str
    calls: tuple[UpstreamCall, ...]
    fails: tuple[tuple[str, int | Literal["closed"]], ...]
    port: int = 0
    env: str | None = None
    answer: object = field(default_factory=dict)
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """A client to be watched. ``command`` makes one call, ``request``, to the address in the variable ``env``, and ends.

    ``scale``: what its delays are of the policies'. ``seconds``: how long one run of it may take.
    """

    command: tuple[str, ...]
    env: str
    request: Call
    scale: float = 1.0
    seconds: float = _CLIENT_SECONDS


@dataclass(frozen=True, slots=True)
class Target:
    """One service, described once. Paths are absolute or relative to the working directory.

    ``openapi``: a path under ``http``, a URL, a file, or None. ``taxonomy`` and ``waivers``: files. ``secrets``: values
    from the environment in the headers of requests, each with what stands for it in reports. ``command`` starts the
    service, in the folder of the file. ``clients``: the callers that are watched in place of a service.
    """

    http: str
    openapi: str | None = None
    openapi_file: str | None = None
    taxonomy: str | None = None
    identities: Mapping[str, Identity] = field(default_factory=dict)
    resources: Mapping[str, ResourceConfig] = field(default_factory=dict)
    recipes: tuple[Recipe, ...] = ()
    limits: Limits = field(default_factory=Limits)
    waivers: str | None = None
    path: str | None = None
    secrets: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ()
    upstreams: tuple[UpstreamConfig, ...] = ()
    clients: tuple[ClientConfig, ...] = ()

    def identity(self, name: str | None) -> Identity:
        """The identity of that name; nobody where there is none."""
        return NOBODY if name is None or name == ANONYMOUS else self.identities[name]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of reading a configuration; ``target`` is None when any diagnostic is an error.

    ``draft`` is what could be understood of it in spite of errors: good for finding more of them, not for a run.
    ``sources``: the text by file name, for printers that show the line.
    """

    document: Document | None
    target: Target | None
    diagnostics: tuple[Diagnostic, ...]
    draft: Target | None = None
    sources: Mapping[str, str] = field(default_factory=dict)


#: The methods of RFC 9110 section 9 and RFC 5789, but for CONNECT, which asks for no resource.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")

#: What is wrong with a request is said by `_Reading.request`, in more words than a pattern has.
_REQUEST = Text(r"\S(.|\n)*", "a method and a path, such as `GET /orders/{id}`")
_NAMES = Either((Text(), Many(Text(), 1)))
_HEADERS = Named(
    Either((Text(blank=True), Number())), Text(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+", "a header name (RFC 9110 token)")
)
_QUERY = Named(Either((Text(blank=True), Number(), Flag())))
_POINTER = Text(r"(/([^~/]|~[01])*)*", "a JSON Pointer such as /id (RFC 6901)")

_CALL_KEYS = {
    "request": Key(_REQUEST, "The method and the path, such as `POST /orders` or `GET /orders/{id}`.", True),
    "headers": Key(_HEADERS, "Headers beyond those of the identity."),
    "query": Key(_QUERY, "Query parameters."),
    "body": Key(Anything(), "The JSON body; `${unique}` is new every time."),
    "raw": Key(Text(blank=True), "The body as text, sent as it is."),
}
_CALL = Either((_REQUEST, Record("a request", _CALL_KEYS)))
_CREATE = Either(
    (
        _REQUEST,
        Record(
            "a creation",
            {
                **_CALL_KEYS,
                "id": Key(_POINTER, "Where in the answer the new id stands; `/id` where nothing is said."),
                "unique": Key(_NAMES, "The members of the body of which no two resources have the same values."),
            },
        ),
    )
)
_STEP_KEYS = {
    **_CALL_KEYS,
    "as": Key(Text(), "The identity that sends it, or `anonymous`."),
    "repeat": Key(
        Record(
            "a repetition",
            {
                "until": Key(Integer(100, 599), "The status that ends it.", True),
                "at_most": Key(Integer(1, 100_000), "How many requests it may take."),
            },
        ),
        "Send it again and again, as for a rate limit.",
    ),
    "save": Key(
        Named(_POINTER), "Values of the answer to keep, by name; later steps use them as `${name}` or `{name}`."
    ),
}
_VARIABLE_NAME = Text(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable")
_BEHAVIOUR = Either((Choice(("closed",)), Integer(400, 599)))
_UPSTREAM = Record(
    "an upstream",
    {
        "env": Key(
            _VARIABLE_NAME, "The variable that tells the service the address, where `target.command` starts it."
        ),
        "listen": Key(
            Text(r"(127\.0\.0\.1|localhost):[0-9]{1,5}", "a loopback address such as 127.0.0.1:9900"),
            "Where the service expects it; with port 0, or left out, a free one.",
        ),
        "calls": Key(
            Many(
                Record(
                    "a call",
                    {
                        **_CALL_KEYS,
                        "as": Key(Text(), "The identity that sends it, or `anonymous`."),
                        "idempotent": Key(Flag(), "Whether the service may send its call upstream twice."),
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
        "answer": Key(Anything(), "The JSON body of the upstream's good answers; default an empty object."),
        "scale": Key(Number(0), "What the service's delays are of the policy's, such as 0.05; default 1."),
    },
)
_CLIENT = Record(
    "a client",
    {
        "command": Key(Many(Text(), 1), "What makes one call and ends.", True),
        "env": Key(_VARIABLE_NAME, "The variable that tells the command the address to call.", True),
        "request": Key(
            _REQUEST, "The call that it makes, such as `POST /orders`; what else it sends is answered well.", True
        ),
        "scale": Key(Number(0), "What the client's delays are of the policies', such as 0.05; default 1."),
        "seconds": Key(Number(0), "How long one run of it may take; default 60."),
    },
)
_RECIPE = Record(
    "a recipe",
    {
        **_STEP_KEYS,
        "request": Key(_REQUEST, "The request that is answered with the code."),
        "steps": Key(
            Many(Record("a step", _STEP_KEYS), 1), "Several requests; the last one is answered with the code."
        ),
        "not_provokable": Key(Text(), "Why the code can't be brought about from outside."),
        "status": Key(Integer(100, 599), "The status that the code travels under here."),
    },
)
CONFIGURATION = Record(
    "the configuration",
    {
        "taxonomy": Key(Text(), "The taxonomy that the service is judged by, relative to this file."),
        "target": Key(
            Record(
                "a target",
                {
                    "http": Key(Text(), "The address of the service, such as http://127.0.0.1:8080."),
                    "openapi": Key(
                        Text(), "The service's OpenAPI document: a path under the address, a URL, a file, or `none`."
                    ),
                    "stdio": Key(Many(Text(), 1), "A command that speaks JSON-RPC on its standard streams."),
                    "jsonrpc": Key(Text(), "The address of a JSON-RPC service."),
                    "mcp": Key(Text(), "The address of an MCP server."),
                    "command": Key(
                        Many(Text(), 1),
                        "What starts the service, in the folder of this file; it is ended after the run.",
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
                            _HEADERS, "The headers that show who it is; `${NAME}` comes from the environment."
                        ),
                        "scopes": Key(
                            Either((Text(), Many(Text()))), "What the identity may do, where it may not do everything."
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
                        "batch": Key(_CALL, "How several are made at once; the first list in the body holds them."),
                        "as": Key(Text(), "The identity that owns them."),
                    },
                )
            ),
            "What relations such as replay, duplicate, stale write and concealment are tested on.",
        ),
        "provoke": Key(
            Named(Either((_RECIPE, Many(_RECIPE, 1)))), "How to bring a code about where nothing general does, by code."
        ),
        "upstreams": Key(Named(_UPSTREAM), "Scripted upstreams, where retries of the service are to be observed."),
        "limits": Key(
            Record(
                "limits",
                {
                    "requests": Key(Integer(1), "How many requests a run may send."),
                    "seconds": Key(Number(0), "How long a run may take."),
                    "writes": Key(Flag(), "Whether anything but GET, HEAD and OPTIONS may be sent."),
                },
            ),
            "What a run may cost and do.",
        ),
        "waivers": Key(
            Either((Text(), Many(Anything()))), "Known failures: a file, relative to this one, or the list itself."
        ),
    },
)


def read(path: str, environment: Mapping[str, str] = os.environ) -> Loaded:
    """Read the configuration at ``path``; what takes the taxonomy to see is found by `problems`, once that is known."""
    try:
        document = load(path)
    except SourceError as error:
        if error.document is None:
            return Loaded(None, None, error.diagnostics, sources={} if error.text is None else {path: error.text})
        return understand(error.document, environment, error.diagnostics)
    return understand(document, environment)


def understand(document: Document, environment: Mapping[str, str], before: Iterable[Diagnostic] = ()) -> Loaded:
    """The pure half of `read`; `before` is what was found on the way to the document."""
    before = tuple(before)
    repeated = tuple(each.pointer for each in before if each.code == "duplicate-key")
    target, found = _understood(document, environment)
    for other in document.others:
        _, more = _understood(other, environment)
        found += [each for each in more if any(each.pointer[: len(path)] == path for path in repeated)]
    diagnostics = ordered((*before, *found))
    broken = any(each.severity == "error" for each in diagnostics)
    return Loaded(document, None if broken else target, diagnostics, target, {document.path: document.text})


def _understood(document: Document, environment: Mapping[str, str]) -> tuple[Target, list[Diagnostic]]:
    """One reading of a document: what it says, and what is wrong with it."""
    problems = list(grammar.problems(CONFIGURATION, document.data))
    remains = prune(CONFIGURATION, document.data, problems)
    reading = _Reading(document, environment, remains.lost)
    target = reading.target(remains.data)
    said = [
        document.diagnostic(each.code, each.message, each.path, key=each.on_key, hint=each.hint) for each in problems
    ]
    return target, [*said, *reading.found]


def problems(target: Target, taxonomy: Taxonomy, document: Document) -> tuple[Diagnostic, ...]:
    """What is wrong with a configuration in the light of its taxonomy: codes there are not, statuses they never have."""
    known: dict[str, tuple[Code, ...]] = {name: (code,) for name, code in taxonomy.codes.items()}
    for operation in taxonomy.operations.values():
        for name, code in operation.errors.items():
            known[name] = (*known.get(name, ()), code)
    found = []
    for recipe in target.recipes:
        if recipe.code not in known:
            message = f"the taxonomy {taxonomy.name} has no code `{recipe.code}`"
            hint = grammar.closest(recipe.code, tuple(known)) or f"its codes are {', '.join(known)}"
            found.append(document.diagnostic("unknown-code", message, ("provoke", recipe.code), hint=hint))
        elif recipe.status is not None and not any(each.http.allows(recipe.status) for each in known[recipe.code]):
            statuses = ", ".join(str(each) for code in known[recipe.code] for each in code.http.statuses)
            message = f"`{recipe.code}` never travels as {recipe.status}"
            hint = f"its statuses: {statuses or 'none'}"
            found.append(document.diagnostic("bad-value", message, (*recipe.place, "status"), key=False, hint=hint))
    for upstream in target.upstreams:
        place: Place = ("upstreams", upstream.name)
        if retries_upstream(taxonomy) is None:
            message = f"{taxonomy.name} does not say how services behind are called"
            hint = "declare `upstream: {retry: POLICY}` in the taxonomy, or remove the key"
            found.append(document.diagnostic("unknown-policy", message, place, hint=hint))
        for name in dict.fromkeys(name for name, _ in upstream.fails if name not in known):
            message = f"the taxonomy {taxonomy.name} has no code `{name}`"
            hint = grammar.closest(name, tuple(known)) or f"its codes are {', '.join(known)}"
            found.append(document.diagnostic("unknown-code", message, (*place, "fails", name), hint=hint))
    return ordered(found)


_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

#: A name that a step saves, where a text uses it; the suite's own is `unique`.
_NAME = re.compile(r"\$\{([a-z_]\w*)\}")


def _shape(path: str) -> str:
    """A path without its query, its placeholders anonymous, ending in a slash."""
    return _PLACEHOLDER.sub("{}", path.partition("?")[0]).rstrip("/") + "/"


class _Reading:
    """One configuration being understood, and what is wrong with it. Nothing is said of what is ``lost``."""

    def __init__(self, document: Document, environment: Mapping[str, str], lost: Collection[Place]) -> None:
        self.document = document
        self.environment = environment
        self.secrets: list[tuple[str, str]] = []
        self.lost = lost
        self.found: list[Diagnostic] = []
        self.directory = Path(document.path).parent
        written = document.data.get("identities", {}) if isinstance(document.data, dict) else {}
        told = isinstance(written, dict) and UNTOLD not in written
        misspelt = isinstance(document.data, dict) and "identities" not in document.data and _misspelt(document.data)
        #: None where the identities cannot be told.
        self.identities = tuple(written) if told and not misspelt else None
        self.items: tuple[str, ...] | None = None

    def target(self, data: Mapping[str, object]) -> Target:
        where = cast(Mapping[str, object], data.get("target", {}))
        if "target" not in data and "client" not in data:
            hint = "add `target: {http: ADDRESS}`, or `client:` for callers to be watched"
            self.say(
                "missing-key",
                "the configuration says nothing of `target`",
                (),
                hint=hint,
                needs=(("target",), ("client",)),
            )
        elif "http" not in where and "target" in data:
            self.other_transport(where)
        http = self.expanded(str(where.get("http", "")), ("target", "http"))
        if http and not _VARIABLE.search(http):  # one that is left is reported already
            self.address(http)
        self.secrets += _of_an_address(http)
        identities = {
            name: self.identity(name, cast(Mapping[str, object], each))
            for name, each in cast(Mapping[str, object], data.get("identities", {})).items()
        }
        resources = {
            name: self.resource(name, cast(Mapping[str, object], each))
            for name, each in cast(Mapping[str, object], data.get("resources", {})).items()
        }
        # Without any, resources are inferred from a document that is not at hand yet.
        if resources and not any(each[:1] == ("resources",) for each in self.lost):
            self.items = tuple(item for each in resources.values() for item in _items(each))
        limits = cast(Mapping[str, object], data.get("limits", {}))
        if limits.get("seconds") == 0:
            message = "a run of 0 seconds sends nothing"
            self.say("bad-value", message, ("limits", "seconds"), key=False, hint="leave it away for 120 seconds")
        waivers = data.get("waivers")
        path, file = self.openapi(where.get("openapi"))
        return Target(
            http=http.rstrip("/"),
            openapi=path,
            openapi_file=file,
            taxonomy=self.beside(self.expanded(str(data["taxonomy"]), ("taxonomy",))) if "taxonomy" in data else None,
            identities=identities,
            resources=resources,
            recipes=tuple(self.recipes(cast(Mapping[str, object], data.get("provoke", {})))),
            limits=Limits(
                requests=cast(int, limits.get("requests", Limits().requests)),
                seconds=float(cast(float, limits.get("seconds", Limits().seconds))),
                writes=limits.get("writes") is True,
            ),
            waivers=self.beside(waivers) if isinstance(waivers, str) else self.document.path if waivers else None,
            path=self.document.path,
            secrets=tuple(dict.fromkeys(self.secrets)),
            command=tuple(cast(list[str], where.get("command", ()))),
            upstreams=tuple(
                self.upstream(name, cast(Mapping[str, object], each), "command" in where)
                for name, each in cast(Mapping[str, object], data.get("upstreams", {})).items()
            ),
            clients=tuple(self.clients(data.get("client", []))),
        )

    def upstream(self, name: str, data: Mapping[str, object], started: bool) -> UpstreamConfig:
        place: Place = ("upstreams", name)
        port = int(str(data.get("listen", ":0")).rpartition(":")[2])
        if port > 65535:
            self.say(
                "bad-value", f"there is no port {port}", (*place, "listen"), key=False, hint="a port is below 65536"
            )
        if port == 0 and not ("env" in data and started):
            message = f"the service can't know the address of the upstream `{name}`"
            hint = (
                "give a fixed `listen: 127.0.0.1:9900`, or `env: NAME` and the `target.command` that starts the service"
            )
            needs = ((*place, "env"), (*place, "listen"), ("target", "command"))
            self.say("missing-key", message, place, hint=hint, needs=needs)
        calls = []
        for index, each in enumerate(cast(list[Mapping[str, object]], data.get("calls", []))):
            at: Place = (*place, "calls", index)
            idempotent = each.get("idempotent")
            calls.append(
                UpstreamCall(
                    self.call(each, at),
                    self.known_identity(each.get("as"), (*at, "as")),
                    idempotent if isinstance(idempotent, bool) else None,
                )
            )
        fails = cast(Mapping[str, object], data.get("fails", {}))
        return UpstreamConfig(
            name,
            tuple(calls),
            tuple(
                (code, cast(int, behaviour))
                for code, written in fails.items()
                for behaviour in (written if isinstance(written, list) else [written])
            ),
            port,
            cast(str | None, data.get("env")),
            data.get("answer", {}),
            self.positive(data, "scale", place) or 1.0,
        )

    def clients(self, data: object) -> Iterator[ClientConfig]:
        for index, each in enumerate(data if isinstance(data, list) else [data]):
            place: Place = ("client", index) if isinstance(data, list) else ("client",)
            method, path = self.request(str(each["request"]), (*place, "request"))
            yield ClientConfig(
                tuple(each["command"]),
                each["env"],
                Call(method, path),
                self.positive(each, "scale", place) or 1.0,
                self.positive(each, "seconds", place) or _CLIENT_SECONDS,
            )

    def positive(self, data: Mapping[str, object], key: str, place: Place) -> float | None:
        """The number under a key, if it is there; a zero is reported."""
        value = data.get(key)
        if value == 0:
            self.say(
                "bad-value", f"`{key}` is 0, and nothing takes no time", (*place, key), key=False, hint="leave it out"
            )
        return float(value) if isinstance(value, int | float) else None

    def address(self, http: str) -> None:
        said: str | None = None
        if not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", http):
            said = f"`{http}` is not an address such as http://127.0.0.1:8080"
        else:
            try:
                parts = urlsplit(http)
                if not parts.hostname:
                    said = f"`{http}` names no host"
                elif parts.port == 0:
                    said = f"`{http}` has no port that can be connected to"
            except ValueError as error:  # a port beyond 65535, or of letters; an IPv6 address without its end
                said = f"`{http}` is not an address: {error}"
        if said:
            self.say(
                "bad-value",
                said,
                ("target", "http"),
                key=False,
                hint="write http://HOST:PORT, such as http://127.0.0.1:8080",
            )

    def other_transport(self, where: Mapping[str, object]) -> None:
        if not where:
            self.say(
                "missing-key",
                "a target says nothing of `http`",
                ("target",),
                hint="add `http: http://127.0.0.1:8080`",
                needs=(("target", "http"),),
            )
            return
        name = next(iter(where))
        message = f"this version judges services over HTTP; `{name}` is not supported yet"
        self.say(
            "unsupported-transport",
            message,
            ("target", name),
            hint="describe the service under `http`",
            needs=(("target", "http"),),
        )

    def openapi(self, value: object) -> tuple[str | None, str | None]:
        if not isinstance(value, str) or value.lower() == "none":
            return None, None
        text = self.expanded(value, ("target", "openapi"))
        if re.match(r"https?://", text) or (text.startswith("/") and not Path(text).is_file()):
            return text, None
        file = self.beside(text)
        if not _VARIABLE.search(text) and not Path(file).is_file():
            message = f"there is no file `{text}`"
            hint = "give a path under the address (beginning with `/`), a URL, a file beside this one, or `none`"
            self.say("file-not-found", message, ("target", "openapi"), key=False, hint=hint)
        return None, file

    def beside(self, value: object) -> str:
        return os.path.normpath(self.directory / str(value))

    def identity(self, name: str, data: Mapping[str, object]) -> Identity:
        place: Place = ("identities", name)
        if name == ANONYMOUS and data.get("headers"):
            self.say("bad-name", f"`{ANONYMOUS}` is the caller without headers", place, hint="choose another name")
        written = {key: _text(each) for key, each in cast(Mapping[str, object], data.get("headers", {})).items()}
        headers = tuple((key, self.expanded(each, (*place, "headers", key))) for key, each in written.items())
        self.sendable(dict(headers), place)
        secrets = self.from_environment(written.values())
        secrets += [
            (part, "${" + f"{name}-{key}".upper().replace("-", "_") + "}")
            for key, each in headers
            if key.lower() in CREDENTIALS and not _VARIABLE.search(written[key])
            for part in [each.partition(" ")[2] or each]
        ]
        tenant = data.get("tenant")
        self.secrets += self.from_environment([str(tenant)]) if tenant is not None else []
        return Identity(
            name=name,
            headers=headers,
            shown=tuple(written.items()),
            tenant=self.expanded(str(tenant), (*place, "tenant")) if tenant is not None else None,
            scopes=_words(data["scopes"]) if "scopes" in data else None,
            secrets=tuple(dict.fromkeys(secrets)),
        )

    def from_environment(self, written: Iterable[str]) -> list[tuple[str, str]]:
        """The values that texts take from the environment, each with what stands for it in reports."""
        return [
            (self.environment[variable].strip(), "${" + variable + "}")
            for each in written
            for variable in _VARIABLE.findall(each)
            if self.environment.get(variable)
        ]

    def resource(self, name: str, data: Mapping[str, object]) -> ResourceConfig:
        place: Place = ("resources", name)
        calls = {
            key: self.call(data[key], (*place, key))
            for key in ("create", "read", "update", "delete", "list", "batch")
            if key in data
        }
        create = data.get("create")
        said = create if isinstance(create, dict) else {}
        self.members(said, (*place, "create", "unique"))
        return ResourceConfig(
            name=name,
            create=calls.get("create"),
            read=calls.get("read"),
            update=calls.get("update"),
            delete=calls.get("delete"),
            list=calls.get("list"),
            batch=calls.get("batch"),
            id=said.get("id"),
            unique=_words(said.get("unique", ())),
            identity=self.known_identity(data.get("as"), (*place, "as")),
        )

    def members(self, create: Mapping[str, object], place: Place) -> None:
        """What is declared unique must stand in the body, where the file gives one."""
        body = create.get("body")
        if not isinstance(body, dict):
            return
        for name in _words(create.get("unique", ())):
            if name not in body:
                known = tuple(str(each) for each in body)
                hint = grammar.closest(name, known) or f"its members are {', '.join(known) or 'none'}"
                self.say("unknown-member", f"the body has no member `{name}`", place, key=False, hint=hint)

    def call(self, data: object, place: Place) -> Call:
        if isinstance(data, str):
            return Call(*self.request(data, place))
        node = cast(Mapping[str, object], data)
        method, path = self.request(str(node["request"]), (*place, "request"))
        self.environmental(node, place)
        if "body" in node and "raw" in node:
            self.say(
                "conflicting-keys", "a request has either `body` or `raw`", (*place, "raw"), hint="keep one of the two"
            )
        raw = node.get("raw")
        return Call(
            method,
            path,
            self.headers(node, place),
            _query(node),
            node.get("body", ABSENT),
            raw if isinstance(raw, str) else None,
        )

    def request(self, text: str, place: Place) -> tuple[str, str]:
        """The method and the path of a request; a path that is none is reported, and then `/`."""
        method, _, path = text.partition(" ")
        path = path.strip()
        hint = None
        if text.startswith("/"):
            said, hint = f"`{text}` has no method", f"write `GET {text}`"
        elif not path:
            said = f"`{text}` is not a method and a path"
        elif method.upper() not in METHODS:
            said = f"`{method}` is no HTTP method"
            hint = grammar.closest(method.upper(), METHODS) or f"the methods are {', '.join(METHODS)}"
        elif re.match(r"[a-z]+://", path):
            said, hint = (
                f"`{path}` is an address, not a path",
                "the address stands under `target`; write what follows it",
            )
        elif not path.startswith("/"):
            said, hint = f"the path `{path}` does not begin with `/`", f"write `{method} /{path}`"
        elif re.search(r"[\s#]|[^ -~]", path):
            said, hint = (
                f"the path `{path}` has a character that no address holds",
                "write it percent-encoded, such as %20",
            )
        elif re.search(r"[{}]", _PLACEHOLDER.sub("", path)) or "{}" in path:
            said, hint = f"the braces of `{path}` name no placeholder", "write one as `{id}`"
        else:
            if _VARIABLE.search(path):
                self.no_variable(path, place)
            return method.upper(), path
        self.say(
            "bad-value", said, place, key=False, hint=hint or "write a method and a path, such as `GET /orders/{id}`"
        )
        return "GET", "/"

    def environmental(self, node: Mapping[str, object], place: Place) -> None:
        """Only headers take values from the environment, since only there they are masked."""
        for key in ("query", "body", "raw"):
            for path, text in _texts(node.get(key), (*place, key)):
                if _VARIABLE.search(text):
                    self.no_variable(text, path)

    def no_variable(self, text: str, place: Place) -> None:
        name = _VARIABLE.findall(text)[0]
        message = (
            f"`${{{name}}}` is not filled in here: the environment is read for headers, the address and tenants only"
        )
        self.say("misplaced-variable", message, place, key=False, hint="put it into `headers`, or write the value out")

    def headers(self, node: Mapping[str, object], place: Place) -> dict[str, str]:
        found = {
            name: self.expanded(_text(each), (*place, "headers", name))
            for name, each in cast(Mapping[str, object], node.get("headers", {})).items()
        }
        self.sendable(found, place)
        self.secrets += self.from_environment(map(_text, cast(Mapping[str, object], node.get("headers", {})).values()))
        return found

    def sendable(self, headers: Mapping[str, str], place: Place) -> None:
        for name, value in headers.items():
            if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
                message = f"the value of `{name}` cannot stand in a header: it has line ends or control characters"
                hint = "write it in one line"
                self.say("bad-value", message, (*place, "headers", name), key=False, hint=hint)

    def recipes(self, data: Mapping[str, object]) -> Iterator[Recipe]:
        for code, each in data.items():
            many = each if isinstance(each, list) else [each]
            for index, recipe in enumerate(many):
                place: Place = ("provoke", code, index) if isinstance(each, list) else ("provoke", code)
                yield self.recipe(code, recipe, place)

    def recipe(self, code: str, data: Mapping[str, object], place: Place) -> Recipe:
        ways = [key for key in ("request", "steps", "not_provokable") if key in data]
        if len(ways) != 1:
            said = " and ".join(f"`{way}`" for way in ways) or "none of them"
            message = f"the recipe for `{code}` needs one of `request`, `steps` and `not_provokable`, and has {said}"
            needs = tuple((*place, way) for way in ("request", "steps", "not_provokable"))
            hint = (
                "keep one of them"
                if ways
                else "add `request: METHOD /path`, `steps:`, or `not_provokable:` with the reason"
            )
            self.say("conflicting-keys" if ways else "missing-key", message, place, hint=hint, needs=needs)
            return Recipe(code, place=place)
        status = data.get("status")
        steps: tuple[Step, ...] = ()
        if "request" in data:
            steps = (self.step(data, place),)
        elif "steps" in data:
            steps = self.steps(data, place)
        self.names(data, place)
        reason = data.get("not_provokable")
        return Recipe(
            code=code,
            steps=steps,
            not_provokable=str(reason) if reason is not None else None,
            status=status if isinstance(status, int) else None,
            place=place,
        )

    def names(self, data: Mapping[str, object], place: Place) -> None:
        """Every name that a recipe uses must have been saved by a step before; a placeholder may be a resource's too."""
        steps = [(place, data)]
        if "steps" in data:
            steps = [
                ((*place, "steps", n), each) for n, each in enumerate(cast(list[Mapping[str, object]], data["steps"]))
            ]
        saved: dict[str, None] = {"unique": None}
        for at, step in steps:
            path = str(step.get("request", "")).partition(" ")[2].strip()
            texts = [text for key in ("query", "headers", "body", "raw") for text in _texts(step.get(key), (*at, key))]
            for where, text in [((*at, "request"), path), *texts]:
                for name in _NAME.findall(text):
                    self.saved(f"${{{name}}}", name, saved, where)
            for name in _PLACEHOLDER.findall(_NAME.sub("", path)):
                if not self.of_a_resource(path):
                    self.saved(f"{{{name}}}", name, saved, (*at, "request"))
            if (*at, "save") in self.lost:
                return
            saved |= dict.fromkeys(cast(Mapping[str, str], step.get("save", {})))
            saved |= {str(each[-1]): None for each in self.lost if each[:-1] == (*at, "save")}

    def saved(self, written: str, name: str, saved: Mapping[str, None], place: Place) -> None:
        if name in saved:
            return
        message = (
            f"no step before has saved `{name}`, and it is no id of a resource"
            if written[0] == "{"
            else f"no step before has saved `{name}`"
        )
        hint = grammar.closest(name, tuple(saved)) or f"let a step before save it: `save: {{{name}: /id}}`"
        self.say("unknown-name", message, place, key=False, hint=hint)

    def of_a_resource(self, path: str) -> bool:
        """Whether a path leads to or below an item of a resource, which fills its placeholders; so it may where none is named."""
        shape = _shape(path)
        return self.items is None or any(item in shape for item in self.items)

    def steps(self, data: Mapping[str, object], place: Place) -> tuple[Step, ...]:
        """The steps of a recipe; what the recipe says of identity, headers and query holds where a step says nothing."""
        for key in ("body", "raw", "repeat", "save"):
            if key in data:
                message = f"`{key}` belongs to one of the steps, not to the recipe"
                self.say("conflicting-keys", message, (*place, key), hint=f"move `{key}` into its step")
        identity = self.known_identity(data.get("as"), (*place, "as"))
        headers, query = self.headers(data, place), _query(data)
        own = [
            self.step(each, (*place, "steps", index))
            for index, each in enumerate(cast(list[Mapping[str, object]], data["steps"]))
        ]
        return tuple(
            replace(
                step,
                identity=step.identity or identity,
                call=replace(
                    step.call,
                    headers=_over(headers, step.call.headers),
                    query={**query, **step.call.query},
                ),
            )
            for step in own
        )

    def step(self, data: Mapping[str, object], place: Place) -> Step:
        repeat = cast(Mapping[str, int], data.get("repeat", {}))
        return Step(
            call=self.call(data, place),
            identity=self.known_identity(data.get("as"), (*place, "as")),
            until=repeat.get("until"),
            at_most=repeat.get("at_most", 60 if repeat else 1),
            save=cast(Mapping[str, str], data.get("save", _EMPTY)),
        )

    def known_identity(self, value: object, place: Place) -> str | None:
        if not isinstance(value, str):
            return None
        if value != ANONYMOUS and self.identities is not None and value not in self.identities:
            known = (*self.identities, ANONYMOUS)
            hint = grammar.closest(value, known) or f"the identities are {', '.join(known)}"
            self.say("unknown-identity", f"there is no identity `{value}`", place, key=False, hint=hint)
        return value

    def expanded(self, text: str, place: Place) -> str:
        def value(matched: re.Match[str]) -> str:
            name = matched[1]
            if name not in self.environment:
                message = f"the environment has no variable {name}"
                self.say("missing-variable", message, place, key=False, hint=f"set it: export {name}=…")
                return matched[0]
            if not self.environment[name].strip():
                self.say(
                    "empty-variable", f"the variable {name} is empty", place, key=False, hint=f"set it: export {name}=…"
                )
            return self.environment[name].strip()  # a token read from a file brings its line end along

        return _VARIABLE.sub(value, text)

    def say(
        self,
        code: str,
        message: str,
        place: Place,
        *,
        key: bool = True,
        hint: str | None = None,
        needs: Iterable[Place] = (),
    ) -> None:
        """Report a mistake, unless what it was concluded from, `place` and `needs`, is lost."""
        if place not in self.lost and not any(each in self.lost for each in needs):
            self.found.append(self.document.diagnostic(code, message, place, key=key, hint=hint))


def _of_an_address(http: str) -> list[tuple[str, str]]:
    """The name and the password in an address, which the rest of it is not as secret as."""
    try:
        parts = urlsplit(http)
        return [(each, "***") for each in (parts.username, parts.password) if each]
    except ValueError:  # what is wrong with it is said elsewhere
        return []


def _misspelt(data: Mapping[object, object]) -> bool:
    """Whether a key that there is not stands for the identities."""
    known = CONFIGURATION.keys
    return any(isinstance(each, str) and each not in known and grammar.nearest(each, ("identities",)) for each in data)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _query(node: Mapping[str, object]) -> dict[str, str]:
    return {name: _text(each) for name, each in cast(Mapping[str, object], node.get("query", {})).items()}


def _over(defaults: Mapping[str, str], headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with defaults; names compare without case."""
    said = {name.lower() for name in headers}
    return {**{name: each for name, each in defaults.items() if name.lower() not in said}, **headers}


def _words(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(str(each) for each in cast(list[object], value))


def _texts(value: object, place: Place) -> Iterator[tuple[Place, str]]:
    """Every text in a value, with its place."""
    if isinstance(value, str):
        yield place, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in items:
        yield from _texts(each, (*place, step))


def _items(resource: ResourceConfig) -> Iterator[str]:
    """The shapes of the paths of a resource's items, as far as the file tells."""
    for each in (resource.read, resource.update, resource.delete):
        if each is not None:
            yield _shape(each.path)
    if resource.create is not None:
        yield _shape(resource.create.path) + "{}/"
