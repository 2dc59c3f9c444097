"""Rules on the HTTP map and on surfaces."""

from collections.abc import Iterable, Iterator
from itertools import combinations

from faultspec.diagnostics.model import Path, Remedy
from faultspec.language.model import Code, HeaderRule, Match, Taxonomy
from faultspec.lint.places import allowed_on, codes, example_path, live, meets, present
from faultspec.lint.rule import Remark, Subject

#: What frameworks, servers and proxies answer by themselves, without asking a handler.
MADE_BY_FRAMEWORKS = (
    400,
    404,
    405,
    406,
    408,
    411,
    413,
    414,
    415,
    417,
    431,
    500,
    501,
    502,
    503,
    504,
    505,
)


def unmapped_status(subject: Subject) -> Iterator[Remark]:
    """An error status that frameworks answer by themselves has a code, or a fallback says which."""
    taxonomy = subject.taxonomy
    if not any(
        surface.transport == "http" and surface.envelopes and surface.codes is not None
        for surface in taxonomy.surfaces.values()
    ):
        return
    claimed = [span for _, code in live(taxonomy) for span in code.http.statuses]
    claimed += [fallback.on for fallback in taxonomy.fallbacks]
    missing = [
        status for status in MADE_BY_FRAMEWORKS if not any(status in span for span in claimed)
    ]
    if missing:
        yield Remark(
            ("fallback",) if taxonomy.fallbacks else ("codes",),
            f"no code and no fallback for {', '.join(map(str, missing))}, which frameworks answer by themselves",
            "add `fallback: {4xx: {code: …, reason: …}, 5xx: {code: …, reason: …}}`",
        )


#: What frameworks and gateways answer with no word of what was wrong, nor of anything that a handler knows.
BARE = (401, 404, 405, 406, 413, 415, 429, 500, 502, 503, 504)


def status_without_bare_code(subject: Subject) -> Iterator[Remark]:
    """A status that frameworks answer by themselves has a code that needs no details, since nobody is there to give them."""
    taxonomy = subject.taxonomy
    asking: dict[tuple[str, ...], list[str]] = {}
    for status in BARE:
        names = taxonomy.codes_for(status)
        if names and all(_asks(taxonomy.codes[name]) for name in names):
            asking.setdefault(names, []).append(str(status))
    for names, statuses in asking.items():
        yield Remark(
            ("codes", names[0]),
            f"a framework that answers {', '.join(statuses)} by itself knows no details, and {_listed(names)} asks for some",
            "make them optional, add a code for it, or tell the generated ErrorBoundary what to `choose`",
        )


def _asks(code: Code) -> bool:
    opaque = code.details_schema.opaque if code.details_schema is not None else None
    if opaque is not None:
        return isinstance(opaque, dict) and bool(opaque.get("required"))
    return any(member.presence == "required" for member in code.details.values())


def _listed(names: tuple[str, ...]) -> str:
    return (
        " and ".join(f"`{name}`" for name in names)
        if len(names) < 3
        else f"each of its {len(names)} codes"
    )


def code_without_transport(subject: Subject) -> Iterator[Remark]:
    """Every live code can reach somebody: by an HTTP status, another carrier, or a surface that is not HTTP."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        elsewhere = any(
            surface.transport != "http" and allowed_on(code, path, surface)
            for surface in taxonomy.surfaces.values()
        )
        if not code.http.carried and not code.grpc and not elsewhere:
            message = f"`{code.name}` travels over nothing: no HTTP status, no other carrier, no surface but HTTP"
            yield Remark(
                present(subject, path, "http"),
                message,
                "give it a status, or name its carrier under `on:`",
            )


def code_on_no_surface(subject: Subject) -> Iterator[Remark]:
    """Every live code is allowed on a surface that can carry it."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        if not any(allowed_on(code, path, surface) for surface in taxonomy.surfaces.values()):
            yield Remark(
                path, f"no surface allows `{code.name}`", "add it to the `codes` of a surface"
            )


def failure_without_error_status(subject: Subject) -> Iterator[Remark]:
    """A failure travels as 4xx or 5xx: caches, proxies and monitoring go by the status alone."""
    for path, code in live(subject.taxonomy):
        wrong = [str(span) for span in code.http.statuses if span.low < 400]
        if wrong and not _told_by_body(subject.taxonomy, path, code):
            message = f"`{code.name}` is a failure and travels as {', '.join(wrong)}, which means success or redirection"
            yield Remark((*path, "http"), message, "use a status of 400 or above", on_key=False)


def _told_by_body(taxonomy: Taxonomy, path: Path, code: Code) -> bool:
    """Whether every HTTP surface of the code says on purpose that errors are told by what the body holds."""
    there = [
        surface
        for surface in taxonomy.surfaces.values()
        if surface.transport == "http" and surface.envelopes and meets(surface, path, code)
    ]
    return bool(there) and all(
        each.error_pointer is not None or each.error_equals for each in there
    )


def ambiguous_status(subject: Subject) -> Iterator[Remark]:
    """Codes that share a status differ in something besides their names."""
    seen: dict[object, tuple[Path, Code]] = {}
    for path, code in live(subject.taxonomy):
        if path[0] == "operations" or code.http.default is None:
            continue
        facts = (
            code.http,
            code.domain,
            code.boundaries,
            code.retriable,
            code.client_action,
            code.retry,
            code.effect,
            code.grpc,
            code.mcp,
            code.envelopes,
            code.deadline,
            repr(code.details),
            repr(code.details_schema),
            code.headers,
            code.actions,
        )
        other_path, other = seen.setdefault(repr(facts), (path, code))
        if other is not code:
            yield Remark(
                path,
                f"`{code.name}` and `{other.name}` share {code.http.default} and differ in nothing but their names",
                "give one of them details, an action or a domain of its own, or join the two",
                related=((f"`{other.name}` is here", other_path),),
            )


def unreachable_fallback(subject: Subject) -> Iterator[Remark]:
    """A fallback is for error statuses that no code claims."""
    taxonomy = subject.taxonomy
    claimed = {status for _, code in live(taxonomy) for status in code.http.all()}
    for key, fallback in zip(subject.data.get("fallback", {}), taxonomy.fallbacks, strict=False):
        statuses = range(fallback.on.low, fallback.on.high + 1)
        narrower = [
            each.on
            for each in taxonomy.fallbacks
            if each is not fallback and each.on.width < fallback.on.width
        ]
        same = [
            each for each in taxonomy.fallbacks if each is not fallback and each.on == fallback.on
        ]
        if fallback.on.low < 400:
            message = f"{key} is no error status"
        elif all(
            status in claimed or any(status in each for each in narrower) for status in statuses
        ):
            message = (
                f"this fallback never applies: codes, or narrower fallbacks, claim all of {key}"
            )
        elif same:
            message = f"{key} has two fallbacks"
        else:
            continue
        yield Remark(("fallback", key), message, "remove it")


def unreachable_surface(subject: Subject) -> Iterator[Remark]:
    """A surface claims something that none above it claims, for the first match wins."""
    surfaces = tuple(subject.taxonomy.surfaces.values())
    for index, later in enumerate(surfaces):
        for earlier in surfaces[:index]:
            if earlier.transport == later.transport and _covers(earlier.match, later.match):
                yield Remark(
                    ("surfaces", later.name),
                    f"`{later.name}` is never reached: `{earlier.name}` above claims all that it claims",
                    "put the narrower surface first, or narrow the match of the other",
                    related=((f"`{earlier.name}` is here", ("surfaces", earlier.name)),),
                )
                break


def _covers(one: Match, other: Match) -> bool:
    """Whether everything `other` matches is matched by `one`; False where that cannot be told by looking."""
    routes = (
        not one.routes
        or "/**" in one.routes
        or (other.routes and set(other.routes) <= set(one.routes))
    )
    statuses = not one.statuses or (
        other.statuses and all(any(a.covers(b) for a in one.statuses) for b in other.statuses)
    )
    methods = not one.methods or (other.methods and set(other.methods) <= set(one.methods))
    tools = not one.tools or (other.tools and set(other.tools) <= set(one.tools))
    return bool(routes and statuses and methods and tools)


def concealment(subject: Subject) -> Iterator[Remark]:
    """What is answered to conceal a resource is what is answered when there is none, and gives nothing away."""
    taxonomy = subject.taxonomy
    for index, each in enumerate(taxonomy.privacy.conceal if taxonomy.privacy else ()):
        path: Path = ("privacy", "conceal", index)
        answer = taxonomy.codes[each.answer]
        http = any(surface.transport == "http" for surface in taxonomy.surfaces.values())
        if each.answer in each.never:
            position = each.never.index(each.answer)
            message = f"`{each.answer}` is the answer and may never be the answer"
            yield Remark(
                (*path, "never", position), message, "remove it from one of the two", on_key=False
            )
        elif http and answer.live and not answer.http.statuses:
            message = f"`{each.answer}` has no HTTP status, so it can conceal nothing on HTTP"
            yield Remark(
                (*path, "answer"), message, "answer with a code that travels on HTTP", on_key=False
            )


def header_contradiction(subject: Subject) -> Iterator[Remark]:
    """No header is both required and forbidden on one answer."""
    taxonomy = subject.taxonomy
    for wanted, refused in _contradictions(taxonomy.headers, taxonomy.headers):
        yield _contradiction(("headers", refused.name), wanted, refused)
    for one, other in combinations(taxonomy.headers, 2):
        yield from _form_contradiction(("headers", other.name), one, other)
    for path, code in live(taxonomy):
        carried = tuple(
            rule if rule.on else rule._replace(on=code.http.statuses)
            for rule in (*taxonomy.headers, *code.headers)
            if rule.names(code.name)
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
                yield from _form_contradiction((*path, "headers", other.name), one, other)


def _contradictions(
    ours: Iterable[HeaderRule], theirs: Iterable[HeaderRule]
) -> Iterator[tuple[HeaderRule, HeaderRule]]:
    """Pairs of a rule that wants a header and one that refuses it on a status they share."""
    theirs = tuple(theirs)
    for one in ours:
        for other in theirs:
            if (
                one.presence in ("required", "expected")
                and other.presence == "forbidden"
                and _meet(one, other)
            ):
                yield one, other


def _meet(one: HeaderRule, other: HeaderRule) -> bool:
    return (
        one.name.lower() == other.name.lower()
        and (not one.codes or not other.codes or bool(set(one.codes) & set(other.codes)))
        and any(a.meets(b) for a in one.on for b in other.on)
    )


def _contradiction(path: Path, wanted: HeaderRule, refused: HeaderRule) -> Remark:
    on = ", ".join(map(str, wanted.on))
    message = f"`{wanted.name}` is {wanted.presence} on {on} and forbidden on {', '.join(map(str, refused.on))}"
    return Remark(path, message, "narrow one of the two rules by `on:` or `codes:`")


def _form_contradiction(path: Path, one: HeaderRule, other: HeaderRule) -> Iterator[Remark]:
    """Two rules that ask different things of one value, which no value can be."""
    if not _meet(one, other) or "forbidden" in (one.presence, other.presence):
        return
    if one.equals and other.equals and one.equals != other.equals:
        message = f"`{other.name}` repeats `${one.equals}` and `${other.equals}` on one answer"
    elif one.format and other.format and not compatible(one.format, other.format):
        message = f"`{other.name}` is {' or '.join(one.format)} and {' or '.join(other.format)} on one answer"
    else:
        return
    yield Remark(path, message, "narrow one of the two rules by `on:` or `codes:`")


def compatible(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a value can have both formats; every UUID of a version is a `uuid`."""
    return bool(set(one) & set(other)) or any(
        a.startswith(b) or b.startswith(a) for a in one for b in other
    )


def header_rule_undone(subject: Subject) -> Iterator[Remark]:
    """No header rule is undone by a later one for the same statuses, for the last one decides whether the header is there."""
    rules = subject.taxonomy.headers
    written = subject.data.get("headers", {})
    paths: list[Path] = []
    for name, each in written.items():
        paths += (
            [("headers", name, index) for index in range(len(each))]
            if isinstance(each, list)
            else [("headers", name)]
        )
    for number, (path, rule) in enumerate(zip(paths, rules, strict=True)):
        for later_path, later in zip(paths[number + 1 :], rules[number + 1 :], strict=True):
            wider = all(any(a.covers(b) for a in later.on) for b in rule.on)
            codes_too = not later.codes or (rule.codes and set(rule.codes) <= set(later.codes))
            refused = "forbidden" in (
                rule.presence,
                later.presence,
            )  # that is a contradiction, told elsewhere
            if (
                rule.name == later.name
                and wider
                and codes_too
                and rule.presence != later.presence
                and not refused
            ):
                on = ", ".join(map(str, rule.on))
                message = f"`{rule.name}` is {rule.presence} on {on}, and a later rule makes it {later.presence} there"
                related = (("the later rule is here", later_path),)
                yield Remark(
                    path, message, "put the narrower rule last, or leave one out", related=related
                )
                break


#: Fields that RFC 9110 has for requests only (sections 7.2, 7.6.2, 10.1, 11.6.2, 11.7.2, 13.1 and 14.2).
_CONDITIONAL = frozenset(
    {"if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since"}
)
REQUEST_ONLY = _CONDITIONAL | {
    "authorization",
    "expect",
    "host",
    "max-forwards",
    "proxy-authorization",
    "referer",
    "te",
}


def request_header(subject: Subject) -> Iterator[Remark]:
    """A rule for responses is about a header that responses have."""
    groups: list[tuple[Path, tuple[HeaderRule, ...]]] = [(("headers",), subject.taxonomy.headers)]
    groups += [((*path, "headers"), code.headers) for path, code in codes(subject.taxonomy)]
    for path, rules in groups:
        for name in dict.fromkeys(rule.name for rule in rules):
            if name.lower() in REQUEST_ONLY:
                yield Remark(
                    (*path, name),
                    f"`{name}` is a header of requests; no response has it",
                    "remove the rule",
                )


def header_spelling(subject: Subject) -> Iterator[Remark]:
    """A header is spelled one way: as the rules for all errors have it, or as it is first written."""
    found: list[tuple[Path, str]] = [
        (("headers", name), name) for name in subject.data.get("headers", {})
    ]
    for path, code in codes(subject.taxonomy):
        found += [((*path, "headers", rule.name), rule.name) for rule in code.headers]
        for index, example in enumerate(code.examples):
            found += [
                ((*example_path(subject, path, index), "headers", name), name)
                for name in example.headers
            ]
    first: dict[str, str] = {}
    for path, name in found:
        usual = first.setdefault(name.lower(), name)
        if usual != name:
            message = f"`{name}` is spelled `{usual}` elsewhere"
            yield Remark(path, message, f"write `{usual}`", remedy=Remedy("write", usual))


def unreachable_header_rule(subject: Subject) -> Iterator[Remark]:
    """A code's header rule is for a status the code travels under."""
    for path, code in codes(subject.taxonomy):
        for rule in code.headers:
            if rule.on and not any(map(rule.spans, code.http.all())):
                message = f"`{code.name}` never travels as {', '.join(map(str, rule.on))}"
                hint = f"its statuses are {', '.join(map(str, code.http.statuses)) or 'none'}"
                yield Remark((*path, "headers", rule.name), message, hint)


def statuses_of(taxonomy: Taxonomy, status: int) -> Iterator[tuple[Path, Code]]:
    """The live codes that may travel as `status`."""
    return ((path, code) for path, code in live(taxonomy) if code.http.allows(status))
