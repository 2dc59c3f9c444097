"""The paths of a service that its answers mention: links, forms, headers, and lists of routes."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import islice
from typing import Literal
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from faultspec.exchange.model import Response, first_header
from faultspec.runtime.codecs import media_essence
from faultspec_conformance.drivers.http import is_loopback_host

#: Mentions that are taken from one answer. A page of a site may have thousands.
_MOST = 60

#: Characters of a body that are read for links.
_READ = 512 * 1024

#: Characters of a path that is asked for.
_LONGEST = 300

#: Members whose text is a link even if it is relative (HAL, JSON:API, Siren, Hydra, RFC 9264).
_LINKS = frozenset({"href", "url", "uri", "link", "self", "next", "prev", "first", "last", "@id"})

#: A text that is a link whatever its member.
_ABSOLUTE = re.compile(r"(?:https?://[^/\s]+)?/[^/\s][^\s]*")
_RELATIVE = re.compile(r"[^\s:/][^\s:]*")

#: The variables of a query in a URI template (RFC 6570, 3.2.8 and 3.2.9), and a whole variable.
_QUERY = re.compile(r"\{[?&]([^{}]*)\}")
_VARIABLE = re.compile(r"\{[^{}]*\}")

#: Where a page that shows an OpenAPI document names it (Swagger UI, ReDoc, Scalar, RapiDoc).
_DOCUMENT = re.compile(r"""(?:\burl|spec-url|data-url|openApiUrl)["']?\s*[:=]\s*["']([^"'\s]+)""")

#: Files that pages consist of. They say nothing about errors.
_ASSET = re.compile(
    r"\.(?:css|js|mjs|map|png|jpe?g|gif|svg|ico|webp|woff2?|ttf|pdf|zip|gz)$", re.IGNORECASE
)

#: Django's page for an unknown route while DEBUG is set, and the ways in which it writes a
#: placeholder: of `path` and of `re_path`.
_DJANGO = "tried these URL patterns"
_CONVERTER = re.compile(r"<(?:\w+:)?(\w+)>")
_GROUP = re.compile(r"\(\?P<(\w+)>[^()]*\)")

_LINK_FIELD = re.compile(r"<([^<>]*)>")


@dataclass(frozen=True, slots=True)
class Mention:
    """A path that an answer mentions, which may have placeholders, and the query beside it.

    ``query``: names with their values; None if only the name is known.
    """

    path: str
    query: tuple[tuple[str, str | None], ...] = ()
    method: str = "GET"


def read_mentions(response: Response, url: str) -> tuple[Mention, ...]:
    """The paths at the same host that an answer to ``url`` mentions, in order."""
    found = dict.fromkeys(filter(None, (_resolve(each, url) for each in _references(response))))
    return tuple(islice(found, _MOST))


def read_reference(reference: str, url: str) -> Mention | None:
    """The path and query of a reference in a page at ``url``; None if it leads to another host."""
    return _resolve(_LinkText(reference), url)


def response_media_type(response: Response) -> str:
    """The media type of an answer in lower case, without parameters; "" if it has none."""
    return media_essence(first_header(response.headers, "content-type"))


@dataclass(frozen=True, slots=True)
class _LinkText:
    text: str
    method: str = "GET"
    names: tuple[tuple[str, str | None], ...] = ()


def _references(response: Response) -> Iterator[_LinkText]:
    for name, value in response.headers:
        if name.lower() in ("location", "content-location"):
            yield _LinkText(value)
        elif name.lower() == "link":
            yield from map(_LinkText, _LINK_FIELD.findall(value))
    media = response_media_type(response)
    text = response.body[:_READ].decode("utf-8", "replace")
    if "json" in media:
        try:
            yield from _find_json_links(json.loads(text))
        except (ValueError, RecursionError):
            return
    elif "html" in media or "xml" in media:
        page = _Page()
        page.feed(text)
        yield from page.references
        yield from map(_LinkText, _DOCUMENT.findall(text))
        if _DJANGO in text:
            yield from map(_LinkText, filter(None, map(_django_route, page.items)))
    elif media == "text/plain" and "Sitemap:" in text:
        yield from map(_LinkText, re.findall(r"(?m)^Sitemap:\s*(\S+)", text))


def _find_json_links(value: object, name: str = "") -> Iterator[_LinkText]:
    if isinstance(value, Mapping):
        for member, inner in value.items():
            yield from _find_json_links(inner, member)
    elif isinstance(value, list):
        for inner in value:
            yield from _find_json_links(inner, name)
    elif isinstance(value, str) and (
        _ABSOLUTE.fullmatch(value) or (name in _LINKS and _RELATIVE.fullmatch(value))
    ):
        yield _LinkText(value)


class _Page(HTMLParser):
    """The links, forms, places of a sitemap and list items of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[_LinkText] = []
        self.items: list[str] = []
        self._form: tuple[str, str, dict[str, str | None]] | None = None
        self._open: Literal["", "loc", "li"] = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the reference of a tag."""
        given = {name: value or "" for name, value in attrs}
        if tag in ("a", "link", "area") and given.get("href") and given.get("rel") != "stylesheet":
            self.references.append(_LinkText(given["href"]))
        elif tag == "form":
            self._end_form()
            self._form = given.get("action", ""), given.get("method", "get").upper(), {}
        elif tag in ("input", "select", "textarea") and self._form and given.get("name"):
            self._form[2][given["name"]] = given.get("value") or None
        elif tag in ("loc", "li"):
            self._open = "loc" if tag == "loc" else "li"
            self.items.append("")

    def handle_endtag(self, tag: str) -> None:
        """End a form or an item."""
        if tag == "form":
            self._end_form()
        elif tag == "loc" and self._open == "loc":
            self.references.append(_LinkText(self.items.pop().strip()))
        if tag in ("loc", "li"):
            self._open = ""

    def handle_data(self, data: str) -> None:
        """Take the text of an item."""
        if self._open:
            self.items[-1] += data

    def _end_form(self) -> None:
        if self._form is not None:
            action, method, names = self._form
            fields = tuple(names.items()) if method == "GET" else ()
            self.references.append(_LinkText(action, method, fields))
        self._form = None


def _django_route(item: str) -> str | None:
    """The path of a pattern that Django lists; None if it is not one path."""
    pattern = "".join(item.partition("[name=")[0].split())
    path = _CONVERTER.sub(r"{\1}", _GROUP.sub(r"{\1}", pattern))
    path = re.sub(r"\^|\$$|\\Z$", "", path).replace(r"\.", ".").replace(r"\-", "-")
    is_plain = re.fullmatch(r"(?:[\w.~/-]|\{\w+\})+", path) is not None
    return f"/{path.lstrip('/')}" if is_plain and "{format}" not in path else None


def _resolve(reference: _LinkText, url: str) -> Mention | None:
    """The mention of a reference in a page at ``url``; None if it leads elsewhere."""
    names = [name for part in _QUERY.findall(reference.text) for name in part.split(",")]
    try:
        parts = urlsplit(urljoin(url, _QUERY.sub("", reference.text)))
        same = _origin(parts.geturl()) == _origin(url)
    except ValueError:
        return None
    path = parts.path or "/"
    if not same or len(path) > _LONGEST or _ASSET.search(path):
        return None
    if not all(re.fullmatch(r"\{\w+\}", each) for each in _VARIABLE.findall(path)):
        return None
    query = [*parse_qsl(parts.query, keep_blank_values=True), *reference.names]
    query += [(name.rstrip("*").partition(":")[0].strip(), None) for name in names]
    return Mention(
        quote(path, safe="/{}%:@!$&'()*+,;=~"),
        tuple((name, value) for name, value in dict(query).items() if name),
        reference.method,
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port, where all names of this machine are one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return parts.scheme, "localhost" if is_loopback_host(host) else host, parts.port
