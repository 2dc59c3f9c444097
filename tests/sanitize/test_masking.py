"""No report contains a secret in any form, and command lines still reproduce the finding."""

import base64
import html
import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote, quote_plus, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faultspec import language
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Finding, Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.exchange.sensitive import MASK
from faultspec.judge import judge
from faultspec.language.values import shorten, show
from faultspec_conformance.config import Identity
from faultspec_conformance.observed.memory import RecentIds
from faultspec_conformance.orders import demo
from faultspec_conformance.orders.app import Orders
from faultspec_conformance.orders.sins import Headers, answers
from faultspec_conformance.reports import FORMATS, curl
from faultspec_conformance.reports.reading import read_report as read_back
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    Report,
    ReportedFinding,
    Result,
)
from faultspec_conformance.run import service as running
from faultspec_conformance.sanitize.effort import Effort
from faultspec_conformance.sanitize.encodings import unescape_layers
from faultspec_conformance.sanitize.masking import Masking, build_masking
from faultspec_conformance.sanitize.traffic_secrets import mask_answered, mask_recorded
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from paths import ROOT
from support.examples import examples


def contract_of(path: str) -> Contract:
    """The contract of a taxonomy."""
    taxonomy = language.load(str(ROOT / path)).taxonomy
    assert taxonomy is not None
    return build_contract(taxonomy)


#: One that claims every address, and one that claims few.
CONTRACTS = tuple(map(contract_of, ("taxonomy.yaml", "examples/theodosia/taxonomy.yaml")))

TOKEN = "s3cr3t-token-0123456789"
ALICE = Identity(
    "alice",
    (("Authorization", f"Bearer {TOKEN}"), ("X-Org", "acme")),
    secrets=((TOKEN, "${ALICE_TOKEN}"),),
)


def exchange(
    headers: tuple[tuple[str, str], ...] = (),
    target: str = "/",
    body: bytes = b"",
    back: bytes = b"",
) -> Exchange:
    """An exchange with these parts."""
    return Exchange(
        Request("POST", target, headers, body),
        Response(400, (("Set-Cookie", "sid=abcdef; Path=/"),), back),
    )


def test_an_identity_is_shown_as_the_file_has_it() -> None:
    """The value from the environment becomes its variable, wherever it stands."""
    masked = build_masking([ALICE]).exchange(
        exchange(ALICE.headers, f"/a?t={TOKEN}", TOKEN.encode(), f"bad {TOKEN}".encode())
    )
    assert masked.request.headers == (("Authorization", "Bearer ${ALICE_TOKEN}"), ("X-Org", "acme"))
    assert TOKEN not in json.dumps(
        [masked.request.target, masked.request.body.decode(), masked.response.body.decode()]
    )


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("Authorization", "Bearer made-up", f"Bearer {MASK}"),
        ("authorization", "Basic dXNlcjpwYXNz", f"Basic {MASK}"),
        ("Cookie", "session=1", MASK),
        ("X-Api-Key", "12345678", MASK),
        ("Proxy-Authorization", "opaque", MASK),
        ("X-Correlation-Id", "0190b5a2", "0190b5a2"),
    ],
)
def test_credentials_of_nobody_are_masked_too(name: str, value: str, shown: str) -> None:
    """A credential that no identity declares shows its scheme and nothing else."""
    assert build_masking([]).headers(((name, value),)) == ((name, shown),)


def test_the_longer_of_two_secrets_is_masked_first() -> None:
    """No part of a secret stays because a shorter secret inside it was masked before."""
    hidden = build_masking((), [("abcdef123456", "SHORT"), ("xx-abcdef123456-yy", "LONG")])
    assert hidden.text("token xx-abcdef123456-yy") == "token LONG"


def test_cookies_that_are_set_are_masked() -> None:
    """A cookie that an answer sets keeps its name only."""
    assert build_masking([]).exchange(exchange()).response.headers == (
        ("Set-Cookie", f"sid={MASK}; Path=/"),
    )


def each_as(form: str) -> Callable[[str], str]:
    """An encoding that writes every UTF-16 unit of a secret in this form."""

    def encode(secret: str) -> str:
        raw = secret.encode("utf-16-be")
        return "".join(form % int.from_bytes(raw[at : at + 2]) for at in range(0, len(raw), 2))

    return encode


#: By name, what a service or a client may make of a secret.
ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": lambda each: each.upper() if len(each.upper()) == len(each) else each,
    "JSON": lambda each: json.dumps(each)[1:-1],
    "JSON with solidus": lambda each: json.dumps(each)[1:-1].replace("/", "\\/"),
    "JSON in JSON": lambda each: json.dumps(json.dumps(each))[1:-1],
    "JSON, all escaped": each_as("\\u%04x"),
    "JSON, all escaped in capitals": each_as("\\u%04X"),
    "JSON without < & >": lambda each: (
        each.replace("<", "\\u003c").replace("&", "\\u0026").replace("+", "\\u002B")
    ),
    "HTML": html.escape,
    "HTML, all escaped": lambda each: "".join(f"&#{ord(one)};" for one in each),
    "HTML, all escaped in hexadecimal": lambda each: "".join(f"&#x{ord(one):X};" for one in each),
    "URL": lambda each: quote(each, safe=""),
    "URL in small letters": lambda each: re.sub(
        "%..", lambda found: found[0].lower(), quote(each, safe="")
    ),
    "URL, all escaped": lambda each: "".join(f"%{byte:02x}" for byte in each.encode()),
    "URL twice": lambda each: quote(quote(each, safe=""), safe=""),
    "form": quote_plus,
    "hexadecimal": lambda each: each.encode().hex(),
    "hexadecimal in capitals": lambda each: each.encode().hex().upper(),
    "base64": lambda each: base64.b64encode(each.encode()).decode(),
    "base64 without padding": lambda each: base64.b64encode(each.encode()).decode().rstrip("="),
    "base64 for URLs": lambda each: base64.urlsafe_b64encode(each.encode()).decode(),
    "base64 in JSON": lambda each: base64.b64encode(each.encode()).decode().replace("/", "\\/"),
    "base64 in a URL": lambda each: quote(base64.b64encode(each.encode()).decode(), safe=""),
    "a user and base64": lambda each: base64.b64encode(b"user:" + each.encode()).decode(),
    "a longer user and base64": lambda each: base64.b64encode(
        b"a-user:" + each.encode() + b"\n"
    ).decode(),
    "a third user and base64": lambda each: base64.b64encode(
        b"users:" + each.encode() + b" x"
    ).decode(),
}

#: A text that is not a word of any report: a secret that equals a word cannot be distinguished from
#: it.
SECRETS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=10, max_size=24
).filter(lambda each: sum(map(str.isalnum, each)) >= 4 and len(set(each)) >= 6) | st.from_regex(
    r"[A-Za-z0-9+/\"<&\\]{6}/[+\"][A-Za-z0-9]{6}", fullmatch=True
)


def readings(text: str) -> Iterator[str]:
    """A report as it is, and as a reader decodes it by its format."""
    yield text
    yield html.unescape(text)
    yield unquote(text)  # of workflow commands
    yield re.sub(r"\\(.)", r"\1", html.unescape(text))  # of Markdown
    with suppress(ValueError):
        yield from strings(json.loads(text))


def strings(value: object) -> Iterator[str]:
    """Every text in a JSON value, and in the JSON and the URLs that are such texts."""
    if isinstance(value, str):
        yield value
        yield unquote(value)
        with suppress(ValueError, RecursionError):
            inner = json.loads(value)
            if not isinstance(inner, str | int | float):
                yield from strings(inner)
    elif isinstance(value, dict | list):
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from strings(each)


@examples(150)
@given(
    SECRETS,
    st.sampled_from(sorted(ENCODINGS)),
    st.sampled_from(["", '{"code": "x", "message": "', "key "]),
)
def test_a_secret_in_any_encoding_anywhere_is_in_no_report(
    secret: str, encoding: str, before: str
) -> None:
    """A secret in a request, an answer or a message is in no report, neither encoded nor
    decoded.
    """
    written = ENCODINGS[encoding](secret)
    after = '"}' if before.startswith("{") else " was refused"
    body = (before + written + after).encode()
    seen = Exchange(
        Request("POST", f"/a/{quote(written)}?q={quote(written)}", (("X-Sent", written),), body),
        Response(400, (("X-Back", f"it is {written}"), (written, "1")), body),
        operation=f"POST /a/{written}",
    )
    finding = Finding(
        "leaks/canary",
        f"{written} came back",
        operation=f"POST /a/{written}",
        pointer=f"/{written}",
        evidence=(seen, seen),
    )
    result = Result(
        target=f"http://{written}@host",
        taxonomy="platform 1.0.0",
        clauses={
            "leaks/canary": ClauseResult("leaks/canary", occasions=1, failures=1),
            "auth/scope": ClauseResult("auth/scope", not_run=(written,), not_exercised=(written,)),
        },
        findings=(ReportedFinding(finding),),
        coverage={"x": Coverage("x", 1, (400,), (written,)), "y": Coverage("y", reason=written)},
        notes=(written,),
        failures=(written,),
        not_run=(written, f"cut off: {secret[:-2]}…"),
    )
    hidden = build_masking([], [(secret, "WORD")])
    report = Report(hidden.result(result), "http://host")
    for name, form in FORMATS.items():
        for text in readings(form(report)):
            assert secret not in text, name
            assert written not in text, name
            assert secret[:-2] not in text, name


#: A secret that no word of a report begins with. Six characters of it identify nothing.
OWN = st.from_regex(r"zq[A-Z][0-9][a-z0-9+/=%\"\\é-]{14,90}", fullmatch=True)


@examples(200)
@given(
    OWN,
    st.integers(0, 130),
    st.sampled_from(["target", "query", "header", "text", "json", "name", "twice"]),
    st.sampled_from([200, 404, 500]),
    st.sampled_from(CONTRACTS),
)
def test_a_judged_exchange_shows_no_secret_wherever_it_is(
    secret: str, at: int, place: str, status: int, contract: Contract
) -> None:
    """Whatever length a message shortens a text to, no report has more than six characters of a
    secret at any position of a target, a body or a header.
    """
    filler = "a" * at
    text = f"{filler}{secret}"
    body = {
        "text": text.encode(),
        "json": json.dumps({"code": text, "message": text, "retriable": text}).encode(),
        "name": json.dumps({text: 1}).encode(),
        "twice": (b'{"code": 1, %s: 1, %s: 2}' % ((json.dumps(text).encode(),) * 2)),
    }.get(place, b"{}")
    target = {"target": f"/{text}", "query": f"/x?k={quote(text)}"}.get(place, "/x")
    headers = (("Content-Type", text if place == "header" else "application/json"),)
    seen = Exchange(
        Request("GET", target, (("X-Own", text),)), Response(status, (*headers, *headers), body)
    )
    found = judge(contract, seen).findings
    hidden = build_masking([], [(secret, "WORD")])
    result = Result(
        target="http://host",
        taxonomy="platform 1.0.0",
        clauses={each.clause: ClauseResult(each.clause, failures=1) for each in found},
        findings=tuple(map(ReportedFinding, found)),
        notes=tuple(f"{place} {show(text)} {shorten(text, at + 9)}" for _ in "."),
    )
    report = Report(hidden.result(result), "http://host")
    for name, form in FORMATS.items():
        for reading in readings(form(report)):
            assert secret[:7] not in reading, name


@pytest.mark.parametrize("size", [100, 980, 1018, 1021, 1024, 1030, 5000])
def test_a_remembered_exchange_shows_no_part_of_a_secret(size: int) -> None:
    """A body that is kept in part ends with a word, and secrets of truncated JSON are masked."""
    body = json.dumps({"pad": "x" * size, "password": "correct-horse-battery", "more": [1] * 999})
    kept = RecentIds(lambda line: pytest.fail(f"no line is kept: {line!r}"))
    kept["id"] = Observation(exchange(back=body.encode()), Judgement((), frozenset()))
    seen = kept["id"].exchange
    shown = mask_recorded((seen,)).exchange(seen)
    assert b"correct" not in shown.response.body


def test_a_private_key_is_masked_whole() -> None:
    """A key in PEM is masked to its last line, not only the line that names it."""
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAbCd09+/\n-----END RSA PRIVATE KEY-----"
    for text in (pem, json.dumps({"message": pem})):
        seen = exchange(back=text.encode())
        assert b"AbCd09" not in mask_recorded((seen,)).exchange(seen).response.body


@pytest.mark.parametrize("before", ["", "a", "ab"])
def test_a_secret_in_base64url_is_masked(before: str) -> None:
    """A secret whose base64 has `/` and `+` is masked in base64url too, at any offset of a text."""
    secret = "key???~~~end"
    plain = base64.b64encode((before + secret).encode()).decode()
    assert "/" in plain
    assert "+" in plain
    for written in (plain, base64.urlsafe_b64encode((before + secret).encode()).decode()):
        masked = build_masking([], [(secret, "WORD")]).text(f"token {written} refused")
        left = masked.removeprefix("token ").removesuffix(" refused")
        assert "WORD" in left
        assert len(left.replace("WORD", "")) <= len(before) * 4 / 3


@given(st.text(max_size=60), st.lists(st.text(min_size=4, max_size=12), max_size=3))
def test_masking_leaves_other_texts_alone(text: str, secrets: list[str]) -> None:
    """Masking replaces parts of a text with words; a text without secrets stays unchanged."""
    hidden = build_masking([], [(each, "\ue000") for each in secrets])
    masked = hidden.text(text)
    assert masked == text or "\ue000" in masked
    pieces, at = masked.split("\ue000"), 0
    for piece in pieces if "\ue000" not in text else []:
        assert text.find(piece, at) >= at
        at = text.find(piece, at) + len(piece)


def test_the_layers_know_their_places() -> None:
    """A place in a text with its escapes undone is that of the escape it came from."""
    text = "a%2Fb \\u00e9 &lt;c&#62; %25%32%46 \\\\/ &nope; ~1"
    decoded = unescape_layers(text)
    assert [each.text for each in decoded][1:] == [
        "a/b é <c> %2F \\/ &nope; /",
        "a/b é <c> / / &nope; /",
        "a/b e\u0301 <c> %2F \\/ &nope; /",
        "a/b e\u0301 <c> / / &nope; /",
    ]
    last = decoded[2]
    for at, character in enumerate(last.text):
        source = text[last.source(at) : last.source(at + 1)]
        assert character in [each.text for each in unescape_layers(source)]


def test_findings_are_masked_with_their_evidence() -> None:
    """Message, exchanges and command lines of a finding hold no secret."""
    raw = Finding(
        "leaks/canary",
        f"{TOKEN} came back",
        evidence=(exchange(ALICE.headers, "/", TOKEN.encode()),),
    )
    masked = build_masking([ALICE]).finding(raw)
    assert TOKEN not in masked.message + "".join(
        curl.command_lines("http://h", masked.evidence)
    ) + repr(masked.evidence)


SHELL = shutil.which("sh")


@pytest.mark.skipif(SHELL is None, reason="a POSIX shell reads the command lines")
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["X-One", "Content-Type"]),
            st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
            .map(str.strip)
            .filter(bool),
        ),
        max_size=2,
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
)
def test_command_lines_survive_the_shell(headers: list[tuple[str, str]], body: str) -> None:
    """A shell reads target, headers and body of a command line as they are in the request."""
    request = Request("POST", "/a/%20b?q='x'&y=$HOME", tuple(headers), body.encode())
    line = curl.command_line("http://127.0.0.1:1", request)
    assert SHELL is not None
    script = 'curl() { for each in "$@"; do printf \'%s\\0\' "$each"; done; }\n' + line
    done = subprocess.run(
        [SHELL, "-c", script], capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    words = done.stdout.decode().split("\0")[:-1]
    assert "http://127.0.0.1:1/a/%20b?q='x'&y=$HOME" in words
    for name, value in headers:
        if "${" not in value:
            assert f"{name}: {value}" in words
    if body and "${" not in body:
        assert words[words.index("--data-binary") + 1] == body


def test_a_call_over_http_is_a_command_line_too() -> None:
    """A JSON-RPC message over HTTP has a command line; one over standard streams has none."""
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "orders.read"}'
    call = Exchange(
        Request("POST", "orders.read", ALICE.headers, body), Response(200), transport="jsonrpc"
    )
    (line,) = curl.command_lines("http://127.0.0.1:1/rpc", (call,))
    words = shlex.split(line)
    assert words[:5] == ["curl", "-sS", "-i", "-X", "POST"]
    assert "http://127.0.0.1:1/rpc" in words
    assert words[-1] == body.decode()
    assert curl.command_lines("engine --stdio", (call,)) == ()


def test_an_address_of_a_recording_is_whole() -> None:
    """A proxy records the whole address, which has its base already."""
    line = curl.command_line("http://h", Request("GET", "http://h/a?b=1"))
    assert shlex.split(line)[3] == "http://h/a?b=1"


def test_variables_stay_variables() -> None:
    """`${NAME}` is left for the shell to expand; other dollars and quotes are not."""
    line = curl.command_line(
        "http://h", Request("GET", "/", (("Authorization", 'Bearer ${ALICE_TOKEN} "$x" `y`'),))
    )
    assert '"Authorization: Bearer ${ALICE_TOKEN} \\"\\$x\\" \\`y\\`"' in line


def test_large_bodies_are_made_by_the_shell() -> None:
    """A megabyte is not pasted."""
    line = curl.command_line("http://h", Request("POST", "/", (), b" " * 1_000_000))
    assert len(line) < 300
    assert "head -c 1000000 /dev/zero" in line


@pytest.mark.skipif(SHELL is None, reason="a POSIX shell reads the command line")
@pytest.mark.parametrize("size", [1, 5_000])
def test_names_and_methods_are_not_read_by_the_shell(size: int, tmp_path: Path) -> None:
    """The name of a header comes from a document, and a method from a report of others: the shell
    runs no command of theirs, however long the value is.
    """
    sin = "X-`touch$IFS'ran'`$(touch ran)\"$(touch ran)\"'$(touch ran)'"
    request = Request("GET;touch$IFS'ran'", "/", ((sin, "ab" * size),))
    line = curl.command_line("http://h", request)
    assert SHELL is not None
    script = 'curl() { for each in "$@"; do printf \'%s\\0\' "$each"; done; }\n' + line
    done = subprocess.run([SHELL, "-c", script], capture_output=True, check=True, cwd=tmp_path)
    words = done.stdout.decode().split("\0")
    assert f"{sin}: {'ab' * size}" in words
    assert request.method in words
    assert [*tmp_path.iterdir()] == []


@pytest.mark.skipif(SHELL is None, reason="a POSIX shell reads the command line")
def test_large_headers_are_made_by_the_shell() -> None:
    """Nor is a header of 128 KiB, in a command line or beside it, and the shell makes the same of
    it.
    """
    asked = Request("GET", "/", (("X-Padding", "x" * 131072), ("Accept", "*/*")))
    line = curl.command_line("http://h", asked)
    assert SHELL is not None
    done = subprocess.run(
        [SHELL, "-c", f'curl() {{ printf %s "$5"; }}\n{line}'], capture_output=True, check=True
    )
    assert done.stdout == b"X-Padding: " + b"x" * 131072
    seen = replace(exchange(), request=asked)
    for name, form in FORMATS.items():
        report = Report(found_with(seen), "http://h")
        assert len(form(report)) < 60_000, name
        assert form(read_back(FORMATS["json"](report))) == form(report), name


def test_a_command_line_shows_an_empty_or_missing_accept() -> None:
    """curl adds headers of its own; the command takes them away where the request had none."""
    line = curl.command_line("http://h", Request("GET", "/"))
    assert "-H 'Accept:'" in line


def reflecting(app: ASGIApp) -> ASGIApp:
    """A service whose refusals bring back all that was sent, in each of the usual encodings."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        sent = [
            scope["raw_path"] + b"?" + scope["query_string"],
            *(value for _, value in scope["headers"]),
        ]
        status = 0

        async def receiving() -> Message:
            message = await receive()
            sent.append(message.get("body", b"")[:400])  # enough for what is planted
            return message

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status >= 400:
                    kept = [
                        pair for pair in message["headers"] if pair[0].lower() != b"content-length"
                    ]
                    message = {
                        **message,
                        "headers": [*kept, (b"x-seen", quote(b" ".join(sent)).encode())],
                    }
            elif status >= 400 and message.get("body"):
                seen = [each.decode("latin-1") for each in sent]
                coded = [each(text) for each in ENCODINGS.values() for text in seen if text]
                message = {
                    **message,
                    "body": json.dumps({"code": "not_found", "message": seen + coded}).encode(),
                }
            await send(message)

        await app(scope, receiving, sending)

    return wrapped


@pytest.mark.full
def test_nothing_of_a_live_run_is_in_any_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """No report of a run against an echoing service contains a token or a canary, neither
    encoded nor decoded.
    """
    taxonomy = language.load("taxonomy.yaml").taxonomy
    assert taxonomy is not None
    sessions: list[HttpSession] = []
    hiding = running.build_session_masking

    def noted(session: HttpSession) -> Masking:
        sessions.append(session)
        return hiding(session)

    monkeypatch.setattr(running, "build_session_masking", noted)
    monkeypatch.setattr(demo, "service", lambda sin: reflecting(Orders().app()))
    report = demo.judge_orders(None, taxonomy, "taxonomy.yaml", sweep=False)
    assert isinstance(report, Report)
    (session,) = sessions
    planted = {each.value for each in session.observations.planted if each.kind != "id"}
    tokens = {secret for each in session.config.identities.values() for secret, _ in each.secrets}
    assert len(planted) > 8
    assert len(tokens) == 3
    assert {each.finding.clause for each in report.result.findings} >= {"leaks/canary"}
    written = {
        form(each)
        for each in planted | tokens
        for name, form in ENCODINGS.items()
        if not name.startswith("a ")
    }
    for variant in (report, read_back(FORMATS["json"](report))):
        for name, form in FORMATS.items():
            for text in readings(form(variant)):
                folded = text.lower()
                assert not [each for each in written if each.lower() in folded], name


GIVEN_AWAY = (
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "S3cretPw9",
    "jane.doe@acme.io",
    "hunter2-of-the-service",
)


def test_what_a_service_gives_away_is_not_given_further(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, connection strings, addresses and secret members in answers of a live run break
    their clauses. No report contains them, although the configuration does not name them as
    secrets.
    """

    def give(
        scope: Scope, status: int, headers: Headers, body: bytes
    ) -> tuple[int, Headers, bytes]:
        if status != 404 or not body:
            return status, headers, body
        sentence = (
            f"no {GIVEN_AWAY[0]} at postgres://svc:{GIVEN_AWAY[1]}@db/orders for {GIVEN_AWAY[2]}"
        )
        error = {
            **json.loads(body),
            "message": sentence,
            "details": {"client_secret": GIVEN_AWAY[3]},
        }
        return status, headers, json.dumps(error).encode()

    taxonomy = language.load("taxonomy.yaml").taxonomy
    assert taxonomy is not None
    monkeypatch.setattr(demo, "service", lambda sin: answers(give)(Orders().app()))
    report = demo.judge_orders(None, taxonomy, "taxonomy.yaml", sweep=False)
    assert isinstance(report, Report)
    found = {each.finding.clause for each in report.result.findings}
    assert found >= {"leaks/secret", "leaks/connection-string", "leaks/email"}
    for name, form in FORMATS.items():
        printed = form(report)
        assert not [each for each in GIVEN_AWAY if each in printed], name
        assert "${ORDERS_ALICE}" in printed or name not in ("json", "html"), name


def test_every_exchange_of_recorded_evidence_is_hidden() -> None:
    """A secret in an exchange that only led to the last one of a finding is not shown either."""
    first = exchange((("Authorization", f"Bearer {TOKEN}"),), back=b'{"password": "correct-horse"}')
    masked = mask_recorded((first, exchange())).finding(
        Finding("correlation/unique", "twice", evidence=(first, exchange()))
    )
    assert TOKEN not in repr(masked)
    assert "correct-horse" not in repr(masked)


def test_a_large_body_is_searched_as_far_as_it_is_shown() -> None:
    """The part of a body beyond what reports show is blanked and not searched. The size stays."""
    body = (TOKEN * 8000).encode()
    masked = build_masking([ALICE]).body(body)
    assert len(masked) < len(body)
    assert masked.endswith(b" " * (len(body) - 64 * 1024))
    assert TOKEN.encode() not in masked
    shown = FORMATS["json"](
        Report(found_with(build_masking([ALICE]).exchange(exchange(back=body))), "http://h")
    )
    assert TOKEN[:8] not in shown


@pytest.mark.parametrize("name", FORMATS)
def test_a_lone_surrogate_is_printed_in_every_format(name: str) -> None:
    """Half a surrogate in a code, a message or a header name does not break any report format."""
    half = "\ud800"
    finding = Finding(
        "codes/known", f"`{half}`", code=half, pointer=f"/{half}", operation=f"GET /{half}",
        evidence=(exchange(((half, half),), target=f"/{half}", back=b'{"code": "\\ud800"}'),),
    )  # fmt: skip
    printed = FORMATS[name](
        Report(
            replace(
                found_with(exchange()),
                taxonomy=half,
                findings=(ReportedFinding(finding),),
                notes=(half,),
            ),
            "http://h",
        )
    )
    assert printed.encode()
    if name in ("json", "sarif"):
        json.loads(printed)


def found_with(seen: Exchange) -> Result:
    """A result with one finding of this exchange."""
    finding = Finding("codes/known", "wrong", evidence=(seen,))
    return Result(
        "t", "t 1", {"codes/known": ClauseResult("codes/known")}, (ReportedFinding(finding),)
    )


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the configuration declares no `faults`", "faultspec-c0ffee123456"),
        ("User-Agent: faultspec-conform", "faultspec-c0ffee123456"),
        ("the header begins with Bearer", "Bearer c0ffee123456"),
    ],
)
def test_a_word_that_only_names_the_kind_of_a_secret_is_not_masked(text: str, secret: str) -> None:
    """A text that ends with the leading word of a secret, or with part of it, stays as it is. One
    that ends with more of the secret does not show it.
    """
    masking = build_masking([], [(secret, "WORD")])
    assert masking.text(text) == text
    assert "c0ff" not in masking.text(f"it was {secret[:-5]}")


@pytest.mark.skipif(SHELL is None, reason="a POSIX shell reads the command line")
@pytest.mark.parametrize(
    ("body", "short"),
    [
        (b"[" * 2500 + b"]" * 2500, True),
        (b'{"list": ' + b"[" * 5000 + b"'%\\" + b"\xfe" * 5000, True),
        (b"-" * 5000 + b"\n", True),
        (json.dumps([*range(2000)]).encode() + b"\0 % 'x' \\n", False),
    ],
)
def test_a_large_body_is_never_replaced_by_another(body: bytes, short: bool) -> None:
    """The shell writes every byte of a large body: its runs in short, the rest in full."""
    line = curl.command_line("http://h", Request("POST", "/", (), body))
    assert SHELL is not None
    done = subprocess.run([SHELL, "-c", f"curl() {{ cat; }}\n{line}"], capture_output=True)
    assert done.stdout == body
    assert (len(line) < 400) == short


def test_secrets_with_a_common_beginning_keep_their_names() -> None:
    """Each secret gets its own replacement, although another one begins alike."""
    masking = build_masking([], [("tok-acme-admin", "FIRST"), ("tok-acme-reader", "READER")])
    assert masking.text("Bearer tok-acme-admin") == "Bearer FIRST"
    assert masking.text("Bearer tok-acme-reader") == "Bearer READER"


VALUE = "tok-8h2kQ7-zz-longer-secret-value-0123456789-abcdefgh"


@given(st.integers(min_value=8, max_value=len(VALUE) - 1), st.sampled_from(["…", "… and more"]))
def test_what_an_ellipsis_leaves_of_a_secret_is_masked(size: int, after: str) -> None:
    """Its beginning before an ellipsis and its end behind one, plain and in base64, are masked;
    between them the text stays.
    """
    hidden = build_masking([], [(VALUE, "WORD")])
    coded = base64.b64encode(VALUE.encode()).decode()
    assert hidden.text(f"a {VALUE[:size]}{after}") == f"a WORD{after}"
    assert hidden.text(f"a …{VALUE[-size:]} b") == "a …WORD b"
    assert hidden.text(f"a {coded[: size + 4]}{after}") == f"a WORD{after}"
    assert coded[-size:-8] not in hidden.text(f"a …{coded[-size - 4 :]} b") or size < 14


@pytest.mark.parametrize("secret", ["aaaaaaaaaaaa", "Lz7q" * 13])
def test_a_secret_that_repeats_itself_is_masked_whole(secret: str) -> None:
    """Occurrences that overlap are one, and a truncated one begins at its first character."""
    hidden = build_masking([], [(secret, "WORD")])
    assert hidden.text(f"x {secret * 9} y") == "x WORD y"
    assert hidden.text(f"x {secret[:-3]}…") == "x WORD…"


def test_an_answer_with_too_many_secrets_is_hidden_whole() -> None:
    """Its body and headers are left out, and no message quotes them. The other answers of the
    finding are shown.
    """
    tokens = [token_hex(8) for _ in range(2_000)]
    crowded = exchange(back=json.dumps({"token": tokens}).encode())
    plain = exchange(back=b'{"code": "gone"}')
    finding = Finding("code/declared", f"`{tokens[1_999]}` and `gone`", evidence=(plain, crowded))
    masked = mask_answered(finding.evidence).finding(finding)
    assert masked.message == "`***` and `gone`"
    first, second = (one.response for one in masked.evidence)
    assert first.body == b'{"code": "gone"}'
    assert second.body == b"***".ljust(len(crowded.response.body))
    assert not [one for one in tokens if one in repr(masked)]


def test_messages_are_hidden_when_the_time_for_masking_is_over() -> None:
    """An answer that cannot be searched in time is not shown."""
    seen = exchange(back=b'{"token": "open-sesame-1"}')
    finding = Finding("code/declared", "m", evidence=(seen,))
    effort = Effort(-1.0)
    masked = mask_answered(finding.evidence, effort).finding(finding)
    assert "open-sesame" not in repr(masked)
    assert effort.late > 0
    assert not effort.hidden


@given(st.integers(0, 2**48 - 1))
@example(0xC65B7F21E3E1)
def test_a_canary_hides_itself_only(number: int) -> None:
    """The text that a canary would be in base64 is not masked: words of ours begin alike."""
    value = f"faultspec-{number:012x}"
    hidden = build_masking((), (), [(value, "faultspec-xxxxxxxxxxxx")])
    assert hidden.text("/search?faultspec-none-4 by faultspec-conform") == (
        "/search?faultspec-none-4 by faultspec-conform"
    )
    assert hidden.text(f"/{value}") == "/faultspec-xxxxxxxxxxxx"


def test_a_busy_machine_does_not_hide_messages() -> None:
    """Only the processor time of masking counts, not the time that it waits for a processor."""
    effort = Effort(0.2)
    time.sleep(0.4)
    assert not effort.is_spent()
    while not effort.is_spent():
        pass


def test_findings_about_one_large_answer_share_its_masked_body() -> None:
    """A report of hundreds of findings takes the memory of one large body, not of hundreds."""
    hidden = build_masking((), [("wolpertinger-4711", "${KEY}")])
    body = b'{"a": "wolpertinger-4711"}' + b"z" * 200_000
    first = hidden.body(body)
    assert b"wolpertinger" not in first
    assert len(first) > 200_000
    assert hidden.body(bytes([*body])) is first
