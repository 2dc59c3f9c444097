"""Members that the taxonomy declares as sensitive are masked in reports."""

import json

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language import load
from faultspec_conformance.sanitize.traffic_secrets import mask_answered, mask_recorded
from paths import TESTS


def test_sensitive_members_are_masked_and_others_are_not() -> None:
    """The names are those of details, registered keys and their members; all below them is
    masked, also in a body that is cut off."""
    taxonomy = load(str(TESTS / "fixtures" / "bank.yaml")).taxonomy
    assert taxonomy is not None
    sensitive = build_contract(taxonomy).sensitive
    assert sensitive.names == {"card", "iban"}
    customer = {"name": "Annabel", "iban": "plain-words"}
    body = {
        "code": "declined",
        "details": {"card": {"holder": "quiet-words"}, "customer": customer},
    }
    text = json.dumps(body)
    for content in (text, text[:-3]):
        answer = Response(502, (), content.encode())
        exchange = Exchange(Request("POST", "/payments"), answer)
        masking = mask_answered([exchange], sensitive=sensitive)
        shown = masking.exchange(exchange).response.body.decode()
        assert "plain-words" not in shown
        assert "Annabel" in shown
        assert "quiet-words" not in shown
    assert "plain-words" in mask_recorded([exchange]).text("plain-words")
    assert "plain-words" not in mask_recorded([exchange], sensitive).text("plain-words")
