"""Secrets in forms with files."""

from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.sanitize.traffic_secrets import mask_recorded
from faultspec_conformance.session.multipart import encode_multipart, read_fields
from faultspec_conformance.session.sent_secrets import sent_secrets

FORM = {"title": "a shelf", "password": "hunter2-Geheim-99", "photo": "x" * 40}


def request() -> Request:
    """A request with the form."""
    body, media_type = encode_multipart(FORM, {"photo": "image/png"})
    return Request("POST", "/shelves", (("Content-Type", media_type),), body)


def test_the_fields_beside_files_are_read() -> None:
    """Fields are read as they were written, and other bodies have none."""
    sent = request()
    media_type = sent.headers[0][1]
    assert read_fields(sent.body, media_type) == [
        ("title", "a shelf"),
        ("password", "hunter2-Geheim-99"),
    ]
    assert read_fields(b"\xff\x00--", media_type) == []


def test_a_password_in_a_form_with_files_must_not_come_back() -> None:
    """It is a secret that the request sends."""
    assert [each.value for each in sent_secrets(request())] == ["hunter2-Geheim-99"]


def test_a_recorded_password_in_a_form_with_files_is_masked() -> None:
    """Whatever recorded it."""
    exchange = Exchange(request(), Response(400, (), b'{"message": "not hunter2-Geheim-99"}'))
    masked = str(mask_recorded([exchange]).exchange(exchange))
    assert "hunter2" not in masked
    assert "a shelf" in masked
