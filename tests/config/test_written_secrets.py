"""The secrets of addresses and headers in texts that others wrote."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec_conformance.config.addresses import find_written_secrets, split_address
from faultspec_conformance.sanitize.masking import build_masking
from support.examples import examples

#: Signs of a hostile text. A quadratic search takes minutes.
MANY = 4_000_000

#: What precedes the path of an address, as one expression. It takes quadratic time.
AUTHORITY = re.compile(r"[^/?#@]*:(?!\d{1,5}(?:[/?#]|$))\S*@|[^/?#@]*@")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "a" * MANY,
        "a-" * (MANY // 2),
        "http://" + "a" * MANY,
        "http://" + ":" * MANY,
        "http://" + "a:" * (MANY // 2),
        "http://" + "@" * MANY,
        "token: " * (MANY // 7),
        "a:b@" * (MANY // 4),
        "a//" * (MANY // 3),
    ],
    ids=lambda text: text[:12],
)
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    """A long comment or address in a configuration does not hold the command."""
    list(find_written_secrets(text))


@pytest.mark.parametrize(
    "address",
    [
        "ftp://bob7:hunter2x@127.0.0.1/x",
        "wss://bob7:hunter2x@service.example",
        "https//bob7:hunter2x@service.example/x?sig=a9b8c7d6e5",
        "//bob7:hunter2x@service.example",
        "bob7:hunter2x@127.0.0.1:8000/x",
        "target: {http: 'bob7:hunter2x@127.0.0.1:1/x'}",
        "user:password@service.example",
    ],
)
def test_an_address_that_is_misspelt_has_secrets_too(address: str) -> None:
    """A password is masked whatever stands before it: another scheme, half of one, or none."""
    masked = build_masking((), find_written_secrets(address)).text(address)
    secret = ("bob7", "hunter2x", "a9b8c7d6e5", "user:password")
    assert not any(each in masked for each in secret)


@pytest.mark.parametrize(
    "text", ["npm:package@1.2", "mailto:bob@example.org", "image:tag@sha256:a"]
)
def test_words_before_an_at_sign_hide_no_other_words(text: str) -> None:
    """A text that only looks like a user name and a password is masked as a whole, at most."""
    masking = build_masking((), find_written_secrets(text))
    assert masking.text("a package for bob with a tag") == "a package for bob with a tag"


def test_the_end_of_a_long_name_says_what_a_header_is() -> None:
    """A value is a secret however long the name before its mark is."""
    assert ("hunter2secret", "***") in [*find_written_secrets("x" * 300 + "-token: hunter2secret")]


@pytest.mark.parametrize("word", ["wrong", "incorrect"])
@pytest.mark.parametrize(
    "text",
    [
        "body: {name: ada, password: WORD}",
        'body: {name: ada, password: "WORD"}',
        '{"password": "WORD"}',
        "name=ada&password=WORD",
        'headers: {Authorization: "Bearer WORD"}',
    ],
)
def test_a_word_is_a_secret_only_beside_its_name(word: str, text: str) -> None:
    """A recipe with a wrong password hides neither `wrong-type` nor other words of what the command
    says, and still hides the password where it stands.
    """
    recipe = "password: WORD" if "=" in text else text
    masking = build_masking((), find_written_secrets(recipe.replace("WORD", word)))
    message = f"{word}-type: something is {word}"
    assert masking.text(message) == message
    assert masking.text(text.replace("WORD", word)) == text.replace("Bearer WORD", "WORD").replace(
        "WORD", "***"
    )


@pytest.mark.parametrize(
    "place", ["/token", "/data/accessToken", "header X-Auth-Token", "cookie session"]
)
def test_the_place_of_a_value_stays_legible(place: str) -> None:
    """Where a login saves its token is a pointer, a header or a cookie: the path `/token` stays
    legible.
    """
    assert [*find_written_secrets(f"save: {{token: {place}}}")] == []
    assert [*find_written_secrets(f"token: {place}9Xw+")] != []


@examples(200)
@given(st.text(alphabet="a1:@/?# 9\n", max_size=14))
def test_user_and_password_end_where_the_host_begins(rest: str) -> None:
    """They are what the expression finds: a colon without a port after it begins a password, which
    may have signs of a path.
    """
    found = AUTHORITY.match(rest)
    parts = split_address(f"http://{rest}")
    assert f"{parts.user}:{parts.password}".strip(":") == (found[0][:-1] if found else "").strip(
        ":"
    )
