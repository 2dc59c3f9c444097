"""After a failure of a scripted upstream that is over: the same request must succeed again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from faultspec.exchange.finding import Level
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import key_of
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import FINE, ScriptedUpstream

#: The clause.
HEALS = "upstream/heals"

#: Statuses of a request that may have taken effect before, or meets a limit.
_OCCUPIED = frozenset({409, 429})


@dataclass(frozen=True, slots=True)
class Healing:
    """The requests after a failure. ``request``: makes a request with new values.

    ``repeatable``: two such requests succeeded in a row before any failure.
    """

    session: HttpSession
    upstream: ScriptedUpstream
    request: Callable[[], RequestSpec]
    repeatable: bool

    def outcomes(self, failure: Observation, spec: RequestSpec, where: str) -> Iterator[Outcome]:
        """Send the failed request again while the upstream answers well.

        ``failure``: the answer to ``spec``. ``where``: what the upstream did, in words. If the
        taxonomy says that refusals are retried, it is sent under its key first; a service that
        stores failures gets a new one.
        """
        if not self.repeatable:
            reason = f"{spec.operation} did not succeed twice in a row before the upstream failed"
            yield not_exercised(HEALS, reason)
            return
        rule = self.session.key_rule(self.session.operation(spec.method, spec.path))
        if rule is not None and rule.refusals == "retried" and key_of(rule, spec):
            again = self._send_while_well(spec)
            if isinstance(again, Observation) and again.ok:
                yield passed(HEALS)
                return
            if isinstance(again, Observation) and again.status not in _OCCUPIED:
                renewed = self._send_while_well(self.request())
                if isinstance(renewed, Observation) and renewed.ok:
                    message = (
                        f"{where} and then recovered, but the service answered {again} to the same "
                        f"request under its {rule.key}, and {renewed} under another; expected a "
                        "success, as `refusals: retried` says"
                    )
                    yield failed(HEALS, message, failure, again, variant="key")
                    return
        yield self._judge(failure, self._send_while_well(self.request()), where)

    def _judge(self, failure: Observation, again: Observation | NoAnswer, where: str) -> Outcome:
        if isinstance(again, NoAnswer):  # the session reports a service that hangs
            return not_exercised(HEALS, f"{where} and then recovered; {again.reason}")
        if again.ok:
            return passed(HEALS)
        called = "" if self.upstream.calls else " without a call upstream"
        message = (
            f"{where} and then recovered, but the service answered {again}{called} to the same "
            "request; expected a success"
        )
        code = self.session.taxonomy.codes.get(again.code or "")
        # A circuit breaker refuses for a while, and may not say how long.
        breaks = not self.upstream.calls and code is not None and code.retriable.may_be_retried
        level: Level = "warning" if breaks and again.header("Retry-After") is None else "error"
        return failed(HEALS, message, failure, again, level=level)

    def _send_while_well(self, spec: RequestSpec) -> Observation | NoAnswer:
        """Send a request; once more after the wait that its answer asks for."""
        self.upstream.script(FINE)
        again = self.session.try_call(spec)
        if isinstance(again, NoAnswer) or again.ok:
            return again
        wait = self.session.requested_wait(again)
        if wait is None or not self.session.driver.pause(wait):
            return again
        self.upstream.script(FINE)
        return self.session.try_call(spec)
