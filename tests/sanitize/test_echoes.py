"""A service that gives a credential back, in every place and coding: no report shows it."""

import base64
import gzip
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import quote

import pytest
from test_masking import ENCODINGS, readings

from faultspec import language
from faultspec.source import parse
from faultspec_conformance.config.reading import parse_config
from faultspec_conformance.reports import FORMATS
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions

SECRET = "tk9Zq4Lm7Xw2Rv8Bn5Ys"
PASSWORD = "Horse-Battery-71"
BASIC = base64.b64encode(f"svc-orders-17:{PASSWORD}".encode()).decode()
CLAIM = "customer-4711-emma"


def _segment(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = f"{_segment({'alg': 'HS256'})}.{_segment({'sub': CLAIM})}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"


class Answer(NamedTuple):
    """An answer of the service."""

    body: bytes = b'{"code": "not_found", "message": "no"}'
    headers: Mapping[str, str] = {}
    reason: str = "Not Found"
    status: int = 404


def member(text: str) -> Answer:
    """A member of the body with a text."""
    return Answer(json.dumps({"code": "not_found", "message": text}).encode())


def page(text: str, media: str) -> Answer:
    """A body of another media type."""
    return Answer(text.encode(), {"Content-Type": media})


#: By name, how the service gives a credential back.
PLACES: Mapping[str, Callable[[str], Answer]] = {
    "a message": lambda it: member(f"the token {it} is wrong"),
    "the beginning of a long message": lambda it: member(it + " x" * 500),
    "the end of a long message": lambda it: member("x " * 500 + it),
    **{
        f"a message, {size} characters in": lambda it, size=size: member("y" * size + " " + it)  # type: ignore[misc]
        for size in (60, 75, 80, 85, 90, 95, 100, 110, 190, 195, 199)
    },
    "the name of a member": lambda it: Answer(json.dumps({"code": "not_found", it: 1}).encode()),
    "the code": lambda it: Answer(json.dumps({"code": it, "message": "no"}).encode()),
    "a nested list": lambda it: Answer(json.dumps({"code": "x", "d": [[{"v": [it]}]]}).encode()),
    "a truncated body": lambda it: Answer(f'{{"code": "x", "token": "{it}'.encode()),
    "a text": lambda it: page(f"denied: {it}", "text/plain"),
    "a page": lambda it: page(f"<html><b title='{it}'>no</b></html>", "text/html"),
    "XML": lambda it: page(f"<error><token>{it}</token></error>", "application/xml"),
    "a form": lambda it: page(f"error=x&token={quote(it)}", "application/x-www-form-urlencoded"),
    "an event stream": lambda it: page(f'data: {{"t": "{it}"}}\n\n', "text/event-stream"),
    "bytes that are not UTF-8": lambda it: Answer(b"\xff\xfe\x00" + it.encode() + b"\x80"),
    "a stack trace": lambda it: page(
        f'Traceback (most recent call last):\n  File "/srv/a.py", line 3\nKeyError: {it!r}\n',
        "text/plain",
    ),
    "a compressed body": lambda it: Answer(
        gzip.compress(json.dumps({"code": "x", "m": it}).encode()), {"Content-Encoding": "gzip"}
    ),
    "the value of a header": lambda it: Answer(headers={"X-Debug": f"token={it}"}),
    "the name of a header": lambda it: Answer(headers={f"X-{it.replace('=', '')}": "1"}),
    "a cookie": lambda it: Answer(headers={"Set-Cookie": f"sid={it}; Path=/"}),
    "a redirect": lambda it: Answer(
        b"", {"Location": f"/login?next=/a&token={quote(it)}"}, "Found", 302
    ),
    "a redirect by path": lambda it: Answer(b"", {"Location": f"/t/{quote(it)}/x"}, "Found", 302),
    "Retry-After": lambda it: Answer(headers={"Retry-After": it}),
    "the media type": lambda it: Answer(headers={"Content-Type": f"application/x-{it}"}),
    "the challenge": lambda it: Answer(
        headers={"WWW-Authenticate": f'Bearer error="{it}"'}, reason="No", status=401
    ),
    "the reason phrase": lambda it: Answer(reason=f"No {it}"),
    "a crash": lambda it: Answer(json.dumps({"m": it}).encode(), reason="Oops", status=500),
}

#: Forms that masking does not recognise; docs/conformance.md says so.
UNRECOGNISED: Mapping[str, Callable[[str], str]] = {
    "the first half": lambda it: it[: len(it) // 2],
    "reversed": lambda it: it[::-1],
    "with hyphens": "-".join,
}


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A service that answers everything so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(answer.status, answer.reason)
            for name, value in ({"Content-Type": "application/json"} | {**answer.headers}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = reply  # noqa: N815  # names of the library
        do_OPTIONS = do_TRACE = do_PATCH = reply  # noqa: N815  # names of the library

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def judged(answer: Answer, credential: str) -> Report:
    """The report of a run of probes with a credential against the service."""
    taxonomy = language.load("taxonomy.yaml").taxonomy
    assert taxonomy is not None
    with serving(answer) as url:
        text = f"target: {{http: {url}, openapi: none}}\nidentities:\n"
        text += '  alice: {tenant: acme-1, headers: {Authorization: "${CREDENTIAL}"}}\n'
        text += "limits: {requests: 6}\n"  # the first answers show all
        document, _ = parse(text, "conformance.yaml")
        assert document is not None
        loaded = parse_config(document, {"CREDENTIAL": credential})
        assert loaded.target is not None, loaded.diagnostics
        report = run(loaded.target, taxonomy, RunOptions(seed=1, sweep=False))
    assert isinstance(report, Report)
    return report


def shown(report: Report, *secrets: str) -> list[tuple[str, str]]:
    """The formats that show a secret, or eight characters of its beginning or end."""
    pieces = [piece for it in secrets for piece in (it, it[:8], it[-8:])]
    return [
        (name, piece)
        for name, form in FORMATS.items()
        for text in readings(form(report))
        for piece in pieces
        if piece.lower() in text.lower()
    ]


@pytest.mark.parametrize("place", PLACES)
def test_a_credential_that_comes_back_is_in_no_report(place: str) -> None:
    """Wherever the service puts the credential, every format masks it, also at its cut."""
    report = judged(PLACES[place](SECRET), f"Bearer {SECRET}")
    assert report.result.findings, "the answer is reported"
    assert shown(report, SECRET) == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_credential_in_any_coding_is_in_no_report(encoding: str) -> None:
    """However the service writes the credential, every format masks it."""
    report = judged(member(f"see {ENCODINGS[encoding](SECRET)}!"), f"Bearer {SECRET}")
    assert report.result.findings, "the answer is reported"
    assert shown(report, SECRET) == []
    texts = [text for form in FORMATS.values() for text in readings(form(report))]
    assert not [text for text in texts if ENCODINGS[encoding](SECRET) in text]


@pytest.mark.parametrize(
    ("credential", "parts"),
    [
        (f"Basic {BASIC}", (BASIC, PASSWORD, "svc-orders-17")),
        (f"Bearer {JWT}", (JWT, CLAIM, JWT.rpartition(".")[2])),
    ],
)
def test_what_a_credential_decodes_to_is_in_no_report(
    credential: str, parts: tuple[str, ...]
) -> None:
    """The password of Basic, and the segments and claims of a token, are secrets too."""
    for part in parts:
        assert shown(judged(member(f"no {part} here"), credential), *parts) == []


@pytest.mark.parametrize("change", UNRECOGNISED)
def test_the_declared_limits_of_masking_are_its_limits(change: str) -> None:
    """A form that the documentation calls unrecognised is shown, so its text is not out of date."""
    changed = UNRECOGNISED[change](SECRET)
    report = judged(member(f"see {changed} here"), f"Bearer {SECRET}")
    assert changed in FORMATS["json"](report)
