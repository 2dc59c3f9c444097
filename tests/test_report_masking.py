"""Nothing secret stands in a report, in whatever form it was sent or came back; a command line still reproduces."""

import json
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange import Exchange, Request, Response
from faultspec.finding import Finding
from faultspec_conformance import curl
from faultspec_conformance.masking import MASK, masking
from faultspec_conformance.target import Identity

TOKEN = "s3cr3t-token-0123456789"
ALICE = Identity(
    "alice",
    (("Authorization", f"Bearer {TOKEN}"), ("X-Org", "acme")),
    (("Authorization", "Bearer ${ALICE_TOKEN}"), ("X-Org", "acme")),
    secrets=((TOKEN, "${ALICE_TOKEN}"),),
)


def exchange(
    headers: tuple[tuple[str, str], ...] = (), target: str = "/", body: bytes = b"", back: bytes = b""
) -> Exchange:
    """An exchange with these parts."""
    return Exchange(
        Request("POST", target, headers, body), Response(400, (("Set-Cookie", "sid=abcdef; Path=/"),), back)
    )


def test_an_identity_is_shown_as_the_file_has_it() -> None:
    """The value from the environment becomes its variable, wherever it stands."""
    masked = masking([ALICE]).exchange(
        exchange(ALICE.headers, f"/a?t={TOKEN}", TOKEN.encode(), f"bad {TOKEN}".encode())
    )
    assert masked.request.headers == (("Authorization", "Bearer ${ALICE_TOKEN}"), ("X-Org", "acme"))
    assert TOKEN not in json.dumps([masked.request.target, masked.request.body.decode(), masked.response.body.decode()])


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
    assert masking([]).headers(((name, value),)) == ((name, shown),)


def test_cookies_that_are_set_are_masked() -> None:
    """A cookie that an answer sets keeps its name only."""
    assert masking([]).exchange(exchange()).response.headers == (("Set-Cookie", f"sid={MASK}; Path=/"),)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=4, max_size=20),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_a_secret_is_gone_in_every_form_it_was_sent(secret: str, before: str, after: str) -> None:
    """Plain or percent-encoded, in a target, a body or a message: no report holds the secret."""
    from urllib.parse import quote

    hidden = masking([], [(secret, "WORD")])
    text = before + secret + after
    assert secret not in hidden.text(text) or secret in "WORD" or secret in before + "WORD" + after
    assert (
        quote(secret, safe="") not in hidden.text("/x?q=" + quote(secret, safe=""))
        or quote(secret, safe="") in "/x?q=WORD"
    )


def test_findings_are_masked_with_their_evidence() -> None:
    """Message, exchanges and command lines of a finding hold no secret."""
    raw = Finding("leaks/canary", f"{TOKEN} came back", evidence=(exchange(ALICE.headers, "/", TOKEN.encode()),))
    masked = masking([ALICE]).finding(raw)
    assert TOKEN not in masked.message + "".join(curl.lines("http://h", masked.evidence)) + repr(masked.evidence)


SHELL = shutil.which("sh")


@pytest.mark.skipif(SHELL is None, reason="a POSIX shell reads the command lines")
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["X-One", "Content-Type"]),
            st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12).map(str.strip).filter(bool),
        ),
        max_size=2,
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
)
def test_command_lines_survive_the_shell(headers: list[tuple[str, str]], body: str) -> None:
    """What a shell makes of a command line is the request's own target, headers and body."""
    request = Request("POST", "/a/%20b?q='x'&y=$HOME", tuple(headers), body.encode())
    line = curl.line("http://127.0.0.1:1", request)
    assert SHELL is not None
    script = 'curl() { for each in "$@"; do printf \'%s\\0\' "$each"; done; }\n' + line
    done = subprocess.run([SHELL, "-c", script], capture_output=True, check=True, stdin=subprocess.DEVNULL)
    words = done.stdout.decode().split("\0")[:-1]
    assert "http://127.0.0.1:1/a/%20b?q='x'&y=$HOME" in words
    for name, value in headers:
        if "${" not in value:
            assert f"{name}: {value}" in words
    if body and "${" not in body:
        assert words[words.index("--data-binary") + 1] == body


def test_variables_stay_variables() -> None:
    """`${NAME}` is left for the shell to expand; other dollars and quotes are not."""
    line = curl.line("http://h", Request("GET", "/", (("Authorization", 'Bearer ${ALICE_TOKEN} "$x" `y`'),)))
    assert '"Authorization: Bearer ${ALICE_TOKEN} \\"\\$x\\" \\`y\\`"' in line


def test_large_bodies_are_made_by_the_shell() -> None:
    """A megabyte is not pasted."""
    line = curl.line("http://h", Request("POST", "/", (), b" " * 1_000_000))
    assert len(line) < 300
    assert "head -c 1000000 /dev/zero" in line


def test_an_empty_or_missing_accept_is_said() -> None:
    """curl adds headers of its own; the command takes them away where the request had none."""
    line = curl.line("http://h", Request("GET", "/"))
    assert "-H 'Accept:'" in line
