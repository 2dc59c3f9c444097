"""An edit that changes the judgement of an answer is one that `diff` weighs.

The taxonomies are those of the wire shapes. An edit is one that an author makes to an envelope, a
surface, a code or an operation: a place, a media type, a header rule, a value on a carrier.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from functools import cache
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from edits import edits

from faultspec.contract.model import Contract, build_contract
from faultspec.evolution.compare import compare
from faultspec.exchange.model import Exchange, Request
from faultspec.judge import judge
from faultspec.language import read
from faultspec.language.model import Operation, Taxonomy
from faultspec.source import load_document
from faultspec_conformance.faults.replies import Unanswerable, render_failure
from faultspec_conformance.faults.script import Fault
from support.wire_shapes import FOLDER, SHAPES, answers, taxonomy

TODAY = date(2026, 11, 23)

#: Edits of a shape that `make test` tries; `make full` tries all.
_DRAWN = 4


@cache
def recorded() -> dict[str, list[Exchange]]:
    """The recorded answers of each shape."""
    found = defaultdict(list)
    for _, answer in answers():
        found[answer.shape].append(answer.exchange)
    return found


def request_of(known: Taxonomy, operation: Operation | None) -> Request:
    """A request of an operation, or one that belongs to none."""
    match = operation.match if operation else next(iter(known.surfaces.values())).match
    method, _, path = (match.routes or ("GET /things",))[0].rpartition(" ")
    query = urlencode({name: values[0] for name, values in match.query.items()})
    target = path.replace("**", "things").replace("{id}", "7") + (f"?{query}" if query else "")
    return Request(method or "GET", target, tuple((n, v[0]) for n, v in match.headers.items()))


def served(contract: Contract) -> Iterator[Exchange]:
    """The errors that a service of a taxonomy sends, each code under each of its statuses."""
    known = contract.taxonomy
    for path, code in known.located_codes():
        request = request_of(known, known.operations.get(path[1]) if len(path) > 2 else None)
        for status in code.http.allowed_statuses():
            with suppress(Unanswerable):
                answer = render_failure(contract, request, Fault(code.name, status), "1")
                yield Exchange(request, answer)


def faults_of(contract: Contract, exchange: Exchange) -> set[str]:
    """The clauses that an answer breaks. A 500 is a crash under any taxonomy."""
    found = judge(contract, exchange).findings
    return {each.clause for each in found if each.level == "error"} - {"service/no-crash"}


def first_harm(old: Contract, new: Contract, sound: list[Exchange]) -> str | None:
    """The harm of a change to someone who follows the old taxonomy: to a service, whose sound
    answers are not sound any more, or to a client, who meets an answer that was not sound or had
    another code.
    """
    for exchange in sound:
        if broken := faults_of(new, exchange):
            return f"a service breaks {sorted(broken)}"
    for exchange in served(new):
        if faults_of(new, exchange):
            continue
        if broken := faults_of(old, exchange):
            return f"a client meets {sorted(broken)}"
        now, before = judge(new, exchange).code, judge(old, exchange).code
        if now in old.taxonomy.codes and now != before:
            return f"a client reads {before} and not {now}"
    return None


def hidden(shape: str, drawn: int | None) -> Iterator[str]:
    """The edits of a shape that change a judgement, which the report shows as safe or not at
    all.
    """
    old = build_contract(taxonomy(shape))
    every = [*recorded()[shape], *served(old)]
    sound = [each for each in every if not faults_of(old, each)]
    data: Any = load_document(str(FOLDER / f"{shape}.yaml")).data
    tried = [*edits(data)]
    Random(7).shuffle(tried)
    harms = 0
    for edit in tried[:drawn]:
        changed = read(yaml.safe_dump(edit.data, sort_keys=False), f"{shape}.yaml").taxonomy
        if changed is None:
            continue
        harm = first_harm(old, build_contract(changed), sound)
        harms += harm is not None
        changes = compare(old.taxonomy, changed, TODAY).changes
        if harm and not {"breaking", "risky"} & {each.severity for each in changes}:
            yield f"{edit.name}: {harm}, but the report has {[(each.rule, each.severity) for each in changes]}"
    assert drawn or harms > len(tried) // 10


@pytest.mark.parametrize("shape", SHAPES)
def test_a_drawn_change_of_a_judgement_is_reported(shape: str) -> None:
    """No drawn edit that harms a client or a service is safe."""
    assert [*hidden(shape, _DRAWN)] == []


@pytest.mark.full
@pytest.mark.parametrize("shape", SHAPES)
def test_every_change_of_a_judgement_is_reported(shape: str) -> None:
    """No edit that harms a client or a service is safe."""
    assert [*hidden(shape, None)] == []
