"""What an MCP server does with tools that there are not, with arguments that don't fit, and with who follows its offers."""

from collections.abc import Iterator, Mapping

from faultspec.exchange.body import replaced
from faultspec.language.model import Navigation
from faultspec_conformance import sampling
from faultspec_conformance.config import ABSENT, SampleCall
from faultspec_conformance.probes import audit
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import ToolSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    passed,
    point,
    protocol_error,
    slot,
)
from faultspec_conformance.session.parameters import filled

#: Numbers of JSON-RPC 2.0 (section 5.1), which MCP refuses with: what the caller got wrong, and what the server did.
_INVALID, _INTERNAL = -32602, -32603

#: Walks, and steps of each: enough to come through a small graph more than once.
_WALKS, _STEPS = 2, 10


def unknown_tools(world: ToolSession) -> Iterator[Outcome]:
    """A tool that there is not, called with a secret (MCP 2025-06-18, server/tools, "Error Handling").

    Its name may come back, as it does in the specification's own example, `Unknown tool: invalid_tool_name`.
    """
    clause, canary = "mcp/unknown-tool", world.canary("secret")
    name = "faultspec_no_such_tool"
    sent = world.call(name, {"token": canary.value}, plant=(canary,), harmless=True, judged=False)
    number = protocol_error(sent.json)
    if number == _INTERNAL:
        message = f"a tool that there is not is told as a crash, error {_INTERNAL}; the protocol has error {_INVALID}"
        yield failed(clause, message, sent, level="warning")
    elif number is not None:
        yield passed(clause)
    elif _marked(sent):
        message = (
            f"a tool that there is not is told as a result of it; the protocol has error {_INVALID}"
        )
        yield failed(clause, message, sent, level="warning")
    else:
        yield failed(clause, "a tool that there is not is answered with a result", sent)


def invalid_arguments(world: ToolSession) -> Iterator[Outcome]:
    """What the file says must be refused, and what the tool's own schema rules out."""
    clause = "mcp/invalid-arguments"
    if not world.samples:
        yield not_exercised(clause, "the file names no call under `calls` that may be sent")
        return
    schemas = world.schemas()
    source = sampling.ValueSource({}, world.random)
    tried: set[str] = set()
    for sample in world.samples:
        for arguments in sample.invalid:
            with world.guarded(clause):
                yield _refused(
                    world,
                    sample,
                    "arguments that the file rules out",
                    filled(world.tokens, arguments),
                )
        if sample.call.path in tried or sample.call.path not in schemas:
            continue
        tried.add(sample.call.path)
        body = {} if sample.call.body is ABSENT else filled(world.tokens, sample.call.body)
        for violation in sampling.violations(source, schemas[sample.call.path], body, "x"):
            if violation.sure and isinstance(violation.body, dict):
                with world.guarded(clause):
                    yield _refused(world, sample, violation.what, violation.body)


def _refused(world: ToolSession, sample: SampleCall, what: str, arguments: object) -> Outcome:
    clause, tool = "mcp/invalid-arguments", sample.call.path
    world.begin()
    sent = world.call(tool, arguments, harmless=sample.safe, judged=False)
    number, claim = protocol_error(sent.json), world.contract.claim(sent.exchange)
    if (
        number == _INVALID
        or sent.code is not None
        or (number is None and claim is None and _marked(sent))
    ):
        return passed(clause)
    if number is not None:
        how = "told as a crash" if number == _INTERNAL else "refused"
        message = f"`{tool}`: {what}: {how} with error {number}; the protocol has error {_INVALID}"
        return failed(clause, message, sent, level="error" if number == _INTERNAL else "warning")
    if claim is None or not _marked(sent):
        return failed(clause, f"`{tool}`: {what}: the answer is a result", sent)
    message = f"`{tool}`: {what}: refused, and with none of the codes of the surface `{claim.surface.name}`"
    return failed(clause, message, sent, level="warning")


def _marked(sent: Observation) -> bool:
    return point(sent.json, "/isError") is True


def walks(world: ToolSession) -> Iterator[Outcome]:
    """Walks that follow the offers, each step also trying what is not offered; then the audit of it read back."""
    navigation = world.taxonomy.navigation
    if navigation is None:
        return
    moves = {
        action: sample
        for sample in world.samples
        if isinstance(action := point(sample.call.body, navigation.takes), str)
    }
    if not moves:
        for clause in ("navigation/offered", "navigation/not-offered", "audit/recorded"):
            yield not_exercised(
                clause,
                f"no call under `calls` that may be sent has an action at {navigation.takes}",
            )
        return
    tried: set[str] = set()
    for _ in range(_WALKS):
        world.begin()
        yield from _walk(world, navigation, moves, tried)


def _walk(
    world: ToolSession, navigation: Navigation, moves: Mapping[str, SampleCall], tried: set[str]
) -> Iterator[Outcome]:
    """One walk. ``tried``: the actions that were tried where they were not offered, which come after those that were not."""
    first = next(iter(moves.values()))
    seen: list[Observation] = []
    sent = world.call(
        first.call.path, _taking(world, navigation, first, "faultspec_no_such_action")
    )
    seen.append(sent)
    if sent.code != navigation.unknown:
        message = f"an action that there is not is answered {sent}, not {navigation.unknown}"
        yield failed("navigation/not-offered", message, sent)
    known = _names(slot(world.taxonomy, sent, navigation.all or ""))
    for _ in range(_STEPS):
        offers = _names(point(sent.json, navigation.offers))
        beyond = [each for each in offers if known and each not in known]
        if beyond:
            yield failed(
                "navigation/not-offered",
                f"{beyond[0]} is offered, and is none of the known actions",
                sent,
            )
        others = [each for each in known if each not in offers]
        if others:
            action = world.random.choice([each for each in others if each not in tried] or others)
            tried.add(action)
            refused = world.call(
                first.call.path, _taking(world, navigation, moves.get(action, first), action)
            )
            seen.append(refused)
            if refused.code != navigation.refused:
                message = f"`{action}` is not offered, and is answered {refused}, not {navigation.refused}"
                yield failed("navigation/not-offered", message, sent, refused)
            else:
                yield passed("navigation/not-offered")
            now = _names(point(refused.json, navigation.offers))
            if refused.code == navigation.refused and sorted(now) != sorted(offers):
                yield failed(
                    "navigation/offered",
                    "after a refusal other actions are offered than before",
                    sent,
                    refused,
                )
        able = [each for each in offers if each in moves]
        if not able:
            break
        action = world.random.choice(able)
        before = sent
        sent = world.call(moves[action].call.path, filled(world.tokens, moves[action].call.body))
        seen.append(sent)
        if sent.code in (navigation.refused, navigation.unknown):
            yield failed(
                "navigation/offered", f"`{action}` is offered, and is answered {sent}", before, sent
            )
        else:
            yield passed("navigation/offered")
    yield from _published(world, seen[-1], navigation)
    yield from _recorded(world, seen)


def _taking(world: ToolSession, navigation: Navigation, sample: SampleCall, action: str) -> object:
    return replaced(filled(world.tokens, sample.call.body), navigation.takes, action)


def _names(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _published(world: ToolSession, last: Observation, navigation: Navigation) -> Iterator[Outcome]:
    for publication in world.taxonomy.discovery.values():
        if publication.kind == "actions":
            page = world.resource(publication.request)
            found, offers = (
                _names(point(page.json, publication.at)),
                _names(point(last.json, navigation.offers)),
            )
            if sorted(found) == sorted(offers):
                yield passed("discovery/agrees")
            else:
                has, offered = (", ".join(each) or "nothing" for each in (found, offers))
                message = f"{publication.request} has {has}; the answer before it offered {offered}"
                yield failed("discovery/agrees", message, last, page)


def _recorded(world: ToolSession, seen: list[Observation]) -> Iterator[Outcome]:
    rules = world.taxonomy.audit
    if rules is not None and rules.lookup is not None:
        yield from audit.exchanges(world, rules, world.resource(rules.lookup.request), seen, 0)
