"""A client of the orders API, written on the generated bindings: it does what the planner says, or
sins.

`call(url, method, path)` makes one call; `python ordering.py METHOD PATH` calls the address in
ORDERS_URL.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "generated" / "python"))

from http.client import HTTPConnection

from platform_errors import PlatformError, parse
from platform_errors.retry import (
    Failure,
    Plan,
    Policy,
    State,
    new_idempotency_key,
    plan,
    policy_for,
    start,
)

SINS: Mapping[str, str] = {
    "gives-up-at-once": "shows every failure to the user",
    "tries-refusals-again": "tries whatever failed a second time",
    "tries-once-more": "makes one try more than the policy allows",
    "tries-for-ever": "never stops trying",
    "hurries": "waits a quarter of what the policy has",
    "dawdles": "waits a second too long, once",
    "ignores-retry-after": "waits as the policy says, whatever the service asks for",
    "waits-without-jitter": "always waits the longest that the policy has",
    "new-key-each-try": "makes a new idempotency key for every try",
    "one-key-for-all": "has an idempotency key in its configuration",
    "writes-without-a-key": "sends no idempotency key, and tries again",
    "overwrites": "sends a stale write again as it was",
    "reads-in-vain": "reads again after a stale write, and keeps the old validator",
    "shows-conflicts": "shows a stale write to the user, without a look at what is there",
    "short-ids": "makes correlation ids of eight letters",
}

KEY = "Idempotency-Key"


class Answer(NamedTuple):
    """An answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def scaled(policy: Policy, scale: float) -> Policy:
    """The policy with shorter delays."""
    phases = (
        each._replace(
            base=each.base * scale,
            step=each.step * scale,
            max=None if each.max is None else each.max * scale,
            for_seconds=None if each.for_seconds is None else each.for_seconds * scale,
        )
        for each in policy.phases
    )
    most = None if policy.max_elapsed is None else policy.max_elapsed * scale
    return policy._replace(phases=tuple(phases), max_elapsed=most)


class Client:
    """Calls one address."""

    def __init__(self, url: str, scale: float, sin: str | None) -> None:
        self.netloc = urlsplit(url).netloc
        self.scale = scale
        self.sin = sin
        self.random = (
            (lambda: 1.0) if sin == "waits-without-jitter" else __import__("random").random
        )

    def send(self, method: str, path: str, headers: Mapping[str, str]) -> Answer:
        """One request."""
        connection = HTTPConnection(self.netloc, timeout=20)
        body = json.dumps({"sku": "tea"}).encode() if method in ("POST", "PUT") else None
        connection.request(method, path, body, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        found = Answer(
            answer.status,
            {name.lower(): value for name, value in answer.headers.items()},
            answer.read(),
        )
        connection.close()
        return found

    def key(self) -> str:
        """The key that names one intent."""
        return "the-key" if self.sin == "one-key-for-all" else new_idempotency_key()

    def call(self, method: str, path: str) -> Answer:
        """One call, with whatever tries it takes."""
        headers: dict[str, str] = {}
        if method == "POST" and self.sin != "writes-without-a-key":
            headers[KEY] = self.key()
        if method == "PUT":
            headers["If-Match"] = self.send("GET", path, {}).headers["etag"]
        if self.sin == "short-ids":
            headers["X-Correlation-Id"] = "deadbeef"
        state: State | None = None
        tries = 0
        while True:
            answer = self.send(method, path, headers)
            tries += 1
            if answer.status < 400:
                return answer
            error = parse(answer.body, status=answer.status, headers=answer.headers)
            if error.facts.client_action == "refetch":
                if tries > 1 or self.sin == "shows-conflicts":
                    return answer
                fresh = self.send("GET", path, {}) if self.sin != "overwrites" else answer
                if self.sin not in ("overwrites", "reads-in-vain"):
                    headers["If-Match"] = fresh.headers["etag"]
                continue
            policy = scaled(policy_for(error), self.scale)
            state = start(policy) if state is None else state
            planned = self.planned(policy, state, error, method in ("GET", "PUT") or KEY in headers)
            if not self.goes_on(planned, tries):
                return answer
            time.sleep(self.wait(planned, tries))
            state = planned.state if planned.retry else state
            if self.sin == "new-key-each-try":
                headers[KEY] = self.key()

    def planned(self, policy: Policy, state: State, error: PlatformError, idempotent: bool) -> Plan:
        """The decision of the planner, as `plan_retry` asks for it, with the scaled policy."""
        hint = error.headers.get("retry-after") if self.sin != "ignores-retry-after" else None
        failure = Failure(
            retriable=error.retriable and error.facts.client_action in ("retry", "none"),
            retry_after=hint,
            idempotent=idempotent or self.sin == "writes-without-a-key",
            effect=error.facts.effect,
        )
        return plan(policy, state, failure, now=time.time(), random=self.random)

    def goes_on(self, planned: Plan, tries: int) -> bool:
        """Whether to try again."""
        match self.sin:
            case "gives-up-at-once":
                return False
            case "tries-refusals-again" if planned.reason == "not_retriable":
                return tries == 1
            case "tries-once-more" if planned.reason == "attempts_exhausted":
                return tries == planned.state.attempt
            case "tries-for-ever" if planned.reason == "attempts_exhausted":
                return True
        return planned.retry

    def wait(self, planned: Plan, tries: int) -> float:
        """How long to wait before."""
        delay = planned.delay or 0.0
        if self.sin == "dawdles" and tries == 1:
            return delay + 1.3
        asked = planned.delay != planned.computed
        return delay / 4 if self.sin == "hurries" and not asked else delay


def call(url: str, method: str, path: str, *, scale: float = 1.0, sin: str | None = None) -> Answer:
    """One call of a behaving client, or of one that sins."""
    return Client(url, scale, sin).call(method, path)


if __name__ == "__main__":
    scale = float(os.environ.get("ORDERS_SCALE", "1"))
    print(
        call(
            os.environ["ORDERS_URL"], *sys.argv[1:3], scale=scale, sin=os.environ.get("ORDERS_SIN")
        )
    )
