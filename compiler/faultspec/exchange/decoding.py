"""Bodies without their content codings (RFC 9110, 8.4), with a bound on everything that grows."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from faultspec.exchange.model import Headers

#: Codings of one body that are undone. One is usual; a gateway may add a second.
LAYERS = 3

#: Bytes that one step of a coding may yield. They bound the memory, whatever the ratio.
_STEP = 64 * 1024

#: Modules with the interface of `compression.zstd` of Python 3.14.
_ZSTD = ("compression.zstd", "backports.zstd")

Layer = Callable[[Iterable[bytes]], Iterator[bytes]]


class UndecodableBody(Exception):
    """A body is not in the coding that its headers name."""


@dataclass(frozen=True, slots=True)
class DecodedContent:
    """A body without its codings, or the beginning of it. ``cut``: why the rest is missing; None if
    the body is whole. It is the predicate of a sentence about "the body".
    """

    content: bytes
    cut: str | None = None


def content_codings(headers: Headers) -> tuple[str, ...]:
    """The codings of a body in the order in which they were applied, without `identity`."""
    named = (
        coding.strip().lower()
        for name, value in headers
        if name.lower() == "content-encoding"
        for coding in value.split(",")
    )
    return tuple(coding for coding in named if coding not in ("", "identity"))


def decode_content(chunks: Iterable[bytes], codings: tuple[str, ...], limit: int) -> DecodedContent:
    """Undo the codings of a body, which comes in chunks, up to ``limit`` bytes of each layer.

    Raises UndecodableBody, and what ``chunks`` raises.
    """
    if len(codings) > LAYERS:
        return DecodedContent(b"", f"has {len(codings)} content codings, more than {LAYERS}")
    layers: list[Layer] = []
    for coding in reversed(codings):
        layer = _find_layer(coding)
        if layer is None:
            return DecodedContent(b"", f"has the content coding `{coding[:40]}`, which is not read")
        layers.append(layer)
    content = bytearray()
    try:
        decoded: Iterable[bytes] = chunks
        for layer in layers:
            decoded = _limit(layer(decoded), limit)
        for chunk in decoded:
            content += chunk
            if len(content) > limit:
                raise _TooLong
    except _TooLong:
        return DecodedContent(bytes(content[:limit]), f"is longer than {limit} bytes")
    return DecodedContent(bytes(content))


class _TooLong(Exception):
    """A layer yields more bytes than the limit."""


def _limit(chunks: Iterator[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        yield chunk
        if size > limit:
            raise _TooLong


def _find_layer(coding: str) -> Layer | None:
    """The function that undoes a coding; None if it is unknown, or its library is missing."""
    match coding:
        case "gzip" | "x-gzip":
            return lambda chunks: _inflate(chunks, zlib.MAX_WBITS | 16)
        case "deflate":
            return _undo_deflate
        case "br":
            with suppress(ImportError):
                brotli = import_module("brotli")
                if hasattr(brotli.Decompressor, "can_accept_more_data"):  # since 1.2, with a limit
                    return lambda chunks: _undo_brotli(chunks, brotli)
        case "zstd":
            zstd = find_zstd()
            if zstd is not None:
                return lambda chunks: _undo_zstd(chunks, zstd)
    return None


def find_zstd() -> ModuleType | None:
    """The module that decompresses zstd, with the interface of `compression.zstd`; None if none is
    installed.
    """
    for name in _ZSTD:
        with suppress(ImportError):
            return import_module(name)
    return None


def _inflate(chunks: Iterable[bytes], window: int) -> Iterator[bytes]:
    """The content of gzip, also of several members, or of deflate."""
    stream = zlib.decompressobj(window)
    begun = False
    for chunk in chunks:
        data = chunk
        while data:
            if stream.eof:
                stream, begun = zlib.decompressobj(window), False
            begun = True
            try:
                yield stream.decompress(data, _STEP)
            except zlib.error as error:
                raise UndecodableBody(str(error)) from None
            data = stream.unconsumed_tail or (stream.unused_data if stream.eof else b"")
    while begun and not stream.eof:
        rest = stream.decompress(b"", _STEP)
        if not rest:
            raise UndecodableBody("the compressed data broke off")
        yield rest


def _undo_deflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content of deflate, in the format of zlib or, as some servers send it, without."""
    source = iter(chunks)
    first = b""
    while len(first) < 2 and (chunk := next(source, b"")):
        first += chunk
    # RFC 1950: compression method 8, and a header that is a multiple of 31.
    has_header = len(first) > 1 and first[0] & 15 == 8 and int.from_bytes(first[:2]) % 31 == 0

    def whole() -> Iterator[bytes]:
        yield first
        yield from source

    yield from _inflate(whole(), zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)


def _undo_brotli(chunks: Iterable[bytes], brotli: Any) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    begun = False
    try:
        for chunk in chunks:
            begun = begun or bool(chunk)
            yield stream.process(chunk, output_buffer_limit=_STEP)
            while not stream.can_accept_more_data():
                yield stream.process(b"", output_buffer_limit=_STEP)
    except brotli.error as error:
        raise UndecodableBody(str(error)) from None
    if begun and not stream.is_finished():
        raise UndecodableBody("the compressed data broke off")


def _undo_zstd(chunks: Iterable[bytes], zstd: Any) -> Iterator[bytes]:
    stream = zstd.ZstdDecompressor()
    begun = False
    try:
        for chunk in chunks:
            data = chunk
            while data or not stream.needs_input:
                if stream.eof:
                    stream = zstd.ZstdDecompressor()
                begun = True
                yield stream.decompress(data, max_length=_STEP)
                data = stream.unused_data if stream.eof else b""
                if stream.eof and not data:
                    break
    except zstd.ZstdError as error:
        raise UndecodableBody(str(error)) from None
    if begun and not stream.eof:
        raise UndecodableBody("the compressed data broke off")
