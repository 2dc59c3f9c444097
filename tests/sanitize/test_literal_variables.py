"""Literal texts such as `${NAME}` in requests of a report."""

import json
from dataclasses import replace
from urllib.parse import unquote

import pytest

from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.config import Identity
from faultspec_conformance.reports import curl
from faultspec_conformance.sanitize.masking import build_masking

ALICE = Identity("alice", secrets=(("alpha-secret-1", "${ALICE_TOKEN}"),))
LITERAL = "a ${AWS_SECRET_ACCESS_KEY} b"


def masked(request: Request) -> Request:
    """The request as reports show it, masked twice as in a run."""
    masking = build_masking([ALICE])
    once = masking.exchange(Exchange(request, Response(500)))
    twice = masking.exchange(once)
    assert replace(masking, again=True).exchange(twice) == twice == once
    return once.request


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/json", json.dumps({LITERAL: [LITERAL]})),
        ("application/x-www-form-urlencoded", "name=${AWS_SECRET_ACCESS_KEY}"),
        ("text/plain", LITERAL),
    ],
)
def test_a_literal_variable_is_not_one_of_the_shell(media_type: str, body: str) -> None:
    """A command line asks the shell for masked secrets alone. A text of the document that looks so
    means the same in JSON, a form and an address.
    """
    headers = (
        ("Content-Type", media_type),
        ("Authorization", "Bearer alpha-secret-1"),
        ("X-Kind", LITERAL),
    )
    target = "/x?q=${AWS_SECRET_ACCESS_KEY}"
    shown = masked(Request("POST", target, headers, body.encode()))
    line = curl.command_line("http://127.0.0.1:1", shown)
    assert "${ALICE_TOKEN}" in line
    assert "${AWS" not in line
    assert unquote(shown.target) == target
    if "json" in media_type:
        assert json.loads(shown.body) == json.loads(body)
    if "form" in media_type:
        assert unquote(shown.body.decode()) == body
