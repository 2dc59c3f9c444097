"""`code/language`: a declared message is in the language that `Content-Language` names."""

import json

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load
from paths import TESTS


def judged(message: str, **headers: str) -> Judgement:
    """The judgement of an error `limited` with this message."""
    taxonomy = load(str(TESTS / "fixtures" / "bank.yaml")).taxonomy
    assert taxonomy is not None
    body = {"code": "limited", "message": message, "details": {"limit": 3}}
    sent = (("Content-Type", "application/json"), *headers.items())
    named = tuple((name.replace("_", "-"), value) for name, value in sent)
    response = Response(429, named, json.dumps(body).encode())
    return judge(build_contract(taxonomy), Exchange(Request("POST", "/payments"), response))


@pytest.mark.parametrize(
    ("message", "language", "wrong"),
    [
        ("Nicht mehr als 3 Zahlungen", "de", False),
        ("Nicht mehr als 3 Zahlungen", "de-AT", False),
        ("Não mais de 3 pagamentos", "de-AT", True),
        ("No more than 3 payments", "DE", True),
        ("Nicht mehr als 4 Zahlungen", "pt-BR", False),
        ("Langsamer, bitte", "de", False),
    ],
)
def test_only_a_message_of_another_language_is_wrong(
    message: str, language: str, wrong: bool
) -> None:
    """The declared message of another language is a finding; a message that the service words
    itself is none."""
    found = judged(message, Content_Language=language)
    assert "code/language" in found.exercised
    assert [each.clause for each in found.findings if each.clause == "code/language"] == [
        "code/language"
    ] * wrong


@pytest.mark.parametrize(
    "headers", [{}, {"Content_Language": "fr"}, {"Content_Language": "de, en"}]
)
def test_without_one_known_language_nothing_is_judged(headers: dict[str, str]) -> None:
    """No header, another language and several languages leave the clause not exercised."""
    found = judged("No more than 3 payments", **headers)
    assert "code/language" not in found.exercised


def test_the_judge_names_the_successor_of_a_removed_code() -> None:
    """A removed code is a finding that says which code replaces it."""
    taxonomy = load(str(TESTS / "fixtures" / "bank.yaml")).taxonomy
    assert taxonomy is not None
    body = json.dumps({"code": "refused", "message": "No"}).encode()
    response = Response(502, (("Content-Type", "application/json"),), body)
    found = judge(build_contract(taxonomy), Exchange(Request("POST", "/x"), response))
    (message,) = (each.message for each in found.findings if each.clause == "code/reserved")
    assert "`declined` replaces it" in message
