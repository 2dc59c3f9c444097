"""The first requests of a run: whether the service answers, and its OpenAPI document."""

from dataclasses import replace
from urllib.parse import urlsplit

from faultspec.exchange.model import Request, Response
from faultspec.openapi.service import Description, read_at
from faultspec.openapi.text import (
    UnreadableDocument,
    file_url,
    parse_leniently,
    read_file,
    read_part,
)
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.session.options import Unreachable

#: Where services commonly publish their document.
_USUAL_PLACES = (
    "/openapi.json",
    "/openapi.yaml",
    "/swagger.json",
    "/v1/openapi.json",
    "/api/openapi.json",
)


def address_problem(url: str) -> str | None:
    """Return why a URL is not the address of a service; None if it is one."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https"):
        return "its scheme is neither http nor https"
    if not parts.hostname or any(character.isspace() for character in url):
        return "it has no host" if not parts.hostname else "it has a blank in it"
    return "0 is not a port" if port == 0 else None


def fetch_description(
    target: ServiceConfig, driver: HttpDriver, path: str
) -> tuple[Description, tuple[str, ...]] | Unreachable | NoAnswer:
    """Return the service's OpenAPI document and notes about it, after a request that proves that
    the service answers.

    ``path``: the path of the service's address. Returns Unreachable if nobody listens or the
    configured document cannot be read, and NoAnswer if the service accepts connections and does not
    answer.
    """
    if target.openapi_file is not None:
        return _describe_file(target.openapi_file, target, driver, path)
    if target.openapi is None and target.path is not None:
        answer = driver.send(document_request("/"))
        if isinstance(answer, NoAnswer):
            return _classify_silence(answer)
        note = (
            "no OpenAPI document is given, so only the operations of the configuration are asked; "
            "`paths: [/orders/17]` names others"
        )
        notes = () if target.paths else (note,)
        return Description(base=path.rstrip("/")), notes
    if target.openapi is not None:
        return _describe_configured(target.openapi, target, driver, path)
    places = [path + place for place in _USUAL_PLACES]
    for place in places:
        answer = driver.send(document_request(place))
        if isinstance(answer, NoAnswer):
            return _classify_silence(answer)
        if answer.status == 200 and answer.cut is None:
            found, _ = parse_leniently(answer.body.decode("utf-8", "replace"))
            if found is not None:
                return read_at(found, path, address=_full_url(place, driver))
    note = (
        f"no OpenAPI document was found at {', '.join(places)} or where frameworks publish one; "
        "`--openapi PATH` names one"
    )
    return Description(base=path.rstrip("/")), (note,)


def without_skipped(
    target: ServiceConfig, description: Description, notes: tuple[str, ...]
) -> tuple[Description, tuple[str, ...]]:
    """Return the description without the operations that the configuration skips, and the notes
    with one about them.
    """
    reasons = {
        operation.name: target.skip_reason(operation.method, operation.template, description.base)
        for operation in description.operations
    }
    skipped = {name: reason for name, reason in reasons.items() if reason is not None}
    if not skipped:
        return description, notes
    kept = tuple(each for each in description.operations if each.name not in skipped)
    number = f"{len(skipped)} operation{'s' if len(skipped) > 1 else ''}"
    names = "; ".join(f"{name} ({reason})" for name, reason in skipped.items())
    note = f"the configuration skips {number} of {len(description.operations)}: {names}"
    return replace(description, operations=kept), (*notes, note)


def _describe_file(
    file: str, target: ServiceConfig, driver: HttpDriver, path: str
) -> tuple[Description, tuple[str, ...]] | Unreachable | NoAnswer:
    """Return the document in a file, with its further files."""
    try:
        document = read_file(file)
        parts = {file_url(part): read_part(part) for part in target.openapi_parts}
    except UnreadableDocument as error:
        return Unreachable(str(error))
    answer = driver.send(document_request("/"))
    if isinstance(answer, NoAnswer):
        return _classify_silence(answer)
    return read_at(document, path, address=file_url(file), files=parts)


def _describe_configured(
    place: str, target: ServiceConfig, driver: HttpDriver, path: str
) -> tuple[Description, tuple[str, ...]] | Unreachable | NoAnswer:
    """Return the document at the configured URL, or at the configured path below the address or
    else below its origin.
    """
    problems: dict[str, str] = {}
    for candidate in _candidates(place, path):
        answer = _fetch(candidate, target, driver)
        if isinstance(answer, NoAnswer):
            is_url = candidate.startswith("http")
            return Unreachable(answer.reason) if is_url else _classify_silence(answer)
        url = _full_url(candidate, driver)
        document, problem = None, str(answer.status or 0)
        if answer.cut is not None:
            problem = f"the body {answer.cut}"
        elif answer.status == 200:
            document, problem = parse_leniently(answer.body.decode("utf-8", "replace"))
        if document is not None:
            return read_at(document, path, address=url)
        problems[url] = problem
    for url, problem in problems.items():
        if problem in ("401", "403"):
            hint = "the suite fetches the document without credentials: save it, and give the file,"
            message = f"the server answered {problem} to the request for the OpenAPI document {url}"
            return Unreachable(message, f"{hint} such as `openapi: openapi.json`")
    hint = (
        "check `openapi`: give the document's path, URL or file, or `none` if there is no document"
    )
    listed = "; ".join(
        f"{url} holds no OpenAPI document ({problem})" for url, problem in problems.items()
    )
    return Unreachable(listed, hint)


def _candidates(place: str, path: str) -> tuple[str, ...]:
    """Return where a configured document may be: a path that contains that of the address, or a
    URL, is complete.
    """
    base = path.rstrip("/")
    if not base or not place.startswith("/") or place.startswith(f"{base}/"):
        return (place,)
    return base + place, place


def _full_url(place: str, driver: HttpDriver) -> str:
    """Return the URL of a document without a user name and a password."""
    parts = urlsplit(place if place.startswith("http") else driver.base + place)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _classify_silence(answer: NoAnswer) -> Unreachable | NoAnswer:
    reached = ("closed", "garbled", "timeout", "budget")
    return answer if answer.kind in reached else Unreachable(answer.reason)


def _fetch(place: str, target: ServiceConfig, driver: HttpDriver) -> Response | NoAnswer:
    if not place.startswith("http"):
        return driver.send(document_request(place))
    parts = urlsplit(place)
    base = f"{parts.scheme}://{parts.netloc}"
    request = document_request(parts.path + (f"?{parts.query}" if parts.query else ""))
    if base == driver.base:
        return driver.send(request)
    with HttpDriver(base, replace(target.limits, requests=1)) as other:
        return other.send(request)


def document_request(path: str) -> Request:
    """A GET of what may be a document, of no caller."""
    return Request(
        "GET",
        path,
        (("Accept", "application/json, */*;q=0.8"), ("User-Agent", "faultspec-conform")),
    )
