"""`conformance.yaml` is read to values, and each mistake is reported with its place."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec import language, source
from faultspec.diagnostics import printers
from faultspec_conformance import config
from faultspec_conformance.results import waivers
from faultspec_conformance.sanitize.masking import build_masking
from paths import ROOT, TESTS
from support.examples import examples

ENVIRONMENT = {"TOKEN_A": "alpha-secret-1", "TOKEN_B": "beta-secret-2", "EMPTY": ""}
BASE = 'taxonomy: taxonomy.yaml\ntarget: {http: "http://127.0.0.1:8080", openapi: /openapi.json}\n'


def understood(text: str) -> config.LoadedConfig:
    """The configuration in a text."""
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    return config.parse_config(document, ENVIRONMENT)


def complaint(text: str) -> str:
    """The one thing that is wrong with a configuration."""
    loaded = understood(text)
    assert loaded.target is None
    assert len(loaded.diagnostics) == 1, loaded.diagnostics
    each = loaded.diagnostics[0]
    assert each.span is not None
    return f"{each.span.line}:{each.span.column} {each.code}: {each.message} | {each.hint}"


def good(text: str) -> config.ServiceConfig:
    """The target that a text without mistakes describes."""
    loaded = understood(text)
    assert loaded.target is not None, loaded.diagnostics
    return loaded.target


def test_everything_the_design_names_is_accepted() -> None:
    """The configuration of the design document reads as it is written there."""
    read = good(
        BASE
        + """
identities:
  alice: {tenant: a, headers: {Authorization: "Bearer ${TOKEN_A}"}}
  bob:   {tenant: b, headers: {Authorization: "Bearer ${TOKEN_B}"}, scopes: [read], forbidden: [DELETE *]}
resources:
  order:
    create: {request: POST /orders, body: {sku: "A-${unique}", quantity: 1}, id: /id, unique: [sku]}
    read: GET /orders/{id}
    update: {request: "PUT /orders/{id}", body: {quantity: 2}}
provoke:
  dependency_unavailable: {request: GET /orders, headers: {X-Fault: dependency_unavailable}}
  serialization_failure: {not_provokable: no transaction conflict can be forced from outside}
  rate_limited: {request: GET /orders, as: alice, repeat: {until: 429, at_most: 60}}
limits: {requests: 400, seconds: 120, writes: true}
waivers: waivers.yaml
"""
    )
    assert read.http == "http://127.0.0.1:8080"
    assert read.identities["alice"].headers == (("Authorization", "Bearer alpha-secret-1"),)
    assert read.identities["alice"].secrets == (("alpha-secret-1", "${TOKEN_A}"),)
    assert read.identities["bob"].scopes == ("read",)
    assert [one.text for one in read.identities["bob"].forbidden] == ["DELETE *"]
    assert read.resources["order"].unique == ("sku",)
    assert read.resources["order"].read == config.ConfiguredCall("GET", "/orders/{id}")
    assert read.limits.writes
    assert read.recipes[1].not_provokable == "no transaction conflict can be forced from outside"
    assert (read.recipes[2].steps[0].until, read.recipes[2].steps[0].at_most) == (429, 60)
    assert read.waivers == "waivers.yaml"


def test_a_service_that_is_called_by_name() -> None:
    """A process, its calls and its recipes; nothing of HTTP is in them."""
    read = good(
        """
taxonomy: taxonomy.yaml
target: {stdio: [server, "--token=${TOKEN_A}"], framing: content-length}
calls:
  hello: engine.hello
  open: {request: open, params: {name: "${unique}"}, invalid: [{}, {name: 7}], safe: true}
provoke:
  full: {steps: [{request: open, save: {id: /result/id}}, {request: fill, params: {id: "${id}"}, repeat: {at_most: 3}}]}
"""
    )
    assert (read.transport, read.stdio, read.framing) == (
        "stdio",
        ("server", "--token=alpha-secret-1"),
        "content-length",
    )
    assert read.secrets == (("alpha-secret-1", "${TOKEN_A}"),)
    hello, opened = read.samples
    assert (hello.call, hello.safe) == (config.ConfiguredCall("POST", "engine.hello"), False)
    assert [each.params for each in opened.invalid] == [{}, {"name": 7}]
    assert opened.safe
    first, second = read.recipes[0].steps
    assert (first.call.path, first.call.body) == ("open", config.ABSENT)
    assert (second.call.body, second.at_most, second.until) == ({"id": "${id}"}, 3, None)
    for name, url in (
        ("jsonrpc", "http://127.0.0.1:6800/jsonrpc?token=a"),
        ("mcp", "http://127.0.0.1:8000/mcp"),
    ):
        other = good(f'taxonomy: t.yaml\ntarget: {{{name}: "{url}"}}\n')
        assert (other.transport, other.address) == (name, url)


def test_several_recipes_and_steps() -> None:
    """A code may have several recipes, and a recipe several steps that hand values on."""
    read = good(
        BASE
        + """
provoke:
  conflict:
    - {request: GET /a}
    - steps:
        - {request: POST /orders, as: anonymous, body: {n: 1}, save: {order: /id}}
        - {request: "POST /orders/{order}/cancel"}
"""
    )
    first, second = read.recipes
    assert first.code == second.code == "conflict"
    assert [step.call.path for step in second.steps] == ["/orders", "/orders/{order}/cancel"]
    assert second.steps[0].save == {"order": config.SavedPart("/id")}
    assert second.steps[0].identity == "anonymous"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            BASE + "identites: {}\n",
            "3:1 unknown-key: the configuration has no key `identites` | did you mean `identities`?",
        ),
        (
            BASE + "limits: {requests: many}\n",
            "3:20 wrong-type: `requests` must be a whole number, not text",
        ),
        (
            BASE + "provoke: {x: {request: orders}}\n",
            "3:24 bad-value: `orders` is not a method and a path",
        ),
        (
            BASE + "provoke: {x: {request: GET /a, as: alise}}\nidentities: {alice: {tenant: a}}\n",
            "3:36 unknown-identity: `alise` is not an identity of the file | did you mean `alice`?",
        ),
        (
            BASE + 'identities: {a: {headers: {Authorization: "Bearer ${TOKEN_C}"}}}\n',
            "3:43 missing-variable: the environment has no variable TOKEN_C | set it: export TOKEN_C=…",
        ),
        (
            BASE + 'identities: {a: {headers: {Authorization: "Bearer ${EMPTY}"}}}\n',
            "3:43 empty-variable: the variable EMPTY is empty",
        ),
        (
            BASE + "provoke: {x: {steps: [{request: GET /a}], request: GET /b}}\n",
            "3:11 conflicting-keys: the recipe for `x` needs one of",
        ),
        (
            BASE + "provoke: {x: {steps: [{request: GET /a}], body: {}}}\n",
            "3:43 conflicting-keys: `body` belongs to one of the steps, not to the recipe",
        ),
        (
            BASE
            + "resources: {a: {create: {request: POST /a, body: {reference: x}, unique: [refrence]}}}\n",
            "3:74 unknown-member: the body has no member `refrence` | did you mean `reference`?",
        ),
        (
            BASE + "provoke: {x: {as: anonymous}}\n",
            "3:11 missing-key: the recipe for `x` needs one of",
        ),
        ("taxonomy: t.yaml\n", "1:1 missing-key: `target` is missing"),
        (
            'target: {stdio: [server], jsonrpc: "http://a"}\n',
            "1:27 conflicting-keys: `stdio` and `jsonrpc` exclude each other",
        ),
        ("target: {}\n", "1:1 missing-key: `target` has no address of the service"),
        ('target: {http: "ftp://x"}\n', "1:16 bad-value: `ftp://x` is not an address"),
        (
            BASE + 'identities: {anonymous: {headers: {X: "1"}}}\n',
            "3:14 bad-name: `anonymous` is the caller without headers and query",
        ),
        (
            BASE + 'identities: {a: {headers: {X: "a\\nb"}}}\n',
            "3:31 bad-value: the value of `X` has line ends or control characters",
        ),
        (
            BASE + "provoke: {x: {request: POST /a, body: {}, raw: b}}\n",
            "3:43 conflicting-keys: a request has either `body` or `raw`",
        ),
        (
            BASE + f"provoke: {{x: {{request: GET /{'a' * 70_000}}}}}\n",
            "3:24 bad-value: a path of 70001 characters is too long",
        ),
    ],
)
def test_mistakes_are_reported_with_their_place(text: str, expected: str) -> None:
    """A mistake is one diagnostic with line, column and hint."""
    assert complaint(text).startswith(expected)


def test_a_misspelt_key_brings_no_errors_after_it() -> None:
    """A misspelt `identities` is one mistake, not one for every use of an identity."""
    text = BASE + "identitties: {anna: {tenant: a}}\nprovoke: {x: {request: GET /a, as: anna}}\n"
    assert (
        "unknown-key: the configuration has no key `identitties` | did you mean `identities`?"
        in complaint(text)
    )


def test_unknown_codes_are_reported() -> None:
    """A recipe for a code that the taxonomy does not have is an error with a suggestion."""
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    loaded = understood(
        BASE + "provoke: {rate_limitted: {request: GET /a}, not_found: {request: GET /b}}\n"
    )
    assert loaded.target is not None
    assert loaded.document is not None
    found = config.check_config(loaded.target, taxonomy, loaded.document)
    assert [(each.code, each.hint) for each in found] == [
        ("unknown-code", "did you mean `rate_limited`?")
    ]


def test_slots_that_no_envelope_has_are_reported() -> None:
    """A recipe that expects a slot of no envelope is an error with its place and a suggestion."""
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    expected = "{slots: {boundary: gateway, mesage: any, message: text}}"
    recipe = f"{{request: GET /b, expect: {expected}}}"
    loaded = understood(BASE + f"provoke: {{not_found: {recipe}}}\n")
    assert loaded.target is not None
    assert loaded.document is not None
    found = config.check_config(loaded.target, taxonomy, loaded.document)
    assert [each.code for each in found] == ["unknown-slot", "unknown-slot"]
    assert "no envelope of the taxonomy platform has `$boundary`" in found[0].message
    assert found[1].hint == "did you mean `message`?"
    assert found[0].span is not None
    columns = [each.span.column for each in found if each.span is not None]
    line = loaded.document.text.splitlines()[found[0].span.line - 1]
    assert [line[column - 1 :].split(":")[0] for column in columns] == ["boundary", "mesage"]


GOLDENS = TESTS / "goldens" / "conformance"
BROKEN = sorted(GOLDENS.glob("*.yaml"))


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_configurations_are_explained(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mistake is reported with file, line, column, caret and hint, all in one run, word
    for word. To accept new wording, run with FAULTSPEC_WRITE=1 and review the diff.
    """
    monkeypatch.chdir(GOLDENS)
    loaded = config.read_config(path.name, ENVIRONMENT)
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    found = list(loaded.diagnostics)
    if loaded.draft is not None and loaded.document is not None:
        found += config.check_config(loaded.draft, taxonomy, loaded.document)
        if loaded.draft.waivers is not None:
            known = waivers.read_waivers(loaded.draft.waivers)
            found += [*known.diagnostics, *waivers.check_waivers(known, taxonomy)]
    assert any(each.severity == "error" for each in found)
    assert [each for each in found if each.span is None or not each.hint] == []
    printed = printers.text(found, loaded.sources)
    golden = path.with_suffix(".txt")
    if os.environ.get("FAULTSPEC_WRITE"):
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8")


def test_every_key_of_the_configuration_has_a_golden() -> None:
    """Every section of a configuration has a golden with its mistakes."""
    printed = "\n".join(path.read_text(encoding="utf-8") for path in BROKEN)
    for name in config.CONFIGURATION.keys:
        assert f"\n{name}:" in printed, name


@examples(200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*config.CONFIGURATION.keys, "x", "request", "http"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_data_whatever_raises(data: object) -> None:
    """Any data is read to a target or to diagnostics, without an exception."""
    import json

    document, found = source.parse(json.dumps(data), "conformance.yaml")
    if document is None:
        assert found
        return
    loaded = config.parse_config(document, {})
    assert loaded.target is not None or loaded.diagnostics


def test_what_a_recipe_says_holds_for_its_steps() -> None:
    """Identity, headers and query of a recipe hold for every step that says nothing else."""
    read = good(
        BASE
        + """
identities: {alice: {tenant: a, headers: {X-Key: a}}}
provoke:
  conflict:
    as: alice
    headers: {X-Fault: lock, X-Mode: all}
    query: {dry: true}
    steps:
      - {request: POST /orders}
      - {request: POST /orders, as: anonymous, headers: {x-mode: one}}
"""
    )
    first, second = read.recipes[0].steps
    assert (first.identity, second.identity) == ("alice", "anonymous")
    assert first.call.headers == {"X-Fault": "lock", "X-Mode": "all"}
    assert second.call.headers == {"X-Fault": "lock", "x-mode": "one"}
    assert first.call.query == second.call.query == {"dry": "true"}


def test_a_value_from_the_environment_is_a_secret_wherever_it_is_sent() -> None:
    """Values from the environment in recipes and resources are masked in reports, as those of
    identities are.
    """
    read = good(
        BASE
        + """
resources: {order: {create: {request: POST /orders, headers: {X-Shop: "shop ${TOKEN_A}"}}}}
provoke: {late: {request: GET /orders, headers: {X-Fault-Key: "${TOKEN_B}", X-Plain: plain}}}
"""
    )
    assert set(read.secrets) == {("alpha-secret-1", "${TOKEN_A}"), ("beta-secret-2", "${TOKEN_B}")}
    hidden = build_masking(read.identities.values(), read.secrets)
    assert hidden.headers(
        (("X-Shop", "shop alpha-secret-1"), ("X-Fault-Key", "beta-secret-2"))
    ) == (
        ("X-Shop", "shop ${TOKEN_A}"),
        ("X-Fault-Key", "${TOKEN_B}"),
    )


def test_values_of_the_environment_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long one in many places is reported once, where it is too much."""
    monkeypatch.setattr("faultspec_conformance.config.context._LONGEST", 20)
    text = BASE + 'provoke: {x: {request: POST /a, body: ["${TOKEN_A}", "${TOKEN_A}${TOKEN_A}"]}}\n'
    expected = "3:54 bad-value: the variables up to TOKEN_A have more than 20 characters"
    assert complaint(text).startswith(expected)


def test_commands_take_values_from_the_environment() -> None:
    """Commands of services and clients may contain `${NAME}`, and the values are masked."""
    read = good(
        """
target: {http: "http://127.0.0.1:1", command: ["${TOKEN_A}", -m, orders]}
client: {command: [call, "--key=${TOKEN_B}"], env: URL, request: GET /orders}
"""
    )
    assert read.command == ("alpha-secret-1", "-m", "orders")
    assert read.clients[0].command == ("call", "--key=beta-secret-2")
    assert set(read.secrets) == {("alpha-secret-1", "${TOKEN_A}"), ("beta-secret-2", "${TOKEN_B}")}


@pytest.mark.parametrize(
    "text",
    [
        'target: {http: "http://127.0.0.1:1", command: [serve, "a\\0b"]}',
        'target: {stdio: [serve, "a\\0b"]}',
        'target: {mcp: [serve, "a\\0b"]}',
        BASE + 'client: {command: [serve, "a\\0b"], env: URL, request: GET /orders}',
    ],
)
def test_a_command_has_words_that_a_system_takes(text: str) -> None:
    """No system starts a command with the character NUL in a word."""
    assert "bad-value: a word of a command must not contain the character NUL" in complaint(text)


def test_the_path_of_an_address_may_be_secret_and_its_host_is_not() -> None:
    """Values from the environment are masked in the path of an address, but not in its host."""
    read = good('target: {http: "http://${TOKEN_A}.test:1/base/${TOKEN_B}"}\n')
    assert set(read.secrets) == {("beta-secret-2", "${TOKEN_B}")}


def test_a_scope_belongs_to_a_limit() -> None:
    """`scope` is read with a status, and refused with a state."""
    limit = "provoke: {limited: {request: GET /a, repeat: {until: 429, scope: tenant}}}\n"
    assert good(BASE + limit).recipes[0].steps[0].scope == "tenant"
    assert "misplaced-key: `scope`" in complaint(BASE + limit.replace("429", "{/state: done}"))


def test_secrets_of_the_environment_are_known_by_their_names() -> None:
    """A process that the suite starts inherits every variable and may print it, so those whose
    names say that they are secrets are masked though no file names them.
    """
    document, _ = source.parse(BASE, "conformance.yaml")
    assert document is not None
    secret = {
        "SVC_TOKEN": "tok-9981x",
        "PGPASSWORD": "hunter2!\n",
        "AWS_SECRET_ACCESS_KEY": "a/b+c9",
    }
    others = {"PWD": "/srv/shop1", "HOME": "/home/shop1", "USE_TOKEN": "true", "EMPTY_SECRET": " "}
    read = config.parse_config(document, secret | others).target
    assert read is not None
    masked = build_masking((), read.secrets).text(
        "tok-9981x hunter2! a/b+c9 /srv/shop1 /home/shop1 true"
    )
    names = "${SVC_TOKEN} ${PGPASSWORD} ${AWS_SECRET_ACCESS_KEY}"
    assert masked == f"{names} /srv/shop1 /home/shop1 true"
