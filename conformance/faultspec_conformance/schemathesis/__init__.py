"""A check of schemathesis that judges every answer by an error taxonomy.

    SCHEMATHESIS_HOOKS=faultspec_conformance.schemathesis st run openapi.json --url ADDRESS

The variable ``FAULTSPEC_TAXONOMY`` names the taxonomy; default ``taxonomy.yaml``. In tests:
``case.call_and_validate(additional_checks=[error_taxonomy])``.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import schemathesis
from schemathesis.core.failures import Failure, FailureGroup

from faultspec.contract.crashes import without_consequences
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load
from faultspec.openapi.closing import close, describe_cuts
from faultspec_conformance.config import CREDENTIALS
from faultspec_conformance.sanitize.masking import mask_environment

__all__ = ["TAXONOMY", "BrokenClause", "UnusableTaxonomy", "error_taxonomy"]

#: The variable that names the taxonomy, and the file without it.
TAXONOMY, _DEFAULT = "FAULTSPEC_TAXONOMY", "taxonomy.yaml"


class UnusableTaxonomy(Exception):
    """The taxonomy cannot be read, or has errors; the text says which."""


class BrokenClause(Failure):
    """One clause of the taxonomy that one answer breaks.

    ``clause``: its address, such as ``headers/retry-after``; `faultspec explain` describes it.
    """

    code = "FS001"
    checks = ("error_taxonomy",)
    kind_title = "The answer breaks the error taxonomy"

    __slots__ = ("clause", "finding")

    def __init__(self, finding: Finding, title: str) -> None:
        super().__init__(
            operation=finding.operation,
            title=f"{title} ({finding.clause})",
            message=finding.message,
        )
        self.clause = finding.clause
        self.finding = finding

    @property
    def _unique_key(self) -> str:
        # One failure a clause, code, status and place; schemathesis has no other way to tell two
        # failures of one class apart.
        return self.finding.fingerprint

    def asdict(self) -> dict[str, Any]:
        """The failure in reports, with the clause and the statements of the taxonomy behind it."""
        known = {"clause": self.clause, "statements": list(self.finding.statements)}
        return super().asdict() | known


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Close a document before schemathesis follows its references."""
    closed = close(raw_schema)
    for note in describe_cuts(closed.cuts):
        print(f"faultspec: {note}", file=sys.stderr)
    document = dict(closed.document)
    raw_schema.clear()
    raw_schema.update(document)


@schemathesis.check
def error_taxonomy(ctx: Any, response: Any, case: Any) -> bool | None:
    """Judge an answer by the taxonomy. Raises one failure for each broken clause."""
    contract = _contract(os.environ.get(TAXONOMY, _DEFAULT))
    judgement = without_consequences(judge(contract, exchange_of(response, case)))
    found = [finding for finding in judgement.findings if finding.level == "error"]
    if found:
        masking = mask_environment(os.environ)  # the service may have the same
        raise FailureGroup(
            [
                BrokenClause(masking.finding(finding), contract.clauses[finding.clause].title)
                for finding in found
            ]
        )
    return None if judgement.exercised else True


def exchange_of(response: Any, case: Any) -> Exchange:
    """The exchange of a test case. ``response.request`` is the request as it was sent."""
    sent = response.request
    parts = urlsplit(sent.url)
    # The base URL may have a path, which templates of the document leave out.
    base = parts.path.removesuffix(urlsplit(case.formatted_path).path)
    template = f"{base}{case.path}" if base != parts.path else case.path
    method = sent.method or case.method
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body
    return Exchange(
        Request(
            method=method,
            target=parts.path + (f"?{parts.query}" if parts.query else ""),
            headers=_fields(sent.headers),
            body=body if isinstance(body, bytes) else b"",
        ),
        Response(
            response.status_code,
            _fields(response.headers),
            response.content or b"",
            response.elapsed,
        ),
        route=template,
        operation=f"{method} {template}",
        identity="caller" if CREDENTIALS & {name.lower() for name in sent.headers} else None,
    )


def _fields(headers: Mapping[str, str | bytes | Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Header fields; schemathesis has a list of values for each name of an answer."""
    return tuple(
        (name, _text(value))
        for name, values in headers.items()
        for value in ([values] if isinstance(values, str | bytes) else values)
    )


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


@cache
def _contract(path: str) -> Contract:
    """The contract of the taxonomy in a file. Raises UnusableTaxonomy."""
    loaded = load(path)
    if loaded.taxonomy is None:
        problems = "; ".join(str(each.message) for each in loaded.diagnostics[:3])
        hint = f"name the taxonomy in {TAXONOMY}, and check it with `faultspec lint`"
        raise UnusableTaxonomy(f"{path} cannot be used: {problems}; {hint}")
    return build_contract(loaded.taxonomy)


if os.environ.get("SCHEMATHESIS_HOOKS") == __name__:
    # `st run` reports now that it cannot judge, and not once for each operation.
    _contract(os.environ.get(TAXONOMY, _DEFAULT))
