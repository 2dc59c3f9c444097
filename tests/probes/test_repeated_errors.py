"""Errors that one surface repeats of another: none is missed, whenever it comes, and nothing is
asked of who can't be heard.
"""

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec_conformance.config import read_config as configured
from faultspec_conformance.probes.repeats import check_repeated
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.options import RunOptions, Unreachable
from support.examples import examples

TAXONOMY = """
faultspec: 1
taxonomy: {name: told, version: 1.0.0}
actions: {retry: Again., edit: Change it.}
vocabularies: {phases: {plan: Planning., act: Acting.}}
detail_keys: {job: {type: string}, left: {type: integer}}
envelopes:
  info:
    shape: {kind: $code, phase: $phase, ways: $actions, "at?": $at, "more?": $details}
    fields: {phase: {type: string, vocabulary: phases}, at: {type: string}}
  rpc: {shape: {jsonrpc: "2.0", id: $request_id, error: {code: -32000, message: $message, data: {use: info}}}}
surfaces:
  engine: {transport: jsonrpc, error_when: {present: /error}, envelope: rpc, codes: closed}
  events: {transport: event, error_when: {present: /params/error}, at: /params/error, envelope: info, repeats: engine, level: must}
codes:
  full: {summary: Full., http: null, http_reason: stdio., retriable: caller, details: {job?: {}, left?: {}}}
  busy: {summary: Busy., http: null, http_reason: stdio., retriable: caller, details: {job?: {}, left?: {}}}
"""


def loaded(text: str = TAXONOMY) -> Contract:
    """The contract of a taxonomy."""
    found = read(text, "told.yaml")
    assert found.taxonomy is not None, found.diagnostics
    return build_contract(found.taxonomy)


RULES = loaded()

errors = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["full", "busy"]),
        "phase": st.sampled_from(["plan", "act"]),
        "ways": st.sampled_from([[], ["retry"], ["retry", "edit"]]),
        "more": st.fixed_dictionaries(
            {"job": st.sampled_from(["a", "b"]), "left": st.integers(0, 9)}
        ),
    }
)


def answered(info: dict[str, Any], rules: Contract = RULES) -> Observation:
    """An error that is the answer to a call."""
    number = info.get("id", 1)
    body = {
        "jsonrpc": "2.0",
        "id": number,
        "error": {"code": -32000, "message": "No", "data": info},
    }
    return heard(body, "jsonrpc", rules)


def notification(info: dict[str, Any], rules: Contract = RULES) -> Observation:
    """The same as a notification."""
    return heard({"jsonrpc": "2.0", "method": "failed", "params": {"error": info}}, "event", rules)


def heard(body: object, transport: Any, rules: Contract) -> Observation:
    """A message, judged."""
    response = Response(None, (), json.dumps(body).encode())
    exchange = Exchange(Request("POST", "ask"), response, transport, operation="ask")
    return Observation(exchange, judge(rules, exchange))


def verdicts(exchanges: list[Observation], rules: Contract = RULES, unkept: int = 0) -> list[str]:
    """Return the verdicts, sorted: passed, not exercised, or the level of the failure."""
    found = check_repeated(rules, [rules.taxonomy.surfaces["events"]], exchanges, unkept)
    return sorted(
        each.finding.level if each.finding else each.kind
        for each in found
        if each.kind != "undecided"
    )


@given(st.lists(errors, max_size=6), st.integers(0, 6), st.randoms())
@examples(150)
def test_the_missing_notifications_are_counted(
    failed: list[dict[str, Any]], dropped: int, random: Random
) -> None:
    """In whatever order notifications come, whatever they count on to and in whichever order they
    list what they list: each that is missing is one failure, and the others held.
    """
    dropped = min(dropped, len(failed))
    moved = [
        {**each, "ways": each["ways"][::-1], "at": "later", "more": {**each["more"], "left": 0}}
        for each in failed
    ]
    exchanges = [answered(each) for each in failed] + [
        notification(each) for each in moved[dropped:]
    ]
    random.shuffle(exchanges)
    assert verdicts(exchanges) == sorted(["error"] * dropped + ["passed"] * (len(failed) - dropped))


@given(errors, st.sampled_from([("kind",), ("phase",), ("ways",), ("more", "job")]))
def test_a_different_notification_is_not_a_repetition(
    info: dict[str, Any], place: tuple[str, ...]
) -> None:
    """A notification with another code, word of a vocabulary, list of actions or text among the
    details is another error.
    """
    others = {
        "kind": ["full", "busy"],
        "phase": ["plan", "act"],
        "ways": [["edit"], []],
        "job": ["a", "b"],
    }
    known = info["more"]["job"] if place[0] == "more" else info[place[0]]
    other = next(each for each in others[place[-1]] if each != known)
    changed = (
        {**info, "more": {**info["more"], "job": other}}
        if place[0] == "more"
        else {**info, place[0]: other}
    )
    assert verdicts([notification(changed), answered(info)]) == ["error"]
    assert verdicts([notification(changed), answered(info), notification(info)]) == ["passed"]


WITH_IDS = loaded(
    TAXONOMY.replace('"at?": $at,', '"at?": $at, "id?": $request_id,').replace(
        "fields: {phase", "fields: {request_id: {type: integer}, phase"
    )
)


@given(st.lists(errors, min_size=2, max_size=5), st.randoms())
def test_an_id_pairs_an_error_with_its_repetition(
    failed: list[dict[str, Any]], random: Random
) -> None:
    """Errors with ids of their own are compared by them: values swapped between two errors are two
    failures, one more of the same id is one, and ids that many share pair nothing.
    """
    known = [{**each, "id": number} for number, each in enumerate(failed)]

    def found(answers: list[dict[str, Any]], repeated: list[dict[str, Any]]) -> list[str]:
        exchanges = [answered(each, WITH_IDS) for each in answers]
        exchanges += [notification(each, WITH_IDS) for each in repeated]
        random.shuffle(exchanges)
        return [each for each in verdicts(exchanges, WITH_IDS) if each != "passed"]

    assert found(known, known) == []
    one, two = ({**known[0], "kind": kind} for kind in ("full", "busy"))
    swapped = [{**two, "id": 0}, {**one, "id": 1}, *known[2:]]
    assert found([{**one, "id": 0}, {**two, "id": 1}, *known[2:]], swapped) == ["error"] * 2
    assert found(known, [*known, known[-1]]) == ["error"]
    alike = [{**each, "id": 0} for each in failed]
    assert found(alike, [*alike, alike[0]]) == []


def test_what_may_be_left_out() -> None:
    """A missing repetition is a warning. Codes that a surface does not list, that none of its
    several envelopes carries, or that were too many to keep are not reported. A surface with one
    envelope has no choice. A chain of surfaces repeats its last one.
    """
    info = {"kind": "full", "phase": "plan", "ways": [], "more": {}}
    for old, new, expected in (
        ("level: must", "level: should", ["warning"]),
        ("level: must", "codes: [busy]", []),
        ("codes:\n  full: {", "codes:\n  full: {envelope: rpc, ", ["error"]),
        (
            "repeats: engine, level: must}",
            "repeats: log}\n  log: {transport: log, error_when: {present: /kind}, envelope: info, repeats: engine}",
            ["error"],
        ),
    ):
        rules = loaded(TAXONOMY.replace(old, new))
        assert verdicts([answered(info, rules)], rules) == expected, new
    assert verdicts([answered(info)], unkept=3) == ["not_exercised"]
    several = TAXONOMY.replace("envelope: info, repeats", "envelope: [info, bare], repeats")
    several = several.replace("envelopes:\n", "envelopes:\n  bare: {shape: {bare: $code}}\n")
    rules = loaded(several.replace("codes:\n  full: {", "codes:\n  full: {envelope: rpc, "))
    assert verdicts([answered(info, rules)], rules) == []


PEER = """
import json, sys, threading, time
info = {"kind": "full", "phase": "plan", "ways": [], "more": {}}
for line in sys.stdin:
    asked = json.loads(line)
    say = lambda value: print(json.dumps(value), flush=True)
    if sys.argv[1] == "before":
        say({"jsonrpc": "2.0", "method": "failed", "params": {"error": info}})
    data = {"code": -32000, "message": "No", "data": info}
    say({"jsonrpc": "2.0", "id": asked["id"], "error": data})
    if sys.argv[1] == "after":
        time.sleep(0.4)
        say({"jsonrpc": "2.0", "method": "failed", "params": {"error": info}})
"""


def judged(folder: Path, habit: str) -> Result:
    """A run on a peer that fails, and says so once more before it answers, after it, or never."""
    (folder / "told.yaml").write_text(TAXONOMY)
    (folder / "peer.py").write_text(PEER)
    command = json.dumps([sys.executable, str(folder / "peer.py"), habit])
    recipe = "provoke: {full: {request: ask, params: {}}}\nlimits: {writes: true}"
    (folder / "c.yaml").write_text(f"taxonomy: told.yaml\ntarget: {{stdio: {command}}}\n{recipe}\n")
    found = configured(str(folder / "c.yaml"), {})
    assert found.target is not None, found.diagnostics
    report = run(found.target, RULES.taxonomy, RunOptions(only="surface/repeated"))
    assert not isinstance(report, Unreachable), report.reason
    return report.result


@pytest.mark.parametrize(
    ("habit", "verdict"), [("before", "passed"), ("after", "passed"), ("never", "failed")]
)
def test_a_notification_has_time(tmp_path: Path, habit: str, verdict: str) -> None:
    """It may come before its answer or a moment after it; one that never comes is missed, by itself
    with `--only`.
    """
    assert judged(tmp_path, habit).clauses["surface/repeated"].verdict == verdict


def test_a_surface_that_was_not_looked_at_is_not_passed() -> None:
    """If no error was due on a surface, nothing passed there, and the row of the clause names the
    surface.
    """
    second = TAXONOMY.replace(
        "codes:\n",
        "  late: {transport: event, match: {names: [late]}, error_when: {present: /params/late}, at: /params/late, "
        "envelope: info, repeats: engine, codes: [busy]}\ncodes:\n",
    ).replace("match: {names: [late]}, ", "")
    rules = loaded(second)
    info = {"kind": "full", "phase": "plan", "ways": [], "more": {}}
    repeating = [rules.taxonomy.surfaces[name] for name in ("events", "late")]
    seen = [answered(info, rules), notification(info, rules)]
    found = list(check_repeated(rules, repeating, seen))
    assert [each.kind for each in found] == ["passed", "undecided"]
    assert "`late` was not looked at" in found[1].reason
    assert [each.kind for each in check_repeated(rules, repeating, [])] == [
        "undecided",
        "undecided",
    ]


@pytest.mark.parametrize(
    ("ways", "others", "words"),
    [
        (["retry", "edit"], ["retry"], 'lacks an item of the answer: "edit"'),
        (["retry"], ["retry", "edit"], 'has an item that the answer lacks: "edit"'),
    ],
)
def test_the_difference_of_lists_is_an_item(ways: list[str], others: list[str], words: str) -> None:
    """A finding about lists names the item in which they differ."""
    info = {"kind": "full", "phase": "plan", "ways": ways, "more": {"job": "a", "left": 1}}
    exchanges = [answered(info), notification({**info, "ways": others})]
    (found,) = check_repeated(RULES, [RULES.taxonomy.surfaces["events"]], exchanges)
    assert found.finding is not None
    assert words in found.finding.message
