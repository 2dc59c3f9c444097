"""Idempotency keys in headers, paths, queries and bodies of running services."""

from pathlib import Path

import pytest

from faultspec import language
from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import Report, Result, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures.payments import PLACES, SINS, Place, make_app, make_branches
from miniatures.serve import serving

TAXONOMY = """
faultspec: 1
taxonomy: {name: payments, version: 1.0.0, title: Payments, owner: payments}
envelopes:
  error:
    media_type: application/json
    shape: {error: {code: $code, message: $message}}
    additional: forbid
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
idempotency: {key: KEY, methods: [METHOD], mismatch: key_reused MISSING}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  not_allowed: {summary: Not so, http: 405, retriable: false}
  invalid: {summary: Not valid, http: 400, retriable: false}
  key_missing: {summary: No key, http: 400, retriable: false}
  key_reused: {summary: Another payment, http: 409, retriable: false}
  unavailable: {summary: The bank is down, http: 503, retriable: true, client_action: retry}
"""

CONFIGURATION = """
target: {http: %s, openapi: /openapi.json}
resources:
  payment: {create: {request: CREATE}, read: "GET /payments/{key}", list: GET /payments}
identities:
  alice: {headers: {Authorization: token-of-alice}, tenant: a}
  bob: {headers: {Authorization: token-of-bob}, tenant: b}
faults: {header: X-Fault, values: {unavailable: "yes"}}
limits: {writes: true}
"""

KEYS = {
    "header": "{header: Idempotency-Key}",
    "path": "{path: key}",
    "query": "{query: request_id}",
    "body": "{body: /client_token}",
}

#: The clause that each mistake breaks.
BROKEN = {
    "pays-twice": "idempotency/replay",
    "pays-twice-unseen": "idempotency/replay",
    "accepts-another-body": "idempotency/mismatch",
    "compares-the-amount-only": "idempotency/mismatch",
    "answers-otherwise": "idempotency/replay",
    "answers-200": "idempotency/replay",
    "needs-no-key": "idempotency/required",
    "pays-twice-at-once": "idempotency/concurrent",
    "pays-once-for-all-keys": "idempotency/distinct-keys",
    "shares-keys": "idempotency/isolation",
    "refuses-foreign-keys": "idempotency/isolation",
    "pays-and-fails": "idempotency/after-failure",
}

#: Clauses that a mistake breaks besides: a repetition pays again after a failure, too, and under
#: another key in the path no payment can be read.
ALSO_BROKEN: dict[tuple[Place, str], set[str]] = {
    ("path", "pays-once-for-all-keys"): {"writes/created"},
    **{
        (place, sin): {"idempotency/after-failure"}
        for place in PLACES
        for sin in ("pays-twice", "pays-twice-unseen")
    },
}


def taxonomy_of(place: Place) -> str:
    """The taxonomy of the service with its key in a place."""
    text = TAXONOMY.replace("KEY", KEYS[place], 1).replace(
        "METHOD", "PUT" if place == "path" else "POST"
    )
    return text.replace(" MISSING", "" if place == "path" else ", missing: key_missing")


def judged(folder: Path, place: Place, sin: str = "") -> Result:
    """The result of a run against the service."""
    loaded = language.read(taxonomy_of(place), "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    request = '"PUT /payments/{key}"' if place == "path" else "POST /payments"
    file = folder / "conformance.yaml"
    with serving(make_app(place, sin)) as base:
        file.write_text(CONFIGURATION.replace("CREATE", request) % base)
        config = read_config(str(file), {})
        assert config.target is not None, config.diagnostics
        report = run(config.target, loaded.taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report)
    return report.result


def kinds_of(result: Result) -> dict[str, str]:
    """The verdict of each clause about keys."""
    return {
        address: clause.verdict
        for address, clause in result.clauses.items()
        if address.startswith("idempotency/")
    }


@pytest.mark.parametrize("place", PLACES)
def test_a_correct_service_passes_wherever_its_key_is(tmp_path: Path, place: Place) -> None:
    """No finding is made, and replays and other bodies were sent. Without a key in the path no
    write exists, so the clause of missing keys does not apply there.
    """
    result = judged(tmp_path, place)
    assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
    assert exit_code(result) == 0
    kinds = kinds_of(result)
    sent = ("replay", "mismatch", "concurrent", "distinct-keys", "isolation", "after-failure")
    assert {kinds[f"idempotency/{clause}"] for clause in sent} == {"passed"}
    assert kinds["idempotency/required"] == ("not_checkable" if place == "path" else "passed")


@pytest.mark.parametrize("sin", SINS)
@pytest.mark.parametrize("place", PLACES)
def test_each_mistake_is_found_wherever_the_key_is(tmp_path: Path, place: Place, sin: str) -> None:
    """The clause that a mistake breaks fails, and no other clause does but what follows from it."""
    if (place, sin) == ("path", "needs-no-key"):
        pytest.skip("no request lacks a key in its path")
    result = judged(tmp_path, place, sin)
    also = ALSO_BROKEN.get((place, sin), set())
    assert {each.finding.clause for each in result.findings} == {BROKEN[sin], *also}
    assert exit_code(result) == 1


BRANCHES = (
    TAXONOMY.replace("KEY", "{header: Idempotency-Key}", 1)
    .replace("METHOD", "POST, PUT")
    .replace(" MISSING", ", missing: key_missing")
    .replace(
        "surfaces:\n",
        """operations:
  pay_by_path: {match: {routes: ["PUT /path/payments/{key}"]}, idempotency_key: {path: key}}
  pay_by_token:
    match: {routes: [POST /body/payments]}
    idempotency_key: {body: /client_token}
surfaces:
  query: {transport: http, match: {routes: [/query/**]}, error_when: {status: [4xx, 5xx]},
          envelope: error, codes: closed, idempotency_key: {query: request_id}}
""",
    )
)
"""Branches that differ in the place of the key: one by its surface, two by their operations."""


def judged_branches(folder: Path, sins: dict[Place, str], taxonomy: str = BRANCHES) -> Result:
    """The result of a run against the service of all branches."""
    loaded = language.read(taxonomy, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    kinds = "".join(
        f"  {place}_payment:\n"
        f"    create:\n      request: {'PUT' if place == 'path' else 'POST'} /{place}/payments"
        f"{'/{key}' if place == 'path' else ''}\n"
        f"    read: GET /{place}/payments/{{key}}\n"
        f"    list: GET /{place}/payments\n"
        for place in PLACES
    )
    head, _, tail = CONFIGURATION.partition("  payment:")
    file = folder / "conformance.yaml"
    with serving(make_branches(sins)) as base:
        file.write_text((head + kinds + tail.partition("\n")[2]) % base)
        config = read_config(str(file), {})
        assert config.target is not None, config.diagnostics
        report = run(config.target, loaded.taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report)
    return report.result


def test_a_service_may_have_a_place_for_each_operation(tmp_path: Path) -> None:
    """Keys of surfaces and of operations are sent and compared where each has them."""
    result = judged_branches(tmp_path, {})
    assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
    kinds = kinds_of(result)
    sent = ("replay", "mismatch", "concurrent", "distinct-keys", "isolation", "required")
    assert {kinds[f"idempotency/{clause}"] for clause in sent} == {"passed"}


@pytest.mark.parametrize("sin", ["pays-twice", "accepts-another-body", "shares-keys"])
@pytest.mark.parametrize("place", PLACES)
def test_a_mistake_is_found_in_its_branch(tmp_path: Path, place: Place, sin: str) -> None:
    """The finding names the place of the branch, and other branches have none."""
    result = judged_branches(tmp_path, {place: sin})
    found = {each.finding.clause for each in result.findings}
    assert BROKEN[sin] in found <= {BROKEN[sin], "idempotency/after-failure"}
    targets = {
        exchange.request.target.split("/")[1]
        for each in result.findings
        for exchange in each.finding.evidence
    }
    assert targets == {place}


def test_the_general_place_is_wrong_for_other_branches(tmp_path: Path) -> None:
    """Without the places of their own, a behaving service of several places has findings."""
    general = BRANCHES.replace(", idempotency_key: {query: request_id}", "")
    assert general != BRANCHES
    assert exit_code(judged_branches(tmp_path, {}, general)) != 0
