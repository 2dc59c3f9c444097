"""`conformance.yaml` → what is judged and as whom: the service, identities, resources, provocations, limits.

`${NAME}` in capitals comes from the environment and is masked in everything reported; `${unique}` is new in every request;
other names are values that an earlier step saved. Everything wrong with the file is a `Diagnostic`, never an exception.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import cast
from urllib.parse import urlsplit

from faultspec.contract.clauses import upstream_policy
from faultspec.diagnostics.model import Diagnostic, ordered
from faultspec.diagnostics.model import Path as Place
from faultspec.language import grammar
from faultspec.language.model import Code, Taxonomy
from faultspec.language.prune import prune
from faultspec.source import UNREADABLE, Document, SourceError, load_document
from faultspec_conformance.config.form import CONFIGURATION, METHODS
from faultspec_conformance.config.model import (
    ABSENT,
    ANONYMOUS,
    CLIENT_SECONDS,
    CREDENTIALS,
    ClientConfig,
    ConfiguredCall,
    Identity,
    LoadedConfig,
    Recipe,
    ResourceConfig,
    SampleCall,
    ServiceConfig,
    Step,
    Transport,
    UpstreamCall,
    UpstreamConfig,
)
from faultspec_conformance.drivers import Framing, Limits

#: Names in capitals are read from the environment, so that secrets need not stand in the file.
_VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")

_EMPTY: Mapping[str, str] = MappingProxyType({})


def read(path: str, environment: Mapping[str, str] = os.environ) -> LoadedConfig:
    """Read the configuration at ``path``; what takes the taxonomy to see is found by `problems`, once that is known."""
    try:
        document = load_document(path)
    except SourceError as error:
        if error.document is None:
            return LoadedConfig(
                None,
                None,
                error.diagnostics,
                sources={} if error.text is None else {path: error.text},
            )
        return understand(error.document, environment, error.diagnostics)
    return understand(document, environment)


def understand(
    document: Document, environment: Mapping[str, str], before: Iterable[Diagnostic] = ()
) -> LoadedConfig:
    """The pure half of `read`; `before` is what was found on the way to the document."""
    before = tuple(before)
    repeated = tuple(each.pointer for each in before if each.code == "duplicate-key")
    target, found = _understood(document, environment)
    for other in document.others:
        _, more = _understood(other, environment)
        found += [
            each for each in more if any(each.pointer[: len(path)] == path for path in repeated)
        ]
    diagnostics = ordered((*before, *found))
    broken = any(diagnostic.severity == "error" for diagnostic in diagnostics)
    return LoadedConfig(
        document, None if broken else target, diagnostics, target, {document.path: document.text}
    )


def _understood(
    document: Document, environment: Mapping[str, str]
) -> tuple[ServiceConfig, list[Diagnostic]]:
    """One reading of a document: what it says, and what is wrong with it."""
    problems = list(grammar.check_data(CONFIGURATION, document.data))
    remains = prune(CONFIGURATION, document.data, problems)
    reading = _ConfigReader(document, environment, remains.lost)
    target = reading.target(remains.data)
    said = [
        document.diagnostic(each.code, each.message, each.path, key=each.on_key, hint=each.hint)
        for each in problems
    ]
    return target, [*said, *reading.found]


def problems(
    target: ServiceConfig, taxonomy: Taxonomy, document: Document
) -> tuple[Diagnostic, ...]:
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
            found.append(
                document.diagnostic("unknown-code", message, ("provoke", recipe.code), hint=hint)
            )
        elif recipe.status is not None and not any(
            each.http.allows(recipe.status) for each in known[recipe.code]
        ):
            statuses = ", ".join(
                str(each) for code in known[recipe.code] for each in code.http.statuses
            )
            message = f"`{recipe.code}` never travels as {recipe.status}"
            hint = f"its statuses: {statuses or 'none'}"
            found.append(
                document.diagnostic(
                    "bad-value", message, (*recipe.place, "status"), key=False, hint=hint
                )
            )
    for upstream in target.upstreams:
        place: Place = ("upstreams", upstream.name)
        if upstream_policy(taxonomy) is None:
            message = f"{taxonomy.name} does not say how services behind are called"
            hint = "declare `upstream: {retry: POLICY}` in the taxonomy, or remove the key"
            found.append(document.diagnostic("unknown-policy", message, place, hint=hint))
        for name in dict.fromkeys(name for name, _ in upstream.fails if name not in known):
            message = f"the taxonomy {taxonomy.name} has no code `{name}`"
            hint = grammar.closest(name, tuple(known)) or f"its codes are {', '.join(known)}"
            found.append(
                document.diagnostic("unknown-code", message, (*place, "fails", name), hint=hint)
            )
    return ordered(found)


_TRANSPORTS: tuple[Transport, ...] = ("http", "jsonrpc", "stdio", "mcp")

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

#: A name that a step saves, where a text uses it; the suite's own is `unique`.
_NAME = re.compile(r"\$\{([a-z_]\w*)\}")


def _shape(path: str) -> str:
    """A path without its query, its placeholders anonymous, ending in a slash."""
    return _PLACEHOLDER.sub("{}", path.partition("?")[0]).rstrip("/") + "/"


class _ConfigReader:
    """One configuration being understood, and what is wrong with it. Nothing is said of what is ``lost``."""

    def __init__(
        self, document: Document, environment: Mapping[str, str], lost: Collection[Place]
    ) -> None:
        self.document = document
        self.environment = environment
        self.secrets: list[tuple[str, str]] = []
        self.lost = lost
        self.found: list[Diagnostic] = []
        self.directory = Path(document.path).parent
        written = document.data.get("identities", {}) if isinstance(document.data, dict) else {}
        told = isinstance(written, dict) and UNREADABLE not in written
        misspelt = (
            isinstance(document.data, dict)
            and "identities" not in document.data
            and _misspelt(document.data)
        )
        #: None where the identities cannot be told.
        self.identities = tuple(written) if told and not misspelt else None
        self.items: tuple[str, ...] | None = None
        self.transport: Transport = "http"

    def target(self, data: Mapping[str, object]) -> ServiceConfig:
        where = cast(Mapping[str, object], data.get("target", {}))
        if "target" in data:
            self.transport = self.reached(where)
        elif "client" not in data:
            hint = "add `target: {http: ADDRESS}`, or `client:` for callers to be watched"
            message, needs = (
                "the configuration says nothing of `target`",
                (("target",), ("client",)),
            )
            self.say("missing-key", message, (), hint=hint, needs=needs)
        self.misplaced(data, where)
        addresses = {name: self.address(where, name) for name in ("http", "jsonrpc", "mcp")}
        command = cast(list[str], where.get("stdio", []))
        starting = cast(list[str], where.get("command", []))
        self.secrets += self.from_environment([*command, *starting])
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
            self.items = tuple(item for resource in resources.values() for item in _items(resource))
        limits = cast(Mapping[str, object], data.get("limits", {}))
        if limits.get("seconds") == 0:
            message = "a run of 0 seconds sends nothing"
            self.say(
                "bad-value",
                message,
                ("limits", "seconds"),
                key=False,
                hint="leave it away for 120 seconds",
            )
        waivers = data.get("waivers")
        path, file = self.openapi(where.get("openapi"))
        return ServiceConfig(
            http=addresses["http"].rstrip("/"),
            jsonrpc=addresses["jsonrpc"],
            mcp=addresses["mcp"],
            stdio=tuple(
                self.expanded(each, ("target", "stdio", index))
                for index, each in enumerate(command)
            ),
            framing=cast(Framing, where.get("framing", "lines")),
            directory=str(self.directory),
            openapi=path,
            openapi_file=file,
            taxonomy=self.beside(self.expanded(str(data["taxonomy"]), ("taxonomy",)))
            if "taxonomy" in data
            else None,
            identities=identities,
            resources=resources,
            recipes=tuple(self.recipes(cast(Mapping[str, object], data.get("provoke", {})))),
            samples=tuple(self.samples(cast(Mapping[str, object], data.get("calls", {})))),
            limits=Limits(
                requests=cast(int, limits.get("requests", Limits().requests)),
                seconds=float(cast(float, limits.get("seconds", Limits().seconds))),
                writes=limits.get("writes") is True,
                rate=float(cast(float, limits["rate"])) if limits.get("rate") else None,
            ),
            waivers=self.beside(waivers)
            if isinstance(waivers, str)
            else self.document.path
            if waivers
            else None,
            path=self.document.path,
            command=tuple(
                self.expanded(each, ("target", "command", index))
                for index, each in enumerate(starting)
            ),
            upstreams=tuple(
                self.upstream(name, cast(Mapping[str, object], each), "command" in where)
                for name, each in cast(Mapping[str, object], data.get("upstreams", {})).items()
            ),
            clients=tuple(self.clients(data.get("client", []))),
            secrets=tuple(
                dict.fromkeys(self.secrets)
            ),  # the last, since reading the others finds them
        )

    def reached(self, where: Mapping[str, object]) -> Transport:
        """How the service is reached: the one key that says so; more than one, or none, is reported."""
        said = cast(list[Transport], [name for name in where if name in _TRANSPORTS])
        if not said:
            message, needs = (
                "a target says nothing of where the service is",
                [("target", each) for each in _TRANSPORTS],
            )
            hint = "add `http: http://127.0.0.1:8080`, or `stdio`, `jsonrpc` or `mcp`"
            self.say("missing-key", message, ("target",), hint=hint, needs=needs)
        for name in said[1:]:
            message = f"a service is reached in one way, and `{said[0]}` says how"
            self.say("conflicting-keys", message, ("target", name), hint="keep one of the two")
        lost = [name for name in _TRANSPORTS if ("target", name) in self.lost]
        return next(iter((*said, *lost)), "http")

    def misplaced(self, data: Mapping[str, object], where: Mapping[str, object]) -> None:
        """What belongs to another transport than the one there is."""
        if any(("target", name) in self.lost for name in _TRANSPORTS) or not any(
            name in where for name in _TRANSPORTS
        ):
            return
        if self.transport == "http" and "calls" in data:
            hint = "over HTTP, calls that succeed are found in the OpenAPI document and under `resources`"
            self.say("misplaced-key", "`calls` are of JSON-RPC and MCP", ("calls",), hint=hint)
        if self.transport != "stdio" and "framing" in where:
            message = "only messages on standard streams are framed"
            self.say("misplaced-key", message, ("target", "framing"), hint="remove the key")
        if self.transport == "http":
            return
        places: list[Place] = [("resources",)] if "resources" in data else []
        places += [("target", "openapi")] if "openapi" in where else []
        for place in places:
            self.say(
                "misplaced-key",
                f"`{place[-1]}` is of services over HTTP",
                place,
                hint="remove the key",
            )
        if self.transport == "stdio":
            for name, each in cast(Mapping[str, object], data.get("identities", {})).items():
                if isinstance(each, dict) and "headers" in each:
                    message = "a process on standard streams is sent no headers"
                    self.say(
                        "misplaced-key",
                        message,
                        ("identities", name, "headers"),
                        hint="remove them",
                    )

    def upstream(self, name: str, data: Mapping[str, object], started: bool) -> UpstreamConfig:
        place: Place = ("upstreams", name)
        port = int(str(data.get("listen", ":0")).rpartition(":")[2])
        if port > 65535:
            self.say(
                "bad-value",
                f"there is no port {port}",
                (*place, "listen"),
                key=False,
                hint="a port is below 65536",
            )
        if port == 0 and not ("env" in data and started):
            message = f"the service can't know the address of the upstream `{name}`"
            hint = "give a fixed `listen: 127.0.0.1:9900`, or `env: NAME` and the `target.command` that starts the service"
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
            self.secrets += self.from_environment(each["command"])
            yield ClientConfig(
                tuple(
                    self.expanded(word, (*place, "command", at))
                    for at, word in enumerate(each["command"])
                ),
                each["env"],
                ConfiguredCall(method, path),
                self.positive(each, "scale", place) or 1.0,
                self.positive(each, "seconds", place) or CLIENT_SECONDS,
            )

    def positive(self, data: Mapping[str, object], key: str, place: Place) -> float | None:
        """The number under a key, if it is there; a zero is reported."""
        value = data.get(key)
        if value == 0:
            self.say(
                "bad-value",
                f"`{key}` is 0, and nothing takes no time",
                (*place, key),
                key=False,
                hint="leave it out",
            )
        return float(value) if isinstance(value, int | float) else None

    def address(self, where: Mapping[str, object], name: str) -> str:
        """One address of the target, expanded; empty where there is none."""
        place: Place = ("target", name)
        written = str(where.get(name, ""))
        url = self.expanded(written, place)
        self.secrets += _of_an_address(url)
        self.secrets += self.from_environment(
            [written.partition("://")[2].partition("/")[2]]
        )  # the host is no secret
        if not url or _VARIABLE.search(url):  # one that is left is reported already
            return url
        said: str | None = None
        if not re.fullmatch(
            r"https?://[^\s/?#]+(/[^\s?#]*)?" + (r"(\?[^\s#]*)?" if name != "http" else ""), url
        ):
            said = f"`{url}` is not an address such as http://127.0.0.1:8080"
        else:
            try:
                parts = urlsplit(url)
                if not parts.hostname:
                    said = f"`{url}` names no host"
                elif parts.port == 0:
                    said = f"`{url}` has no port that can be connected to"
            except (
                ValueError
            ) as error:  # a port beyond 65535, or of letters; an IPv6 address without its end
                said = f"`{url}` is not an address: {error}"
        if said:
            hint = "write http://HOST:PORT, such as http://127.0.0.1:8080"
            self.say("bad-value", said, place, key=False, hint=hint)
        return url

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
            self.say(
                "bad-name",
                f"`{ANONYMOUS}` is the caller without headers",
                place,
                hint="choose another name",
            )
        written = {
            key: _text(each)
            for key, each in cast(Mapping[str, object], data.get("headers", {})).items()
        }
        headers = tuple(
            (key, self.expanded(each, (*place, "headers", key))) for key, each in written.items()
        )
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
                hint = (
                    grammar.closest(name, known) or f"its members are {', '.join(known) or 'none'}"
                )
                self.say(
                    "unknown-member",
                    f"the body has no member `{name}`",
                    place,
                    key=False,
                    hint=hint,
                )

    def samples(self, data: Mapping[str, object]) -> Iterator[SampleCall]:
        for name, each in data.items():
            place: Place = ("calls", name)
            node: Mapping[str, object] = (
                {"request": each} if isinstance(each, str) else cast(dict[str, object], each)
            )
            invalid = cast(list[object], node.get("invalid", []))
            for path, text in _texts(invalid, (*place, "invalid")):
                if _VARIABLE.search(text):
                    self.no_variable(text, path)
            for where in ("params", "invalid"):
                for path, text in _texts(node.get(where), (*place, where)):
                    for used in _NAME.findall(text):
                        self.saved(f"${{{used}}}", used, {"unique": None}, path)
            identity = self.known_identity(node.get("as"), (*place, "as"))
            call = (
                self.call(node, place) if self.transport != "http" else ConfiguredCall("POST", "/")
            )
            yield SampleCall(name, call, identity, tuple(invalid), node.get("safe") is True)

    def named(self, node: Mapping[str, object], place: Place) -> ConfiguredCall:
        """A call where there is no HTTP: the name of a method or tool, and what goes along."""
        for key in ("headers", "query", "body", "raw", "status"):
            if key in node:
                hint = "write `params`" if key in ("body", "raw") else "remove the key"
                self.say(
                    "misplaced-key", f"`{key}` is of requests over HTTP", (*place, key), hint=hint
                )
        name = str(node["request"]).strip()
        if _VARIABLE.search(name):
            self.no_variable(name, (*place, "request"))
        self.environmental(node, place)
        return ConfiguredCall("POST", name, body=node.get("params", ABSENT))

    def call(self, data: object, place: Place) -> ConfiguredCall:
        if self.transport != "http":
            return self.named(
                {"request": data} if isinstance(data, str) else cast(Mapping[str, object], data),
                place,
            )
        if isinstance(data, dict) and "params" in data:
            message = "`params` are of JSON-RPC and MCP"
            self.say("misplaced-key", message, (*place, "params"), hint="write `query` or `body`")
        if isinstance(data, str):
            return ConfiguredCall(*self.request(data, place))
        node = cast(Mapping[str, object], data)
        method, path = self.request(str(node["request"]), (*place, "request"))
        self.environmental(node, place)
        if "body" in node and "raw" in node:
            self.say(
                "conflicting-keys",
                "a request has either `body` or `raw`",
                (*place, "raw"),
                hint="keep one of the two",
            )
        raw = node.get("raw")
        return ConfiguredCall(
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
            hint = (
                grammar.closest(method.upper(), METHODS) or f"the methods are {', '.join(METHODS)}"
            )
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
            "bad-value",
            said,
            place,
            key=False,
            hint=hint or "write a method and a path, such as `GET /orders/{id}`",
        )
        return "GET", "/"

    def environmental(self, node: Mapping[str, object], place: Place) -> None:
        """Only headers take values from the environment, since only there they are masked."""
        for key in ("query", "body", "raw", "params"):
            for path, text in _texts(node.get(key), (*place, key)):
                if _VARIABLE.search(text):
                    self.no_variable(text, path)

    def no_variable(self, text: str, place: Place) -> None:
        name = _VARIABLE.findall(text)[0]
        message = f"`${{{name}}}` is not filled in here: the environment is read for headers, the address and tenants only"
        self.say(
            "misplaced-variable",
            message,
            place,
            key=False,
            hint="put it into `headers`, or write the value out",
        )

    def headers(self, node: Mapping[str, object], place: Place) -> dict[str, str]:
        found = {
            name: self.expanded(_text(each), (*place, "headers", name))
            for name, each in cast(Mapping[str, object], node.get("headers", {})).items()
        }
        self.sendable(found, place)
        self.secrets += self.from_environment(
            map(_text, cast(Mapping[str, object], node.get("headers", {})).values())
        )
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
                place: Place = (
                    ("provoke", code, index) if isinstance(each, list) else ("provoke", code)
                )
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
            self.say(
                "conflicting-keys" if ways else "missing-key",
                message,
                place,
                hint=hint,
                needs=needs,
            )
            return Recipe(code, place=place)
        status = data.get("status")
        if self.transport != "http" and "status" in data and "request" not in data:
            self.say(
                "misplaced-key", "`status` is of HTTP", (*place, "status"), hint="remove the key"
            )
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
                ((*place, "steps", n), each)
                for n, each in enumerate(cast(list[Mapping[str, object]], data["steps"]))
            ]
        saved: dict[str, None] = {"unique": None}
        for at, step in steps:
            path = (
                str(step.get("request", "")).partition(" ")[2].strip()
                if self.transport == "http"
                else ""
            )
            texts = [
                text
                for key in ("query", "headers", "body", "raw", "params")
                for text in _texts(step.get(key), (*at, key))
            ]
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
        hint = (
            grammar.closest(name, tuple(saved))
            or f"let a step before save it: `save: {{{name}: /id}}`"
        )
        self.say("unknown-name", message, place, key=False, hint=hint)

    def of_a_resource(self, path: str) -> bool:
        """Whether a path leads to or below an item of a resource, which fills its placeholders; so it may where none is named."""
        shape = _shape(path)
        return self.items is None or any(item in shape for item in self.items)

    def steps(self, data: Mapping[str, object], place: Place) -> tuple[Step, ...]:
        """The steps of a recipe; what the recipe says of identity, headers and query holds where a step says nothing."""
        for key in ("body", "raw", "params", "repeat", "save"):
            if key in data:
                message = f"`{key}` belongs to one of the steps, not to the recipe"
                self.say(
                    "conflicting-keys", message, (*place, key), hint=f"move `{key}` into its step"
                )
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
        if repeat and self.transport == "http" and "until" not in repeat:
            needs = ((*place, "repeat", "until"),)
            message = "a repetition lacks the key `until`"
            self.say(
                "missing-key", message, (*place, "repeat"), hint="add `until: 429`", needs=needs
            )
        if "until" in repeat and self.transport != "http":
            message = "`until` is a status of HTTP; here the code ends a repetition"
            self.say("misplaced-key", message, (*place, "repeat", "until"), hint="remove the key")
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
            self.say(
                "unknown-identity", f"there is no identity `{value}`", place, key=False, hint=hint
            )
        return value

    def expanded(self, text: str, place: Place) -> str:
        def value(matched: re.Match[str]) -> str:
            name = matched[1]
            if name not in self.environment:
                message = f"the environment has no variable {name}"
                self.say(
                    "missing-variable", message, place, key=False, hint=f"set it: export {name}=…"
                )
                return matched[0]
            if not self.environment[name].strip():
                self.say(
                    "empty-variable",
                    f"the variable {name} is empty",
                    place,
                    key=False,
                    hint=f"set it: export {name}=…",
                )
            return self.environment[
                name
            ].strip()  # a token read from a file brings its line end along

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
    return any(
        isinstance(each, str) and each not in known and grammar.nearest(each, ("identities",))
        for each in data
    )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _query(node: Mapping[str, object]) -> dict[str, str]:
    return {
        name: _text(each)
        for name, each in cast(Mapping[str, object], node.get("query", {})).items()
    }


def _over(defaults: Mapping[str, str], headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with defaults; names compare without case."""
    said = {name.lower() for name in headers}
    return {
        **{name: each for name, each in defaults.items() if name.lower() not in said},
        **headers,
    }


def _words(value: object) -> tuple[str, ...]:
    return (
        (value,)
        if isinstance(value, str)
        else tuple(str(each) for each in cast(list[object], value))
    )


def _texts(value: object, place: Place) -> Iterator[tuple[Place, str]]:
    """Every text in a value, with its place."""
    if isinstance(value, str):
        yield place, value
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, each in items:
        yield from _texts(each, (*place, step))


def _items(resource: ResourceConfig) -> Iterator[str]:
    """The shapes of the paths of a resource's items, as far as the file tells."""
    for each in (resource.read, resource.update, resource.delete):
        if each is not None:
            yield _shape(each.path)
    if resource.create is not None:
        yield _shape(resource.create.path) + "{}/"
