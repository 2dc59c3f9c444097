"""The semantic conventions, against the part of weaver's schema that they use.

``weaver`` itself is a binary that no package registry of Python or JavaScript has; ``SUBSET`` is
written after its published schema (open-telemetry/weaver, schemas/semconv.schema.json) and
stricter: no key that is not used here.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.targets.schema import live
from paths import ROOT
from targets.test_targets_laws import FLAGSHIP, NASTY, taxonomy

WATCHED = ROOT / "tests/taxonomies/watched.yaml"
PATHS = pytest.mark.parametrize("path", [FLAGSHIP, WATCHED], ids=lambda path: path.stem)

TEXT = {"type": "string", "minLength": 1}
STABILITY = {"enum": ["stable", "development", "alpha", "beta", "release_candidate"]}


def record(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """An object with these members and no others."""
    found = {"type": "object", "additionalProperties": False, "required": list(required)}
    return {**found, "properties": {**required, **optional}}


DEPRECATED = {
    "oneOf": [
        record({"reason": {"const": "renamed"}, "renamed_to": TEXT}),
        record({"reason": {"const": "obsoleted"}}),
    ]
}
MEMBER = record(
    {"id": TEXT, "value": {"type": ["string", "integer"]}, "brief": TEXT, "stability": STABILITY},
    deprecated=DEPRECATED,
)
MEMBERS = {"type": "array", "minItems": 1, "items": MEMBER}
TYPE = {"oneOf": [{"enum": ["string", "int", "double", "boolean"]}, record({"members": MEMBERS})]}
ATTRIBUTE = {
    **record(
        {"id": TEXT, "type": TYPE, "stability": STABILITY, "brief": TEXT},
        examples={"type": "array"},
    ),
    # weaver warns of a text without an example.
    "if": {"properties": {"type": {"const": "string"}}},
    "then": {"required": ["examples"]},
}
REFERENCE = record(
    {"ref": TEXT, "requirement_level": {"enum": ["required", "recommended", "opt_in"]}}
)
REFERENCES = {"type": "array", "minItems": 1, "items": REFERENCE}
GROUP = {"id": TEXT, "brief": TEXT}
SUBSET = record(
    {
        "groups": {
            "type": "array",
            "items": {
                "oneOf": [
                    record(
                        {
                            **GROUP,
                            "type": {"const": "attribute_group"},
                            "attributes": {
                                "type": "array",
                                "items": {"oneOf": [ATTRIBUTE, REFERENCE]},
                            },
                        }
                    ),
                    record(
                        {
                            **GROUP,
                            "type": {"const": "event"},
                            "name": TEXT,
                            "stability": STABILITY,
                            "attributes": REFERENCES,
                        }
                    ),
                    record(
                        {
                            **GROUP,
                            "type": {"const": "metric"},
                            "metric_name": TEXT,
                            "instrument": {
                                "enum": ["counter", "gauge", "histogram", "updowncounter"]
                            },
                            "unit": TEXT,
                            "stability": STABILITY,
                        },
                        attributes=REFERENCES,
                    ),
                ]
            },
        }
    }
)


def registry(known: Taxonomy) -> Any:
    """The registry, parsed."""
    return yaml.safe_load(render(known, [SHIPPED["otel"]], "taxonomy.yaml")["otel/registry.yaml"])


def attributes(known: Taxonomy) -> dict[str, Any]:
    """The definitions by name; each name is defined once."""
    found = [
        each
        for group in registry(known)["groups"]
        for each in group.get("attributes", [])
        if "id" in each
    ]
    assert len({each["id"] for each in found}) == len(found)
    return {each["id"]: each for each in found}


@PATHS
def test_the_registry_has_the_form(path: Path) -> None:
    """Every group and attribute is one that weaver's schema knows; ids are unique and every
    reference is defined.
    """
    Draft202012Validator.check_schema(SUBSET)
    Draft202012Validator(SUBSET).validate(registry(taxonomy(path)))
    groups = registry(taxonomy(path))["groups"]
    assert len({each["id"] for each in groups}) == len(groups)
    referred = {
        each["ref"] for group in groups for each in group.get("attributes", []) if "ref" in each
    }
    assert referred == set(attributes(taxonomy(path)))


@PATHS
def test_what_holds_the_code_is_closed(path: Path) -> None:
    """Its values are the wire forms of all live codes, each once, and of no other."""
    known = taxonomy(path)
    assert known.telemetry is not None
    holding = [name for name, meant in known.telemetry.means.items() if meant == "$code"]
    assert holding
    for name in holding:
        members = attributes(known)[name]["type"]["members"]
        assert [each["value"] for each in members] == list(
            dict.fromkeys(code.wire for _, code in live(known))
        )
        assert len({each["id"] for each in members}) == len(members)


def test_what_is_repeated_has_its_type() -> None:
    """A status is a number, a flag a boolean, a detail what the registry says, an enumeration of
    the log closed.
    """
    found = attributes(taxonomy(WATCHED))
    notes = {
        name: each["type"] if isinstance(each["type"], str) else "members"
        for name, each in found.items()
    }
    assert notes == {
        "error.code": "members",
        "flag": "boolean",
        "code": "members",
        "locked.by": "string",
        "level": "members",
        "http.status": "int",
    }
    assert found["locked.by"]["brief"] == "The holder of the lock."


SHOP = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
codes:
  fresh: {summary: x, http: 500, retriable: false, wire: 2}
  worn: {summary: y, http: 500, retriable: false, wire: 1, lifecycle: deprecated, since: 1.0.0, replaced_by: fresh}
  spent: {summary: z, http: 500, retriable: false, wire: 3, lifecycle: deprecated, since: 1.0.0}
telemetry:
  span: {code: the code}
  means: {code: $code}
"""


def test_a_deprecated_code_is_a_deprecated_value() -> None:
    """A replacement is named if one exists; numbers stay numbers."""
    known = read(SHOP, "taxonomy.yaml").taxonomy
    assert known is not None
    Draft202012Validator(SUBSET).validate(registry(known))
    found = {
        each["id"]: (each["value"], each.get("deprecated"))
        for each in attributes(known)["code"]["type"]["members"]
    }
    assert found == {
        "fresh": (2, None),
        "worn": (1, {"reason": "renamed", "renamed_to": "fresh"}),
        "spent": (3, {"reason": "obsoleted"}),
    }


@pytest.mark.parametrize("text", NASTY)
def test_any_text_is_quoted(text: str) -> None:
    """A summary arrives as it is, whatever quotes, signs and invisible characters it has."""
    data = yaml.safe_load(SHOP)
    data["codes"]["fresh"]["summary"] = text
    known = read(
        yaml.safe_dump(data, allow_unicode=False, width=10_000, sort_keys=False), "taxonomy.yaml"
    ).taxonomy
    assert known is not None
    assert attributes(known)["code"]["type"]["members"][0]["brief"] == text
