"""The content of a success: whether it is of the format that the answer names."""

import codecs

from faultspec.exchange.body import DecodedBody, decode_as
from faultspec.exchange.finding import Level
from faultspec.judge.collector import FindingCollector
from faultspec.runtime.codecs import CODECS, find_codec, media_essence

_CLAUSE = "success/content"

_ANY_BYTES = frozenset({"text", "form"})
"""Formats in which bytes that nobody meant can be read as well."""

_PARTIAL = frozenset({205, 206})
"""Statuses without content, and with a part of it (RFC 9110 sections 15.3.6 and 15.3.7)."""


def judge_content(findings: FindingCollector, body: DecodedBody) -> None:
    """Check that the content is of the format of its `Content-Type` (RFC 9110 section 8.3).

    ``body``: what was read of it, which may be a part or nothing.
    """
    response, content_type = findings.exchange.response, findings.lines("content-type")
    codec = find_codec(content_type[0]) if len(content_type) == 1 else None
    if findings.exchange.transport != "http" or codec is None or codec.name in _ANY_BYTES:
        return
    status = response.status
    if status is None or not 200 <= status < 300 or status in _PARTIAL or response.cut is not None:
        return
    if body.codec is not codec or body.problem is not None:
        # RFC 8259 section 8.1 lets a reader ignore a byte order mark.
        body = decode_as(codec, response.body.removeprefix(codecs.BOM_UTF8))
    if body.problem is not None and not body.malformed:
        findings.undecide(_CLAUSE, f"the body {findings.describe_unread(body)}")
        return
    findings.exercise(_CLAUSE)
    if body.problem is None:
        return
    level: Level = "error"
    essence, problem = media_essence(content_type[0]), body.problem
    if not response.body:
        level = "warning"  # some services answer so where they have nothing to say
    elif codec.name == "JSON" and not decode_as(CODECS["JSON lines"], response.body).malformed:
        level, problem = "warning", "has a value in each line, which is `application/x-ndjson`"
    findings.add(
        _CLAUSE,
        f"the body of a {status} {problem}; its `Content-Type` is `{essence}`",
        pointer="",
        level=level,
        variant=problem.partition(" (")[0],
    )
