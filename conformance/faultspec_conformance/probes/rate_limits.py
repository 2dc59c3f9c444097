"""Rate limits: the numbers that a 429 states, against the requests that were counted.

A limit is exhausted and waited for several times. The first refusal proves that nothing of the
limit is left, so what is accepted afterwards bounds it: fixed windows, sliding windows and token
buckets keep to the same bounds, whatever was sent before the run.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, floor, inf

from faultspec.exchange.finding import Level
from faultspec.exchange.numerals import whole_number
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import PATIENCE, HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    error_details,
    failed,
    not_exercised,
    passed,
)

_RECOVERS, _COUNTED = "retry/recovers", "retry/limit"

#: Seconds. If a wait of a quarter of an hour is over after two seconds, the service confuses units.
_SUSPICIOUS, _SHORT = 900, 2.0

#: The status of a rate limit (RFC 6585, 4).
_LIMITED = 429

#: Requests after the first refusal.
_REFUSED_MORE = 1

#: How often a limit is exhausted, and the most requests that it may take to do so again.
_ROUNDS, _FEW = 3, 20

#: Seconds that clocks and whole seconds may add to a window or a wait.
_ROUNDING = 1.1

#: Names of numbers, without case and punctuation.
_LIMIT = re.compile(r"(rate)?limit|maxrequests|requestlimit|requestslimit|quota")
_REMAINING = re.compile(r"remaining|remainingrequests|requestsremaining|limitremaining")
_WINDOW = re.compile(
    r"(?:window|period|interval)(s|secs?|seconds|ms|millis(?:econds)?|min(?:ute)?s?)"
)

#: Seconds of the units of a window, by their first two letters.
_SECONDS = {"ms": 0.001, "mi": 60.0}

#: Members and parameters (`qu` of the RateLimit-Policy field) that say that a limit counts
#: something else than requests.
_UNITS = re.compile(r"units?|points?|cost|bytes|tokens|weight|qu")

#: The entries of the structured fields `RateLimit` and `RateLimit-Policy` (RFC 9651 parameters).
_PARAMETER = re.compile(r"\b(q|w|r|t|limit|remaining|qu)=(\"[^\"]*\"|[\w.-]+)")


@dataclass(frozen=True, slots=True)
class StatedLimit:
    """The numbers of a rate limit as an answer states them; None is missing.

    ``window``: seconds. ``unit``: whether it may count something else than requests.
    """

    limit: float | None = None
    window: float | None = None
    remaining: float | None = None
    unit: bool = False

    def __bool__(self) -> bool:
        return (self.limit, self.window, self.remaining) != (None, None, None)


def details_limit(details: Mapping[str, object]) -> StatedLimit:
    """Return the limit that the details of an error state."""
    found: dict[str, float] = {}
    unit = False
    for key, value in details.items():
        name, number = re.sub(r"[^a-z0-9]", "", key.lower()), _number(value)
        unit = unit or _UNITS.fullmatch(name) is not None
        if number is None:
            continue
        window = _WINDOW.fullmatch(name)
        if window is not None:
            unit_of_time = window[1].replace("milli", "ms")
            found["window"] = number * _SECONDS.get(unit_of_time[:2], 1.0)
        elif _LIMIT.fullmatch(name):
            found["limit"] = number
        elif _REMAINING.fullmatch(name):
            found["remaining"] = number
    return StatedLimit(**found, unit=unit)


def headers_limit(answer: Observation) -> StatedLimit:
    """Return the limit that the headers state: `RateLimit-*`, `X-RateLimit-*`, or the structured
    fields. Fields of several limits state nothing.
    """
    found: dict[str, float] = {}
    for name in ("limit", "remaining"):
        value = answer.header(f"RateLimit-{name}") or answer.header(f"X-RateLimit-{name}")
        number = _number(value)
        if number is not None:
            found[name] = number
    policy, state = answer.header("RateLimit-Policy") or "", answer.header("RateLimit") or ""
    if len(re.findall(r"\bw=", policy)) > 1:
        return StatedLimit()
    parameters = dict(_PARAMETER.findall(f"{policy};{state}"))
    for short, name in (("q", "limit"), ("limit", "limit"), ("w", "window"), ("r", "remaining")):
        number = _number(parameters.get(short))
        if number is not None:
            found.setdefault(name, number)
    return StatedLimit(**found, unit=parameters.get("qu", '"requests"') != '"requests"')


def _number(value: object) -> float | None:
    """Return a number that is not negative, also if it is a text of digits; else None."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,12}(\.\d+)?", value.strip()):
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    return None


@dataclass(frozen=True, slots=True)
class Round:
    """Requests until the limit refuses.

    ``served``: how many it accepted. ``sent``: those that the run sent in total up to the refusal.
    ``ended``: when the first refusal came, in seconds of the run; ``seconds``: since the round
    began. ``remaining``: what each accepted answer says is left.
    """

    served: int
    sent: int
    ended: float
    seconds: float
    refused: Observation
    remaining: tuple[StatedLimit, ...] = ()


def round_of(session: HttpSession, refused: Observation, *, sent: int, began: float) -> Round:
    """Return the round that has just ended with a refusal. ``sent``: the requests of the run before
    it.
    """
    now, total = session.driver.elapsed, session.driver.requests
    return Round(
        served=total - sent - 1, sent=total, ended=now, seconds=now - began, refused=refused
    )


@dataclass(slots=True)
class RateLimit:
    """A limit of a service, which ``ask`` exhausts.

    ``first``: the round that has just exhausted it. ``at_once``: its requests were sent at the same
    time, so that their number proves nothing. ``times``: when each request was sent.
    """

    session: HttpSession
    ask: Callable[[], Observation]
    first: Round
    at_once: bool = False
    rounds: list[Round] = field(init=False)
    times: list[float] = field(default_factory=list)
    waited: float = 0.0

    def __post_init__(self) -> None:
        self.rounds = [self.first]

    def outcomes(self) -> Iterator[Outcome]:
        """Wait, and exhaust the limit again; then compare the numbers. A refusal with another
        status than 429 is waited for once.
        """
        if self.first.refused.status != _LIMITED:
            yield self._check_wait(self.first.refused)[0]
            return
        while True:
            refused = self._refuse_more(self.rounds[-1].refused)
            if len(self.rounds) == _ROUNDS:
                break
            beyond = self._check_beyond_window(refused)
            if beyond is not None:
                yield from (beyond, not_exercised(_RECOVERS, "the window ended before the wait"))
                return
            # Before the last round the whole window passes, so that it holds no earlier request.
            window = self._stated_limit(refused).window or 0.0
            last = len(self.rounds) == _ROUNDS - 1 and window <= PATIENCE - self.waited
            outcome, served = self._check_wait(refused, window + _ROUNDING if last else 0.0)
            yield outcome
            if served is None or self.at_once:
                break
            following = self._exhaust(served)
            if following is None:
                break
            self.rounds.append(following)
        yield self._check_numbers()

    def _send(self) -> Observation:
        self.times.append(self.session.driver.elapsed)
        return self.ask()

    def _refuse_more(self, refused: Observation) -> Observation:
        """Send requests while the limit is exhausted; return the last refusal."""
        driver = self.session.driver
        spare = driver.limits.requests - driver.requests > _FEW
        for _ in range(_REFUSED_MORE if spare else 0):
            again = self._send()
            if again.status != refused.status:
                break
            refused = again
        return refused

    def _exhaust(self, served: Observation) -> Round | None:
        """Exhaust the limit again, after one request was served; None if it takes too many
        requests or too much time.
        """
        driver = self.session.driver
        began = self.times[-1]
        left = driver.limits.requests - driver.requests
        if self.first.served > _FEW or self.waited > PATIENCE or left < 2 * _FEW:
            return None
        remaining = [headers_limit(served)]
        for count in range(1, _FEW + 1):
            answer = self._send()
            if answer.status == self.first.refused.status:
                now = driver.elapsed
                return Round(
                    served=count,
                    sent=driver.requests,
                    ended=now,
                    seconds=now - began,
                    refused=answer,
                    remaining=tuple(remaining),
                )
            remaining.append(headers_limit(answer))
        return None

    # ---- the wait

    def _check_wait(
        self, refused: Observation, least: float = 0.0
    ) -> tuple[Outcome, Observation | None]:
        """Wait as long as a refusal asks, and check that the request is accepted afterwards.

        Return the accepted answer too. ``least``: the seconds that are waited in any case.
        """
        asked = refused.header("Retry-After")
        if any(finding.clause == "headers/retry-after" for finding in refused.judgement.findings):
            return not_exercised(_RECOVERS, "the refusal's Retry-After is not well formed"), None
        wait = self.session.requested_wait(refused)
        if wait is None:
            return self._check_long_wait(refused), None
        wait = max(wait, least)
        if not self.session.driver.pause(wait):
            reason = "the budget of seconds does not allow the wait that Retry-After asks for"
            return Outcome(_RECOVERS, "could_not_run", reason), None
        self.waited += wait
        again = self._send()
        if again.status == refused.status:
            message = f"the service still answered {again} after the {asked} s of Retry-After"
            return failed(_RECOVERS, message, refused, again), None
        if again.ok:
            return passed(_RECOVERS), again
        return not_exercised(_RECOVERS, f"after the wait, the service answered {again}"), None

    def _check_long_wait(self, refused: Observation) -> Outcome:
        """Check a refusal that asks for no wait or a long one: if a short wait is enough, the
        service confuses units.
        """
        asked = refused.header("Retry-After")
        if asked is None:
            return not_exercised(_RECOVERS, "the refusal has no Retry-After")
        suspicious = (whole_number(asked) or 0) >= _SUSPICIOUS
        if suspicious and self.session.driver.pause(_SHORT):
            again = self._send()
            if again.ok:
                enough = f"{_SHORT:g} s were enough: are these milliseconds?"
                message = f"Retry-After asks for {asked} s, and {enough}"
                # A service that is unavailable may be back earlier than it expected.
                level: Level = "error" if refused.status == _LIMITED else "warning"
                return failed(
                    _RECOVERS, message, refused, again, level=level, variant="milliseconds"
                )
        limit = f"Retry-After: {asked}; the run waits at most {PATIENCE:g} s"
        return not_exercised(_RECOVERS, f"the wait that the refusal asks for is too long ({limit})")

    def _check_beyond_window(self, refused: Observation) -> Outcome | None:
        """Check a wait that is longer than the stated window: a request after the window must not
        be served, unless the service punishes.

        Return None if the wait is not longer, or the window is not over in reasonable time.
        """
        asked, window = refused.header("Retry-After"), self._stated_limit(refused).window
        wait = whole_number(asked or "")
        if wait is None or window is None:
            return None
        if wait <= window + 1 or window > PATIENCE:
            return None
        if not self.session.driver.pause(window + _ROUNDING):
            return None
        again = self._send()
        if not again.ok:
            return None  # the wait is a penalty, which may be longer
        message = (
            f"Retry-After asks for {asked} s, but the window is {window:g} s, after which the "
            f"service answered {again}"
        )
        return failed(_COUNTED, message, refused, again)

    # ---- the numbers

    def _stated_limit(self, answer: Observation) -> StatedLimit:
        """Return the limit in the details, else the one in the headers."""
        details = details_limit(error_details(self.session.contract, answer))
        return details or headers_limit(answer)

    def _check_numbers(self) -> Outcome:
        """Compare what the refusals state with what was counted."""
        stated = {self._stated_limit(one.refused) for one in self.rounds}
        if not any(stated):
            return not_exercised(_COUNTED, "the refusals state no limit, window or rest")
        if self.at_once:
            reason = "requests one after another are too slow to count up to the limit"
            return not_exercised(_COUNTED, reason)
        if any(one.unit for one in stated):
            return not_exercised(_COUNTED, "the limit may count something else than requests")
        if len({(one.limit, one.window) for one in stated}) > 1:
            return not_exercised(_COUNTED, "the refusals state several limits")
        claim, refused = stated.pop(), self.rounds[-1].refused
        problem = self._problem_of_rest(claim) or self._too_many(claim) or self._too_few(claim)
        if problem is not None:
            return failed(_COUNTED, problem, self.first.refused, refused, variant="count")
        if claim.limit is None:
            return not_exercised(_COUNTED, "the refusals state no limit")
        if len(self.rounds) == 1:
            reason = "the limit was exhausted once, and earlier requests may have counted"
            return not_exercised(_COUNTED, reason)
        return passed(_COUNTED)

    def _problem_of_rest(self, claim: StatedLimit) -> str | None:
        """Return what is wrong with the rest of a limit.

        A header may be about another limit than the one that refuses, unless their numbers agree.
        """
        refused = self.rounds[-1].refused
        details = details_limit(error_details(self.session.contract, refused))
        if details.remaining:
            return f"a refusal states that {details.remaining:g} requests remain"
        header = headers_limit(refused)
        counted = {one.served for one in self.rounds[1:]}
        own = header.limit is not None and (
            {header.limit} == counted or header.limit == claim.limit
        )
        if not own or (details.limit is None and header.limit not in counted):
            return None
        if header.remaining:
            return f"a refusal states that {header.remaining:g} requests remain"
        for one in self.rounds[1:]:
            rest = [answer.remaining for answer in one.remaining]
            if len(rest) > 2 and None not in rest and len(set(rest)) == 1:
                return f"{len(rest)} requests in a row left {rest[0]:g} requests"
        return None

    def _too_many(self, claim: StatedLimit) -> str | None:
        """Return whether more was accepted after a refusal than the limit allows."""
        limit, window = claim.limit, claim.window
        if limit is None or window is None or window <= 0:
            return None
        for before, following in zip(self.rounds, self.rounds[1:], strict=False):
            span = following.ended - before.ended
            most = max(limit, ceil(limit * span / window))
            # The refilled limit was exhausted within one window, which had just begun.
            within = following.seconds + _ROUNDING < window
            if within and following.served > most:
                return self._message(following.served, span, claim)
        span = self.rounds[-1].ended - self.first.ended
        served = sum(one.served for one in self.rounds[1:])
        if served > limit * (floor(span / window) + 1):
            return self._message(served, span, claim)
        return None

    def _too_few(self, claim: StatedLimit) -> str | None:
        """Return whether less was sent within the window than the limit allows.

        Before the run others may have sent requests: the limit must have refused twice after the
        same number.
        """
        window = inf if claim.window is None else claim.window
        if claim.limit is None or len(self.rounds) < 2:
            return None
        previous, last = self.rounds[-2:]
        if previous.served != last.served and self.session.driver.elapsed < window:
            return None
        # A request may arrive as late as its answer.
        since = last.ended - window - 2 * last.seconds / (last.served + 1)
        sent = sum(since <= moment < last.ended for moment in self.times)
        if self.times[0] >= since:
            sent = last.sent
        sent -= 1  # the refusal itself exceeds the limit
        if sent >= claim.limit or last.served >= claim.limit:
            return None
        return self._message(last.served, last.seconds, claim)

    def _message(self, served: int, seconds: float, claim: StatedLimit) -> str:
        stated = f"a limit of {claim.limit:g}"
        if claim.window is not None:
            stated += f" in {claim.window:g} s"
        accepted = f"accepted {served} requests in {seconds:.1f} s before it refused one"
        return f"the refusal states {stated}, but the service {accepted}"
