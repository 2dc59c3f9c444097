"""One call of a service that makes it call a scripted upstream."""

from collections.abc import Mapping
from dataclasses import replace

from faultspec_conformance.config import Behaviour, ConfiguredCall, UpstreamCall, UpstreamFailure
from faultspec_conformance.config.requests import NAMES
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.fixtures import renew_references
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.parameters import written_path_values
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import place_path
from faultspec_conformance.session.upstreams import (
    FINE,
    GOOD,
    STALLING,
    ScriptedUpstream,
    UpstreamRequest,
)

#: Failures in words.
_DID: Mapping[Behaviour, str] = {
    "closed": "hung up",
    "silent": "accepted the request and did not answer",
    "slow": "sent an answer that never ends",
    "truncated": "answered 200 with a body that breaks off",
    "html": "answered 200 with HTML",
    "empty": "answered 200 without a body",
    "mistyped": "answered 200 with JSON of another type",
}

#: The status of a rate limit (RFC 6585, 4).
_LIMITED = 429


class UpstreamCaller:
    """Makes the call, and reads the requests that the service sends to one upstream for it.

    ``owns``: the seconds that calls took besides the upstream's own time. ``renews``: each call
    needs new resources.
    """

    def __init__(
        self, session: HttpSession, upstream: ScriptedUpstream, call: UpstreamCall
    ) -> None:
        self.session = session
        self.upstream = upstream
        self.call = call
        self.renews = bool(call.before)
        self.owns: list[float] = []
        self.upstream.mark = session.canary("value").value

    def where(self, behaviour: Behaviour) -> str:
        """Return what the upstream did, in words."""
        did = _DID.get(behaviour, f"answered {behaviour}")
        return f"the upstream {self.upstream.config.name} {did}"

    def request(self) -> RequestSpec:
        """Return the request that makes the service call the upstream, after those before it."""
        self.prepare()
        return self._request_of(self.call.call, self.call.identity)

    def prepare(self) -> str | None:
        """Make the resources new if each call needs that, and send the requests before the call.
        Return why it cannot be made, or None.
        """
        if self.renews:
            self.renew()
        for step in self.call.before:
            spec = replace(self._request_of(step.call, step.identity), wait_when_limited=True)
            answer = self.session.call(spec)
            if not answer.ok:
                operation = answer.exchange.operation
                return f"the service answered {answer} to {operation}, which goes before the call"
        return None

    def _request_of(self, configured: ConfiguredCall, identity: str | None) -> RequestSpec:
        call = fill_in_call(self.session, configured)
        written = place_path(self.session.description, call.method, call.path)
        path = written.partition("?")[0]
        operation = self.session.operation(call.method, path)
        return RequestSpec(
            call.method,
            written,
            identity=self.session.identity(identity),
            values=written_path_values(self.session, operation, path),
            route=operation.template,
            query=call.query,
            headers=call.headers,
            body=call.body,
            raw=call.raw.encode() if call.raw is not None else None,
            wait_when_limited=False,
        )

    def renew(self) -> bool:
        """Replace the resources of the request by new ones, while the upstream answers well. Return
        whether there are any.
        """
        self.upstream.script(FINE)
        call = self.call.call
        path = place_path(self.session.description, call.method, NAMES.sub(r"{\1}", call.path))
        operation = self.session.operation(call.method, path.partition("?")[0])
        return renew_references(self.session, operation, call)

    def provoke(
        self,
        failure: UpstreamFailure,
        times: int | None = None,
        wait: int | None = None,
        spec: RequestSpec | None = None,
    ) -> tuple[Observation, list[UpstreamRequest]]:
        """Make the service call the upstream, which fails ``times`` times (None: always); return
        the answer and the upstream's requests.

        The suite sends no request twice while the upstream fails: the calls upstream would count as
        tries of the service.
        """
        fails = failure.answer != GOOD
        spec = replace(
            spec or self.request(),
            may_fail=fails,
            may_be_refused=fails,
            may_disconnect=failure.answer in STALLING,
            canaries=tuple(self.upstream.canaries()) if fails else (),
        )
        self.upstream.script(failure, times, wait)
        answer = self.session.call(spec)
        if answer.status == 401 and not self.upstream.calls:  # the credentials may have ended
            answer = self.session.call(replace(spec, may_be_refused=False))
        pause = self.session.requested_wait(answer) if answer.status == _LIMITED else None
        if pause is not None and not self.upstream.calls and self.session.driver.pause(pause):
            answer = self.session.call(spec)  # earlier requests used up the limit
        requests = list(self.upstream.calls)
        if len(requests) == 1 and failure.answer not in STALLING:
            # What the call took besides the upstream's own time, for it was not retried.
            spent = sum(request.until - request.at for request in requests)
            self.owns.append(max(0.0, answer.exchange.response.elapsed - spent))
        return answer, requests
