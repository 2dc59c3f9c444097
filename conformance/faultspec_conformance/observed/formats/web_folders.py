"""Folders of web servers, whose pages list files. What is read of a server is bounded: its pages
may list themselves, or never end.
"""

import re
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from faultspec_conformance.observed.formats.listing import DEEPEST, Listing
from faultspec_conformance.observed.formats.record import NotARecording

#: Bytes of a page. One with ten thousand files has two million.
_LONGEST_PAGE = 4 * 1024**2

_WEB = re.compile(r"https?://", re.IGNORECASE)

#: The links of a page, each of one line. Expressions of fsspec, which look for them, take a time
#: that is not proportional to the length.
_LINK = re.compile(r"<a\s[^<>]{1,2000}>|https?://[-a-z0-9@:%_+.~#?&/=]{1,2000}", re.IGNORECASE)

#: A part of a path that names a folder which has been listed.
_UPWARDS = re.compile(r"/\.{1,2}(?:/|$)")

_RANGE = re.compile(r"bytes=(\d+)-(\d+)")

#: What a pattern of addresses has; a question mark begins a query.
_WILDCARD = re.compile(r"[*\[]")


def is_web_address(name: str) -> bool:
    """Whether a name of a file system is an address of a web server."""
    return _WEB.match(name) is not None


def find_web_files(system: Any, name: str) -> list[str]:
    """The files that an address names: those of a pattern, or of a folder and below it. Only an
    address that ends with a slash is one of a folder: others would be fetched whole to know it.

    Raises NotARecording beyond the bounds.
    """
    path = name.partition("?")[0]
    wildcard = _WILDCARD.search(path)
    if wildcard is None:
        is_folder = path.endswith("/") and path == name
        return [*_list_files(system, path, DEEPEST + 1)] if is_folder else [name]
    root, rest = path[: wildcard.start()].rpartition("/")[0] + "/", path[wildcard.start() :]
    depth = DEEPEST + 1 if "**" in path else rest.count("/") + 1
    matches = re.compile(import_module("fsspec.utils").glob_translate(path)).match
    return [found for found in _list_files(system, root, depth) if matches(found)]


def _list_files(system: Any, folder: str, depth: int) -> Iterator[str]:
    """Yield the files of a folder and of so many levels of folders in all."""
    waiting, listing = deque([(folder, 1)]), Listing({folder})
    while waiting:
        place, level = waiting.popleft()
        known = listing.files | listing.folders
        for name in sorted({*system.ls(place, detail=False)} - known):
            listing.count(name, level)
            if _UPWARDS.search(unquote(name)):
                continue
            if name.endswith("/") and level < depth:
                listing.add_folder(name)
                waiting.append((name, level + 1))
            elif not name.endswith("/"):
                listing.add_file(name)
                yield name


def bounded_response(response: type[Any]) -> type[Any]:
    """A class of answers, of the one of aiohttp, that are read within bounds: a page, or the range
    that was asked for.
    """

    class BoundedResponse(response):  # type: ignore[misc]  # the class is not known before
        _body: bytes | None

        async def read(self) -> bytes:
            asked = _RANGE.fullmatch(self.request_info.headers.get("Range", ""))
            most = int(asked[2]) - int(asked[1]) + 1 if asked else _LONGEST_PAGE
            if self._body is None:
                body = bytearray()
                async for chunk in self.content.iter_any():
                    body += chunk
                    if len(body) > most:
                        self.close()
                        raise NotARecording(f"an answer has more than {most} bytes")
                self._body = bytes(body)
            return bytes(self._body)

        async def text(self, *arguments: Any, **options: Any) -> str:
            page: str = await super().text(*arguments, **options)
            return "\n".join(re.sub(r"\s+", " ", link) for link in _LINK.findall(page))

    return BoundedResponse
