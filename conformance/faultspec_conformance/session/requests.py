"""A request to an HTTP service as a value, and the function that writes it for the wire."""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import quote_plus, unquote_plus, urlencode

from faultspec.exchange.model import Canary, Request
from faultspec.openapi.nodes import is_form, is_multipart
from faultspec_conformance.config import ABSENT, NOBODY, ConfiguredCall, Identity
from faultspec_conformance.config.context import SAVED_NAME, wire_text
from faultspec_conformance.session.multipart import encode_multipart
from faultspec_conformance.session.resources import JSON, path_of

#: JSON if the service offers a choice, otherwise any media type, such as a stream of events.
_ACCEPT = f"{JSON}, */*;q=0.8"

#: Which correlation id a request carries. `auto`: a valid one or, by turns, none.
Correlation = Literal["auto", "valid", "none"]


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """A request to be sent.

    ``identity``: None is the ordinary caller. ``values`` fill the placeholders of ``template``,
    which may have a query. ``headers``: a value of None removes the header, even one of the
    identity. ``raw`` is sent instead of ``body``. ``files``: the media type of each field of a form
    that is a file. ``correlation``: a `Correlation`, or the id itself. ``canaries``: values in it
    that must not come back. ``route``: the template that reports name, `same` is that of the
    request, and None is for no route. ``wait_when_limited``: after an unexpected 429 wait as long
    as `Retry-After` says, and send the request again. ``may_be_refused``: a 401 is what the request
    is for, so no login is repeated. ``may_disconnect``: servers may close the connection on such a
    request as long as they keep listening. ``may_fail``: the request makes the service fail on
    purpose, so a crash is not a finding. ``server_may_refuse``: they may also refuse it before the
    application sees it; that answer is not recorded. ``trigger``: what sets it apart from an
    ordinary request, in words.
    """

    method: str
    template: str
    identity: Identity | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: object = ABSENT
    raw: bytes | None = None
    content_type: str | None = JSON
    files: Mapping[str, str] = field(default_factory=dict)
    accept: str | None = _ACCEPT
    correlation: Correlation | str = "auto"
    canaries: tuple[Canary, ...] = ()
    route: str | Literal["same"] | None = "same"
    wait_when_limited: bool = True
    may_disconnect: bool = False
    may_fail: bool = False
    may_be_refused: bool = False
    server_may_refuse: bool = False
    trigger: str = ""

    @property
    def path(self) -> str:
        """The template without a query."""
        return self.template.partition("?")[0]

    @property
    def reported_route(self) -> str | None:
        """The template that reports name; None for no route."""
        return self.path if self.route == "same" else self.route

    @property
    def operation(self) -> str:
        """The method and the path."""
        return f"{self.method} {self.path}"


def with_tag(spec: RequestSpec, tag: str | None) -> RequestSpec:
    """Return a request on condition that the item still has the entity tag, if there is one."""
    return spec if tag is None else replace(spec, headers={**spec.headers, "If-Match": tag})


def login_request(call: ConfiguredCall) -> RequestSpec:
    """Return the request of a login, without credentials."""
    return RequestSpec(
        call.method,
        call.path,
        identity=NOBODY,
        query=call.query,
        headers=call.headers,
        body=call.body,
        raw=call.raw.encode() if call.raw is not None else None,
        may_be_refused=True,
    )


def wire_request(
    spec: RequestSpec, caller: Identity, correlation: tuple[str, str] | None
) -> Request:
    """Return the request as it is sent.

    ``correlation``: the header of the correlation id and its value.
    """
    path, _, inline = spec.template.partition("?")
    own = urlencode({key: wire_text(value) for key, value in spec.query.items()})
    query = "&".join(part for part in (inline, own) if part)
    target = path_of(path, spec.values) + (f"?{query}" if query else "")
    has = _names_in(query)
    target = add_query(target, (pair for pair in caller.query if pair[0] not in has))
    fields: list[tuple[str, str | None]] = [("User-Agent", "faultspec-conform")]
    if spec.accept is not None:
        fields.append(("Accept", spec.accept))
    if spec.content_type is not None and (spec.body is not ABSENT or spec.raw is not None):
        fields.append(("Content-Type", spec.content_type))
    if correlation is not None:
        fields.append(correlation)
    # A later field replaces an earlier one of the same name.
    by_name = {
        name.lower(): (name, value)
        for name, value in (*fields, *caller.headers, *spec.headers.items())
    }
    content = spec.raw
    if content is None:
        name, media_type = by_name.get("content-type", ("", None))
        if is_multipart(media_type or "") and isinstance(spec.body, dict):
            content, media_type = encode_multipart(spec.body, spec.files)
            by_name["content-type"] = (name, media_type)
        else:
            content = b"" if spec.body is ABSENT else _encode(spec.body, media_type or "")
    headers = tuple((name, value) for name, value in by_name.values() if value is not None)
    return Request(spec.method, target, headers, content)


def add_query(target: str, query: Iterable[tuple[str, str]]) -> str:
    """Return a target with parameters added. `${name}` stays as it is: a login fills it in."""
    path, mark, rest = target.partition("?")
    parts = [rest] if rest else []
    for name, value in query:
        is_saved = SAVED_NAME.search(value) is not None
        safe = "${}" if is_saved else ""
        parts.append(f"{quote_plus(name)}={quote_plus(value, safe, errors='surrogatepass')}")
    return f"{path}?{'&'.join(parts)}" if parts else path + mark


def drop_query(target: str, names: Container[str]) -> str:
    """Return a target without the parameters of these names."""
    path, mark, rest = target.partition("?")
    if not mark:
        return target
    parts = [part for part in rest.split("&") if unquote_plus(part.partition("=")[0]) not in names]
    return f"{path}?{'&'.join(parts)}" if parts else path


def _names_in(query: str) -> frozenset[str]:
    return frozenset(unquote_plus(part.partition("=")[0]) for part in query.split("&"))


def _encode(body: object, media_type: str) -> bytes:
    """A body in its media type: an object as a form, everything else as JSON."""
    if is_form(media_type) and isinstance(body, dict):
        return urlencode({key: _form_values(value) for key, value in body.items()}, True).encode()
    return json.dumps(body).encode()


def _form_values(value: object) -> list[str]:
    """The values of a field: a list repeats it, and an object is JSON (OpenAPI 3.1, 4.8.15.1)."""
    values = value if isinstance(value, list) else [value]
    return [json.dumps(it) if isinstance(it, dict | list) else wire_text(it) for it in values]
