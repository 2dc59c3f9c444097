"""The reasons why records are skipped quote nothing of the records: nobody knows the places of
sensitive values and secrets in what cannot be read.
"""

import json
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import build_contract
from faultspec.language import read
from faultspec_conformance.observed.audit import audit
from faultspec_conformance.observed.formats.record import Item, Skipped, skip_unreadable
from support.examples import examples

CONTRACT = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {a: {summary: It failed., http: 400}}
"""

WORDS = st.text("qxzQXZ", min_size=1, max_size=12)


def fail(read_value: Callable[[str], object], value: str) -> Callable[[], Item]:
    """A function that builds an item from a value that cannot be read."""

    def build() -> Item:
        read_value(value)
        raise AssertionError

    return build


@pytest.mark.parametrize(
    "read_value",
    [
        int,
        float,
        ip_address,
        {}.__getitem__,
        bytes.fromhex,
        lambda value: urlsplit(f"http://x:{value}").port,
        lambda value: urlsplit(f"http://{value}\u2100x/y"),
        lambda value: f"{value}\ud800".encode(),
        lambda value: {[value]: 1},  # type: ignore[misc]  # what cannot be a key is the subject
        lambda value: json.loads(value),
        lambda value: 10.0 ** (400 + len(value)),
    ],
)
@given(one=WORDS, other=WORDS)
@examples(60, steady=10)
def test_a_reason_has_nothing_of_the_value(
    read_value: Callable[[str], object], one: str, other: str
) -> None:
    """Whatever error the reading of a value raises, the reason does not depend on the value."""
    items = [skip_unreadable("f:1", fail(read_value, value)) for value in (one, other)]
    assert items[0] == items[1]
    assert isinstance(items[0], Skipped)


def cassette(body: str) -> str:
    """A cassette of vcrpy whose record has a body in YAML."""
    record = (
        "{request: {method: GET, uri: 'http://x/y', headers: {}}, "
        f"response: {{status: {{code: 400}}, headers: {{}}, body: {body}}}}}"
    )
    return f"version: 1\ninteractions:\n- {record}\n"


def archive(status: object) -> str:
    """An archive with one entry."""
    answer = {"status": status, "headers": [], "content": {"text": ""}}
    request = {"method": "GET", "url": "http://x/y", "headers": []}
    return json.dumps(
        {"log": {"version": "1.2", "entries": [{"request": request, "response": answer}]}}
    )


FILES: dict[str, Callable[[str], str]] = {
    "int.yaml": lambda value: cassette(f"!!int '{value}'"),
    "float.yaml": lambda value: cassette(f"{{pin: !!float '{value}'}}"),
    "bool.yaml": lambda value: cassette(f"!!bool '{value}'"),
    "binary.yaml": lambda value: cassette(f"!!binary '{value}é'"),
    "alias.yaml": lambda value: cassette(f"*{value}"),
    "anchor.yaml": lambda value: cassette(f"[&{value} 1, &{value} 2"),
    "tag.yaml": lambda value: cassette(f"!{value}!x 1"),
    "key.yaml": lambda value: cassette(f"{{? ['{value}'] : 3}}"),
    "open.yaml": lambda value: cassette(f'"{value}'),
    "escape.yaml": lambda value: cassette(f'"\\{value}"'),
    "status.har": archive,
    "status-list.har": lambda value: archive([value]),
    "torn.har": lambda value: archive(200)[:-20] + value,
    "log.jsonl": lambda value: f'{{"pin": {value}}}\n[{value}]\n"{value}"\n',
}


#: Two texts of one length, which a place in a text may tell, and with one first character, which
#: may be a sign of YAML.
PAIRS = st.integers(1, 12).flatmap(
    lambda size: st.tuples(*[st.text("qxzQXZ", min_size=size, max_size=size)] * 2)
)


@pytest.mark.parametrize("name", FILES)
@given(pair=PAIRS)
@examples(40, steady=4)
def test_no_note_about_a_skipped_record_has_its_values(
    name: str, pair: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Recordings that differ only in values that cannot be read have the same notes."""
    taxonomy = read(CONTRACT, "t.yaml").taxonomy
    assert taxonomy is not None
    path: Path = tmp_path_factory.mktemp("recordings") / name
    reports = []
    for value in pair:
        path.write_text(FILES[name](f"x{value}"), "utf-8")
        result = audit([str(path)], build_contract(taxonomy)).result
        reports.append((result.notes, result.not_run))
    assert reports[0] == reports[1]
    assert any(map(any, reports))
