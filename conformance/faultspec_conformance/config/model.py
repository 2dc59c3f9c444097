"""The configuration as values: the service, identities, resources, recipes, limits."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl

from faultspec.diagnostics.model import Diagnostic
from faultspec.diagnostics.model import Path as Place
from faultspec.exchange.model import Headers, Request
from faultspec.source import Document
from faultspec_conformance.drivers import Framing, Limits, Revision

Transport = Literal["http", "jsonrpc", "stdio", "mcp"]
"""``jsonrpc`` is JSON-RPC over HTTP, ``stdio`` JSON-RPC over the standard streams of a process."""

LimitScope = Literal["caller", "tenant", "service"]
"""Whose requests a rate limit counts: those of one identity, of a tenant, or all."""

#: Seconds that one run of a client may take: enough for a few tries with waits of some seconds.
CLIENT_SECONDS = 60.0

#: Requests of the sweep that the service gets at most. More would differ little.
SWEEP_REQUESTS = 300

#: The checks of schemathesis that the sweep runs unless the file names others. It is the one whose
#: conclusion hardly depends on a guess.
SWEEP_CHECKS = ("use_after_free",)

#: The caller without credentials, which every configuration has.
ANONYMOUS = "anonymous"

#: Headers whose value is always a credential.
CREDENTIALS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "x-api-key",
        "api-key",
        "apikey",
        "x-auth-token",
    }
)


#: Words in the names of other headers with credentials, such as `X-Access-Token`.
_OF_CREDENTIALS = frozenset(
    {
        *("auth", "authentication", "authorization", "token", "jwt", "secret", "password"),
        *("credential", "credentials", "session", "sid", "signature", "key", "apikey"),
        *("pin", "otp", "passcode", "passphrase", "passwd", "pwd"),
    }
)


def is_credential(header: str) -> bool:
    """Whether a header that a caller always sends has a credential, by its name."""
    name = header.lower()
    return name in CREDENTIALS or (
        name != "idempotency-key" and not _OF_CREDENTIALS.isdisjoint(re.split(r"[-_]", name))
    )


def secret_of(header: str, value: str) -> str:
    """The secret in the value of a header: without a scheme (RFC 9110, 11.4); all its cookies."""
    if header.lower() == "cookie":
        return value
    return value.partition(" ")[2].strip() or value


SECRET_NAME = re.compile(
    r"pass(?:word|wd|phrase)?(?:[_-]?(?:\d|confirm(?:ation)?|again|repeat|new|old|current))?$|pwd$"
    r"|(?:password|token)[_-]?(?:value|hash)$|secret(?!ar|ion)|credential|token$|api[_-]?key$|access[_-]?key|private[_-]?key"
    r"|^authorization$|session[_-]?id$|^(?:ssn|pin|cvv|cvc|otp)$|card[_-]?number|signature$|assertion$",
    re.IGNORECASE,
)
"""Names of members, parameters and variables that hold secrets."""

SECRET_NAMES = re.compile(
    r"(?:pass(?:word|wd|phrase)|token|api[_-]?key|session[_-]?id)s$",
    re.IGNORECASE,
)
"""Names of lists and objects that hold secrets. Numbers may have one too, as `max_tokens` has."""


SHORTEST_SECRET = 4
"""Characters of the shortest secret that is masked. Shorter values would mask half of every text
in which they occur by chance.
"""


def name_variable(name: str) -> str:
    """The variable in place of a secret, by the name of what has it."""
    return "${" + re.sub(r"\W", "_", name).upper() + "}"


def query_of(request: Request) -> frozenset[tuple[str, str]]:
    """The parameters in the query of a request."""
    query = request.target.partition("?")[2]
    return frozenset(parse_qsl(query, keep_blank_values=True))


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller. ``query``: the parameters that each of its requests has.

    ``tenant``: with two identities of different tenants, concealment can be tested. ``scopes``:
    what the caller may do; None if the file does not declare them. ``forbidden``: what it may not
    do. ``secrets``: credentials, each with its replacement in reports. ``login``: the request that
    yields the values of ``${name}`` in its headers and its query.
    """

    name: str
    headers: Headers = ()
    tenant: str | None = None
    scopes: tuple[str, ...] | None = None
    forbidden: "tuple[OperationPattern, ...]" = ()
    secrets: tuple[tuple[str, str], ...] = ()
    login: "Login | None" = None
    query: tuple[tuple[str, str], ...] = ()

    @property
    def anonymous(self) -> bool:
        """Whether the caller sends no credentials. Its requests may still name a tenant."""
        return self.name == ANONYMOUS or not (self.headers or self.query)

    @property
    def limited(self) -> bool:
        """Whether the caller may do less than everything."""
        return self.scopes is not None or bool(self.forbidden)

    def is_sender_of(self, request: Request) -> bool:
        """Whether a request has all headers and parameters of the caller."""
        sent = frozenset(request.headers)
        return sent.issuperset(self.headers) and query_of(request).issuperset(self.query)

    def may_not_call(self, method: str, template: str) -> bool:
        """Whether the configuration forbids the operation to the caller."""
        return any(one.matches(method, template) for one in self.forbidden)


NOBODY = Identity(ANONYMOUS)


class _Absent:
    """The type of `ABSENT`: no body, which differs from the body `null`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class ConfiguredCall:
    """A request of the file. ``path`` may have ``{placeholders}`` and a query. ``raw``: the body,
    verbatim.

    Without HTTP, ``path`` is the name of a method or tool, and ``body`` its params or arguments.
    """

    method: str
    path: str
    headers: Mapping[str, str | None] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = ABSENT
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """A request that yields credentials. ``save``: where they are in its answer, by name."""

    call: ConfiguredCall
    save: Mapping[str, "SavedPart"]


@dataclass(frozen=True, slots=True)
class PagesConfig:
    """The names by which a list is paged; None: one in common use, if any.

    ``size``, ``cursor``, ``page`` and ``offset``: parameters of the query. ``next``, ``more`` and
    ``items``: pointers into an answer, to the next cursor or URL, to whether a page follows, and to
    the items.
    """

    size: str | None = None
    cursor: str | None = None
    page: str | None = None
    offset: str | None = None
    next: str | None = None
    more: str | None = None
    items: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceConfig:
    """A declared resource; what the file leaves out is inferred. ``id``: a pointer to the id of a
    created one.

    ``unique_together``: whether only all ``unique`` members together are. ``unique_code``,
    ``stale_code``: the codes that refuse a repeated value and a stale write. ``server_owned``:
    pointers to members that the service itself sets.
    """

    name: str
    create: ConfiguredCall | None = None
    read: ConfiguredCall | None = None
    update: ConfiguredCall | None = None
    delete: ConfiguredCall | None = None
    list: ConfiguredCall | None = None
    batch: ConfiguredCall | None = None
    id: str | None = None
    unique: tuple[str, ...] = ()
    unique_together: bool = False
    identity: str | None = None
    unique_code: str | None = None
    stale_code: str | None = None
    pages: PagesConfig = PagesConfig()
    server_owned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedPart:
    """A value to keep of an answer. ``place``: a JSON Pointer of its body, `header NAME` or
    `cookie NAME`.

    ``match``: a regular expression; its first group, or all that it matches, is kept.
    """

    place: str = ""
    match: str | None = None

    def __str__(self) -> str:
        if self.match is not None:
            return f"{self.place} with a match of `{self.match}`"
        return self.place


@dataclass(frozen=True, slots=True)
class AwaitedState:
    """A state that repeated answers reach. ``values``: those that end the wait, by JSON Pointer.

    ``seconds``: how long the state may take.
    """

    values: Mapping[str, tuple[object, ...]]
    seconds: float

    def __str__(self) -> str:
        return " and ".join(
            f"`{pointer}` {' or '.join(map(json.dumps, values))}"
            for pointer, values in self.values.items()
        )


class Parallel(NamedTuple):
    """Requests at the same time, and how many of them succeed."""

    requests: int
    succeed: int


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a recipe. ``until``: repeat it until this status, at most ``at_most`` times.

    Without HTTP, the code of the recipe ends the repetition. ``save``: parts of the answer, by
    name. ``status``: that of the answer; None: a success. ``parallel``: send it several times at
    the same time. ``state``: repeat it until the answer has this state. ``scope``: whose requests
    the limit counts that ends the repetition; None: unknown.

    Of JSON-RPC alone: ``notification``: it has no id and no answer. ``waits``: the next step comes
    after its answer. ``id``: the name of its id for later steps. ``may_fail``: an error does not
    end the recipe.
    """

    call: ConfiguredCall
    identity: str | None = None
    until: int | None = None
    at_most: int = 1
    save: Mapping[str, SavedPart] = field(default_factory=dict)
    status: int | None = None
    parallel: Parallel | None = None
    state: AwaitedState | None = None
    scope: LimitScope | None = None
    notification: bool = False
    waits: bool = True
    id: str | None = None
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected content of the last answer of a recipe, besides its code.

    A value of None means that the detail or header is missing. ``upstream_calls``: the calls that
    each upstream gets for the last request, by name.
    """

    slots: Mapping[str, object] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    upstream_calls: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FaultSwitchConfig:
    """A header, query parameter or member of a body that makes any operation fail.

    ``values``: the value that brings about each code. ``places``: of the codes in the file.
    """

    where: Literal["header", "query", "body"]
    name: str
    values: Mapping[str, object]
    identity: str | None = None
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to provoke a code, or ``not_provokable``: why that is impossible. ``status``: its
    required status.

    ``place``: its place in the file. ``values``: made up once, before the first step, by name.
    ``action``: the steps after which the code no longer comes. ``surface``: that of the answer, if
    ``code`` is only a name. ``rendering``: the one that has the code, in place of an envelope.
    ``fresh``: it has a process of its own. ``after``: the steps that undo what it changed.
    ``notifications``: those that the service sends meanwhile.
    """

    code: str
    steps: tuple[Step, ...] = ()
    not_provokable: str | None = None
    status: int | None = None
    place: Place = ()
    expect: Expectation = Expectation()
    values: Mapping[str, object] = field(default_factory=dict)
    action: tuple[Step, ...] = ()
    surface: str | None = None
    rendering: str | None = None
    fresh: bool = False
    after: tuple[Step, ...] = ()
    notifications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InvalidParams:
    """Params or arguments that the service refuses. ``code``: with this code, or number of the
    protocol; None: with any.
    """

    params: object
    code: str | int | None = None


@dataclass(frozen=True, slots=True)
class SampleCall:
    """A call that succeeds, for probes that need one. ``invalid``: what must be refused in its
    place.

    ``safe``: it changes nothing, so it does not need ``writes: true``. ``before``: the steps that
    it needs each time.
    """

    name: str
    call: ConfiguredCall
    identity: str | None = None
    invalid: tuple[InvalidParams, ...] = ()
    safe: bool = False
    before: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """How a process is asked to end by itself. ``exit_code``: None for any. ``seconds``: how long
    it may take.
    """

    steps: tuple[Step, ...]
    exit_code: int | None = None
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """The start and the end of each process. ``replies``: the results of its own
    requests, by method.
    """

    start: tuple[Step, ...] = ()
    replies: Mapping[str, object] = field(default_factory=dict)
    ends: tuple[SessionEnd, ...] = ()


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """A request that makes the service call the upstream once. ``idempotent``: the service may call
    it again. ``before``: the requests that go before it each time, with new resources.
    """

    call: ConfiguredCall
    identity: str | None = None
    idempotent: bool | None = None
    before: tuple[Step, ...] = ()


#: What an upstream answers: a status, or a class that stands for several; no answer, as the
#: connection ends or nothing ever comes; a body that never ends; or a 200 whose body cannot be
#: used.
Behaviour = (
    int
    | Literal["4xx", "5xx", "closed", "silent", "slow", "truncated", "html", "empty", "mistyped"]
)


@dataclass(frozen=True, slots=True)
class UpstreamFailure:
    """A failure of an upstream. ``answer``: what it does.

    ``path``: the calls that fail; ``*`` stands for any text. ``after``: how many of them succeed
    before. ``within``: seconds in which the service must answer; None: as for any request.
    ``code``: the code in its body.
    """

    answer: Behaviour
    path: str = "*"
    after: int = 0
    within: float | None = None
    code: str | int | None = None


@dataclass(frozen=True, slots=True)
class PassOn:
    """Headers of a caller that the calls upstream have: ``always``, or ``never``."""

    always: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpstreamConfig:
    """A scripted upstream on loopback. ``fails``: codes of the service, each with a failure of the
    upstream.

    ``port`` 0: a free one; the variable ``env`` gives the service its address. ``answer``,
    ``status``: the body and the status of successes. ``scale``: the service's delays as a multiple
    of the policy's. ``pass_on``: headers of callers. ``error``: the body of failures with a code,
    in which `$code` stands for it.
    """

    name: str
    calls: tuple[UpstreamCall, ...]
    fails: tuple[tuple[str, UpstreamFailure], ...]
    port: int = 0
    env: str | None = None
    answer: object = field(default_factory=dict)
    status: int = 200
    scale: float = 1.0
    pass_on: PassOn = PassOn()
    error: object = None


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """A client to judge. ``command`` sends ``request`` once to the address in the variable ``env``,
    and ends.

    ``scale``: its delays as a multiple of the policies'. ``seconds``: the longest run of the
    command.
    """

    command: tuple[str, ...]
    env: str
    request: ConfiguredCall
    scale: float = 1.0
    seconds: float = CLIENT_SECONDS


@dataclass(frozen=True, slots=True)
class OperationPattern:
    """Operations by method and path, such as `POST /logout`, `DELETE /users/*` or `/admin/*`.

    ``*`` stands for any text, and a placeholder for one segment. Without a method: every method.
    ``reason``: why the file names them.
    """

    text: str
    reason: str = ""

    def matches(self, method: str, path: str, base: str = "") -> bool:
        """Whether the pattern matches a path or its template. It may leave out ``base``."""
        methods, _, written = self.text.rpartition(" ")
        pattern = _compile_path(written)
        paths = (path, path.removeprefix(base)) if base else (path,)
        return methods.strip().upper() in ("", "*", method.upper()) and any(
            pattern.fullmatch(candidate) is not None for candidate in paths
        )


@lru_cache(maxsize=256)  # a pattern is compared with every operation
def _compile_path(written: str) -> re.Pattern[str]:
    """Compile the path of a pattern.

    Each part between two ``*`` is taken at its first place and not tried at others, so many ``*``
    cost no more. Placeholders side by side are one.
    """
    first, *parts = (
        "".join(
            "[^/]+" if piece.startswith("{") else re.escape(piece)
            for piece in re.split(r"((?:{[^{}]*})+)", part)
        )
        for part in written.split("*")
    )
    if not parts:
        return re.compile(first, re.DOTALL)
    inner = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.compile(f"{first}{inner}.*{parts[-1]}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SweepConfig:
    """Generated traffic. ``requests``: how many at most. ``checks``: checks of schemathesis that
    conclude from several answers; their failures are warnings. ``leave_out``: operations that get
    no generated request; None: those that may end the session of the caller, by their names.
    """

    requests: int = SWEEP_REQUESTS
    checks: tuple[str, ...] = SWEEP_CHECKS
    leave_out: tuple[OperationPattern, ...] | None = None


@dataclass(frozen=True, slots=True)
class AuditLookup:
    """The request that reads the audit record of a failure by its id.

    ``slot``: the slot of the envelope with the id, which the request has as a placeholder.
    ``identity``: the caller who may read every record; None: the caller of the failed request.
    """

    call: ConfiguredCall
    slot: str
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class ReferenceConfig:
    """Where references of errors may be followed. ``files``: the folder with the files; None: files
    are not looked for. ``hosts``: hosts beside that of the service, each perhaps with its port.
    """

    files: str | None = None
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """A service, or clients to judge. Paths are absolute or relative to the working directory.

    ``http``, ``jsonrpc``, ``mcp``: the address, all but one empty; or ``stdio`` or ``mcp_command``,
    a command that runs in ``directory``. ``openapi``: a path under ``http``, or a URL;
    ``openapi_file``: a file, and ``openapi_parts``: the further files of the document.
    ``taxonomy``, ``waivers``, ``path`` (the configuration itself): files. ``secrets``: values from
    the environment, each with its replacement in reports; ``named``: those that the file names. No
    others are sent. ``command`` starts the service, in ``directory``. ``skip``: operations that no
    request is sent to. ``values``: constants by name, for parameters of paths. ``confidential``:
    pointers into bodies of requests, or into params of calls. ``audit``: how the record of a
    failure is read. ``paths``: routes that the user of a URL names, with placeholders or values.
    ``session``: of a process on standard streams. ``sinks``: the file of each log, by its surface.
    """

    http: str = ""
    openapi: str | None = None
    openapi_file: str | None = None
    openapi_parts: tuple[str, ...] = ()
    taxonomy: str | None = None
    identities: Mapping[str, Identity] = field(default_factory=dict)
    resources: Mapping[str, ResourceConfig] = field(default_factory=dict)
    recipes: tuple[Recipe, ...] = ()
    limits: Limits = field(default_factory=Limits)
    waivers: str | None = None
    path: str | None = None
    secrets: tuple[tuple[str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    stdio: tuple[str, ...] = ()
    framing: Framing = "lines"
    directory: str | None = None
    jsonrpc: str = ""
    mcp: str = ""
    mcp_command: tuple[str, ...] = ()
    revision: Revision = "2025-11-25"
    samples: tuple[SampleCall, ...] = ()
    command: tuple[str, ...] = ()
    upstreams: tuple[UpstreamConfig, ...] = ()
    clients: tuple[ClientConfig, ...] = ()
    faults: tuple[FaultSwitchConfig, ...] = ()
    skip: tuple[OperationPattern, ...] = ()
    sweep: SweepConfig = field(default_factory=SweepConfig)
    values: Mapping[str, object] = field(default_factory=dict)
    confidential: tuple[str, ...] = ()
    references: ReferenceConfig = ReferenceConfig()
    audit: AuditLookup | None = None
    paths: tuple[str, ...] = ()
    session: SessionConfig = field(default_factory=SessionConfig)
    sinks: Mapping[str, str] = field(default_factory=dict)

    @property
    def transport(self) -> Transport:
        """The transport of the service."""
        if self.stdio:
            return "stdio"
        if self.mcp or self.mcp_command:
            return "mcp"
        return "jsonrpc" if self.jsonrpc else "http"

    @property
    def address(self) -> str:
        """The address of the service, or its command."""
        command = self.stdio or self.mcp_command
        return shlex.join(command) if command else self.jsonrpc or self.mcp or self.http

    def skip_reason(self, method: str, path: str, base: str = "") -> str | None:
        """Why no request is sent to an operation; None if `skip` does not name it."""
        named = (pattern for pattern in self.skip if pattern.matches(method, path, base))
        return next((pattern.reason for pattern in named), None)

    def identity(self, name: str | None) -> Identity:
        """The identity of that name; `NOBODY` for None."""
        return NOBODY if name is None or name == ANONYMOUS else self.identities[name]


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A configuration and its diagnostics. ``target`` is None if any diagnostic is an error.

    ``draft``: what could be read in spite of errors; it serves further checks, not a run.
    ``sources``: the text by file name, for printers that show the line. ``secrets``: what
    diagnostics must not show, each with its replacement.
    """

    document: Document | None
    target: ServiceConfig | None
    diagnostics: tuple[Diagnostic, ...]
    draft: ServiceConfig | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[tuple[str, str], ...] = ()
