"""Which taxonomies each clause applies to, and the reason that a report gives for the others."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from faultspec.contract.clauses import CLAUSES
from faultspec.contract.clauses.clause import Requirement
from faultspec.language import read
from faultspec.language.model import Taxonomy
from support.full_taxonomy import FULL

SECTIONS = {
    "surface": ("surfaces",),
    "code": ("codes", "operations"),
    "operation": ("operations",),
    "action": ("actions",),
    "entry": ("discovery",),
    "detail key": ("detail_keys",),
    "envelope": ("envelopes",),
    "field": ("envelopes",),
    "retry policy": ("retry_policies",),
}
"""The sections of a taxonomy with the constructs that a reason names by a noun."""

WORDS = re.compile(rf"\b(no|every|neither)\b|\b({'|'.join(SECTIONS)})\b|`([^`]+)`")
PLACED = re.compile(r"`(\w+)\.(\w+)` is in the (\w+), .*")
"""A reason that quotes a key and says its place, which is set."""

LISTED = re.compile(r"`(\w+)\.(\w+)` does not list `([\w-]+)`")


def full() -> dict[str, Any]:
    """The data of ``FULL``; YAML as PyYAML reads it has no key `on`."""
    document = read(FULL, "full.yaml").document
    assert document is not None
    data: dict[str, Any] = json.loads(json.dumps(document.data))
    return data


def taxonomy_of(data: dict[str, Any]) -> Taxonomy:
    """The taxonomy of these data, without the references to what they lack."""
    while True:
        loaded = read(json.dumps(data), "full.yaml")
        errors = [each for each in loaded.diagnostics if each.severity == "error"]
        if loaded.taxonomy is not None:
            return loaded.taxonomy
        *above, last = errors[0].pointer
        parent: Any = data
        for key in above:
            parent = parent[key]
        del parent[last]


def mappings(value: object) -> Iterator[dict[str, Any]]:
    """Every mapping inside a value, the inner ones first."""
    for inner in value.values() if isinstance(value, dict) else ():
        yield from mappings(inner)
    for inner in value if isinstance(value, list) else ():
        yield from mappings(inner)
    if isinstance(value, dict):
        yield value


def without(reason: str) -> dict[str, Any]:
    """The data of ``FULL`` for which a reason holds, going by the keys that it quotes alone.

    After "no" a quoted key is removed, and so is a construct with a quoted key and value. After
    "every" the quoted value is set.
    """
    data: dict[str, Any] = full()
    listed = LISTED.fullmatch(reason)
    if listed is not None:
        data[listed[1]][listed[2]].remove(listed[3])
        return data
    placed = PLACED.fullmatch(reason)
    if placed is not None:
        section: dict[str, Any] = data[placed[1]]
        section[placed[2]] = {placed[3]: "key"}
        section.pop("missing", None)  # no key in a path is missing
        return data
    sections: tuple[str, ...] = ()
    every = False
    for quantifier, noun, quoted in WORDS.findall(reason):
        key, _, value = quoted.partition(": ")
        within = [data[name] for name in sections if name in data]
        if quantifier:
            every, sections = quantifier == "every", ()
        elif noun:
            sections = SECTIONS[noun]
        elif every:
            set_everywhere(within, key, value)
        elif sections:
            remove(within, key.rpartition(".")[2], value)
        else:
            above, _, name = key.rpartition(".")
            (data.get(above, {}) if above else data).pop(name, None)
    return data


def set_everywhere(sections: list[Any], key: str, value: str) -> None:
    """Give this value to every construct of the sections, and to every part that has another."""
    for section in sections:
        for mapping in mappings(section):
            if key in mapping or any(mapping is construct for construct in section.values()):
                mapping[key] = value


def remove(sections: list[Any], key: str, value: str) -> None:
    """Remove a key, a slot (``$slot``), or the constructs in which a key has a value."""
    for mapping in mappings(sections):
        for name, inner in list(mapping.items()):
            slot = key.startswith("$") and (inner == key or name == key[1:])
            pair = value and isinstance(inner, dict) and str(inner.get(key)) == value
            if slot or pair or (name == key and not value):
                del mapping[name]


CASES = [
    pytest.param(address, requirement, id=f"{address}: {requirement.unmet}")
    for address, clause in CLAUSES.items()
    for requirement in clause.requires
    if "pip install" not in requirement.unmet  # of the installation, not of the taxonomy
]


@pytest.mark.parametrize("address", CLAUSES)
def test_with_its_constructs_a_clause_applies(address: str) -> None:
    """A taxonomy with every construct leaves no clause *not checkable*."""
    loaded = read(FULL, "full.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    assert CLAUSES[address].reason_not_applicable(loaded.taxonomy) is None


@pytest.mark.parametrize(("address", "requirement"), CASES)
def test_without_the_construct_of_its_reason_a_clause_does_not_apply(
    address: str, requirement: Requirement
) -> None:
    """Without the keys that a reason quotes, exactly that reason holds."""
    taxonomy = taxonomy_of(without(requirement.unmet))
    assert not requirement.is_met(taxonomy)
    assert CLAUSES[address].reason_not_applicable(taxonomy) is not None


def test_clauses_without_a_requirement_need_no_construct() -> None:
    """Only what every service does is checked for every taxonomy, and what its own document
    says.
    """
    free = {address for address, clause in CLAUSES.items() if not clause.requires}
    assert {address for address in free if not address.startswith("document/")} == {
        "surface/known",
        "service/alive",
        "rpc/output",
        "mcp/output-schema",
        "service/no-crash",
        "provoke/code",
        "provoke/expected",
        "provoke/parallel",
        "provoke/state",
        "batch/complete",
        "leaks/confidential",
    }
