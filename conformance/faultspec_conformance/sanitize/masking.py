"""Masking of known secrets in reports: credentials, cookies, keys, environment values, planted
canaries.

A word that names the secret replaces it, so that a command line can be used with the variable set.
Secrets are found in every encoding (`sanitize.encodings`), so no reader can decode one out of a
report.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Headers, Request, Response, first_header
from faultspec.exchange.sensitive import MASK, NOWHERE_SENSITIVE, SensitivePlaces
from faultspec.judge.masked_body import mask_body, mask_members
from faultspec_conformance.config import CREDENTIALS, SHORTEST_SECRET, Identity
from faultspec_conformance.config.addresses import find_environment_secrets
from faultspec_conformance.results.model import ClauseResult, Coverage, ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver
from faultspec_conformance.sanitize.decoded import decode_secrets
from faultspec_conformance.sanitize.effort import Effort
from faultspec_conformance.sanitize.encodings import (
    find_beheaded,
    find_truncated,
    find_unread,
    find_value,
    unescape_layers,
)
from faultspec_conformance.sanitize.likely_values import select_likely
from faultspec_conformance.sanitize.literal_variables import escape_variables

#: Response headers that hold credentials.
_COOKIES = frozenset({"set-cookie", "set-cookie2"})

#: Bytes of a body that are searched: four times what reports show, so that masks cannot pull more
#: into view.
_SEARCHED = 64 * 1024

#: Characters of a text that is masked a while longer than messages are, so that a finding says what
#: was found; and how long, as a share of the time for messages.
_SENTENCE = 2_000
_FOR_SENTENCES = 1.5

#: Header fields of one message that a report shows. Servers accept about as many by default.
FIELDS = 100

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*) +\S")

#: A credential that consists of names of variables, such as those that a login saves.
_NAMES_ONLY = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9-]* +)?(?:[\w-]+=)?\$\{\w+\}(?:; ?[\w-]+=\$\{\w+\})*"
)


#: The headers and the body of a request or an answer.
Message = tuple[Headers, bytes]

#: Large masked bodies that are kept, so that findings and reports about one share it.
_LARGE = 4

#: Short texts whose layers are kept: names and values of headers, routes and operations recur.
_layers_of = lru_cache(maxsize=1024)(unescape_layers)

#: A text in a sentence of a finding.
_QUOTED = re.compile(r"`([^`]{4,})`")


@lru_cache(maxsize=_LARGE)
def _fill(shown: bytes, size: int) -> bytes:
    """The body of a size in which blanks follow what is shown."""
    return shown.ljust(size)


@dataclass(frozen=True, slots=True)
class Masking:
    """Secret texts, the longest first, each with its replacement.

    ``unsearched``: messages with more secrets than can be masked, which are hidden whole.
    ``effort``: the time for masking; when it is spent, all messages and texts are hidden. None: no
    limit. ``sensitive``: the places in bodies and headers of answers that are masked whatever
    stands there; ``recorded``: in requests too, which the suite did not make up. ``again``: what
    is masked has been masked before, so its headers have no unknown credentials.
    """

    secrets: tuple[tuple[str, str], ...] = ()
    unsearched: frozenset[Message] = frozenset()
    effort: Effort | None = field(default=None, compare=False)
    sensitive: SensitivePlaces = NOWHERE_SENSITIVE
    recorded: bool = False
    again: bool = False
    _texts: tuple[str, ...] = field(init=False, compare=False, repr=False)
    _has_blanks: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        texts = tuple(secret for secret, _ in self.secrets)
        object.__setattr__(self, "_texts", texts)
        object.__setattr__(self, "_has_blanks", any(len(text.split(None, 1)) > 1 for text in texts))

    def __or__(self, other: "Masking") -> "Masking":
        """Mask the secrets of both; the replacements of this one come first."""
        return replace(
            _sort_secrets({**dict(other.secrets), **dict(self.secrets)}),
            unsearched=self.unsearched | other.unsearched,
            effort=self.effort or other.effort,
            sensitive=self.sensitive or other.sensitive,
            recorded=self.recorded or other.recorded,
            again=self.again and other.again,
        )

    def text(self, text: str) -> str:
        """The text without secrets, and without the beginning of one where the text is
        truncated.
        """
        return self._mask(mask_members(text, self.sensitive), whole=False)

    def body(self, body: bytes) -> bytes:
        """The body without secrets. Blanks replace the part that no report shows, so the size
        stays.
        """
        searched = body[:_SEARCHED]
        text = searched.decode("utf-8", "surrogateescape")
        masked = self._mask(text, whole=len(body) <= _SEARCHED and not text.endswith("…"))
        rest = len(body) - len(searched)
        if masked == text and body.count(b" ", len(searched)) == rest:
            return body  # a body of 11 MiB is kept once, however many findings have it
        shown = masked.encode("utf-8", "surrogateescape")
        return _fill(shown, len(shown) + rest) if rest else shown

    def _mask(self, text: str, *, whole: bool) -> str:
        if len(text) < SHORTEST_SECRET or not self.secrets:
            return text
        share = _FOR_SENTENCES if len(text) <= _SENTENCE else 1.0
        if self.effort is not None and self.effort.is_spent(share):
            self.effort.late += 1
            return MASK
        find_layers = _layers_of if len(text) <= _SENTENCE else unescape_layers
        layers = find_layers(text, joins_lines=self._has_blanks)
        found = [(start, -end, MASK) for start, end in find_unread(layers)]
        for number in select_likely(layers, self._texts):
            secret, word = self.secrets[number]
            places = (
                *find_value(layers, secret),
                *find_truncated(layers, secret, at_end=not whole),
                *find_beheaded(layers, secret),
            )
            found += ((start, -end, word) for start, end in places)
            if self.effort is not None and self.effort.is_spent(_FOR_SENTENCES):
                self.effort.late += 1
                return MASK
        out, read = [], 0
        for start, negative_end, word in sorted(found, key=lambda place: place[:2]):
            if start >= read:
                out += [text[read:start], word]
            read = max(read, -negative_end)
        return "".join([*out, text[read:]])

    def headers(self, headers: Headers) -> Headers:
        """Header fields without secrets: the first `FIELDS`, and a final field that counts the
        others.
        """
        shown = tuple(
            (self.text(name), self.header(name, value)) for name, value in headers[:FIELDS]
        )
        more = len(headers) - FIELDS
        if more <= 0:
            return shown
        return (*shown, ("…", f"{more} more header fields, which are not shown"))

    def header(self, name: str, value: str) -> str:
        """A header value without secrets. An unknown credential becomes ``***``; its scheme
        stays.
        """
        masked = self.text(value)
        if self.again:
            return masked
        if name.lower() in _COOKIES:
            return re.sub(r"=[^;]*", f"={MASK}", masked, count=1)
        if name.lower() not in CREDENTIALS or masked != value or not value:
            return masked
        if _NAMES_ONLY.fullmatch(value):
            return value
        scheme = _SCHEME.match(value)
        return f"{scheme[1]} {MASK}" if scheme else MASK

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without secrets, and without its list of forbidden values."""
        request, response = exchange.request, exchange.response
        if not self.again:
            request = escape_variables(request, {word for _, word in self.secrets})
        request_headers, request_body = self._message(
            request.headers, request.body, by_place=self.recorded
        )
        headers, body = self._message(response.headers, response.body, by_place=True)
        return replace(
            exchange,
            request=replace(
                request,
                method=self.text(request.method),
                target=self.text(request.target),
                headers=request_headers,
                body=request_body,
            ),
            response=replace(
                response, headers=headers, body=body, cut=self._mask_optional(response.cut)
            ),
            route=self._mask_optional(exchange.route),
            operation=self._mask_optional(exchange.operation),
            trigger=self.text(exchange.trigger),
            forbidden=(),
        )

    def _message(self, headers: Headers, body: bytes, *, by_place: bool) -> Message:
        is_late = self.effort is not None and self.effort.is_spent()
        if not is_late and (headers, body) not in self.unsearched:
            shown = self.headers(headers)
            if not by_place:
                return shown, self.body(body)
            media_type = first_header(headers, "content-type")
            content = mask_body(body, media_type, self.sensitive).content
            return tuple(map(self._mask_place, shown)), self.body(content)
        if self.effort is not None:
            self.effort.late += is_late
            self.effort.hidden += not is_late
        fields = ("…", f"{len(headers)} header fields, which are not shown")
        return (fields,), _fill(MASK.encode()[: len(body)], len(body))

    def _hides(self, headers: Headers, body: bytes) -> bool:
        media_type = first_header(headers, "content-type")
        return mask_body(body, media_type, self.sensitive).hidden is not None

    def _mask_place(self, header: tuple[str, str]) -> tuple[str, str]:
        return (header[0], MASK) if header[0].lower() in self.sensitive.headers else header

    def _message_of(self, finding: Finding) -> str:
        """The message of a finding without sensitive values that are too short to be masked in
        every text: as a text in quotes, and at a sensitive place also as a number.
        """
        message = finding.message
        if finding.pointer is not None:
            shown = self.sensitive.mask_pointer(finding.pointer)
            message = message.replace(f"`{finding.pointer}`", f"`{shown}`")
        short = sorted(filter(_is_short, self._values_of(finding)), key=len, reverse=True)
        if not short:
            return message
        words = "|".join(map(re.escape, short))
        message = re.sub(rf"([\"'])(?:{words})\1", rf"\1{MASK}\1", message)
        if not self.sensitive.covers(finding.pointer):
            return message
        return re.sub(rf"(?<![\w.`/-])(?:{words})(?![\w`/])", MASK, message)

    def _values_of(self, finding: Finding) -> Iterator[str]:
        """The sensitive values in the evidence of a finding."""
        for exchange in finding.evidence if self.sensitive else ():
            yield from sensitive_values(exchange.response, self.sensitive)
            if self.recorded:
                yield from sensitive_values(exchange.request, self.sensitive)

    def finding(self, finding: Finding) -> Finding:
        """The finding without secrets. Its message quotes nothing of a message that is hidden."""
        messages = {
            (side.headers, side.body)
            for exchange in finding.evidence
            for side in (exchange.request, exchange.response)
            if side.headers or side.body
        }
        is_late = self.effort is not None and self.effort.is_spent()
        hidden = messages if is_late else messages & self.unsearched
        masking = replace(self, unsearched=frozenset(hidden))
        hidden |= {((), body) for headers, body in messages if self._hides(headers, body)}
        return replace(
            finding,
            message=self.text(_without_quotes(self._message_of(finding), hidden)),
            operation=self._mask_optional(finding.operation),
            pointer=self._mask_optional(self._mask_pointer(finding.pointer)),
            evidence=tuple(map(masking.exchange, finding.evidence)),
        )

    def mask_finding(self, reported: ReportedFinding) -> ReportedFinding:
        """The finding, its examples and the reason of its waiver without secrets."""
        examples = tuple(map(self.finding, reported.examples))
        return replace(
            reported,
            finding=examples[0],
            examples=examples,
            waived=self._mask_optional(reported.waived),
            places=self._mask_all(reported.places),
            last=self._mask_optional(reported.last),
            operations=self._mask_all(reported.operations),
        )

    def result(self, result: Result) -> Result:
        """The result without secrets. Every report is masked here and nowhere else."""
        shown: set[str | None] = {cell.operation for cell in result.map}
        shown |= {part for sent in result.sent for part in (sent.operation, sent.target)}
        masked: dict[str | None, str] = {
            text: self.text(text) for text in shown if text is not None
        }
        return replace(
            result,
            target=self.text(result.target),
            clauses={address: self._clause(clause) for address, clause in result.clauses.items()},
            findings=tuple(map(self.mask_finding, result.findings)),
            coverage={code: self._coverage(coverage) for code, coverage in result.coverage.items()},
            notes=self._mask_all(result.notes),
            failures=self._mask_all(result.failures),
            not_run=self._mask_all(result.not_run),
            map=tuple(replace(cell, operation=masked[cell.operation]) for cell in result.map),
            sent=tuple(
                replace(sent, operation=masked.get(sent.operation), target=masked.get(sent.target))
                for sent in result.sent
            ),
            waivers={self._waiver(waiver): used for waiver, used in result.waivers.items()},
            fixed=None
            if result.fixed is None
            else tuple(
                replace(each, operation=self._mask_optional(each.operation))
                for each in result.fixed
            ),
        )

    def _waiver(self, waiver: Waiver) -> Waiver:
        return replace(
            waiver,
            clause=self.text(waiver.clause),
            reason=self.text(waiver.reason),
            owner=self.text(waiver.owner),
            operation=self._mask_optional(waiver.operation),
            code=self._mask_optional(waiver.code),
            condition=(),
        )

    def _clause(self, clause: ClauseResult) -> ClauseResult:
        return replace(
            clause,
            not_run=self._mask_all(clause.not_run),
            not_exercised=self._mask_all(clause.not_exercised),
            not_checkable=self._mask_all(clause.not_checkable),
            undecided=self._mask_names(clause.undecided),
        )

    def _coverage(self, coverage: Coverage) -> Coverage:
        return replace(
            coverage,
            operations=self._mask_all(coverage.operations),
            reason=self._mask_optional(coverage.reason),
        )

    def _mask_pointer(self, pointer: str | None) -> str | None:
        return pointer if pointer is None else self.sensitive.mask_pointer(pointer)

    def _mask_all(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(self.text, texts)))

    def _mask_names(self, counts: Mapping[str, int]) -> dict[str, int]:
        """The counts by names without secrets. Names that become equal are counted together."""
        masked: dict[str, int] = {}
        for name, count in counts.items():
            text = self.text(name)
            masked[text] = masked.get(text, 0) + count
        return masked

    def _mask_optional(self, text: str | None) -> str | None:
        return text if text is None else self.text(text)


def sensitive_values(side: Request | Response, sensitive: SensitivePlaces) -> Iterator[str]:
    """The texts at the sensitive places of a request or an answer."""
    media_type = first_header(side.headers, "content-type")
    yield from mask_body(side.body, media_type, sensitive).values
    yield from (value for name, value in side.headers if name.lower() in sensitive.headers)


def _is_short(value: str) -> bool:
    return 0 < len(value) < SHORTEST_SECRET


def _without_quotes(text: str, hidden: Iterable[Message]) -> str:
    """A sentence without the texts that it quotes of these messages."""
    sources = [
        source
        for headers, body in hidden
        for source in (body.decode("utf-8", "replace"), *(value for _, value in headers))
    ]
    if not sources:
        return text

    def hide(found: re.Match[str]) -> str:
        shown = found[1].rstrip("…")
        return f"`{MASK}`" if any(shown in source for source in sources) else found[0]

    return _QUOTED.sub(hide, text)


NO_SECRETS = Masking()
"""It masks what looks like a secret, and knows none."""


def build_masking(
    identities: Iterable[Identity],
    secrets: Iterable[tuple[str, str]] = (),
    planted: Iterable[tuple[str, str]] = (),
) -> Masking:
    """A masking of the identities' credentials, of further secrets and of planted canaries, each
    with its replacement. A canary encodes nothing, although it may happen to be in base64.
    """
    pairs = [*(pair for identity in identities for pair in identity.secrets), *secrets]
    # What has a name of its own keeps it: the replacements of earlier pairs win.
    pairs += [(part, MASK) for secret, _ in pairs for part in decode_secrets(secret)]
    pairs += planted
    return _sort_secrets(
        {secret: word for secret, word in reversed(pairs) if len(secret) >= SHORTEST_SECRET}
    )


def mask_environment(environment: Mapping[str, str]) -> Masking:
    """A masking of the variables whose names say that they are secrets. What runs beside the suite,
    or in its process, has the same environment, and may show it in an answer.
    """
    return build_masking((), find_environment_secrets(environment))


def _sort_secrets(words: Mapping[str, str]) -> Masking:
    return Masking(tuple(sorted(words.items(), key=lambda pair: (-len(pair[0]), pair[0]))))
