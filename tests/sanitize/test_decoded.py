"""The secrets inside a credential are masked like the credential."""

import base64
import json

import pytest

from faultspec.exchange.sensitive import MASK
from faultspec_conformance.config import Identity, is_credential, secret_of
from faultspec_conformance.sanitize.decoded import decode_secrets
from faultspec_conformance.sanitize.masking import build_masking

WORD = "${ALICE_AUTHORIZATION}"


def basic(text: str) -> str:
    """The credential of Basic for a user and a password."""
    return base64.b64encode(text.encode()).decode()


def token(**claims: object) -> str:
    """A token with these claims."""
    parts = ({"alg": "HS256", "typ": "JWT"}, claims)
    coded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    return ".".join([*(part.rstrip("=") for part in coded), "c2lnbmF0dXJlLW9mLWl0"])


def masked(credential: str, text: str) -> str:
    """The text, masked for an identity with the credential."""
    return build_masking([Identity(name="alice", secrets=((credential, WORD),))]).text(text)


@pytest.mark.parametrize("password", ["open-sesame-1", "pass:word", "p\u00e4ssw\u00f6rd"])
def test_a_password_of_basic_is_masked(password: str) -> None:
    """The password is masked, alone and with its user; the credential keeps its own word."""
    credential = basic(f"admin:{password}")
    assert masked(credential, f"bad password {password} here") == f"bad password {MASK} here"
    assert masked(credential, f"admin:{password}") == MASK
    assert masked(credential, f"Basic {credential}") == f"Basic {WORD}"


@pytest.mark.parametrize(
    ("user", "is_masked"), [("admin", False), ("u-81", True), ("a@b.de", True)]
)
def test_a_user_name_is_masked_unless_it_is_a_word(user: str, is_masked: bool) -> None:
    """A word such as `admin` would mask every text that contains it."""
    text = masked(basic(f"{user}:open-sesame-1"), f"no rights for {user}.")
    assert (user not in text) == is_masked


def test_segments_and_claims_of_a_token_are_masked() -> None:
    """Claims about the caller are masked; issuer, audience and short claims are not."""
    credential = token(
        sub="user-4711-abc", role="admin", iss="https://api.example.com", n=[{"a": "nested-claim"}]
    )
    for part in (*credential.split("."), "user-4711-abc", "nested-claim"):
        assert part not in masked(credential, f"claim {part} of it")
    for part in ("admin", "https://api.example.com"):
        assert part in masked(credential, f"claim {part} of it")


@pytest.mark.parametrize(
    "credential",
    [
        "tok-abc-123",
        "a.b.c",
        "Zm9v",
        "c2Vzc2lvbg==",
        "........",
        "eyJhIjoxfQ.WzFd.x",
        "ey" * 9 + "." + "_" * 9 + ".",
    ],
)
def test_other_credentials_have_no_parts_but_segments(credential: str) -> None:
    """Nothing is made up, and nothing raises."""
    assert all(part in credential for part in decode_secrets(credential))


@pytest.mark.parametrize(
    ("credential", "part"),
    [
        ("Bearer tok-abc-12345", "tok-abc-12345"),
        ("Token  tok-abc-12345", "tok-abc-12345"),
        (f"Basic {basic('admin:open-sesame-1')}", "open-sesame-1"),
        ("sid=abcdefgh12; theme=dark", "abcdefgh12"),
        (f"a=b; sid={token(sub='user-4711-abc')}", "user-4711-abc"),
        (f"sid={token(sub='user-4711-abc')}", token(sub="user-4711-abc").split(".")[1]),
        ("Basic " + base64.b64encode("eve:pässwörd-1".encode("latin-1")).decode(), "pässwörd-1"),
        (f"Basic {basic('eve:open' + chr(9) + 'sesame')}", "open\tsesame"),
        ("Basic " + base64.urlsafe_b64encode(b"eve:>>>???~~~").decode(), ">>>???~~~"),
        (f"Basic  {basic('eve:open-sesame-1')}", "open-sesame-1"),
        (
            'Digest username="eve", uri="/a", response="6629fae49393a05397450978507c4ef1"',
            "6629fae49393a05397450978507c4ef1",
        ),
        (
            "AWS4-HMAC-SHA256 Credential=AKIA/20261124, Signature=fe5f80f77d5fa3beca03",
            "fe5f80f77d5fa3beca03",
        ),
    ],
)
def test_a_variable_with_scheme_or_cookies_has_the_secret_inside(
    credential: str, part: str
) -> None:
    """A variable may have the whole value of a header; what stands in it is secret alone too."""
    assert part in set(decode_secrets(credential))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("X-Access-Token", True),
        ("X-Auth-Key", True),
        ("Authorization", True),
        ("x_session_id", True),
        ("Idempotency-Key", False),
        ("X-Tenant", False),
        ("Accept-Language", False),
        ("Monkey", False),
    ],
)
def test_a_header_of_a_caller_is_a_credential_by_its_name(header: str, expected: bool) -> None:
    """Whole words of the name decide, and a key for repeated requests is public."""
    assert is_credential(header) == expected


def test_the_secret_of_a_header_is_what_follows_its_scheme() -> None:
    """All cookies are secret, whatever blanks are between them."""
    assert secret_of("Cookie", "sid=abc; theme=dark") == "sid=abc; theme=dark"
    assert secret_of("Authorization", "Bearer  tok") == "tok"
    assert secret_of("X-Api-Key", "tok") == "tok"
