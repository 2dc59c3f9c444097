"""The links of a taxonomy, and the diagnostics of those that lead nowhere."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, Path
from faultspec.language.model import Taxonomy
from faultspec.source import Document

CODES: Mapping[str, str] = {
    "dead-link": "A URL of documentation or of a runbook that leads nowhere (`lint --links`).",
    "unchecked-link": "A URL that `lint --links` did not reach within its time or number.",
}


class Link(NamedTuple):
    """A URL, and the place where it is written."""

    url: str
    path: Path


class LinkProblem(NamedTuple):
    """Why a link leads nowhere; ``is_checked`` False: that is not known."""

    what: str
    is_checked: bool = True


def declared_links(taxonomy: Taxonomy, data: Mapping[str, object]) -> tuple[Link, ...]:
    """Every URL of documentation and runbooks at each place where it is written.

    ``data``: that of the document, which decides whether a code or its domain has a URL.
    """
    return tuple(dict.fromkeys(_links(taxonomy, data)))


def _links(taxonomy: Taxonomy, data: Mapping[str, object]) -> Iterator[Link]:
    for path, code in taxonomy.located_codes():
        for key, url in (("docs", code.support.docs), ("runbook", code.support.runbook)):
            if url is not None:
                own: Path = (*path, key)
                shared: Path = ("domains", code.domain or "", "defaults", key)
                yield Link(url, own if _has(data, own) else shared)
    telemetry = taxonomy.telemetry
    if telemetry is not None and (telemetry.runbooks or "").startswith(("http://", "https://")):
        for alert in telemetry.alerts:
            yield Link(f"{telemetry.runbooks}{alert}.md", ("telemetry", "runbooks"))


def _has(data: object, path: Path) -> bool:
    for step in path:
        if not isinstance(data, dict) or step not in data:
            return False
        data = data[step]
    return True


def link_diagnostics(
    document: Document, links: tuple[Link, ...], problems: Mapping[str, LinkProblem]
) -> Iterator[Diagnostic]:
    """A diagnostic for each link with a problem, at its line. ``problems``: by URL."""
    for link in links:
        problem = problems.get(link.url)
        if problem is None:
            continue
        yield document.diagnostic(
            "dead-link" if problem.is_checked else "unchecked-link",
            f"`{link.url}` {problem.what}",
            link.path,
            key=False,
            severity="error" if problem.is_checked else "warning",
            hint="correct the URL, or publish the page"
            if problem.is_checked
            else "run `faultspec lint --links` again",
        )
