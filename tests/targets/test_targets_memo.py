"""The values that several documents share are equal to those that each would make for itself, and
nothing changes them.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED, filters, literals, openapi
from faultspec.targets import schema as schemas
from faultspec.targets.json_text import Fragment
from faultspec.targets.memo import memoize
from paths import ROOT

SYSTEMS = [".", *(f"examples/{name}" for name in ("aileron", "alknet", "kinto", "theodosia"))]

#: What the envelope says of details changes what the code says of them, in this envelope and not in
#: the other.
CLOSED = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
domains: {work: Work}
boundaries: {service: The service}
detail_keys: {extra: {type: string}}
envelopes:
  closed: {shape: {code: $code, details: $details}, fields: {details: {type: object, additional: forbid}}}
  open: {shape: {code: $code, details: $details}}
codes:
  gone: {summary: Gone, domain: work, boundary: service, http: 410, retriable: false, details: {reason: {type: string}}}
"""


def taxonomy_of(system: str) -> Taxonomy:
    """The taxonomy of a folder, or of a text."""
    loaded = (
        read(system, "closed.yaml")
        if "\n" in system
        else load(str(ROOT / system / "taxonomy.yaml"))
    )
    taxonomy = loaded.taxonomy
    assert taxonomy is not None
    return taxonomy


def plain(value: Any) -> Any:
    """The same with nothing in it that remembers its text."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("system", [*SYSTEMS, CLOSED], ids=[*SYSTEMS, "closed"])
def test_what_is_shared_stays_what_it_was(system: str) -> None:
    """After every target has used a shared part, it is what it was when it was made, and its text
    is that of its content.
    """
    taxonomy = taxonomy_of(system)
    render(taxonomy, SHIPPED.values(), "taxonomy.yaml")
    made = list(shared(taxonomy))
    again = taxonomy._replace()  # another taxonomy, of which nothing is known yet
    # Each is copied as soon as it is made, before the next has a chance to change it.
    fresh = [plain(each) for each in shared(again)]
    assert made == fresh
    assert list(map(filters.json, made)) == list(map(filters.json, map(plain, made)))


def shared(taxonomy: Taxonomy) -> Iterator[Any]:
    """The parts that targets share, the smallest first."""
    for _, code in schemas.live(taxonomy):
        yield schemas.details_schema(code, taxonomy)
    for envelope in taxonomy.envelopes.values():
        for _, code in schemas.live(taxonomy):
            yield schemas.body_schema(envelope, code, taxonomy)
            yield [body for _, _, body in openapi.bodies(envelope, code, taxonomy)]
    yield openapi.components(taxonomy)
    yield openapi.components_30(taxonomy)


def test_one_taxonomy_leaves_nothing_to_another() -> None:
    """A tree is the same whatever was rendered before it."""
    alone = {system: render(taxonomy_of(system), SHIPPED.values(), "x") for system in SYSTEMS}
    for system in reversed(SYSTEMS):
        assert render(taxonomy_of(system), SHIPPED.values(), "x") == alone[system]


def test_the_same_is_asked_once_and_another_taxonomy_anew() -> None:
    """Arguments are distinguished by identity, and what is known goes with the taxonomy that it is
    of.
    """
    asked: list[object] = []

    @memoize
    def size(part: list[int], taxonomy: Taxonomy) -> int:
        asked.append(part)
        return len(part)

    first, second = taxonomy_of("."), taxonomy_of("examples/alknet")
    part, equal = [1], [1]
    assert size(part, first) == size(part, first) == size(equal, first) == 1
    assert [each is part for each in asked] == [True, False]
    assert size(part, second) == size(part, first) == 1
    assert len(asked) == 4


class Row(NamedTuple):
    """A row with a default that equals another value of another type."""

    first: object
    second: object = None


@pytest.mark.parametrize(
    "values",
    [
        (1, True, 1.0),
        (0, False, 0.0),
        ("code", literals.Verbatim("code")),
    ],
    ids=["one", "zero", "text"],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_equal_values_of_other_types_are_printed_apart(
    values: tuple[object, ...], backwards: bool
) -> None:
    """1, true and 1.0 are equal, and so are a text and a name; each has its own source in every
    place, whichever of them was printed first.
    """
    ordered = values[::-1] if backwards else values
    for _ in range(2):
        for value in ordered:
            alone, foreign = literals.py(value), literals.ts(value)
            assert literals.py([value]) == f"[\n    {alone},\n]"
            assert literals.py({"x": value}) == f'{{\n    "x": {alone},\n}}'
            assert literals.py(Row(value)) == f"Row(\n    first={alone},\n)"
            assert literals.py(Row((value,))) == f"Row(\n    first=({alone},),\n)"
            assert literals.ts({"x": value}) == f"{{\n  x: {foreign},\n}}"
            assert literals.ts((value, value)) == f"[\n  {foreign},\n  {foreign},\n]"
            assert filters.json([value]) == f"[\n  {json.dumps(value)}\n]"
            assert filters.json({"x": value}) == f'{{\n  "x": {json.dumps(value)}\n}}'
    assert literals.py([-0.0]) == "[\n    -0.0,\n]"
    assert literals.py([0.0]) == "[\n    0.0,\n]"


def test_a_fragment_is_indented_like_any_object() -> None:
    """Whether an object remembers its text makes no difference to where it stands."""
    inner = {"a": {"b": [1, {"c": "line\nend"}]}, "empty": {}}
    for made in (Fragment(inner), Fragment(a=Fragment(inner["a"]), empty=Fragment())):
        whole = {"x": [made, {"y": made}]}
        assert filters.json(whole, 4) == filters.json(plain(whole), 4)


@pytest.mark.parametrize("deepest", [0, 2, 4, 10])
def test_pieces_of_a_document_are_its_text(deepest: int) -> None:
    """The pieces of a document join to its JSON text, however deep it is taken apart."""
    inner = {"a": {"b": [1, {"c": "line\nend \u2028"}]}, "empty": {}, "none": [], 1: None}
    for document in (inner, [inner, [inner]], {"x": [Fragment(inner), {"y": inner}]}, {}, "text"):
        assert "".join(filters.json_pieces(document, deepest)) == filters.json(document)
