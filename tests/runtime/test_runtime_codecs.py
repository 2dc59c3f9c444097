"""Laws of the codecs: each reads its own output, within bounds, whatever the bytes."""

import json
import time
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cbor2
import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.body import decode_as
from faultspec.runtime.checking import Check
from faultspec.runtime.codecs import (
    CODECS,
    DEEPEST,
    MOST,
    CodecName,
    UnreadableBody,
    UnsayableValue,
    find_codec,
)
from faultspec.runtime.shape import compile_shape
from faultspec.runtime.text_values import convert_text, fit
from support.examples import examples

#: Characters that XML can have; a carriage return is one that it escapes.
CHARACTERS = st.characters(
    codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"
) | st.sampled_from("\n\t\r")
TEXTS = st.text(CHARACTERS, max_size=20)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True)

SCALARS = st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.text(max_size=20)
FINITE = SCALARS | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    FINITE,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def _element(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An element with members, as a document is read: two siblings or more are a list."""
    several = inner | st.lists(inner, min_size=2, max_size=3)
    members = st.dictionaries(NAMES, several, min_size=1, max_size=3)
    attributes = st.dictionaries(NAMES.map("@{}".format), TEXTS, max_size=2)
    return st.builds(lambda own, more: {**own, **more}, attributes, members)


ELEMENTS = st.recursive(TEXTS, _element, max_leaves=8)
DOCUMENTS = st.builds(lambda name, root: {name: root}, NAMES, ELEMENTS)
FORMS = st.dictionaries(st.text(CHARACTERS, max_size=8), TEXTS, min_size=1, max_size=5)
PLAIN = st.text(CHARACTERS, max_size=30).filter(lambda text: not text.endswith(("\n", "\r")))

SAYABLE = {
    "JSON": VALUES,
    "JSON lines": st.lists(VALUES, max_size=4),
    "XML": DOCUMENTS,
    "CBOR": VALUES,
    "form": FORMS,
    "text": PLAIN,
}


@given(data=st.data())
@pytest.mark.parametrize("name", SAYABLE)
@examples(300)
def test_a_codec_reads_what_it_writes(name: Any, data: st.DataObject) -> None:
    """For every value that a format has, decoding what was encoded yields the value."""
    value = data.draw(SAYABLE[name])
    codec = CODECS[name]
    assert codec.decode(codec.encode(value)) == value


@given(body=st.binary(max_size=200))
@pytest.mark.parametrize("name", SAYABLE)
@examples(300)
def test_no_bytes_break_a_codec(name: Any, body: bytes) -> None:
    """Any bytes are a value or a problem, in the judge too."""
    codec = CODECS[name]
    with suppress(UnreadableBody):
        codec.decode(body)
    read = decode_as(codec, body)
    assert read.readable
    assert read.problem is None or read.value is None


#: Bodies that grow when they are read, or that no reader gets out of.
BOMBS: dict[str, tuple[CodecName, Callable[[], bytes]]] = {
    "laughs": (
        "XML",
        lambda: (
            b'<!DOCTYPE a [<!ENTITY a0 "ha">'
            + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12))
            + b"]><a>&a11;</a>"
        ),
    ),
    "external": (
        "XML",
        lambda: b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    ),
    "deep XML": ("XML", lambda: b"<a>" * 50_000 + b"</a>" * 50_000),
    "wide XML": ("XML", lambda: b"<a>" + b"<b/>" * (MOST + 1) + b"</a>"),
    "attributes": (
        "XML",
        lambda: b"<a " + b" ".join(b'a%d=""' % n for n in range(MOST + 1)) + b"/>",
    ),
    "length": ("CBOR", lambda: b"\x9b\x00\x00\x00\xff\xff\xff\xff\xff"),
    "text length": ("CBOR", lambda: b"\x7b\x00\x00\x00\xff\xff\xff\xff\xff"),
    "believable length": ("CBOR", lambda: b"\x9a\x00\x03\xd0\x8f"),
    "deep CBOR": ("CBOR", lambda: b"\x81" * 100_000 + b"\x00"),
    "tags": ("CBOR", lambda: b"\xc1" * 1_000_000),
    "wide CBOR": ("CBOR", lambda: b"\x9f" + b"\x00" * (MOST + 1) + b"\xff"),
    "shared": ("CBOR", lambda: b"\xd8\x1c\x81\xd8\x1d\x00"),
    "shared text": (
        "CBOR",
        lambda: cbor2.dumps(["same text", "same text"], string_referencing=True),
    ),
    "fields": ("form", lambda: b"&".join(b"a%d=" % n for n in range(MOST + 1))),
    "lines": ("JSON lines", lambda: b"1\n" * (MOST + 1)),
    "deep line": ("JSON lines", lambda: b"1\n" + b"[" * 100_000),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_in_bounded_time_and_memory(bomb: str) -> None:
    """A body that would expand, nest without end or refer to itself is a problem, cheaply."""
    name, make = BOMBS[bomb]
    body = make()
    tracemalloc.start()
    began = time.process_time()
    read = decode_as(CODECS[name], body)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.problem is not None
    assert seconds < 10  # of the processor, traced
    assert peak < 200_000_000


_NAMES = [f"k{number}" for number in range(MOST - 10)]

AT_BOUNDS: dict[str, tuple[CodecName, Callable[[], bytes]]] = {
    "repeated last": (
        "JSON",
        lambda: json.dumps(dict.fromkeys(_NAMES, 1))[:-1].encode() + b',"k9":1}',
    ),
    "members": ("JSON", lambda: json.dumps(dict.fromkeys(_NAMES, 1)).encode()),
    "nested": ("JSON", lambda: b"[" + b",".join([b"[" * 99 + b"]" * 99] * (MOST // 101)) + b"]"),
    "lines": ("JSON lines", lambda: b"{}\n" * (MOST - 1)),
    "fields": ("form", lambda: "&".join(f"{name}=%41" for name in _NAMES).encode()),
    "elements": ("XML", lambda: f"<a>{''.join(f'<{name}/>' for name in _NAMES)}</a>".encode()),
    "siblings": ("XML", lambda: b"<a>" + b"x<b/>" * len(_NAMES) + b"</a>"),
    "attributes": (
        "XML",
        lambda: b"<a " + b" ".join(b"a%d=''" % n for n in range(MOST - 10)) + b"/>",
    ),
    "namespaces": (
        "XML",
        lambda: b"<a " + b" ".join(b"xmlns:a%d='u%d'" % (n, n) for n in range(MOST - 10)) + b"/>",
    ),
    "namespace": (
        "XML",
        lambda: b"<a xmlns='" + b"u" * 1_000_000 + b"'>" + b"<b/>" * len(_NAMES) + b"</a>",
    ),
    "numbers": ("CBOR", lambda: cbor2.dumps(dict.fromkeys(range(MOST // 2 - 1), 0))),
    "pieces": ("CBOR", lambda: b"\xa1\x7f" + b"\x61a" * len(_NAMES) + b"\xff\x00"),
}


@pytest.mark.parametrize("case", AT_BOUNDS)
def test_a_body_at_its_bounds_is_read_in_bounded_time(case: str) -> None:
    """As many values as are read take seconds, whether the body is refused in the end or not."""
    name, make = AT_BOUNDS[case]
    body = make()
    began = time.process_time()
    decode_as(CODECS[name], body)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("encoding", ["unicode_escape", "rot13", "idna", "utf-7", "cp1252", "x"])
def test_xml_is_read_in_the_encodings_of_its_parser_alone(encoding: str) -> None:
    """The name of another encoding is never that of a codec of Python, which may warn or raise."""
    body = f"<?xml version='1.0' encoding='{encoding}'?><E>\\d</E>".encode()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnreadableBody, match="unknown encoding"):
            CODECS["XML"].decode(body)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-16", "iso-8859-1", "us-ascii"])
def test_xml_may_be_in_the_encodings_that_its_parser_knows(encoding: str) -> None:
    """Those of XML, and two that servers declare."""
    body = f"<?xml version='1.0' encoding='{encoding}'?><E>a</E>".encode(encoding)
    assert CODECS["XML"].decode(body) == {"E": "a"}


@pytest.mark.parametrize("levels", [DEEPEST, DEEPEST + 1])
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("XML", lambda levels: b"<a>" * levels + b"</a>" * levels),
        ("CBOR", lambda levels: b"\x81" * levels + b"\x00"),
    ],
)
def test_the_bound_of_nesting_is_the_same_everywhere(name: Any, body: Any, levels: int) -> None:
    """A body of so many levels is read, and one more is not."""
    assert (decode_as(CODECS[name], body(levels)).problem is None) is (levels == DEEPEST)


@given(value=DOCUMENTS)
@examples(100)
def test_another_reader_of_xml_agrees(value: dict[str, object]) -> None:
    """The document that is written is well-formed for defusedxml too, with the same root."""
    (name,) = value
    assert fromstring(CODECS["XML"].encode(value)).tag == name


@pytest.mark.parametrize(
    ("document", "value"),
    [
        (b'<E xmlns="urn:x"><C>a</C></E>', {"E": {"C": "a"}}),
        (b'<s:E xmlns:s="urn:x" s:id="1"><s:C>a</s:C></s:E>', {"E": {"@id": "1", "C": "a"}}),
        (b"<E><C>a</C><D/><C>b</C></E>", {"E": {"C": ["a", "b"], "D": ""}}),
        (b"<E>one <b>two</b> three</E>", {"E": {"b": "two", "#text": "one  three"}}),
        (b'<E lang="en">text</E>', {"E": {"@lang": "en", "#text": "text"}}),
        (b"<E>\n  <C>a</C>\n</E>", {"E": {"C": "a"}}),
        (b"<E><!-- no --><?no?><![CDATA[<a>]]></E>", {"E": "<a>"}),
        (
            "<?xml version='1.0' encoding='iso-8859-1'?><E>\u00e9</E>".encode("latin-1"),
            {"E": "\u00e9"},
        ),
    ],
)
def test_a_document_is_nested_objects(document: bytes, value: object) -> None:
    """Elements are members by local name, siblings a list, attributes `@name`, text `#text`."""
    assert CODECS["XML"].decode(document) == value


def test_cbor_is_read_as_json() -> None:
    """Keys that are numbers are texts, bytes are base64url, tags are dropped (RFC 8949, 6.1)."""
    body = cbor2.dumps({-1: "title", "raw": b"\xff\xfe", "when": cbor2.CBORTag(1, 0)})
    assert CODECS["CBOR"].decode(body) == {"-1": "title", "raw": "__4", "when": 0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("XML", {"a": 1, "b": 2}),
        ("XML", {"a": ["1", "2"]}),
        ("XML", {"a b": ""}),
        ("XML", {"a": {"b": [["1"]]}}),
        ("form", {"a": {"b": 1}}),
        ("form", ["a"]),
        ("text", {"a": 1}),
        ("JSON lines", {"a": 1}),
    ],
)
def test_a_value_that_a_format_lacks_is_refused(name: Any, value: object) -> None:
    """A codec never writes something else than the value."""
    with pytest.raises(UnsayableValue):
        CODECS[name].encode(value)


@pytest.mark.parametrize(
    ("media_type", "name"),
    [
        ("application/json", "JSON"),
        ("application/problem+json; charset=utf-8", "JSON"),
        ("application/x-ndjson", "JSON lines"),
        ("application/jsonl", "JSON lines"),
        ("Text/XML", "XML"),
        ("application/soap+xml", "XML"),
        ("application/concise-problem-details+cbor", "CBOR"),
        ("application/x-www-form-urlencoded", "form"),
        ("text/plain;charset=utf-8", "text"),
        ("text/html", None),
        ("application/grpc", None),
        ("", None),
        (None, None),
    ],
)
def test_the_media_type_chooses_the_codec(media_type: str | None, name: str | None) -> None:
    """By the type or its suffix (RFC 6839), whatever its case and parameters."""
    found = find_codec(media_type)
    assert (found.name if found else None) == name


SHAPE = compile_shape(
    {"E": {"number": 404, "flag": True, "C": "$code", "items?": {"i": [{"n": "$n"}]}, "...": "$d"}}
)


def test_texts_become_the_types_of_their_slots() -> None:
    """A text is the constant whose JSON text it is, one element a list of one, and a slot's text
    what its schema says; what does not fit stays a text.
    """
    types = {"n": Check(("integer",)), "d": Check(("object",), members={"ok": Check(("boolean",))})}
    document = {
        "E": {"number": "404", "flag": "true", "C": "12", "items": {"i": {"n": "7"}}, "ok": "false"}
    }
    assert fit(SHAPE, document, types) == {
        "E": {"number": 404, "flag": True, "C": "12", "items": {"i": [{"n": 7}]}, "ok": False}
    }
    assert convert_text("7x", Check(("integer",))) == "7x"
    assert convert_text("1.5", Check(("number",))) == 1.5
    assert convert_text("", Check(("array",))) == []
    assert convert_text("a", Check(("array",))) == ["a"]
    assert convert_text("7", Check(("string", "integer"))) == "7"
