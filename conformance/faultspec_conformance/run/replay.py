"""Replay of a finding of a report: send its requests again and judge the last answer.

A report has variables in place of secrets and the beginning of long bodies only. What cannot be
rebuilt from the configuration raises `CannotReplay`.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote

from faultspec.contract.keys import carried_key, with_carried_key
from faultspec.contract.model import Contract
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Canary, Exchange, Headers, Request, Response
from faultspec.exchange.sensitive import MASK, SensitivePlaces
from faultspec.judge import judge
from faultspec.openapi.service import Description
from faultspec_conformance.config import NOBODY, ServiceConfig
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.drivers.jsonrpc import Message, Peer
from faultspec_conformance.drivers.processes import StartFailed
from faultspec_conformance.reports.data import LONGEST, SHOWN
from faultspec_conformance.results.model import ReportedFinding
from faultspec_conformance.run.service import create_driver
from faultspec_conformance.sanitize.masking import build_masking
from faultspec_conformance.sanitize.traffic_secrets import mask_answered
from faultspec_conformance.session.calls import RpcSession
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.sent_secrets import forbidden_values
from faultspec_conformance.session.upstreams import run_upstreams

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

#: What reports show in place of planted canaries; the replay plants these words.
_CANARIES: Mapping[str, str] = {"CANARY-secret": "secret", "CANARY-email": "email"}

#: What stands in place of a value that a login saved.
_SAVED = "CANARY-secret"

#: Statuses that can come in place of any other answer: they do not disprove a finding.
_REFUSALS = frozenset({401, 403, 404, 410, 429, 503})

#: The clauses that another code may mend.
_MENDED_BY_CODE = ("code/", "service/", "framework/", "document/")

#: The clause on the status of a code. Another code under the same status may mend it.
_OF_STATUS = "code/status"

#: Header fields of a request that is sent again. Servers take a hundred or so, and the time of the
#: client library grows with their square.
_FIELDS = 2_000

#: Fields that frame the body, which the client library writes itself.
_FRAMING = frozenset({"content-length", "transfer-encoding"})

#: Sends the request of an exchange as its caller, and returns the exchange with its answer.
Send = Callable[[Exchange], Exchange | NoAnswer]


class CannotReplay(Exception):
    """The finding cannot be sent again; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The answer of a replay. ``reason``: why it is undecided. ``pairs``: for each request the
    recorded exchange and the one of the replay, both masked. ``finding``: the reproduced one.
    """

    verdict: Literal["reproduced", "gone", "undecided"]
    pairs: tuple[tuple[Exchange, Exchange], ...]
    reason: str = ""
    finding: ReportedFinding | None = None


@contextmanager
def connect(contract: Contract, config: ServiceConfig, base: str) -> Iterator[Send]:
    """A function that sends requests to the service, which is started if the configuration starts
    it. An identity with a login logs in before its first request; a process gets the first steps of
    its session. Raises CannotReplay.
    """
    if config.transport == "mcp":
        raise CannotReplay("a session of MCP cannot be replayed; run `faultspec conform --only`")
    try:
        with run_upstreams(config):
            if config.transport == "http":
                with HttpDriver(base, config.limits) as driver:
                    yield HttpSession(contract, config, driver, Description()).transmit
                return
            with create_driver(config) as peer:
                assert isinstance(peer, Peer), "every other transport is JSON-RPC"
                problem = RpcSession(contract, config, peer).open_session()
                if problem is not None:
                    raise CannotReplay(problem)
                yield lambda asked: _call(peer, asked)
    except (StartFailed, OSError) as error:
        raise CannotReplay(f"the service cannot be started: {error}") from None
    except Unanswered as error:
        raise CannotReplay(error.no_answer.reason) from None


def _call(peer: Peer, asked: Exchange) -> Exchange | NoAnswer:
    request = asked.request
    try:
        value = json.loads(request.body)
    except ValueError:
        value = None
    calls = [item for item in (value if isinstance(value, list) else [value]) if item]
    ids = tuple(call["id"] for call in calls if isinstance(call, dict) and "id" in call)
    message = Message(
        request.target, request.body, ids=ids, due=bool(ids) or not calls, headers=request.headers
    )
    answer = peer.send(message)
    return answer if isinstance(answer, NoAnswer) else replace(asked, response=answer.response)


def replay(
    reported: ReportedFinding,
    contract: Contract,
    config: ServiceConfig,
    send: Send,
    *,
    learned: bool = False,
) -> Replay:
    """Send the requests of a finding again and judge the last answer. Raises CannotReplay.

    ``learned``: the run had no taxonomy. The codes that it learned are not known any more, so a
    finding of the same clause and place is the same.
    """
    finding = reported.finding
    exchanges = rebuild(finding, contract, config)
    answered: list[Exchange] = []
    for exchange in exchanges:
        answer = send(exchange)
        if isinstance(answer, NoAnswer):
            if not answer.sent or finding.clause != "service/alive":
                raise CannotReplay(answer.reason)
            answer = replace(exchange, response=Response(None))
        answered.append(answer)
    decided = _decide(reported, contract, answered, learned=learned)
    return _mask(decided, config, contract.sensitive)


def _decide(
    reported: ReportedFinding,
    contract: Contract,
    answered: Sequence[Exchange],
    *,
    learned: bool,
) -> Replay:
    finding, last = reported.finding, answered[-1]
    pairs = tuple(zip(finding.evidence, answered, strict=True))
    if finding.clause == "service/alive":
        if last.response.status is not None or last.transport != "http":
            return Replay("gone", pairs)
        again = replace(finding, evidence=tuple(answered))
        return Replay("reproduced", pairs, finding=_only(reported, again))
    judgement = judge(contract, last)
    recorded = finding.recorded_fingerprint
    place = finding.clause, finding.pointer
    found = next(
        (
            new
            for new in judgement.findings
            if recorded in new.fingerprints or (learned and (new.clause, new.pointer) == place)
        ),
        None,
    )
    if found is not None:
        again = replace(found, evidence=tuple(answered))
        return Replay("reproduced", pairs, finding=_only(reported, again))
    if finding.clause not in judgement.exercised and finding.clause.startswith("envelope/"):
        reason = f"`{finding.clause}` needs the form of errors that the run learned or declared"
        return Replay("undecided", pairs, reason)
    clause = contract.clauses.get(finding.clause)
    if clause is None or clause.relation:
        return Replay(
            "undecided",
            pairs,
            f"`{finding.clause}` compares answers, which one replay cannot decide",
        )
    reason = _describe_other_answer(finding, last, judgement.code, contract)
    if reason:
        return Replay("undecided", pairs, reason)
    status = last.response.status
    if finding.clause not in judgement.exercised:
        answer = f"the answer ({status})" if status is not None else "the answer"
        reason = f"{answer} gave no occasion to check `{finding.clause}`"
        return Replay("undecided", pairs, reason)
    return Replay("gone", pairs)


def _describe_other_answer(
    finding: Finding, last: Exchange, code: str | None, contract: Contract
) -> str:
    """Why an answer does not disprove a finding: it is a refusal that may stand in place of any
    other, or has a declared code that is not that of the finding, since a rule was checked first or
    the steps before the request are missing. Empty if it may. Clauses on the code itself, and on
    crashes, are mended by another code.
    """
    new, old = str(last.response.status), str(finding.evidence[-1].response.status)
    declared = contract.taxonomy.codes
    may_differ = finding.clause.startswith(_MENDED_BY_CODE)
    if finding.clause == _OF_STATUS and new != old:
        may_differ = False  # a code and a status that are both others say nothing of either
    if not may_differ and code in declared and finding.code in declared:
        new, old = str(code), str(finding.code)
    elif last.response.status not in _REFUSALS:
        return ""
    return (
        "" if new == old else f"the service answered {new} in place of {old}, which proves nothing"
    )


def _only(reported: ReportedFinding, again: Finding) -> ReportedFinding:
    """The finding with one occurrence, that of the replay."""
    return replace(reported, finding=again, count=1, examples=())


def _mask(found: Replay, config: ServiceConfig, sensitive: SensitivePlaces) -> Replay:
    """The replay without secrets: those of the configuration, of logins, and those that the service
    shows.
    """
    answered = tuple(new for _, new in found.pairs)
    saved = [
        (canary.value, _SAVED)
        for exchange in answered
        for canary in exchange.forbidden
        if canary.kind == "secret" and canary.value not in _CANARIES
    ]
    secrets = (*config.secrets, *saved)
    known = build_masking(config.identities.values(), secrets) | mask_answered(
        answered, sensitive=sensitive
    )
    return replace(
        found,
        pairs=tuple((old, known.exchange(new)) for old, new in found.pairs),
        reason=known.text(found.reason),
        finding=None if found.finding is None else known.mask_finding(found.finding),
    )


def rebuild(finding: Finding, contract: Contract, config: ServiceConfig) -> tuple[Exchange, ...]:
    """The exchanges of a finding with requests to send: secrets are filled in, and idempotency keys
    are new. Raises CannotReplay.
    """
    if not finding.evidence:
        raise CannotReplay("the report has no request of this finding")
    if any(len(exchange.request.headers) > _FIELDS for exchange in finding.evidence):
        raise CannotReplay(f"a request has more than {_FIELDS:,} header fields")
    keys: dict[str, str] = {}
    rebuilt = []
    for exchange in finding.evidence:
        expected = "http" if config.transport == "http" else "jsonrpc"
        if exchange.transport != expected:
            raise CannotReplay(
                f"the finding is of the transport {exchange.transport}; only requests over HTTP "
                "and JSON-RPC can be sent again"
            )
        values = _values(config, exchange.identity)
        request = _rebuild_request(exchange.request, values)
        request = _renew_key(replace(exchange, request=request), contract, keys).request
        headers = request.headers
        sent = " ".join((request.target, *(value for _, value in headers))).encode() + request.body
        planted = [Canary(kind, word) for word, kind in _CANARIES.items() if word.encode() in sent]
        caller = config.identities.get(exchange.identity or "", NOBODY)
        tenants = (caller.tenant,) if caller.tenant is not None else ()
        own = forbidden_values(contract.taxonomy, caller, request, tenants)
        forbidden = tuple(dict.fromkeys((*planted, *own)))
        rebuilt.append(replace(exchange, request=request, forbidden=forbidden))
    return tuple(rebuilt)


def _renew_key(exchange: Exchange, contract: Contract, keys: dict[str, str]) -> Exchange:
    """The exchange under a new idempotency key. ``keys``: the new keys by the recorded ones, which
    it adds to.
    """
    rule = contract.key_rule(exchange)
    carried = carried_key(rule.key, exchange) if rule is not None else None
    if rule is None or carried is None:
        return exchange
    new = str(uuid.uuid4())
    key = keys.setdefault(carried, f'"{new}"' if carried[:1] == '"' else new)
    return with_carried_key(rule.key, exchange, key)


def _values(config: ServiceConfig, identity: str | None) -> Mapping[str, str]:
    """The secret of each word that masks one. Those of the caller come before those of others.

    Values that a login of the caller saves stand for themselves: the session fills them in.
    """
    caller = config.identities.get(identity or "")
    login = caller.login if caller is not None else None
    found = {f"${{{name}}}": f"${{{name}}}" for name in (login.save if login is not None else ())}
    others = (pair for other in config.identities.values() for pair in other.secrets)
    for secret, word in (*(caller.secrets if caller else ()), *others, *config.named):
        if _VARIABLE.fullmatch(word):
            found.setdefault(word, secret)
    return found


def _rebuild_request(request: Request, values: Mapping[str, str]) -> Request:
    return Request(
        request.method,
        _fill_in(
            request.target, {word: _quote(text) for word, text in values.items()}, "the address"
        ),
        tuple(_rebuild_headers(request.headers, values)),
        _rebuild_body(request.body, values),
    )


def _quote(value: str) -> str:
    """The value as an address has it; a variable of a login stays as it is."""
    return value if _VARIABLE.fullmatch(value) else quote(value, safe="")


def _rebuild_headers(headers: Headers, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in headers:
        if name.lower() in _FRAMING:
            continue
        if name == "…":
            raise CannotReplay(f"the report leaves out {value.partition(',')[0]}")
        if len(value) > LONGEST:
            if len(set(value[:LONGEST])) > 1:
                raise CannotReplay(f"the report has only the beginning of the header `{name}`")
            value = value[0] * len(value)
        yield name, _fill_in(value, values, f"the header `{name}`")


def _rebuild_body(body: bytes, values: Mapping[str, str]) -> bytes:
    if len(body) > SHOWN:
        if len(set(body[: SHOWN // 2])) > 1:
            raise CannotReplay(
                f"the report has only the first {SHOWN} of {len(body)} bytes of the body"
            )
        return body[:1] * len(body)
    text = body.decode("utf-8", "surrogateescape")
    return _fill_in(text, values, "the body").encode("utf-8", "surrogateescape")


def _fill_in(text: str, values: Mapping[str, str], where: str) -> str:
    """The text with the values of its variables. Raises CannotReplay if one is unknown."""

    def value(found: re.Match[str]) -> str:
        known = values.get(found[0])
        if known is None:
            # A variable of the environment that the configuration does not name stays unsent: the
            # report may name any.
            raise CannotReplay(
                f"{where} has a secret, `{found[0]}`, that the configuration does not use"
            )
        return known

    if MASK in text:
        raise CannotReplay(f"{where} has a value that the report masks without a name")
    return _VARIABLE.sub(value, text)
