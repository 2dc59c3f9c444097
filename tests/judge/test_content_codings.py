"""Bodies without their content codings (RFC 9110, 8.4), within bounds."""

import gzip
import tracemalloc
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.decoding import (
    LAYERS,
    UndecodableBody,
    content_codings,
    decode_content,
)
from support.examples import examples

brotli = pytest.importorskip("brotli")

LIMIT = 1 << 20


def raw_deflate(content: bytes) -> bytes:
    """Deflate without the header of zlib, as some servers send it."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": lambda content: gzip.compress(content[:9]) + gzip.compress(content[9:]),
    "deflate": zlib.compress,
    "br": brotli.compress,
}


@given(
    st.binary(max_size=2_000),
    st.lists(st.sampled_from(sorted(PACKERS)), max_size=LAYERS),
    st.integers(1, 500),
)
@examples(200)
def test_codings_are_undone_in_reverse_order(content: bytes, codings: list[str], size: int) -> None:
    """Whatever the codings and the chunks, the content comes back."""
    packed = content
    for coding in codings:
        packed = PACKERS[coding](packed)
    chunks = (packed[at : at + size] for at in range(0, len(packed), size))
    decoded = decode_content(chunks, tuple(codings), LIMIT)
    assert (decoded.content, decoded.cut) == (content, None)


def test_deflate_without_its_header_is_undone() -> None:
    """Servers send both forms; RFC 9110, 8.4.1.2 notes it."""
    assert decode_content((raw_deflate(b"x" * 99),), ("deflate",), LIMIT).content == b"x" * 99


@pytest.mark.parametrize(
    "packed",
    [b"no gzip", gzip.compress(b"x" * 99)[:-4], b"\x1f\x8b"],
    ids=["text", "broken off", "two bytes"],
)
def test_a_body_that_is_not_in_its_coding_is_refused(packed: bytes) -> None:
    """Broken data and data that break off are refused."""
    with pytest.raises(UndecodableBody):
        decode_content((packed,), ("gzip",), LIMIT)


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br"]))
@examples(200)
def test_any_bytes_are_content_or_refused(packed: bytes, coding: str) -> None:
    """No other exception leaves the decoder."""
    with suppress(UndecodableBody):
        decode_content((packed,), (coding,), LIMIT)


@pytest.mark.parametrize(
    ("packed", "codings"),
    [
        (gzip.compress(gzip.compress(bytes(64 << 20))), ("gzip", "gzip")),
        (brotli.compress(bytes(64 << 20), quality=1), ("br",)),
        # The content is empty, but the layer below is not.
        (gzip.compress(gzip.compress(b"") * 200_000), ("gzip", "gzip")),
    ],
    ids=["gzip in gzip", "brotli", "empty members"],
)
def test_a_bomb_yields_its_beginning_in_little_memory(
    packed: bytes, codings: tuple[str, ...]
) -> None:
    """Every layer stops at the limit, and says so."""
    tracemalloc.start()
    try:
        decoded = decode_content((packed,), codings, LIMIT)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(decoded.content) <= LIMIT
    assert decoded.cut == f"is longer than {LIMIT} bytes"
    assert peak < 4 * LIMIT


@pytest.mark.parametrize(
    ("codings", "why"),
    [(("gzip",) * (LAYERS + 1), "content codings"), (("snappy",), "content coding `snappy`")],
)
def test_what_is_not_decoded_is_named(codings: tuple[str, ...], why: str) -> None:
    """The reason names an unknown coding, or the number of codings."""
    decoded = decode_content((b"x",), codings, LIMIT)
    assert why in str(decoded.cut)


def test_codings_are_those_of_all_fields_in_order() -> None:
    """Several fields are one list; `identity` is none."""
    headers = (("Content-Encoding", "br, identity"), ("X", "y"), ("content-encoding", " GZIP"))
    assert content_codings(headers) == ("br", "gzip")
