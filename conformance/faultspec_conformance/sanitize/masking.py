"""Nothing secret leaves in a report: credentials, cookies, keys, what came from the environment, planted canaries.

A secret is replaced by a word that says what stood there, so that a command line stays usable with the variable set. It is
found in whatever it was encoded by (`faultspec_conformance.sanitize.encodings`), so no reader of a report can decode one out of it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Headers, Request, Response
from faultspec_conformance.config import CREDENTIALS, Identity
from faultspec_conformance.results.model import ClauseResult, Coverage, ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver
from faultspec_conformance.sanitize.encodings import cut_off, layers, places

#: What stands for a value that must not be shown and has no name of its own.
MASK = "***"

#: Response headers that hold credentials.
_ANSWERED = frozenset({"set-cookie", "set-cookie2"})

#: Shorter values would mask half of every text they happen to occur in.
_SHORTEST = 4

#: Bytes of a body that are searched, four times what reports show: no mask is so much shorter than what it stands for.
_SEARCHED = 64 * 1024

#: Header fields of one message that are shown, as many as servers take by default; whoever reads more learns nothing more.
FIELDS = 100

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*) +\S")


@dataclass(frozen=True, slots=True)
class Masking:
    """Secret texts and what stands for each, the longest first."""

    secrets: tuple[tuple[str, str], ...] = ()

    def __or__(self, other: "Masking") -> "Masking":
        """What either hides; where both do, by the words of this one."""
        return _longest_first({**dict(other.secrets), **dict(self.secrets)})

    def text(self, text: str) -> str:
        """The text without any secret, or what is left of one where the text was cut off."""
        return self._without(text, whole=False)

    def body(self, body: bytes) -> bytes:
        """A body without any secret, as far as a report shows it; what lies beyond is blanked, so that its size stays."""
        read = body[:_SEARCHED]
        text = read.decode("utf-8", "surrogateescape")
        masked = self._without(text, whole=len(body) <= _SEARCHED)
        return (read if masked == text else masked.encode("utf-8", "surrogateescape")) + b" " * (
            len(body) - len(read)
        )

    def _without(self, text: str, *, whole: bool) -> str:
        if len(text) < _SHORTEST or not self.secrets:
            return text
        layered = layers(text)
        found = [
            (start, end, word)
            for secret, word in self.secrets
            for start, end in (
                *places(layered, secret),
                *(() if whole else cut_off(layered, secret)),
            )
        ]
        if not found:
            return text
        out, read = [], 0
        for start, end, word in sorted(found, key=lambda each: (each[0], -each[1])):
            if start >= read:
                out += [text[read:start], word]
            read = max(read, end)
        return "".join([*out, text[read:]])

    def headers(self, headers: Headers) -> Headers:
        """Header fields without secrets; a credential that nobody named becomes ``***``, its scheme stays.

        Of a message with more than anybody reads the first `FIELDS`, and one that says how many there are beyond.
        """
        shown = tuple(
            (self.text(name), self.header(name, value)) for name, value in headers[:FIELDS]
        )
        more = len(headers) - FIELDS
        return (
            shown
            if more <= 0
            else (*shown, ("…", f"{more} more header fields, which are not shown"))
        )

    def header(self, name: str, value: str) -> str:
        """One header value without secrets."""
        masked = self.text(value)
        if name.lower() in _ANSWERED:
            return re.sub(r"=[^;]*", f"={MASK}", masked, count=1)
        if name.lower() not in CREDENTIALS or masked != value:
            return masked
        scheme = _SCHEME.match(value)
        return f"{scheme[1]} {MASK}" if scheme else MASK if value else value

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange as it may be shown; the forbidden values themselves are left out."""
        request, response = exchange.request, exchange.response
        return replace(
            exchange,
            request=Request(
                request.method,
                self.text(request.target),
                self.headers(request.headers),
                self.body(request.body),
            ),
            response=Response(
                response.status,
                self.headers(response.headers),
                self.body(response.body),
                response.elapsed,
            ),
            route=self._maybe(exchange.route),
            operation=self._maybe(exchange.operation),
            forbidden=(),
        )

    def finding(self, finding: Finding) -> Finding:
        """The finding as it may be shown."""
        return replace(
            finding,
            message=self.text(finding.message),
            operation=self._maybe(finding.operation),
            pointer=self._maybe(finding.pointer),
            evidence=tuple(self.exchange(exchange_) for exchange_ in finding.evidence),
        )

    def result(self, result: Result) -> Result:
        """The result as it may be shown: the one place where what is reported is masked."""
        return replace(
            result,
            target=self.text(result.target),
            clauses={address: self._clause(each) for address, each in result.clauses.items()},
            findings=tuple(self.reported(finding) for finding in result.findings),
            coverage={code: self._coverage(each) for code, each in result.coverage.items()},
            notes=self._all(result.notes),
            failures=self._all(result.failures),
            not_run=self._all(result.not_run),
            waivers={self._waiver(each): used for each, used in result.waivers.items()},
        )

    def _waiver(self, waiver: Waiver) -> Waiver:
        return replace(
            waiver,
            clause=self.text(waiver.clause),
            reason=self.text(waiver.reason),
            owner=self.text(waiver.owner),
            operation=self._maybe(waiver.operation),
            code=self._maybe(waiver.code),
            condition=(),
        )

    def reported(self, reported: ReportedFinding) -> ReportedFinding:
        """The finding and its excuse as they may be shown."""
        return replace(
            reported, finding=self.finding(reported.finding), waived=self._maybe(reported.waived)
        )

    def _clause(self, clause: ClauseResult) -> ClauseResult:
        return replace(
            clause,
            not_run=self._all(clause.not_run),
            not_exercised=self._all(clause.not_exercised),
            not_checkable=self._all(clause.not_checkable),
        )

    def _coverage(self, coverage: Coverage) -> Coverage:
        return replace(
            coverage, operations=self._all(coverage.operations), reason=self._maybe(coverage.reason)
        )

    def _all(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.text(text) for text in texts))

    def _maybe(self, text: str | None) -> str | None:
        return text if text is None else self.text(text)


def masking(identities: Iterable[Identity], secrets: Iterable[tuple[str, str]] = ()) -> Masking:
    """What must not be shown of these identities, and of other secret texts with the word that stands for each."""
    pairs = [*(pair for identity in identities for pair in identity.secrets), *secrets]
    return _longest_first(
        {secret: word for secret, word in reversed(pairs) if len(secret) >= _SHORTEST}
    )


def _longest_first(words: Mapping[str, str]) -> Masking:
    return Masking(tuple(sorted(words.items(), key=lambda pair: (-len(pair[0]), pair[0]))))
