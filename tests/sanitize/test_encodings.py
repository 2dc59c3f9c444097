"""Secrets in encodings inside each other, and secrets that are cut, are masked; in bounded time."""

import base64
import gzip
import html
import json
import os
import quopri
import re
import time
import unicodedata
import zlib
from collections.abc import Callable
from itertools import product
from urllib.parse import quote

import pytest

from faultspec.exchange.model import Canary
from faultspec.exchange.sensitive import MASK
from faultspec.leaks import find_planted
from faultspec_conformance.sanitize.effort import Effort
from faultspec_conformance.sanitize.masking import build_masking

SECRET = "Zx9+qT/4mW=vR7pLk2sD"

Encoding = Callable[[str], str]


def encode_qp(text: str) -> str:
    """Every character in quoted-printable."""
    return "".join(f"={byte:02X}" for byte in text.encode())


ENCODINGS: dict[str, Encoding] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "hexadecimal": lambda text: text.encode().hex(),
    "percent": lambda text: quote(text, safe=""),
    "html": html.escape,
    "unicode": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "quoted-printable": encode_qp,
}
OTHERS: dict[str, Encoding] = {
    "percent u": lambda text: "".join(f"%u{ord(letter):04X}" for letter in text),
    "octal": lambda text: "".join(f"\\{ord(letter):03o}" for letter in text),
    "long numbers": lambda text: "".join(f"&#{ord(letter):09d};" for letter in text),
    "gzip": lambda text: base64.b64encode(gzip.compress(text.encode())).decode(),
    "zlib": lambda text: base64.b64encode(zlib.compress(text.encode())).decode(),
    "quoted text": lambda text: quopri.encodestring(text.encode()).decode().strip(),
}

#: A secret with letters beyond ASCII, and ways to write it that read the same, or in which other
#: programs encode it.
LETTERS = "Zürich!Geheim-Qx9Wk7Lé4Tv"
WRITTEN: dict[str, Encoding] = {
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "full width": lambda text: "".join(
        chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text
    ),
    "mathematical": lambda text: "".join(
        chr(0x1D400 + ord(each) - 65) if "A" <= each <= "Z" else each for each in text
    ),
    "entities": lambda text: (
        text.replace("ü", "&uuml;").replace("!", "&excl;").replace("-", "&hyphen;")
    ),
    "dash": lambda text: text.replace("-", "\u2013"),
    "base64 of Latin-1": lambda text: base64.b64encode(text.encode("latin-1")).decode(),
    "hexadecimal of Latin-1": lambda text: text.encode("latin-1").hex(),
    "percent of the decomposed": lambda text: quote(unicodedata.normalize("NFD", text)),
}

MASKING = build_masking((), [(SECRET, "${TOK}"), (LETTERS, "${TOK}")])


def assert_masked(shown: str) -> None:
    """The text is masked wherever it stands; what is around it stays."""
    text = f"first {shown} last"
    for masked in (MASKING.text(text), MASKING.body(text.encode()).decode()):
        assert shown not in masked
        assert re.fullmatch(r"first .*\$\{TOK\}.* last", masked), masked


@pytest.mark.parametrize(("outer", "inner"), [*product(ENCODINGS, ENCODINGS)])
def test_two_encodings_inside_each_other_are_undone(outer: str, inner: str) -> None:
    """The inner text has other characters around the secret, which shift the digits."""
    for around in ("", "x", "yy"):
        text = ENCODINGS[outer](around + ENCODINGS[inner](f"{around}{SECRET}{around}"))
        assert_masked(text)


@pytest.mark.parametrize("name", OTHERS)
def test_further_encodings_are_undone(name: str) -> None:
    """Old escapes, long ones, and compressed text."""
    shown = OTHERS[name](SECRET)
    assert shown not in MASKING.text(f"a {shown} b")


@pytest.mark.parametrize("name", WRITTEN)
def test_a_secret_is_found_however_its_letters_are_written(name: str) -> None:
    """Texts that read the same are masked, and base64 of an older encoding; the others stay."""
    for secret in (LETTERS, "Qx9Wk7L-e4Tv!Geheim") if name != "base64 of Latin-1" else (LETTERS,):
        hidden = build_masking((), [(secret, "${TOK}")])
        for around in ("", "ü ", "ﬁ"):
            shown = WRITTEN[name](secret)
            masked = hidden.text(f"{around}first {shown} last{around}")
            assert masked == f"{around}first ${{TOK}} last{around}"


def test_letters_with_marks_take_linear_time() -> None:
    """A long text of letters that have to be decomposed takes no seconds."""
    began = time.monotonic()
    assert MASKING.text("é" * 200_000) == "é" * 200_000
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("cut", ["…", "...", "[...]", "[…]", "***", "......"])
def test_what_is_left_of_a_cut_secret_is_masked(cut: str) -> None:
    """Beginnings and ends, in texts and in whole bodies."""
    text = f"token {SECRET[:14]}{cut} and {cut}{SECRET[8:]} are wrong, try again"
    for masked in (MASKING.text(text), MASKING.body(text.encode()).decode()):
        assert masked == f"token ${{TOK}}{cut} and {cut}${{TOK}} are wrong, try again"


def test_masking_stops_within_one_text() -> None:
    """Hundreds of secrets in a body of digits: what is not searched in time is hidden."""
    secrets = [(os.urandom(12).hex(), "x") for _ in range(2_000)]
    body = base64.b64encode(os.urandom(48_000))
    effort = Effort(0.2)
    began = time.process_time()
    masking = build_masking((), secrets)
    masked = type(masking)(masking.secrets, effort=effort).body(body)
    assert time.process_time() - began < 2
    assert masked == body or masked.startswith(MASK.encode())


def test_a_bomb_in_base64_is_bounded() -> None:
    """Of compressed data, the beginning is searched."""
    bomb = base64.b64encode(gzip.compress(bytes(1 << 24))).decode()
    began = time.process_time()
    MASKING.text(json.dumps([bomb]))
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(gzip.compress(b"hello") + gzip.compress(SECRET.encode())).decode(),
        base64.b64encode(gzip.compress(bytes(70_000) + SECRET.encode())).decode(),
        " ".join(
            [base64.b64encode(gzip.compress(bytes([each]) * 65_536)).decode() for each in range(9)]
            + [base64.b64encode(SECRET.encode().hex().encode()).decode()]
        ),
    ],
    ids=["second member", "far inside", "behind others"],
)
def test_what_is_not_decoded_to_its_end_is_hidden(text: str) -> None:
    """A run of digits is masked if the secret stands in a later member of compressed data, behind
    what is decoded of one run, or behind all that is decoded of one text.
    """
    masked = MASKING.text(f"it is {text} here")
    assert text.split()[-1] not in masked
    assert masked.startswith("it is ")
    assert masked.endswith(" here")


@pytest.mark.parametrize("before", ["a", "KEY", "/blob/", "abc", "abcd", "ABCDE", "0f0f0f0f0", "x"])
@pytest.mark.parametrize("name", sorted(ENCODINGS | OTHERS))
def test_letters_before_the_digits_hide_nothing(name: str, before: str) -> None:
    """An encoded secret is masked directly behind other letters of its alphabet, once encoded and
    encoded once more in base64.
    """
    coded = (ENCODINGS | OTHERS)[name](SECRET)
    for text in (coded, base64.b64encode(coded.encode()).decode()):
        masked = MASKING.text(f"it is {before}{text} here")
        assert text not in masked, text


def test_a_plus_that_was_read_as_a_blank_hides_nothing() -> None:
    """A service that reads a cookie or a header as a form turns each `+` of base64 into a blank."""
    secret = "abQ7+cdE9/efG1+hiJ3kLmN5+opQrS7=="
    masking = build_masking([], [(secret, "${KEY}")])
    for written in (secret.replace("+", " "), quote(secret.replace("+", " "))):
        assert masking.text(f"no such key: {written}!") == "no such key: ${KEY}!"
    planted = Canary("secret", secret)
    assert find_planted(f"no such key: {secret.replace('+', ' ')}!", [planted], whole=True)


@pytest.mark.parametrize(
    ("secret", "written"),
    [
        ("abQ7+cdE9/efG1hiJ3kLmN5opQrS7==", "abQ7+cdE9/efG1hiJ3kLmN5opQrS7"),
        ("abQ7+cdE9/efG1hiJ3kLmN5opQrS7==", "abQ7-cdE9_efG1hiJ3kLmN5opQrS7=="),
        ("abQ7+cdE9/efG1hiJ3kLmN5opQrS7==", "abQ7-cdE9_efG1hiJ3kLmN5opQrS7"),
        ("abQ7-cdE9_efG1hiJ3kLmN5opQrS7", "abQ7+cdE9/efG1hiJ3kLmN5opQrS7"),
        ("Tr0ub4dor'&3'x-9Qz", "Tr0ub4dor''&3''x-9Qz"),
        ("Tr0ub4dor-9Qz7mW-4kL2x", "Tr0ub4dor-9Qz7mW-4kL2"),
        ("Tr0ub4dor-9Qz7mW-4kL2x", "r0ub4dor-9Qz7mW-4kL2x"),
        ("pässwört-Geheim-Ü9", "p?ssw?rt-Geheim-?9"),
        ("pässwört-Geheim-Ü9", "p\ufffdssw\ufffdrt-Geheim-\ufffd9"),
        ("pässwört-Geheim-Ü9", "pÃ¤sswÃ¶rt-Geheim-Ãœ9"),
    ],
)
def test_a_rewritten_secret_is_masked(secret: str, written: str) -> None:
    """Programs change a secret a little, and anybody can change it back."""
    masking = build_masking([], [(secret, "${KEY}")])
    assert masking.text(f"no such key: <{written}>!") == "no such key: <${KEY}>!"


def test_a_query_is_not_quoted_printable() -> None:
    """A value after `=` that begins with two digits hides nothing beside the secrets."""
    masking = build_masking([], [("jane.19cff1432e@mail.example", "CANARY-email")])
    url = "http://127.0.0.1:8399/books?limit=face&contact=jane.19cff1432e%40mail.example&key=1"
    assert masking.text(url) == "http://127.0.0.1:8399/books?limit=face&contact=CANARY-email&key=1"


PEM = (
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8c"
    "==\n-----END PRIVATE KEY-----"
)

LONG = "correct horse=battery staple, pässwort mit leer, and eighty letters in one line of them all"


@pytest.mark.parametrize("secret", ["correct horse=battery staple", "pässwort mit leer", LONG, PEM])
@pytest.mark.parametrize("quotetabs", [False, True])
def test_quoted_printable_of_a_secret_with_blanks_is_undone(secret: str, quotetabs: bool) -> None:
    """A blank and a line break do not end it, and what stands around it stays."""
    hidden = build_masking((), [(secret, "${TOK}")])
    for end in ("\n", "\r\n"):
        mail = f"body: a=3D {secret} end".encode()
        shown = quopri.encodestring(mail, quotetabs=quotetabs).decode().replace("\n", end)
        masked = re.sub(r"=\r?\n|=20| ", "", hidden.text(shown))
        assert masked == "body:a=3D3D${TOK}end"


@pytest.mark.parametrize("end", ["\r\n", "\n    ", "\r\n\t", " ", "\n\n", "\\n", "\\r\\n  "])
@pytest.mark.parametrize("secret", [PEM, PEM.replace("\n", "\r\n")])
def test_a_secret_of_several_lines_is_found_however_they_end(secret: str, end: str) -> None:
    """With other line ends, indented, and in one line; escaped too."""
    hidden = build_masking((), [(secret, "${KEY}")])
    assert hidden.text(f"x {end.join(PEM.splitlines())} y\n z") == "x ${KEY} y\n z"


def test_quotes_doubled_as_in_csv_are_undone() -> None:
    """A secret that is JSON is masked in a field of CSV."""
    account = '{"type":"service_account","private_key_id":"abcdef0123456789"}'
    field = account.replace('"', '""')
    hidden = build_masking((), [(account, "${KEY}")])
    assert hidden.text(f'row,"{field}",1') == 'row,"${KEY}",1'


@pytest.mark.parametrize("sign", ["=3D", "=\n", "=C3=\r\n", " ", "\n", "\r\n ", "a=3D "])
def test_quoted_printable_and_blanks_take_linear_time(sign: str) -> None:
    """A long text of what has to be undone takes no seconds."""
    began = time.thread_time()
    MASKING.text(sign * (200_000 // len(sign)))
    assert time.thread_time() - began < 4
