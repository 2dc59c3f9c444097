"""Documents with a value of a wrong type at one place are imported or refused."""

import json
from typing import Any

import pytest
from fuzz.mutations import Steps, mutants, replaced
from fuzz.targets import import_document
from hypothesis import given
from hypothesis import strategies as st

from paths import TESTS
from support.examples import examples

_FOLDER = TESTS / "fixtures" / "every_keyword"


def _load(name: str) -> Any:
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


#: Documents with every keyword that an importer reads, in each version and protocol.
DOCUMENTS: dict[str, Any] = {
    **{
        f"openapi {version}": {**_load("openapi"), "openapi": version}
        for version in ("3.0.3", "3.1.0")
    },
    **{
        protocol: replaced(_load("botocore"), ("metadata", "protocol"), protocol)
        for protocol in ("json", "rest-json", "query", "rest-xml")
    },
}


@given(data=st.data())
@pytest.mark.parametrize("name", DOCUMENTS)
@examples(300)
def test_a_value_of_another_type_anywhere_is_read_or_refused(
    name: str, data: st.DataObject
) -> None:
    """Wherever a document has a list, an object, null, a text, a number or a boolean in place of
    something else, it is read or refused.
    """
    _, _, mutant = data.draw(st.sampled_from([*mutants(DOCUMENTS[name])]))
    import_document(mutant)


_E = ("components", "schemas", "E")
_D = ("components", "schemas", "D")
_MESSAGE = (*_E, "properties", "message")
_ANY_OF = (
    *("paths", "/a/{id}", "get", "responses", "4XX", "content", "application/problem+json"),
    *("schema", "oneOf", 1, "anyOf", 1, "type"),
)


@pytest.mark.parametrize("value", [[{"a": [1]}], {"a": [1]}, 7, -0.5])
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("openapi 3.1.0", (*_E, "required")),
        ("openapi 3.1.0", (*_E, "required", 0)),
        ("openapi 3.1.0", (*_E, "properties")),
        ("openapi 3.1.0", (*_MESSAGE, "format")),
        ("openapi 3.0.3", (*_D, "type")),
        ("openapi 3.0.3", _ANY_OF),
        ("rest-xml", ("metadata", "endpointPrefix")),
    ],
)
def test_values_that_no_set_can_have_are_refused(name: str, place: Steps, value: Any) -> None:
    """Places whose values once were looked up without a check of their type."""
    import_document(replaced(DOCUMENTS[name], place, value))
