"""Nothing secret leaves in a report: credentials, cookies, keys, what came from the environment, planted canaries.

A secret is replaced by a word that says what stood there, so that a command line stays usable with the variable set.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import quote, quote_plus

from faultspec.exchange import Exchange, Headers, Request, Response
from faultspec.finding import Finding
from faultspec_conformance.target import CREDENTIALS, Identity

#: What stands for a value that must not be shown and has no name of its own.
MASK = "***"

#: Response headers that hold credentials.
_ANSWERED = frozenset({"set-cookie", "set-cookie2"})

#: Shorter values would mask half of every text they happen to occur in.
_SHORTEST = 4

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*) +\S")


@dataclass(frozen=True, slots=True)
class Masking:
    """Secret texts and what stands for each, the longest first."""

    secrets: tuple[tuple[str, str], ...] = ()

    def text(self, text: str) -> str:
        """The text without any secret."""
        for secret, word in self.secrets:
            text = text.replace(secret, word)
        return text

    def data(self, data: bytes) -> bytes:
        """The bytes without any secret."""
        for secret, word in self.secrets:
            data = data.replace(secret.encode(), word.encode())
        return data

    def headers(self, headers: Headers) -> Headers:
        """Header fields without secrets; a credential that nobody named becomes ``***``, its scheme stays."""
        return tuple((name, self.header(name, value)) for name, value in headers)

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
                request.method, self.text(request.target), self.headers(request.headers), self.data(request.body)
            ),
            response=Response(
                response.status, self.headers(response.headers), self.data(response.body), response.elapsed
            ),
            forbidden=(),
        )

    def finding(self, finding: Finding) -> Finding:
        """The finding as it may be shown."""
        return replace(
            finding,
            message=self.text(finding.message),
            evidence=tuple(self.exchange(each) for each in finding.evidence),
        )

    def with_secrets(self, secrets: Iterable[tuple[str, str]]) -> "Masking":
        """The same, with more secrets."""
        return replace(self, secrets=_ordered([*self.secrets, *secrets]))


def masking(identities: Iterable[Identity], secrets: Iterable[tuple[str, str]] = ()) -> Masking:
    """What must not be shown of these identities, and of other secret texts with the word that stands for each."""
    return Masking(_ordered([*(pair for each in identities for pair in each.secrets), *secrets]))


def _ordered(secrets: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    kept = {
        form: word
        for secret, word in reversed(list(secrets))
        if len(secret) >= _SHORTEST
        for form in (secret, quote(secret, safe=""), quote_plus(secret))
    }
    return tuple(sorted(kept.items(), key=lambda pair: (-len(pair[0]), pair[0])))
