"""Call unknown tools and pass invalid arguments to an MCP server, and follow its offers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from faultspec.exchange.body import replace_value
from faultspec.language.model import Navigation
from faultspec_conformance.config import ABSENT, SampleCall
from faultspec_conformance.probes import audit
from faultspec_conformance.probes.jsonrpc import reason_unlisted
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.calls import ToolSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    has_code,
    not_exercised,
    passed,
    point,
    protocol_error,
    slot_value,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.placeholders import fill_in

_TOOL, _ARGUMENTS = "mcp/unknown-tool", "mcp/invalid-arguments"
_OFFERED, _NOT_OFFERED = "navigation/offered", "navigation/not-offered"

#: Numbers of JSON-RPC 2.0 (section 5.1) that MCP uses: the caller's fault, and the server's.
_INVALID, _INTERNAL = -32602, -32603

#: Walks, and steps of each: enough to pass through a small graph more than once.
_WALKS, _STEPS = 2, 10


def unknown_tools(session: ToolSession) -> Iterator[Outcome]:
    """Call an unknown tool with a secret (MCP 2025-06-18, server/tools, "Error Handling").

    Its name may come back, as in the specification's example `Unknown tool: invalid_tool_name`.
    """
    secret = session.canary("secret")
    answer = session.call(
        "faultspec_no_such_tool",
        {"token": secret.value},
        canaries=(secret,),
        harmless=True,
        judged=False,
    )
    number, expected = protocol_error(answer.json), f"the protocol has error {_INVALID}"
    if number == _INTERNAL:
        message = f"an unknown tool is reported as a crash, error {_INTERNAL}; {expected}"
        yield failed(_TOOL, message, answer, level="warning")
    elif number is not None:
        yield passed(_TOOL)
    elif _is_marked(answer):
        message = f"an unknown tool is reported in a result; {expected}"
        yield failed(_TOOL, message, answer, level="warning", variant="result")
    else:
        yield failed(
            _TOOL,
            f"the service answered an unknown tool with a result; {expected}",
            answer,
            variant="success",
        )


def invalid_arguments(session: ToolSession) -> Iterator[ProbeResult]:
    """Send arguments that the configuration calls invalid, and arguments that the tool's schema
    forbids.
    """
    if not session.samples:
        reason = "the configuration has no call under `calls` that may be sent"
        yield not_exercised(_ARGUMENTS, reason)
        return
    schemas = {name: tool.schema for name, tool in session.tools().items()}
    source = sampling.ValueSource({}, session.source.random)
    tried: set[str] = set()
    for sample in session.samples:
        tool = sample.call.path
        for invalid in sample.invalid:
            what = "arguments that the configuration calls invalid"
            value = fill_in(session.source, invalid.params, session.constants)
            results = _check_refused(session, sample, what, value, code=invalid.code)
            yield from attempt(results, _ARGUMENTS)
        if tool in tried or tool not in schemas:
            continue
        tried.add(tool)
        body = (
            {}
            if sample.call.body is ABSENT
            else fill_in(session.source, sample.call.body, session.constants)
        )
        for violation in sampling.violations(source, schemas[tool], body, "x"):
            if violation.sure and isinstance(violation.body, dict):
                results = _check_refused(session, sample, violation.what, violation.body)
                yield from attempt(results, _ARGUMENTS)


def _check_refused(
    session: ToolSession,
    sample: SampleCall,
    what: str,
    arguments: object,
    *,
    code: str | int | None = None,
) -> Iterator[Outcome]:
    """Check that arguments are refused, with a ``code`` if the configuration names it."""
    session.reset()
    answer = session.call(sample.call.path, arguments, harmless=sample.safe, judged=False)
    if code is not None:
        message = f"`{sample.call.path}`: {what}: the service answered {answer}; expected {code}"
        known = has_code(answer, code)
        yield passed(_ARGUMENTS) if known else failed(_ARGUMENTS, message, answer, variant="named")
        return
    number, claim = protocol_error(answer.json), session.contract.claim(answer.exchange)
    subject = f"`{sample.call.path}`: {what}"
    # Errors of no surface, and of one whose errors have a text alone, have no code.
    codeless = claim is None or not claim.surface.envelopes
    unclaimed = number is None and codeless and _is_marked(answer)
    if number == _INTERNAL:
        message = f"{subject}: reported as a crash with error {number}"
        yield failed(_ARGUMENTS, f"{message}; the protocol has error {_INVALID}", answer)
    elif answer.code is not None or unclaimed:
        yield passed(_ARGUMENTS)
    elif number == _INVALID and (reason := reason_unlisted(session, _INVALID)) is not None:
        message = f"{subject}: refused with error {number}; {reason}"
        yield failed(_ARGUMENTS, message, answer, level="warning", variant="unlisted")
    elif number == _INVALID:
        yield passed(_ARGUMENTS)
    elif number is not None:
        message = f"{subject}: refused with error {number}; the protocol has error {_INVALID}"
        yield failed(_ARGUMENTS, message, answer, level="warning", variant="number")
    elif claim is None or not _is_marked(answer):
        yield failed(
            _ARGUMENTS,
            f"{subject}: the answer is a result; expected an error",
            answer,
            variant="result",
        )
    else:
        message = f"{subject}: refused without a code of the surface `{claim.surface.name}`"
        yield failed(_ARGUMENTS, message, answer, level="warning", variant="code")


def _is_marked(answer: Observation) -> bool:
    return point(answer.json, "/isError") is True


def walks(session: ToolSession) -> Iterator[Outcome]:
    """Walk along the offers; at each step also try an action that is not offered.

    Then read the audit back.
    """
    navigation = session.taxonomy.navigation
    if navigation is None:
        return
    moves = {
        action: sample
        for sample in session.samples
        if isinstance(action := point(sample.call.body, navigation.takes), str)
    }
    if not moves:
        reason = f"no call under `calls` that may be sent has an action at {navigation.takes}"
        for clause in (_OFFERED, _NOT_OFFERED, "audit/recorded"):
            yield not_exercised(clause, reason)
        return
    tried: set[str] = set()
    for _ in range(_WALKS):
        session.reset()
        walk = _Walk(session, navigation, moves, tried)
        yield from walk.outcomes()
        yield from _check_published(session, navigation, walk.observations[-1])
        rules = session.taxonomy.audit
        if rules is not None and rules.lookup is not None:
            page = session.resource(rules.lookup.request)
            yield from audit.exchanges(session, rules, page, walk.observations)


@dataclass(slots=True)
class _Walk:
    """One walk. ``moves``: the sample call of each action.

    ``tried``: actions that were tried while not offered.
    """

    session: ToolSession
    navigation: Navigation
    moves: Mapping[str, SampleCall]
    tried: set[str]
    observations: list[Observation] = field(default_factory=list)

    def outcomes(self) -> Iterator[Outcome]:
        """Walk and yield the outcomes."""
        answer = self._take("faultspec_no_such_action")
        unknown = self.navigation.unknown
        if answer.code != unknown:
            message = f"the service answered {answer} to an unknown action; expected {unknown}"
            yield failed(_NOT_OFFERED, message, answer, variant="unknown")
        known = _names(slot_value(self.session.contract, answer, self.navigation.all or ""))
        for _ in range(_STEPS):
            offers = self._offers(answer)
            beyond = next((action for action in offers if known and action not in known), None)
            if beyond is not None:
                message = f"the service offered `{beyond}`, which is not a known action"
                yield failed(_NOT_OFFERED, message, answer, variant="invented")
            yield from self._try_not_offered(answer, known, offers)
            able = [action for action in offers if action in self.moves]
            if not able:
                break
            action = self.session.source.random.choice(able)
            call, before = self.moves[action].call, answer
            answer = self._call(
                call.path, fill_in(self.session.source, call.body, self.session.constants)
            )
            if answer.code in (self.navigation.refused, unknown):
                message = f"the service offered `{action}`, but answered {answer} to it"
                yield failed(_OFFERED, message, before, answer)
            else:
                yield passed(_OFFERED)

    def _try_not_offered(
        self, answer: Observation, known: list[str], offers: list[str]
    ) -> Iterator[Outcome]:
        """Try an action that the answer does not offer, preferably an untried one."""
        others = [action for action in known if action not in offers]
        if not others:
            return
        untried = [action for action in others if action not in self.tried]
        action = self.session.source.random.choice(untried or others)
        self.tried.add(action)
        refused, expected = self._take(action), self.navigation.refused
        if refused.code != expected:
            what = f"`{action}`, which it did not offer"
            message = f"the service answered {refused} to {what}; expected {expected}"
            yield failed(_NOT_OFFERED, message, answer, refused)
            return
        yield passed(_NOT_OFFERED)
        if sorted(self._offers(refused)) != sorted(offers):
            message = "the actions offered after a refusal differ from those before it"
            yield failed(_OFFERED, message, answer, refused, variant="refusal")

    def _take(self, action: str) -> Observation:
        """Make the sample call of an action, or the first one with this action in it."""
        sample = self.moves.get(action, next(iter(self.moves.values())))
        body = fill_in(self.session.source, sample.call.body, self.session.constants)
        name = next(iter(self.moves.values())).call.path
        return self._call(name, replace_value(body, self.navigation.takes, action))

    def _call(self, name: str, arguments: object) -> Observation:
        self.observations.append(self.session.call(name, arguments))
        return self.observations[-1]

    def _offers(self, answer: Observation) -> list[str]:
        return _names(point(answer.json, self.navigation.offers))


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _check_published(
    session: ToolSession, navigation: Navigation, last: Observation
) -> Iterator[Outcome]:
    """Compare the actions that the server publishes with those that the last answer offers."""
    clause = "discovery/agrees"
    for publication in session.taxonomy.discovery.values():
        if publication.kind != "actions":
            continue
        page = session.resource(publication.request)
        found = _names(point(page.json, publication.at))
        offers = _names(point(last.json, navigation.offers))
        if sorted(found) == sorted(offers):
            yield passed(clause)
        else:
            has, offered = (", ".join(names) or "nothing" for names in (found, offers))
            message = f"{publication.request} has {has}; the answer before it offered {offered}"
            yield failed(clause, message, last, page)
