"""Holding every answer of a run to the service's own OpenAPI document, as clauses `document/*`.

The checks are those of schemathesis. Where the document and the taxonomy contradict each other,
that is reported once, and answers are held to the taxonomy.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from faultspec.exchange.finding import Finding, Judgement
from faultspec.exchange.model import Exchange, Request
from faultspec.exchange.numerals import whole_number
from faultspec.judge import judge
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.faults.replies import Unanswerable, may_have_status, render_failure
from faultspec_conformance.faults.script import Fault
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import passed

if TYPE_CHECKING:
    from faultspec_conformance.schemathesis.document import DocumentJudge, DocumentViolation

_AGREES, _CHALLENGE = "document/agrees", "document/challenge"

_SCHEMA, _CONTENT = "document/schema", "success/content"

_UNAUTHENTICATED, _AUTHENTICATE = 401, "WWW-Authenticate"

#: The scheme at the beginning of a challenge (RFC 9110, 11.2): a word that is not the name of a
#: parameter.
_SCHEME = re.compile(r"(?:^|,)\s*([!#$%&'*+.^_`|~\w-]+)(?=\s*(?:,|$)|\s+[^\s=])")

_QUOTED_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

#: The clauses about the form of an answer, which a generated error can break.
_FORM = ("document/media-type", _SCHEMA)

#: Keywords of JSON Schema about the structure of a body. A generated error may break others, such
#: as `pattern` or `maxLength`, by its texts alone.
_STRUCTURAL = frozenset({"required", "type", "additionalProperties", "unevaluatedProperties"})

#: Operations that a message names.
_NAMED = 5

#: Statuses with which servers and frameworks refuse a request before they know its operation. No
#: document lists them for each operation.
_OF_THE_SERVER = frozenset({405, 406, 408, 411, 413, 414, 415, 417, 431, 501, 505})

#: The lowest status of an error.
_ERRORS = 400

#: The entity tag in generated errors.
_VALIDATOR = "v1"


@dataclass(slots=True)
class DocumentHold:
    """Adds to the judgement of an answer what the document has against it.

    ``contradicted``: clauses, operations and statuses where no answer can keep to both the document
    and the taxonomy. ``left_out``: by status, operations whose errors only the taxonomy declares.
    """

    session: HttpSession
    judge: "DocumentJudge"
    contradicted: set[tuple[str, str, int]] = field(default_factory=set)
    left_out: dict[int, dict[str, Exchange]] = field(default_factory=dict)
    _reported: set[tuple[str, int]] = field(default_factory=set)

    def __call__(self, exchange: Exchange, judgement: Judgement) -> Judgement:
        """The judgement with the findings of the document."""
        status, name = exchange.response.status or 0, exchange.operation or ""
        findings, exercised = list(judgement.findings), set(judgement.exercised)
        repeats = status >= _ERRORS and any(finding.level == "error" for finding in findings)
        if status == _UNAUTHENTICATED:
            findings += self._check_challenge(exchange, exercised)
        # The document would repeat what the taxonomy says. Routers redirect by themselves, and no
        # document lists that.
        silent = repeats or 300 <= status < _ERRORS
        unread = any(finding.clause == _CONTENT for finding in findings)
        for clause, violations in () if silent else self.judge.violations(exchange):
            if (clause, name, status) in self.contradicted or (unread and clause == _SCHEMA):
                continue
            if clause == "document/status" and violations and self._is_declared(judgement, status):
                known = (name, status) in self._reported or status in _OF_THE_SERVER
                if not known and self._describes_errors(exchange):
                    self.left_out.setdefault(status, {}).setdefault(name, exchange)
                continue
            exercised.add(clause)
            findings += (_finding(violation, exchange, judgement.code) for violation in violations)
        return replace(judgement, findings=tuple(findings), exercised=frozenset(exercised))

    def _check_challenge(self, exchange: Exchange, exercised: set[str]) -> Iterator[Finding]:
        """Check that a 401 asks for a scheme that the document declares for the operation (RFC
        9110, 11.6.1; OpenAPI 3.1.1, 4.8.27).

        Adds the clause to ``exercised`` if the document and the answer name schemes.
        """
        declared = self._find_operation(exchange)
        named = _challenged_schemes(exchange)
        if declared is None or not declared.challenges or not named:
            return
        exercised.add(_CHALLENGE)
        if named.isdisjoint(declared.challenges):
            expected = " or ".join(declared.challenges)
            yield Finding(
                clause=_CHALLENGE,
                message=f"`{_AUTHENTICATE}` names {', '.join(sorted(named))}; the document "
                f"declares {expected} for {declared.name}",
                operation=declared.name,
                status=_UNAUTHENTICATED,
                pointer=_AUTHENTICATE,
                evidence=(exchange,),
            )

    def contradictions(self) -> Iterator[Outcome]:
        """Yield what contradicts the taxonomy in the document; nothing is sent for that."""
        for operation in self.session.description.operations:
            found = [*self._misfits(operation), *self._missing_statuses(operation)]
            yield from found or (passed(_AGREES),)

    def check_observed(self) -> Iterator[Outcome]:
        """Yield the statuses of shared codes that were observed and that the document leaves
        out.
        """
        for status, exchanges in sorted(self.left_out.items()):
            names = ", ".join([*exchanges][:_NAMED])
            more = len(exchanges) - _NAMED
            evidence = next(iter(exchanges.values()))
            yield _warning(
                f"the document leaves out the status {status}, which the taxonomy declares, for "
                f"{names}{f' and {more} more operations' if more > 0 else ''}",
                status=status,
                evidence=(evidence,),
            )

    def _describes_errors(self, exchange: Exchange) -> bool:
        """Whether the document describes any error of the operation. Else it is silent, which does
        not contradict the taxonomy.
        """
        operation = self._find_operation(exchange)
        return operation is not None and describes_errors(operation)

    def _find_operation(self, exchange: Exchange) -> ServiceOperation | None:
        """Return the operation of the document that the request was for, or None."""
        method, _, template = (exchange.operation or "").partition(" ")
        return self.session.description.find(method, template)

    def _is_declared(self, judgement: Judgement, status: int) -> bool:
        """Whether the taxonomy documents the status, by the code of the answer."""
        return judgement.code is not None and not any(
            finding.clause == "code/status" for finding in judgement.findings
        )

    def _misfits(self, operation: ServiceOperation) -> Iterator[Outcome]:
        """Statuses that the document describes in a form that no error of the taxonomy has."""
        for text in operation.responses:
            status = whole_number(text) or 0
            if not 400 <= status <= 599:
                continue
            for clause, violation in self._common_misfits(operation, status):
                self.contradicted.add((clause, operation.name, status))
                yield _warning(
                    f"the document describes {status} in a form that no error of the taxonomy "
                    f"has: {violation.message}",
                    operation=operation.name,
                    status=status,
                )

    def _common_misfits(
        self, operation: ServiceOperation, status: int
    ) -> Iterator[tuple[str, "DocumentViolation"]]:
        """Yield each clause about the form that all errors with the status break, and how."""
        violations: dict[str, DocumentViolation | None] = dict.fromkeys(_FORM)
        for sample in self._samples(operation, status):
            for clause, found in self.judge.violations(sample):
                structural = next(filter(self._is_structural, found), None)
                if clause in violations and structural is None:
                    del violations[clause]  # this error fits
                elif clause in violations:
                    violations[clause] = violations[clause] or structural
            if not violations:
                return
        for clause, violation in violations.items():
            if violation is not None:
                yield clause, violation

    def _is_structural(self, violation: "DocumentViolation") -> bool:
        """Whether any error of the taxonomy would break the document in this way."""
        if violation.clause != "document/schema" or violation.keyword in _STRUCTURAL:
            return True
        value = violation.value
        wires = self.session.contract.numbering.wires
        return violation.keyword in ("enum", "const") and isinstance(value, str) and value in wires

    def _samples(self, operation: ServiceOperation, status: int) -> Iterator[Exchange]:
        """Two answers for each code that the operation may have with this status: an ordinary one,
        and one with all optional members.
        """
        taxonomy = self.session.taxonomy
        declared = self.session.contract.find_operation(operation.name)
        own = declared.errors if declared is not None else {}
        allowed = declared.codes if declared is not None else None
        shared = (code.name for code in taxonomy.shared_live_codes())
        request = Request(operation.method, operation.template)
        for name in (*own, *(name for name in shared if allowed is None or name in allowed)):
            code = taxonomy.code_of(declared, name)
            if code is None or not may_have_status(taxonomy, code, status):
                continue
            broken: set[str] = set()
            for complete in (False, True):
                with suppress(Unanswerable):
                    answer = render_failure(
                        self.session.contract,
                        request,
                        Fault(name, status),
                        _VALIDATOR,
                        complete=complete,
                    )
                    sample = Exchange(request, answer, operation=operation.name)
                    findings = judge(self.session.contract, sample).findings
                    found = {item.clause for item in findings if item.level == "error"}
                    # A complete error may have members that the taxonomy does not allow together.
                    if not complete or found <= broken:
                        yield sample
                    broken = found

    def _missing_statuses(self, operation: ServiceOperation) -> Iterator[Outcome]:
        """The codes that the taxonomy declares for the operation itself, if the document has none
        of their statuses.
        """
        declared = self.session.contract.find_operation(operation.name)
        if declared is None or not describes_errors(operation):
            return
        missing = []
        for name in declared.named_codes:
            code = self.session.taxonomy.code_of(declared, name)
            statuses = [*code.http.allowed_statuses()] if code is not None and code.live else []
            described = (self.judge.response(operation.name, status) for status in statuses)
            if statuses and all(response is None for response in described):
                missing.append(f"{statuses[0]} (`{name}`)")
                self._reported |= {(operation.name, status) for status in statuses}
        if missing:
            yield _warning(
                "the document leaves out statuses of codes that the taxonomy declares for the "
                f"operation: {', '.join(missing)}",
                operation=operation.name,
            )


def describes_errors(operation: ServiceOperation) -> bool:
    """Whether the document describes any error of an operation."""
    return any(text[:1] in "45" or text == "default" for text in operation.responses)


def hold_to_document(session: HttpSession) -> DocumentHold | None:
    """Hold all answers of the session to the document of the service from now on.

    Returns None if the service publishes no document, or if schemathesis is not installed.
    """
    described = session.description
    if described.learned or not described.operations or find_spec("schemathesis") is None:
        return None
    # It takes a second to import.
    from faultspec_conformance.schemathesis.document import DocumentJudge

    hold = DocumentHold(session, DocumentJudge(described))
    session.hold = hold
    return hold


def _challenged_schemes(exchange: Exchange) -> set[str]:
    """Return the authentication schemes that an answer names, in lower case."""
    lines = (
        value for name, value in exchange.response.headers if name.lower() == _AUTHENTICATE.lower()
    )
    return {
        scheme.lower()
        for line in lines
        for scheme in _SCHEME.findall(_QUOTED_STRING.sub('""', line))
    }


def _finding(violation: "DocumentViolation", exchange: Exchange, code: str | None) -> Finding:
    """A finding of the judgement. An undocumented error is a warning: a document covers successes
    and known errors (OpenAPI 3.1.1, section 4.8.16).
    """
    status = exchange.response.status or 0
    is_error = violation.clause != "document/status" or status < _ERRORS
    return Finding(
        clause=violation.clause,
        message=violation.message,
        level="error" if is_error else "warning",
        operation=exchange.operation,
        code=code,
        status=status,
        pointer=violation.pointer,
        evidence=(exchange,),
    )


def _warning(
    message: str,
    *,
    operation: str | None = None,
    status: int | None = None,
    evidence: tuple[Exchange, ...] = (),
) -> Outcome:
    finding = Finding(
        clause=_AGREES,
        message=message,
        level="warning",
        operation=operation,
        status=status,
        evidence=evidence,
    )
    return Outcome(_AGREES, "failed", finding=finding)
