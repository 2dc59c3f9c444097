"""Shapes of leaking messages of every runtime, store and platform, beside their harmless twins."""

import base64
import gzip
import json
import time
import zlib
from collections.abc import Callable

import pytest

from faultspec import language
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.leaks import detect
from faultspec.leaks.detectors import DETECTORS
from faultspec.leaks.sentences import NETWORK, PLATFORM, RUNTIMES, STORES
from paths import ROOT, TESTS

LINES = (TESTS / "vectors" / "leak_shapes.txt").read_text(encoding="utf-8").splitlines()
LEAKING = tuple(line[2:] for line in LINES if line.startswith("! "))
HARMLESS = tuple(line[2:] for line in LINES if line.startswith("= "))


def test_the_table_is_broad() -> None:
    """The table has a thousand leaking shapes and hundreds of harmless ones, none twice."""
    assert len(set(LEAKING)) == len(LEAKING) >= 1000
    assert len(set(HARMLESS)) == len(HARMLESS) >= 400


def test_each_leaking_shape_is_reported() -> None:
    """Every leaking shape trips a detector, at a place within the text."""
    assert [text for text in LEAKING if not detect(text, DETECTORS)] == []


@pytest.mark.parametrize("home", ["root", "home"])
def test_a_home_is_a_path_and_a_pointer_is_not(home: str) -> None:
    """A file below a home is a path of the server; a JSON Pointer that begins alike is not."""
    assert detect(f"/{home}/.cache/pip", DETECTORS)
    assert not detect(f'"/{home}/name" is required', DETECTORS)


def test_each_leaking_shape_is_reported_in_the_middle_of_a_message() -> None:
    """The text around a leaking shape does not hide it, except for a few that need a line."""
    hidden = [
        text
        for text in LEAKING
        if not detect(f"The request could not be completed: {text} (please retry later)", DETECTORS)
    ]
    assert len(hidden) <= len(LEAKING) // 100


def test_each_leaking_shape_is_reported_below_an_encoding() -> None:
    """Base64 of both alphabets and hexadecimal digits of a leaking text are undone."""
    for text in LEAKING[::40]:
        message = f"error: {text}?>~ at the end of the text".encode()
        if not message.isascii() or not detect(message.decode(), DETECTORS):
            continue
        for code in (base64.b64encode, base64.urlsafe_b64encode):
            assert detect(f"debug={code(message).decode()}", DETECTORS), text
        assert detect(f"debug {message.hex()}", DETECTORS), text


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_compressed_text_is_searched(compress: Callable[[bytes], bytes]) -> None:
    """A text that is compressed and then encoded is found at the place of its run."""
    text = "SELECT pin FROM cards WHERE id = 4 AND owner = 7 and a few more words of the same kind"
    run = base64.b64encode(compress(text.encode())).decode()
    (leak, *_) = detect(f"debug {run} end", DETECTORS)
    assert leak.kind == "sql"
    assert 6 <= leak.start < leak.end <= 6 + len(run)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("TypeError: x is not a function", "an exception"),
        ("SyntaxError: Unexpected token", "an exception"),
        ("RuntimeError: it is closed", "an exception"),
        ("AttributeError: x", "a Python exception"),
        ("ReferenceError: x is not defined", "a JavaScript exception"),
    ],
)
def test_an_exception_has_a_language_if_one_alone_has_it(text: str, what: str) -> None:
    """`TypeError` is of Python, JavaScript, PHP and Ruby, so a message names none of them."""
    assert [leak.what for leak in detect(text, ["stack-trace"])][:1] == [what]


def test_compressed_text_has_a_bound() -> None:
    """A text that grows a thousandfold is searched to its bound only."""
    run = base64.b64encode(gzip.compress(b"a" * 50_000_000 + b" SELECT pin FROM cards")).decode()
    began = time.process_time()
    assert not detect(f"debug {run}", DETECTORS)
    assert time.process_time() - began < 2  # the whole text takes much longer


def test_hexadecimal_digits_may_have_a_prefix() -> None:
    """The digits of a number in the notation of C are undone as well, at their place."""
    run = "0x" + b"SELECT pin FROM cards WHERE id = 4".hex()
    (leak,) = detect(f"code {run}", DETECTORS)
    assert leak.kind == "sql"
    assert 5 <= leak.start < leak.end <= 5 + len(run)


def test_each_harmless_twin_is_silent() -> None:
    """No harmless twin trips a detector, alone or in a body with ids and hashes."""
    around = (
        '{"type": "about:blank", "title": "Conflict", "detail": "%s", "instance": "/v1/orders/7",'
        ' "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"}'
    )
    found = [
        (text, leak.kind, leak.what)
        for text in HARMLESS
        for body in (text, around % text.replace('"', "'"))
        for leak in detect(body, DETECTORS)
    ]
    assert found == []


def test_every_template_has_a_needle_of_some_length() -> None:
    """The needle of a template is long enough to be rare."""
    for pattern in (*RUNTIMES, *STORES, *NETWORK, *PLATFORM):
        assert min(map(len, pattern.needles)) >= 2, pattern.what


@pytest.fixture(scope="module")
def contract() -> Contract:
    """The contract of this repository's taxonomy with every detector."""
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    assert taxonomy.privacy is not None
    privacy = taxonomy.privacy._replace(detectors=(*DETECTORS,))
    return build_contract(taxonomy._replace(privacy=privacy))


def clauses(contract: Contract, body: object) -> set[str]:
    """The clauses about leaks that the body of an answer breaks."""
    headers = (("content-type", "application/json"),)
    response = Response(500, headers, json.dumps(body).encode())
    findings = judge(contract, Exchange(Request("GET", "/"), response)).findings
    return {finding.clause for finding in findings if finding.clause.startswith("leaks/")}


@pytest.mark.parametrize(
    "member",
    [
        {"password": "hunter2!x9"},
        {"apiKey": "9f8d7c6b5a4e3f2a1b0cd4e5"},
        {"db": {"client_secret": "9f8d7c6b5a4e3f2a1b0cd4e5"}},
    ],
)
def test_the_name_of_a_member_makes_its_value_a_secret(
    contract: Contract, member: dict[str, object]
) -> None:
    """A random value is reported as a secret if its member has the name of one."""
    assert "leaks/secret" in clauses(contract, {"code": "internal", "details": member})


@pytest.mark.parametrize(
    "member",
    [
        {"password": "must have at least 12 characters"},
        {"password": "too_short"},
        {"token": "expired"},
        {"apiKey": "********"},
        {"next_page_token": "CAUQAA"},
    ],
)
def test_a_rule_for_a_secret_is_not_a_secret(contract: Contract, member: dict[str, object]) -> None:
    """A sentence, a word or a mask in a member with the name of a secret is silent."""
    assert clauses(contract, {"code": "internal", "details": member}) == set()
