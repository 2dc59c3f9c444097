"""What is asked before anything is probed: whether somebody answers, and the service's OpenAPI document."""

from dataclasses import replace
from urllib.parse import urlsplit

from faultspec.exchange.model import Request, Response
from faultspec.openapi.service import Description, read_at
from faultspec.openapi.text import UnreadableDocument, parse_leniently, read_file
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.session.options import Unreachable

#: Where services commonly publish their document, when nobody says.
_USUAL_PLACES = (
    "/openapi.json",
    "/openapi.yaml",
    "/swagger.json",
    "/v1/openapi.json",
    "/api/openapi.json",
)


def no_address(url: str) -> str | None:
    """Why nothing can be asked at a URL; None where something can."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https"):
        return "its scheme is neither http nor https"
    if not parts.hostname or any(each.isspace() for each in url):
        return "it has no host" if not parts.hostname else "it has a blank in it"
    return "port 0 is none" if port == 0 else None


def describe(
    target: ServiceConfig, driver: HttpDriver, path: str
) -> tuple[Description, tuple[str, ...]] | Unreachable | NoAnswer:
    """The service's OpenAPI document, and the proof that somebody answers at all.

    Where nobody listens, nothing can be judged; where somebody listens and does not answer, that is what is to be told.
    """
    where = target.openapi
    if target.openapi_file is not None:
        try:
            document = read_file(target.openapi_file)
        except UnreadableDocument as error:
            return Unreachable(str(error))
        alive = driver.send(_get("/"))
        if isinstance(alive, NoAnswer):
            return _unheard(alive)
        return read_at(document, path)
    places = (
        [where]
        if where is not None
        else [path + each for each in _USUAL_PLACES]
        if target.path is None
        else ["/"]
    )
    reason = ""
    for place in places:
        answer = _fetched(place, target, driver)
        if isinstance(answer, NoAnswer):
            return Unreachable(answer.reason) if place.startswith("http") else _unheard(answer)
        if where is None and target.path is not None:
            return Description(base=path.rstrip("/")), (
                "no OpenAPI document is given, so only what the configuration names is asked",
            )
        status = answer.status or 0
        if status in (401, 403) and where is not None:
            hint = "it is fetched without credentials: save it, and give the file, such as `openapi: openapi.json`"
            return Unreachable(f"the OpenAPI document {place} was answered {status}", hint)
        found, problem = (
            parse_leniently(answer.body.decode("utf-8", "replace"))
            if status == 200
            else (None, f"{status}")
        )
        if found is not None:
            return read_at(found, path)
        reason = f"{place} holds no OpenAPI document ({problem})"
    if where is not None:
        hint = "check `openapi`: give the document's path, URL or file, or `none` where there is no document"
        return Unreachable(reason, hint)
    return Description(base=path.rstrip("/")), (
        f"no OpenAPI document was found at {', '.join(places)}",
    )


def _unheard(answer: NoAnswer) -> Unreachable | NoAnswer:
    return answer if answer.kind in ("closed", "garbled", "timeout") else Unreachable(answer.reason)


def _fetched(place: str, target: ServiceConfig, driver: HttpDriver) -> Response | NoAnswer:
    if not place.startswith("http"):
        return driver.send(_get(place))
    parts = urlsplit(place)
    base = f"{parts.scheme}://{parts.netloc}"
    request = _get(parts.path + (f"?{parts.query}" if parts.query else ""))
    if base == driver.base:
        return driver.send(request)
    with HttpDriver(base, replace(target.limits, requests=1)) as other:
        return other.send(request)


def _get(path: str) -> Request:
    return Request(
        "GET",
        path,
        (("Accept", "application/json, */*;q=0.8"), ("User-Agent", "faultspec-conform")),
    )
