"""The vault answers as its contract has it, read by hand: nothing here knows a taxonomy."""

import asyncio
import uuid
from collections.abc import Mapping

import pytest
from starlette.types import ASGIApp

from miniatures.vault import ENVIRONMENT, SINS, make_app
from miniatures.wire import Answer, exchange

ADA = {"Authorization": f"Bearer {ENVIRONMENT['VAULT_ADA']}"}
BOB = {"Authorization": f"Bearer {ENVIRONMENT['VAULT_BOB']}"}
LETTERS = {"label": "Letters", "combination": "4711"}


def ask(app: ASGIApp, request: str, body: object = b"", headers: Mapping[str, str] = ADA) -> Answer:
    """One exchange, by default as one of the owners."""
    method, target = request.split()
    return asyncio.run(exchange(app, method, target, headers, body))


@pytest.mark.parametrize(
    ("request_", "body", "headers", "expected"),
    [
        ("GET /v2/none", b"", ADA, (404, 104, "door")),
        ("DELETE /v2/boxes", b"", ADA, (405, 101, "door")),
        ("GET /v2/boxes", b"", {}, (401, 103, "door")),
        ("POST /v2/boxes", b"{", {**ADA, "Content-Type": "application/json"}, (400, 101, "door")),
        ("POST /v2/boxes", b"{}", {**ADA, "Content-Type": "text/plain"}, (415, 101, "door")),
        ("POST /v2/boxes", b" " * 70_000, ADA, (413, 101, "door")),
        ("POST /v2/boxes", {"label": 1}, ADA, (422, 102, "desk")),
        ("GET /v2/boxes/none", b"", ADA, (404, 104, "storage")),
        ("GET /v2/boxes", b"", {**ADA, "X-Jam": "yes"}, (503, 120, "storage")),
    ],
)
def test_errors_are_as_written(
    request_: str, body: object, headers: Mapping[str, str], expected: tuple[int, int, str]
) -> None:
    """Each refusal has its status twice, its number, its layer, a text and the id that came in."""
    sent = str(uuid.uuid4())
    answer = ask(make_app(), request_, body, {**headers, "X-Request-Id": sent})
    error = answer.json()["error"]
    assert (answer.status, error["no"], error["layer"]) == expected
    assert error["status"] == answer.status
    assert error["text"]
    assert error["request_id"] == answer.header("x-request-id") == sent


def test_a_box_is_opened_with_its_combination_by_its_owner() -> None:
    """Any other combination is 201, which nothing else is; to another owner the box is not
    there.
    """
    app = make_app()
    box = ask(app, "POST /v2/boxes", LETTERS).json()["id"]
    opening = f"POST /v2/boxes/{box}/opening"
    assert ask(app, opening, {"combination": "4711"}).json()["open"] is True
    wrong = ask(app, opening, {"combination": "0000"})
    assert (wrong.status, wrong.json()["error"]["no"]) == (403, 201)
    assert ask(app, opening, {"combination": "4711"}, BOB).status == 404


def test_a_key_is_for_one_body_of_one_owner() -> None:
    """The same write again is the first answer again, another body is refused, another owner adds
    an own box.
    """
    app, key = make_app(), {"Idempotency-Key": "k"}
    first = ask(app, "POST /v2/boxes", LETTERS, {**ADA, **key})
    assert ask(app, "POST /v2/boxes", LETTERS, {**ADA, **key}).body == first.body
    other = ask(app, "POST /v2/boxes", {**LETTERS, "label": "Coins"}, {**ADA, **key})
    assert (other.status, other.json()["error"]["no"]) == (409, 110)
    assert ask(app, "POST /v2/boxes", LETTERS, {**BOB, **key}).json()["id"] != first.json()["id"]
    assert len(ask(app, "GET /v2/boxes").json()["boxes"]) == 1


def test_old_rooms_speak_text() -> None:
    """The routes from before /v2 have no envelope."""
    shelf = ask(make_app(), "GET /legacy/shelves/7", b"", {})
    assert (shelf.status, shelf.header("content-type")) == (404, "text/plain; charset=utf-8")
    assert ask(make_app(), "GET /legacy/ledger", b"", {}).status == 200


def test_sins_are_known_by_name() -> None:
    """A name that is not a sin is refused, not ignored."""
    with pytest.raises(ValueError, match="no such sin: sloth"):
        make_app(frozenset({"sloth", *SINS}))
