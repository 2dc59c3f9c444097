"""The callers of a drafted conformance file."""

from typing import Any

import pytest

from faultspec.cli.init_from import name_caller
from faultspec.language import read
from faultspec.openapi import service as openapi
from faultspec.source import parse
from faultspec_conformance.config import Identity
from faultspec_conformance.config.reading import parse_config
from faultspec_conformance.run.draft import DraftedCaller, draft

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes: {broken: {summary: A defect, http: 500, retriable: false}}
"""

KEY, COOKIE = "acme-agent-4f7a91c2", "b3f0c2d1e7a94f55"

KEYS = {"type": "apiKey", "in": "header", "name": "X-Api-Key"}
SESSIONS = {"type": "apiKey", "in": "cookie", "name": "sid"}


def document(scheme: object, *, login: bool) -> dict[str, Any]:
    """A service whose operations need a credential, and may have a login that sets a cookie."""
    text = {"type": "string"}
    body = {"type": "object", "required": ["user", "password"]}
    body |= {"properties": {"user": text, "password": {"type": "string", "format": "password"}}}
    me = {"type": "object", "properties": {"user": text}}
    content = {"application/json": {"schema": me}}
    done = {"200": {"description": "d", "content": content}}
    paths: dict[str, Any] = {"/me": {"get": {"responses": done}}}
    if login:
        sent = {"content": {"application/json": {"schema": body}}}
        paths["/login"] = {"post": {"requestBody": sent, "responses": done, "security": []}}
    found: dict[str, Any] = {"openapi": "3.1.0", "paths": paths}
    if scheme is not None:
        found |= {"components": {"securitySchemes": {"caller": scheme}}}
        found |= {"security": [{"caller": []}]}
    return found


def identities(
    described: dict[str, Any], caller: DraftedCaller | None, environment: dict[str, str]
) -> dict[str, Identity]:
    """The identities of a draft, which is read with these variables alone."""
    taxonomy = read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    text = draft(
        openapi.read(described),
        taxonomy,
        http="http://127.0.0.1:1",
        openapi=None,
        taxonomy_path="taxonomy.yaml",
        caller=caller,
    )
    parsed, problems = parse(text, "conformance.yaml")
    assert parsed is not None, problems
    loaded = parse_config(parsed, environment)
    assert loaded.target is not None, loaded.diagnostics
    return dict(loaded.target.identities)


@pytest.mark.parametrize("scheme", [KEYS, None], ids=["a declared key", "nothing declared"])
def test_one_credential_needs_no_variable_of_another(
    scheme: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draft of a command with the credential of one caller reads the variable that has it, and
    no other; the secret itself is not in it.
    """
    monkeypatch.setenv("AGENT_KEY", KEY)
    caller = name_caller([f"X-Api-Key: {KEY}"])
    assert caller == DraftedCaller((("X-Api-Key", "${AGENT_KEY}"),), is_set=True)
    found = identities(document(scheme, login=False), caller, {"AGENT_KEY": KEY})
    assert {name: each.headers for name, each in found.items()} == {"first": (("X-Api-Key", KEY),)}


@pytest.mark.parametrize(
    ("header", "written"),
    [
        ("Authorization: Bearer t0k3n-4711", "Bearer ${AUTHORIZATION}"),
        ("X-Api-Key: t0k3n-4711", "${X_API_KEY}"),
        ("Cookie: sid=t0k3n-4711", "${COOKIE}"),
    ],
)
def test_a_credential_is_never_written(header: str, written: str) -> None:
    """Where no variable has the credential of the caller, the draft has the name that reports show
    in its place, behind its scheme.
    """
    caller = name_caller([header])
    assert caller == DraftedCaller(((header.partition(":")[0], written),), is_set=False)


@pytest.mark.parametrize("caller", [None, DraftedCaller((("Cookie", "${COOKIE}"),), is_set=False)])
def test_a_login_that_sets_a_cookie_saves_it(caller: DraftedCaller | None) -> None:
    """Where the document declares a cookie, and the answer of the login has no token, the token is
    that cookie. With one caller on the command line one logs in.
    """
    names = ("FIRST",) if caller else ("FIRST", "SECOND")
    environment = {f"{one}_{each}": f"{one}-0815" for one in names for each in ("USER", "PASSWORD")}
    found = identities(document(SESSIONS, login=True), caller, environment)
    assert [*found] == [name.lower() for name in names]
    for identity in found.values():
        assert identity.login is not None
        assert {name: str(part) for name, part in identity.login.save.items()} == {
            "token": "cookie sid"
        }
        assert identity.headers == (("Cookie", "sid=${token}"),)
