"""The sweep: generated traffic, sent by the driver of the run and judged by the same judge.

`run.generation` generates requests. The gateway here decides which of them are sent, as whom, and
what the generator learns of the answer. So limits, credentials, the judge and the reports are the
same as for probes.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import chain
from random import Random

from faultspec.exchange.model import Request, Response
from faultspec.exchange.sensitive import MASK
from faultspec.language.header_syntax import FIELD_NAME
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.config import CREDENTIALS, NOBODY, Identity, is_credential
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.run.generation import (
    LEFT_OUT,
    CheckFailure,
    GatewayAnswer,
    GeneratedRequest,
    GenerationPlan,
    generate,
)
from faultspec_conformance.sanitize.masking import build_masking
from faultspec_conformance.session.endings import ends_session
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    leaves,
    not_exercised,
    passed,
)
from faultspec_conformance.session.parameters import known_values
from faultspec_conformance.session.requests import RequestSpec, add_query, drop_query
from faultspec_conformance.session.resources import path_of

#: Requests of a sweep that a remedy allows for; the factor for those that other parts keep, such as
#: repeated failures (one in ten) and the last reads; and the multiple that a person would write.
_SWEPT, _KEPT, _ROUND = 120, 1.2, 50

#: The share of the time that is left which the sweep may take. The rest repeats failures.
_TIME = 3 / 4

#: The shares of the requests for the first phases together (examples and coverage), and for the
#: first three. The stateful phase has the rest.
_FIRST, _FUZZED = 1 / 2, 4 / 5

#: The share of the fuzzing requests of an operation that find something. The others shrink it.
_FINDING = 2 / 3

#: Requests of one stateful scenario, on the average; measured on services of two to five resources.
_STEPS = 5

#: Requests a path with methods that the document does not declare. A probe sends one of them too.
_UNDECLARED = 2

#: One request in so many is sent again without credentials, and one in so many again with the ids
#: of an existing resource.
_ANONYMOUS, _EXISTING = 8, 4

#: How often the sweep waits for a rate limit. After that, 429 is an answer like any other.
_PATIENT = 3

#: Requests without an answer after which the sweep ends.
_HOPELESS = 3

#: Reasons of missing answers that a report shows. More would repeat each other.
_REASONS = 4

_STATEFUL = "stateful"

#: The clause of further checks, and the check that is about resources after their deletion.
_SEQUENCES, _DELETIONS = "document/sequences", "use_after_free"

#: What an HTTP client can write into a header field (RFC 9110, 5.5) and into a request line.
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\uffff]*")
_TARGET = re.compile(r"/[\x21-\x7e]{0,8000}")


@dataclass(frozen=True, slots=True)
class Swept:
    """The remarks of a sweep. ``not_run``: work that could not run. ``complete``: all was sent and
    answered.
    """

    notes: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    complete: bool = False


def sweep(session: HttpSession, *, seed: int) -> Swept:
    """Send generated requests within the limits that are left. No document or service raises an
    exception.

    The document, the answers and ``seed`` decide which requests are generated and sent.
    """
    operations, notes = take_part(session)
    if not operations:
        held = bool(session.description.operations)
        why = (
            "no sweep: no operation of the OpenAPI document may be called"
            if held
            else "no sweep: no operation is described"
        )
        return Swept(notes=(why, *notes), complete=True)
    if session.observations.ended is not None:
        return Swept(not_run=(f"the sweep: {session.observations.ended}",))
    budget = min(
        session.driver.limits.requests - session.driver.requests, session.config.sweep.requests
    )
    if budget <= 0 or session.driver.remaining <= 0:
        return Swept(not_run=(f"the sweep: {_describe_spent_limit(session)}",))
    if find_spec("schemathesis") is None:
        return Swept(
            not_run=(
                "the sweep: schemathesis is not installed (`pip install faultspec[conformance]`)",
            )
        )
    gateway = Gateway(session, Shares(budget, len(operations)), Random(seed))
    fuzzed = budget * (_FUZZED - _FIRST) / len(operations)
    plan = GenerationPlan(
        description=session.description,
        operations=operations,
        seed=seed,
        seconds=session.driver.remaining * _TIME,
        examples=max(1, int(fuzzed * _FINDING)),
        # More than its share pays for: earlier phases leave requests over.
        scenarios=max(2, int(budget * _FIRST / _STEPS)),
        checks=session.config.sweep.checks,
    )
    generated = generate(plan, gateway.answer, gateway.is_over)
    session.observations.add(gateway.judge_failures(generated.failures))
    not_run = tuple(gateway.reasons)[:_REASONS]
    if not generated.requests:
        not_run = (f"the sweep: {generated.trouble or 'no request was generated'}",)
    elif generated.trouble:
        notes = (*notes, f"the sweep is not complete: {generated.trouble}")
    complete = not (generated.trouble or not_run) and session.driver.remaining > 0
    return Swept(notes, not_run, complete)


def _describe_spent_limit(session: HttpSession) -> str:
    """Name the limit that the probes have spent, with the line that leaves enough for a sweep."""
    driver, limits = session.driver, session.config.limits
    if driver.remaining <= 0:
        needed = math.ceil(2 * limits.seconds)
        spent = f"the probes have spent {limits.seconds:g} seconds"
        return f"{spent}: write `limits: {{seconds: {needed}}}`"
    needed = math.ceil((driver.requests + _SWEPT) * _KEPT / _ROUND) * _ROUND
    spent = f"the probes have spent {driver.requests} of {limits.requests} requests"
    return f"{spent}: write `limits: {{requests: {needed}}}`"


def take_part(session: HttpSession) -> tuple[tuple[ServiceOperation, ...], tuple[str, ...]]:
    """The operations that generated requests may be sent to, and a note about those that may end
    the caller's session.
    """
    allowed = [
        operation
        for operation in session.description.operations
        if (session.writable or operation.method in SAFE_METHODS)
    ]
    endings = [operation.name for operation in allowed if may_end_session(session, operation)]
    names = ", ".join(endings)
    why = "each may end the session of the caller, remove the caller or change credentials"
    if session.config.sweep.leave_out is not None:
        why = "the configuration leaves them out"
    notes = (f"generated requests are not sent to {names}: {why}",)
    kept = tuple(operation for operation in allowed if operation.name not in endings)
    return kept, notes if endings else ()


def may_end_session(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether a request of the caller may end its session, remove it or change its credentials, by
    the configuration or else by the name of the operation.
    """
    patterns = session.config.sweep.leave_out
    if patterns is not None:
        base = session.description.base
        return any(each.matches(operation.method, operation.template, base) for each in patterns)
    return not session.caller.anonymous and ends_session(operation)


def template_of(description: Description, request: Request) -> str | None:
    """The template of a request's path, by any method of the document; None if the path is
    unknown.
    """
    path = request.target.partition("?")[0]
    declared = (operation.method for operation in description.operations)
    for method in dict.fromkeys((request.method, *declared)):
        operation = description.operation_at(method, path)
        if operation is not None:
            return operation.template
    return None


def is_sendable(request: Request) -> bool:
    """Whether an HTTP client can write the request. Others do not test the service."""
    return _TARGET.fullmatch(request.target) is not None and all(
        FIELD_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in request.headers
    )


@dataclass(slots=True)
class Shares:
    """How many requests are left for each phase and operation.

    ``total``: requests of the sweep. ``operations``: how many operations share them. What an
    operation leaves over is shared by later ones, and what a phase leaves over by later phases.
    """

    total: int
    operations: int
    spent: int = 0
    _shares: dict[tuple[bool, str], int] = field(default_factory=dict)
    _sent: Counter[tuple[bool, str]] = field(default_factory=Counter)

    @property
    def left(self) -> int:
        """Requests that are left."""
        return self.total - self.spent

    def share(self, phase: str, name: str) -> int:
        """The requests that an operation has in a phase, of which some may be sent already."""
        if phase == _STATEFUL:
            return self.left
        fuzzed = phase == "fuzzing"
        key = fuzzed, name
        if key not in self._shares:
            end = self.total * (_FUZZED if fuzzed else _FIRST)
            waiting = self.operations - sum(other == fuzzed for other, _ in self._shares)
            share = (end - self.spent) / max(1, waiting)
            self._shares[key] = max(1, int(share))
        return self._shares[key]

    def has(self, phase: str, name: str) -> bool:
        """Whether an operation has requests left in a phase."""
        sent = self._sent[phase == "fuzzing", name]
        return self.left > 0 and (phase == _STATEFUL or sent < self.share(phase, name))

    def spend(self, phase: str, name: str, requests: int) -> None:
        """Count requests that were sent."""
        self.spent += requests
        if phase != _STATEFUL:
            self._sent[phase == "fuzzing", name] += requests


@dataclass(slots=True)
class Gateway:
    """Answers generated requests: it sends them to the service as the caller, or leaves them out.

    ``reasons``: why requests got no answer.
    """

    session: HttpSession
    shares: Shares
    random: Random
    reasons: dict[str, None] = field(default_factory=dict)
    _cases: dict[str, Observation] = field(default_factory=dict)
    _arrived: Counter[str] = field(default_factory=Counter)
    _starts: dict[str, int] = field(default_factory=dict)
    _unanswered: int = 0
    _waits: int = 0
    _in_sequence: int = 0

    def is_over(self) -> bool:
        """Whether nothing more is sent."""
        driver = self.session.driver
        return (
            self.shares.left <= 0
            or driver.requests >= driver.limits.requests
            or driver.remaining <= 0
            or self._unanswered >= _HOPELESS
            or self.session.observations.ended is not None
        )

    def answer(self, generated: GeneratedRequest) -> GatewayAnswer:
        """Send a request to the service, and return its answer; or leave it out."""
        request, phase = generated.request, generated.phase
        template = template_of(self.session.description, request)
        if template is None or not is_sendable(request) or self.is_over():
            return LEFT_OUT
        name = f"{request.method} {template}"
        if not self._takes_part(name) or not self._is_chosen(generated, name, template):
            return LEFT_OUT
        caller = self.session.caller
        as_caller = write_as(self.session, request, caller, self.random)
        before = self.session.driver.requests
        trigger = generated.trigger or "generated data"
        observation = self._ask(as_caller, caller, template, trigger)
        if observation is not None and phase != _STATEFUL:
            self._send_copies(request, as_caller, template, observation, trigger=trigger)
        self.shares.spend(phase, name, self.session.driver.requests - before)
        self._in_sequence += phase == _STATEFUL
        if observation is None:
            return GatewayAnswer(None)
        self._cases[generated.case] = observation
        findings = observation.judgement.findings
        fingerprints = dict.fromkeys(
            finding.fingerprint for finding in findings if finding.level == "error"
        )
        return GatewayAnswer(
            self._mask_answer(observation.exchange.response), findings=tuple(fingerprints)
        )

    def judge_failures(self, failures: Iterable[CheckFailure]) -> Iterator[Outcome]:
        """Yield a warning for each failure of a further check whose requests all reached the
        service; of each check and operation the last, which is the smallest. Yield success if the
        checks could conclude something.
        """
        last: dict[tuple[str, str | None], tuple[str, list[Observation]]] = {}
        for failure in failures:
            evidence = [self._cases[case] for case in failure.cases if case in self._cases]
            # The checks read statuses alone.
            is_whole = not any(one.is_in_band for one in evidence)
            if evidence and is_whole and len(evidence) == len(failure.cases):
                words = " ".join(failure.message.split())
                key = failure.check, evidence[-1].exchange.operation
                last[key] = f"{failure.check}: {failure.title}: {words}", evidence
        conclusive = bool(set(self.session.config.sweep.checks) - {_DELETIONS} and self._cases)
        if _DELETIONS in self.session.config.sweep.checks:
            for deletion, read in self._reads_after_deletion():
                conclusive = conclusive or read.status in (404, 410)
                if read.ok:
                    message = f"{_DELETIONS}: a resource was read after its deletion had succeeded"
                    key = _DELETIONS, read.exchange.operation
                    last.setdefault(key, (message, [deletion, read]))
        if not last:
            why = self._reason_without_sequence()
            yield passed(_SEQUENCES) if conclusive else not_exercised(_SEQUENCES, why)
        for message, evidence in last.values():
            yield failed(_SEQUENCES, message, *evidence, level="warning")

    def _reason_without_sequence(self) -> str:
        """Return why the checks could conclude nothing."""
        if not self.session.config.sweep.checks:
            return "`sweep.checks` names no check"
        if not self._cases:
            return "no generated request was answered"
        if not self._in_sequence:
            return "the sweep ended before the stateful phase of schemathesis sent a request"
        count = f"{self._in_sequence} requests of the stateful phase of schemathesis"
        return f"none of {count} read a resource after another one had deleted it"

    def _reads_after_deletion(self) -> Iterator[tuple[Observation, Observation]]:
        """Yield successful deletions, each with a later read of the same resource that nothing can
        have created again. Schemathesis knows the requests of its own scenario only.
        """
        deleted: dict[str, Observation] = {}
        for observation in self._cases.values():
            request = observation.exchange.request
            path = request.target.partition("?")[0]
            if request.method == "DELETE" and observation.ok:
                deleted[path] = observation
            elif request.method == "GET" and path in deleted:
                yield deleted[path], observation
            elif request.method not in SAFE_METHODS and observation.ok:
                made = observation.header("Location") or ""
                ids = {str(value) for _, value in leaves(observation.json)}
                for other in [*deleted]:
                    if other == path or made.endswith(other) or other.rpartition("/")[2] in ids:
                        del deleted[other]

    def _takes_part(self, name: str) -> bool:
        session = self.session
        method, _, template = name.partition(" ")
        operation = session.description.find(method, template)
        return (
            (session.writable or method in SAFE_METHODS)
            and session.reason_skipped(method, template) is None
            and not may_end_session(session, operation or ServiceOperation(method, template))
        )

    def _is_chosen(self, generated: GeneratedRequest, name: str, template: str) -> bool:
        """Whether a request is among those that are sent: spread evenly over those of its phase and
        operation, as far as their number is known.
        """
        request, phase = generated.request, generated.phase
        if self.session.description.find(request.method, template) is None:
            # Every path has requests with undeclared methods. Together they count as one operation.
            self._arrived[template] += 1
            return self._arrived[template] <= _UNDECLARED
        if not self.shares.has(phase, name):
            return False
        share = self.shares.share(phase, name)
        if phase != "coverage" or generated.planned <= share:
            return True
        planned = generated.planned
        start = self._starts.setdefault(name, self.random.randrange(planned))
        position = start + self._arrived[name] * share
        self._arrived[name] += 1
        return (position + share) // planned > position // planned

    def _ask(
        self, request: Request, caller: Identity, template: str, trigger: str
    ) -> Observation | None:
        patient = self._waits < _PATIENT
        driver = self.session.driver
        before = driver.requests
        try:
            spec = RequestSpec(
                request.method, template, caller, wait_when_limited=patient, trigger=trigger
            )
            return self.session.ask(request, spec)
        except Unanswered as error:
            answer = error.no_answer
            if answer.kind not in ("budget", "read-only"):
                self._unanswered += 1
                self.reasons[f"the sweep: {request.method} {template}: {answer.reason}"] = None
            return None
        finally:
            self._waits += patient and driver.requests > before + 1

    def _send_copies(
        self,
        request: Request,
        as_caller: Request,
        template: str,
        observation: Observation,
        *,
        trigger: str,
    ) -> None:
        """Send some requests again: with the ids of an existing resource, so that more than absence
        is tested, and without credentials. DELETE is not sent again, since it may succeed.
        """
        if request.method == "DELETE":
            return
        session, caller = self.session, self.session.caller
        if observation.status == 404 and self.random.randrange(_EXISTING) == 0:
            operation = ServiceOperation(request.method, template)
            target = _fill_path(session, operation, as_caller.target)
            if target != as_caller.target:
                self._ask(replace(as_caller, target=target), caller, template, trigger)
        if not caller.anonymous and self.random.randrange(_ANONYMOUS) == 0:
            anonymous = write_as(session, request, NOBODY, self.random)
            self._ask(anonymous, NOBODY, template, "without credentials")

    def _mask_answer(self, response: Response) -> Response:
        """The answer without the secrets of the run, since it leaves this process."""
        config = self.session.config
        saved = [(value, MASK) for value in self.session.observations.credentials]
        others = [*config.secrets, *saved]
        callers = (identity.secrets for identity in config.identities.values())
        secrets = {secret for secret, _ in chain(others, *callers)}
        texts = [
            response.body.decode("utf-8", "replace"),
            *(value for _, value in response.headers),
        ]
        if not any(secret and secret in text for secret in secrets for text in texts):
            return response
        masking = build_masking(config.identities.values(), others)
        return replace(
            response, headers=masking.headers(response.headers), body=masking.body(response.body)
        )


def write_as(session: HttpSession, request: Request, who: Identity, random: Random) -> Request:
    """A generated request as the caller sends it: with its headers and parameters, and sometimes a
    correlation id.

    The headers of declared `faults` are dropped: a probe of its own sends them. Every other request
    drops the headers with which recipes provoke errors: generated requests set such a declared
    switch nearly always.
    """
    own = {name.lower() for name, _ in who.headers}
    dropped = own | (CREDENTIALS if session.identities else set())
    dropped |= {switch.header for switch in session.switches if switch.declared and switch.header}
    if random.random() < 0.5:
        dropped |= {
            name.lower()
            for recipe in session.config.recipes
            for step in recipe.steps
            for name in step.call.headers
        }
    headers = [("User-Agent", "faultspec-conform"), *who.headers]
    if session.echo is not None:
        # A probe of its own sends malformed ones.
        dropped |= {session.echo.header.lower()}
        inbound = session.inbound()
        headers += [(session.echo.header, inbound)] if inbound is not None else []
    headers += [pair for pair in request.headers if pair[0].lower() not in dropped]
    callers = session.identities
    others = {name for caller in callers for name, _ in caller.query if is_credential(name)}
    target = drop_query(request.target, others | {name for name, _ in who.query})
    return replace(request, target=add_query(target, who.query), headers=tuple(headers))


def _fill_path(session: HttpSession, operation: ServiceOperation, target: str) -> str:
    known: Mapping[str, object] = known_values(session, operation)
    if not operation.placeholders or not set(operation.placeholders) <= set(known):
        return target
    return path_of(operation.template, known) + target[len(target.partition("?")[0]) :]
