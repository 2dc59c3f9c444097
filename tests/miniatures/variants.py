"""Other ways of keeping the Core Platform contract: what real services do, and nobody may be blamed
for.
"""

import itertools
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from starlette.types import ASGIApp

from .core_platform import make_app
from .sins import NOTEBOOK, UNKNOWN, bearer, both, detail, envelope_of, header, on, says
from .wire import Answer, Asked, Wrapper, readdressing, rewriting


@dataclass(frozen=True, slots=True)
class Variant:
    """One way, in a sentence."""

    name: str
    sentence: str
    apply: Wrapper


def varied(name: str, *, clock: Callable[[], float]) -> ASGIApp:
    """A fresh service that behaves in the way of this name."""
    apply = next(each.apply for each in _variants(clock) if each.name == name)
    return apply(make_app(clock=clock))


def _read_only(name: str, value: Callable[[], object]) -> Wrapper:
    """A member that only reading shows."""

    def change(_: Asked, answer: Answer) -> Answer:
        body = answer.json()
        return (
            answer.with_json({**body, name: value()})
            if isinstance(body, dict) and "revision" in body
            else answer
        )

    return on(change, path=NOTEBOOK, method="GET", every=True)


def _weak(app: ASGIApp) -> ASGIApp:
    """Weak validators, compared as if they were strong ones."""

    def asking(asked: Asked) -> Asked:
        wanted = asked.header("if-match")
        return asked if wanted is None else asked.with_header("if-match", wanted.replace("W/", ""))

    def answering(_: Asked, answer: Answer) -> Answer:
        tag = answer.header("etag")
        return answer if tag is None else answer.with_header("etag", f"W/{tag}")

    weakly = both(answering, detail("expected_etag", lambda old: f"W/{old}"))
    return rewriting(weakly)(readdressing(asking)(app))


def _reordered(_: Asked, answer: Answer) -> Answer:
    body = answer.json()
    if not isinstance(body, dict):
        return answer
    return replace(answer, body=json.dumps(dict(reversed(body.items())), indent=3).encode())


def _silent_changes(asked: Asked, answer: Answer) -> Answer:
    if asked.method not in ("PATCH", "PUT") or answer.status != 200:
        return answer
    return replace(answer.without_header("content-type"), status=204, body=b"")


def _refused(code: str, status: int, message: str) -> Callable[[Asked, Answer], Answer]:
    def change(_: Asked, answer: Answer) -> Answer:
        body = {
            "code": code,
            "message": message,
            "correlation_id": answer.header("x-correlation-id"),
        }
        return replace(
            answer.with_header("cache-control", "no-store").with_header(
                "content-type", "application/json"
            ),
            status=status,
        ).with_json(body)

    return change


def _before_routing(asked: Asked, answer: Answer) -> Answer:
    """A caller without credentials is refused before an answer shows what exists."""
    if bearer(asked) or asked.path in ("/healthz", "/openapi.json"):
        return answer
    return _refused("unauthenticated", 401, "Show a token")(
        asked, answer.with_header("www-authenticate", "Bearer")
    )


def _without_slash(asked: Asked, answer: Answer) -> Answer:
    if asked.path == "/" or not asked.path.endswith("/"):
        return answer
    return replace(answer, status=308, body=b"").with_header("location", asked.path.rstrip("/"))


def _linked(asked: Asked, answer: Answer) -> Answer:
    body = answer.json()
    if (
        asked.path != "/notebooks"
        or asked.method != "GET"
        or answer.status != 200
        or "?" in asked.target
    ):
        return answer
    total = len(body["items"])
    following = f"/notebooks?offset={total}"
    answer = answer.with_header("link", f'<{following}>; rel="next"')
    return answer.with_json({**body, "total": total, "next": following})


def _variants(clock: Callable[[], float]) -> tuple[Variant, ...]:
    turns = itertools.count()
    # fmt: off
    return (
        Variant("as-it-is", "nothing is different", lambda app: app),
        Variant("read-at", "a representation says when it was read", _read_only("fetched", clock)),
        Variant("read-at-seconds", "a representation says the second in which it was read", _read_only("fetched", lambda: time.strftime("%FT%TZ", time.gmtime(clock())))),
        Variant("counts-reads", "a representation counts how often it was read", _read_only("views", lambda: next(turns))),
        Variant("weak-etags", "validators are weak", _weak),
        Variant("accepted", "a creation is accepted, 202", on(lambda _, answer: replace(answer, status=202), path="/notebooks", method="POST", status=201, every=True)),
        Variant("silent-changes", "a change is answered 204", rewriting(_silent_changes)),
        Variant("linked-pages", "a list links to its next page and counts", rewriting(_linked)),
        Variant("redirects-slashes", "an address with a slash at its end is redirected", rewriting(_without_slash)),
        Variant("more-headers", "answers have headers of a proxy and of a browser's policy", on(both(header("via", "1.1 edge"), header("strict-transport-security", "max-age=63072000"), header("set-cookie", "route=a1b2c3; Path=/"), header("x-request-id", lambda *_: f"edge-{random.random()}"), header("server", "edge")), every=True)),
        Variant("told-charset", "the media type of errors says that they are UTF-8", on(header("content-type", "application/json; charset=utf-8"))),
        Variant("more-directives", "errors are not to be stored, and more", on(header("cache-control", "no-cache, no-store, max-age=0, must-revalidate"))),
        Variant("reordered", "members stand in another order, on lines of their own", rewriting(_reordered)),
        Variant("varying-words", "the words of one error vary", on(lambda asked, answer: says(f"{envelope_of(answer)['message']} ({random.choice(['see the manual', 'ask the desk', 'try another'])})")(asked, answer) if envelope_of(answer) else answer, path=UNKNOWN)),
        Variant("other-alphabets", "messages are in Greek", on(says("Δεν είναι δυνατόν"))),
        Variant("names-the-member", "a message names the member and its bounds", on(lambda asked, answer: says(f"`{envelope_of(answer)['details'].get('field')}` is not what it must be: at most 80 characters, 0 to 1000")(asked, answer), code="validation_failed")),
        Variant("credentials-before-routes", "a caller without a token gets 401 at any address", rewriting(_before_routing)),
        Variant("no-options", "OPTIONS is a method like any other that is not there", on(both(_refused("invalid_request", 405, "Not here"), header("allow", "GET, HEAD, POST, PUT, PATCH, DELETE")), method="OPTIONS", every=True)),
    )
    # fmt: on


VARIANTS = tuple(each.name for each in _variants(time.time))
