"""Recordings in an object store: a real server of the S3 protocol on this machine."""

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from moto.server import ThreadedMotoServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from faultspec_conformance.observed.formats.sources import (
    describe_store_error,
    find_recordings,
    mask_address,
)
from miniatures.serve import serving
from observed.test_record_forms import INNER, KIND, judged, write_parquet, wrong_statuses

LINES = f"{INNER}\n".encode() * 40


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """The address of a store with a bucket `logs`."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    requests.put(f"{address}/logs", timeout=30).raise_for_status()
    yield address
    server.stop()


@pytest.fixture(autouse=True)
def _credentials(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The conventions of AWS' clients: nothing of it stands in the command."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", store)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3tTok8Zq7Lk2Vn5Xw9")
    monkeypatch.setenv("AWS_REGION", "us-east-1")


def put(store: str, name: str, content: bytes) -> None:
    """Put an object into the bucket."""
    requests.put(f"{store}/logs/{name}", data=content, timeout=30).raise_for_status()


def test_objects_are_judged_like_files(store: str, tmp_path: Path) -> None:
    """One object, a packed one, a folder and a pattern of all below it without what is hidden, and
    Parquet by DuckDB. A folder is not a recording itself.
    """
    put(store, "day/a.log", LINES)
    put(store, "day/b.log.gz", gzip.compress(LINES))
    put(store, "day/hours/c.log", LINES)
    put(store, "day/.hidden.log", LINES)
    put(store, "day/.trash/a.log", LINES)
    path = tmp_path / "c.parquet"
    write_parquet(path)
    put(store, "tables/c.parquet", path.read_bytes())
    report = judged("s3://logs/day/a.log", KIND)
    assert wrong_statuses(report) == 40
    assert report.result.findings[0].places[0] == "s3://logs/day/a.log:1"
    assert wrong_statuses(judged("s3://logs/day/b.log.gz", KIND)) == 40
    assert wrong_statuses(judged("s3://logs/day/*.log*", KIND)) == 80
    for address in ("s3://logs/day", "s3://logs/day/**", "s3://logs/d*/**"):
        report = judged(address, KIND)
        assert wrong_statuses(report) == 120
        assert not report.result.not_run
    assert wrong_statuses(judged("s3://logs/day/.hidden*", KIND)) == 40
    assert wrong_statuses(judged("s3://logs/tables/c.parquet", KIND)) == 2


@pytest.mark.parametrize("path", ["s3://logs/none.log", "s3://no-such-bucket/a.log"])
def test_a_missing_object_could_not_be_read(path: str) -> None:
    """The report names it, and has no credentials."""
    report = judged(path, KIND)
    (reason,) = report.result.not_run
    assert path in reason
    assert "s3cr3tTok" not in repr(report)


def test_a_store_that_does_not_answer_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says what keeps the object away, without a word of the library's text."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    (reason,) = judged("s3://closed/a.log", KIND).result.not_run
    assert reason.endswith("s3://closed/a.log: nobody answers at the address of the store")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Server returned non-2xx status code: 403 Forbidden: s3cr3t", "the store answers 403"),
        ("inner: Status { status: 500, body: s3cr3t }", "the store answers 500"),
        ("kind: Builder, source: BadScheme, s3cr3t", "AWS_ALLOW_HTTP=true"),
        ("HttpError { kind: Timeout, s3cr3t", "the store does not answer in time"),
        ("s3cr3t", "the store answers with ValueError"),
    ],
)
def test_the_error_of_a_store_is_its_cause(text: str, reason: str) -> None:
    """A cause that is known has words; of any other the name of its class is shown."""
    shown = describe_store_error(ValueError(text))
    assert reason in shown
    assert "s3cr3t" not in shown


def test_an_unknown_scheme_is_refused() -> None:
    """An address of no store that fsspec knows is not opened."""
    (reason,) = judged("nosuch://logs/a.log", KIND).result.not_run
    assert "nosuch" in reason


@pytest.mark.parametrize(
    "address",
    [
        "s3://K3yOfUser:Pa55wordX@logs/none.log",
        "s3://K3yOfUser:Pa55/wordX@logs/none.log",
        "ftp://K3yOfUser:Pa55wordX@127.0.0.1:1/a.log",
        "nosuch://K3yOfUser:Pa55wordX@logs/*.log",
        "http://127.0.0.1:1/a.log?X-Amz-Signature=Pa55wordX&X-Amz-Credential=K3yOfUser",
        "filecache::http://K3yOfUser@127.0.0.1:1/a.log?sig=Pa55wordX#part",
    ],
)
def test_a_report_has_no_credentials_of_addresses(address: str) -> None:
    """User, password and the values of the query of an address are in no part of a report."""
    text = repr(judged(address, KIND))
    assert not [secret for secret in ("K3yOfUser", "Pa55", "wordX") if secret in text]


@pytest.mark.parametrize(
    "path", ["s3://logs/day/a@b.log", "s3://logs/a?.log", "http://h:80/a@b", "a?b=c", "logs/u:p@h"]
)
def test_names_without_credentials_are_shown_whole(path: str) -> None:
    """Reports name recordings as they were given."""
    assert mask_address(path) == path


@pytest.mark.parametrize("name", ["local::x.ndjson", "memory::a", "s3::b", "filecache::s3:"])
def test_a_file_is_read_whatever_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name of the working directory, as a pattern of the shell yields it, is not the address of a
    store.
    """
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(LINES)
    assert find_recordings(name) == [name]
    assert judged(name, KIND).result.not_run == ()


def test_a_redirect_to_another_host_is_not_followed() -> None:
    """Nothing is contacted that the argument does not name. One to the same host is followed."""
    asked: list[str] = []

    async def answer(request: Request) -> Response:
        asked.append(f"{request.url.hostname}{request.url.path}")
        if request.url.path == "/log.ndjson":
            return PlainTextResponse(LINES)
        host = "localhost" if request.url.path == "/away" else request.url.hostname
        return RedirectResponse(f"http://{host}:{request.url.port}/log.ndjson")

    with serving(Starlette(routes=[Route("/{name}", answer)])) as url:
        (reason,) = judged(f"{url}/away", KIND).result.not_run
        assert "127.0.0.1 redirects to localhost, which the argument does not name" in reason
        assert judged(f"{url}/here", KIND).result.not_run == ()
    assert {host.partition("/")[0] for host in asked} == {"127.0.0.1"}


def test_places_have_no_credentials_of_addresses(store: str) -> None:
    """The places of findings neither: a presigned address is read."""
    address = f"{store}/logs/shared/a.log"
    requests.put(
        address, data=LINES, headers={"x-amz-acl": "public-read"}, timeout=30
    ).raise_for_status()
    report = judged(f"{address}?sig=Pa55wordX", KIND)
    assert wrong_statuses(report) == 40
    assert report.result.findings[0].places[0] == f"{address}?sig=***:1"
    assert "Pa55wordX" not in repr(report)
