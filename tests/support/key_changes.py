"""Changes of single keys of a taxonomy, and the judgements that depend on them."""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from faultspec.contract.clauses import client_clauses, service_clauses
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange
from faultspec.judge import judge
from faultspec.language import read
from faultspec.language.constructs import DOCUMENT
from faultspec.language.grammar import (
    Anything,
    Choice,
    DeferredKind,
    Either,
    Flag,
    Many,
    Named,
    Record,
    Type,
    node_kind,
    node_kinds,
)
from faultspec.language.model import Taxonomy
from faultspec.language.reference import shared_address

Place = tuple[str | int, ...]

#: Texts that are valid in place of others, such as names of codes, envelopes and detail keys.
WORDS = ("2s", "open", "plain", "error", "details.offset")


def places(data: object) -> Iterator[tuple[str, Place, Type]]:
    """Every key that a document has: its shared address, its path and its type."""
    yield from _places(DOCUMENT, data, (), "")


def _places(
    type: Type, data: object, path: Place, address: str
) -> Iterator[tuple[str, Place, Type]]:
    match type:
        case DeferredKind():
            yield from _places(type.get(), data, path, address)
        case Either(branches):
            kind = node_kind(data)
            branch = next((one for one in branches if kind in node_kinds(one)), None)
            if branch is not None:
                yield from _places(branch, data, path, address)
        case Many(item) if isinstance(data, list):
            for index, value in enumerate(data):
                yield from _places(item, value, (*path, index), address)
        case Named(value) if isinstance(data, dict):
            for name, item in data.items():
                yield from _places(value, item, (*path, name), address)
        case Record(record, keys) if isinstance(data, dict):
            for name, item in data.items():
                below = f"{address}.{name}" if address else name
                yield shared_address(below, record, name), (*path, name), keys[name].type
                yield from _places(keys[name].type, item, (*path, name), below)
        case _:
            pass


def changes(data: dict[str, Any], place: Place, type: Type) -> Iterator[dict[str, Any]]:
    """Documents in which the key at a place is missing or has another value."""
    for value in _other_values(_value(data, place), type):
        changed = copy.deepcopy(data)
        parent = _value(changed, place[:-1])
        if value is None:
            del parent[place[-1]]
        else:
            parent[place[-1]] = value
        yield changed


def _value(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def _other_values(value: Any, type: Type) -> Iterator[Any]:
    """Values that differ from `value`; None stands for no value."""
    yield None
    branches = type.branches if isinstance(type, Either) else (type,)
    for branch in branches:
        if isinstance(branch, Choice):
            yield from (choice for choice in branch.values if choice != value)
        if isinstance(branch, Flag) and isinstance(value, bool):
            yield not value
    if isinstance(value, int) and not isinstance(value, bool):
        yield value + 1
    if isinstance(value, float):
        yield value / 4
    if isinstance(value, list):
        yield from ([item for item in value if item is not left_out] for left_out in value)
    if isinstance(type, Anything) and isinstance(value, dict):
        yield {**value, "another": "constant"}
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(type, Named) and isinstance(inner, dict):
                yield from ({**value, name: _without(inner, left_out)} for left_out in inner)
        flipped = {name: not fact for name, fact in value.items() if isinstance(fact, bool)}
        yield {**value, **flipped}
        yield from (_without(value, left_out) for left_out in value)
    if isinstance(value, str):
        yield from (f"{value}x", f"{value[:-1]}0", *WORDS)


def _without(mapping: dict[Any, Any], name: object) -> dict[Any, Any]:
    return {key: value for key, value in mapping.items() if key != name}


def loaded(data: Mapping[str, Any]) -> Taxonomy | None:
    """The taxonomy of a document, if it is valid."""
    return read(json.dumps(data), "t.yaml").taxonomy


def applicable(taxonomy: Taxonomy) -> frozenset[str]:
    """The clauses that apply to a taxonomy; those of headers by one name."""
    clauses = {**service_clauses(taxonomy), **client_clauses(taxonomy)}
    return frozenset(
        name for name, clause in clauses.items() if clause.reason_not_applicable(taxonomy) is None
    )


def _verdicts(contract: Contract, exchange: Exchange) -> Mapping[str, object]:
    """The judgement of each clause: its findings, and whether it was exercised."""
    judgement = judge(contract, exchange)
    found: dict[str, list[object]] = {name: [] for name in judgement.exercised}
    for finding in judgement.findings:
        found[finding.clause].append((finding.pointer, finding.level))
    return found


def differences(before: Taxonomy, after: Taxonomy, exchanges: Iterable[Exchange]) -> Iterator[str]:
    """The clauses whose applicability or verdict differs."""
    yield from applicable(before) ^ applicable(after)
    (contract, known), changed = _base_of(before), build_contract(after)
    for exchange in exchanges:
        if id(exchange) not in known:
            known[id(exchange)] = _verdicts(contract, exchange)
        first, second = known[id(exchange)], _verdicts(changed, exchange)
        for name in first.keys() | second.keys():
            if first.get(name) != second.get(name):
                yield name


#: By the identity of a taxonomy, which is not hashable.
_BASES: dict[int, tuple[Contract, dict[int, Mapping[str, object]]]] = {}


def _base_of(taxonomy: Taxonomy) -> tuple[Contract, dict[int, Mapping[str, object]]]:
    """The contract of an unchanged taxonomy, and its verdicts so far by exchange."""
    if id(taxonomy) not in _BASES:
        _BASES[id(taxonomy)] = build_contract(taxonomy), {}
    return _BASES[id(taxonomy)]
