"""Recipes with refusals on the way, at once, and on surfaces without codes of the taxonomy: each
test states a law.
"""

import pytest

from faultspec import language, source
from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import SavedPart, check_config, parse_config
from faultspec_conformance.probes import provoke
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observations import NotRun
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: desk, version: 1.0.0, title: Desk, owner: nobody}
domains: {request: What the caller can fix}
actions: {bind: {summary: Bind a credential.}}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  decisions: {transport: http, match: {routes: ["/decisions/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: foreign}
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  taken: {summary: It is taken, domain: request, http: 409, retriable: false, client_action: none, effect: none}
  limited: {summary: Slow down, domain: request, http: 429, retriable: false, client_action: none, effect: none}
  unbound: {summary: Bind first, domain: request, http: 412, retriable: {until: bind, else: false}, client_action: user, effect: none, actions: [bind]}
"""
HEAD = 'target: {http: "http://127.0.0.1:1", openapi: none}\nlimits: {writes: true}\nprovoke:\n'


class Desk:
    """A service with one seat, a decision and a binding. ``sins``: `second-seat`, `undecided`,
    `unbindable`, `throttle`.
    """

    def __init__(self, *sins: str) -> None:
        self.sins, self.seats, self.decided, self.bound = sins, 0, False, False

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        match (request.method, request.target):
            case ("POST", "/seats"):
                return self.take_seat()
            case ("DELETE", "/seats"):
                self.seats = 0
                return answer(204)
            case ("POST", "/decisions/7"):
                if self.decided and "undecided" not in self.sins:
                    return answer(409, {"code": "already_decided"})
                self.decided = True
                return answer(200, {})
            case ("PUT", "/binding"):
                self.bound = "unbindable" not in self.sins
                return answer(200, {})
            case ("POST", "/messages"):
                return answer(200, {}) if self.bound else answer(412, {"code": "unbound"})
        return answer(404, {"code": "absent"})

    def take_seat(self) -> Response:
        """Take the seat, if it is free."""
        if "throttle" in self.sins:
            return answer(429, {"code": "limited"})
        if self.seats >= 1 + ("second-seat" in self.sins):
            return answer(409, {"code": "taken"})
        self.seats += 1
        return answer(201, {"id": self.seats})


def results(recipe: str, *sins: str) -> list[tuple[str, str]]:
    """The clause and the kind of each outcome of a recipe."""
    document, found = source.parse(HEAD + recipe, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    session = http_session(Desk(*sins), TAXONOMY, loaded.target)
    assert not check_config(loaded.target, session.taxonomy, document)
    seen = list(provoke.recipes(session))
    return [
        *((item.clause, item.kind) for item in seen if isinstance(item, Outcome)),
        *(("not run", item.reason) for item in seen if isinstance(item, NotRun)),
    ]


AT_ONCE = "  taken: {request: POST /seats, parallel: {requests: 3, succeed: 1}}\n"


def test_requests_at_once_succeed_as_often_as_the_recipe_says() -> None:
    """The other requests get the code."""
    refusals = [("provoke/code", "passed")] * 2
    assert results(AT_ONCE) == [*refusals, ("provoke/parallel", "passed")]


def test_a_success_too_many_fails() -> None:
    """If more requests at once succeed than the recipe says, the clause fails."""
    assert ("provoke/parallel", "failed") in results(AT_ONCE, "second-seat")


def test_too_few_successes_decide_nothing() -> None:
    """If fewer requests succeed, something else stood in the way."""
    fewer = results(AT_ONCE.replace("succeed: 1", "succeed: 2"))
    assert ("provoke/parallel", "not_exercised") in fewer


def test_a_throttle_of_requests_at_once_proves_nothing() -> None:
    """A 429 with another code than that of the recipe says nothing about the code."""
    assert results(AT_ONCE, "throttle")[0] == ("provoke/code", "could_not_run")


REFUSED = """  taken:
    steps:
      - {request: POST /seats}
      - {request: POST /seats, status: 409}
      - {request: DELETE /seats, status: 204}
      - {request: POST /seats, status: 201}
      - {request: POST /seats}
"""


def test_a_step_may_be_a_refusal() -> None:
    """A step with the status of a refusal goes on after it; another answer is a failed step."""
    assert results(REFUSED) == [("provoke/code", "passed")]
    accepted = REFUSED.replace("      - {request: POST /seats}\n", "", 1)
    assert ("provoke/code", "could_not_run") in results(accepted)


FOREIGN = """  decided_twice:
    surface: decisions
    steps:
      - {request: POST /decisions/7}
      - {request: POST /decisions/7, status: 409}
"""


def test_a_failure_without_a_code_has_its_status_and_its_surface() -> None:
    """A recipe with `surface` may have a name that is not a code of the taxonomy."""
    assert results(FOREIGN) == [("provoke/code", "passed")]
    assert results(FOREIGN, "undecided") == [("provoke/code", "failed")]
    elsewhere = FOREIGN.replace("surface: decisions", "surface: api")
    assert results(elsewhere) == [("provoke/code", "failed")]


UNTIL = "  unbound: {request: POST /messages, action: PUT /binding}\n"


def test_after_its_action_a_code_is_gone() -> None:
    """`retriable: {until: ACTION}` promises that the request succeeds after the action."""
    code = ("provoke/code", "passed")
    assert results(UNTIL) == [code, ("retriable/until", "passed")]
    assert results(UNTIL, "unbindable") == [code, ("retriable/until", "failed")]


def test_an_action_that_fails_could_not_run() -> None:
    """If the action itself is refused, nothing follows about the code."""
    kinds = results(UNTIL.replace("PUT /binding", "PUT /elsewhere"))
    assert ("retriable/until", "could_not_run") in kinds


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("  taken: {request: POST /seats, action: DELETE /seats}\n", "declares no action"),
        ("  decided: {surface: decisons, request: POST /decisions/7, status: 409}\n", "no surface"),
        ("  decided: {surface: decisions, request: POST /decisions/7}\n", "no status"),
        ("  decided: {request: POST /decisions/7, status: 409}\n", "no code `decided`"),
        (
            "  taken: {steps: [{request: POST /seats, parallel: {requests: 2}}, {request: GET /}]}\n",
            "`parallel` belongs to the last step",
        ),
    ],
)
def test_a_key_of_a_recipe_without_its_meaning_is_a_mistake(recipe: str, message: str) -> None:
    """An action that the taxonomy does not know, a surface without a status, and requests at once
    before the last step are reported before the run.
    """
    document, _ = source.parse(HEAD + recipe, "conformance.yaml")
    taxonomy = language.read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert document is not None
    assert taxonomy is not None
    loaded = parse_config(document, {})
    assert loaded.draft is not None
    found = [*loaded.diagnostics, *check_config(loaded.draft, taxonomy, document)]
    assert any(message in each.message for each in found), found


def test_logins_and_recipes_save_in_one_notation() -> None:
    """A pointer, a header, a cookie, and a part of each are written alike; the older form of a
    header is still read.
    """
    save = (
        "{id: /id, job: header Location, old: {header: Location}, sid: cookie sid, "
        "part: {at: header Location, match: '[0-9]+'}}"
    )
    expected = {
        "id": SavedPart("/id"),
        "job": SavedPart("header Location"),
        "old": SavedPart("header Location"),
        "sid": SavedPart("cookie sid"),
        "part": SavedPart("header Location", "[0-9]+"),
    }
    headers = " ".join("${" + name + "}" for name in expected)
    text = (
        f'identities: {{ann: {{headers: {{Cookie: "{headers}"}}, '
        f"login: {{request: POST /login, save: {save}}}}}}}\n" + HEAD
    )
    text += f"  taken: {{steps: [{{request: POST /seats, save: {save}}}, {{request: GET /}}]}}\n"
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    target = parse_config(document, {}).target
    assert target is not None, parse_config(document, {}).diagnostics
    login = target.identities["ann"].login
    assert login is not None
    assert login.save == target.recipes[0].steps[0].save == expected


JOBS = """
faultspec: 1
taxonomy: {name: jobs, version: 1.0.0, title: Jobs, owner: nobody}
domains: {job: What a job got wrong}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  job: {transport: http, match: {routes: ["GET /jobs/{id}"], statuses: 200}, error_when: {equals: {/state: failed}}, at: /failure, envelope: error, codes: [broken]}
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: [absent]}
codes:
  absent: {summary: Not there, domain: job, http: 404, retriable: false}
  broken: {summary: The job failed, domain: job, http: 200, retriable: false}
"""

WAITING = """  broken:
    steps:
      - {request: POST /jobs, save: {job: /id}}
      - {request: "GET /jobs/${job}", repeat: {until: {/state: [failed, done]}, seconds: 1}}
"""


class Jobs:
    """A service whose jobs have failed when they are read a third time. ``end``: what they are
    then. ``headers``: those of every reading.
    """

    def __init__(self, end: dict[str, object], headers: dict[str, str] | None = None) -> None:
        self.end, self.readings, self.headers = end, 0, headers or {}

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        if request.method == "POST":
            return answer(202, {"id": "j1", "state": "running"})
        self.readings += 1
        ended = self.readings >= 3
        if ended and not self.end:
            return answer(404, {"code": "absent"})
        state = self.end if ended else {"state": "running"}
        return answer(200, {"id": "j1", **state}, **self.headers)


def job_results(end: dict[str, object] | Jobs, recipe: str = WAITING) -> dict[str, str]:
    """The outcome of each clause of a recipe that waits for a job."""
    document, found = source.parse(HEAD + recipe, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    jobs = end if isinstance(end, Jobs) else Jobs(end)
    seen = provoke.recipes(http_session(jobs, JOBS, loaded.target))
    return {item.clause: item.kind for item in seen if isinstance(item, Outcome)}


def test_a_step_waits_for_a_state() -> None:
    """The answer with the state is judged like any error, although its status is 200."""
    failed = {"state": "failed", "failure": {"code": "broken"}}
    assert job_results(failed) == {"provoke/state": "passed", "provoke/code": "passed"}


def test_a_failed_job_that_says_it_is_done_fails() -> None:
    """The state came, and the code did not."""
    hidden = job_results({"state": "done"})
    assert hidden == {"provoke/state": "passed", "provoke/code": "failed"}


def test_a_job_that_never_ends_fails() -> None:
    """A state that does not come within its time fails, and nothing follows about the code."""
    assert job_results({"state": "running"}) == {"provoke/state": "failed"}
    assert job_results({"state": None}) == {"provoke/state": "failed"}


def test_a_refusal_ends_the_wait() -> None:
    """A job that is gone will not end, so that the last answer decides."""
    assert job_results({}) == {"provoke/code": "failed"}


DEVICES = """
faultspec: 1
taxonomy: {name: devices, version: 1.0.0, title: Devices, owner: nobody}
envelopes: {error: {shape: {error: $code}, additional: forbid}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  authorization_pending: {summary: Not decided, http: 400, retriable: false}
  expired_token: {summary: Too late, http: 400, retriable: false}
"""

LAST = "{request: POST /token, repeat: {until: {/error: expired_token}, seconds: 2}}"


@pytest.mark.parametrize("repeated", ["last", "before"])
@pytest.mark.parametrize("comes", [True, False])
def test_a_refusal_that_has_another_state_is_repeated(repeated: str, comes: bool) -> None:
    """A device asks for its token until the answer is another error (RFC 8628, section 3.5)."""
    polls = 0

    def service(request: Request) -> Response:
        nonlocal polls
        polls += 1
        code = "expired_token" if comes and polls > 3 else "authorization_pending"
        return answer(400, {"error": code})

    once = "{request: POST /token}" if repeated == "before" else ""
    first = LAST.replace("}}", "}, status: 400}") if once else LAST
    recipe = f"  expired_token:\n    steps: [{', '.join(filter(None, (first, once)))}]\n"
    document, found = source.parse(HEAD + recipe, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    seen = provoke.recipes(http_session(service, DEVICES, loaded.target))
    outcomes = {item.clause: item.kind for item in seen if isinstance(item, Outcome)}
    if comes:
        assert outcomes == {"provoke/state": "passed", "provoke/code": "passed"}
    else:
        clause = "provoke/code" if repeated == "last" else "provoke/state"
        assert outcomes == {clause: "failed"}


def test_a_wait_has_at_most_so_many_requests() -> None:
    """`at_most` bounds the requests of a wait, whatever the time."""
    few = WAITING.replace("seconds: 1", "at_most: 2")
    failed = {"state": "failed", "failure": {"code": "broken"}}
    assert job_results(failed, few) == {"provoke/state": "failed"}


def test_a_wait_is_as_long_as_the_answer_asks() -> None:
    """`Retry-After` of a running job delays the next request, within the seconds of the state."""
    jobs = Jobs({"state": "running"}, headers={"Retry-After": "1"})
    assert job_results(jobs) == {"provoke/state": "failed"}
    assert jobs.readings <= 3


def test_a_state_may_have_a_value_that_an_earlier_step_saved() -> None:
    """The wait ends at the saved value, and a name that nothing saved is an error of the file."""
    saved = WAITING.replace("{/state: [failed, done]}", '{/id: "${job}"}')
    assert job_results({"state": "failed", "failure": {"code": "broken"}}, saved) == {
        "provoke/state": "passed",
        "provoke/code": "failed",  # the first answer has the id, and no code yet
    }
    document, _ = source.parse(HEAD + saved.replace('${job}"}', '${joob}"}'), "conformance.yaml")
    assert document is not None
    found = [one.message for one in parse_config(document, {}).diagnostics]
    assert found == ["`joob` is not saved by an earlier step"]


def test_a_step_goes_without_a_header() -> None:
    """`null` takes away a header of the identity, and the key that the suite would send."""
    recipe = """  broken:
    headers: {X-Own: "1", X-Other: "2"}
    steps:
      - {request: POST /jobs, headers: {X-Own: null}}
"""
    document, found = source.parse(HEAD + recipe, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    seen: list[Request] = []

    def script(request: Request) -> Response:
        seen.append(request)
        return answer(404, {"code": "absent"})

    list(provoke.recipes(http_session(script, JOBS, loaded.target)))
    names = {name for request in seen for name, _ in request.headers}
    assert "X-Other" in names
    assert "X-Own" not in names


def test_seconds_belong_to_a_state() -> None:
    """A repetition until a status has no time of its own."""
    recipe = "  broken: {request: GET /jobs, repeat: {until: 429, seconds: 3}}\n"
    document, found = source.parse(HEAD + recipe, "conformance.yaml")
    assert document is not None, found
    assert [item.code for item in parse_config(document, {}).diagnostics] == ["misplaced-key"]


SECRET = """  unbound:
    steps:
      - {request: PUT /binding, body: {passwords: ["${DESK_PASSWORD}"]}}
      - {request: POST /messages, raw: "to ${DESK_PASSWORD}"}
"""


def test_a_step_takes_values_from_the_environment() -> None:
    """A body, and a raw one, have the value of a variable, which reports mask."""
    document, found = source.parse(HEAD + SECRET, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {"DESK_PASSWORD": "opens-7d1e"})
    assert loaded.target is not None, loaded.diagnostics
    first, second = loaded.target.recipes[0].steps
    assert (first.call.body, second.call.raw) == ({"passwords": ["opens-7d1e"]}, "to opens-7d1e")
    assert ("opens-7d1e", "${DESK_PASSWORD}") in loaded.target.secrets
    missing = parse_config(document, {})
    assert {item.code for item in missing.diagnostics} == {"missing-variable"}
