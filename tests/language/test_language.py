"""Laws of reading a taxonomy, over the whole grammar and over arbitrary text."""

import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faultspec.diagnostics import printers
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import LoadedTaxonomy, read
from faultspec.language.constructs import DOCUMENT
from faultspec.language.grammar import (
    Anything,
    Choice,
    DeferredKind,
    Either,
    Flag,
    Integer,
    Many,
    Named,
    Nothing,
    Number,
    Record,
    Text,
    Type,
    node_kind,
    node_kinds,
)
from faultspec.lint import check
from paths import ROOT

FLAGSHIP = (ROOT / "taxonomy.yaml").read_text(encoding="utf-8")

#: An instance of each pattern of the grammar, by its words.
SAMPLES = {
    "text": "text",
    "a name (letters, digits and underscores, not starting with a digit)": "name",
    "a name (letters, digits, `_`, `.` and `-`)": "name",
    "a detail (letters, digits and `_.@:/-`, not starting with a digit)": "resource.id",
    "a header name (RFC 9110 token)": "X-Name",
    "a JSON Pointer such as /error/details (RFC 6901)": "/a",
    "a duration such as 250ms, 2s, 5m, 24h or PT24H": "2s",
    "a status such as 429, 5xx or 502-504": "5xx",
    "a status such as 405, 4xx or 502-504": "5xx",
    "a route such as `/orders/**` or `GET /orders/{id}`": "/a",
    "an HTTP method": "GET",
    "a slot such as $correlation_id": "$code",
    "a version such as 1.0.0": "1.0.0",
    "a path such as codes or codes.*.message": "codes",
    "`before`, `during` or `after`, and a method": "before hello",
    "a number such as -32601, or a range such as -32099..-32000": "-32601",
    "a detail such as details.timeout_seconds": "details.field",
    "a slot such as $audit_id": "$code",
    "a slot such as $known_actions": "$code",
    "a slot such as $code, or details.<key>": "$code",
    "code, summary, http or details": "code",
    "text with ${status} in it, such as HTTP_${status}": "HTTP_${status}",
    "a date such as 2027-01-31": "2027-01-31",
    "a fact: status, cause, operation.idempotent, caller.authenticated or details.<key>": "cause",
}

WRONG: dict[str, Any] = {
    "null": None,
    "list": [],
    "mapping": {},
    "string": "x",
    "boolean": True,
    "integer": 7,
}

Step = tuple[str | int, ...]


#: Values of the types without parameters.
PLAIN: dict[type, Any] = {Flag: True, Nothing: None, Anything: {"code": "$code"}}


def sample(type: Type) -> Any:
    """A small value that obeys a type."""
    value = PLAIN.get(type.__class__)
    match type:
        case Text(_, shape):
            value = SAMPLES[shape]
        case Choice(values):
            value = values[0]
        case Integer(low) | Number(low):
            value = low or 0
        case Many(item, least):
            value = [sample(item)] * least
        case Named(inner, key, _, least):
            value = {SAMPLES[key.shape]: sample(inner)} if least else {}
        case Record():
            value = required(type)
        case Either(branches):
            value = sample(branches[0])
        case DeferredKind(_, get):
            value = sample(get())
    return copy.deepcopy(value)


def required(record: Record) -> dict[str, Any]:
    """A record with its required keys only."""
    return {name: sample(key.type) for name, key in record.keys.items() if key.required}


def records(type: Type, entered: tuple[str, ...] = ()) -> Iterator[tuple[Record, Any, Step]]:
    """Every record in a type, with a document that contains it and its path; each record once."""
    match type:
        case Record(name, keys) if name not in entered:
            yield type, required(type), ()
            for key_name, key in keys.items():
                for record, value, path in records(key.type, (*entered, name)):
                    yield record, {**required(type), key_name: value}, (key_name, *path)
        case Either(branches):
            for branch in branches:
                yield from records(branch, entered)
        case Many(item):
            for record, value, path in records(item, entered):
                yield record, [value], (0, *path)
        case Named(inner, key):
            for record, value, path in records(inner, entered):
                yield record, {SAMPLES[key.shape]: value}, (SAMPLES[key.shape], *path)
        case DeferredKind(_, get):
            yield from records(get(), entered)


PLACES = list(records(DOCUMENT))
KEYS = [(record, name, value, path) for record, value, path in PLACES for name in record.keys]


def at(value: Any, path: Step) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


def reported(data: Any) -> tuple[str, tuple[Diagnostic, ...]]:
    """The diagnostics of data, written as YAML, and the text."""
    text = json.dumps(data, indent=1)
    return text, read(text, "t.yaml").diagnostics


def pointed_at(text: str, diagnostic: Diagnostic) -> str:
    """The text under the caret."""
    assert diagnostic.span is not None
    line = text.splitlines()[diagnostic.span.line - 1]
    return line[diagnostic.span.column - 1 :]


def test_the_samples_obey_the_grammar() -> None:
    """The samples are valid, so that each law below has one mistake only."""
    assert len(PLACES) > 100
    for _, data, _ in PLACES:
        assert [
            each
            for each in reported(data)[1]
            if each.code in ("wrong-type", "bad-value", "missing-key")
        ] == []


@pytest.mark.parametrize("index", range(0, len(KEYS), 40))
def test_a_value_of_the_wrong_kind_is_found_where_it_stands(index: int) -> None:
    """For every key of every construct, a value of the wrong kind has a diagnostic at its place."""
    for record, name, value, path in KEYS[index : index + 40]:
        allowed = node_kinds(record.keys[name].type)
        wrong = next((each for kind, each in WRONG.items() if kind not in allowed), None)
        if wrong is None and "null" in allowed:
            continue  # it takes anything
        data = copy.deepcopy(value)
        at(data, path)[name] = wrong
        text, found = reported(data)
        mine = [
            each for each in found if each.code == "wrong-type" and each.pointer == (*path, name)
        ]
        assert len(mine) == 1, (path, name, found)
        assert pointed_at(text, mine[0]).startswith(json.dumps(wrong)), (path, name)
        assert f"`{name}`" in mine[0].message


def test_an_unknown_key_is_found_in_every_construct() -> None:
    """In every construct, an unknown key has a diagnostic that names the nearest known one."""
    for record, value, path in PLACES:
        data = copy.deepcopy(value)
        longest = max(record.keys, key=len)
        misspelled = longest + "x"
        at(data, path).pop(longest, None)
        at(data, path)[misspelled] = 1
        text, found = reported(data)
        mine = [
            each
            for each in found
            if each.code == "unknown-key" and each.pointer == (*path, misspelled)
        ]
        assert len(mine) == 1, (path, found)
        assert pointed_at(text, mine[0]).startswith(json.dumps(misspelled))
        assert mine[0].hint == f"did you mean `{longest}`?"


def test_a_missing_key_is_found_in_every_construct() -> None:
    """In every construct, a missing required key has a diagnostic that explains the key."""
    for record, value, path in PLACES:
        for name, key in record.keys.items():
            if key.required:
                data = copy.deepcopy(value)
                del at(data, path)[name]
                mine = [
                    each
                    for each in reported(data)[1]
                    if each.code == "missing-key" and each.pointer == path
                ]
                assert any(each.hint == f"add `{name}:`. {key.doc}" for each in mine), (path, name)


def test_one_mistake_hides_no_other_and_causes_none() -> None:
    """A typo and a dangling name are reported in one run, without consequences of either."""
    text = FLAGSHIP.replace(
        "    retriable: true\n    retry: serializable",
        "    retriabel: true\n    retry: serialisable",
    )
    text = text.replace("domains:\n", "domain:\n", 1)
    found = [(each.code, each.pointer) for each in read(text, "t.yaml").diagnostics]
    assert found == [
        ("unknown-key", ("domain",)),
        ("unknown-key", ("codes", "serialization_failure", "retriabel")),
        ("dangling-reference", ("codes", "serialization_failure", "retry")),
    ]


@pytest.mark.parametrize(
    ("pattern", "slow"),
    [
        ("(a+)+", True),
        ("(?:a*)*b", True),
        (r"^(\w+\s?)*$", True),
        (r"([a-z]+){2,}", True),
        (r"(?P<n>[^/]+?)*", True),
        (r"(a?b+c?)+", True),
        (r"^(?:[a-z]+\.)+[a-z]+$", False),
        (r"(/[^/]+)*", False),
        (r"(a+){1,3}", True),
        (r"^(a+)+$(?!x)", True),
        (r"(a|aa)+$", True),
        (r"a*a*a*b", True),
        (r"a*b*c*", False),
        (r"\(a+\)+", False),
        (r"[(a+)+]", False),
        (r"(ab)+", False),
        (r"(a+)?", False),
    ],
)
def test_endless_patterns_are_found(pattern: str, slow: bool) -> None:
    """Exponential and more than cubic time is reported; a loop with a separator is not."""
    data = {"faultspec": 1, "detail_keys": {"a": {"type": "string", "pattern": pattern}}}
    assert any(each.code == "slow-pattern" for each in reported(data)[1]) == slow


def test_endless_patterns_of_imported_schemas_are_found() -> None:
    """A schema of another tool is held to the same rule, wherever in it the expression stands."""
    for schema in (
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"patternProperties": {"(a|aa)+$": {"type": "string"}}},
        {"anyOf": [{"items": {"pattern": "a*a*a*b"}}]},
    ):
        code = {"summary": "It failed.", "http": 500, "schema": schema}
        found = reported({"faultspec": 1, "codes": {"failed": code}})[1]
        assert any(each.code == "bad-schema" for each in found), schema
    code = {"summary": "It failed.", "schema": {"properties": {"pattern": {"enum": ["(a+)+"]}}}}
    found = reported({"faultspec": 1, "codes": {"failed": code}})[1]
    assert not any(each.code == "bad-schema" for each in found)


@pytest.mark.parametrize("envelope", ["5", "*none", "{shape: $codes}", "{summary: No shape.}"])
def test_a_lost_envelope_hides_no_bad_example(envelope: str) -> None:
    """If an envelope is invalid, examples are still checked against their details."""
    text = (
        "faultspec: 1\ntaxonomy: {name: shop, version: 1.0.0}\n"
        f"envelopes: {{error: {envelope}, other: {{shape: {{code: $code}}}}}}\n"
        "surfaces: {api: {transport: http, envelope: [error, other]}}\n"
        "codes: {a: {summary: A., http: 500, details: {n: {type: integer}}, example: {details: {n: x, m: 1}}}}\n"
    )
    found = [
        (each.code, each.pointer)
        for each in read(text, "t.yaml").diagnostics
        if each.pointer[:1] == ("codes",)
    ]
    assert found == [("bad-example", ("codes", "a", "example", "details", "n"))]


@pytest.mark.parametrize(
    ("declared", "effect"),
    [
        ("http: 404", "none"),
        ("http: [400, 409, 429]", "none"),
        ("http: 4xx", "unknown"),  # 408 among them
        ("http: 408", "unknown"),
        ("http: [409, 503]", "unknown"),
        ("http: 500", "unknown"),
        ("http: 207", "unknown"),
        (
            "http: [{if: {details.a: x}, status: 409}, {else: 502}], details: {a?: {type: string}}",
            "unknown",
        ),
        ("http: null, http_reason: It travels over a queue.", "unknown"),
        ("http: 500, effect: none", "none"),
        ("http: 404, effect: possible", "possible"),
    ],
)
def test_only_a_refusal_is_known_to_have_had_no_effect(declared: str, effect: str) -> None:
    """The default effect is `none` only if every status means that the request was refused."""
    text = f"""
faultspec: 1
taxonomy: {{name: t, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code, details?: $details}}}}}}
codes: {{failed: {{summary: It failed., {declared}}}}}
"""
    taxonomy = read(text, "t.yaml").taxonomy
    assert taxonomy is not None
    assert taxonomy.codes["failed"].effect == effect


def test_a_code_is_of_one_kind() -> None:
    """The codes of a policy's kinds exist, and each is of at most one kind."""
    text = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
retry_policies:
  p:
    max_attempts: 3
    kinds: {slow: {cost: 1, codes: [busy, nobody]}, fast: {cost: 2, codes: [away, busy]}}
codes: {busy: {summary: A., http: 503}, away: {summary: B., http: 503}}
"""
    found = [(each.code, each.pointer) for each in read(text, "shop.yaml").diagnostics]
    at = ("retry_policies", "p", "kinds")
    assert found == [
        ("dangling-reference", (*at, "slow", "codes", 1)),
        ("duplicate-item", (*at, "fast", "codes", 1)),
    ]


def test_a_form_of_a_code_that_is_not_there_is_a_dangling_name() -> None:
    """An operation may have a code in a form of its own, with examples, if there is the code."""
    text = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
codes: {busy: {summary: A., http: 503}}
operations:
  pay: {codes: {busi: {http: 502, example: {message: Busy}}, busy: {http: 504, example: {message: Busy}}}}
"""
    found = [(each.code, each.pointer) for each in read(text, "shop.yaml").diagnostics]
    assert found == [("dangling-reference", ("operations", "pay", "codes", "busi"))]


def test_a_hint_lists_some_of_many_names() -> None:
    """Many dangling names cost little each."""
    codes = "".join(f"  c{n}: {{summary: A., http: 503, replaced_by: zz}}\n" for n in range(80))
    text = f"""
faultspec: 1
taxonomy: {{name: shop, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code, message: $message}}}}}}
codes:
{codes}"""
    hints = {each.hint for each in read(text, "shop.yaml").diagnostics}
    assert hints == {f"declared: {', '.join(f'c{n}' for n in range(50))} and 30 more"}


def test_a_field_without_a_type_has_that_of_its_slot() -> None:
    """Places or a mark leave the type of a well-known slot as it is, but inside a string."""
    text = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes:
  error:
    shape: {code: $code, "message?": $message, "Message?": $message, status: "${status}!"}
    fields: {message: {places: [/message, /Message]}, status: {sensitive: true}}
codes: {busy: {summary: A., http: 503}}
"""
    taxonomy = read(text, "shop.yaml").taxonomy
    assert taxonomy is not None
    fields = taxonomy.envelopes["error"].fields
    assert fields["message"].schema.types == ("string",)
    assert fields["status"].schema.types == ()


@pytest.mark.parametrize(
    ("slot", "value"), [("message", 12), ("status", "late"), ("retriable", "yes")]
)
def test_a_slot_without_a_field_is_what_its_name_says(slot: str, value: object) -> None:
    """An example fits the type that targets give a slot without a field."""
    text = f"""
faultspec: 1
taxonomy: {{name: shop, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code, m: $message, s: $status, r: $retriable}}}}}}
codes: {{a: {{summary: A., http: 400, example: {{slots: {{{slot}: {value}}}}}}}}}
"""
    found = [(each.code, each.pointer) for each in read(text, "shop.yaml").diagnostics]
    assert found == [("bad-example", ("codes", "a", "example", "slots", slot))]


def test_the_flagship_reads_without_a_word() -> None:
    """The taxonomy of this repository has no diagnostics."""
    loaded = read(FLAGSHIP, "taxonomy.yaml")
    assert loaded.diagnostics == ()
    assert loaded.taxonomy is not None


# Whatever the text


def survives(text: str) -> LoadedTaxonomy:
    """Read, lint and print a text; check the places of all diagnostics."""
    loaded = read(text, "t.yaml")
    found = check(loaded)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for each in found:
        assert each.span is not None
        assert 1 <= each.span.line <= len(lines), each
        assert 1 <= each.span.column <= len(lines[each.span.line - 1]) + 1, each
    assert (loaded.taxonomy is None) == any(each.severity == "error" for each in loaded.diagnostics)
    for printer in printers.PRINTERS.values():
        assert isinstance(printer(found, {"t.yaml": text}), str)
    return loaded


RELAXED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

KEYS_OF_THE_LANGUAGE = sorted({name for record, _, _ in PLACES for name in record.keys})
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        [
            "5xx",
            "504-502",
            "599-500",
            "$code",
            "${a}",
            "$",
            "...",
            "use",
            "2s",
            "P1Y",
            "(",
            "a?",
            "none",
            "closed",
        ]
    )
    | st.sampled_from(KEYS_OF_THE_LANGUAGE),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS_OF_THE_LANGUAGE) | st.text(max_size=5), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@RELAXED
@given(st.text())
def test_no_text_gives_a_traceback(text: str) -> None:
    """Any text is read, or has diagnostics."""
    survives(text)


@RELAXED
@given(st.text(alphabet="faultspec: 1\n-{}[],\"'#&*!|>%@`?$\t0aé\u2028"))
def test_no_text_made_of_the_signs_of_yaml_gives_a_traceback(text: str) -> None:
    """Any text of YAML's special characters is read, or has diagnostics."""
    survives(text)


@RELAXED
@given(st.data())
def test_no_edit_of_lines_gives_a_traceback(data: st.DataObject) -> None:
    """Deleted, doubled, moved, cut and indented lines of the flagship are read, or have
    diagnostics.
    """
    lines = FLAGSHIP.split("\n")
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["delete", "double", "move", "cut", "indent", "replace"])):
            case "delete":
                del lines[index]
            case "double":
                lines.insert(index, lines[index])
            case "move":
                lines.insert(data.draw(st.integers(0, len(lines) - 1)), lines.pop(index))
            case "cut":
                lines[index] = lines[index][: data.draw(st.integers(0, 30))]
            case "indent":
                lines[index] = " " * data.draw(st.integers(0, 8)) + lines[index]
            case "replace":
                lines[index] = data.draw(st.text(max_size=20))
    survives("\n".join(lines))


def paths(value: Any, path: Step = ()) -> Iterator[Step]:
    """The paths of all values except the root."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, each in items:
        yield (*path, step)
        yield from paths(each, (*path, step))


WHOLE = read(FLAGSHIP, "taxonomy.yaml").document
assert WHOLE is not None
DATA = WHOLE.data
PATHS = list(paths(DATA))
#: The grammar's own samples reach what the flagship does not use, e.g. rules by condition.
SEEDS = [DATA, *(value for _, value, _ in PLACES[::7])]


@RELAXED
@given(st.data())
def test_no_value_anywhere_gives_a_traceback(data: st.DataObject) -> None:
    """With any value at any place of a taxonomy, the text is read, or has diagnostics."""
    changed = copy.deepcopy(data.draw(st.sampled_from(SEEDS)))
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(paths(changed))
        if not places:
            break
        *above, last = data.draw(st.sampled_from(places))
        parent = at(changed, tuple(above))
        match data.draw(st.sampled_from(["replace", "delete", "add"])):
            case "replace":
                parent[last] = data.draw(VALUES)
            case "delete":
                del parent[last]
            case "add" if isinstance(parent, dict):
                parent[data.draw(st.sampled_from(KEYS_OF_THE_LANGUAGE) | st.text(max_size=5))] = (
                    data.draw(VALUES)
                )
    survives(json.dumps(changed, ensure_ascii=False))


@pytest.mark.parametrize("depth", [10, 90, 99, 100, 101, 5000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("{items: ", "}")])
def test_no_depth_gives_a_traceback(depth: int, opening: str, closing: str) -> None:
    """Nesting of any depth, at any place, is read, or has diagnostics."""
    nested = opening * depth + "1" + closing * depth
    for before in (
        "",
        "detail_keys: {a: ",
        "envelopes: {a: {shape: ",
        "codes: {a: {summary: a, http: 400, schema: ",
    ):
        after = "}" * before.count("{")
        survives(before + nested + after)


def needed(type: Type, value: Any, path: Step = ()) -> Iterator[tuple[Step, Type]]:
    """The path of every required key in a document, and the key's type."""
    match type:
        case DeferredKind(_, get):
            yield from needed(get(), value, path)
        case Either(branches):
            for each in branches:
                if node_kind(value) in node_kinds(each):
                    yield from needed(each, value, path)
        case Many(item):
            for index, each in enumerate(value):
                yield from needed(item, each, (*path, index))
        case Named(inner):
            for name, each in value.items():
                yield from needed(inner, each, (*path, name))
        case Record(_, keys):
            for name, each in value.items():
                if keys[name].required:
                    yield (*path, name), keys[name].type
                yield from needed(keys[name].type, each, (*path, name))


TAXONOMIES = [
    *ROOT.glob("taxonomy.yaml"),
    *ROOT.glob("examples/*/taxonomy.yaml"),
    *ROOT.glob("tests/taxonomies/*.yaml"),
]


@pytest.mark.parametrize("file", TAXONOMIES, ids=lambda each: f"{each.parent.name}-{each.stem}")
def test_a_required_key_that_is_missing_or_bad_has_no_consequences(file: Path) -> None:
    """A missing or bad required key is the only diagnostic."""
    whole = read(file.read_text(), file.name).document
    assert whole is not None
    before = {(each.code, each.pointer) for each in check(read(json.dumps(whole.data), "t.yaml"))}
    forms = set()
    for path, type in needed(DOCUMENT, whole.data):
        form = tuple(
            "0" if isinstance(step, int) or 0 < index < 2 else step
            for index, step in enumerate(path)
        )
        wrong = next((each for name, each in WRONG.items() if name not in node_kinds(type)), None)
        if len(path) == 1 or form in forms:
            continue
        forms.add(form)
        for bad in [None] if wrong is None else [None, wrong]:
            data = copy.deepcopy(whole.data)
            if bad is None:
                del at(data, path[:-1])[path[-1]]
            else:
                at(data, path[:-1])[path[-1]] = bad
            loaded = read(json.dumps(data, indent=1), "t.yaml")
            found = [
                each
                for each in check(loaded)
                if each.severity == "error" and (each.code, each.pointer) not in before
            ]
            assert found, path
            assert all(path[: len(each.pointer)] == each.pointer for each in found), (
                path,
                bad,
                found,
            )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "surfaces: {api: {transport: htp, envelope: eror, codes: closd}}",
            ["htp", "eror", "closd"],
        ),
        ("idempotency: {key: Bad Key, window: 24h, mismatch: nope}", ["Bad Key", "nope"]),
        (
            "telemetry: {alerts: {a: {severity: P1, when: x, runbook: x, codes: [q]}}}",
            ["runbook", "`q`"],
        ),
        (
            "privacy: {conceal: [{across: nobody, answer: nope, never: [nothing]}]}",
            ["nobody", "nope", "nothing"],
        ),
        ("navigation: {offers: x, takes: /a, refused: nope}", ["`x`", "nope"]),
        ("unknown: {becomes: nope, retriable: perhaps}", ["nope", "retriable"]),
        ("fallback: {405: {code: nope}}", ["nope", "reason"]),
    ],
)
def test_a_bad_value_hides_nothing_that_stands_beside_it(text: str, expected: list[str]) -> None:
    """References in a construct are checked whatever else is wrong with it."""
    document = read(
        (ROOT / "compiler/faultspec/cli/starter.yaml").read_text(), "starter.yaml"
    ).document
    assert document is not None
    data = {**document.data, **yaml.safe_load(text)}
    found = [each.message for each in reported(data)[1] if each.severity == "error"]
    for each in expected:
        assert any(each in message for message in found), (each, found)


TWICE = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
domains: {work: Work}
boundaries: {service: The service}
envelopes: {error: {shape: {code: $code, details: $details}}}
codes:
  one: {summary: One, domain: work, boundary: service, http: 400, retriable: false, details: {a: FIRST}}
  two: {summary: Two, domain: work, boundary: service, http: 400, retriable: false, details: {b: SECOND}}
"""


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("{type: integer, minimum: 1}", "{type: integer, minimum: 1}", True),
        ("{type: integer, minimum: 1}", "{type: integer, minimum: 1.0}", False),
        ("{enum: [1]}", "{enum: [true]}", False),
        ("{enum: [1]}", "{enum: ['1']}", False),
    ],
)
def test_schemas_that_say_the_same_are_one(first: str, second: str, same: bool) -> None:
    """Equal schemas share one value; values that are equal in Python only do not."""
    taxonomy = read(TWICE.replace("FIRST", first).replace("SECOND", second), "t.yaml").taxonomy
    assert taxonomy is not None
    one, two = (
        taxonomy.codes[code].details[key].schema for code, key in (("one", "a"), ("two", "b"))
    )
    assert (one is two) is same
    assert (repr(one) == repr(two)) is same


@pytest.mark.parametrize(
    "schema", ["{type: string, minimum: 1}", "{vocabulary: nope}", "{type: integer, enum: [x]}"]
)
@pytest.mark.parametrize("lost", ["", "  three: {summary: Three, http: never}\n"])
def test_a_mistake_that_stands_twice_is_reported_twice(schema: str, lost: str) -> None:
    """A mistake in two places has two diagnostics, whatever else is wrong."""
    found = read(
        TWICE.replace("FIRST", schema).replace("SECOND", schema) + lost, "t.yaml"
    ).diagnostics
    found_details = [(each.code, each.pointer[1]) for each in found if "details" in each.pointer]
    assert {code for _, code in found_details} == {"one", "two"}
    assert len({code for code, _ in found_details}) * 2 == len(found_details)


_HEAD = (
    "faultspec: 1\ntaxonomy: {name: shop, version: 1.0.0}\n"
    "envelopes: {error: {shape: {code: $code, message: $message}}}\n"
)
_FAILED = "codes: {failed: {summary: It failed., http: 500}}\n"


def _listed(entry: str, count: int) -> str:
    return ", ".join(entry.format(number) for number in range(count))


@pytest.mark.parametrize(
    "text",
    [
        _FAILED + "\n".join(f"kodes{number}: 1" for number in range(20_000)),
        f"codes: {{{_listed('c{0}: {{summary: x, http: 400, domain: d{0}x}}', 2000)}}}\n"
        f"domains: {{{_listed('d{}: {{summary: x}}', 2000)}}}\n",
        f"codes: {{a: {{summary: x, http: 400, details: {{{_listed('d{}: {{type: strin}}', 9000)}}}}}}}\n",
    ],
    ids=["keys", "names", "words"],
)
def test_a_text_full_of_mistakes_is_read_in_bounded_time(text: str) -> None:
    """Suggestions and fixes end after a number of comparisons; each mistake is an error all the
    same.
    """
    began = time.process_time()
    loaded = read(_HEAD + text, "x.yaml")
    assert time.process_time() - began < 12
    assert len(loaded.diagnostics) >= 2000
    assert loaded.diagnostics[0].hint is not None
