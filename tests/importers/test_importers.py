"""Laws of the importers: an exported document is read back, losses are reported, no document ends
in a traceback.
"""

import copy
import functools
import gzip
import json
import signal
import subprocess
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from faultspec.cli import main
from faultspec.contract.model import build_contract
from faultspec.docs import botocore as census
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.importers import ImportedTaxonomy, NotImportable, botocore, openapi
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.lint import check
from faultspec.openapi.pointers import child, walk
from faultspec.openapi.source_map import source_map
from faultspec.openapi.text import parse, read_file, replace_surrogates
from faultspec.render import render
from faultspec.runtime.codecs import write_error_body
from faultspec.runtime.pointers import resolve
from faultspec.source.document import Lines
from faultspec.targets import openapi as target
from faultspec.targets.model import model_of
from paths import ROOT
from support.command_line import faultspec
from support.examples import examples
from support.fitting_targets import fitting_targets

#: Examples whose documents cannot say all that their taxonomies do: a list of actions that is exact
#: and the same for all errors of a code, and data of any type in JSON-RPC.
NOT_IMPORTED = ("keenbench", "lsp", "mcp")
OURS = [
    ROOT / "taxonomy.yaml",
    *sorted(
        path
        for path in ROOT.glob("examples/*/taxonomy.yaml")
        if path.parent.name not in NOT_IMPORTED
    ),
]
OTHERS = [
    # Importers read bodies of JSON only, and these have other formats.
    *sorted(
        path
        for path in (ROOT / "tests/taxonomies").glob("*.yaml")
        if path.stem not in ("formats", "lists")
    ),
    ROOT / "compiler/faultspec/cli/starter.yaml",
]
DIALECTS = pytest.mark.parametrize("dialect", ["v31", "v30"])

#: What a library of schemas says about its file, which a taxonomy does not say.
OF_THE_FILE = {"/info/version", "/info/description"}


@functools.cache
def taxonomy(path: Path) -> Taxonomy:
    """A taxonomy without mistakes."""
    loaded = load(str(path))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def exported(of: Taxonomy, dialect: str) -> Any:
    """The document of the OpenAPI target, as JSON data."""
    return json.loads(json.dumps(getattr(target.view(of, model_of(of, "taxonomy.yaml")), dialect)))


def taken_in(imported: ImportedTaxonomy) -> Taxonomy:
    """The imported taxonomy, from its YAML text and without mistakes.

    A document has no privacy section, so every detector checks its examples, where a path may be
    intended.
    """
    loaded = read(write_yaml(imported.data, "faultspec.schema.json"), "imported.yaml")
    errors = [
        each for each in check(loaded) if each.severity == "error" and each.code != "message-leaks"
    ]
    assert loaded.taxonomy is not None, loaded.diagnostics
    assert not errors
    return loaded.taxonomy


def of_failures(path: Path) -> Taxonomy:
    """A taxonomy without its idempotency key: a part of requests, of which nothing is imported."""
    return taxonomy(path)._replace(idempotency=None)


def bytes_of(document: Any) -> str:
    """A document as the target writes it."""
    return json.dumps(document["components"], indent=2, ensure_ascii=False)


@DIALECTS
@pytest.mark.parametrize("path", OURS, ids=lambda path: path.parent.name)
def test_what_was_exported_comes_back_to_the_byte(path: Path, dialect: str) -> None:
    """Law 4: export(import(export(t))) = export(t), and nothing of the components is reported as
    lost.
    """
    document = exported(of_failures(path), dialect)
    imported = openapi.read(document)
    again = exported(taken_in(imported), dialect)
    assert again["info"]["title"] == document["info"]["title"]
    assert bytes_of(again) == bytes_of(document)
    assert {each.kind for each in imported.losses} <= {
        "version",
        "description",
        "transport",
        "condition",
    }


@DIALECTS
@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_what_was_exported_comes_back(path: Path, dialect: str) -> None:
    """Law 4 for taxonomies that use every construct; the order of members may differ."""
    document = exported(of_failures(path), dialect)
    assert (
        exported(taken_in(openapi.read(document)), dialect)["components"] == document["components"]
    )


# Taxonomies made by hypothesis

names = st.sampled_from(
    ["not_found", "RATE_LIMITED", "conflict", "Timeout", "e404", "bad_input", "gone"]
)
schemas = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "format": "uuid7"},
            {"type": "string", "format": ["ulid", "uri"], "description": "Which one."},
            {"type": "string", "format": "token", "pattern": "^a"},
            {"type": ["integer", "null"], "minimum": 0},
            {"type": "string", "enum": ["a", "b"]},
            {"type": "boolean"},
            {"type": "number", "minimum": 1, "maximum": 2.5},
            {"type": "string", "minLength": 1, "maxLength": 3},
            {},
        ]
    ),
    lambda inner: st.one_of(
        inner.map(lambda each: {"type": "array", "items": each}),
        st.dictionaries(st.sampled_from(["x", "y?", "z_1"]), inner, min_size=1, max_size=2).map(
            lambda each: {"type": "object", "properties": each, "additional": "forbid"}
        ),
    ),
    max_leaves=3,
)
#: Flags by facts that bodies of some envelopes show.
CONDITIONAL: tuple[dict[str, Any], ...] = (
    {"when": [{"if": {"status": 503}, "then": True}], "else": False},
    {"when": [{"if": {"status": [429, "5xx"]}, "then": False}], "else": True},
    {"when": [{"if": {"details.hint": "a"}, "then": True}], "else": False},
    {"when": [{"if": {"operation.idempotent": False}, "then": False}], "else": True},
)
codes = st.fixed_dictionaries(
    {"summary": st.sampled_from(["It failed.", "“Nothing” is there: 100 %.", "a\tb"])},
    optional={
        "http": st.sampled_from([404, [503, 502], "502-504", [429, 500], "4xx"]),
        "retriable": st.sampled_from([True, False, "caller", "none", *CONDITIONAL]),
        "boundary": st.sampled_from(["gateway", ["service", "gateway"]]),
        "domain": st.sampled_from(["request", "runtime"]),
        "details": st.dictionaries(
            st.sampled_from(["field?", "limit", "hint?", "self"]), schemas, max_size=3
        ),
        "wire": st.integers(1, 9),
        "lifecycle": st.sampled_from(["stable", "deprecated", "reserved"]),
        "message": st.just("It failed"),
    },
)
shapes = st.sampled_from(
    [
        {"code": "$code", "message": "$message", "details?": "$details"},
        {
            "error": {
                "class": "$code",
                "boundary": "$boundary",
                "retriable": "$retriable",
                "details?": "$details",
            }
        },
        {
            "errors": [{"code": "$code", "title": "$summary", "domain": "$domain"}],
            "trace?": "$request_id",
        },
        {"error": "$code", "...": "$details"},
        {
            "jsonrpc": "2.0",
            "id": "$request_id",
            "error": {"code": -32000, "message": "$message", "data": {"why": "$code"}},
        },
        {"code": "$code", "retryable?": "$retriable", "text": "$message", "status": "$status"},
        {"type": "https://example.com/${code}", "code": "$code", "details": "$details"},
        {"code": "$code", "status": "$status", "text": "$message"},
    ]
)


@st.composite
def taxonomies(draw: st.DrawFn) -> dict[str, Any]:
    """Taxonomies as data, some of them invalid."""
    found = draw(st.dictionaries(names, codes, min_size=1, max_size=4))
    for code in found.values():
        if "http" not in code:
            code |= {"http": None, "http_reason": "Not over HTTP."}
    if sum(each.get("lifecycle") != "reserved" for each in found.values()) < 2:
        # One number alone looks like any other number of the body.
        for code in found.values():
            code.pop("wire", None)
    picture = draw(shapes)
    return {
        "faultspec": 1,
        "taxonomy": {"name": "made", "version": "1.0.0"},
        "domains": {"request": "Theirs.", "runtime": "Ours."},
        "boundaries": {"gateway": "In front.", "service": "Behind."},
        "envelopes": {
            "error": {"shape": picture, "additional": draw(st.sampled_from(["warn", "forbid"]))},
            **(
                {"second": {"shape": {"at": "$code", "m": "$message"}}}
                if draw(st.booleans())
                else {}
            ),
        },
        "surfaces": {
            "api": {"transport": "http", "envelope": "error", "codes": "closed"},
            "rest": {"transport": "event", "envelope": "error"},
        },
        "headers": draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "Retry-After": st.sampled_from(
                        [{"on": 429}, {"on": [429, 503], "presence": "optional"}]
                    ),
                    "Cache-Control": st.just(
                        {"on": ["4xx", "5xx"], "token": "no-store", "summary": "Not kept."}
                    ),
                },
            )
        ),
        "codes": found,
    }


class Plain(yaml.SafeDumper):
    """Writes shared values twice: the language has no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        """Always."""
        return True


@DIALECTS
@given(taxonomies())
@examples(150)
def test_any_taxonomy_comes_back(dialect: str, made: dict[str, Any]) -> None:
    """Law 4 for any valid taxonomy."""
    loaded = read(yaml.dump(made, Dumper=Plain, sort_keys=False, allow_unicode=True), "made.yaml")
    if loaded.taxonomy is None or not any(each.live for each in loaded.taxonomy.codes.values()):
        return
    if any(each.severity == "error" for each in check(loaded)):
        return
    document = exported(loaded.taxonomy, dialect)
    imported = openapi.read(document)
    assert exported(taken_in(imported), dialect)["components"] == document["components"]


# Losses are reported


def changed(change: Callable[[Any], None]) -> Any:
    """The Core Platform document with a part that a taxonomy cannot express."""
    document = exported(taxonomy(ROOT / "taxonomy.yaml"), "v31")
    change(document)
    return document


LOST: list[tuple[str, Callable[[Any], None], str]] = [
    ("keyword", lambda d: d["components"]["schemas"]["NotFound"].update(minProperties=2), "/components/schemas/NotFound/minProperties"),
    ("link", lambda d: d["components"]["responses"]["Error404"].update(links={"next": {}}), "/components/responses/Error404/links"),
    ("media", lambda d: d["components"]["responses"]["Error404"]["content"].update({"text/html": {}}), "/components/responses/Error404/content/text~1html"),
    ("status", lambda d: d["components"]["responses"].update(Gone={"description": "Gone."}), "/components/responses/Gone"),
    ("outside", lambda d: d["components"]["responses"].update(Error410={"$ref": "other.json#/x"}), "/components/responses/Error410"),
    ("dangling", lambda d: d["components"]["responses"].update(Error410={"$ref": "#/nowhere"}), "/components/responses/Error410"),
    ("circle", lambda d: d["components"]["responses"].update(Error410={"$ref": "#/components/responses/Error410"}), "/components/responses/Error410"),
    ("example", lambda d: d["components"]["examples"]["NotFound"]["value"].pop("message"), "/components/examples/NotFound"),
    ("header", lambda d: d["components"]["headers"]["ETag"].update(schema={"type": "integer"}), "/components/headers/ETag/schema"),
    ("union", lambda d: d["components"]["schemas"].update(Pet={"oneOf": [{"$ref": "#/components/schemas/Error"}]}), "/components/schemas/Pet"),
    ("slot", lambda d: d["components"]["schemas"]["NotFound"]["properties"]["message"].update(title="T"), "/components/schemas/NotFound/properties/message"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "pointer"), [each[1:] for each in LOST], ids=[each[0] for each in LOST]
)
def test_the_report_names_what_was_lost(change: Callable[[Any], None], pointer: str) -> None:
    """A statement that a taxonomy cannot express is reported with its place, and the rest is
    imported.
    """
    imported = openapi.read(changed(change))
    assert pointer in {each.pointer for each in imported.losses}
    kept = exported(taken_in(imported), "v31")["components"]["schemas"]
    whole = exported(taxonomy(ROOT / "taxonomy.yaml"), "v31")["components"]["schemas"]
    assert kept["Conflict"].keys() == whole["Conflict"].keys()


#: Losses of a document with paths, each with its place.
CART = "/paths/~1carts~1{id}/get"
IN_PATHS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "spaces": (lambda d: d["paths"].update({"/a b": {"get": {"responses": {}}}}), "/paths/~1a b"),
    "no path item": (lambda d: d["paths"].update({"/a": None}), "/paths/~1a"),
    "path item elsewhere": (lambda d: d["paths"].update({"/a": {"$ref": "other.json#/x"}}), "/paths/~1a"),
    "beside a path item": (lambda d: beside(d), "/paths/~1carts~1{id}/put"),
    "path item of none": (lambda d: d["components"].update(pathItems={"P": {}}), "/components/pathItems/P"),
    "no operation": (lambda d: d["paths"]["/carts/{id}"].update(put=None), "/paths/~1carts~1{id}/put"),
    "one name twice": (lambda d: d["paths"]["/carts/{id}"].update(put={"operationId": "readCart"}), "/paths/~1carts~1{id}/put/operationId"),
    "webhooks": (lambda d: d.update(webhooks={"sent": {}}), "/webhooks"),
    "no response": (lambda d: responses(d).update({"410": None}), f"{CART}/responses/410"),
    "a word": (lambda d: responses(d)["404"].update(summary="No."), f"{CART}/responses/404/summary"),
    "no body": (lambda d: body(d).update(schema=False), f"{CART}/responses/404/content/application~1json/schema"),
    "a list for a schema": (lambda d: body(d).update(schema=[]), f"{CART}/responses/404/content/application~1json/schema"),
    "the same in XML": (lambda d: responses(d)["404"]["content"].update({"application/xml": body(d)}), f"{CART}/responses/404/content/application~1xml"),
    "a coded one in XML": (lambda d: responses(d)["409"]["content"].update({"application/xml": body(d, "409")}), f"{CART}/responses/409/content/application~1xml"),
    "nullable in 3.1": (lambda d: error(d)["message"].update(nullable=True), "/components/schemas/Error/properties/message/nullable"),
    "a null code": (lambda d: error(d)["code"].update(type=["string", "null"]), "/components/schemas/Error/properties/code/type"),
    "a null body": (lambda d: d["components"]["schemas"]["Error"].update(type=["object", "null"]), "/components/schemas/Error/type"),
    "never": (lambda d: error(d).update(never=False), "/components/schemas/Error/properties/never"),
    "what is XML": (lambda d: error(d)["message"].update(xml={"name": "m"}), "/components/schemas/Error/properties/message/xml"),
    "no example": (lambda d: body(d).update(examples={"a": None}), f"{CART}/responses/404/content/application~1json/examples/a"),
    "an example of nothing": (lambda d: body(d, "409").update(example={"code": "other"}), f"{CART}/responses/409/content/application~1json/example"),
    "an example that breaks": (lambda d: body(d, "409").update(example={"code": "gone", "message": 12}), f"{CART}/responses/409/content/application~1json/example"),
    "an example that has more": (lambda d: body(d, "409").update(example={"code": "gone", "more": 1}), f"{CART}/responses/409/content/application~1json/example/more"),
    "prose": (lambda d: responses(d)["409"].update(description="Held."), f"{CART}/responses/409/description"),
    "a header of default": (lambda d: responses(d).update(default={**responses(d)["409"], "headers": {"A": {}}}), f"{CART}/responses/default/headers/A"),
    "a word of a header": (lambda d: responses(d)["409"].update(headers={"A": {"style": "simple"}}), f"{CART}/responses/409/headers/A/style"),
}  # fmt: skip


def beside(of: Any) -> None:
    """Replace the one path item by a reference, with an operation beside it."""
    of["components"]["pathItems"] = {"P": of["paths"]["/carts/{id}"]}
    of["paths"]["/carts/{id}"] = {"$ref": "#/components/pathItems/P", "put": {}}


def responses(of: Any) -> Any:
    """The responses of the one operation."""
    return of["paths"]["/carts/{id}"]["get"]["responses"]


def body(of: Any, status: str = "404") -> Any:
    """The media type object of one response."""
    return responses(of)[status]["content"]["application/json"]


def error(of: Any) -> Any:
    """The members of the error that names its code."""
    return of["components"]["schemas"]["Error"]["properties"]


def with_paths() -> Any:
    """A document with a failure that names its code, and one that does not."""
    coded = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    made = document(
        **{
            "404": {"description": "No.", "content": ANY},
            "409": {"description": "The code gone.", "content": coded},
        }
    )
    made["components"]["schemas"]["Error"]["description"] = "Gone."
    return copy.deepcopy(made)


@pytest.mark.parametrize("what", IN_PATHS)
def test_the_report_names_what_was_lost_of_paths(what: str) -> None:
    """Whatever a document with paths says of failures is carried or reported with an existing
    place; nothing else is reported.
    """
    change, pointer = IN_PATHS[what]
    whole = with_paths()
    before = {each.pointer for each in drop_invalid(openapi.read(whole)).losses}
    change(whole)
    imported = drop_invalid(openapi.read(whole))
    taken_in(imported)
    assert pointer in {each.pointer for each in imported.losses}
    assert (pointer in before) == (what == "prose")
    assert all(resolve(whole, each.pointer)[0] for each in imported.losses)


def test_nullable_of_old_documents_is_a_type_or_lost() -> None:
    """`nullable` of 3.0 becomes a type; without a type beside it, it is reported as lost."""
    whole = with_paths() | {"openapi": "3.0.3"}
    error(whole)["message"]["nullable"] = True
    error(whole)["other"] = {"nullable": True}
    imported = openapi.read(whole)
    assert imported.data["envelopes"]["error"]["fields"]["message_value"] == {
        "type": ["string", "null"]
    }
    places = {each.pointer for each in imported.losses if each.kind == "schema"}
    assert places == {"/components/schemas/Error/properties/other/nullable"}


def test_an_expression_that_takes_very_long_is_left_out() -> None:
    """The taxonomy has no expression that nobody may run; its place is reported as lost."""
    whole = with_paths()
    error(whole)["slow"] = {"type": "string", "pattern": "^(a+)+$"}
    error(whole)["fast"] = {"type": "string", "pattern": "^a+$"}
    imported = openapi.read(whole)
    taken_in(imported)
    assert "^a+$" in str(imported.data)
    assert "(a+)+" not in str(imported.data)
    places = {each.pointer for each in imported.losses if each.kind == "pattern"}
    assert places == {"/components/schemas/Error/properties/slow/pattern"}


def test_one_bad_example_takes_no_other_with_it() -> None:
    """Of several examples of a code only the invalid ones are lost."""
    whole = with_paths()
    body(whole, "409")["examples"] = {
        "one": {"value": {"code": "gone", "message": 12}},
        "two": {"value": {"code": "gone", "message": "It went"}},
    }
    imported = drop_invalid(openapi.read(whole))
    assert imported.data["codes"]["gone"]["example"] == {"message": "It went"}
    assert [each.pointer for each in imported.losses if each.kind == "example"] == [
        f"{CART}/responses/409/content/application~1json/examples/one"
    ]


def test_an_extension_is_never_read() -> None:
    """An `x-` extension anywhere changes nothing."""
    document = exported(taxonomy(ROOT / "taxonomy.yaml"), "v31")
    planted = copy.deepcopy(document)
    planted["x-taxonomy"] = {"codes": ["other"]}
    planted["components"]["schemas"]["NotFound"]["x-code"] = "other"
    planted["components"]["schemas"]["NotFound"]["properties"]["message"]["x-wire"] = 1
    assert openapi.read(planted).data == openapi.read(document).data


# Documents with paths


def document(**responses: Any) -> dict[str, Any]:
    """A document with one operation."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "2.1.0"},
        "paths": {"/carts/{id}": {"get": {"operationId": "readCart", "responses": responses}}},
        "components": {
            "schemas": {
                "Error": {
                    "type": "object",
                    "properties": {"code": {"type": "string", "enum": ["gone", "locked"]}, "message": {"type": "string"}},
                    "required": ["code"],
                },
                "Any": {"type": "object", "properties": {"text": {"type": "string"}}},
            },
            "responses": {"Missing": {"description": "No such cart.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Any"}}}}},
        },
    }  # fmt: skip


ANY = {"application/json": {"schema": {"$ref": "#/components/schemas/Any"}}}


def codes_of(found: ImportedTaxonomy) -> Any:
    """The codes that the one operation lists."""
    taken_in(found)
    return {
        name: found.data["codes"][name] for name in found.data["operations"]["read_cart"]["codes"]
    }


def test_a_response_without_a_code_is_called_by_its_status() -> None:
    """A failure whose body names no code is a shared code of its status or its shared response, in
    an envelope of its shape; a redirect is reported.
    """
    found = openapi.read(
        document(
            **{
                "200": {"description": "OK"},
                "302": {"description": "Moved."},
                "404": {"$ref": "#/components/responses/Missing"},
                "410": {"description": "It went.", "content": ANY},
            }
        )
    )
    assert {name: (code["http"], code["summary"]) for name, code in codes_of(found).items()} == {
        "missing": (404, "No such cart."),
        "gone": (410, "It went."),
    }
    assert found.data["envelopes"] == {
        "any": {
            "shape": {"text?": "$message"},
            "fields": {"code": {"places": ["status"]}},
        }
    }
    assert [(each.pointer, each.kind) for each in found.losses] == [
        ("/paths/~1carts~1{id}/get/responses/302", "redirect"),
    ]


def test_classes_and_default_are_codes_too() -> None:
    """`4XX` is one code for the class; `default` is one for all other errors, and reported."""
    found = openapi.read(
        document(
            **{"4XX": {"description": "Yours.", "content": ANY}, "default": {"description": "Any."}}
        )
    )
    codes = codes_of(found)
    assert (codes["client_error"]["http"], codes["error"]["http"]) == ("4xx", ["4xx", "5xx"])
    assert "default" in {each.kind for each in found.losses}


def test_a_body_that_is_not_json_is_reported() -> None:
    """The status and the headers are kept; the body is reported as lost, and may be anything."""
    response = {
        "description": "Wait.",
        "content": {"text/html": {}},
        "headers": {"Retry-After": {"required": True}, "WWW-Authenticate": {}},
    }
    found = openapi.read(document(**{"429": response}))
    code = codes_of(found)["too_many_requests"]
    assert code["headers"] == {"Retry-After": "required", "WWW-Authenticate": "optional"}
    assert found.data["surfaces"]["api"]["reason"]
    assert [each.kind for each in found.losses] == ["media-type"]


def test_a_schema_that_names_its_codes_is_believed() -> None:
    """Each value in the list of the code member is a code; the operation names them."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    found = openapi.read(
        document(
            **{"409": {"description": "No.", "content": content}, "404": {"description": "None."}}
        )
    )
    known = taken_in(found)
    assert {name: str(code.http.statuses[0]) for name, code in known.codes.items()} == {
        "gone": "409",
        "locked": "409",
        "not_found": "404",
    }
    assert known.operations["read_cart"].codes == ("gone", "locked", "not_found")
    assert known.envelopes["error"].media_types == ("application/problem+json",)


@pytest.mark.parametrize(
    "media", ["*/*", "application/*", "application/*; q=0.5", "APPLICATION/*+JSON"]
)
def test_a_range_of_media_types_that_includes_json_is_read_as_json(media: str) -> None:
    """A range that includes JSON is read as JSON, and its other media types are reported as
    lost.
    """
    schema = {"schema": {"$ref": "#/components/schemas/Error"}}
    found = openapi.read(document(**{"409": {"description": "No.", "content": {media: schema}}}))
    known = taken_in(found)
    assert list(known.codes) == ["gone", "locked"]
    assert known.envelopes["error"].media_types == ("application/json",)
    assert [each.kind for each in found.losses] == ["media-type"]
    content = {media: schema, "application/problem+json": schema}
    exact = taken_in(openapi.read(document(**{"409": {"description": "No.", "content": content}})))
    assert exact.envelopes["error"].media_types == ("application/problem+json",)


def test_a_range_of_media_types_without_json_is_not_read() -> None:
    """A body of a range without JSON is not read."""
    content = {"text/*": {"schema": {"$ref": "#/components/schemas/Error"}}}
    found = openapi.read(document(**{"409": {"description": "No.", "content": content}}))
    assert [(name, code["http"]) for name, code in codes_of(found).items()] == [("conflict", 409)]
    assert list(found.data["envelopes"]) == ["undescribed"]


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("inline", [False, True])
def test_an_alternative_that_names_codes_is_read_whatever_stands_beside_it(
    word: str, turned: bool, inline: bool
) -> None:
    """The alternatives of a body that name codes are these codes; the others are the code of the
    status, each an envelope.
    """
    made = document()
    plain = {"type": "object", "properties": {"title": {"type": "string"}}}
    made["components"]["schemas"] |= {"Problem": plain}
    named = (
        made["components"]["schemas"]["Error"] if inline else {"$ref": "#/components/schemas/Error"}
    )
    listed = [named, {"$ref": "#/components/schemas/Problem"}, {"type": "string"}]
    listed = listed[::-1] if turned else listed
    content = {"application/json": {"schema": {word: listed}}}
    made["paths"]["/carts/{id}"]["get"]["responses"] = {
        "409": {"description": "No.", "content": content}
    }
    found = openapi.read(made)
    known = taken_in(found)
    assert {name: str(code.http.statuses[0]) for name, code in known.codes.items()} == {
        "gone": "409",
        "locked": "409",
        "conflict": "409",
    }
    assert known.operations["read_cart"].codes == ("gone", "locked", "conflict")
    shapes = [found.data["envelopes"][name]["shape"] for name in known.codes["conflict"].envelopes]
    assert shapes == (["$message", {"title?": "$message"}])[:: 1 if turned else -1]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            '{"openapi": "3.1.0", "a":\n  {"NaN": "NaN", "x": NaN}}',
            (2, 23),
            "NaN is not a number of JSON",
        ),
        ('{"a": "Infinity",\n "b": [1, -Infinity]}', (2, 11), "-Infinity is not a number of JSON"),
        ('{"a": {"400": 1,\n "400": 2}}', (2, 2), "400"),
    ],
)
def test_mistakes_of_json_have_a_place(text: str, place: tuple[int, int], message: str) -> None:
    """NaN, Infinity and a repeated member are mistakes with line and column."""
    data, found = parse(text, "x.json")
    assert data is None
    assert [(each.span.line, each.span.column) for each in found if each.span] == [place]
    assert message in found[0].message


SUGGESTING = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
actions: {again: {summary: Send it again., sends_again: true}, wait: Wait.}
envelopes: {error: {shape: {error: {code: $code, retry: $retriable, next: $actions}}}}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, actions: [again]}
  full: {summary: There is no room., http: 507, retriable: false, actions: [wait]}
  slow: {summary: It takes long., http: 504, retriable: caller, actions: [again, wait]}
"""


def test_actions_that_send_again_come_back() -> None:
    """Suggested actions come back, with those that send again; a condition of another kind is
    reported as lost.
    """
    loaded = read(SUGGESTING, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    written_out = exported(loaded.taxonomy, "v31")
    found = openapi.read(written_out)
    assert {each: term.sends_again for each, term in taken_in(found).actions.items()} == {
        "again": True,
        "wait": False,
    }
    assert not [each for each in found.losses if each.kind == "condition"]
    assert bytes_of(exported(taken_in(found), "v31")) == bytes_of(written_out)
    for name, schema in written_out["components"]["schemas"].items():
        for each in schema.get("allOf", ()) if name in ("Busy", "Slow") else ():
            each["if"]["properties"]["error"]["properties"]["retry"] = {"const": "yes"}
    other = openapi.read(written_out)
    assert not any(each.sends_again for each in taken_in(other).actions.values())
    assert {each.kind for each in other.losses} >= {"condition"}


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ({"swagger": "1.2", "paths": {}}, "swagger"),
        ({"swagger": "2.0", "paths": {}}, "no-failures"),
        ({"asyncapi": "3.0.0"}, "not-openapi"),
        ({"openapi": "4.0.0", "paths": {}}, "not-openapi"),
        ({"openapi": 3.1, "paths": {}}, "not-openapi"),
        ([], "not-openapi"),
        ({"openapi": "3.1.0", "paths": {}}, "no-failures"),
        ({"openapi": "3.0.0", "paths": []}, "no-failures"),
    ],
)
def test_other_documents_are_refused(made: object, code: str) -> None:
    """A document that is not OpenAPI 3 or Swagger 2.0, or has no failure, is refused with a
    code.
    """
    with pytest.raises(NotImportable) as caught:
        openapi.read(made)
    assert caught.value.code == code


MUTABLE = [
    exported(taxonomy(ROOT / "tests/taxonomies/registry.yaml"), "v31"),
    exported(taxonomy(ROOT / "tests/taxonomies/theodosia.yaml"), "v30"),
    document(
        **{
            "404": {"$ref": "#/components/responses/Missing"},
            "409": {"description": "x", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "example": {"code": "gone"}}}},
            "default": {"description": "y", "headers": {"Retry-After": {"schema": {"type": "integer"}}}, "content": ANY},
        }
    ),
    read_file(str(ROOT / "tests/fixtures/documents/petstore-2.0.yaml")),
    {
        "swagger": "2.0",
        "produces": ["application/json"],
        "paths": {"/a": {"get": {"responses": {"404": {"$ref": "#/responses/Missing"}, "409": {"schema": {"$ref": "#/definitions/Error"}, "examples": {"application/json": {"code": "gone"}}}}, "produces": ["application/json", "text/html"]}}},
        "responses": {"Missing": {"schema": {"$ref": "#/definitions/Error"}, "headers": {"Retry-After": {"type": "integer"}}}},
        "definitions": {"Error": {"type": "object", "required": ["code"], "properties": {"code": {"type": "string", "enum": ["gone"], "x-nullable": True}}}},
    },
]  # fmt: skip
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.sampled_from(
        ["#/components/schemas/Error", "$code", "x?", "...", "4xx", "a: b", "\ud800", "{", "- x"]
    ),
    st.just({"$ref": "#"}),
    st.just({"$ref": "#/components/schemas/Error"}),
    st.lists(st.sampled_from(["a", 1, None]), max_size=2),
    st.dictionaries(st.text(max_size=3), st.sampled_from(["a", {}, [], 404, None]), max_size=2),
)


@pytest.mark.full
@given(st.sampled_from(MUTABLE), st.data())
@examples(250)
def test_a_broken_document_is_imported_or_refused(good: Any, data: st.DataObject) -> None:
    """Any change of a document is imported as a valid taxonomy or refused with a reason."""
    broken = copy.deepcopy(good)
    for _ in range(data.draw(st.integers(1, 3))):
        place = broken
        for _ in range(data.draw(st.integers(1, 9))):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if (
                isinstance(place[key], dict | list)
                and place[key]
                and data.draw(st.booleans() | st.just(True))
            ):
                place = place[key]
            else:
                place[key] = copy.deepcopy(data.draw(JUNK))
                break
        else:
            if isinstance(place, dict):
                place[
                    data.draw(
                        st.text(max_size=4)
                        | st.sampled_from(["oneOf", "enum", "const", "allOf", "required"])
                    )
                ] = copy.deepcopy(data.draw(JUNK))
    try:
        found = drop_invalid(openapi.read(broken))
    except NotImportable as problem:
        found, refused = None, problem.message
    assert found is not None or "the imported taxonomy would be invalid" not in refused, refused
    if found is not None:
        taken_in(found)


# botocore

data = pytest.importorskip("botocore", reason="botocore is not installed").__path__[0] + "/data"
MODELS = dict(census.models(data))
#: Three of each protocol, large and small, and services with peculiarities.
SAMPLED = [
    "dynamodb", "kinesis", "organizations",  # json
    "lambda", "apigateway", "iot", "glacier",  # rest-json
    "s3", "cloudfront", "route53",  # rest-xml
    "sts", "iam", "elb",  # query
    "sqs", "cloudwatch", "arc-region-switch",  # smithy-rpc-v2-cbor, with json or query beside it
]  # fmt: skip


def model(service: str) -> Any:
    """The model of a service."""
    path = MODELS[service]
    return json.loads(gzip.open(path).read() if path.endswith(".gz") else Path(path).read_bytes())


@pytest.mark.parametrize("service", SAMPLED)
def test_a_service_model_becomes_a_sound_taxonomy(service: str) -> None:
    """Every error shape is a code with its wire name and status, every operation names its codes,
    and the result compiles.
    """
    found = model(service)
    known = taken_in(botocore.read(found, service))
    shapes = {name: each for name, each in found["shapes"].items() if each.get("exception")}
    wires = {each.get("error", {}).get("code", name) for name, each in shapes.items()}
    assert {code.wire for code in known.codes.values()} == wires
    for name, each in shapes.items():
        code = next(
            c for c in known.codes.values() if c.wire == each.get("error", {}).get("code", name)
        )
        if "error" in each and each["error"].get("code", name) not in ("ResourceNotFound",):
            assert code.http.allows(each["error"].get("httpStatusCode", code.http.default))
        if each.get("retryable") is not None:
            assert code.retryable
    for key, operation in found["operations"].items():
        if operation.get("errors"):
            mine = next(o for o in known.operations.values() if o.wire == key)
            assert len(mine.codes or ()) == len(
                {
                    found["shapes"][e["shape"]].get("error", {}).get("code", e["shape"])
                    for e in operation["errors"]
                }
            )
    assert render(known, fitting_targets(known), "imported.yaml")


@pytest.mark.parametrize("service", ["dynamodb", "lambda", "cloudwatch"])
@pytest.mark.parametrize("namespace", ["", "com.amazonaws.sample#"])
def test_a_code_of_a_json_protocol_may_have_a_namespace(service: str, namespace: str) -> None:
    """The judge reads the code as botocore does: bare, and behind the namespace of the service."""
    known = taken_in(botocore.read(model(service), service))
    code = next(
        each for each in known.codes.values() if each.http.statuses and each.http.default < 500
    )
    media_type = known.envelopes["error"].media_types[0]
    content = write_error_body(media_type, {"__type": f"{namespace}{code.wire}"})
    answer = Response(code.http.default, (("Content-Type", media_type),), content)
    found = judge(build_contract(known), Exchange(Request("POST", "/", ()), answer, "http"))
    assert found.code == code.name
    assert "code/declared" not in {each.clause for each in found.findings}


#: Of a service, headers and body of an error, and the wire value that botocore reads there.
PLACES: list[tuple[str, dict[str, str], dict[str, object], str]] = [
    ("lambda", {"x-amzn-errortype": "ResourceNotFoundException:http://internal/coral/"}, {"Message": "No"}, "ResourceNotFoundException"),
    ("lambda", {"x-amzn-ErrorType": "ResourceNotFoundException"}, {"code": "Other"}, "ResourceNotFoundException"),
    ("lambda", {}, {"code": "ResourceNotFoundException", "__type": "Other"}, "ResourceNotFoundException"),
    ("lambda", {}, {"Code": "ResourceNotFoundException", "message": "No"}, "ResourceNotFoundException"),
    ("lambda", {}, {"__type": "ResourceNotFoundException"}, "ResourceNotFoundException"),
    ("dynamodb", {}, {"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}, "ResourceNotFoundException"),
]  # fmt: skip


@pytest.mark.parametrize(("service", "headers", "content", "wire"), PLACES)
def test_a_code_is_where_the_parsers_of_botocore_read_it(
    service: str, headers: dict[str, str], content: dict[str, object], wire: str
) -> None:
    """The first place that is there has the code, for the judge and for botocore alike."""
    from botocore import parsers

    known = taken_in(botocore.read(model(service), service))
    code = next(each for each in known.codes.values() if each.wire == wire)
    sent = {**headers, "Content-Type": known.envelopes["error"].media_types[0]}
    answer = Response(code.http.default or 400, tuple(sent.items()), json.dumps(content).encode())
    found = judge(build_contract(known), Exchange(Request("POST", "/", ()), answer, "http"))
    assert found.code == code.name
    assert {each.clause for each in found.findings} <= {"details/schema", "details/required"}
    parser = parsers.create_parser(model(service)["metadata"]["protocol"])
    raw = {
        "status_code": answer.status,
        "headers": {name.lower(): value for name, value in sent.items()},
        "body": answer.body,
    }
    assert parser.parse(raw, None)["Error"]["Code"] == wire


def test_codes_of_the_query_protocol_come_from_its_header() -> None:
    """A service that once spoke `query` has the header first, if its model has codes of then."""
    cloudwatch, sqs = (
        botocore.read(model(service), service).data["envelopes"]["error"]["fields"]["code"]
        for service in ("cloudwatch", "sqs")
    )
    assert cloudwatch["places"][0]["header"] == "x-amzn-query-error"
    assert cloudwatch["places"][1:] == sqs["places"] == ["/__type"]


def test_the_shape_of_an_xml_error_is_that_of_its_service() -> None:
    """S3 has the error alone, other services may wrap it; every value of a detail is text."""
    s3 = botocore.read(model("s3"), "s3").data
    assert list(s3["envelopes"]) == ["error"]
    assert list(s3["envelopes"]["error"]["shape"]) == ["Error"]
    cloudfront = botocore.read(model("cloudfront"), "cloudfront").data
    shapes = [list(each["shape"]) for each in cloudfront["envelopes"].values()]
    assert shapes == [["ErrorResponse"], ["Error"]]
    details = [code.get("details", {}) for code in s3["codes"].values()]
    types = {str(each.get("type")) for listed in details for each in listed.values()}
    assert types <= {"string"}


def test_the_retry_facts_are_those_of_botocore() -> None:
    """The lists and numbers of the standard mode are those of the installed botocore."""
    from botocore.retries import quota, standard

    assert set(standard.TransientRetryableChecker._TRANSIENT_ERROR_CODES) == botocore.TRANSIENT
    assert (
        set(standard.TransientRetryableChecker._TRANSIENT_STATUS_CODES)
        == botocore.TRANSIENT_STATUSES
    )
    assert set(standard.ThrottledRetryableChecker._THROTTLED_ERROR_CODES) == botocore.THROTTLED
    assert botocore.POLICY["max_attempts"] == standard.DEFAULT_MAX_ATTEMPTS
    checker = standard.RetryQuotaChecker
    assert botocore.POLICY["budget"] == {
        "tokens": quota.RetryQuota.INITIAL_CAPACITY,
        "cost": checker._RETRY_COST,
        "idle_refund": checker._NO_RETRY_INCREMENT,
    }
    assert botocore.POLICY["kinds"]["throttled"]["cost"] == checker._THROTTLING_RETRY_COST


def test_throttling_is_a_kind_of_the_policy() -> None:
    """A code that botocore or the model calls throttling has the cost that the standard mode takes
    for it.
    """
    known = taken_in(botocore.read(model("dynamodb"), "dynamodb"))
    kinds = known.retry_policies["standard"].kind_of
    named = {code.wire for code in known.codes.values() if kinds.get(code.name) == "throttled"}
    assert named == botocore.THROTTLED & {code.wire for code in known.codes.values()} != set()
    marked = taken_in(botocore.read(SMALL, "small"))
    assert dict(marked.retry_policies["standard"].kind_of) == {"No": "throttled"}


def test_the_page_of_all_services_is_current() -> None:
    """Each sampled row of docs/botocore.md is the result of the service, if botocore has the
    version of the page.
    """
    page = (ROOT / "docs/botocore.md").read_text(encoding="utf-8")
    assert f"botocore {version('botocore')}:" in page, (
        "another botocore is installed than the page is about: make botocore"
    )
    for service in SAMPLED:
        assert census.line(census.row(service, MODELS[service])) in page.splitlines(), (
            "make botocore"
        )
    assert len(MODELS) == sum(each.startswith("| ") for each in page.splitlines()) - 1
    assert " 0 errors of lint" in page


@pytest.mark.full
@given(st.data())
@examples(80)
def test_a_broken_model_is_imported_or_refused(data: st.DataObject) -> None:
    """Any change of a model is imported as a valid taxonomy or refused with a reason."""
    broken: Any = copy.deepcopy(SMALL)
    for _ in range(data.draw(st.integers(1, 3))):
        place = broken
        while isinstance(place, dict | list) and place:
            key = data.draw(
                st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place))))
            )
            if isinstance(place[key], dict | list) and place[key] and data.draw(st.integers(0, 4)):
                place = place[key]
            else:
                place[key] = copy.deepcopy(data.draw(JUNK))
                break
    try:
        found = drop_invalid(botocore.read(broken, "small"))
    except NotImportable as problem:
        found, refused = None, problem.message
    assert found is not None or "the imported taxonomy would be invalid" not in refused, refused
    if found is not None:
        taken_in(found)


SMALL = {
    "metadata": {"protocol": "rest-json", "protocols": ["rest-json", "json"], "serviceFullName": "Small"},
    "operations": {"Get": {"name": "Get", "http": {"method": "GET", "requestUri": "/x/{Key+}?a"}, "errors": [{"shape": "No"}], "idempotent": True}},
    "shapes": {
        "No": {
            "type": "structure",
            "exception": True,
            "documentation": "<p>No. Not <b>at</b> all.</p>",
            "error": {"code": "NoSuch", "httpStatusCode": 404, "senderFault": True},
            "retryable": {"throttling": True},
            "required": ["why"],
            "members": {"message": {"shape": "S"}, "why": {"shape": "T"}, "after": {"shape": "S", "location": "header", "locationName": "Retry-After"}},
        },
        "S": {"type": "string", "enum": ["a", "b"], "max": 3},
        "T": {"type": "structure", "members": {"inner": {"shape": "T"}, "list": {"shape": "L"}, "at": {"shape": "D"}}},
        "L": {"type": "list", "member": {"shape": "M"}},
        "M": {"type": "map", "key": {"shape": "S"}, "value": {"shape": "S"}},
        "D": {"type": "timestamp"},
    },
}  # fmt: skip


# Texts and the command line


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        "{",
        '{"a": 1,}',
        "[" * 100_000,
        "a: &b 1",
        "\x00",
        "",
        "a:\n\t- b",
        "- x: [",
        '{"a": "\ud800"}',
    ],
)
def test_any_text_is_read_or_refused(text: str) -> None:
    """Any text gives data or a diagnostic."""
    data, found = parse(text, "x")
    assert (data is None) == bool(found)


KEYS = st.text(st.characters(exclude_characters="\ufffd"), max_size=4) | st.sampled_from(
    ["a", "/", "~1", "0", "\ud800", "\U0001f600", "\u2028"]
)
PARTS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.lists(PARTS) | st.dictionaries(KEYS, PARTS),
    st.sampled_from([None, 0, 2, "\t"]),
    st.sampled_from([(",", ":"), (" ,\r\n", " : ")]),
    st.booleans(),
)
def test_every_place_of_a_json_text_is_found(
    data: Any, indent: int | str | None, separators: tuple[str, str], ascii_only: bool
) -> None:
    """A pointer leads to its key or item in any layout of the text; one beyond the data leads to
    the last existing part.
    """
    text = json.dumps(data, indent=indent, separators=separators, ensure_ascii=ascii_only)
    places = source_map(text, "x")
    assert places is not None
    for pointer, value in walk(data):
        found = places.span(replace_surrogates(pointer))
        shown = Lines(text).text_in(found)
        above, _, name = pointer.rpartition("/")
        if not pointer or isinstance(resolve(data, above)[1], list):
            assert (
                shown == text[:1]
                if not pointer
                else shown in ("[", "{") or json.loads(shown) == value
            )
        else:
            assert child("", json.loads(shown)) == f"/{name}"
        if value in ([], {}) or not isinstance(value, list | dict):
            assert places.span(f"{replace_surrogates(pointer)}/none/at/all") == found


def test_a_place_is_the_same_in_json_and_in_the_same_text_as_yaml() -> None:
    """A document has the same lines and columns as JSON and as YAML."""
    text = json.dumps(
        document(**{"404": {"description": "None."}, "409": {"content": ANY}}), indent=2
    )
    as_json, as_yaml = source_map(text, "x"), source_map(f"# as YAML\n{text}", "x")
    assert as_json is not None
    assert as_yaml is not None
    for pointer, _ in list(walk(json.loads(text)))[1:]:
        one, other = as_json.span(pointer), as_yaml.span(pointer)
        assert (one.line + 1, one.column) == (other.line, other.column), pointer
    assert source_map("a: [", "x") is None


def test_errors_and_losses_have_lines(tmp_path: Path) -> None:
    """Errors and losses have line and column, in JSON and YAML; in a packed model, which editors do
    not show, they have a pointer.
    """
    (tmp_path / "empty.json").write_text('{"openapi": "3.1.0",\n "paths": {}}')
    (tmp_path / "empty.yaml").write_text('openapi: "3.1.0"\npaths: {}\n')
    for name, place in {"empty.json": "2:2", "empty.yaml": "2:1"}.items():
        assert f"{name}:{place}: error: " in run("openapi", name, cwd=tmp_path).stderr
    made = json.dumps(
        document(**{"302": {"description": "Moved."}, "404": {"description": "None."}}), indent=1
    )
    (tmp_path / "api.json").write_text(made)
    (tmp_path / "api.yaml").write_text(f"# as YAML\n{made}")
    line = next(number for number, each in enumerate(made.splitlines(), 1) if '"302"' in each)
    for name, at in {"api.json": line, "api.yaml": line + 1}.items():
        assert (
            f"\n{name}:{at}:6: not carried [redirect]: "
            in "\n" + run("openapi", name, cwd=tmp_path).stderr
        )
        report = run("openapi", name, "--format", "json", cwd=tmp_path).stderr
        loss = json.loads(report[report.index("[") :])[0]["losses"][0]
        assert (loss["line"], loss["column"], loss["kind"]) == (at, 6, "redirect")
    model = {"metadata": {"protocol": "json"}, "operations": {}, "shapes": {}}
    (tmp_path / "service-2.json").write_text(json.dumps(model))
    (tmp_path / "service-2.json.gz").write_bytes(gzip.compress(json.dumps(model).encode()))
    column = json.dumps(model).index('"shapes"') + 1
    assert (
        f"service-2.json:1:{column}: error: the model"
        in run("botocore", "./service-2.json", cwd=tmp_path).stderr
    )
    packed = run("botocore", "./service-2.json.gz", cwd=tmp_path).stderr
    assert "service-2.json.gz: error: the model declares no errors (at /shapes)" in packed


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line in a folder."""
    return faultspec("import", *arguments, cwd=cwd)


def test_the_command_writes_once_and_reports(tmp_path: Path) -> None:
    """The taxonomy passes lint and compile, a file is overwritten with --force only, and the report
    can be JSON.
    """
    (tmp_path / "api.json").write_text(
        json.dumps(document(**{"302": {"description": "Moved."}, "404": {"description": "None."}}))
    )
    done = run("openapi", "api.json", "--out", "taxonomy.yaml", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stderr[done.stderr.index("[") :])
    assert report[0]["losses"][0]["kind"] == "redirect"
    for command in ("lint", "compile"):
        again = faultspec(command, "taxonomy.yaml", cwd=tmp_path)
        assert again.returncode == 0, again.stdout + again.stderr
    before = (tmp_path / "taxonomy.yaml").read_text()
    (tmp_path / "taxonomy.yaml").write_text("mine")
    refused = run("openapi", "api.json", "--out", "taxonomy.yaml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "file-exists" in refused.stderr
    assert (tmp_path / "taxonomy.yaml").read_text() == "mine"
    assert (
        run("openapi", "api.json", "--out", "taxonomy.yaml", "--force", cwd=tmp_path).returncode
        == 0
    )
    assert (tmp_path / "taxonomy.yaml").read_text() == before


def test_losses_of_one_reason_are_one_line(tmp_path: Path) -> None:
    """The report has one line for losses that differ in their places alone, with their number, and
    counts the kinds; the JSON has each.
    """
    moved = {"description": "Moved."}
    made = document(**{"301": moved, "302": moved, "307": moved, "404": {"description": "None."}})
    (tmp_path / "api.json").write_text(json.dumps(made))
    lines = run("openapi", "api.json", cwd=tmp_path).stderr.splitlines()
    redirects = [each for each in lines if "[redirect]" in each]
    assert len(redirects) == 1
    assert redirects[0].endswith(", and 2 more")
    assert lines[-1].endswith("3 of the document's statements are not carried: redirect 3")
    report = run("openapi", "api.json", "--format", "json", cwd=tmp_path).stderr
    assert len(json.loads(report[report.index("[") :])[0]["losses"]) == 3


def test_the_first_line_names_a_schema_beside_the_taxonomy(tmp_path: Path) -> None:
    """The line for editors is written only if the schema is beside the taxonomy."""
    (tmp_path / "api.json").write_text(json.dumps(document(**{"404": {"description": "None."}})))
    (tmp_path / "with").mkdir()
    (tmp_path / "with/faultspec.schema.json").write_text("{}")
    (tmp_path / "faultspec.schema.json").write_text("{}")
    for out, first in {
        "with/a.yaml": "# yaml-language-server: $schema=faultspec.schema.json",
        "new/a.yaml": "faultspec: 1",
    }.items():
        assert run("openapi", "api.json", "--out", out, cwd=tmp_path).returncode == 0
        text = (tmp_path / out).read_text()
        assert text.splitlines()[0] == first
        assert read(text, out).taxonomy is not None
    assert run("openapi", "api.json", cwd=tmp_path).stdout.startswith("faultspec: 1\n\n")


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    """A document that cannot be imported gives exit code 2 and a diagnostic, and writes no file."""
    (tmp_path / "swagger.json").write_text('{"swagger": "1.2"}')
    (tmp_path / "broken.yaml").write_text("a: [")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(100 * 1024**2)
    for name, code in {
        "swagger.json": "swagger",
        "broken.yaml": "yaml-syntax",
        "large.json": "file-too-large",
        "none.json": "file-not-found",
    }.items():
        done = run("openapi", name, "--out", "out.yaml", cwd=tmp_path)
        assert (done.returncode, f"[{code}]" in done.stderr) == (2, True), done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.yaml").exists()
    done = run("botocore", "dynamdb", cwd=tmp_path)
    assert (done.returncode, "Did you mean 'dynamodb'?" in done.stderr) == (2, True)
    assert run("botocore", "sts", "iam", "--out", "all", cwd=tmp_path).returncode == 0
    assert sorted(each.name for each in (tmp_path / "all").iterdir()) == ["iam.yaml", "sts.yaml"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
@pytest.mark.parametrize("kind", ["openapi", "botocore", "problems", "proto"])
def test_an_import_ends_at_its_limit(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An import that computes longer than its limit is refused, and writes no file."""

    def compute(*_: object) -> None:
        while True:
            pass

    model = tmp_path / "m.json"
    model.write_text("[]" if kind == "problems" else "{}")
    if kind == "proto":
        model = tmp_path / "m.proto"
        model.write_text('syntax = "proto3";')
    module = {"problems": "problem_types"}.get(kind, kind)
    monkeypatch.setattr(f"faultspec.importers.{module}.read", compute)
    monkeypatch.setattr("faultspec.cli.import_.LONGEST_COMPUTING", 0.2)
    with pytest.raises(SystemExit) as ended:
        main(["import", kind, str(model), "--out", str(tmp_path / "out.yaml")])
    assert ended.value.code == 2
    assert "its import takes more than 0.2 seconds [file-too-large]" in capsys.readouterr().err
    assert not (tmp_path / "out.yaml").exists()


def test_thousands_of_distinct_bodies_are_read_in_linear_time() -> None:
    """Bodies are found by the name of their schema and by their code."""

    def response(code: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"code": {"enum": [code]}}}
        return {"description": "d", "content": {"application/json": {"schema": schema}}}

    routes = {
        f"/a{number}": {
            "get": {"responses": {str(at): response(f"c{number}_{at}") for at in range(400, 420)}}
        }
        for number in range(200)
    }
    began = time.process_time()
    openapi.read({"openapi": "3.1.0", "info": {"title": "t", "version": "1.0.0"}, "paths": routes})
    assert time.process_time() - began < 12
