"""What is judged and as whom, as values: the service, identities, resources, recipes, limits."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from faultspec.diagnostics.model import Diagnostic
from faultspec.diagnostics.model import Path as Place
from faultspec.exchange.model import Headers
from faultspec.source import Document
from faultspec_conformance.drivers import Framing, Limits

Transport = Literal["http", "jsonrpc", "stdio", "mcp"]
"""How a service is reached; ``jsonrpc`` is JSON-RPC over HTTP, ``stdio`` over the standard streams of a process."""

#: Seconds that one run of a client may take: a few tries with a wait of some seconds each.
CLIENT_SECONDS = 60.0

#: The caller without credentials; every configuration has him.
ANONYMOUS = "anonymous"

#: Headers whose value is a credential wherever it comes from.
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
class ConfiguredCall:
    """A request as the file writes it. ``path`` may hold ``{placeholders}`` and a query; ``raw``: the body's text, verbatim.

    Where there is no HTTP, ``path`` is the name of a method or tool, and ``body`` its params or arguments.
    """

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
    create: ConfiguredCall | None = None
    read: ConfiguredCall | None = None
    update: ConfiguredCall | None = None
    delete: ConfiguredCall | None = None
    list: ConfiguredCall | None = None
    batch: ConfiguredCall | None = None
    id: str | None = None
    unique: tuple[str, ...] = ()
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a recipe. ``until``: repeat until this status, ``at_most`` so often. ``save``: names → JSON Pointers.

    Where there is no HTTP, a step is repeated until it is answered with the code.
    """

    call: ConfiguredCall
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
class SampleCall:
    """A call that succeeds, for probes that need one. ``invalid``: params or arguments that must be refused.

    ``safe``: it changes nothing, so it is sent without ``writes: true`` too.
    """

    name: str
    call: ConfiguredCall
    identity: str | None = None
    invalid: tuple[object, ...] = ()
    safe: bool = False


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """A request to the service that makes it call the upstream once; ``idempotent``: whether it may do so again."""

    call: ConfiguredCall
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
    request: ConfiguredCall
    scale: float = 1.0
    seconds: float = CLIENT_SECONDS


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """One service, described once. Paths are absolute or relative to the working directory.

    ``http``, ``jsonrpc``, ``mcp``: its address, all but one empty; or ``stdio``, a command, run in ``directory``.
    ``openapi``: a path under ``http``, a URL, a file, or None. ``taxonomy`` and ``waivers``: files. ``secrets``: values
    from the environment in the headers of requests, each with what stands for it in reports. ``command`` starts the
    service, in the folder of the file. ``clients``: the callers that are watched in place of a service.
    """

    http: str = ""
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
    stdio: tuple[str, ...] = ()
    framing: Framing = "lines"
    directory: str | None = None
    jsonrpc: str = ""
    mcp: str = ""
    samples: tuple[SampleCall, ...] = ()
    command: tuple[str, ...] = ()
    upstreams: tuple[UpstreamConfig, ...] = ()
    clients: tuple[ClientConfig, ...] = ()

    @property
    def transport(self) -> Transport:
        """How the service is reached."""
        return (
            "stdio" if self.stdio else "jsonrpc" if self.jsonrpc else "mcp" if self.mcp else "http"
        )

    @property
    def address(self) -> str:
        """Where the service is, in words: its address, or its command."""
        return shlex.join(self.stdio) if self.stdio else self.jsonrpc or self.mcp or self.http

    def identity(self, name: str | None) -> Identity:
        """The identity of that name; nobody where there is none."""
        return NOBODY if name is None or name == ANONYMOUS else self.identities[name]


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """What came of reading a configuration; ``target`` is None when any diagnostic is an error.

    ``draft`` is what could be understood of it in spite of errors: good for finding more of them, not for a run.
    ``sources``: the text by file name, for printers that show the line.
    """

    document: Document | None
    target: ServiceConfig | None
    diagnostics: tuple[Diagnostic, ...]
    draft: ServiceConfig | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
