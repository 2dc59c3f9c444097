"""Whether a product with its version is the server's banner."""

import re

from faultspec.leaks.evidence.context import text_after, text_before
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_REQUIRED_BEFORE = Expression(
    r"\b(?:requires?|needs?|at least|minimum|supports?|supported|upgrade to|update to|compatible with|since|from|artifact|artefact|package|chart|plugin|tag|branch|theme|uploaded|user[- ]agent:?|for|sdk|client)[ :\"'`(]{1,4}$",
    re.I,
)

_REQUIRED_AFTER = Expression(
    r"[\"'`)]{0,2},? (?:or|and|is required|are required|is (?:no longer )?supported|is not supported|is no longer|is the default|is not (?:offered|available|among)|image|compatible|sdk|client|required|has been retired|is deprecated)",
    re.I,
)


def is_banner(match: re.Match[str]) -> bool:
    """Whether a name with a version is a banner, not a requirement or a user agent."""
    line = match.string[max(0, match.start() - 200) : match.start()]
    return not (
        _REQUIRED_BEFORE.search(text_before(match))
        or ("/" not in match[0] and _REQUIRED_AFTER.match(text_after(match)))
        or "Mozilla/" in line
    )


def is_server_banner(match: re.Match[str]) -> bool:
    """Whether two products with versions are a server's banner, and not the caller's agent."""
    before = match.string[max(0, match.start() - 200) : match.start()]
    return (
        "Mozilla/" not in before + match[0]
        and not re.search(r"\b(?:agents?|clients?|browsers?|sdk|app|apps)\b", before, re.I)
        and match[0].count(".") > 2
        and not re.match(r"(?:HTTP|TLS|SSL|IPP|RTSP|SIP|OpenAPI|JSON|XML)/", match[0])
    )
