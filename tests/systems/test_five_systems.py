"""One language for five systems: each taxonomy below ``examples`` against its own document.

``fixtures/seed_examples`` holds the JSON of the documents as it stands there, written down by hand
(members shown as ``{ ... }`` are empty objects). KeenBench's document shows no JSON: its one body
is assembled from the list of fields.
"""

import copy
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import LoadedTaxonomy, load
from faultspec.language.model import Code, Envelope, Example, Surface, Taxonomy
from faultspec.lint import check
from faultspec.render import render
from faultspec.runtime import shape
from faultspec.targets import SHIPPED
from paths import ROOT

SEEDS = ROOT / "tests/fixtures/seed_examples"

#: Each system with its taxonomy, and the ids of the statements of its document.
SYSTEMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "platform": ("taxonomy.yaml", tuple(f"C{n}" for n in range(1, 38))),
    "aileron": ("examples/aileron/taxonomy.yaml", tuple(f"A{n}" for n in range(1, 37))),
    "alknet": ("examples/alknet/taxonomy.yaml", tuple(f"K{n}" for n in range(1, 25))),
    "theodosia": ("examples/theodosia/taxonomy.yaml", tuple(f"T{n}" for n in range(1, 16))),
    "keenbench": ("examples/keenbench/taxonomy.yaml", tuple(f"B{n}" for n in range(1, 15))),
}


@cache
def loaded(system: str) -> LoadedTaxonomy:
    """A system's taxonomy as it was read."""
    return load(str(ROOT / SYSTEMS[system][0]))


@cache
def taxonomy(system: str) -> Taxonomy:
    """A system's taxonomy, which is known to be sound."""
    found = loaded(system).taxonomy
    assert found is not None, loaded(system).diagnostics
    return found


@cache
def rules(system: str) -> Contract:
    """A system's contract."""
    return build_contract(taxonomy(system))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that is compiled from the five taxonomies, the Python packages side by side."""
    folder = tmp_path_factory.mktemp("five")
    tree: dict[str, str] = {}
    for system, (path, _) in SYSTEMS.items():
        for file, text in render(taxonomy(system), SHIPPED.values(), path).items():
            where = file if file.startswith("python/") else f"{system}/{file}"
            tree[where] = text
    for file, text in tree.items():
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


@pytest.fixture
def bindings(folder: Path) -> Iterator[Any]:
    """The generated packages by system, imported from there and forgotten afterwards."""
    sys.path.insert(0, str(folder / "python"))
    # Other tests make packages of the same names from other taxonomies.
    others = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if name.split(".")[0].endswith("_errors")
    }

    def of(system: str) -> ModuleType:
        return importlib.import_module(f"{system}_errors")

    yield of
    sys.path.remove(str(folder / "python"))
    for name in list(sys.modules):
        if name.split(".")[0].endswith("_errors"):
            del sys.modules[name]
    sys.modules.update(others)


# The language carries them


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_taxonomy_is_sound(system: str) -> None:
    """Neither the language nor the lint has anything to say of it."""
    assert check(loaded(system)) == ()


@pytest.mark.parametrize("system", ["aileron", "alknet", "theodosia", "keenbench"])
def test_every_statement_is_carried(system: str) -> None:
    """A statement is cited by a construct, an obligation or a ruling; nothing else is cited."""
    statements = SYSTEMS[system][1]
    document = loaded(system).document
    assert document is not None
    found = set(cited(document.data))
    assert found == set(statements)


def cited(value: object) -> Iterator[str]:
    """The statements under every ``source:`` and under every ruling's ``statements:``."""
    if isinstance(value, list):
        for each in value:
            yield from cited(each)
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        if key == "source":
            each = each.get("statement", ()) if isinstance(each, dict) else each
            yield from [each] if isinstance(each, str) else each
        elif key == "statements":
            yield from each
        else:
            yield from cited(each)


@pytest.mark.full
def test_the_generated_python_is_typed(folder: Path) -> None:
    """It satisfies mypy --strict, whatever the system. `tests/targets` has what ruff demands."""
    packages = [str(path) for path in sorted((folder / "python").iterdir()) if path.is_dir()]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", *packages],
        cwd=folder / "python",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# The documents' own examples


class Shown(NamedTuple):
    """A body of a document: the envelope it has, how it travels, and what it says.

    ``status`` is None where the transport has none. ``target``: the route, tool, method or
    operation that was asked. ``framed``: the event that carries the payload.
    """

    system: str
    file: str
    envelope: str
    transport: str
    target: str
    status: int | None
    code: str
    message: str
    retriable: bool
    boundary: str | None
    operation: str | None = None
    framed: bool = False

    @property
    def body(self) -> Any:
        """The JSON as it is sent."""
        payload = json.loads((SEEDS / self.system / f"{self.file}.json").read_text())
        return (
            {"type": "call.error", "id": "call-1", "payload": payload} if self.framed else payload
        )

    def whole(self, body: object) -> object:
        """The message that carries a body: for a tool, a result with the body as its structured
        content.
        """
        if self.transport != "mcp":
            return body
        return {
            "content": [],
            "structuredContent": body,
            "isError": self.code in ("action_timeout", "action_error"),
        }

    def exchange(self, body: object) -> Exchange:
        """A body as the answer that this one is."""
        typed = (("Content-Type", "application/json"),) if self.transport == "http" else ()
        request = Request("POST", self.target)
        body = self.whole(body)
        elapsed = 30.06 if self.code == "action_timeout" else 0.01
        response = Response(self.status, typed, json.dumps(body).encode(), elapsed)
        return Exchange(request, response, self.transport)  # type: ignore[arg-type]  # one of the transports

    def judged(self, body: object) -> Judgement:
        """The judgement of a body in place of this one."""
        return judge(rules(self.system), self.exchange(body))


SLACK = (
    "Slack returned 401 (invalid_auth). The token bound to oauth2/slack/work appears to be revoked."
)
TREASURY = "TLS handshake timed out reaching treasury-api.acme.com:443. The charge connector is non-idempotent; retry was not attempted."
NOT_REACHABLE = (
    "action 'pay' is not reachable from current state. Valid actions now: ['take_order']."
)

# One row an example, however long.
# fmt: off
SHOWN = (
    Shown("aileron", "persistent_external_api_error", "failure", "http", "/v1/chat/completions", 502, "external_api_error", SLACK, False, "external"),
    Shown("aileron", "non_idempotent_connector", "failure", "http", "/v1/chat/completions", 502, "network_error", TREASURY, False, "external"),
    Shown("alknet", "call_error_payload", "call_error", "event", "fs/readFile", None, "FILE_NOT_FOUND", "file not found: /etc/nonexistent", False, None, "readFile", True),
    Shown("theodosia", "invalid_transition", "refusal", "mcp", "step", None, "invalid_transition", NOT_REACHABLE, False, None),
    Shown("theodosia", "validation_failed", "rejection", "mcp", "step", None, "validation_failed", "modifier must be one of: oat, soy, almond", False, None),
    Shown("theodosia", "action_timeout", "refusal", "mcp", "step", None, "action_timeout", "action 'fetch_report' exceeded its 30s timeout.", False, None),
    Shown("theodosia", "action_error", "exception", "mcp", "step", None, "action_error", "must read the file before editing it", False, None),
    Shown("keenbench", "consent_required", "rpc", "jsonrpc", "workshop.send", None, "EGRESS_CONSENT_REQUIRED", "Consent is required before content is sent to the provider", False, None),
)
# fmt: on

#: unknown_action breaks the sentence it illustrates: the ruling `next-actions-always`.
UNKNOWN_ACTION = Shown(
    "theodosia", "unknown_action", "unknown", "mcp", "step", None, "unknown_action", "", False, None
)

#: Bodies of the documents that are not errors on a wire.
NO_ERRORS = ("aileron/tool_message", "alknet/services_schema")

every_example = pytest.mark.parametrize(
    "shown", SHOWN, ids=lambda each: f"{each.system}-{each.file}"
)


@cache
def validator(
    folder: Path, system: str, name: str, target: str = "jsonschema"
) -> jsonschema_rs.Draft202012Validator:
    """The generated schema of an envelope, or of whatever another target names so."""
    schema = json.loads((folder / system / target / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return jsonschema_rs.Draft202012Validator(schema)


def test_every_fixture_is_used() -> None:
    """No transcribed body of these systems lies there without a law that it is held to."""
    used = {f"{each.system}/{each.file}" for each in (*SHOWN, UNKNOWN_ACTION)} | set(NO_ERRORS)
    there = {
        f"{each.parent.name}/{each.stem}"
        for each in SEEDS.glob("*/*.json")
        if each.parent.name in SYSTEMS
    }
    assert used == there


@every_example
def test_the_schema_accepts_the_document(shown: Shown, folder: Path) -> None:
    """The bodies that the document shows are those that the generated JSON Schema describes."""
    assert list(validator(folder, shown.system, shown.envelope).iter_errors(shown.body)) == []


@every_example
def test_a_client_reads_the_document(shown: Shown, bindings: Any) -> None:
    """The bindings read code, message, flag, boundary and details out of it."""
    error = bindings(shown.system).parse(shown.body, status=shown.status, operation=shown.operation)
    facts = (str(error.code), error.message, error.retriable, error.boundary)
    assert facts == (shown.code, shown.message, shown.retriable, shown.boundary)
    flat = json.dumps(shown.body)
    assert all(json.dumps(value) in flat for value in error.details.values())


@every_example
def test_a_service_sends_the_document(shown: Shown, bindings: Any) -> None:
    """Read and rendered again, an example is what it was."""
    package = bindings(shown.system)
    error = package.parse(shown.body, status=shown.status, operation=shown.operation)
    assert package.to_envelope(error, envelope=shown.envelope) == shown.body


@every_example
def test_the_judge_is_silent_on_the_document(shown: Shown) -> None:
    """An exchange that carries the example keeps the contract, and is known for what it is."""
    found = shown.judged(shown.body)
    assert found.findings == ()
    assert (found.code, found.is_error) == (shown.code, True)


def test_the_example_that_breaks_its_document_is_found_out(folder: Path) -> None:
    """Without valid_next_actions unknown_action is refused, by that and nothing else."""
    whole = {**UNKNOWN_ACTION.body, "valid_next_actions": ["take_order"]}
    schema = validator(folder, "theodosia", "unknown")
    assert not schema.is_valid(UNKNOWN_ACTION.body)
    assert schema.is_valid(whole)
    assert [each.clause for each in UNKNOWN_ACTION.judged(UNKNOWN_ACTION.body).findings] == [
        "envelope/shape"
    ]
    assert UNKNOWN_ACTION.judged(whole).findings == ()


#: In the place of a value: the member is taken away.
GONE: Any = object()

#: What is put there: one value of each JSON type.
SUBSTITUTES: tuple[Any, ...] = (GONE, True, 7, "else", None, [], {})


def changed(value: Any) -> Iterator[tuple[str, Any]]:
    """Every body that comes of taking away one member, or of putting something else in the place of
    one value.
    """
    for path in places(value):
        for what in SUBSTITUTES:
            body = copy.deepcopy(value)
            *above, last = path
            inner = body
            for step in above:
                inner = inner[step]
            if what is GONE:
                del inner[last]
            else:
                inner[last] = what
            if body != value:
                yield f"{'/'.join(map(str, path))} {'gone' if what is GONE else repr(what)}", body


def places(value: object) -> Iterator[tuple[str | int, ...]]:
    """The path of every member below a value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield (key,)
            yield from ((key, *path) for path in places(each))


@every_example
def test_judge_and_schema_agree_on_every_variation(shown: Shown, folder: Path) -> None:
    """No generated schema of the surface accepts a body that the judge calls an error."""
    surface = rules(shown.system).claim(shown.exchange(shown.body))
    assert surface is not None
    # The gateway lets bodies of another shape pass; an install is answered with the same envelope
    # and does not.
    shown = shown._replace(target="/v1/actions/send") if surface.surface.reason else shown
    schemas = [validator(folder, shown.system, each.name) for each in surface.envelopes]
    beyond = {"deadline/kept"}  # the time an answer took is not in it
    for name, body in changed(shown.body):
        found = shown.judged(body)
        if not found.is_error:
            continue  # what makes it an error is gone
        wrong = {each.clause for each in found.findings if each.level == "error"} - beyond
        assert (wrong == set()) == any(each.is_valid(body) for each in schemas), (name, wrong)
        if shown.transport != "http":
            of_surface = validator(folder, shown.system, surface.surface.name, "surfaces")
            assert (wrong == set()) == of_surface.is_valid(shown.whole(body)), (name, wrong)


# The examples of the taxonomies


def examples(system: str) -> Iterator[tuple[str, Code, Example, Surface, Envelope]]:
    """Every example of a taxonomy on every surface that may carry it, in each envelope that it can
    fill.
    """
    known = taxonomy(system)
    own = [(each.name, code) for each in known.operations.values() for code in each.errors.values()]
    for operation, code in [*((None, code) for code in known.shared_live_codes()), *own]:
        for example in code.examples:
            for surface in known.surfaces.values():
                named = surface.codes is None or code.name in surface.codes or operation is not None
                if named and surface.transport in ("mcp", "event", "jsonrpc"):
                    yield from (
                        (operation or "", code, example, surface, known.envelopes[each])
                        for each in surface.envelopes
                    )


def filled(code: Code, example: Example, envelope: Envelope) -> object:
    """An example in an envelope; raises MissingSlot where it cannot fill it."""
    slots: dict[str, object] = {
        "code": code.wire,
        "message": example.message or code.message,
        "details": example.details,
        "actions": list(code.actions),
        "request_id": "1",
        **(
            {"retriable": code.retriable.flag_kind == "always"}
            if code.retriable.flag_kind in ("always", "never")
            else {}
        ),
        **example.slots,
    }
    return shape.render(envelope.shape, slots)


@pytest.mark.parametrize("system", ["alknet", "theodosia", "keenbench"])
def test_the_judge_is_silent_on_the_taxonomys_examples(system: str) -> None:
    """Each code's example fills an envelope of each surface beyond HTTP, and keeps the contract
    there.
    """
    silent: dict[tuple[str, str], bool] = {}
    for operation, code, example, surface, envelope in examples(system):
        key = (surface.name, f"{code.name}: {example.message}")
        silent.setdefault(key, False)
        try:
            body = filled(code, example, envelope)
        except shape.MissingSlot:
            continue
        if surface.transport == "mcp":
            body = {
                "content": [],
                "structuredContent": body,
                "isError": code.mcp is not None and code.mcp.is_error,
            }
        elif surface.at:
            assert surface.at == "/params/error"
            body = {"method": "failed", "params": {"error": body}}
        target = (
            taxonomy(system).operations[operation].wire
            if operation
            else next(iter(surface.match.tools), "some")
        )
        request = Request("POST", target)
        response = Response(None, (), json.dumps(body).encode(), 30.0)
        found = judge(rules(system), Exchange(request, response, surface.transport))  # type: ignore[arg-type]  # as above
        silent[key] |= found.findings == () and found.code == code.name
    assert silent
    assert [key for key, each in silent.items() if not each] == []


#: What each transport says when the protocol fails, and not the application (JSON-RPC 2.0 §5.1).
PARSE_ERROR = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}


@pytest.mark.parametrize(
    ("error", "accepted"),
    [
        (PARSE_ERROR, True),
        (PARSE_ERROR | {"error": {"code": -32601, "message": "x", "data": {"method": "y"}}}, True),
        (PARSE_ERROR | {"error": {"code": -32050, "message": "x"}}, False),
        (PARSE_ERROR | {"error": {"code": -32700}}, False),
        (PARSE_ERROR | {"jsonrpc": "1.0"}, False),
    ],
)
def test_the_protocols_errors_are_described_beside_ours(
    error: object, accepted: bool, folder: Path
) -> None:
    """A request that fails before the application is asked has a number of JSON-RPC's own and no
    ErrorInfo (B14).
    """
    assert validator(folder, "keenbench", "engine", "surfaces").is_valid(error) is accepted
    exchange = Exchange(
        Request("POST", "x"), Response(None, (), json.dumps(error).encode()), "jsonrpc"
    )
    assert (judge(rules("keenbench"), exchange).findings == ()) is accepted


def test_a_tools_output_schema_holds_refusals_and_successes(folder: Path) -> None:
    """An answer of `step` conforms to its output schema, refused or not; a success without the next
    actions does not (T1, T2).
    """
    schema = validator(folder, "theodosia", "step.output", "mcp")
    assert (
        json.loads((folder / "theodosia/mcp/step.output.schema.json").read_text())["type"]
        == "object"
    )
    shown = [each for each in SHOWN if each.system == "theodosia"]
    assert [each.file for each in shown if not schema.is_valid(each.body)] == []
    assert schema.is_valid({"action": "pay", "result": {}, "valid_next_actions": []})
    assert not schema.is_valid({"action": "pay", "result": {}})
    assert not schema.is_valid({"error": "no_such_refusal", "valid_next_actions": []})


def test_a_mark_that_is_not_the_codes_is_not_a_result_of_the_tool(folder: Path) -> None:
    """The schema of the surface holds `isError` to what the code declares; left out, it is false
    (T12).
    """
    schema = validator(folder, "theodosia", "step", "surfaces")
    for shown in (each for each in SHOWN if each.system == "theodosia"):
        whole = cast(dict[str, Any], shown.whole(shown.body))
        assert schema.is_valid(whole)
        assert not schema.is_valid(whole | {"isError": not whole["isError"]})
        del whole["isError"]
        assert schema.is_valid(whole) is (shown.code not in ("action_timeout", "action_error"))


def test_records_are_described(folder: Path) -> None:
    """An audit record names a declared class; a record of a step may be one of a success (A34,
    T11).
    """
    schema = validator(folder, "aileron", "audit", "records")
    record = {
        "class": "network_error",
        "message": "x",
        "boundary": "external",
        "retried": 3,
        "actor": "a",
        "time": "t",
        "audit_id": "audit-1",
    }
    assert schema.is_valid(record)
    assert not schema.is_valid(record | {"class": "other"})
    history = validator(folder, "theodosia", "audit", "records")
    assert history.is_valid({"seq": 0, "action": "pay", "refused": False})
    assert not history.is_valid(
        {"seq": 0, "action": "pay", "refused": True, "refusal_reason": "other"}
    )


# What one system has and the others do not


def test_aileron_has_two_envelopes_and_no_third() -> None:
    """Each route has its envelope; the other one, and `error` as a bare string, are refused there
    (A8, A9).
    """
    failure = json.loads((SEEDS / "aileron/non_idempotent_connector.json").read_text())
    api_error = {
        "error": {"code": "not_found", "message": "no such intent", "details": [{"id": "7"}]}
    }
    install, crud = (
        SHOWN[0]._replace(target="/v1/actions/send"),
        SHOWN[0]._replace(target="/v1/intents/7"),
    )
    verdicts = [
        not each.judged(body).findings for each in (install, crud) for body in (failure, api_error)
    ]
    assert verdicts == [True, False, False, True]
    assert [each.clause for each in crud.judged({"error": "no such intent"}).findings] == [
        "envelope/shape"
    ]


def test_aileron_keeps_reserved_classes_for_later(bindings: Any) -> None:
    """A class for approvals is not constructible, is unknown to clients, and is a finding on the
    wire (A12).
    """
    body = json.loads((SEEDS / "aileron/persistent_external_api_error.json").read_text())
    body["error"] |= {"class": "approval_denied", "boundary": "user"}
    package = bindings("aileron")
    assert not {"APPROVAL_DENIED", "APPROVAL_TIMEOUT"} & set(package.ErrorCode.__members__)
    assert type(package.parse(body)) is package.UnknownError
    install = SHOWN[0]._replace(target="/v1/actions/send")
    assert "code/reserved" in {each.clause for each in install.judged(body).findings}


@pytest.mark.parametrize(
    ("status", "retriable"),
    [(400, False), (404, False), (429, True), (499, False), (500, True), (503, True)],
)
def test_ailerons_flag_follows_the_status(status: int, retriable: bool, bindings: Any) -> None:
    """An upstream's 429 and 5xx are retriable and its other answers are not, for bindings and judge
    alike (A19).
    """
    error = bindings("aileron").ExternalApiError(status_=status, audit_id="audit-1")
    assert error.retriable is retriable
    install = SHOWN[0]._replace(target="/v1/actions/send")
    body = bindings("aileron").to_envelope(error, envelope="failure")
    assert install.judged(body).findings == ()
    body["error"]["retriable"] = True
    assert bool(install.judged(body).findings) is not retriable


def test_no_error_lacks_what_its_envelope_requires(bindings: Any, folder: Path) -> None:
    """A slot that an envelope requires and nothing fills is a mandatory argument; facts that only
    the request knows are parameters (A6, T3, B1).
    """
    with pytest.raises(TypeError, match="audit_id"):
        bindings("aileron").HashMismatch()
    with pytest.raises(TypeError, match=r"requested.*valid_next_actions"):
        bindings("theodosia").InvalidTransition()
    with pytest.raises(TypeError, match="known_actions"):
        bindings("theodosia").UnknownAction(requested="x", valid_next_actions=[])
    disk_full = bindings("keenbench").DiskFull(phase="publish")
    with pytest.raises(KeyError, match="no value for the slot 'request_id', which /id needs"):
        bindings("keenbench").to_envelope(disk_full)
    whole = bindings("keenbench").to_envelope(disk_full, slots={"request_id": 7})
    assert validator(folder, "keenbench", "rpc").is_valid(whole)


def test_a_boundary_completes_what_it_answers(bindings: Any) -> None:
    """The audit id of an error that nobody raised comes from the service; without one it is null,
    and still an answer.
    """
    bindings("aileron")
    asgi, runtime = (
        importlib.import_module(f"aileron_errors.{each}") for each in ("asgi", "_runtime.boundary")
    )
    problem = runtime.Problem(500, "1", RuntimeError("x"), ())
    named = asgi.answer(problem, complete=lambda error: setattr(error, "audit_id", "audit-1"))
    assert [
        json.loads(each.body)["error"]["audit_id"] for each in (named, asgi.answer(problem))
    ] == ["audit-1", None]


def test_a_wait_in_the_details_is_the_one_in_the_header(bindings: Any) -> None:
    """A detail that repeats Retry-After is given once and sent twice; without it there is no header
    (K23).
    """
    package = bindings("alknet")
    error = package.CreateMachineRateLimited(details_retry_after=1.5)
    rendered = package.render(error)
    assert (json.loads(rendered.body)["details"], rendered.headers["Retry-After"]) == (
        {"retry_after": 1.5},
        "2",
    )
    assert "Retry-After" not in package.render(package.CreateMachineRateLimited()).headers
    with pytest.raises(TypeError, match="retry_after"):
        package.CreateMachineRateLimited(details_retry_after=2, retry_after=3)


def test_the_raising_code_states_facts_that_rules_cannot_know(bindings: Any) -> None:
    """A flag that depends on the operation may be given, as in the document's third example; else
    the rules hold (A29).
    """
    package = bindings("aileron")
    refused = package.NetworkError(audit_id="audit-1", retriable=False)
    assert package.to_envelope(refused)["error"]["retriable"] is False
    assert not package.plan_retry(refused, package.start_retry(refused), now=0.0).retry
    assert package.NetworkError(audit_id="audit-1").retriable
    assert (
        package.ExternalApiError(audit_id="audit-1", status_=503, retriable=False).retriable
        is False
    )
    with pytest.raises(TypeError, match="retriable"):
        package.HashMismatch(audit_id="audit-1", retriable=True)


def test_ailerons_runtime_retries_three_times(bindings: Any) -> None:
    """Three retries after 1 s, 2 s and 4 s, up to a fifth longer; then no more (A24)."""
    package = bindings("aileron")
    error = package.NetworkError(audit_id="audit-1")
    for chance, delays in ((0.0, [1, 2, 4]), (1.0, [1.2, 2.4, 4.8])):
        state, found = package.start_retry(error), []
        while (
            plan := package.plan_retry(error, state, random=lambda chance=chance: chance, now=0.0)
        ).retry:
            found.append(plan.delay)
            state = plan.state
        assert found == pytest.approx(delays)


def test_ailerons_runtime_retries_two_classes_only(bindings: Any) -> None:
    """The flag alone makes the runtime retry nothing: the class must be one of two (A26); nor does
    it without the flag.
    """
    package = bindings("aileron")
    retried = {
        "network_error": package.NetworkError(audit_id="audit-1"),
        "external_api_error 503": package.ExternalApiError(status_=503, audit_id="audit-1"),
        "external_api_error 404": package.ExternalApiError(status_=404, audit_id="audit-1"),
        "connector_runtime_error": package.ConnectorRuntimeError(
            retriable=True, audit_id="audit-1"
        ),
        "binding_failed": package.BindingFailed(retriable=True, audit_id="audit-1"),
    }
    found = {
        name
        for name, each in retried.items()
        if package.plan_retry(each, package.start_retry(each), now=0.0).retry
    }
    assert found == {"network_error", "external_api_error 503"}
    error = retried["network_error"]
    assert not package.plan_retry(
        error, package.start_retry(error), idempotent=False, now=0.0
    ).retry


@pytest.mark.parametrize(
    ("status", "idempotent", "retried"),
    [
        (404, True, False),
        (429, True, True),
        (429, False, False),
        (503, True, True),
        (302, True, True),
    ],
)
def test_ailerons_runtime_goes_by_the_status_of_the_upstream(
    status: int, idempotent: bool, retried: bool, bindings: Any
) -> None:
    """Whatever the flag says, the first rule that holds decides whether the policy is for an error:
    a 4xx is not retried, but for 429; a status that no rule is for leaves it to the class (A26).
    """
    package = bindings("aileron")
    error = package.ExternalApiError(audit_id="audit-1", status_=status, retriable=True)
    plan = package.plan_retry(error, package.start_retry(error), idempotent=idempotent, now=0.0)
    assert (plan.retry, plan.reason) == (retried, "retry" if retried else "not_eligible")


def test_ailerons_tool_message_is_the_documents(bindings: Any) -> None:
    """Rendered for a chat completion, a failure reads word for word as in the document; without a
    suggestion that line goes (A32, A33).
    """
    package = bindings("aileron")
    renderings = importlib.import_module("aileron_errors.renderings")
    shown = json.loads((SEEDS / "aileron/tool_message.json").read_text())
    suggestion = shown["content"].split("\n")[1]
    error = package.ExternalApiError(
        "Slack returned 401: invalid token",
        status_=401,
        audit_id="audit-7f3e...",
        suggestion=suggestion,
    )
    assert renderings.tool_message(error, tool_call_id="...", action="send-team-email") == shown
    bare = package.HashMismatch("The bytes differ", audit_id="audit-1")
    assert renderings.tool_result(bare, tool_use_id="7") == {
        "type": "tool_result",
        "tool_use_id": "7",
        "is_error": True,
        "content": "hash_mismatch: The bytes differ\naudit_id: audit-1",
    }


def test_ailerons_tool_message_names_a_class_and_an_audit_id() -> None:
    """The sentence for a language model holds a declared class, and an id of the form of the
    field's.
    """
    message = json.loads((SEEDS / "aileron/tool_message.json").read_text())
    match = re.search(r"failed: (\w+) \(", message["content"])
    assert match
    assert match[1] in taxonomy("aileron").codes
    audit_id = message["content"].rpartition("audit_id: ")[2]
    assert re.search(
        taxonomy("aileron").envelopes["failure"].fields["audit_id"].schema.pattern or "$.", audit_id
    )


def test_alknets_operations_declare_what_they_publish() -> None:
    """The codes, summaries, statuses and details of readFile are those of its published schema (K5,
    K18).
    """
    published = json.loads((SEEDS / "alknet/services_schema.json").read_text())
    operation = taxonomy("alknet").operations["readFile"]
    assert operation.wire == published["name"]
    assert [
        (each["code"], each["description"], each["http_status"])
        for each in published["error_schemas"]
    ] == [(code.name, code.summary, code.http.own_default) for code in operation.errors.values()]
    for each in published["error_schemas"]:
        declared = {
            name: member.schema.types
            for name, member in operation.errors[each["code"]].details.items()
        }
        assert {
            name: (schema["type"],) for name, schema in each["schema"]["properties"].items()
        }.items() <= (declared.items())


def test_alknets_clients_treat_an_unknown_code_as_internal(bindings: Any) -> None:
    """Whatever its flag says, an error with a code of a later version is INTERNAL and not retryable
    (K8).
    """
    package = bindings("alknet")
    error = package.parse({"code": "QUOTA_EXCEEDED", "message": "x", "retryable": True})
    assert (error.code, error.retriable, error.original_code) == (
        package.ErrorCode.INTERNAL,
        False,
        "QUOTA_EXCEEDED",
    )


def test_alknet_keeps_an_undeclared_code_among_the_details(bindings: Any) -> None:
    """An error that no operation declares becomes INTERNAL, with its own code in the details
    (K13).
    """
    package = bindings("alknet")
    error = importlib.import_module("alknet_errors.errors").undeclared("QUOTA_EXCEEDED")
    body = package.to_envelope(error)
    assert (body["code"], body["retryable"], body["details"]) == (
        "INTERNAL",
        False,
        {"code": "QUOTA_EXCEEDED"},
    )


def test_an_operation_goes_by_what_it_is_called_by(bindings: Any) -> None:
    """A client that knows an operation by its name on the wire alone reads the operation's own
    errors (K5).
    """
    package = bindings("alknet")
    body = package.to_envelope(package.ReadFileFileNotFound(path="/x"), envelope="error")
    for name in ("readFile", "fs/readFile"):
        assert type(package.parse(body, operation=name)) is package.ReadFileFileNotFound
    assert type(package.parse(body, operation="vastai/createMachine")) is package.UnknownError
    assert type(package.parse(body, operation="fs")) is package.UnknownError


def test_a_code_of_one_operation_is_not_another_ones() -> None:
    """FILE_NOT_FOUND belongs to readFile: from createMachine it breaks the contract (K5)."""
    shown = next(each for each in SHOWN if each.system == "alknet")
    found = shown._replace(target="vastai/createMachine").judged(shown.body)
    assert [each.clause for each in found.findings] == ["code/operation"]


def test_only_what_http_sends_is_an_http_response(folder: Path) -> None:
    """Events, tools and lines have no HTTP responses, nor has an envelope whose codes are not the
    taxonomy's (A8, K2, B1, T1).
    """
    documents = {
        system: json.loads((folder / system / "openapi/openapi-3.1.json").read_text())["components"]
        for system in SYSTEMS
    }
    envelopes = {
        system: {re.sub(r"[0-9]XX$|[0-9]{3}$", "", name) for name in each.get("responses", {})}
        for system, each in documents.items()
    }
    http = {
        "platform": {"Error"},
        "aileron": {"Failure"},
        "alknet": {"Error"},
        "theodosia": set(),
        "keenbench": set(),
    }
    assert envelopes == http
    assert {"CallError", "CallErrorNotFound"} <= set(documents["alknet"]["schemas"])
    # No code of the taxonomy travels in it: a union of nothing would be no JSON Schema.
    assert "ApiError" not in documents["aileron"]["schemas"]


def test_a_code_travels_in_the_envelope_of_its_surface(bindings: Any) -> None:
    """An error for which nothing else is chosen is in an envelope that its surface has, the one its
    example fills (A8, K2, B1, T1).
    """
    disk_full = bindings("keenbench").DiskFull(phase="publish")
    assert bindings("keenbench").to_envelope(disk_full, slots={"request_id": 7})["jsonrpc"] == "2.0"
    lost, missing = (
        bindings("alknet").NotFound(),
        bindings("alknet").ReadFileFileNotFound(path="/x"),
    )
    assert bindings("alknet").to_envelope(lost)["code"] == "NOT_FOUND"
    assert bindings("alknet").to_envelope(missing)["code"] == "FILE_NOT_FOUND"
    event = bindings("alknet").to_envelope(
        missing, envelope="call_error", slots={"request_id": "1"}
    )
    assert event["type"] == "call.error"
    denied = bindings("aileron").CapabilityDenied(audit_id="audit-1")
    assert bindings("aileron").to_envelope(denied)["error"]["class"] == "capability_denied"
    raised = bindings("theodosia").ActionError(
        "no", requested="pay", error_type="ValueError", valid_next_actions=[]
    )
    assert bindings("theodosia").to_envelope(raised)["error_message"] == "no"


@pytest.mark.parametrize("system", ["aileron", "theodosia", "keenbench"])
def test_an_unknown_error_is_taken_for_no_other(system: str, bindings: Any) -> None:
    """Where the taxonomy says nothing of unknown codes, one has no code, is nobody's default and is
    not sent again.
    """
    package = bindings(system)
    body = {"error": {"code": "teapot", "class": "teapot", "message": "x", "retriable": True}}
    error = package.parse(body, status=503)
    assert (type(error), error.code, error.status, error.raw) == (
        package.UnknownError,
        None,
        503,
        body,
    )
    assert (error.retriable, error.facts.client_action) == (False, "none")
    assert error.facts not in package.FACTS.values()
    assert not package.plan_retry(error, package.start_retry(error)).retry
    assert not package.is_retryable(error.code)


def test_keenbenchs_retryable_codes_offer_a_retry() -> None:
    """Whatever may be sent again by a machine may be by a person: its actions have retry or resume
    (B6).
    """
    for code in taxonomy("keenbench").shared_live_codes():
        if code.retriable.flag_kind in ("always", "caller"):
            assert {"retry", "resume"} & set(code.actions), code.name


def test_theodosias_exceptions_may_say_what_they_like_but_no_secret() -> None:
    """The text of an exception is passed on with its paths; a credential in it is a leak all the
    same (T8).
    """
    shown = next(each for each in SHOWN if each.file == "action_error")
    body = shown.body
    body["error_message"] = "Traceback (most recent call last): cannot open /home/agent/notes.db"
    assert shown.judged(body).findings == ()
    body["error_message"] = (
        "401 for Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
    )
    assert [each.clause for each in shown.judged(body).findings] == ["leaks/secret"]
