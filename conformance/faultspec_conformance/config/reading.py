"""Reading `conformance.yaml`: the service, identities, resources, recipes and limits, as values.

`${NAME}` in capitals comes from the environment, and reports mask it. `${unique}` is new in every
request. Other names are values that an earlier step saved. Mistakes in the file become diagnostics,
never exceptions.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, cast
from urllib.parse import urlsplit

from faultspec.contract.clauses import upstream_codes, upstream_policy
from faultspec.diagnostics.model import Diagnostic, sort_diagnostics
from faultspec.diagnostics.model import Path as Place
from faultspec.language import grammar
from faultspec.language.carriers import listed_number
from faultspec.language.model import Code, Taxonomy
from faultspec.language.prune import prune
from faultspec.source import Document, SourceError, load_document
from faultspec_conformance.config.addresses import (
    find_address_secrets,
    find_environment_secrets,
    find_written_secrets,
)
from faultspec_conformance.config.audit import check_audit_lookup, read_audit_lookup
from faultspec_conformance.config.context import (
    SAVED_NAME,
    VARIABLE,
    Node,
    ReadingContext,
    child_mapping,
    children,
    header_texts,
    texts_in,
)
from faultspec_conformance.config.form import CONFIGURATION
from faultspec_conformance.config.logins import read_login_request
from faultspec_conformance.config.model import (
    ANONYMOUS,
    CLIENT_SECONDS,
    Behaviour,
    ClientConfig,
    ConfiguredCall,
    FaultSwitchConfig,
    Identity,
    LoadedConfig,
    OperationPattern,
    PagesConfig,
    PassOn,
    Recipe,
    ReferenceConfig,
    ResourceConfig,
    ServiceConfig,
    SessionConfig,
    Step,
    SweepConfig,
    Transport,
    UpstreamCall,
    UpstreamConfig,
    UpstreamFailure,
    is_credential,
    name_variable,
    secret_of,
)
from faultspec_conformance.config.recipes import (
    check_call_names,
    path_shape,
    read_recipes,
    read_samples,
    read_session,
)
from faultspec_conformance.config.requests import (
    check_new_values,
    query_texts,
    read_call,
    read_request_line,
)
from faultspec_conformance.drivers import SERVER_REQUESTS, Framing, Limits, Revision

_TRANSPORTS: tuple[Transport, ...] = ("http", "jsonrpc", "stdio", "mcp")

#: The calls of a resource.
_ROLES = ("create", "read", "update", "delete", "list", "batch")

_HIGHEST_PORT = 65535

#: Where a fault switch may stand.
_SWITCHES: tuple[Literal["header", "query", "body"], ...] = ("header", "query", "body")


def read_config(path: str, environment: Mapping[str, str] = os.environ) -> LoadedConfig:
    """Read the configuration at ``path``. `check_config` checks it against the taxonomy."""
    try:
        return parse_config(load_document(path), environment)
    except SourceError as error:
        if error.document is not None:
            return parse_config(error.document, environment, error.diagnostics)
        text = error.text or ""
        sources = {} if error.text is None else {path: text}
        secrets = (*find_written_secrets(text),)
        return LoadedConfig(None, None, error.diagnostics, sources=sources, secrets=secrets)


def parse_config(
    document: Document, environment: Mapping[str, str], before: Iterable[Diagnostic] = ()
) -> LoadedConfig:
    """The pure half of `read_config`. ``before``: diagnostics from parsing the document."""
    before = tuple(before)
    repeated = [each.pointer for each in before if each.code == "duplicate-key"]
    target, found = _read(document, environment)
    for other in document.others:
        found += [
            diagnostic
            for diagnostic in _read(other, environment)[1]
            if any(diagnostic.pointer[: len(path)] == path for path in repeated)
        ]
    diagnostics = sort_diagnostics((*before, *found))
    broken = any(diagnostic.severity == "error" for diagnostic in diagnostics)
    return LoadedConfig(
        document=document,
        target=None if broken else target,
        diagnostics=diagnostics,
        draft=target,
        sources={document.path: document.text},
        secrets=(
            *target.secrets,
            *(pair for caller in target.identities.values() for pair in caller.secrets),
            *find_written_secrets(document.text),
        ),
    )


def _read(
    document: Document, environment: Mapping[str, str]
) -> tuple[ServiceConfig, list[Diagnostic]]:
    """The configuration of a document, and its diagnostics."""
    problems = list(grammar.check_data(CONFIGURATION, document.data))
    remains = prune(CONFIGURATION, document.data, problems)
    context = ReadingContext(document, environment, remains.lost)
    target = _read_service(context, remains.data)
    return target, [*grammar.problem_diagnostics(document, problems), *context.diagnostics]


def check_config(
    target: ServiceConfig, taxonomy: Taxonomy, document: Document
) -> tuple[Diagnostic, ...]:
    """The faults of a configuration by its taxonomy: unknown codes, and statuses that a code
    never has.
    """
    known: dict[str, tuple[Code, ...]] = {name: (code,) for name, code in taxonomy.codes.items()}
    for operation in taxonomy.operations.values():
        for name, code in operation.errors.items():
            known[name] = (*known.get(name, ()), code)

    def check_code(name: str, place: Place) -> Iterator[Diagnostic]:
        if name not in known:
            message = f"the taxonomy {taxonomy.name} has no code `{name}`"
            hint = grammar.closest(name, tuple(known)) or f"its codes are {', '.join(known)}"
            yield document.diagnostic("unknown-code", message, place, hint=hint)

    found: list[Diagnostic] = []
    for recipe in target.recipes:
        if recipe.code in known or (
            recipe.surface is None and listed_number(taxonomy, recipe.code) is None
        ):
            found += check_code(recipe.code, ("provoke", recipe.code))
        found += _check_recipe(recipe, known.get(recipe.code, ()), taxonomy, document)
    for name, at in _named_codes(target):
        found += check_code(name, at)
    for upstream in target.upstreams:
        place = ("upstreams", upstream.name)
        if upstream_policy(taxonomy) is None and not upstream_codes(taxonomy):
            message = (
                f"the taxonomy `{taxonomy.name}` does not declare how its services "
                "retry upstream calls, nor which codes stand for failures of upstreams"
            )
            hint = (
                "add `upstream: {retry: POLICY}` or `upstream: {codes: […]}` to the taxonomy, or "
                f"remove `{upstream.name}`"
            )
            found.append(document.diagnostic("unknown-policy", message, place, hint=hint))
        for name in dict.fromkeys(name for name, _ in upstream.fails):
            found += check_code(name, (*place, "fails", name))
    found += _check_refusals(target, taxonomy, document, check_code)
    found += check_audit_lookup(target, taxonomy, document)
    found += _check_sinks(target, taxonomy, document)
    return sort_diagnostics(found)


def _check_sinks(
    target: ServiceConfig, taxonomy: Taxonomy, document: Document
) -> Iterator[Diagnostic]:
    """The sinks whose surface is not a log of the taxonomy."""
    logs = tuple(name for name, each in taxonomy.surfaces.items() if each.transport == "log")
    for name in target.sinks:
        if name not in logs:
            message = f"the taxonomy {taxonomy.name} has no surface `{name}` of a log"
            hint = grammar.closest(name, logs) or (
                f"it has {', '.join(logs)}" if logs else "declare one with `transport: log`"
            )
            yield document.diagnostic("unknown-surface", message, ("sinks", name), hint=hint)


def _check_refusals(
    target: ServiceConfig,
    taxonomy: Taxonomy,
    document: Document,
    check_code: Callable[[str, Place], Iterator[Diagnostic]],
) -> Iterator[Diagnostic]:
    """The codes and numbers by which bad params are refused, and that the taxonomy does not have.
    A number is listed, or that of a code.
    """
    wires = {code.wire for code in taxonomy.codes.values()}
    for sample in target.samples:
        for index, invalid in enumerate(sample.invalid):
            code, place = invalid.code, ("calls", sample.name, "invalid", index, "code")
            if code is None or listed_number(taxonomy, str(code)) is not None:
                continue
            if isinstance(code, str):
                yield from check_code(code, place)
            elif code not in wires:
                message = f"the taxonomy {taxonomy.name} has no number {code}"
                hint = "list it under `protocol: {codes: …}` of its surface, or name a code"
                yield document.diagnostic("unknown-code", message, place, hint=hint)


def _check_recipe(
    recipe: Recipe, codes: tuple[Code, ...], taxonomy: Taxonomy, document: Document
) -> Iterator[Diagnostic]:
    """The faults of a recipe by its ``codes``: its status, its surface and its action."""
    status, surfaces = recipe.status, tuple(taxonomy.surfaces)
    if codes and status is not None and not any(code.http.allows(status) for code in codes):
        statuses = ", ".join(str(each) for code in codes for each in code.http.statuses)
        message = f"`{recipe.code}` never has the status {status}"
        hint = f"its statuses: {statuses or 'none'}"
        place = (*recipe.place, "status")
        yield document.diagnostic("bad-value", message, place, key=False, hint=hint)
    if recipe.surface is not None and recipe.surface not in surfaces:
        message = f"the taxonomy {taxonomy.name} has no surface `{recipe.surface}`"
        hint = grammar.closest(recipe.surface, surfaces) or f"it has {', '.join(surfaces)}"
        place = (*recipe.place, "surface")
        yield document.diagnostic("unknown-surface", message, place, key=False, hint=hint)
    renderings = tuple(taxonomy.renderings)
    if recipe.rendering is not None and recipe.rendering not in renderings:
        message = f"the taxonomy {taxonomy.name} has no rendering `{recipe.rendering}`"
        hint = grammar.closest(recipe.rendering, renderings) or (
            f"it has {', '.join(renderings)}" if renderings else "declare it under `renderings`"
        )
        place = (*recipe.place, "rendering")
        yield document.diagnostic("unknown-rendering", message, place, key=False, hint=hint)
    yield from _check_slots(recipe, taxonomy, document)
    if recipe.action and codes and not any(code.retriable.until for code in codes):
        message = f"the taxonomy declares no action after which `{recipe.code}` is gone"
        hint = "add `retriable: {until: ACTION}` to the code, or remove `action`"
        place = (*recipe.place, "action")
        yield document.diagnostic("misplaced-key", message, place, hint=hint)


def _check_slots(recipe: Recipe, taxonomy: Taxonomy, document: Document) -> Iterator[Diagnostic]:
    """The slots that a recipe expects a value of, and no envelope has."""
    envelopes = taxonomy.envelopes.values()
    slots = tuple(dict.fromkeys(slot for one in envelopes for slot in one.slots))
    for slot in recipe.expect.slots:
        if slot not in slots:
            message = f"no envelope of the taxonomy {taxonomy.name} has `${slot}`"
            hint = grammar.closest(slot, slots) or f"its slots are {', '.join(slots)}"
            place = (*recipe.place, "expect", "slots", slot)
            yield document.diagnostic("unknown-slot", message, place, hint=hint)


def _named_codes(target: ServiceConfig) -> Iterator[tuple[str, Place]]:
    """The codes that resources and fault switches name, each with its place."""
    for resource in target.resources.values():
        at = ("resources", resource.name)
        if resource.unique_code is not None:
            yield resource.unique_code, (*at, "create", "unique", "code")
        if resource.stale_code is not None:
            yield resource.stale_code, (*at, "stale")
    for switch in target.faults:
        yield from switch.places.items()


def _read_service(context: ReadingContext, data: Node) -> ServiceConfig:
    where = child_mapping(data, "target")
    if "target" in data:
        context.transport = _read_transport(context, where)
    elif "client" not in data:
        message = "`target` is missing"
        hint = "add `target: {http: ADDRESS}`, or `client:` to judge clients"
        needs = (("target",), ("client",))
        context.report("missing-key", (), message, hint=hint, needs=needs)
    _report_misplaced_keys(context, data, where)
    constants = child_mapping(data, "values")
    context.constants = frozenset(constants)
    context.reject_variables(constants, ("values",))
    check_new_values(context, constants, ("values",))
    addresses = {name: _read_address(context, where, name) for name in ("http", "jsonrpc", "mcp")}
    stdio, command, mcp_command = (
        _read_command(context, where, ("target",), key) for key in ("stdio", "command", "mcp")
    )
    identities = {
        name: _read_identity(context, name, node) for name, node in children(data, "identities")
    }
    resources = {
        name: _read_resource(context, name, node) for name, node in children(data, "resources")
    }
    # Without declared resources, they are inferred from a document that is not loaded yet.
    if resources and not any(place[:1] == ("resources",) for place in context.lost):
        context.items = tuple(item for each in resources.values() for item in _item_shapes(each))
    recipes = tuple(read_recipes(context, child_mapping(data, "provoke")))
    faults = tuple(_read_faults(context, data.get("faults", [])))
    limits = _read_limits(context, child_mapping(data, "limits"))
    taxonomy, waivers = data.get("taxonomy"), data.get("waivers")
    context.secrets += context.variables([str(taxonomy)])
    waivers_path = context.document.path if waivers else None
    if isinstance(waivers, str):
        waivers_path = context.resolve_path(waivers)
    openapi, openapi_files = _read_openapi(context, where.get("openapi"))
    return ServiceConfig(
        http=addresses["http"].rstrip("/"),
        jsonrpc=addresses["jsonrpc"],
        mcp=addresses["mcp"],
        mcp_command=mcp_command,
        revision=cast(Revision, where.get("revision", "2025-11-25")),
        stdio=stdio,
        framing=cast(Framing, where.get("framing", "lines")),
        directory=str(context.directory),
        openapi=openapi,
        openapi_file=openapi_files[0] if openapi_files else None,
        openapi_parts=openapi_files[1:],
        taxonomy=context.resolve_path(context.expand(str(taxonomy), ("taxonomy",)))
        if taxonomy is not None
        else None,
        identities=identities,
        resources=resources,
        recipes=recipes,
        samples=tuple(read_samples(context, child_mapping(data, "calls"))),
        limits=limits,
        skip=tuple(
            OperationPattern(text, str(reason))
            for text, reason in child_mapping(data, "skip").items()
        ),
        paths=tuple(cast(list[str], data.get("paths", []))),
        sweep=_read_sweep(child_mapping(data, "sweep")),
        waivers=waivers_path,
        path=context.document.path,
        command=command,
        upstreams=tuple(
            _read_upstream(context, name, node, started="command" in where)
            for name, node in children(data, "upstreams")
        ),
        clients=tuple(_read_clients(context, data.get("client", []))),
        faults=faults,
        values=constants,
        confidential=tuple(cast(list[str], data.get("confidential", []))),
        references=_read_references(context, child_mapping(data, "references")),
        audit=read_audit_lookup(context, data["audit"]) if "audit" in data else None,
        sinks={
            name: context.resolve_path(context.expand(str(path), ("sinks", name)))
            for name, path in child_mapping(data, "sinks").items()
        },
        session=read_session(context, data["session"])
        if "session" in data and context.transport in ("stdio", "mcp")
        else SessionConfig(),
        secrets=tuple(  # last: reading the others finds them
            dict.fromkeys((*context.secrets, *find_environment_secrets(context.environment)))
        ),
        named=tuple(context.secrets),
    )


def _read_transport(context: ReadingContext, where: Node) -> Transport:
    """The transport: the one key that names it. None or several are reported."""
    named = cast(list[Transport], [name for name in where if name in _TRANSPORTS])
    if not named:
        context.report(
            "missing-key",
            ("target",),
            "`target` has no address of the service",
            hint="add `http: http://127.0.0.1:8080`, or `stdio`, `jsonrpc` or `mcp`",
            needs=[("target", name) for name in _TRANSPORTS],
        )
    for name in named[1:]:
        message = f"`{named[0]}` and `{name}` exclude each other: a service has one transport"
        hint = "keep one of the two"
        context.report("conflicting-keys", ("target", name), message, hint=hint)
    lost = [name for name in _TRANSPORTS if ("target", name) in context.lost]
    return next(iter((*named, *lost)), "http")


def _report_misplaced_keys(context: ReadingContext, data: Node, where: Node) -> None:
    """Report keys that belong to another transport."""
    transport = context.transport
    lost = any(("target", name) in context.lost for name in _TRANSPORTS)
    if lost or not any(name in where for name in _TRANSPORTS):
        return

    def report(place: Place, message: str, hint: str = "remove the key") -> None:
        context.report("misplaced-key", place, message, hint=hint)

    if transport == "http" and "calls" in data:
        hint = "over HTTP, write `resources`; the OpenAPI document names the other calls"
        report(("calls",), "`calls` belongs to JSON-RPC and MCP", hint)
    for key, holder, own, services in (
        ("framing", where, "stdio", "services on standard streams"),
        ("revision", where, "mcp", "MCP servers"),
    ):
        if transport != own and key in holder:
            report((key,) if holder is data else ("target", key), f"`{key}` belongs to {services}")
    if transport != "stdio" and "session" in data:
        _report_session(context, data["session"], where)
    if "command" in where and isinstance(where.get(transport), list):
        line = f"`command` starts a service at an address; `{transport}` is a command itself"
        report(("target", "command"), line)
    if transport != "http":
        for place in _keys_of_http(data, where):
            report(place, f"`{place[-1]}` belongs to services over HTTP")
    if transport == "stdio":
        for name in _identities_with(data, "headers"):
            place = ("identities", name, "headers")
            report(place, "a service on standard streams receives no headers", "remove them")


def _identities_with(data: Node, key: str) -> Iterator[str]:
    for name, node in children(data, "identities"):
        if isinstance(node, dict) and key in node:
            yield name


def _report_session(context: ReadingContext, session: object, where: Node) -> None:
    """Report a session of a service that has none; one over MCP has replies alone."""
    place: Place = ("session",)
    if context.transport != "mcp":
        message = "`session` belongs to services on standard streams and to MCP servers"
        context.report("misplaced-key", place, message, hint="remove the key")
        return
    keys = session if isinstance(session, dict) else {"start": session}
    for key in (name for name in ("start", "end") if name in keys):
        message = f"`{key}` of a session belongs to JSON-RPC on standard streams"
        at = (*place, key) if isinstance(session, dict) else place
        hint = "remove it: MCP has a handshake of its own"
        context.report("misplaced-key", at, message, hint=hint)
    if "replies" not in keys:
        return
    if where.get("revision") == "2026-07-28":
        message = "servers of revision 2026-07-28 send no requests of their own"
        context.report("misplaced-key", (*place, "replies"), message, hint="remove the key")
    for method, result in children(cast(Node, keys), "replies"):
        at = (*place, "replies", method)
        if method not in SERVER_REQUESTS:
            message = f"an MCP server has no request `{method}` for its client"
            hint = f"its requests are {', '.join(SERVER_REQUESTS)}"
            context.report("unknown-name", at, message, hint=hint)
        elif not isinstance(result, dict):
            message, hint = (
                "the result of a request of MCP is a mapping",
                "such as {action: decline}",
            )
            context.report("bad-value", at, message, key=False, hint=hint)


def _keys_of_http(data: Node, where: Node) -> Iterator[Place]:
    for name in ("resources", "skip", "sweep", "audit", "paths"):
        if name in data:
            yield (name,)
    if "openapi" in where:
        yield ("target", "openapi")
    yield from (("identities", name, "query") for name in _identities_with(data, "query"))


def _read_command(context: ReadingContext, node: Node, place: Place, key: str) -> tuple[str, ...]:
    """The words of a command, with values from the environment."""
    written = node.get(key, [])
    words = cast(list[str], written if isinstance(written, list) else [])
    context.secrets += context.variables(words)
    for index, word in enumerate(words):
        if "\0" in word:
            message = "a word of a command must not contain the character NUL"
            hint = "no system starts a command with it; write the word without `\\0`"
            context.report("bad-value", (*place, key, index), message, key=False, hint=hint)
    return tuple(context.expand(word, (*place, key, index)) for index, word in enumerate(words))


def _read_limits(context: ReadingContext, node: Node) -> Limits:
    default = Limits()
    if node.get("seconds") == 0:
        message, hint = "a run of 0 seconds sends nothing", "leave it out for 120 seconds"
        context.report("bad-value", ("limits", "seconds"), message, key=False, hint=hint)
    return Limits(
        requests=cast(int, node.get("requests", default.requests)),
        seconds=float(cast(float, node.get("seconds", default.seconds))),
        writes=node.get("writes") is True,
        rate=float(cast(float, node["rate"])) if node.get("rate") else None,
        settle=float(cast(float, node.get("settle", default.settle))),
    )


def _read_references(context: ReadingContext, node: Node) -> ReferenceConfig:
    files = node.get("files")
    root = context.resolve_path(str(files)) if files is not None else None
    if root is not None and not os.path.isdir(root):
        message, hint = f"there is no folder `{files}`", "name an existing folder"
        context.report("bad-value", ("references", "files"), message, key=False, hint=hint)
    return ReferenceConfig(root, tuple(cast(list[str], node.get("hosts", []))))


def _read_sweep(node: Node) -> SweepConfig:
    default = SweepConfig()
    checks, left_out = node.get("checks"), node.get("leave_out")
    return SweepConfig(
        requests=cast(int, node.get("requests", default.requests)),
        checks=default.checks if checks is None else tuple(cast(list[str], checks)),
        leave_out=None
        if left_out is None
        else tuple(map(OperationPattern, cast(list[str], left_out))),
    )


def _read_request_before(context: ReadingContext, data: object, place: Place) -> Step:
    check_call_names(context, data, place)
    call = read_call(context, data, place)
    node = data if isinstance(data, dict) else {}
    return Step(call, context.known_identity(node, place))


def _read_upstream(
    context: ReadingContext, name: str, node: Node, *, started: bool
) -> UpstreamConfig:
    place: Place = ("upstreams", name)
    port = int(str(node.get("listen", ":0")).rpartition(":")[2])
    if port > _HIGHEST_PORT:
        message, hint = f"{port} is not a port", f"write a port of at most {_HIGHEST_PORT}"
        context.report("bad-value", (*place, "listen"), message, key=False, hint=hint)
    if port == 0 and not ("env" in node and started):
        context.report(
            "missing-key",
            place,
            f"the service cannot know the address of the upstream `{name}`",
            hint="write a fixed `listen: 127.0.0.1:9900`, or `env: NAME` and the "
            "`target.command` that starts the service",
            needs=((*place, "env"), (*place, "listen"), ("target", "command")),
        )
    calls = []
    for index, item in enumerate(cast(list[Node], node.get("calls", []))):
        at: Place = (*place, "calls", index)
        check_call_names(context, item, at)
        idempotent = item.get("idempotent")
        calls.append(
            UpstreamCall(
                call=read_call(context, item, at),
                identity=context.known_identity(item, at),
                idempotent=idempotent if isinstance(idempotent, bool) else None,
                before=tuple(
                    _read_request_before(context, earlier, (*at, "before", turn))
                    for turn, earlier in enumerate(cast(list[object], item.get("before", [])))
                ),
            )
        )
    return UpstreamConfig(
        name=name,
        calls=tuple(calls),
        fails=tuple(
            (code, _upstream_failure(context, item, (*place, "fails", code, *index)))
            for code, value in child_mapping(node, "fails").items()
            for index, item in (
                (((number,), item) for number, item in enumerate(value))
                if isinstance(value, list)
                else [((), value)]
            )
        ),
        port=port,
        env=cast(str | None, node.get("env")),
        answer=node.get("answer", {}),
        error=node.get("error"),
        status=int(cast(int, node.get("status", 200))),
        scale=context.positive_number(node, "scale", place, 1.0),
        pass_on=PassOn(
            **{
                name: tuple(cast(list[str], names))
                for name, names in child_mapping(node, "pass_on").items()
            }
        ),
    )


def _upstream_failure(context: ReadingContext, item: object, place: Place) -> UpstreamFailure:
    if not isinstance(item, dict):
        return UpstreamFailure(cast(Behaviour, item))
    seconds = context.positive_number(item, "within", place, 0.0)
    return UpstreamFailure(
        cast(Behaviour, item.get("answer")),
        path=str(item.get("path", "*")),
        after=cast(int, item.get("after", 0)),
        within=seconds or None,
    )


def _read_faults(context: ReadingContext, data: object) -> Iterator[FaultSwitchConfig]:
    """The fault switches. A switch without exactly one place is reported."""
    if data and context.transport != "http":
        message = "`faults` belongs to services over HTTP"
        context.report("misplaced-key", ("faults",), message, hint="remove the key")
    nodes = cast(list[Node], data if isinstance(data, list) else [data])
    for index, node in enumerate(nodes):
        at: Place = ("faults", index) if isinstance(data, list) else ("faults",)
        where = [name for name in _SWITCHES if name in node]
        if len(where) != 1:
            found = " and ".join(f"`{name}`" for name in where) or "none of them"
            context.report(
                "conflicting-keys" if where else "missing-key",
                at,
                f"a fault switch needs one of `header`, `query` and `body`; it has {found}",
                hint="keep one of them" if where else "add `header: X-Fault`",
                needs=[(*at, name) for name in _SWITCHES],
            )
            continue
        written = node.get("values", {})
        values = cast(
            dict[str, object],
            dict(zip(written, written, strict=True)) if isinstance(written, list) else written,
        )
        yield FaultSwitchConfig(
            where=where[0],
            name=str(node[where[0]]),
            values=values,
            identity=context.known_identity(node, at),
            places={
                name: (*at, "values", turn if isinstance(written, list) else name)
                for turn, name in enumerate(values)
            },
        )


def _read_clients(context: ReadingContext, data: object) -> Iterator[ClientConfig]:
    nodes = data if isinstance(data, list) else [data]
    for index, node in enumerate(nodes):
        place: Place = ("client", index) if isinstance(data, list) else ("client",)
        method, path = read_request_line(context, str(node["request"]), (*place, "request"))
        yield ClientConfig(
            command=_read_command(context, node, place, "command"),
            env=node["env"],
            request=ConfiguredCall(method, path),
            scale=context.positive_number(node, "scale", place, 1.0),
            seconds=context.positive_number(node, "seconds", place, CLIENT_SECONDS),
        )


def _read_address(context: ReadingContext, where: Node, name: str) -> str:
    """One address of the service, with values from the environment; empty if it is missing."""
    place: Place = ("target", name)
    value = where.get(name, "")
    written = value if isinstance(value, str) else ""
    url = context.expand(written, place)
    context.secrets += find_address_secrets(url)
    path = written.partition("://")[2].partition("/")[2]  # the host is not a secret
    context.secrets += context.variables([path])
    if url and not VARIABLE.search(url):  # a variable that is left has been reported
        message = _check_address(url, query=name != "http")
        if message is not None:
            context.secrets += context.variables([written])  # which may be no address at all
            hint = "write http://HOST:PORT, such as http://127.0.0.1:8080"
            context.report("bad-value", place, message, key=False, hint=hint)
    return url


def _check_address(url: str, *, query: bool) -> str | None:
    """The fault of an address; None if it has none. ``query``: it may have one."""
    pattern = r"https?://[^\s/?#]+(/[^\s?#]*)?" + (r"(\?[^\s#]*)?" if query else "")
    if not re.fullmatch(pattern, url):
        return f"`{url}` is not an address such as http://127.0.0.1:8080"
    try:
        parts = urlsplit(url)
        if not parts.hostname:
            return f"`{url}` has no host"
        return f"`{url}` has port 0, which cannot be connected to" if parts.port == 0 else None
    except ValueError as error:  # a port above 65535 or of letters; an unfinished IPv6 address
        return f"`{url}` is not an address: {error}"


def _read_openapi(context: ReadingContext, value: object) -> tuple[str | None, tuple[str, ...]]:
    """The OpenAPI document, as a path or URL below the address or as its files; the other is
    empty.
    """
    place: Place = ("target", "openapi")
    context.secrets += context.variables(text for _, text in texts_in(value, place))
    if isinstance(value, list):
        texts = [context.expand(each, (*place, number)) for number, each in enumerate(value)]
        return None, tuple(
            _read_openapi_file(context, text, (*place, number)) for number, text in enumerate(texts)
        )
    if not isinstance(value, str) or value.lower() == "none":
        return None, ()
    text = context.expand(value, place)
    context.secrets += find_address_secrets(text)
    if re.match(r"https?://", text) or (text.startswith("/") and not os.path.isfile(text)):
        return text, ()
    return None, (_read_openapi_file(context, text, place),)


def _read_openapi_file(context: ReadingContext, text: str, place: Place) -> str:
    """The path of a file of the OpenAPI document, which must exist."""
    file = context.resolve_path(text)
    if not VARIABLE.search(text) and not os.path.isfile(file):
        message = f"the file `{text}` does not exist"
        hint = (
            "write files beside this one"
            if len(place) > 2
            else "write a path under the address (beginning with `/`), a URL, a file beside this "
            "one, or `none`"
        )
        context.report("file-not-found", place, message, key=False, hint=hint)
    return file


def _read_identity(context: ReadingContext, name: str, node: Node) -> Identity:
    place: Place = ("identities", name)
    if name == ANONYMOUS and (node.get("headers") or node.get("query")):
        message = f"`{ANONYMOUS}` is the caller without headers and query"
        context.report("bad-name", place, message, hint="choose another name")
    written = header_texts(node)
    headers = context.headers(node, place)
    parameters = query_texts(node)
    query = {key: context.expand(text, (*place, "query", key)) for key, text in parameters.items()}
    secrets = context.variables((*written.values(), *parameters.values()))
    for key, value in headers.items():
        if is_credential(key) and not _is_filled_in(written[key]):
            secrets.append((secret_of(key, value), name_variable(f"{name}-{key}")))
    for key, value in query.items():
        if is_credential(key) and not _is_filled_in(parameters[key]):
            secrets.append((value, name_variable(f"{name}-{key}")))
    values = (*headers.values(), *query.values())
    login = read_login_request(context, node, values, place) if "login" in node else None
    tenant = None
    if node.get("tenant") is not None:
        tenant = context.expand(str(node["tenant"]), (*place, "tenant"))
        context.secrets += context.variables([str(node["tenant"])])
    return Identity(
        name=name,
        headers=tuple(headers.items()),
        query=tuple(query.items()),
        tenant=tenant,
        scopes=_words(node["scopes"]) if "scopes" in node else None,
        forbidden=tuple(OperationPattern(str(text)) for text in _words(node.get("forbidden", ()))),
        secrets=tuple(dict.fromkeys(secrets)),
        login=login,
    )


def _is_filled_in(text: str) -> bool:
    """Whether a value contains one from the environment or from a login."""
    return VARIABLE.search(text) is not None or SAVED_NAME.search(text) is not None


def _read_resource(context: ReadingContext, name: str, node: Node) -> ResourceConfig:
    place: Place = ("resources", name)
    calls = {
        role: read_call(context, node[role], (*place, role)) for role in _ROLES if role in node
    }
    create = node.get("create")
    settings = create if isinstance(create, dict) else {}
    declared, body = settings.get("unique", ()), settings.get("body")
    rule = declared if isinstance(declared, dict) else {"fields": declared}
    unique = _words(rule.get("fields", ()))
    for member in unique:
        if isinstance(body, dict) and member not in body:
            known = tuple(map(str, body))
            hint = grammar.closest(member, known) or (
                f"its members are {', '.join(known) or 'none'}"
            )
            message = f"the body has no member `{member}`"
            at = (*place, "create", "unique")
            context.report("unknown-member", at, message, key=False, hint=hint)
    return ResourceConfig(
        name=name,
        create=calls.get("create"),
        read=calls.get("read"),
        update=calls.get("update"),
        delete=calls.get("delete"),
        list=calls.get("list"),
        batch=calls.get("batch"),
        id=settings.get("id"),
        unique=unique,
        unique_together=bool(rule.get("together")),
        identity=context.known_identity(node, place),
        unique_code=rule.get("code"),
        stale_code=cast(str | None, node.get("stale")),
        server_owned=_words(node.get("server_owned", ())),
        pages=PagesConfig(**cast(dict[str, str], node.get("pages", {}))),
    )


def _item_shapes(resource: ResourceConfig) -> Iterator[str]:
    """The shapes of the paths of a resource's items, as far as the file declares them."""
    for call in (resource.read, resource.update, resource.delete):
        if call is not None:
            yield path_shape(call.path)
    if resource.create is not None:
        yield path_shape(resource.create.path) + "{}/"


def _words(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, cast(list[object], value)))
