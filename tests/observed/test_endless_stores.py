"""The listing of an object store is read within bounds: a store may list names without end."""

import time
from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faultspec_conformance.observed.formats.record import NotARecording
from faultspec_conformance.observed.formats.sources import find_recordings
from miniatures.serve import serving

#: The beginning and the end of the names in an object's or a folder's entry.
_FILE = (
    "<Contents><Key>",
    "</Key><LastModified>2026-11-28T16:00:00.000Z</LastModified><ETag>a</ETag><Size>3</Size>"
    "</Contents>",
)
_FOLDER = ("<CommonPrefixes><Prefix>", "</Prefix></CommonPrefixes>")

#: Names of a page.
_PAGE = 1_000


def listing(entry: tuple[str, str], names: list[str], more: str) -> Response:
    """A page of a listing, after which there are more."""
    last = "" if more else "<IsTruncated>false</IsTruncated>"
    next_page = (
        f"<IsTruncated>true</IsTruncated><NextContinuationToken>{more}</NextContinuationToken>"
    )
    body = "".join(f"{entry[0]}{name}{entry[1]}" for name in names)
    page = f"<ListBucketResult><Name>b</Name>{next_page if more else last}{body}</ListBucketResult>"
    return Response(f'<?xml version="1.0"?>{page}', media_type="application/xml")


def endless_names(prefix: str, token: str) -> Response:
    """Long names without end."""
    number = int(token or 0)
    names = [f"{prefix}{number}-{each}-{'x' * 800}.log" for each in range(_PAGE)]
    return listing(_FILE, names, str(number + 1))


def many_names(prefix: str, token: str) -> Response:
    """More names than are read of a store."""
    number = int(token or 0)
    names = [f"{prefix}{number}-{each}.log" for each in range(_PAGE)]
    return listing(_FILE, names, str(number + 1) if number < 101 else "")


def nested_folders(prefix: str, token: str) -> Response:
    """A folder in each folder."""
    return listing(_FOLDER, [f"{prefix}a/"], "")


def many_folders(prefix: str, token: str) -> Response:
    """A thousand folders in each folder."""
    return listing(_FOLDER, [f"{prefix}{each}/" for each in range(_PAGE + 1)], "")


@pytest.mark.parametrize(
    ("answer", "pattern", "reason"),
    [
        (endless_names, "", "more than 512 MiB of memory: name less"),
        (many_names, "**/*.log", "more than 100,000 files"),
        (nested_folders, "", "deeper than 32 levels"),
        (nested_folders, "**/*.log", "deeper than 32 levels"),
        (many_folders, "*/*/*.log", "more than 1,000 folders"),
    ],
)
def test_a_listing_of_a_store_is_bounded(
    answer: Callable[[str, str], Response],
    pattern: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A listing without end, and folders without end, end with a reason."""

    async def respond(request: Request) -> Response:
        query = request.query_params
        if request.method == "HEAD":
            return Response(status_code=404)
        return answer(query.get("prefix", ""), query.get("continuation-token", ""))

    with serving(Starlette(routes=[Route("/{path:path}", respond, methods=["GET"])])) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        started = time.monotonic()
        with pytest.raises(NotARecording, match=reason):
            find_recordings(f"s3://b/logs/{pattern}")
    assert time.monotonic() - started < 60
