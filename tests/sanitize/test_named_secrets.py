"""Secrets in recorded traffic are recognised by names in every common notation."""

import json
import time
from urllib.parse import quote

import pytest

from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.sanitize.traffic_secrets import mask_recorded
from faultspec_conformance.session.named_secrets import find_named_secrets

SECRET = "hunter2XYZ"

PART = "--b\r\nContent-Disposition: form-data; {name}\r\n\r\n" + SECRET + "\r\n--b--\r\n"

BODIES = [
    *(f"a=1&{name}={SECRET}" for name in ("user[password]", "user.password", "passwords[]")),
    f"a=1&{quote('user[credentials][token]')}={SECRET}&b=2",
    f"password1={SECRET}&password_confirmation={SECRET}",
    *(PART.format(name=name) for name in ('name="user[password]"', "name=password")),
    f"user: bob\npassword: {SECRET}\n",
    f'<f name="password">{SECRET}</f>',
    f'<add key="Password" value="{SECRET}"/>',
    f"<Password><![CDATA[{SECRET}]]></Password>",
    f'{{"password": {{"value": "{SECRET}"}}}}\n{{"a": 1}}\n',
    f'data: {{"password": {{"value": "{SECRET}"}}}}\n\n',
    f'{{"log": "{{\\"password\\": \\"{SECRET}\\", \\"a',
    *map(
        json.dumps,
        [
            {"password": {"value": SECRET}},
            {"credentials": {"user": "bob", "key2": SECRET}},
            {"passwords": ["a", SECRET]},
            {"api_keys": {"first": SECRET}},
            {"tokens": [{"kind": "access", "it": SECRET}]},
            {"user[password]": SECRET},
            {"user.password": SECRET},
            {"session": {"id": SECRET}},
            [{"name": "password", "value": SECRET}],
            {"detail": [{"loc": ["body", "user", "password"], "input": SECRET}]},
            {"errors": [{"field": "user.password", "rejectedValue": SECRET}]},
            {"data": json.dumps({"password": SECRET})},
            {"data": json.dumps({"body": json.dumps({"credentials": {"x": SECRET}})})},
            {"body": f"user=bob&user[password]={SECRET}"},
        ],
    ),
]


@pytest.mark.parametrize("body", BODIES)
def test_a_named_secret_is_masked_in_the_body_and_in_its_echo(body: str) -> None:
    """Neither the request nor the answer that repeats its secret shows it."""
    echo = json.dumps({"message": f"no such {SECRET} here"}).encode()
    seen = Exchange(Request("POST", "/login", (), body.encode()), Response(400, (), echo))
    assert SECRET not in repr(mask_recorded([seen]).exchange(seen))
    other = Exchange(Request("POST", "/a"), Response(400, (), body.encode()))
    assert SECRET not in repr(mask_recorded([other]).exchange(other))


@pytest.mark.parametrize("name", ["user[password]", "user%5Bpassword%5D", "user.password"])
def test_a_named_secret_is_masked_in_the_query(name: str) -> None:
    """Whatever notation its name has."""
    seen = Exchange(Request("GET", f"/a?{name}={SECRET}"), Response(400, (), SECRET.encode()))
    assert SECRET not in repr(mask_recorded([seen]).exchange(seen))


@pytest.mark.parametrize(
    "body",
    [
        {"token": {"type": "bearer", "expires_in": 3600, "active": True, "kind": "access_token"}},
        {"credentials": {"user": "bob", "role": "admin", "since": "2026-11-30T12:00:00Z"}},
        {"errors": {"password": {"message": "must have 8 letters"}}},
        {"properties": {"password": {"type": "string", "description": "of the user"}}},
        {"usage": {"max_tokens": 4096, "prompt_tokens": 123456}, "tokens": ["the", "cat"]},
        {"password.too_short": "must have 8 letters"},
        [{"name": "colour", "value": "turquoise-7"}, {"path": "/oauth/token", "value": "x-1-y-2"}],
    ],
)
def test_what_only_speaks_of_secrets_is_shown(body: object) -> None:
    """Words, short numbers, times and sentences beside or below a secret name stay readable."""
    assert not {*find_named_secrets(json.dumps(body))}


#: Beginnings of all that is read.
SIGNS = [
    '{"password":',
    '[{"name":"password","value":',
    "\\",
    '\\"',
    '"a":"',
    '"a":"\\"',
    "password=",
    "[a]",
    "<a",
    '<a/b="',
    "<a>",
    "<![CDATA[",
    "form-data;name=",
    "-",
    "--a",
    "a:b/",
    "a[",
    "/",
    '"password":"',
    '"password":\\"',
    "a.",
    "a[b]=",
    '{"a":[',
    "'",
    "a='b",
]


@pytest.mark.parametrize("sign", [*SIGNS, "form-data;a\n\n", "a: b\n", "\r\n", "<a b='"])
def test_hostile_bodies_are_read_in_linear_time(sign: str) -> None:
    """No sign that is repeated for 256 KiB costs more than a second or two."""
    began = time.thread_time()
    assert sum(1 for _ in find_named_secrets(sign * (256 * 1024 // len(sign)))) >= 0
    assert time.thread_time() - began < 2
