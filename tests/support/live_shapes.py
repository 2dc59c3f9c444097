"""The wire shapes as running services, judged as `faultspec conform` judges them."""

from collections.abc import Mapping

from starlette.types import ASGIApp

from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures.serve import serving_on
from miniatures.shapes.services import SERVICES
from paths import TESTS
from support.wire_shapes import taxonomy

FOLDER = TESTS / "miniatures" / "shapes"

RUNS = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
"""The conformance files: one of each shape, and one of each carrier of `agents`."""


def shape_of(name: str) -> str:
    """The wire shape that a conformance file judges."""
    return name.partition("-")[0]


def judged(name: str, app: ASGIApp | None = None) -> Result:
    """The result of the run that a conformance file describes, on a fresh service or on ``app``."""
    shape = shape_of(name)
    app = app or SERVICES[shape]()
    lifespan = "on" if shape == "agents" else "off"
    with serving_on(app, lifespan=lifespan) as (base, _):
        loaded = read_config(str(FOLDER / f"{name}.yaml"), {"BASE_URL": base})
        assert loaded.target is not None, loaded.diagnostics
        report = run(loaded.target, taxonomy(shape), RunOptions(sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    return report.result


#: The clause that catches a sin of this name.
_CLAUSES: Mapping[str, str] = {
    **dict.fromkeys(("other-code", "second-error-wrong"), "code/declared"),
    **dict.fromkeys(
        (
            *("number-as-code", "text-as-code", "number-as-message", "text-as-errors"),
            *("text-for-a-list", "object-as-detail", "text-as-location", "text-as-path"),
            *("text-as-meta",),
        ),
        "envelope/types",
    ),
    **dict.fromkeys(
        (
            *("no-message", "no-code", "code-below-data", "code-elsewhere", "other-version"),
            *("no-namespace", "other-root", "wrapped", "no-uri", "no-list", "no-status"),
            *("other-schema", "no-type", "not-nested", "in-a-list", "other-name"),
        ),
        "envelope/shape",
    ),
    **dict.fromkeys(("plain-json", "json"), "envelope/media-type"),
    **dict.fromkeys(
        ("others-fault", "other-title", "other-number", "other-grpc"), "boundary/allowed"
    ),
    **dict.fromkeys(("no-key", "no-details", "second-pointer-missing"), "details/required"),
    **dict.fromkeys(
        ("details-of-another-type", "size-in-words", "number-as-detail"), "details/schema"
    ),
    **dict.fromkeys(("cut", "html"), "envelope/json"),
    "other-status": "code/status",
    "more-members": "envelope/additional",
    "more-details": "details/registered",
    "status-in-body": "envelope/status",
    "number-as-status": "envelope/types",
    "missing-as-bad": "provoke/code",
    "another-key": "provoke/expected",
    "no-wait": "headers/retry-after",
    "no-allow": "headers/allow",
    "no-challenge": "headers/www-authenticate",
    "not-marked": "mcp/is-error",
    "echoed-input": "service/no-crash",
}

#: Where the shape makes another clause of a sin.
_ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("aws_rest_xml", "more-members"): "details/registered",
    ("django_rest", "other-name"): "code/status",
    ("django_rest", "number-as-detail"): "code/status",
    ("django_rest", "other-status"): "headers/retry-after",
    ("github", "other-status"): "provoke/code",
    ("google_rpc", "code-elsewhere"): "envelope/types",
    ("google_rpc", "details-of-another-type"): "envelope/types",
    ("scim", "no-code"): "provoke/code",
}


def clause_of(name: str, sin: str) -> str:
    """The clause that catches a sin of a service."""
    return _ELSEWHERE.get((name, sin), _CLAUSES[sin])


#: Rules of the public documentation that the language cannot express.
UNSAID: Mapping[str, tuple[str, ...]] = {
    "agents": ("The three carriers send one failure alike: each is judged by itself.",),
    "aws_json": (
        "A client accepts `__type` with any namespace, with none, and with a URI behind it; the"
        " shape has one namespace. A pattern that takes a part of a value is for headers only.",
    ),
    "aws_query": ("`Action` may be in the query or in a form: a match names one of them.",),
    "aws_rest_json": ("The members of the body are optional because the header has the code.",),
    "aws_rest_xml": (
        "An answer to HEAD has no body, and two codes have the status 404, so its code stays open.",
    ),
    "credit": (),
    "django_rest": (
        "Every member of the map is a list of texts, or a map again for nested fields: a schema of"
        " all members of an object does not exist. So a body with a misspelt `detail` is read as"
        " such a map, and its status is the finding.",
    ),
    "fastapi": ("The members of `ctx` depend on `type`: values of slots do not depend on others.",),
    "github": (
        "A 403 with `x-ratelimit-remaining: 0` is a rate limit, too: a status and a header together"
        " do not decide a code.",
        "The items of `errors` have a `message` if their code is `custom`.",
    ),
    "google_rpc": ("The members of an item of `details` depend on its `@type`.",),
    "graphql": ("`data` is missing exactly if the query did not run.",),
    "json_api": (),
    "rails": ("Every member of `errors` is a list of texts: see django_rest.",),
    "scim": (),
    "stripe": (
        "`type` is there beside `code`, too: a slot with several places is optional in each.",
    ),
    "twirp": ("Every member of `meta` is a text: see django_rest.",),
}
