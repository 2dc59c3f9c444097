"""Drafts of the conformance file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from faultspec.language import read
from faultspec.openapi import service as openapi
from faultspec.source import parse
from faultspec_conformance.config import read_config
from faultspec_conformance.config.context import VARIABLE
from faultspec_conformance.config.reading import parse_config
from faultspec_conformance.run.draft import draft

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: [/**]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  broken: {summary: A defect, http: 500, retriable: false}
  slow: {summary: Too late, http: 504, retriable: true}
  away: {summary: Not there now, http: 503, retriable: true}
"""


@pytest.mark.parametrize("listed", [["broken", "slow"], []])
def test_a_header_that_lists_codes_is_drafted_as_a_fault_switch(listed: list[str]) -> None:
    """An operation may ignore a switch, so the draft has no recipe that demands its effect."""
    switch = {"name": "X-Fail", "in": "header", "schema": {"type": "string", "enum": listed}}
    responses = {"200": {"description": "all"}}
    document = {
        "openapi": "3.1.0",
        "paths": {"/things": {"get": {"parameters": [switch], "responses": responses}}},
    }
    taxonomy = read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    text = draft(
        openapi.read(document),
        taxonomy,
        http="http://127.0.0.1:1",
        openapi="openapi.json",
        taxonomy_path="taxonomy.yaml",
    )
    line = '  - {header: X-Fail, values: {"broken": "broken", "slow": "slow"}}'
    assert (line in text.splitlines()) == bool(listed)
    assert "\nprovoke:" not in text
    assert "  # away: " in text


CHAT = """
faultspec: 1
taxonomy: {name: chat, version: 1.0.0}
boundaries: {door: The door., kitchen: The kitchen.}
actions: {bind: Bind a credential.}
detail_keys: {status: {type: integer}}
envelopes:
  error: {shape: {code: $code, message: $message, boundary: $boundary, details?: $details}}
surfaces:
  chat: {transport: http, match: {routes: ["POST /chat/**"]}, envelope: error, codes: closed}
  rest: {transport: http, match: {routes: ["/**"]}, envelope: error, codes: foreign}
retry_policies: {patient: {max_attempts: 3, backoff: {kind: constant, base: 1s}, eligible: [away, broken]}}
upstream: {retry: patient, status: status}
renderings: {text: {shape: {role: tool, content: "Failed with ${code}: ${message}"}}}
codes:
  denied: {summary: No., http: 403, boundary: [door, kitchen], retriable: false}
  unbound: {summary: Unbound., http: 412, boundary: door, retriable: {until: bind, else: false}, actions: [bind]}
  broken: {summary: Broken., http: 502, boundary: door, retriable: true, details: {status: {}}}
  away: {summary: Away., http: 502, boundary: door, retriable: true}
"""

CHAT_PATHS = {
    "/things": {"get": {"responses": {"200": {"description": "all"}, "412": {"description": "x"}}}},
    "/chat/say": {
        "post": {
            "requestBody": {"content": {"application/json": {"example": {"text": "hello"}}}},
            "responses": {"200": {"description": "an answer"}},
        }
    },
}


def chat_draft() -> str:
    """The draft for a service with boundaries, an action, a rendering and an upstream."""
    taxonomy = read(CHAT, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    return draft(
        openapi.read({"openapi": "3.1.0", "paths": CHAT_PATHS}),
        taxonomy,
        http="http://127.0.0.1:1",
        openapi="none",
        taxonomy_path="taxonomy.yaml",
    )


def test_a_draft_without_its_comment_signs_is_a_conformance_file(tmp_path: Path) -> None:
    """Every recipe and upstream of a draft can be switched on by deleting `#` before it."""
    (tmp_path / "taxonomy.yaml").write_text(CHAT)
    comments = chat_draft().partition("# provoke:")[2].partition("\nlimits:")[0]
    lines = [line for line in comments.splitlines() if not line.startswith("# The taxonomy")]
    lines = [line for line in lines if not line.startswith("# it fails")]
    live = re.sub(r"(?m)^( *)# ", r"\1", "\n".join(lines)).replace(", as: reader", "")
    target = 'target: {http: "http://127.0.0.1:1", command: [serve]}'
    text = f"taxonomy: taxonomy.yaml\n{target}\nprovoke:{live}\nlimits: {{writes: true}}\n"
    (tmp_path / "conformance.yaml").write_text(text)
    loaded = read_config(str(tmp_path / "conformance.yaml"), {})
    assert loaded.target is not None, (text, loaded.diagnostics)
    recipes = [(recipe.code, recipe.rendering) for recipe in loaded.target.recipes]
    assert recipes[:3] == [("denied", None), ("denied", None), ("denied", "text")]
    boundaries = [recipe.expect.slots.get("boundary") for recipe in loaded.target.recipes]
    assert boundaries[:2] == ["door", "kitchen"]
    (unbound,) = (recipe for recipe in loaded.target.recipes if recipe.code == "unbound")
    assert unbound.action
    (upstream,) = loaded.target.upstreams
    assert [call.call.path for call in upstream.calls] == ["/chat/say"]
    assert {name for name, _ in upstream.fails} == {"away", "broken"}


def test_a_slot_that_no_envelope_has_is_not_drafted() -> None:
    """A code of two boundaries has one recipe if no envelope shows the boundary."""
    taxonomy = CHAT.replace(", boundary: $boundary", "")
    text = drafted(CHAT_PATHS, taxonomy=taxonomy)
    assert "  # denied:" in text
    assert "slots:" not in text
    assert "slots: {boundary: door}" in drafted(CHAT_PATHS, taxonomy=CHAT)


def test_a_recipe_is_drafted_with_a_request_that_may_get_the_code() -> None:
    """The routes of the surface decide, not the first path of the document."""
    lines = [line for line in chat_draft().splitlines() if "away:" in line]
    assert '  # away: {request: POST /chat/say, body: {"text": "hello"}}' in lines[0]


CONFLICT = "  taken: {summary: In the way, http: 409, retriable: false, details: {field?: {type: string}}, example: {message: Taken, details: {field: FIELD}}}\n"


def drafted(paths: dict[str, Any], *, schemes: object = None, taxonomy: str = TAXONOMY) -> str:
    """Return the draft for a document with these paths; it has no mistakes."""
    document: dict[str, Any] = {"openapi": "3.1.0", "paths": paths}
    if schemes is not None:
        document |= {"components": {"securitySchemes": {"caller": schemes}}}
    known = read(taxonomy, "taxonomy.yaml").taxonomy
    assert known is not None
    text = draft(
        openapi.read(document),
        known,
        http="http://127.0.0.1:1",
        openapi="/openapi.json",
        taxonomy_path="taxonomy.yaml",
    )
    names = ("USERNAME", "EMAIL", "PASSWORD", "CLIENT_ID", "CLIENT_SECRET", "TOKEN")
    who = ("FIRST", "SECOND", "READER")
    environment = {f"{one}_{name}": f"{one}-{name}-0815" for one in who for name in names}
    parsed, problems = parse(text, "conformance.yaml")
    assert parsed is not None, problems
    loaded = parse_config(parsed, environment)
    assert loaded.target is not None, loaded.diagnostics
    return text


def described(
    members: dict[str, object], *responses: str, media: str = "application/json"
) -> dict[str, Any]:
    """Return an operation with a body that has these members."""
    schema = {"type": "object", "required": [*members], "properties": members}
    answers = {status: {"description": "done"} for status in responses}
    return {"requestBody": {"content": {media: {"schema": schema}}}, "responses": answers}


def things(members: dict[str, object], *responses: str) -> dict[str, Any]:
    """Return the paths of things that are created with these members."""
    read_one = {"responses": {"200": {"description": "one"}}}
    return {
        "/things": {"post": described(members, "201", *responses)},
        "/things/{id}": {"get": read_one},
    }


TEXT: dict[str, object] = {"type": "string"}


@pytest.mark.parametrize(
    ("members", "responses", "line"),
    [
        ({"sku": TEXT, "name": TEXT}, ["409"], "add to `create`: unique: [sku]"),
        ({"owner_email": TEXT}, ["409"], "add to `create`: unique: [owner_email]"),
        ({"x": {"type": "string", "x-unique": True}}, [], "unique: [x]}"),
        ({"email": {"type": "string", "format": "email"}}, ["409"], '{"email": "${unique}"}'),
        ({"size": TEXT, "name": TEXT}, ["409"], "add to `create`: unique: [name]"),
        ({"title": TEXT, "name": TEXT}, ["409"], "add to `create`: unique: [title, name]"),
        ({"sku": TEXT}, [], None),
        ({"size": TEXT}, ["409"], "unique: [name]`"),
        ({"count": {"type": "integer"}}, [], None),
    ],
)
def test_the_likeliest_unique_member_is_drafted(
    members: dict[str, object], responses: list[str], line: str | None
) -> None:
    """A member that the document calls unique is drafted as such; one that only its name and a
    documented 409 tell in a comment; without a 409 there is none.
    """
    text = drafted(things(members, *responses))
    assert line in text if line is not None else "unique: [" not in text


def test_an_example_of_the_conflict_names_the_unique_member() -> None:
    """The details of an example of a 409 code name the member, whatever it is called; without a
    documented 409 the line is a comment.
    """
    taxonomy = TAXONOMY + CONFLICT.replace("FIELD", "badge")
    members: dict[str, object] = {"name": TEXT, "badge": TEXT}
    certain = drafted(things(members, "409"), taxonomy=taxonomy)
    assert yaml.safe_load(certain)["resources"]["thing"]["create"]["unique"] == ["badge"]
    assert "`taken` (409) names `badge`" in certain
    commented = drafted(things(members), taxonomy=taxonomy)
    assert "unique" not in yaml.safe_load(commented)["resources"]["thing"]["create"]
    assert "unique: [badge]" in commented


def test_the_documented_conflict_names_the_unique_member() -> None:
    """The description of the 409 decides between several texts."""
    paths = things({"sku": TEXT, "plate": TEXT}, "409")
    paths["/things"]["post"]["responses"]["409"]["description"] = "A thing with this plate exists"
    found = yaml.safe_load(drafted(paths))["resources"]["thing"]["create"]
    assert found["unique"] == ["plate"]


def text_of(description: str = "", **keys: object) -> dict[str, object]:
    """The schema of a text."""
    return {"type": "string", "description": description, **keys}


COLOUR = text_of("The colour", maxLength=40)

#: A creation in each of several domains: its members, the text of its 409, and the unique member.
DOMAINS: dict[str, tuple[dict[str, object], str, list[str] | None]] = {
    "cars": ({"colour": COLOUR, "plate": text_of(pattern="^[A-Z]{2}-[0-9]{4}$")}, "", None),
    "fleet": ({"color": TEXT, "licensePlate": TEXT, "model_name": TEXT}, "", None),
    "books": ({"title": TEXT, "isbn": TEXT, "language": TEXT}, "", None),
    "clinics": ({"name": TEXT, "chart": text_of("Unique within the clinic")}, "", ["chart"]),
    "tickets": ({"seat": text_of("No two tickets have it"), "note": TEXT}, "", ["seat"]),
    "staff": ({"badge": {**TEXT, "x-unique": True}, "email": TEXT}, "", ["badge"]),
    "warehouse": ({"sku": TEXT, "bin": TEXT}, "This bin is in use", ["bin"]),
    "accounts": ({"iban": TEXT, "currency": text_of(maxLength=3)}, "", None),
    "people": ({"contact": text_of(format="email"), "name": TEXT}, "", None),
    "sensors": ({"serialNumber": TEXT, "unit": TEXT, "kind": TEXT}, "", None),
    "labels": ({"name": text_of("Need not be unique"), "color": TEXT}, "", None),
    "songs": ({"title": TEXT, "name": TEXT}, "", None),
    "flights": ({"status": text_of(enum=["a", "b"]), "code": text_of(maxLength=3)}, "", None),
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_unique_member_follows_from_the_document(domain: str) -> None:
    """Schemas, descriptions and the 409 decide. A member that only its name tells is a comment, and
    a value that resources share gets no `${unique}`.
    """
    members, conflict, unique = DOMAINS[domain]
    paths = things(members, "409")
    paths["/things"]["post"]["responses"]["409"]["description"] = conflict
    create = yaml.safe_load(drafted(paths))["resources"]["thing"]["create"]
    assert create.get("unique") == unique
    changing = {name for name, value in create["body"].items() if "${unique}" in str(value)}
    assert set(unique or ()) <= changing
    shared = {"colour", "color", "language", "note", "currency", "unit", "kind", "status", "code"}
    assert not changing & shared


def test_the_parameter_of_the_items_path_is_unique() -> None:
    """The address of an item is chosen by its creator, and no other item has it."""
    members: dict[str, object] = {"colour": TEXT, "tag": TEXT}
    created = things(members, "409")
    paths = {"/things": created["/things"], "/things/{tag}": created["/things/{id}"]}
    assert yaml.safe_load(drafted(paths))["resources"]["thing"]["create"]["unique"] == ["tag"]


def test_resources_come_after_those_that_they_refer_to() -> None:
    """The first resource can be created without any other, and bodies refer to earlier ones."""
    one = {"get": {"responses": {"200": {"description": "one"}}}}
    wanted: dict[str, dict[str, object]] = {
        "payments": {"invoice_id": TEXT},
        "invoices": {"customerId": TEXT, "number": TEXT},
        "customers": {"email": TEXT},
    }
    paths: dict[str, Any] = {}
    for name, members in wanted.items():
        paths[f"/{name}"] = {"post": described(members, "201")}
        paths[f"/{name}/{{id}}"] = one
    paths["/customers/{customer_id}/notes"] = {"post": described({"text": TEXT}, "201")}
    paths["/customers/{customer_id}/notes/{id}"] = one
    found = yaml.safe_load(drafted(paths))["resources"]
    assert [name for name in found if name != "note"] == ["customer", "invoice", "payment"]
    assert list(found).index("note") > list(found).index("customer")
    assert found["payment"]["create"]["body"]["invoice_id"] == "${invoice.id}"
    assert found["invoice"]["create"]["body"]["customerId"] == "${customer.id}"


@pytest.mark.parametrize(
    ("name", "schema", "expected"),
    [
        ("from_thing", TEXT, "${thing.id}"),
        ("toThingId", TEXT, "${thing.id}"),
        ("source_thing_id", {"type": "string", "format": "uuid"}, "${thing.id}"),
        ("last_thing", {"type": "string", "enum": ["a", "b"]}, "a"),
        ("per_thing", {"type": "integer", "example": 4}, 4),
        ("anything", {**TEXT, "example": "x"}, "x-${unique}"),
    ],
)
def test_a_member_refers_to_a_resource_by_its_last_words(
    name: str, schema: dict[str, object], expected: object
) -> None:
    """A text such as `from_thing` is the id of a thing; a number or a choice is what it says."""
    paths = things({"size": TEXT}) | {
        "/moves": {"post": described({name: schema}, "201")},
        "/moves/{id}": {"get": {"responses": {"200": {"description": "one"}}}},
    }
    found = yaml.safe_load(drafted(paths))["resources"]
    assert found["move"]["create"]["body"][name] == expected


def test_an_example_stays_where_another_member_is_new() -> None:
    """Only what may be unique, or a name, changes in a body with examples: others may be checked.
    Where nothing is likely, all texts are new, so that the run knows its items.
    """
    iban = {**TEXT, "example": "DE89370400440532013000"}
    members: dict[str, object] = {"iban": iban, "payee": {**TEXT, "example": "Alice"}}

    def body(members: dict[str, object]) -> object:
        return yaml.safe_load(drafted(things(members, "409")))["resources"]["thing"]["create"][
            "body"
        ]

    assert body({**members, "badge": {**TEXT, "x-unique": True, "example": "b1"}}) == {
        "iban": "DE89370400440532013000",
        "payee": "Alice",
        "badge": "b1-${unique}",
    }
    named = body({"payee": {**TEXT, "example": "Alice"}, "title": {**TEXT, "example": "t"}})
    assert named == {"payee": "Alice", "title": "t-${unique}"}
    assert body({"payee": {**TEXT, "example": "Alice"}}) == {"payee": "Alice-${unique}"}


def test_a_conflict_about_a_state_needs_a_recipe() -> None:
    """A probe sends duplicates and wrong input; no probe brings about another 409 or 422."""
    codes = (
        "  taken: {summary: It exists already, http: 409, retriable: false}\n"
        "  settled: {summary: The thing is settled, http: 409, retriable: false}\n"
        "  invalid: {summary: Not valid, http: 422, retriable: false}\n"
        "  overdrawn: {summary: Too little money, http: 422, retriable: false}\n"
    )
    text = drafted(things({"size": TEXT}, "409", "422"), taxonomy=TAXONOMY + codes)
    assert [
        name for name in ("taken", "settled", "invalid", "overdrawn") if f"# {name}:" in text
    ] == [
        "settled",
        "overdrawn",
    ]


KEY = "${AWS_SECRET_ACCESS_KEY}"


@pytest.mark.parametrize(
    "member",
    [
        {**TEXT, "example": KEY},
        {**TEXT, "default": KEY},
        {"type": "string", "enum": [KEY]},
        {**TEXT, "const": f"a-{KEY}"},
        {"type": "array", "items": {"enum": [KEY]}, "minItems": 1},
        {"type": "object", "required": [KEY], "properties": {KEY: TEXT}},
        {**TEXT, "pattern": r"^\$\{AWS_SECRET_ACCESS_KEY\}$"},
        {**TEXT, "pattern": r"^\x24[{]AWS_SECRET_ACCESS_KEY}$"},
        {"type": "array", "items": {"type": "string", "pattern": f"^[$]{KEY[1:]}$"}, "minItems": 1},
    ],
)
def test_a_text_of_the_document_is_not_a_variable(member: dict[str, object]) -> None:
    """The author of the document does not choose what of the environment its service gets: in an
    example, a choice, the name of a member, a parameter or a path.
    """
    paths = things({"name": TEXT, "extra": member})
    paths["/things"]["post"]["parameters"] = [
        {"name": "X-Kind", "in": "header", "required": True, "schema": member}
    ]
    paths[f"/things/{{id}}/{KEY}"] = {"post": described({"extra": member}, "201", "409")}
    login = described({**CREDENTIALS, "device": member}, "200")
    login["requestBody"]["content"]["application/json"]["schema"]["required"] = ["device"]
    paths["/login"] = {"post": login}
    text = drafted(paths, taxonomy=TAXONOMY + CONFLICT, schemes=BEARER)
    assert "AWS_SECRET_ACCESS_KEY" in text
    assert KEY not in text


#: Names that end a flow mapping or a line, and a variable by an escape of YAML.
INJECTIONS = (
    'x}, query: {leak: "\\x24{AWS_SECRET_ACCESS_KEY}"}} # ',
    'x", "query": {"leak": "\\u0024{AWS_SECRET_ACCESS_KEY}"}, "y": "',
    "x\nwaivers: /etc/passwd\n",
    "x\u2028waivers: /etc/passwd",
    "a: b",
    "*x",
    "&x",
    "!!python/none",
    "x} ${AWS_SECRET_ACCESS_KEY",
)


def strings(value: object) -> Iterator[str]:
    """Every text of YAML data, names of members too."""
    match value:
        case str():
            yield value
        case dict():
            yield from (one for pair in value.items() for part in pair for one in strings(part))
        case list():
            yield from (one for part in value for one in strings(part))


@pytest.mark.parametrize("name", INJECTIONS)
def test_a_name_of_the_document_is_one_scalar_of_the_draft(name: str) -> None:
    """Whatever a member, a header, a scheme or a segment of a path is called, the draft has the
    keys and the variables that it has with an ordinary name.
    """

    def data(name: str) -> dict[str, Any]:
        login = described(CREDENTIALS, "200")
        token = {"type": "object", "properties": {name: {"properties": {"token": TEXT}}}}
        login["responses"]["200"]["content"] = {"application/json": {"schema": token}}
        switch = {"name": name, "in": "header", "schema": {"enum": ["broken"]}}
        segment = name.replace("{", "(").replace("}", ")")
        paths = {
            "/login": {"post": login},
            "/slow": {"get": {"parameters": [switch], "responses": {"504": {"description": ""}}}},
            f"/things/{{id}}/{segment}": {"post": described({name: TEXT}, "201", "409")},
            **things({name: TEXT, f"{name}_id": TEXT}),
        }
        key = {"type": "apiKey", "in": "query", "name": name}
        found: dict[str, Any] = yaml.safe_load(drafted(paths, schemes=key))
        return found

    usual, hostile = data("word"), data(name)
    assert hostile.keys() == usual.keys()
    assert hostile["faults"][0].keys() == usual["faults"][0].keys()
    logins = (usual["identities"]["first"]["login"], hostile["identities"]["first"]["login"])
    assert logins[0].keys() == logins[1].keys()
    assert list(logins[1]["save"]) == ["token"]
    variables = {one for text in strings(hostile) for one in VARIABLE.findall(text)}
    assert variables <= {one for text in strings(usual) for one in VARIABLE.findall(text)}


def test_limits_grow_with_the_document() -> None:
    """A draft of many operations and resources allows a whole run; a small one keeps the
    defaults.
    """
    small = yaml.safe_load(drafted(things({"sku": TEXT})))["limits"]
    assert (small["requests"], small["seconds"], small["writes"]) == (400, 120, False)
    one = things({"sku": TEXT})
    many = {
        path.replace("thing", f"thing{n}"): item for n in "abcdefgh" for path, item in one.items()
    }
    large = yaml.safe_load(drafted(many))["limits"]
    assert large["requests"] >= 800
    assert large["seconds"] >= 200


BEARER = {"type": "http", "scheme": "bearer"}
CREDENTIALS: dict[str, object] = {"email": TEXT, "password": TEXT}
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("path", ["/login", "/v1/auth/token", "/sessions"])
def test_a_login_operation_is_drafted(path: str) -> None:
    """Each identity logs in with variables of the environment, and its header has the token."""
    login = described(CREDENTIALS, "200")
    token = {"type": "object", "properties": {"accessToken": TEXT}}
    login["responses"]["200"]["content"] = {"application/json": {"schema": token}}
    text = drafted({path: {"post": login}}, schemes=BEARER)
    first = yaml.safe_load(text)["identities"]["first"]
    assert first["headers"] == {"Authorization": "Bearer ${token}"}
    assert first["login"] == {
        "request": f"POST {path}",
        "body": {"email": "${FIRST_EMAIL}", "password": "${FIRST_PASSWORD}"},
        "save": {"token": "/accessToken"},
    }


@pytest.mark.parametrize(
    ("flow", "grant", "members"),
    [
        ("password", "password", ("username", "password")),
        ("clientCredentials", "client_credentials", ("client_id", "client_secret")),
    ],
)
def test_a_flow_of_oauth_is_drafted_as_a_form(
    flow: str, grant: str, members: tuple[str, ...]
) -> None:
    """The token endpoint of a flow gets a form (RFC 6749, 4.3.2 and 4.4.2)."""
    schemes = {"type": "oauth2", "flows": {flow: {"tokenUrl": "token", "scopes": {}}}}
    operation = described({"username": TEXT, "password": TEXT}, "200", media=FORM)
    text = drafted({"/token": {"post": operation}}, schemes=schemes)
    login = yaml.safe_load(text)["identities"]["first"]["login"]
    assert login["request"] == "POST /token"
    assert login["headers"] == {"Content-Type": FORM}
    assert login["body"] == {
        "grant_type": grant,
        **{name: f"${{FIRST_{name.upper()}}}" for name in members},
    }
    assert login["save"] == {"token": "/access_token"}


@pytest.mark.parametrize(
    ("path", "members"), [("/notes", CREDENTIALS), ("/login", {"email": TEXT}), ("/login", {})]
)
def test_without_a_login_the_token_is_a_variable(path: str, members: dict[str, object]) -> None:
    """An operation of another name, or without a password, is not a login."""
    text = drafted({path: {"post": described(members, "200")}}, schemes=BEARER)
    assert "login" not in yaml.safe_load(text)["identities"]["first"]


def test_a_token_endpoint_elsewhere_is_not_drafted() -> None:
    """Tokens of another server are variables."""
    flow = {"tokenUrl": "https://id.example.com/token", "scopes": {}}
    schemes = {"type": "oauth2", "flows": {"password": flow}}
    text = drafted({"/notes": {"post": described({}, "200")}}, schemes=schemes)
    assert "login" not in yaml.safe_load(text)["identities"]["first"]


def test_a_text_of_the_document_writes_no_line_of_its_own() -> None:
    """The document is foreign, and the file starts programs."""
    flow = {"tokenUrl": "token\nclient: {command: [touch, x]}\n# ", "scopes": {}}
    schemes = {"type": "oauth2", "flows": {"clientCredentials": flow}}
    text = drafted({"/notes": {"post": described({}, "200")}}, schemes=schemes)
    assert "client" not in yaml.safe_load(text)


@pytest.mark.parametrize("name", ["rooms:", "@room", "*room", "~", "on", "rooms: x", "room #1"])
def test_a_path_writes_no_yaml_of_its_own(name: str) -> None:
    """The name of a resource comes from a path of the document, and is one key of the draft. A path
    that no URL has is left out.
    """
    paths = things({"name": {"type": "string"}})
    odd = {path.replace("things", name): item for path, item in paths.items()}
    found = yaml.safe_load(drafted(odd)).get("resources", {})
    assert found.keys() == (set() if " " in name else {name})


def test_an_update_has_a_member() -> None:
    """A PATCH whose members are all optional changes one that may be written."""
    paths = things({"sku": TEXT})
    one: dict[str, Any] = {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
    }
    members = {"id": {**TEXT, "readOnly": True}, "size": {"type": "integer"}, "note": TEXT}
    patch = described(members, "200")
    patch["requestBody"]["content"]["application/json"]["schema"]["required"] = []
    one["patch"] = patch
    text = drafted({**paths, "/things/{id}": one})
    update = yaml.safe_load(text)["resources"]["thing"]["update"]
    assert list(update["body"]) == ["note"]


@pytest.mark.parametrize(
    ("path", "listed", "expected"),
    [
        ("/things/batch", {"items": {"type": "array", "items": "one"}}, True),
        ("/things:bulk", {"things": {"type": "array", "items": "one"}}, True),
        ("/things/batch", {"items": {"type": "array", "items": TEXT}}, False),
        ("/other/batch", {"items": {"type": "array", "items": "one"}}, False),
        ("/things/batch", {"tag": TEXT}, False),
    ],
)
def test_a_batch_is_drafted(path: str, listed: dict[str, Any], expected: bool) -> None:
    """A POST below the collection is a batch if its only list has the items of a creation."""
    paths = things({"sku": TEXT})
    item = {"type": "object", "required": ["sku"], "properties": {"sku": TEXT}}
    members = {
        name: {**node, "items": item} if node.get("items") == "one" else node
        for name, node in listed.items()
    }
    text = drafted({**paths, path: {"post": described(members, "200")}})
    batch = yaml.safe_load(text)["resources"]["thing"].get("batch")
    assert (batch is not None) == expected
    if expected:
        assert batch["request"] == f"POST {path}"
        assert batch["body"] == {next(iter(listed)): [{"sku": "value-${unique}"}]}


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"properties": {"id": TEXT}}, "/id"),
        ({"properties": {"thing_id": TEXT, "name": TEXT}}, "/thing_id"),
        ({"properties": {"data": {"properties": {"id": TEXT}}}}, "/data/id"),
        ({"properties": {"colour": TEXT}}, None),
        (None, None),
    ],
)
def test_the_place_of_the_id_is_that_of_the_document(answer: object, line: str | None) -> None:
    """The documented answer to a creation names the place of the id. A guess is not written."""
    paths = things({"sku": TEXT})
    if answer is not None:
        content = {"application/json": {"schema": {"type": "object", **answer}}}
        paths["/things"]["post"]["responses"] = {"201": {"description": "done", "content": content}}
    create = yaml.safe_load(drafted(paths))["resources"]["thing"]["create"]
    assert create.get("id") == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/failures/{incident_id}", 'audit: {lookup: "GET /failures/${incident_id}"}'),
        ("/failures/{id}", '# audit: {lookup: "GET /failures/${incident_id}"}'),
        ("/colours/{id}", None),
    ],
)
def test_the_look_up_of_a_failure_is_drafted(path: str, line: str | None) -> None:
    """A path with the name of the slot is certain; one below a collection of failures is not."""
    shape = "shape: {code: $code, incident: $incident_id}, fields: {incident_id: {type: string}}"
    taxonomy = TAXONOMY.replace("shape: {code: $code}", shape)
    name = path.partition("{")[2].rstrip("}")
    parameters = [{"name": name, "in": "path", "required": True, "schema": TEXT}]
    one = {"parameters": parameters, "get": {"responses": {"200": {"description": "one"}}}}
    text = drafted({path: one}, taxonomy=taxonomy)
    assert [one for one in text.splitlines() if "audit" in one] == ([] if line is None else [line])


def test_an_upstream_is_drafted_for_codes_of_other_services() -> None:
    """A taxonomy with a code for 502 or 504 has an upstream in its draft, also without a policy."""
    paths = things({"sku": TEXT})
    assert "# upstreams:" in drafted(paths)
    without = TAXONOMY.replace("http: 504", "http: 503")
    assert "# upstreams:" not in drafted(paths, taxonomy=without)


def test_updates_and_times_are_new_where_a_conflict_is_documented() -> None:
    """A repeated constant would be refused for the item that has it already."""
    moment, serial = (
        text_of(format="date-time"),
        text_of("Unique in the house", pattern="^[A-Z]{9}$"),
    )
    members: dict[str, object] = {"serial": serial, "starts_at": moment, "birth_date": moment}
    paths = things(members, "409")
    paths["/things/{id}"]["patch"] = described(members, "200", "409")
    found = yaml.safe_load(drafted(paths))["resources"]["thing"]
    for role in ("create", "update"):
        body = found[role]["body"]
        assert (body["serial"], body["starts_at"]) == ("${unique}", "${unique:datetime}")
        assert "$" not in body["birth_date"]
    free = yaml.safe_load(drafted(things(members)))["resources"]["thing"]["create"]["body"]
    assert "$" not in free["starts_at"]


def test_optional_texts_are_drafted_in_a_creation() -> None:
    """A creation has the optional members that take any text, new where there is room; ids, texts
    with a format and members with a default stay out, and an example stays as it is.
    """
    members: dict[str, object] = {
        "size": {"type": "integer"},
        "note": {"type": ["string", "null"], "maxLength": 500},
        "tag": {"type": "string", "maxLength": 8},
        "lane": {"type": "string", "default": "left"},
        "owner_id": TEXT,
        "site": {"type": "string", "format": "uri"},
        "number": {**TEXT, "readOnly": True},
    }
    paths = things(members)
    schema = paths["/things"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema["required"] = ["size"]
    body = yaml.safe_load(drafted(paths))["resources"]["thing"]["create"]["body"]
    assert body == {"size": 1, "note": "value-${unique}", "tag": "value"}
    schema["example"] = {"size": 2}
    body = yaml.safe_load(drafted(paths))["resources"]["thing"]["create"]["body"]
    assert body == {"size": 2}


LIMITED = TAXONOMY + "  limited: {summary: Too often, http: 429, retriable: true}\n"


@pytest.mark.parametrize(
    ("limited", "active"),
    [
        (["GET /reports"], True),
        (["GET /reports", "GET /things"], False),
        (["POST /things"], False),
        (["GET /things/{id}"], False),
        ([], False),
    ],
)
def test_a_documented_limit_of_one_read_is_provoked(limited: list[str], active: bool) -> None:
    """If one read alone documents 429, its recipe is active; other recipes stay comments."""
    one = {"200": {"description": "one"}}
    limit = {"429": {"description": "too often"}}
    paths: dict[str, Any] = {
        path: {
            method.lower(): {"responses": one | (limit if f"{method} {path}" in limited else {})}
            for method in methods.split()
        }
        for path, methods in (("/reports", "GET"), ("/things", "GET POST"), ("/things/{id}", "GET"))
    }
    text = drafted(paths, taxonomy=LIMITED)
    recipes = yaml.safe_load(text).get("provoke")
    assert ("# limited: {" in text) == (not active)
    assert "  # slow: " in text
    if active:
        repeat = {"until": 429, "at_most": 60}
        assert recipes == {"limited": {"request": "GET /reports", "repeat": repeat}}
    else:
        assert recipes is None
