"""A format that a taxonomy declares is required of the values in bodies, whichever format it is."""

import json

import pytest

from faultspec.contract.model import build_contract, with_cache
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.language.formats import FORMATS
from faultspec.runtime import ids
from faultspec.targets.openapi import SAMPLES

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes:
  error:
    shape: {code: $code, message: $message, link: $link, details: $details}
    fields: {link: {type: string, format: FORMAT}}
surfaces: {api: {transport: http, envelope: error}}
detail_keys: {link: {type: string, format: FORMAT}}
codes: {failed: {summary: It failed., http: 409, retriable: false, details: {link: {}}}}
"""

#: A text that has none of the formats: a control character is in no identifier, date, link or list.
WRONG = "not\x01one\n"


def clauses(name: str, slot: str, detail: str) -> set[str]:
    """The clauses that an error with these texts breaks, each judged twice by one contract."""
    loaded = read(TAXONOMY.replace("FORMAT", name), "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    contract = with_cache(build_contract(loaded.taxonomy))
    sound = sample(name)
    for link, inner in ((sound, sound), (slot, detail)):
        body = {"code": "failed", "message": "No", "link": link, "details": {"link": inner}}
        headers = (("Content-Type", "application/json"),)
        answer = Response(409, headers, json.dumps(body).encode())
        judgement = judge(contract, Exchange(Request("GET", "/", (), b""), answer))
    return {finding.clause for finding in judgement.findings}


def sample(name: str) -> str:
    """A text of the format."""
    return ids.new(name) if name in ids.FORMATS else SAMPLES[name]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_of_a_body_is_judged(name: str) -> None:
    """A text without its format breaks the clause of slots or of details, and one with it neither;
    a sound error that was judged before decides nothing about the next.
    """
    assert clauses(name, sample(name), sample(name)) == set()
    assert clauses(name, WRONG, sample(name)) == {"ids/format"}
    assert clauses(name, sample(name), WRONG) == {"details/schema"}
    assert clauses(name, WRONG, WRONG) == {"ids/format", "details/schema"}
