"""Unknown routes and wrong methods, which frameworks and gateways answer by themselves."""

from collections.abc import Iterator, Sequence

from faultspec.exchange.finding import Level
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT
from faultspec_conformance.probes import correlation
from faultspec_conformance.probes.refusals import check_refusal
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.endings import ends_session
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import values_for
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import JSON

_ROUTE, _METHOD = "framework/unknown-route", "framework/method"

#: Paths whose methods are asked for. One router answers for all paths.
_PATHS = 2

#: Prefixes of surfaces that are asked for an unknown route, besides the common path.
_PREFIXES = 4


def unknown_routes(session: HttpSession) -> Iterator[ProbeResult]:
    """Ask for an undeclared route and sub-resource, with GET and HEAD, and for the route as a page
    of HTML.

    All requests but the first carry a malformed correlation id, which must neither come back nor
    change the answer.
    """
    address = session.canary("address")
    base, *prefixes = _bases(session)
    path = f"{base}/{address.value}"
    below = f"{_collection(session)}/{session.tokens.hex(4)}/faultspec/{address.value}"
    if not session.claims_errors(path):
        if not session.claims_errors(below):
            yield not_exercised(_ROUTE, "no surface claims the errors of unknown routes")
            return
        path = below
    if not session.claims_errors(below):
        below = f"{path}/{session.tokens.hex(4)}"
    prefixes = [prefix for prefix in prefixes if session.claims_errors(f"{prefix}/x")]
    canaries = (session.canary("email"), session.canary("secret"))
    plain = session.call(
        RequestSpec(
            "GET",
            path,
            query={"email": canaries[0].value, "api_key": canaries[1].value},
            canaries=(address, *canaries),
            route=None,
            correlation="valid",
        )
    )
    yield check_refusal(session, _ROUTE, plain, "an unknown route")
    for prefix in prefixes:
        spec = RequestSpec("GET", f"{prefix}/{session.tokens.hex(4)}", route=None)
        yield check_refusal(session, _ROUTE, session.call(spec), f"an unknown route below {prefix}")
    malformed = iter(correlation.malformed_ids(session))

    def ask(method: str, path: str, accept: str = JSON) -> tuple[Observation, list[Outcome]]:
        kind, value = next(malformed, ("", "none"))
        spec = RequestSpec(
            method, path, accept=accept, route=None, correlation=value, canaries=(address,)
        )
        answer = session.call(spec)
        return answer, list(
            correlation.check_malformed_id(session, answer, kind, value, usual=plain.status)
        ) if kind else []

    deeper, outcomes = ask("GET", below)
    yield from outcomes
    yield check_refusal(session, _ROUTE, deeper, "an unknown sub-resource")
    page, outcomes = ask("GET", path, "text/html")
    yield from outcomes
    if plain.ok:
        return
    yield check_refusal(
        session, "framework/not-acceptable", page, "an error asked for as text/html"
    )
    head, outcomes = ask("HEAD", path)
    yield from outcomes
    # HEAD has no body that could tell the error.
    if head.status >= 400 or (plain.is_in_band and head.sent_status == plain.sent_status):
        yield passed(_ROUTE)
    else:
        message = f"the service answered {head} to HEAD of an unknown route, but {plain} to GET"
        yield failed(_ROUTE, message, plain, head)


def _collection(session: HttpSession) -> str:
    """Return the path of a collection, else the common path."""
    lists = [listing for kind in session.kinds if (listing := kind.operation("list"))]
    reads = [
        operation
        for operation in session.inventory.operations
        if operation.method == "GET" and not operation.placeholders
    ]
    collection = next(iter([*lists, *reads]), None)
    if collection is None or collection.placeholders:
        return _common_path(session).rstrip("/")
    return collection.template.rstrip("/")


def _common_path(session: HttpSession) -> str:
    """Return the path that all operations share, such as /v1."""
    paths = [path.split("/")[1:] for path in session.description.paths or session.inventory.paths]
    if len(paths) < 2:
        return ""
    shared: list[str] = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1 or parts[0].startswith("{"):
            break
        shared.append(parts[0])
    if any(len(path) == len(shared) for path in paths):
        shared = shared[:-1]
    return "".join(f"/{part}" for part in shared)


def _bases(session: HttpSession) -> list[str]:
    """Return the paths below which an unknown route is asked for: the common path, if a surface
    claims what lies below it, and the others below which a surface claims every route.
    """
    common = _common_path(session)
    surfaces = [one for one in session.taxonomy.surfaces.values() if one.transport == "http"]
    found: dict[str, None] = {}
    for route in (route for surface in surfaces for route in surface.match.routes):
        prefix, everything, rest = route.rpartition(" ")[2].partition("/**")
        if everything and not rest and not set(prefix) & set("*{"):
            found[prefix] = None
    others = [prefix for prefix in found if not f"{common}/".startswith(f"{prefix}/")]
    claimed = len(others) < len(found) or any(not one.match.routes for one in surfaces)
    first = [common] if claimed or not others else []
    return [*first, *others][: _PREFIXES + 1]


def wrong_methods(session: HttpSession) -> Iterator[ProbeResult]:
    """Ask one path for a method it does not have and for one that hardly any path has, another one
    for its methods.
    """
    paths = _paths_of_most_methods(session)
    if not paths:
        yield not_exercised(_METHOD, "neither a document nor a configured call names a path")
        return
    # First the methods of other paths: a service that knows a method has more ways to get this
    # wrong.
    elsewhere = {operation.method for operation in session.inventory.operations}
    candidates = ("PATCH", "PUT", "DELETE", "POST") if session.writable else ("GET",)
    path = paths[0]
    if set(candidates) <= set(session.inventory.methods(path)):
        path = _path_without(session, candidates) or path
    declared = session.inventory.methods(path)
    # Where no document lists the methods, another one may exist, and change something.
    listed = path in session.description.paths
    wanted = [method for method in candidates if listed and method not in declared]
    wanted.sort(key=lambda method: method not in elsewhere)
    if session.writable:
        wanted.insert(0, "TRACE")
    for method in wanted[:2]:
        yield from attempt(_wrong_method(session, method, path, declared), _METHOD)
    if not wanted:
        yield not_exercised(_METHOD, "every path has every method that may be sent")
    options = ServiceOperation("OPTIONS", paths[-1])
    values = values_for(session, options)
    spec = RequestSpec("OPTIONS", options.template, values=values)
    for answer in correlation.call_with_empty_id(session, spec):
        if isinstance(answer, Outcome):
            yield answer
        elif answer.status >= 400 and answer.status not in (401, 403):
            yield check_refusal(session, _METHOD, answer, "OPTIONS")


def _paths_of_most_methods(session: HttpSession) -> list[str]:
    """Return the paths with the most methods, those of the document first: their `Allow` can have
    the most errors.
    """
    return _rank_paths(session)[:_PATHS]


def _rank_paths(session: HttpSession) -> list[str]:
    paths = session.description.paths or session.inventory.paths
    return sorted(paths, key=lambda path: -len(session.inventory.methods(path)))


def _path_without(session: HttpSession, methods: Sequence[str]) -> str | None:
    """Return the path of the document with the most methods that lacks all of these, rather one
    that needs no id: what refuses an unknown id may come before the method. A path that another
    template reads as an item has the methods of items.
    """
    lacking = [
        path
        for path in _rank_paths(session)
        if path in session.description.paths
        and session.inventory.methods(path)
        and not any(
            method in session.inventory.methods(session.inventory.template(method, path))
            or ends_session(ServiceOperation(method, path))
            for method in methods
        )
    ]
    return min(lacking, key=lambda path: "{" in path, default=None)


def _wrong_method(
    session: HttpSession, method: str, path: str, declared: tuple[str, ...]
) -> Iterator[Outcome]:
    known = session.description.find(declared[0], path) or ServiceOperation(method, path)
    body: object = {} if method in ("PATCH", "PUT", "POST") else ABSENT
    what = f"{method} on a path that has {', '.join(declared)}"
    values = values_for(session, known)
    answer = session.call(RequestSpec(method, path, values=values, body=body, trigger=what))
    if answer.ok and method != "TRACE":
        reason = f"the service answered {answer} to {method} {path}: the method exists, undeclared"
        yield not_exercised(_METHOD, reason)
        return
    yield check_refusal(session, _METHOD, answer, what)
    # A contract that has the code of this 404, and none for a 405, asks for the 404.
    is_declared = answer.code is not None and not session.contract.codes_for(405)
    if answer.status == 404 and not is_declared:
        message = f"the service answered 404 to {what}; expected 405"
        yield failed(_METHOD, message, answer, level="warning", variant="missing")
    if answer.status == 501 and any(
        operation.method == method for operation in session.inventory.operations
    ):
        # RFC 9110, 15.6.2: 501 is for a method that no resource supports.
        message = f"the service answered 501 to {what}; expected 405: other paths allow {method}"
        yield failed(_METHOD, message, answer, variant="unknown")
    if answer.status == 405:
        yield from _check_allow(answer, method, declared)


def _check_allow(answer: Observation, method: str, declared: tuple[str, ...]) -> Iterator[Outcome]:
    allow = answer.list_header("Allow")
    if allow is None:
        return
    listed = {name.strip().upper() for name in allow.split(",")}
    if method in listed and "http/allow" not in answer.judgement.exercised:  # it reports the same
        message = f"the `Allow` header lists {method}, but the service refused it with {answer}"
        yield failed(_METHOD, message, answer, variant="refused")
    missing = [name for name in declared if name not in listed]
    if missing:
        message = f"the `Allow` header leaves out {', '.join(missing)}, which the path allows"
        # A client that trusts an Allow without any declared method gives up.
        level: Level = "error" if len(missing) == len(declared) else "warning"
        yield failed(_METHOD, message, answer, level=level, pointer="Allow")
