"""Folders of web servers, whose pages list recordings."""

import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from faultspec_conformance.observed.formats.record import NotARecording
from faultspec_conformance.observed.formats.sources import find_recordings, open_source
from miniatures.serve import serving
from observed.test_record_forms import INNER, KIND, judged, wrong_statuses

#: Bytes of a file that is not fetched whole.
_LARGE = 64 * 1024**2


def page(*names: str) -> Response:
    """A page that lists files and folders."""
    return HTMLResponse("".join(f'<li><a\n class="x"  href="{name}">it</a>' for name in names))


async def _links() -> AsyncIterator[bytes]:
    for _ in range(_LARGE // 65536):
        yield b"<a href='x'> <a " * 4096


async def _many() -> AsyncIterator[bytes]:
    for _ in range(_LARGE // 65536):
        yield b"x" * 65536


@contextmanager
def web(
    answer: Callable[[str], Response], length: int | None = None
) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that answers by path, and the requests that it gets. ``length``: what
    HEAD announces.
    """
    asked: list[str] = []

    async def handle(request: Request) -> Response:
        asked.append(f"{request.method} {request.url.path}")
        if request.method == "HEAD" and length is not None:
            return Response(headers={"Accept-Ranges": "bytes", "Content-Length": str(length)})
        return answer(request.url.path)

    with serving(Starlette(routes=[Route("/{path:path}", handle)])) as url:
        yield url, asked


def logs(path: str) -> Response:
    """Logs of two days, with a hidden one, links upwards and a page that refers to itself."""
    up = "%2e%2e/b.ndjson"
    pages = {
        "/logs/": page(
            "../", "day1/", "day2/", ".old/", "./", "/other/", "http://evil.example/a", up
        ),
        "/logs/day1/": page("a.ndjson", "b.ndjson"),
        "/logs/day2/": page("c.ndjson", ".d.ndjson"),
        "/logs/.old/": page("e.ndjson"),
    }
    return pages.get(path, PlainTextResponse(f"{INNER}\n"))


def test_folders_and_patterns_of_a_web_server_name_their_files() -> None:
    """Those below the address alone; a pattern also matches what the pages list."""
    with web(logs) as (url, asked):
        names = [f"{url}/logs/day1/a.ndjson", f"{url}/logs/day1/b.ndjson"]
        third = f"{url}/logs/day2/c.ndjson"
        assert find_recordings(f"{url}/logs/day1/") == names
        assert find_recordings(f"{url}/logs/*/[ab].ndjson") == names
        assert find_recordings(f"{url}/logs/**/*.ndjson") == [*names, third]
        assert find_recordings(f"{url}/logs/") == [*names, third]
        assert wrong_statuses(judged(f"{url}/logs/", KIND)) == 3
    assert not any("evil" in request or "other" in request for request in asked)


@pytest.mark.parametrize("suffix", ["", "?list=/", "?X-Sig=*"])
def test_a_file_is_not_fetched_to_find_whether_it_is_a_folder(suffix: str) -> None:
    """Only a slash at the end names a folder: nothing is asked about another address."""
    with web(lambda path: StreamingResponse(_many())) as (url, asked):
        assert find_recordings(f"{url}/large.ndjson{suffix}") == [f"{url}/large.ndjson{suffix}"]
    assert asked == []


def test_a_file_of_unknown_length_is_read_as_a_stream() -> None:
    """The memory does not grow with the file."""
    tracemalloc.start()
    try:
        with (
            web(lambda path: StreamingResponse(_many())) as (url, _),
            open_source(f"{url}/large.ndjson") as found,
        ):
            read = sum(len(chunk) for chunk in iter(lambda: found.stream.read(65536), b""))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == _LARGE
    assert peak < _LARGE / 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda path: StreamingResponse(_links(), media_type="text/html"), "more than 4194304"),
        (lambda path: page("a/", "b.ndjson"), "deeper than 32 levels"),
        (lambda path: page(*(f"{number}/" for number in range(2000))), "more than 1,000 folders"),
    ],
)
@pytest.mark.parametrize("pattern", ["", "**/*.ndjson"])
def test_a_listing_is_bounded(answer: Callable[[str], Response], reason: str, pattern: str) -> None:
    """A page that does not end, and folders without end, end with a reason."""
    with web(answer) as (url, asked), pytest.raises(NotARecording, match=reason):
        find_recordings(f"{url}/{pattern}")
    assert len(asked) < 50


def test_a_range_longer_than_asked_for_is_not_read() -> None:
    """A server that ignores the end of a range is not read to its own end."""

    def answer(path: str) -> Response:
        headers = {"Content-Range": f"bytes 0-{_LARGE - 1}/{_LARGE}"}
        return StreamingResponse(_links(), status_code=206, headers=headers)

    with (
        web(answer, length=_LARGE) as (url, _),
        pytest.raises(NotARecording, match="an answer has more than"),
        open_source(f"{url}/a.ndjson") as found,
    ):
        found.stream.read(65536)
