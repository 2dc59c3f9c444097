"""Lint rules about operations: their codes and routes, discovery and navigation."""

from collections.abc import Iterator

from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.model import Code, Match, Operation, Surface, Taxonomy
from faultspec.language.routes import compile_route, without_parameter_names
from faultspec.lint.matching import claims_all_of, contradiction, iterate_prefixes, literal_prefix
from faultspec.lint.rule import Remark, Subject, rule
from faultspec.runtime.nodes import Object, child, walk


@rule("listed-on-no-surface", severity="error")
def listed_on_no_surface(subject: Subject) -> Iterator[Remark]:
    """A surface of the operation can carry every shared code that the operation lists.

    Bad::

        surfaces:
          orders: {transport: http, match: {routes: [/orders, /orders/**]}, envelope: error,
              codes: [missing]}
          rest: {transport: http, envelope: error, codes: [missing, failed]}
        codes:
          missing: {summary: It is not there., http: 404}
          failed: {summary: It failed., http: 500}
        operations:
          read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing, failed]}

    Good::

        surfaces:
          orders: {transport: http, match: {routes: [/orders, /orders/**]}, envelope: error,
              codes: [missing, failed]}
        codes:
          missing: {summary: It is not there., http: 404}
          failed: {summary: It failed., http: 500}
        operations:
          read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing, failed]}
    """
    taxonomy = subject.taxonomy
    for operation in taxonomy.operations.values():
        surfaces = [surface for surface in _surfaces_of(operation, taxonomy) if surface.envelopes]
        if not surfaces or any(surface.foreign for surface in surfaces):
            continue
        names = " or ".join(f"`{surface.name}`" for surface in surfaces)
        for index, name in enumerate(operation.codes or ()):
            code = taxonomy.codes[name]
            if code.live and not any(reaches(s, code, of_operation=False) for s in surfaces):
                message = f"`{operation.name}` lists `{name}`, which {names} cannot carry"
                hint = "allow the code on a surface of the operation, or remove it from the list"
                listed = subject.value_at(("operations", operation.name, "codes"))
                place = name if isinstance(listed, dict) else index
                path = ("operations", operation.name, "codes", place)
                yield Remark(path, message, hint, on_key=isinstance(listed, dict))


def _surfaces_of(operation: Operation, taxonomy: Taxonomy) -> list[Surface]:
    """The surfaces that may claim an exchange of the operation, judged by routes and methods.

    Events, logs and streams belong to no request, so each of them may.
    """
    surfaces = taxonomy.surfaces.values()
    if not operation.match.routes:
        return [
            surface
            for surface in surfaces
            if not operation.match.tools or surface.transport != "http"
        ]
    on_http = [surface for surface in surfaces if surface.transport == "http"]
    found = [s for s in surfaces if s.transport not in ("http", "mcp", "jsonrpc")]
    for written in operation.match.routes:
        method, _, path = written.rpartition(" ")
        methods = {method} if method else set(operation.match.methods)
        for surface in on_http:
            if not _may_claim(surface.match, method, path, methods):
                continue
            found += [] if surface in found else [surface]
            if _claims_all(surface.match, methods):
                break
    return found


def _may_claim(match: Match, method: str, path: str, methods: set[str]) -> bool:
    patterns = [compile_route(pattern) for pattern in match.routes]
    if patterns and not any(
        pattern.claims(method or pattern.method or "", (path,)) for pattern in patterns
    ):
        return False
    return not (match.methods and methods and methods.isdisjoint(match.methods))


def _claims_all(match: Match, methods: set[str]) -> bool:
    """Whether no exchange with these methods is left to later surfaces."""
    every_method = not match.methods or bool(methods and methods.issubset(match.methods))
    return every_method and not (match.statuses or match.reads_request)


@rule("operation-twice", severity="warning")
def operation_twice(subject: Subject) -> Iterator[Remark]:
    """No two operations claim the same route and method.

    Bad::

        codes:
          missing: {summary: It is not there., http: 404}
        operations:
          read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing]}
          show: {match: {routes: ["GET /orders/{order}"]}, codes: [missing]}

    Good::

        codes:
          missing: {summary: It is not there., http: 404}
        operations:
          read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing]}
          cancel: {match: {routes: ["DELETE /orders/{id}"]}, codes: [missing]}
    """
    claimed: dict[str, list[Operation]] = {}
    for operation in subject.taxonomy.operations.values():
        clashes = (
            (shared, other)
            for shared in operation.match.routes
            for other in claimed.get(without_parameter_names(shared), ())
            if _may_match_both(operation.match, other.match)
        )
        for shared, other in list(clashes)[:1]:
            message = f"`{operation.name}` and `{other.name}` both claim `{shared}`"
            hint = "merge them, or separate them by `methods:` or `request:`"
            related = ((f"`{other.name}` is here", ("operations", other.name)),)
            yield Remark(("operations", operation.name, "match"), message, hint, related=related)
        for bare in dict.fromkeys(map(without_parameter_names, operation.match.routes)):
            claimed.setdefault(bare, []).append(operation)


def _may_match_both(one: Match, other: Match) -> bool:
    """Whether an exchange on a common route may match both."""
    methods = not one.methods or not other.methods or bool(set(one.methods) & set(other.methods))
    return methods and _criteria(one) == _criteria(other)


def _criteria(match: Match) -> tuple[object, ...]:
    """The criteria of a match beside its routes and methods."""
    return match.request, match.headers, match.query, match.tools, match.statuses


@rule("unreachable-operation", severity="warning")
def unreachable_operation(subject: Subject) -> Iterator[Remark]:
    """An operation claims something that no operation above it claims: the first match wins.

    Bad::

        codes:
          missing: {summary: It is not there., http: 404}
        operations:
          item: {match: {routes: ["GET /orders/{id}"]}, codes: [missing]}
          latest: {match: {routes: [GET /orders/latest]}, codes: [missing]}

    Good::

        codes:
          missing: {summary: It is not there., http: 404}
        operations:
          latest: {match: {routes: [GET /orders/latest]}, codes: [missing]}
          item: {match: {routes: ["GET /orders/{id}"]}, codes: [missing]}
    """
    operations = tuple(subject.taxonomy.operations.values())
    by_prefix: dict[tuple[str, str], list[int]] = {}
    for index, later in enumerate(operations):
        if not later.match.routes:
            continue  # the name of the operation claims it
        method, _ = literal_prefix(later.match.routes[0])
        near = {
            each
            for _, path in iterate_prefixes(later.match.routes[0])
            for key in {(method, path), ("", path)}
            for each in by_prefix.get(key, ())
        }
        for route in later.match.routes:
            by_prefix.setdefault(literal_prefix(route), []).append(index)
        for earlier in (operations[each] for each in sorted(near)):
            if not claims_all_of(earlier.match, later.match):
                continue
            if _is_same(earlier.match, later.match):
                continue  # `operation-twice` says so
            message = f"`{later.name}` is never reached: `{earlier.name}` claims all its requests"
            hint = "put the narrower operation first, or narrow the match of the other"
            related = ((f"`{earlier.name}` is here", ("operations", earlier.name)),)
            yield Remark(("operations", later.name), message, hint, related=related)
            break


def _is_same(one: Match, other: Match) -> bool:
    """Whether two operations claim a common route."""
    routes = {without_parameter_names(route) for route in one.routes}
    common = routes & {without_parameter_names(route) for route in other.routes}
    return bool(common) and _may_match_both(one, other)


@rule("impossible-match", severity="error")
def impossible_match(subject: Subject) -> Iterator[Remark]:
    """The criteria of a match can hold together.

    Bad::

        codes:
          missing: {summary: It is not there., http: 404}
        operations:
          read: {match: {routes: ["GET /orders/{id}"], methods: [POST]}, codes: [missing]}

    Good::

        codes:
          missing: {summary: It is not there., http: 404}
        operations:
          read: {match: {routes: ["/orders/{id}"], methods: [GET]}, codes: [missing]}
    """
    taxonomy = subject.taxonomy
    matches = [(("surfaces", name), each.match) for name, each in taxonomy.surfaces.items()]
    matches += [(("operations", name), each.match) for name, each in taxonomy.operations.items()]
    for path, match in matches:
        reason = contradiction(match)
        if reason is not None:
            message = f"no exchange matches `{path[1]}`: {reason}"
            yield Remark((*path, "match"), message, "remove one of the criteria")


@rule("discovery-without-operations", severity="warning")
def discovery_without_operations(subject: Subject) -> Iterator[Remark]:
    """A `discovery` request with `${operation}` needs declared operations.

    Bad::

        codes:
          failed: {summary: It failed., http: 500}
        discovery:
          errors: {request: "GET /schema?name=${operation}", kind: errors, at: /errors,
              item: {code: /code}}

    Good::

        codes:
          failed: {summary: It failed., http: 500}
        operations:
          pay: {errors: {declined: {summary: The bank said no., http: 402}}}
        discovery:
          errors: {request: "GET /schema?name=${operation}", kind: errors, at: /errors,
              item: {code: /code}}
    """
    for discovery in subject.taxonomy.discovery.values():
        if "${operation}" in discovery.request and not subject.taxonomy.operations:
            message = f"`{discovery.name}` asks for each operation, but none is declared"
            path = ("discovery", discovery.name, "request")
            yield Remark(path, message, "declare `operations:`", on_key=False)


@rule("navigation-offers", severity="error")
def navigation_offers(subject: Subject) -> Iterator[Remark]:
    """The codes under `navigation` use an envelope that contains the list of offered steps.

    Bad::

        codes:
          refused: {summary: That is not offered., http: 409}
        navigation: {offers: /next, takes: /step, refused: refused}

    Good::

        envelopes:
          error: {shape: {code: $code, next: $next}, fields: {next: {type: array}}}
        codes:
          refused: {summary: That is not offered., http: 409}
        navigation: {offers: /next, takes: /step, refused: refused}
    """
    taxonomy, navigation = subject.taxonomy, subject.taxonomy.navigation
    if navigation is None:
        return
    for key, name in (("refused", navigation.refused), ("unknown", navigation.unknown)):
        code = taxonomy.codes.get(name or "")
        if code is not None and not any(
            _offers(taxonomy, surface, code, navigation.offers)
            for surface in taxonomy.surfaces.values()
        ):
            message = f"`{code.name}` travels in no envelope with a member at `{navigation.offers}`"
            hint = "add the member to the envelope, or correct `offers:`"
            yield Remark(("navigation", key), message, hint, on_key=False)


def _offers(taxonomy: Taxonomy, surface: Surface, code: Code, pointer: str) -> bool:
    """Whether a body with the code has a member at the pointer on the surface."""
    if not reaches(surface, code, of_operation=False):
        return False
    for name in surface.envelopes:
        envelope = taxonomy.envelopes[name]
        drawn = walk(envelope.shape, surface.at) if uses_envelope(code, envelope) else ()
        for place in drawn:
            spread = isinstance(place.node, Object) and place.node.spread == "details"
            details = [child(place.path, key) for key in code.details] if spread else []
            if pointer in (place.path, *details):
                return True
    return False
