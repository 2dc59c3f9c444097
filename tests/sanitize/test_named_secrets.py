"""Secrets in recorded traffic are recognised by names in every common notation."""

import json
import time
from urllib.parse import quote, unquote

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
    *(
        f"a=1&data={quote(json.dumps(data))}"
        for data in ({"password": {"current": SECRET}}, {"tokens": [SECRET]}, {"password": SECRET})
    ),
    f'{{"password": {{"a": "{SECRET}"}}, "password": "x"}}',
    f'{{"password": "{SECRET}", "password": "x-7"}}',
    f'{{"n": {"9" * 5000}, "password": {{"current": "{SECRET}"}}}}',
    f'{{"a": nan, "password": {{"current": "{SECRET}"}}}}',
    f'{{/* of bob */ "tokens": ["{SECRET}",],}}',
    f'{{"a": "\\x", "passwords": {{"old": {{"of": "{SECRET}"}}}}}}',
    *(f'{{"{name}": "{SECRET}"}}' for name in ("passwordNew", "password_old", "tokenValue")),
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


ELEMENTS = [
    f"<r><password>\n<![CDATA[{SECRET}]]>\n</password></r>",
    f"<password><!-- of bob -->{SECRET}</password>",
    f"<r><Password>\n  {SECRET}\n</Password></r>",
    f"<r><password><value>{SECRET}</value></password></r>",
    f"<r><credentials><user>bob</user><x>{SECRET}</x></credentials></r>",
    f"<r><entry><key>password</key><value>{SECRET}</value></entry></r>",
    f"<dict><key>user</key><string>bob</string><key>password</key><string>{SECRET}</string></dict>",
    f'<field name="password"><value>{SECRET}</value></field>',
    f'<a:password xmlns:a="urn:{"x" * 300}" b="c">{SECRET}</a:password>',
    f'<password value="{SECRET}"/>',
    f"<input type=hidden name=csrf_token value={SECRET}>",
    f'<input type="password" name="pw" value="{SECRET}">',
    f'<meta name="csrf-token" content="{SECRET}">',
    f"<r><user>bob</user><token>{SECRET}",
]

FORMS = [
    f"a={'x y' * 2000}&password={SECRET}&z=1",
    f'"GET /a?b=1&token={SECRET} HTTP/1.1" 400',
    PART.format(name='name="password"').replace(SECRET, f"first line\r\n{SECRET}"),
    PART.format(name='name="password"').replace(SECRET, f"first line\r\n--\r\n{SECRET}"),
    PART.format(name='name="a"').replace("--b--", "") + PART.format(name='name="password"'),
]

LINES = [
    f"password:   '{SECRET}'  # of bob\n",
    *(f"user: bob\npassword: {mark}\n  {SECRET}\nx: y\n" for mark in ("|", ">", "|-", ">2+")),
    f"users:\n  - password: |\n      first line\n\n      {SECRET}\n    name: bob\n",
    json.dumps({"log": f"user: bob\npassword: |\n  {SECRET}\n"}),
    f"user,password,age\nbob,{SECRET},7\n",
    f"export API_TOKEN={SECRET}\n",
    f"user, password, age\nbob, {SECRET}, 7\n",
    *(f"user: bob\npassword: {mark} {SECRET}\n" for mark in ("&a", "!!str", "!!str &a")),
    f"user: bob\npassword: !!str |\n  {SECRET}\nx: y\n",
    f"\ufeffuser,password\r\nbob,{SECRET}\r\n",
    f'user;"password"\nbob;"{SECRET}"\n',
]

FRAGMENTS = [
    f'event: x\ndata: {{"password":\ndata: {{"new": "{SECRET}"}}}}\n\n',
    *(
        f"{prefix}{body}"
        for prefix in ("while(1);", ")]}}',\n", "2026-11-30 [main] got ", "cb(")
        for body in (
            f'{{"password": {{"new": "{SECRET}"}}}}',
            f'{{"tokens": ["{SECRET}"]}}',
            f'[{{"name": "password", "value": "{SECRET}"}}]',
        )
    ),
    *(
        f"{body}{rest}"
        for body in (
            f'{{"password": {{"current": "{SECRET}"',
            f'{{"passwords": ["{SECRET}"',
            f'{{"x": [{{"name": "password", "value": "{SECRET}"',
            f'[{{"name": "password", "value": "{SECRET}"}}, {{"b": 1',
        )
        for rest in ("", ",", ', "a', ', "a\\u00', ", ", ", 12", ", nul", "…", ' , "b c')
    ),
    f'{{"password": {{"a": "b", "new": "{SECRET}',
    f'{{"password": {{"new": "{SECRET}", "a": {{"b": [1, {{"c":',
    json.dumps({"log": f'{{"password": {{"new": "{SECRET}", "a":'}),
    f'{{"log": "body={{\\"password\\": {{\\"new\\": \\"{SECRET}\\"}}}} end", "a',
]


@pytest.mark.parametrize("body", [*BODIES, *ELEMENTS, *FORMS, *LINES, *FRAGMENTS])
def test_a_named_secret_is_masked_in_the_body_and_in_its_echo(body: str) -> None:
    """Neither the request nor the answer that repeats its secret shows it."""
    echo = json.dumps({"message": f"no such {SECRET} here"}).encode()
    seen = Exchange(Request("POST", "/login", (), body.encode()), Response(400, (), echo))
    assert SECRET not in repr(mask_recorded([seen]).exchange(seen))
    other = Exchange(Request("POST", "/a"), Response(400, (), body.encode()))
    assert SECRET not in repr(mask_recorded([other]).exchange(other))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Auth", SECRET),
        ("Ocp-Apim-Subscription-Key", SECRET),
        ("X-Functions-Key", SECRET),
        ("X-Hub-Signature-256", f"sha256={SECRET}"),
        ("X-Session", SECRET),
        ("X-CSRF", SECRET),
        ("X-User-JWT", f"Bearer {SECRET}"),
        ("Sec-WebSocket-Protocol", f"bearer, {SECRET}"),
        ("Sec-WebSocket-Protocol", f"v12.stomp, access_token, {SECRET}"),
        ("Sec-WebSocket-Protocol", f"base64url.bearer.authorization.k8s.io.{SECRET * 2}"),
    ],
)
def test_a_named_secret_is_masked_in_headers(name: str, value: str) -> None:
    """Of requests and answers, and wherever else it stands."""
    seen = Exchange(
        Request("GET", "/a", ((name, value),)), Response(400, ((name, value),), value.encode())
    )
    assert SECRET not in repr(mask_recorded([seen]).exchange(seen))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Auth", "basic"),
        ("Idempotency-Key", "7f3-key-of-order-1"),
        ("Surrogate-Key", "order-1x shop-2y"),
        ("X-Session", "3600"),
        ("X-Authors", "ann-7 bob-8"),
        ("Sec-WebSocket-Protocol", "v12.stomp, graphql-transport-ws, mqtt, v4.channel.k8s.io"),
    ],
)
def test_headers_without_a_secret_are_shown(name: str, value: str) -> None:
    """Words, numbers and the names of protocols stay readable."""
    seen = Exchange(Request("GET", "/a", ((name, value),)), Response(400))
    assert value in repr(mask_recorded([seen]).exchange(seen))


#: Of a token with many groups, and of an assertion of SAML.
LONG = "kJ9" * 4000 + SECRET


@pytest.mark.parametrize(
    "body",
    [
        f"<r><token>{LONG}</token></r>",
        f"<input name=token value={LONG}>",
        f"token={LONG}&a=b",
        PART.format(name='name="token"').replace(SECRET, LONG),
        f"user: bob\ntoken: {LONG}\nx: y\n",
        f'{{"a": 1, "token": "{LONG}',
        json.dumps({"log": f'request {{"token": "{LONG}"}} failed'}),
    ],
    ids=range(7),
)
def test_a_named_secret_is_masked_however_long_it_is(body: str) -> None:
    """To its last character."""
    seen = Exchange(Request("POST", "/a"), Response(400, (), body.encode()))
    assert "kJ9" not in repr(mask_recorded([seen]).exchange(seen))


@pytest.mark.parametrize("name", ["user[password]", "user%5Bpassword%5D", "user.password"])
def test_a_named_secret_is_masked_in_the_query(name: str) -> None:
    """Whatever notation its name has, also in JSON of a parameter."""
    data = quote(json.dumps({unquote(name): {"new": SECRET}}))
    for target in (f"/a?{name}={SECRET}", f"/a?b={data}"):
        seen = Exchange(Request("GET", target), Response(400, (), SECRET.encode()))
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


@pytest.mark.parametrize(
    "body",
    [
        "<r><token><type>bearer</type><expires>3600</expires></token></r>",
        "<errors><error><field>password</field><message>must have 8 letters</message></error></errors>",
        "<html><body><h1>Wrong password</h1><p>Ask for a new one-2-day token<br>or wait 7x9 s</body>",
        '<input type="password" class="wide-4 box-7" name="password" placeholder="Your word-2"/>',
        "java.lang.IllegalStateException: Map<Token> of users-1\n\tat a.B(C.java:7)\n",
        "password: string\ntoken:\n  kind: access-1\ndescription: |\n  a new password-7\n",
        "The form lacks a password, token\nor name-7, too\n",
        "user,age\nann-7,password-7\n",
        'while(1);{"errors": {"password": {"message": "must have 8 letters"}}}',
        '{"token": {"type": "bearer", "expires_in": 3600, "scope": "read',
        'Cannot parse {"a": b-7} of [token-7], {password-7}',
        PART.format(name='name="title"').replace(SECRET, "password-7\r\ntoken-7"),
        "GET /a?page_size=7&sort=name-7",
    ],
)
def test_texts_that_only_speak_of_secrets_are_shown(body: str) -> None:
    """In every notation: what is neither the value of a secret name nor below one stays."""
    assert not {*find_named_secrets(body)}


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
    '"password":{',
    '"password":["a",',
    '{"a":1,"a":',
    "a: &",
    "!a ",
    "'",
    "a='b",
]


@pytest.mark.parametrize("sign", [*SIGNS, "form-data;a\n\n", "a: b\n", "\r\n", "<a b='"])
def test_hostile_bodies_are_read_in_linear_time(sign: str) -> None:
    """No sign that is repeated for 256 KiB costs more than a second or two."""
    began = time.thread_time()
    assert sum(1 for _ in find_named_secrets(sign * (256 * 1024 // len(sign)))) >= 0
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    "sign",
    [
        "<a>",
        '<a b="c" ',
        "<a></b>",
        "<token>x",
        '{"a":1}',
        '"password":{',
        '"password":["a",',
        '{"a":1,"a":2,',
        "password: !a ",
        '[{"a":1,',
        "password: |\n  ",
        "a,password\n",
        'form-data; name="token"\r\n\r\nx\r\n--b\r\n',
        "token=1\n",
    ],
)
def test_the_time_grows_with_the_text(sign: str) -> None:
    """Four times the text costs about four times as much, and not sixteen."""
    short, long = (
        min(_seconds_for(sign * (size // len(sign))) for _ in range(2))
        for size in (16 * 1024, 64 * 1024)
    )
    assert long < 10 * max(short, 0.005)


def _seconds_for(text: str) -> float:
    began = time.thread_time()
    assert sum(1 for _ in find_named_secrets(text)) >= 0
    return time.thread_time() - began
