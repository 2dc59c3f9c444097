"""The codes that a draft has for what frameworks answer by themselves."""

import subprocess
import sys
from pathlib import Path

import pytest

from faultspec.importers import NotImportable
from faultspec.openapi.service import Description, read
from faultspec_conformance.learning.answers import ErrorAnswer, group_shapes
from faultspec_conformance.learning.draft import draft_taxonomy, write_draft
from support.command_line import faultspec

#: The bodies of a 404 and of a 401 of services.
BODIES = {
    "a code in the body": (
        {"error": {"code": "missing", "message": "m"}},
        {"error": {"code": "who", "message": "m"}},
    ),
    "codes in capitals": ({"code": "MISSING", "message": "m"}, {"code": "WHO", "message": "m"}),
    "the status alone": ({"detail": "Not Found"}, {"detail": "Log in"}),
    "a list": ({"errors": [{"title": "Not Found"}]}, {"errors": [{"title": "Log in"}]}),
    "numbers": ({"code": 17, "msg": "m"}, {"code": 18, "msg": "m"}),
}

LEARNED = Description(
    document={"openapi": "3.1.0", "paths": {"/a": {"get": {}}, "/b": {"get": {}}}}, learned=True
)

PROGRAM = "from service_errors import boundary; boundary.make_policy()"


def bound(bodies: tuple[object, object], folder: Path) -> tuple[str, str]:
    """The text of a draft from errors, and what the boundary of its bindings complains of."""
    media = "application/json"
    seen = [
        ErrorAnswer("GET /a", 404, media, bodies[0]),
        ErrorAnswer("GET /b", 404, media, bodies[0]),
        ErrorAnswer("GET /a", 401, media, bodies[1]),
    ]
    text = write_draft(draft_taxonomy(LEARNED, group_shapes(seen), {}), seen, "here", "s.json")
    (folder / "taxonomy.yaml").write_text(text)
    done = faultspec("compile", "--target", "python", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    package = next((folder / "out").rglob("service_errors")).parent
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    return text, ran.stderr


@pytest.mark.parametrize("name", [name for name in BODIES if name != "numbers"])
def test_a_drafted_boundary_answers_each_status(name: str, tmp_path: Path) -> None:
    """Whatever the shape of its errors, the bindings of a draft can be installed as they are."""
    text, complaint = bound(BODIES[name], tmp_path)
    assert complaint == ""
    assert "code: null" not in text
    assert "# not observed: for the fallback; the name is a guess" in text


@pytest.mark.parametrize(
    ("code", "operations", "fallback"),
    [
        ("empty_cart", ("GET /a",), "invalid_request"),
        ("EMPTY_CART", ("GET /a",), "INVALID_REQUEST"),
        ("empty_cart", ("GET /a", "GET /b"), "empty_cart"),
        ("validation_error", ("GET /a",), "validation_error"),
        ("BAD_REQUEST", ("GET /a",), "BAD_REQUEST"),
        ("empty_cart", (None,), "empty_cart"),
    ],
)
def test_a_fallback_is_general(
    code: str, operations: tuple[str | None, ...], fallback: str
) -> None:
    """The code of one operation does not stand for any refusal; a code of several operations or of
    unknown routes, or with a general name, may be one, and the draft says that it guessed.
    """
    missing = "NO_CAR" if code.isupper() else "no_car"
    media = "application/json"
    seen = [ErrorAnswer("GET /b", 404, media, {"code": missing, "message": "m"})]
    seen += [ErrorAnswer(each, 400, media, {"code": code, "message": "m"}) for each in operations]
    drafted = draft_taxonomy(LEARNED, group_shapes(seen), {})
    assert drafted.data["fallback"]["4xx"]["code"] == fallback
    reasons = {each.path: each.reason for each in drafted.decisions}
    assert (f"`{fallback}` is a guess" in reasons.get("fallback.4xx", "")) == (fallback == code)
    assert "fallback.5xx" not in reasons


def test_a_code_that_cannot_be_made_up_is_left_to_the_team(tmp_path: Path) -> None:
    """No number is made up: the boundary names the fallback and what to write."""
    text, complaint = bound(BODIES["numbers"], tmp_path)
    assert "5xx: {code: null" in text
    assert "under `fallback` of the taxonomy, such as `5xx: {code: internal_error" in complaint


def test_a_service_without_json_errors_cannot_be_drafted() -> None:
    """It says so, and not that a document declares nothing: there is none."""
    with pytest.raises(NotImportable, match="no error of the service has a JSON object"):
        draft_taxonomy(LEARNED, (), {})
    with pytest.raises(NotImportable, match="the document declares no failure"):
        draft_taxonomy(read({"openapi": "3.1.0", "paths": {}}), (), {})
