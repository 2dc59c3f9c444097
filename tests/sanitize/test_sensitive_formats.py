"""Sensitive members in bodies of every format, and in the messages of generated constructors."""

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.exchange.sensitive import SensitivePlaces
from faultspec.language import read
from faultspec.runtime.checking import Check, refuse
from faultspec_conformance.sanitize.effort import Effort
from faultspec_conformance.sanitize.traffic_secrets import mask_answered


@pytest.mark.parametrize(
    ("media_type", "body", "values"),
    [
        ("application/json", '{"amount": 98765.4321}', ["98765.4321"]),
        ("application/json", '{"amount": 98765.4321, "who": ', ["98765.4321"]),
        ("application/xml", "<e><iban>XMLSECRET6</iban><amount>31415.92</amount></e>", ["XMLSECRET6", "31415.92"]),
        ("application/x-www-form-urlencoded", "iban=FORMSECRET7&code=a", ["FORMSECRET7"]),
    ],
)  # fmt: skip  # a row a case
def test_sensitive_values_are_masked(media_type: str, body: str, values: list[str]) -> None:
    """Floats, elements and parameters with a sensitive name are masked as texts are."""
    response = Response(400, (("Content-Type", media_type),), body.encode())
    exchange = Exchange(Request("GET", "/"), response)
    masking = mask_answered([exchange], Effort(5), SensitivePlaces(frozenset({"amount", "iban"})))
    for value in values:
        assert value not in masking.text(f"the value is {value}.")


def test_slots_can_be_sensitive() -> None:
    """The name of a sensitive slot in the picture is among the sensitive members."""
    text = (
        "faultspec: 1\ntaxonomy: {name: t, version: 1.0.0}\n"
        "envelopes: {error: {shape: {code: $code, person: $patient}, fields: {patient: {type: string, sensitive: true}}}}\n"
        "codes: {a: {summary: It failed., http: 400}}\n"
    )
    taxonomy = read(text, "t.yaml").taxonomy
    assert taxonomy is not None
    assert "person" in build_contract(taxonomy).sensitive.names


@pytest.mark.parametrize("value", ["PINSECRET", 98765, {"x": "PINSECRET"}])
def test_no_message_of_a_check_shows_a_sensitive_value(value: object) -> None:
    """Neither the value nor what is inside it, whatever it breaks."""
    for check in (
        Check(types=("boolean",)),
        Check(enum=("a",)),
        Check(members={"x": Check(enum=(1,))}, types=("object",)),
    ):
        demanded = Check(members={"pin": check._replace(sensitive=True)})
        with pytest.raises((TypeError, ValueError)) as caught:
            refuse(demanded, {"pin": value}, "details")
        assert "SECRET" not in str(caught.value)
        assert "98765" not in str(caught.value)
        assert caught.value.__suppress_context__
