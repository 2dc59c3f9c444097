"""The media type of an error: whether it is that of an envelope of its surface."""

from faultspec.contract.model import Claim
from faultspec.judge.collector import FindingCollector
from faultspec.language import header_syntax
from faultspec.language.values import show
from faultspec.runtime.codecs import find_codec

_UTF_8 = frozenset({"utf-8", "utf8", "us-ascii"})

_OTHER_CHARSETS = frozenset({"XML", "text"})
"""Formats that RFC 7303 and RFC 2046 let have another charset."""


def judge_media_type(findings: FindingCollector, claim: Claim) -> None:
    """Check the `Content-Type` of an error over HTTP."""
    if findings.exchange.transport != "http":
        return
    findings.exercise("envelope/media-type")
    problem = media_type_problem(findings, claim)
    if problem is not None:
        expected = " or ".join(f"`{media_type}`" for media_type in _media_types(claim))
        findings.add(
            "envelope/media-type",
            f"{problem}; expected {expected}",
            source=claim.envelopes[0].source,
        )


def media_type_problem(findings: FindingCollector, claim: Claim) -> str | None:
    """The fault of the distinct values of Content-Type; None on transports without one."""
    if findings.exchange.transport != "http":
        return None
    lines = list(dict.fromkeys(findings.lines("content-type")))
    if not lines:
        return "`Content-Type` is missing"
    if len(lines) > 1:
        return f"`Content-Type` has {len(lines)} values: {', '.join(map(show, lines))}"
    essence, parameters = header_syntax.media_type(lines[0])
    if not _is_expected(essence, claim):
        return f"`Content-Type` is {show(lines[0])}"
    codec = find_codec(essence)
    if codec is None or codec.name in _OTHER_CHARSETS:
        return None
    if parameters.get("charset", "utf-8").lower() not in _UTF_8:
        # RFC 8259 section 8.1: JSON between systems is UTF-8.
        return f"`Content-Type` is {show(lines[0])}, but JSON is UTF-8"
    return None


def charset_problem(content_type: str | None) -> str | None:
    """Why a text is not read: the predicate of a sentence about "the body", None if it is."""
    charset = header_syntax.media_type(content_type or "")[1].get("charset", "utf-8")
    return None if charset.lower() in _UTF_8 else f"is in `{charset[:40]}`, which is not read"


def _is_expected(essence: str, claim: Claim) -> bool:
    """Whether a media type is that of an envelope; around an envelope that is a part of the body,
    any of its format.
    """
    expected = {media_type.lower() for media_type in _media_types(claim)}
    if essence in expected or not claim.surface.at:
        return essence in expected
    codec = find_codec(essence)
    return codec is not None and codec in map(find_codec, expected)


def _media_types(claim: Claim) -> list[str]:
    """The media types of the envelopes of a claim, each once."""
    return list(dict.fromkeys(name for one in claim.envelopes for name in one.media_types))
