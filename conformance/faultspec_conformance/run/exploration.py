"""The search for the routes of a service without an OpenAPI document.

Only GET is sent, to the host of the service and to paths below its address: those that the user
names, those that answers mention, and one unknown id beside or below each.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode, urlsplit

from faultspec.exchange.body import decode_body
from faultspec.exchange.model import Response
from faultspec.openapi.service import Description, read_at
from faultspec.openapi.text import parse_leniently
from faultspec_conformance.config import NOBODY, ServiceConfig
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.learning.mentions import (
    Mention,
    read_mentions,
    read_reference,
    response_media_type,
)
from faultspec_conformance.learning.routes import (
    AnswerForm,
    LearnedRoute,
    UnknownAnswer,
    answer_forms,
    describe_routes,
    item_path,
    merge_routes,
    read_router_path,
    route_of,
    sibling_path,
    with_last_placeholder,
)
from faultspec_conformance.session.discovery import document_request, fetch_description
from faultspec_conformance.session.endings import ends_session
from faultspec_conformance.session.observation import list_items
from faultspec_conformance.session.options import Unreachable
from faultspec_conformance.session.parameters import id_of_item
from faultspec_conformance.session.requests import add_query

Described = tuple[Description, tuple[str, ...]]
"""A description of a service, and notes about it."""

Describe = Callable[[ServiceConfig, HttpDriver], Described | Unreachable | NoAnswer]

#: The most requests of a search, and its share of the requests of a run.
_REQUESTS, _SHARE = 80, 1 / 2

#: The share of the time that is left which a search may take.
_TIME = 1 / 4

#: Where frameworks publish an OpenAPI document, beside the usual places: springdoc,
#: drf-spectacular, Litestar, ASP.NET, Nest, Fastify, flasgger, MicroProfile, swaggo; and the
#: catalogue of RFC 9727.
_DOCUMENTS = (
    *("/v3/api-docs", "/api/schema/", "/schema/", "/schema/openapi.json", "/openapi/v1.json"),
    *("/swagger/v1/swagger.json", "/api-docs", "/docs-json", "/api-json", "/documentation/json"),
    *("/apispec_1.json", "/openapi", "/swagger/doc.json", "/.well-known/api-catalog"),
)

#: Pages that show a document or name pages.
_PAGES = ("/docs", "/api/docs", "/swagger", "/robots.txt", "/sitemap.xml")

#: Statuses that lead elsewhere.
_MOVED = (301, 302, 303, 307, 308)

#: Methods that are never sent here, and that a 405 shows a route to have.
_WRITES = ("POST", "PUT", "PATCH", "DELETE")

#: Routes that a note names.
_NAMED = 6


def describe_service(
    target: ServiceConfig, driver: HttpDriver
) -> Described | Unreachable | NoAnswer:
    """The description of a service, and notes about it: its document, and also the paths that the
    user names, by arguments or by `paths`.

    A service without a document has the one that an answer leads to, else what answers teach.
    Returns what `fetch_description` returns where the service does not answer.
    """
    base = urlsplit(target.http).path
    described = fetch_description(target, driver, base)
    if isinstance(described, Unreachable | NoAnswer):
        return described
    if target.path is not None and not target.paths:
        return described
    description, notes = described
    if not description.document:
        search = _Search(target, driver, description.base)
        found = search.look()
        if found is None:
            learned = describe_routes(search.routes.values(), search.base)
            return learned, (*notes, *search.notes, *_describe(learned, target))
        description, notes = found
    search = _Search(target, driver, description.base)
    search.take_named()
    own = {operation.name for operation in description.operations}
    named = describe_routes(search.routes.values(), search.base).operations
    added = tuple(operation for operation in named if operation.name not in own)
    together = replace(description, operations=(*description.operations, *added))
    return together, (*notes, *search.notes)


def _naming(target: ServiceConfig) -> str:
    """How a user names a path, up to the path."""
    return "--path " if target.path is None else "paths: "


def _describe(learned: Description, target: ServiceConfig) -> Iterator[str]:
    names = [operation.name for operation in learned.operations]
    if names:
        shown = ", ".join(names[:_NAMED])
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        example = "/orders/17" if target.path is None else "[/orders/17]"
        yield f"learned from answers: {shown}{more}; `{_naming(target)}{example}` names others"


@dataclass(slots=True)
class _Search:
    """The state of a search. ``base``: the path that all routes begin with. ``routes``: by their
    shape.
    """

    target: ServiceConfig
    driver: HttpDriver
    base: str
    routes: dict[str, LearnedRoute] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _unknown: UnknownAnswer = field(default_factory=lambda: UnknownAnswer(frozenset()))
    _queue: deque[LearnedRoute] = field(default_factory=deque)
    _asked: set[str] = field(default_factory=set)
    _compared: set[str] = field(default_factory=set)
    _absences: int = 0
    _last: int = 0
    _end: float = 0.0

    def look(self) -> Described | None:
        """Search until nothing new is mentioned or the share of the limits is spent. Returns the
        document of the service if an answer is one.
        """
        self._begin()
        own = (LearnedRoute(self.base),) if self.base else ()
        for route in (*own, *self._read_named()):
            found = self._follow(route, named=route not in own)
            if found is not None:
                return found
        for place in ("/", *_DOCUMENTS, *_PAGES):
            path = self.base + place
            answer = self._get(path)
            if answer is None or (place != "/" and self._unknown.is_like(answer, path)):
                continue
            found = self._document_of(answer, path)
            if found is not None:
                return found
            self._enqueue(self._mentions(answer, path))
        while self._queue:
            found = self._follow(self._queue.popleft())
            if found is not None:
                return found
        return None

    def take_named(self) -> None:
        """Ask for the paths that the user names, and for those that they lead to."""
        if not self.target.paths:
            return
        self._begin()
        self._queue.clear()
        for route in self._read_named():
            self._follow(route, further=False, named=True)
        while self._queue:
            self._follow(self._queue.popleft(), further=False)

    def _begin(self) -> None:
        driver = self.driver
        allowed = min(_REQUESTS, int(driver.limits.requests * _SHARE))
        self._last = driver.requests + allowed
        self._end = driver.remaining * (1 - _TIME)
        forms: frozenset[AnswerForm] = frozenset()
        for _ in range(2):
            path = f"{self.base}/{self._absent()}"
            answer = self._get(path)
            if answer is not None:
                forms |= answer_forms(answer, path)
                self._enqueue(self._mentions(answer, path))
        self._unknown = UnknownAnswer(forms)

    def _read_named(self) -> Iterator[LearnedRoute]:
        for text in self.target.paths:
            method, path, types = read_router_path(text)
            complete = path if f"{path}/".startswith(f"{self.base}/") else self.base + path
            mention = read_reference(complete, self.driver.base)
            if mention is not None:
                route = route_of(replace(mention, method=method))
                yield replace(route, takes_json=method != "GET", types=types)

    def _enqueue(self, mentions: Iterable[Mention]) -> None:
        self._queue += (
            route_of(each) for each in mentions if f"{each.path}/".startswith(f"{self.base}/")
        )

    def _mentions(self, answer: Response, path: str) -> tuple[Mention, ...]:
        return read_mentions(answer, self.driver.base + path)

    def _document_of(self, answer: Response, path: str) -> Described | None:
        """The description of an answer that is an OpenAPI document."""
        text = answer.body.decode("utf-8", "replace")
        if answer.status != 200 or answer.cut or not ("openapi" in text or "swagger" in text):
            return None
        if "html" in response_media_type(answer):
            return None
        found, _ = parse_leniently(text)
        if found is None or not found.keys() & {"openapi", "swagger"}:
            return None
        return read_at(found, self.base, address=self.driver.base + path)

    def _follow(
        self, route: LearnedRoute, *, further: bool = True, named: bool = False
    ) -> Described | None:
        """Ask for a route that is not known, and take what its answer mentions. Returns the
        document of the service if the answer is one.

        ``further``: look for other routes, too. ``named``: by the user; a note names it if the
        service does not know it.
        """
        path = route.target
        if route.shape in self.routes or path is None or route.methods:
            # A placeholder without a value names a route, and a form one that is not asked.
            self._keep(route)
            return None
        if path in self._asked or not self._may_ask(route, path):
            return None
        self._asked.add(path)
        query = urlencode([(name, value) for name, value in route.query.items() if value])
        answer = self._send(path + (f"?{query}" if query else ""))
        if not isinstance(answer, Response):
            if self._shows_route(answer, path):
                self._keep(route)
            elif named and answer is not None:
                self.notes.append(f"{_naming(self.target)}{route.template}: {answer.reason}")
            return None
        document = self._document_of(answer, path)
        if document is not None:
            return document
        if further or answer.status in _MOVED:
            self._enqueue(self._mentions(answer, path))
        if named and self._unknown.is_like(answer, path):
            naming = _naming(self.target)
            self.notes.append(f"{naming}{route.template}: the service knows no such route")
        if not self._shows_route(answer, path):
            return None
        seen = _add_sighting(route, answer)
        self._keep(self._with_placeholder(seen, path) if further else seen)
        if further and seen.media_type:
            self._ask_below(route.template, path, answer, route.examples)
        return None

    def _may_ask(self, route: LearnedRoute, path: str) -> bool:
        """Whether a GET of the route is allowed and harmless to the session of the caller."""
        if self.target.skip_reason("GET", path, self.base) is not None:
            return False
        return not any(map(ends_session, describe_routes([route], self.base).operations))

    def _keep(self, route: LearnedRoute) -> None:
        known = self.routes.get(route.shape)
        self.routes[route.shape] = route if known is None else merge_routes(known, route)

    def _with_placeholder(self, route: LearnedRoute, path: str) -> LearnedRoute:
        """The route, whose last segment is a placeholder if another one has an answer, too."""
        where = sibling_path(route.template, "{}")
        is_item = where.startswith(f"{self.base}/") and where.rstrip("/").count("/") > 1
        if route.template.rstrip("/").endswith("}") or not is_item or not self._is_new(where):
            return route
        sibling = sibling_path(path, self._absent())
        found = self._shows_route(self._send(sibling), sibling)
        return with_last_placeholder(route) if found else route

    def _ask_below(
        self, template: str, path: str, answer: Response, examples: Mapping[str, str]
    ) -> None:
        """Look for the items of a collection: by an id that the answer shows, else by an unknown
        one.
        """
        if path == "/" or not self._is_new(item_path(template, "{}")):
            return
        items = list_items(decode_body(answer.body, response_media_type(answer)).value)
        shown = id_of_item(items[0], "id") if items else None
        for segment in (str(shown), self._absent()) if shown is not None else (self._absent(),):
            place = item_path(path, quote(segment, safe=""))
            item = self._send(place)
            if not self._shows_route(item, place):
                continue
            own = with_last_placeholder(LearnedRoute(item_path(template, segment), examples))
            if not isinstance(item, Response):
                self._keep(own)
                continue
            found = _add_sighting(own, item)
            if segment != str(shown):
                found = replace(found, examples=examples)
            self._keep(found)
            self._enqueue(self._mentions(item, place))
            return

    def _is_new(self, where: str) -> bool:
        """Whether no unknown id was asked for at a place. Without the answer to an unknown route
        there is nothing to compare with.
        """
        is_new = where not in self._compared and bool(self._unknown.forms)
        self._compared.add(where)
        return is_new

    def _shows_route(self, answer: Response | NoAnswer | None, path: str) -> bool:
        """Whether an answer shows that its route exists: so does a crash without one, if the
        service answers to unknown routes.
        """
        if isinstance(answer, Response):
            return answer.status not in (*_MOVED, 429) and not self._unknown.is_like(answer, path)
        crashed = answer is not None and answer.kind in ("closed", "garbled")
        return crashed and bool(self._unknown.forms)

    def _absent(self) -> str:
        """A segment that no service has as a route or as an id."""
        self._absences += 1
        return f"faultspec-none-{self._absences}"

    def _get(self, target: str) -> Response | None:
        """The answer to a GET; None if there is none, or no request left."""
        answer = self._send(target)
        return None if isinstance(answer, NoAnswer) else answer

    def _send(self, target: str) -> Response | NoAnswer | None:
        """The answer to a GET of the ordinary caller, or of nobody if that one logs in first.
        Without an answer it is the reason, and None if no request is left.
        """
        if self.driver.requests >= self._last or self.driver.remaining < self._end:
            return None
        request = document_request(target)
        caller = next(iter(self.target.identities.values()), NOBODY)
        if caller.login is not None:
            caller = NOBODY
        fields = (*request.headers, *caller.headers)
        headers = {name.lower(): (name, value) for name, value in fields}
        target = add_query(request.target, caller.query)
        return self.driver.send(replace(request, target=target, headers=tuple(headers.values())))


def _add_sighting(route: LearnedRoute, answer: Response) -> LearnedRoute:
    """The route with what its answer shows."""
    status = answer.status or 0
    allow = (value for name, value in answer.headers if name.lower() == "allow")
    allowed = [each.strip().upper() for line in allow for each in line.split(",")]
    return replace(
        route,
        status=status,
        media_type=response_media_type(answer) if status < 300 else "",
        methods=tuple(each for each in _WRITES if each in allowed) if status == 405 else (),
    )
