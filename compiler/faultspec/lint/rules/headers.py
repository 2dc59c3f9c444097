"""Lint rules about headers."""

from collections.abc import Iterable, Iterator
from itertools import combinations, product

from faultspec.diagnostics.model import Path, Remedy
from faultspec.language.model import Code, HeaderRule, Surface
from faultspec.lint.places import http_surfaces_of
from faultspec.lint.rule import Remark, Subject, rule

#: Headers that RFC 9110 requires of a status.
_REQUIRED_BY_HTTP = {401: "WWW-Authenticate", 405: "Allow", 426: "Upgrade"}


@rule("header-contradiction", severity="error")
def header_contradiction(subject: Subject) -> Iterator[Remark]:
    """No two header rules contradict each other on the same answer.

    Bad::

        headers:
          Retry-After: {on: 5xx}
        codes:
          failed: {summary: It failed., http: 500, headers: {Retry-After: forbidden}}

    Good::

        headers:
          Retry-After: {on: 503}
        codes:
          failed: {summary: It failed., http: 500, headers: {Retry-After: forbidden}}
    """
    headers = subject.taxonomy.headers
    for wanted, refused in _contradictions(headers, headers):
        yield _contradiction(("headers", refused.name), wanted, refused)
    for one, other in combinations(headers, 2):
        yield from _value_contradiction(("headers", other.name), one, other)
    for path, rules in _groups_of_surfaces(subject):
        for wanted, refused in _contradictions(rules, rules):
            yield _contradiction((*path, refused.name), wanted, refused)
        for one, other in combinations(rules, 2):
            yield from _value_contradiction((*path, other.name), one, other)
    for path, code in subject.live_codes():
        carried = tuple(
            header if header.on else header._replace(on=code.http.statuses)
            for header in (*headers, *code.headers)
            if header.names(code.name)
        )
        own = carried[len(carried) - len(code.headers) :]
        for wanted, refused in (
            *_contradictions(own, carried),
            *_contradictions(carried[: -len(own) or None], own),
        ):
            name = refused.name if refused in own else wanted.name
            yield _contradiction((*path, "headers", name), wanted, refused)
        for one, other in combinations(carried, 2):
            if other in own:
                yield from _value_contradiction((*path, "headers", other.name), one, other)
        for surface in http_surfaces_of(subject.taxonomy, path, code):
            yield from _contradictions_with_surface(path, code, surface, own)


def _contradictions_with_surface(
    path: Path, code: Code, surface: Surface | None, own: tuple[HeaderRule, ...]
) -> Iterator[Remark]:
    """Rules of a code that contradict those of a surface that carries it."""
    theirs = [rule for rule in (surface.headers if surface else ()) if rule.names(code.name)]
    for wanted, refused in (*_contradictions(own, theirs), *_contradictions(theirs, own)):
        name = refused.name if refused in own else wanted.name
        yield _contradiction((*path, "headers", name), wanted, refused)
    for one, other in product(theirs, own):
        yield from _value_contradiction((*path, "headers", other.name), one, other)


def _groups_of_surfaces(subject: Subject) -> Iterator[tuple[Path, tuple[HeaderRule, ...]]]:
    """The rules of each surface, with the path of their mapping."""
    for surface in subject.taxonomy.surfaces.values():
        yield ("surfaces", surface.name, "headers"), surface.headers


@rule("profile-missing", severity="note")
def profile_missing(subject: Subject) -> Iterator[Remark]:
    """A taxonomy with surfaces over HTTP names the profile of HTTP that its services keep.

    Bad::

        surfaces:
          api: {transport: http, envelope: error}
        codes:
          failed: {summary: It failed., http: 405}

    Good::

        profile: rfc9110
        surfaces:
          api: {transport: http, envelope: error}
        codes:
          failed: {summary: It failed., http: 405}
    """
    taxonomy = subject.taxonomy
    declared = {
        status for _, code in subject.live_codes() for status in code.http.allowed_statuses()
    }
    ruled = {rule.name.lower() for rule in taxonomy.headers}
    ruled |= {rule.name.lower() for _, rules in _groups_of_surfaces(subject) for rule in rules}
    for _, code in subject.live_codes():
        ruled |= {rule.name.lower() for rule in code.headers}
    open_ones = [
        f"`{name}` on {status}"
        for status, name in _REQUIRED_BY_HTTP.items()
        if status in declared and name.lower() not in ruled
    ]
    http = any(surface.transport == "http" for surface in taxonomy.surfaces.values())
    if http and taxonomy.profile is None and open_ones:
        message = f"nothing requires {' and '.join(open_ones)}, which RFC 9110 requires"
        yield Remark(("surfaces",), message, "add `profile: rfc9110`")


#: Statuses that services raise themselves. `Allow` on 405 comes from the router, and error
#: boundaries keep it.
_RAISED = (401, 426)


@rule("required-header", severity="warning")
def required_header(subject: Subject) -> Iterator[Remark]:
    """Under `profile: rfc9110`, a code with 401 or 426 declares the header that RFC 9110 requires
    of the status; else its exception has no place for it, and each answer lacks it.

    Bad::

        profile: rfc9110
        codes:
          failed: {summary: Log in., http: 401}

    Good::

        profile: rfc9110
        codes:
          failed: {summary: Log in., http: 401, headers: {WWW-Authenticate: required}}
    """
    taxonomy = subject.taxonomy
    if taxonomy.profile is None:
        return
    for path, code in subject.live_codes():
        surfaces = http_surfaces_of(taxonomy, path, code)
        for status in _RAISED:
            name = _REQUIRED_BY_HTTP[status]
            if status in code.http.allowed_statuses() and any(
                not _is_ruled(name, status, code, (*taxonomy.headers, *_rules_of(surface)))
                for surface in surfaces
            ):
                message = f"`{code.name}` has the status {status}, and no rule has its `{name}`"
                hint = f"add `headers: {{{name}: required}}` (RFC 9110 requires it)"
                yield Remark((*path, "http"), message, hint)


def _rules_of(surface: Surface | None) -> tuple[HeaderRule, ...]:
    return surface.headers if surface is not None else ()


def _is_ruled(name: str, status: int, code: Code, around: Iterable[HeaderRule]) -> bool:
    """Whether an own rule of a code or one around it says something of a header on a status."""
    return any(
        rule.name.lower() == name.lower() and rule.applies(code.name, status)
        for rule in (*code.headers, *around)
    )


def _contradictions(
    ours: Iterable[HeaderRule], theirs: Iterable[HeaderRule]
) -> Iterator[tuple[HeaderRule, HeaderRule]]:
    """Pairs of a rule that wants a header and a rule that forbids it on a common status."""
    theirs = [header for header in theirs if header.presence == "forbidden"]
    for one in ours:
        if one.presence in ("required", "expected"):
            yield from ((one, other) for other in theirs if _overlap(one, other))


def _overlap(one: HeaderRule, other: HeaderRule) -> bool:
    """Whether two rules are about the same header of an answer."""
    return (
        one.name.lower() == other.name.lower()
        and (not one.codes or not other.codes or bool(set(one.codes) & set(other.codes)))
        and any(a.meets(b) for a in one.on for b in other.on)
    )


def _contradiction(path: Path, wanted: HeaderRule, refused: HeaderRule) -> Remark:
    message = (
        f"`{wanted.name}` is {wanted.presence} on {_statuses(wanted)} and forbidden on"
        f" {_statuses(refused)}"
    )
    return Remark(path, message, "narrow one of the rules by `on:` or `codes:`")


def _statuses(header: HeaderRule) -> str:
    return ", ".join(map(str, header.on))


def _value_contradiction(path: Path, one: HeaderRule, other: HeaderRule) -> Iterator[Remark]:
    """A remark if no value obeys both rules."""
    if not _overlap(one, other) or "forbidden" in (one.presence, other.presence):
        return
    if one.equals and other.equals and one.equals != other.equals:
        values = f"both `${one.equals}` and `${other.equals}`"
    elif one.format and other.format and not are_compatible(one.format, other.format):
        values = f"both {' or '.join(one.format)} and {' or '.join(other.format)}"
    else:
        return
    message = f"`{other.name}` has to be {values} on the same answer"
    yield Remark(path, message, "narrow one of the rules by `on:` or `codes:`")


def are_compatible(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a value can have both formats: a `uuid7` is also a `uuid`."""
    return any(a.startswith(b) or b.startswith(a) for a in one for b in other)


@rule("header-rule-undone", severity="warning")
def header_rule_undone(subject: Subject) -> Iterator[Remark]:
    """The last matching rule of a header decides its presence, so later rules leave each rule at
    least one status.

    Bad::

        headers:
          Cache-Control:
            - {on: 429, presence: optional}
            - {on: [4xx, 5xx], token: no-store}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        headers:
          Cache-Control:
            - {on: [4xx, 5xx], token: no-store}
            - {on: 429, presence: optional}
        codes:
          failed: {summary: It failed., http: 500}
    """
    groups: list[tuple[Path, tuple[HeaderRule, ...]]] = [(("headers",), subject.taxonomy.headers)]
    groups += _groups_of_surfaces(subject)
    for path, rules in groups:
        yield from _overridden_rules(subject, path, rules)


def _overridden_rules(
    subject: Subject, path: Path, rules: tuple[HeaderRule, ...]
) -> Iterator[Remark]:
    """The rules of one mapping that a later rule of it makes void."""
    paths: list[Path] = []
    for name, written in subject.mapping_at(*map(str, path)).items():
        indices = range(len(written)) if isinstance(written, list) else ()
        paths += [(*path, name, index) for index in indices] or [(*path, name)]
    placed = list(zip(paths, rules, strict=True))
    for number, (place, header) in enumerate(placed):
        for later_path, later in placed[number + 1 :]:
            if _overrides(later, header):
                message = (
                    f"`{header.name}` is {header.presence} on {_statuses(header)}, but a later rule"
                    f" makes it {later.presence} there"
                )
                hint = "put the narrower rule last, or remove one"
                yield Remark(
                    place, message, hint, related=(("the later rule is here", later_path),)
                )
                break


def _overrides(later: HeaderRule, header: HeaderRule) -> bool:
    """Whether a later rule gives the header another presence wherever the earlier rule applies.

    A rule that forbids the header is a matter of `header-contradiction`.
    """
    presences = {header.presence, later.presence}
    if header.name != later.name or len(presences) == 1 or "forbidden" in presences:
        return False
    if later.codes and not (header.codes and set(header.codes) <= set(later.codes)):
        return False
    return all(any(a.covers(b) for a in later.on) for b in header.on)


@rule("unreachable-header-rule", severity="warning")
def unreachable_header_rule(subject: Subject) -> Iterator[Remark]:
    """The header rule of a code is for a status of the code.

    Bad::

        codes:
          busy: {summary: Too much to do., http: 503, headers: {Retry-After: {on: 429}}}

    Good::

        codes:
          busy: {summary: Too much to do., http: 503, headers: {Retry-After: {on: 503}}}
    """
    for path, code in subject.codes():
        for header in code.headers:
            if header.on and not any(map(header.spans, code.http.allowed_statuses())):
                message = f"`{code.name}` never travels as {_statuses(header)}"
                hint = f"its statuses are {', '.join(map(str, code.http.statuses)) or 'none'}"
                yield Remark((*path, "headers", header.name), message, hint)


#: Preconditions and Range conditions (RFC 9110, sections 13.1 and 14.2).
_CONDITIONAL = frozenset(
    {"if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since"}
)
#: Fields of requests only (RFC 9110, also sections 7.2, 7.6.2, 10.1, 11.6.2 and 11.7.2).
REQUEST_ONLY = _CONDITIONAL | {
    "authorization",
    "expect",
    "host",
    "max-forwards",
    "proxy-authorization",
    "referer",
    "te",
}


@rule("request-header", severity="warning")
def request_header(subject: Subject) -> Iterator[Remark]:
    """A header rule is about a header that responses have.

    Bad::

        headers:
          If-None-Match: {on: 412}
        codes:
          stale: {summary: The resource changed., http: 412}

    Good::

        headers:
          ETag: {on: 412}
        codes:
          stale: {summary: The resource changed., http: 412}
    """
    groups: list[tuple[Path, tuple[HeaderRule, ...]]] = [(("headers",), subject.taxonomy.headers)]
    groups += _groups_of_surfaces(subject)
    groups += [((*path, "headers"), code.headers) for path, code in subject.codes()]
    for path, rules in groups:
        for name in dict.fromkeys(header.name for header in rules):
            if name.lower() in REQUEST_ONLY:
                message = f"`{name}` is a header of requests; no response has it"
                yield Remark((*path, name), message, "remove the rule")


@rule("header-spelling", severity="note")
def header_spelling(subject: Subject) -> Iterator[Remark]:
    """A header is spelled as in `headers:`, or as where it occurs first.

    Bad::

        headers:
          Retry-After: {on: 429}
        codes:
          limited: {summary: Too many requests., http: 429, example: {headers: {retry-after: "8"}}}

    Good::

        headers:
          Retry-After: {on: 429}
        codes:
          limited: {summary: Too many requests., http: 429, example: {headers: {Retry-After: "8"}}}
    """
    found: list[tuple[Path, str]] = [
        (("headers", name), name) for name in subject.mapping_at("headers")
    ]
    for path, rules in _groups_of_surfaces(subject):
        found += [((*path, header.name), header.name) for header in rules]
    for path, code in subject.codes():
        found += [((*path, "headers", header.name), header.name) for header in code.headers]
        for place, example in subject.examples(path, code):
            found += [((*place, "headers", name), name) for name in example.headers]
    spellings: dict[str, str] = {}
    for path, name in found:
        usual = spellings.setdefault(name.lower(), name)
        if usual != name:
            message = f"`{name}` is spelled `{usual}` elsewhere"
            yield Remark(path, message, f"write `{usual}`", remedy=Remedy("write", usual))


@rule("retry-after-missing", severity="warning")
def retry_after_missing(subject: Subject) -> Iterator[Remark]:
    """A 429 answer carries `Retry-After` (RFC 6585, section 4), on every surface.

    Bad::

        codes:
          limited: {summary: Too many requests., http: 429}

    Good::

        headers:
          Retry-After: {on: 429}
        codes:
          limited: {summary: Too many requests., http: 429}
    """
    for path, code in subject.live_codes():
        carrying = http_surfaces_of(subject.taxonomy, path, code)
        bare = [
            surface
            for surface in carrying
            if not any(
                header.name.lower() == "retry-after" and header.presence in ("required", "expected")
                for header in subject.taxonomy.header_rules(code, 429, surface)
            )
        ]
        if code.http.allows(429) and bare:
            names = ", ".join(f"`{surface.name}`" for surface in bare if surface is not None)
            where = f" on {names}" if len(bare) < len(carrying) else ""
            message = f"`{code.name}` travels as 429 without Retry-After{where}"
            hint = "add `headers: {Retry-After: {on: 429}}`"
            yield Remark(subject.first_written(path, "http"), message, hint)
