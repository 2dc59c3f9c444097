"""Sensitive values are masked by their places: two answers that differ only in them have the same
report.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from urllib.parse import urlencode

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Headers, Request, Response
from faultspec.exchange.sensitive import MASK, SensitivePlaces
from faultspec.judge import judge
from faultspec.judge.masked_body import MaskedBody, mask_body
from faultspec.language import read
from faultspec.runtime.cbor_codec import write_cbor
from faultspec.runtime.xml_codec import write_xml
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.reports import FORMATS
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.model import Report, ReportedFinding, Result
from faultspec_conformance.run.summarize import mask_result
from faultspec_conformance.sanitize.masking import build_masking
from faultspec_conformance.sanitize.traffic_secrets import mask_answered, mask_recorded
from faultspec_conformance.session.observation import Observation, summary_line
from support.examples import examples

#: Every sensitive detail has a type that its values break, so that the judge speaks about it.
TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
detail_keys:
  pin: {type: boolean, sensitive: true, summary: A number.}
  amount: {type: boolean, sensitive: true, summary: An amount.}
  accounts: {type: object, additional: forbid, properties: {total?: {type: integer}}, sensitive: true, summary: Accounts.}
  customer: {type: object, properties: {name?: {type: string}, iban?: {type: boolean, sensitive: true}}, summary: A customer.}
  cards: {type: array, items: {type: object, properties: {card_number?: {type: boolean, sensitive: true}, brand?: {type: string}}}, summary: Cards.}
  limit: {type: boolean, summary: A limit.}
envelopes:
  error:
    media_type: MEDIA
    shape: SHAPE
    fields: {patient: {type: boolean, sensitive: true}}
surfaces:
  rpc: {transport: jsonrpc, error_when: {present: /error}, at: /error, envelope: error}
  tools: {transport: mcp, error_when: {present: /structuredContent/code}, at: /structuredContent, envelope: error}
  feed: {transport: stream, envelope: error}
  events: {transport: event, error_when: {present: /code}, envelope: error}
  log: {transport: log, envelope: error, sink: errors.log, repeats: api}
  api: {transport: http, envelope: error}
codes:
  declined: {summary: It was declined., http: 402, details: {pin?: {}, amount?: {}, accounts?: {}, customer?: {}, cards?: {}, limit?: {}}}
"""

SHAPE = "{code: $code, message: $message, patient?: $patient, details?: $details}"

#: A text at a place that is not sensitive.
VISIBLE = "visible-brand"


@cache
def contract_of(media: str = "application/json", shape: str = SHAPE) -> Contract:
    """The contract of the taxonomy with one media type."""
    read_ = read(TAXONOMY.replace("MEDIA", media).replace("SHAPE", shape), "t.yaml")
    assert read_.taxonomy is not None, read_.diagnostics
    return build_contract(read_.taxonomy)


def error(text: str, number: object, name: str) -> dict[str, object]:
    """An error with sensitive values at every kind of place."""
    return {
        "code": "declined",
        "message": "It was declined.",
        "patient": text,
        "details": {
            "pin": text,
            "amount": number,
            "accounts": {name: {"x": text}, "more": [text, number]},
            "customer": {"name": VISIBLE, "iban": text},
            "cards": [{"cardNumber": text, "brand": VISIBLE}, {"card_number": number}],
            "limit": VISIBLE,
        },
    }


def jsons(value: object) -> bytes:
    """JSON with escapes."""
    return json.dumps(value).encode()


def cut(value: object) -> bytes:
    """JSON without its end, which begins with what is visible."""
    return jsons({"first": VISIBLE, **dict(value)})[:-9]  # type: ignore[call-overload]  # an object


def lines(value: object) -> bytes:
    """JSON lines."""
    return jsons({"a": VISIBLE}) + b"\n" + jsons(value) + b"\n"


def events(value: object) -> bytes:
    """Server-sent events, of which one has several lines."""
    pretty = json.dumps(value, indent=1).replace("\n", "\ndata: ")
    return f"event: error\ndata: {pretty}\n\nevent: x\ndata: {VISIBLE}\n\n".encode()


def texts(value: object) -> object:
    """A value as XML has it: names are names, and values are texts."""
    if isinstance(value, Mapping):
        return {
            f"n{name}" if name[:1].isdigit() else name: texts(one) for name, one in value.items()
        }
    if isinstance(value, list):
        return [*map(texts, value)]
    return str(value)


def xml(value: object) -> bytes:
    """XML."""
    return write_xml({"error": texts(value)})


def form(value: object) -> bytes:
    """A form, with paths as names."""

    def pairs(at: str, inner: object) -> Iterator[tuple[str, str]]:
        if isinstance(inner, Mapping):
            for name, one in inner.items():
                yield from pairs(f"{at}[{name}]" if at else name, one)
        elif isinstance(inner, list):
            for index, one in enumerate(inner):
                yield from pairs(f"{at}[{index}]", one)
        else:
            yield at, str(inner)

    return urlencode([*pairs("", value)]).encode()


def batch(value: object) -> bytes:
    """Answers of a batch, of which one is an error."""
    error_ = {"jsonrpc": "2.0", "id": 1, "error": value}
    return jsons([error_, {"jsonrpc": "2.0", "id": 2, "result": {"brand": VISIBLE}}])


def rpc(value: object) -> bytes:
    """An answer of JSON-RPC."""
    return jsons({"jsonrpc": "2.0", "id": 1, "error": value})


def tool(value: object) -> bytes:
    """A tool result, whose text repeats the structured content."""
    text = {"type": "text", "text": json.dumps(value)}
    return jsons({"isError": False, "structuredContent": value, "content": [text]})


XML_SHAPE = f"{{error: {SHAPE}}}"

#: A name: its transport, media type, shape of the envelope, encoding, and whether what is not
#: sensitive stays visible.
FORMS: Mapping[str, tuple[str, str, str, Callable[[object], bytes], bool]] = {
    "JSON": ("http", "application/json", SHAPE, jsons, True),
    "JSON of another type": ("http", "text/plain", SHAPE, jsons, True),
    "JSON in a list": ("http", "application/json", f"[{SHAPE}]", lambda one: jsons([one, one]), True),
    "cut JSON": ("http", "application/json", SHAPE, cut, True),
    "broken JSON": ("http", "application/json", SHAPE, lambda one: jsons(one).replace(b",", b"", 1), False),
    "JSON lines": ("http", "application/x-ndjson", SHAPE, lines, True),
    "events": ("http", "text/event-stream", SHAPE, events, True),
    "XML": ("http", "application/xml", XML_SHAPE, xml, True),
    "cut XML": ("http", "application/xml", XML_SHAPE, lambda one: xml(one)[:-9], False),
    "CBOR": ("http", "application/cbor", SHAPE, write_cbor, True),  # body: base64
    "form": ("http", "application/x-www-form-urlencoded", SHAPE, form, True),
    "YAML": ("http", "application/yaml", SHAPE, lambda one: json.dumps(one, indent=1).replace('"', "").encode(), False),
    "UTF-16": ("http", "application/json", SHAPE, lambda one: json.dumps(one).encode("utf-16"), False),
    "JSON-RPC": ("jsonrpc", "application/json", SHAPE, rpc, True),
    "batch of JSON-RPC": ("jsonrpc", "application/json", SHAPE, batch, True),
    "MCP": ("mcp", "application/json", SHAPE, tool, True),
    "stream": ("stream", "application/json", SHAPE, jsons, True),
    "event": ("event", "application/json", SHAPE, jsons, True),
    "log": ("log", "application/json", SHAPE, jsons, True),
}  # fmt: skip  # a row a form


def exchange_of(name: str, value: object) -> Exchange:
    """An exchange of a form."""
    transport, media, _, encode, _ = FORMS[name]
    headers: Headers = (("Content-Type", media),)
    status = 500 if transport == "http" else None
    return Exchange(
        Request("POST", "/payments"),
        Response(status, headers, encode(value)),
        transport=transport,  # type: ignore[arg-type]  # a text of the table
    )


def printed(result: Result) -> dict[str, str]:
    """A result in every format."""
    report = Report(conclude(result, date(2026, 1, 1)), "http://127.0.0.1", day=date(2026, 1, 1))
    # A place in the text of a body tells lengths and no values.
    return {name: _PLACE.sub("column *", print_(report)) for name, print_ in FORMATS.items()}


_PLACE = re.compile(r"column \d+")


def audited(contract: Contract, exchange: Exchange, _: str) -> dict[str, str]:
    """The reports of an audit of one exchange."""
    accumulator = Accumulator(contract)
    accumulator.add(exchange)
    return printed(accumulator.result("t"))


def run(contract: Contract, exchange: Exchange, value: str) -> dict[str, str]:
    """The reports of a run with the judge's findings about one exchange, one of a probe that quotes
    the values, and a note with the answer in one line."""
    judgement = judge(contract, exchange)
    observation = Observation(exchange, judgement)
    findings = [*judgement.findings]
    findings.append(
        Finding(
            "writes/created",
            f'`/details/pin` is "{value}", and was {value} before',
            pointer="/details/pin",
            evidence=(exchange,),
        )
    )
    result = Result(
        "t",
        "t 1.0.0",
        findings=tuple(map(ReportedFinding, findings)),
        notes=(summary_line(contract, observation),),
    )
    return printed(mask_result(build_masking(()), result, contract.sensitive))


def quoted(name: str, values: tuple[str, object, str]) -> str:
    """A sensitive value, if a probe could read one in the body."""
    return values[0] if FORMS[name][4] or name == "CBOR" else "nothing"


#: An example takes a second, and its values are short already.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)

#: Texts that are nowhere else in a report. Short ones are, which is the point.
VALUES = st.text("qxzQXZ", min_size=1, max_size=12) | st.text("0123456789", min_size=1, max_size=3)
NUMBERS = st.integers(0, 999) | st.integers(10**8, 10**12) | st.floats(0.001, 0.009)


@pytest.mark.parametrize("name", FORMS)
@given(one=st.tuples(VALUES, NUMBERS, VALUES), other=st.tuples(VALUES, NUMBERS, VALUES))
@examples(60, steady=3, phases=NO_SHRINKING)
def test_no_report_depends_on_a_sensitive_value(
    name: str, one: tuple[str, object, str], other: tuple[str, object, str]
) -> None:
    """Two answers that differ in sensitive values, and in names inside them, have equal reports in
    every format; what is not sensitive is in them."""
    _, media, shape, _, is_visible = FORMS[name]
    contract = contract_of(media, shape)
    first, second = (exchange_of(name, error(*values)) for values in (one, other))
    for reports in (audited, run):
        shown = reports(contract, first, quoted(name, one))
        assert shown == reports(contract, second, quoted(name, other))
    assert (VISIBLE in shown["json"]) == is_visible
    assert MASK in shown["json"]


@pytest.mark.parametrize("name", FORMS)
@given(one=st.tuples(VALUES, NUMBERS, VALUES), other=st.tuples(VALUES, NUMBERS, VALUES))
@examples(60, steady=3, phases=NO_SHRINKING)
def test_no_finding_of_the_judge_depends_on_a_sensitive_value(
    name: str, one: tuple[str, object, str], other: tuple[str, object, str]
) -> None:
    """Messages, pointers and variants are the same without the masking of reports: a library's
    callers have the judge alone.
    """
    _, media, shape, _, _ = FORMS[name]
    for without in ((), ("code",)):
        first, second = (
            [
                replace(each, evidence=(), message=_PLACE.sub("column *", each.message))
                for each in judge(contract_of(media, shape), exchange_of(name, value)).findings
            ]
            for value in (
                {key: one for key, one in error(*values).items() if key not in without}
                for values in (one, other)
            )
        )
        assert first == second


def count_maskings(monkeypatch: pytest.MonkeyPatch, exchange: Exchange) -> tuple[int, int]:
    """The findings of a judgement, and the bodies that it masked."""
    masked: list[bytes] = []

    def count(body: bytes, media_type: str | None, places: SensitivePlaces) -> MaskedBody:
        masked.append(body)
        return mask_body(body, media_type, places)

    monkeypatch.setattr("faultspec.judge.collector.mask_body", count)
    findings = judge(contract_of(exchange.response.headers[0][1]), exchange).findings
    return len(findings), len(masked)


def test_the_judge_masks_a_body_once_and_only_for_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masking takes as long as a judgement. Sound answers, which are most, do without it."""
    details = {"pin": True, "amount": False, "cards": [{"card_number": True}], "limit": True}
    sound = {"code": "declined", "message": "It was declined.", "details": details}
    exchange = exchange_of("JSON", sound)
    exchange = replace(exchange, response=replace(exchange.response, status=402))
    assert count_maskings(monkeypatch, exchange) == (0, 0)
    broken = exchange_of("JSON lines", {"details": details})
    findings, masked = count_maskings(monkeypatch, broken)
    assert findings > 1
    assert masked == 1


def test_a_report_masks_a_body_once_for_a_finding() -> None:
    """The message, the headers and the body of the evidence are masked by one reading of it."""
    exchange = exchange_of("JSON", error("x", 1, "y"))
    mask_body.cache_clear()
    (finding, *_) = judge(contract_of(), exchange).findings
    mask_answered([exchange], None, PLACES).finding(finding)
    assert mask_body.cache_info().misses == 1


PLACES = SensitivePlaces(frozenset({"pin", "accounts", "cardnumber"}))


@given(at=st.integers(0, 400), value=VALUES.filter(lambda text: len(text) > 3), name=VALUES)
@examples(500)
def test_json_is_masked_wherever_it_ends(at: int, value: str, name: str) -> None:
    """The beginning of JSON is shown to its end, without sensitive values or their beginnings."""
    whole = {
        "code": 'a\\b é \U0001f600 " ',
        "accounts": {f"x{name}": [value, {"y": value}]},
        "n": [1, -2.5e3, True, None],
        "pin": value,
        "last": VISIBLE,
    }
    for ascii_ in (True, False):
        text = json.dumps(whole, ensure_ascii=ascii_)[:at]
        for end in ("", "…"):
            masked = mask_body((text + end).encode("utf-8", "ignore"), None, PLACES)
            shown = masked.content.decode()
            assert masked.hidden is None
            assert shown.endswith(end)
            assert value[:4] not in shown
            assert f"x{name}" not in shown
            assert shown.startswith(text[: text.find('"accounts"')].rstrip("\\u0123456789abcdef"))


def test_what_is_not_sensitive_is_not_changed() -> None:
    """A body keeps its form, byte by byte, outside the masked values."""
    body = '{ "a" : 1.50, "pin":  {"x": [1]} , "a": "\\u00e9é", "b": NaN,\n "PIN": null, "Pin":"" }'
    masked = mask_body(body.encode(), "text/plain", PLACES)
    assert masked.content.decode() == body.replace('{"x": [1]}', f'"{MASK}"').replace(
        '"Pin":""', f'"Pin":"{MASK}"'
    )
    assert masked.values == ("x", "1")
    for media in ("application/json", "application/xml", "application/cbor", None):
        for other in ('{"a": 1,', "<a>1</a", "<html>no pinned word", "a=1", "", "\u00e9", "a: 1"):
            assert mask_body(other.encode(), media, PLACES).content == other.encode()


@pytest.mark.parametrize(
    "body",
    [
        b"pin: 1", b"<a><pin>1</pin>", b"{'pin': 1}", b'{"a" "\\u0070in": 1}', b"card number 1",
        b"&lt;pin&gt;1", "{\"a\": 1} {\"é\": 2} \"cardNumber\": 3".encode(), b"\xff\xfe", b"\x1f\x8b\x08",
        b'{"a": 1, "pin": }1', b"%70in=1 &", b'{"pin": 1]', b"<!DOCTYPE a><a pin='1'/>",
    ],
)  # fmt: skip  # one list
def test_what_cannot_be_read_is_hidden(body: bytes) -> None:
    """A body in no format is hidden whole, with the reason, if it names a sensitive member in any
    spelling, or is binary."""
    masked = mask_body(body, "application/json", PLACES)
    assert masked.hidden is not None
    assert masked.content.decode() == f"{MASK} (hidden: {masked.hidden})"


def test_no_line_after_a_broken_one_is_shown() -> None:
    """A broken line of JSON lines may open an object that goes on in the next."""
    body = b'{"a": 1}\n{"pin": {\n{"x": 2}\n'
    shown = mask_body(body, "application/x-ndjson", PLACES).content.decode()
    assert shown.startswith('{"a": 1}\n***')
    assert "2" not in shown


def test_texts_inside_texts_are_bodies() -> None:
    """JSON in a text in JSON is masked by place; so is what a sentence quotes of JSON."""
    inner = json.dumps({"text": json.dumps({"pin": 7, "a": 8})})
    text = 'upstream said {\\"pin\\": {"a": [7]}, "b": 9} and "pin": "7'
    shown = mask_body(jsons({"inner": inner, "text": text}), None, PLACES).content.decode()
    assert "7" not in shown
    assert "8" in shown
    assert "9" in shown


def test_long_bodies_are_masked_as_far_as_reports_show_them() -> None:
    """The rest is blank, so that masks pull nothing into view."""
    body = jsons({"accounts": ["x" * 100_000], "more": ["y" * 100] * 2000, "pin": 5})
    masked = mask_body(body, None, PLACES).content
    assert len(masked) > 100_000
    assert set(masked[:70_000]) & set(b"x5") == set()


HEADED = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
envelopes:
  error:
    shape: {errors: [$patient], note: "for ${ward}: ${message}", code: $code}
    fields:
      patient: {type: string, sensitive: true}
      ward: {type: string, sensitive: true, mirror: X-Ward}
surfaces: {api: {transport: http, envelope: error}}
codes: {a: {summary: It failed., http: 400}}
"""


def test_slots_in_lists_texts_and_headers_have_places() -> None:
    """The slot of a list has the name of the list, that of a text the name of its member; a header
    with a slot is masked."""
    taxonomy = read(HEADED, "t.yaml").taxonomy
    assert taxonomy is not None
    sensitive = build_contract(taxonomy).sensitive
    assert sensitive == SensitivePlaces(
        frozenset({"errors", "note"}), headers=frozenset({"x-ward"})
    )
    answer = Response(
        400, (("X-Ward", "7"),), b'{"errors": ["8"], "note": "for 7: no", "code": "a"}'
    )
    result = Result(
        "t",
        "t",
        findings=(
            ReportedFinding(Finding("a/b", "m", evidence=(Exchange(Request("GET", "/"), answer),))),
        ),
    )
    shown = (
        mask_result(build_masking(()), result, sensitive).findings[0].finding.evidence[0].response
    )
    assert shown.headers == (("X-Ward", MASK),)
    assert json.loads(shown.body) == {"errors": MASK, "note": MASK, "code": "a"}


def test_a_body_that_is_a_slot_is_hidden() -> None:
    """Nothing of a body is shown whose whole value may be sensitive."""
    text = HEADED.replace(
        '{errors: [$patient], note: "for ${ward}: ${message}", code: $code}', '"${code} ${patient}"'
    )
    text = text.replace("    shape", "    media_type: text/plain\n    shape").replace(
        "      ward: {type: string, sensitive: true, mirror: X-Ward}\n", ""
    )
    taxonomy = read(text, "t.yaml").taxonomy
    assert taxonomy is not None
    sensitive = build_contract(taxonomy).sensitive
    assert sensitive.whole
    assert b"7" not in mask_body(b"a 7", "text/plain", sensitive).content


def test_a_message_that_quotes_a_detail_is_masked() -> None:
    """Where a declared message quotes a sensitive detail, a short value of it is masked as a word
    in all texts of the body."""
    places = SensitivePlaces(frozenset({"pin"}), quoted=True)
    shown = mask_body(b'{"message": "Pin 12 of 123", "pin": "12", "n": 12}', None, places).content
    assert shown == b'{"message": "Pin *** of 123", "pin": "***", "n": 12}'
    assert contract_of().sensitive.quoted is False
    with_message = TAXONOMY.replace(
        "summary: It was declined.", 'summary: S., message: "Pin ${pin}"'
    )
    taxonomy = read(
        with_message.replace("MEDIA", "application/json").replace("SHAPE", SHAPE), "t.yaml"
    ).taxonomy
    assert taxonomy is not None
    assert build_contract(taxonomy).sensitive.quoted


def test_requests_are_masked_by_place_in_recordings_only() -> None:
    """The suite made up the values of its own requests, and `replay` sends them again."""
    exchange = Exchange(Request("POST", "/", (), b'{"pin": 7}'), Response(402, (), b'{"pin": 8}'))
    recorded, answered = mask_recorded([exchange], PLACES), mask_answered([exchange], None, PLACES)
    assert recorded.exchange(exchange).request.body == b'{"pin": "***"}'
    assert answered.exchange(exchange).request.body == b'{"pin": 7}'
    assert answered.exchange(exchange).response.body == b'{"pin": "***"}'


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ("/details/accounts/4111", "/details/accounts/*"),
        ("/details/accounts/total", "/details/accounts/total"),
        ("/details/accounts/0/total/x~1y", "/details/accounts/*/total/*"),
        ("/details/limit/4111", "/details/limit/4111"),
        ("/details[accounts][7][x]", "/details[accounts][*]"),
        ("/details[accounts]", "/details[accounts]"),
        ("", ""),
        ("ETag", "ETag"),
    ],
)
def test_pointers_have_no_names_inside_sensitive_values(pointer: str, shown: str) -> None:
    """Declared names are shown, and others are `*`, which fingerprints have for digits anyway."""
    assert contract_of().sensitive.mask_pointer(pointer) == shown
