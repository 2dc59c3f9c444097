"""Laws of rate limits: numbers that are not those that were counted fail, whatever kind of limiter
counts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Recipe, ServiceConfig, Step
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import provoke
from faultspec_conformance.probes.rate_limits import StatedLimit, details_limit, headers_limit
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, details?: $details}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes: {slow: {summary: Too many requests, http: 429, retriable: true}}
headers: {Retry-After: {on: 429}}
"""

CONFIG = ServiceConfig(
    recipes=(Recipe("slow", (Step(ConfiguredCall("GET", "/x"), until=429, at_most=60),)),),
    limits=Limits(),
)


@dataclass
class Limiter:
    """A service that accepts ``limit`` requests in ``window`` seconds; ``now`` moves by ``delay`` a
    request.

    ``stated``: what its refusals state in place of the truth. ``asks``: the wait that they ask for.
    """

    kind: str = "fixed"
    limit: int = 5
    window: float = 3.0
    delay: float = 0.02
    stated: dict[str, object] = field(default_factory=dict)
    asks: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    rest: bool = False
    now: float = 1000.4
    times: list[float] = field(default_factory=list)
    tokens: float = -1.0
    moved: float = 1000.4

    def __call__(self, request: Request) -> Response:
        """The answer."""
        self.now += self.delay
        left, wait = getattr(self, self.kind)()
        more = dict(self.headers)
        if self.rest:
            more |= {
                "RateLimit_Limit": str(self.limit),
                "RateLimit_Remaining": str(max(left - 1, 0)),
            }
        if left > 0:
            return answer(200, {}, **more)
        details = {"limit": self.limit, "window_sec": self.window, **self.stated}
        details = {name: value for name, value in details.items() if value is not None}
        asked = max(1, ceil(wait)) if self.asks is None else self.asks
        return answer(429, {"code": "slow", "details": details}, retry_after=str(asked), **more)

    def fixed(self) -> tuple[int, float]:
        """Windows by the clock."""
        start = self.now - self.now % self.window
        left = self.limit - sum(moment >= start for moment in self.times)
        self.times += [self.now] * (left > 0)
        return left, start + self.window - self.now

    def sliding(self) -> tuple[int, float]:
        """The last seconds count."""
        recent = [moment for moment in self.times if moment > self.now - self.window]
        self.times = [*recent, *([self.now] * (len(recent) < self.limit))]
        return self.limit - len(recent), recent[0] + self.window - self.now if recent else 0.0

    def bucket(self) -> tuple[int, float]:
        """Tokens come back one by one; the bucket holds twice the limit."""
        rate = self.limit / self.window
        full = 2.0 * self.limit
        self.tokens = min(full, self.tokens + (self.now - self.moved) * rate)
        self.tokens = full if self.moved == 1000.4 else self.tokens
        self.moved = self.now
        left = int(self.tokens)
        self.tokens -= left > 0
        return left, (1 - self.tokens) / rate


class Driver(ScriptedDriver):
    """A driver by the clock of the limiter."""

    def __init__(self, limiter: Limiter, limits: Limits = CONFIG.limits) -> None:
        super().__init__(limiter, limits)
        self._clock: Callable[[], float] = lambda: limiter.now
        self._started = limiter.now
        self._pause = lambda seconds: setattr(limiter, "now", limiter.now + seconds)


def judged(limiter: Limiter, before: int = 0) -> list[Outcome]:
    """The outcomes about the recipe's rate limit. ``before``: requests that came earlier."""
    session = http_session(limiter, TAXONOMY, CONFIG)
    session.driver = Driver(limiter)
    for _ in range(before):
        session.driver.send(Request("GET", "/x"))
    return [each for each in provoke.limits(session) if isinstance(each, Outcome)]


def kinds(limiter: Limiter, clause: str = "retry/limit", before: int = 0) -> list[str]:
    """The outcomes of a clause; those of warnings begin with `~`."""
    return [
        ("~" if each.finding is not None and each.finding.level == "warning" else "") + each.kind
        for each in judged(limiter, before)
        if each.clause == clause
    ]


@pytest.mark.parametrize("delay", [0.001, 0.02, 0.2])
@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("window", [1.0, 3.0, 7.0, 60.0])
@pytest.mark.parametrize("kind", ["fixed", "sliding", "bucket"])
def test_true_numbers_never_fail(kind: str, window: float, before: int, delay: float) -> None:
    """Whatever kind of limiter, however slow the network, whatever was sent before."""
    found = judged(Limiter(kind, window=window, delay=delay), before)
    assert [each for each in found if each.kind == "failed" and each.clause != "provoke/code"] == []


@pytest.mark.parametrize(
    "stated",
    [
        {"limit": 2000, "window_sec": 60},
        {"limit": 2000},
        {"limit": 6},
        {"limit": 7},
        {"limit": 3},
        {"limit": 1},
        {"window_sec": 3600},
        {"remaining": 4},
        {"max_requests": 50, "limit": None},
    ],
)
@pytest.mark.parametrize("kind", ["fixed", "sliding"])
def test_wrong_numbers_fail(kind: str, stated: dict[str, object]) -> None:
    """A limit or a window that was not counted, and a refusal with requests to spare."""
    assert kinds(Limiter(kind, stated=stated)) == ["failed"]


def test_a_wait_beyond_the_window_must_be_a_penalty() -> None:
    """A service that serves after the window must not ask for a longer wait, whatever its unit; one
    that punishes may.
    """
    assert kinds(Limiter(window=2, asks=9)) == ["failed"]
    assert kinds(Limiter(window=2, asks=2000)) == ["failed"]
    punishing = Limiter(kind="sliding", window=8, stated={"window_sec": 2}, asks=8)
    assert "failed" not in kinds(punishing)


def test_a_wait_in_milliseconds_fails() -> None:
    """A 429 that asks for a quarter of an hour or more, while two seconds are enough, fails also if
    it states no window.
    """
    silent: dict[str, object] = {"limit": None, "window_sec": None}
    assert kinds(Limiter(window=2, asks=2000, stated=silent), "retry/recovers") == ["failed"]
    long = Limiter(window=2000, asks=2000, stated=silent)
    assert "failed" not in kinds(long, "retry/recovers")


def test_every_refusal_is_judged() -> None:
    """Another refusal follows the first one in each round, and the wait is that of the last."""
    limiter = Limiter()
    session = http_session(limiter, TAXONOMY, CONFIG)
    session.driver = Driver(limiter)
    list(provoke.limits(session))
    statuses = [seen.status for seen in session.observations.exchanges]
    assert statuses == [*[200] * statuses.index(429), *([429] * 2 + [200] * 5) * 2, *[429] * 2]


@pytest.mark.parametrize(
    ("limiter", "reason"),
    [
        (Limiter(stated={"limit": None, "window_sec": None}), "state no limit"),
        (Limiter(stated={"limit": 50, "cost": 10}), "something else than requests"),
        (Limiter(limit=40), "exhausted once"),
        (Limiter(window=60.0), "exhausted once"),
    ],
)
def test_what_cannot_be_counted_is_not_exercised(limiter: Limiter, reason: str) -> None:
    """The reason says why: numbers are missing, costs, many requests, a long wait."""
    (outcome,) = [each for each in judged(limiter) if each.clause == "retry/limit"]
    assert outcome.kind == "not_exercised"
    assert reason in str(outcome.reason)


def test_the_rest_in_headers_counts_down() -> None:
    """A rest that never moves fails where the header is about the limit that refuses; else it may
    be about another.
    """
    assert kinds(Limiter(rest=True)) == ["passed"]
    fixed = {"RateLimit_Limit": "5", "RateLimit_Remaining": "5"}
    assert kinds(Limiter(headers=fixed)) == ["failed"]
    other = {"X_RateLimit_Limit": "5000", "X_RateLimit_Remaining": "4000"}
    assert kinds(Limiter(headers=other)) == ["passed"]


def test_numbers_are_read_in_usual_notations() -> None:
    """Names without case and punctuation, seconds and milliseconds, and the fields of the IETF
    drafts.
    """
    assert details_limit({"limit": "5", "windowMs": 1500, "remaining": 0}) == StatedLimit(5, 1.5, 0)
    assert details_limit({"window": 60, "rate-limit": 5}) == StatedLimit(5)
    assert details_limit({"max_requests": 5, "period_minutes": 2, "points": 1}).unit
    seen = observed(RateLimit_Policy='"burst";q=100;w=60', RateLimit='"burst";r=0;t=30')
    assert headers_limit(seen) == StatedLimit(100, 60, 0)
    assert not headers_limit(observed(RateLimit_Policy='"a";q=1;w=1, "b";q=9;w=60'))
    assert headers_limit(observed(RateLimit_Policy='"a";q=9;qu="content-bytes";w=1')).unit


def observed(**headers: str) -> Observation:
    """An answer with these headers."""
    session: HttpSession = http_session(lambda request: answer(429, {}, **headers), TAXONOMY)

    return session.call(RequestSpec("GET", "/x", wait_when_limited=False))
