"""The sections after the codes: one for each construct that a taxonomy declares beside them."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from faultspec.language.model import Code, Match, Publication, Surface, Taxonomy, Term
from faultspec.runtime import durations
from faultspec.targets import schema as schemas
from faultspec.targets.json_text import json as json_text
from faultspec.targets.jsonschema import definition
from faultspec.targets.markdown import words
from faultspec.targets.markdown.codes import Anchors, lifecycle
from faultspec.targets.markdown.text import bullets, data, fence, heading, inline, link, table
from faultspec.targets.markdown.text import code as typed
from faultspec.targets.model import phrase

Section = Callable[[Taxonomy, Anchors], list[str]]


def every(
    taxonomy: Taxonomy, gone: list[tuple[str | None, Code]], anchors: Anchors
) -> Iterator[list[str]]:
    """The sections in their order; those without declarations are empty. ``gone``: codes that no
    service sends.
    """
    yield _titled("gone", "Codes that no service sends", _gone(gone, anchors))
    for kind, title, make in _SECTIONS:
        yield _titled(kind, title, make(taxonomy, anchors))


def _titled(kind: str, title: str, lines: list[str]) -> list[str]:
    return [*heading(2, title, f"section:{kind}"), *lines] if lines else []


def _gone(gone: list[tuple[str | None, Code]], anchors: Anchors) -> list[str]:
    lines: list[str] = []
    for operation, code in gone:
        label = definition(operation, code)
        lines += [*heading(3, typed(label), label), inline(code.summary), ""]
        lines += bullets(lifecycle(operation, code, anchors))
    return lines


def _entries(kind: str, entries: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Named things, each with a heading."""
    return [
        line
        for name, lines in entries
        for line in (*heading(3, typed(name), f"{kind}:{name}"), *lines)
    ]


def _bulleted(facts: Iterable[str | None]) -> list[str]:
    return bullets(fact for fact in facts if fact)


def _cited(source: str | None) -> str | None:
    return f"Source: {source}" if source else None


def _paragraph(text: str | None) -> list[str]:
    return [inline(text), ""] if text else []


# Vocabularies


def _terms(kind: str, terms: Mapping[str, Term]) -> list[str]:
    rows = (
        (f'<a id="{kind}:{term.name}"></a>{typed(term.name)}', inline(term.summary), term.lifecycle)
        for term in terms.values()
    )
    return table(("name", "meaning", "lifecycle"), rows)


def _domains(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    return _terms("domain", taxonomy.domains)


def _boundaries(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    return _terms("boundary", taxonomy.boundaries)


def _actions(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    return _terms("action", taxonomy.actions)


def _vocabularies(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    return _entries(
        "vocabulary",
        (
            (name, _terms(f"vocabulary:{name}", terms))
            for name, terms in taxonomy.vocabularies.items()
        ),
    )


def _detail_keys(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    rows = (
        (
            f'<a id="detail:{detail_key.name}"></a>{typed(detail_key.name)}',
            data(
                {
                    k: v
                    for k, v in schemas.of_value(detail_key.schema, taxonomy).items()
                    if k != "description"
                }
            ),
            "any" if detail_key.everywhere else "those that declare it",
            inline(detail_key.summary or ""),
        )
        for detail_key in taxonomy.detail_keys.values()
    )
    return table(("detail", "schema", "codes", "meaning"), rows)


# The wire


def _envelopes(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    def entry(name: str) -> list[str]:
        each = taxonomy.envelopes[name]
        lines = [*_paragraph(each.summary), *fence(json_text(each.picture), "json")]
        more = {"forbid": "not allowed", "warn": "a warning", "allow": "allowed"}[each.additional]
        fields = (
            (
                typed(field.slot),
                data(
                    {
                        k: v
                        for k, v in schemas.of_value(field.schema, taxonomy).items()
                        if k != "description"
                    }
                ),
                _field(field.echo, field.invalid_inbound, field.mirror),
            )
            for field in each.fields.values()
        )
        media = [f"Media type: {typed(media)}" for media in each.media_types]
        lines += bullets([*media, f"Other members: {more}"])
        lines += table(("slot", "schema", "headers"), fields)
        lines += _bulleted([_cited(words.source(each.source))])
        return lines

    return _entries("envelope", ((name, entry(name)) for name in taxonomy.envelopes))


def _field(echo: str | None, invalid: str, mirror: str | None) -> str:
    parts = [f"echoes {typed(echo)}; a malformed one: {invalid}"] if echo else []
    return "; ".join([*parts, *([f"repeated in {typed(mirror)}"] if mirror else [])])


def _surfaces(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    return _entries(
        "surface", ((surface.name, _surface(surface)) for surface in taxonomy.surfaces.values())
    )


def _detection(surface: Surface) -> Iterator[str]:
    """The marks of an error on a surface."""
    if surface.error_when:
        yield f"An answer is an error under {' or '.join(map(str, surface.error_when))}"
    if surface.error_pointer is not None:
        yield f"It is an error if it has {typed(surface.error_pointer)}"
    for pointer, value in surface.error_equals.items():
        yield f"It is an error if {typed(pointer)} is {data(value)}"


def _envelopes_of(surface: Surface) -> Iterator[str]:
    """The envelopes of a surface, their place, and the codes in them."""
    for name in surface.envelopes:
        yield f"Envelope: {link(typed(name), f'envelope:{name}')}"
    if surface.at:
        yield f"The envelope stands at {typed(surface.at)}"
    if surface.reason:
        yield f"{'Or none' if surface.envelopes else 'No envelope'}: {inline(surface.reason)}"
    if surface.foreign:
        yield "Its codes are another namespace's"
    elif surface.envelopes:
        yield "Undeclared codes may come" if surface.codes is None else "Declared codes only"
    if surface.default_status is not None:
        yield f"Codes without a status come as {surface.default_status}"


def _batch(surface: Surface) -> Iterator[str]:
    """The places of the outcomes of a batch."""
    if surface.batch is not None:
        places = (
            ("Outcomes", surface.batch.items),
            ("their status", surface.batch.status),
            ("their body", surface.batch.body),
        )
        for part, pointers in places:
            yield f"{part}: {' or '.join(map(data, pointers))}"


def _demands(surface: Surface) -> Iterator[str]:
    """The members that errors and successes have, and how binding the rules are."""
    for name in surface.requires_details:
        yield f"Every error has {typed(f'details.{name}')}"
    for pointer, member in surface.success.items():
        yield f"Every success has {typed(pointer)} ({member.presence})"
    if surface.repeats:
        yield f"Repeats the errors of {link(typed(surface.repeats), f'surface:{surface.repeats}')}"
    if surface.sink:
        yield f"Written to {typed(surface.sink)}"
    if surface.level == "should":
        yield "A should, not a must"
    if surface.protocol is not None:
        envelope = surface.protocol.envelope
        yield f"Errors of the protocol: {link(typed(envelope), f'envelope:{envelope}')}"


def _surface(each: Surface) -> list[str]:
    facts = [
        f"Transport: {each.transport}",
        *_match(each.match),
        *_detection(each),
        *_envelopes_of(each),
        *_batch(each),
        *_demands(each),
    ]
    source = words.source(each.source)
    lines = bullets([*facts, *([f"Source: {source}"] if source else [])])
    if each.protocol is not None:
        rows = (
            (
                str(span.low) if span.low == span.high else f"{span.low} to {span.high}",
                inline(span.summary),
            )
            for span in each.protocol.codes
        )
        lines += table(("number", "when"), rows)
    return lines


def _match(match: Match) -> list[str]:
    facts = [f"Route: {typed(route)}" for route in match.routes]
    facts += [f"Status: {status}" for status in match.statuses]
    facts += [f"Tool: {typed(tool)}" for tool in match.tools]
    facts += [f"Method: {typed(method)}" for method in match.methods]
    return facts + [
        f"Where the request has at {typed(pointer)}: {' or '.join(map(data, values))}"
        for pointer, values in match.request.items()
    ]


def _operations(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    def entry(name: str) -> list[str]:
        each = taxonomy.operations[name]
        facts = [f"Called {typed(each.wire)}"] if each.wire != name else []
        facts += _match(each.match)
        if each.idempotent is not None:
            facts.append("Idempotent" if each.idempotent else "Not idempotent")
        facts += [f"May answer {anchors.code(code)}" for code in each.codes or ()]
        facts += [f"Has {anchors.code(code, name)}" for code in each.errors]
        source = words.source(each.source)
        return [
            *_paragraph(each.summary),
            *bullets([*facts, *([f"Source: {source}"] if source else [])]),
        ]

    return _entries("operation", ((name, entry(name)) for name in taxonomy.operations))


def _statuses(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    """The map of codes to statuses read backwards, one row for each pair; fallbacks last."""
    pairs = [
        (span.low, span.high, definition(operation, code))
        for operation, code in schemas.live(taxonomy)
        for each in code.http.statuses
        for span in (
            [each]
            if each.width > 10
            else [each._replace(low=s, high=s) for s in range(each.low, each.high + 1)]
        )
    ]
    rows = [
        (
            str(low) if low == high else f"{low}–{high}",
            phrase(low) if low == high else "",
            link(typed(name), name),
        )
        for low, high, name in sorted(pairs, key=lambda pair: pair[:2])
    ]
    rows += [
        (
            f"any other of {fallback.on}",
            inline(fallback.reason),
            anchors.code(fallback.code) if fallback.code else "not sent",
        )
        for fallback in taxonomy.fallbacks
    ]
    return table(("status", "meaning", "code"), rows)


def _headers(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    rows = (
        (
            *words.header_rule(rule),
            ", ".join(map(anchors.code, rule.codes)),
            words.source(rule.source) or "",
        )
        for rule in taxonomy.headers
    )
    return table(("header", "presence", "on", "meaning", "codes", "source"), rows)


# The behaviour of clients and services


def _policies(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    def entry(name: str) -> list[str]:
        each = taxonomy.retry_policies[name]
        facts = list(words.policy(each))
        if each.eligible:
            facts += [f"For {anchors.code(code)}" for code in each.eligible]
        else:
            using = (
                (operation, code)
                for operation, code in schemas.live(taxonomy)
                if code.retry == name
            )
            facts += [f"For {anchors.code(code.name, operation)}" for operation, code in using]
        for kind in each.policy.kinds:
            of = [anchors.code(code) for code, its in each.kind_of.items() if its == kind]
            facts += [f"Of the kind {typed(kind)}: {', '.join(of)}"] if of else []
        source = words.source(each.source)
        return [
            *_paragraph(each.summary),
            *bullets([*facts, *([f"Source: {source}"] if source else [])]),
        ]

    return _entries("policy", ((name, entry(name)) for name in taxonomy.retry_policies))


def _idempotency(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    rule = taxonomy.idempotency
    if rule is None:
        return []
    return _bulleted(
        [
            f"The request header {typed(rule.key)} names an intent, on {', '.join(rule.methods)}",
            f"A replay repeats {' and '.join(rule.equal)}" if rule.equal else None,
            *(f"A replay repeats the header {typed(header)}" for header in rule.headers),
            f"A replay counts for {durations.render(rule.window)}"
            if rule.window is not None
            else None,
            f"One key with two bodies: {anchors.code(rule.mismatch)}"
            if rule.mismatch
            else "One key with two bodies: unspecified",
            f"An undeclared operation is {rule.default.replace('_', ' ')}",
            _cited(words.source(rule.source)),
        ]
    )


def _upstream(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    rule = taxonomy.upstream
    if rule is None:
        return []
    return _bulleted(
        [
            f"The policy for services behind: {link(typed(rule.retry), f'policy:{rule.retry}')}"
            if rule.retry
            else None,
            f"An undeclared operation is {rule.default.replace('_', ' ')}"
            if rule.default
            else None,
            *(f"The same in each retry: {typed(key)}" for key in rule.keys),
            f"The status of the service behind stands in {typed(f'details.{rule.status}')}"
            if rule.status
            else None,
            _cited(words.source(rule.source)),
        ]
    )


def _unknown(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    facts = []
    for what, rule in (
        ("A code that a client does not know", taxonomy.unknown),
        ("An error that a service did not declare", taxonomy.undeclared),
    ):
        if rule is not None:
            again = "may be sent again" if rule.retriable else "is not sent again"
            kept = (
                f"; its code is kept at {typed(rule.original_code)}" if rule.original_code else ""
            )
            facts.append(f"{what} is {anchors.code(rule.becomes)}, and {again}{kept}")
    if taxonomy.imported is not None:
        again = "may be sent again" if taxonomy.imported.retriable else "is not sent again"
        form = typed(taxonomy.imported.pattern)
        facts.append(
            f"A code made of a status has the form {form}. Its operation declares it, and {again}"
        )
    return bullets(facts)


def _privacy(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    rule = taxonomy.privacy
    if rule is None:
        return []
    facts = [f"Never in an error: {inline(detector)}" for detector in rule.detectors]
    facts += [f"Never comes back: the {inline(each)} of the caller" for each in rule.never_echoed]
    facts += [f"Stays inside: {typed(name)}" for name in rule.internal_names]
    for concealment in rule.conceal:
        never = (
            f", never {' or '.join(map(anchors.code, concealment.never))}"
            if concealment.never
            else ""
        )
        answer = anchors.code(concealment.answer)
        facts.append(f"A resource of another {concealment.across} is answered {answer}{never}")
    return _bulleted([*facts, _cited(words.source(rule.source))])


def _telemetry(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    found = taxonomy.telemetry
    if found is None:
        return []
    metrics = (
        (
            typed(metric.name),
            metric.kind,
            metric.counts or "",
            ", ".join(map(typed, metric.labels)),
            inline(metric.summary),
        )
        for metric in found.metrics.values()
    )
    repeated = {name: typed(fact) for name, fact in found.means.items()}
    log = (
        (
            typed(each.name),
            each.presence,
            repeated.get(each.name, ""),
            inline(each.schema.description or ""),
        )
        for each in found.log.values()
    )
    spans = (
        (typed(name), repeated.get(name, ""), inline(text)) for name, text in found.span.items()
    )
    lines = table(("metric", "kind", "counts", "labels", "meaning"), metrics)
    lines += table(("log member", "presence", "repeats", "meaning"), log)
    lines += table(("span attribute", "repeats", "meaning"), spans)
    for alert in found.alerts.values():
        steps = [f"{number}. {inline(step)}" for number, step in enumerate(alert.runbook, 1)]
        lines += [
            *heading(3, f"Alert {typed(alert.name)}", f"alert:{alert.name}"),
            f"{inline(alert.severity)}: {inline(alert.when)}",
            "",
        ]
        lines += bullets(
            [
                *(f"Counts {anchors.code(code)}" for code in alert.codes),
                *(f"Counts {status}" for status in alert.statuses),
            ]
        )
        lines += ["What to do:", "", *steps, ""]
        lines += _bulleted([_cited(words.source(alert.source))])
    return lines


# Beside the errors


def _renderings(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    def entry(name: str) -> list[str]:
        each = taxonomy.renderings[name]
        given = (f"{typed(parameter)}: {inline(text)}" for parameter, text in each.given.items())
        return [
            *_paragraph(each.summary),
            *fence(json_text(each.picture), "json"),
            *bullets(given),
            *_bulleted([_cited(words.source(each.source))]),
        ]

    return _entries("rendering", ((name, entry(name)) for name in taxonomy.renderings))


def _audit(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    found = taxonomy.audit
    if found is None:
        return []
    lookup = found.lookup
    lines = _bulleted(
        [
            f"A record for every {found.per}",
            f"Its id stands in {typed('$' + found.id)}" if found.id else None,
            f"Records are read by {typed(lookup.request)}" if lookup else None,
            f"They are listed at {data(lookup.items)}" if lookup else None,
            f"Each has its id at {typed(lookup.id)}" if lookup and lookup.id else None,
            f"In order: {lookup.order.replace('-', ' ')}" if lookup and lookup.order else None,
            _cited(words.source(found.source)),
        ]
    )
    rows = (
        (
            typed(each.name),
            each.presence,
            data(
                {
                    k: v
                    for k, v in schemas.of_value(each.schema, taxonomy).items()
                    if k != "description"
                }
            ),
            typed(found.means[each.name]) if each.name in found.means else "",
        )
        for each in found.record.values()
    )
    return [*lines, *table(("member", "presence", "schema", "repeats"), rows)]


def _discovery(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    return _entries(
        "publication", ((each.name, _publication(each)) for each in taxonomy.discovery.values())
    )


def _publication(each: Publication) -> list[str]:
    empty = {"list": "an empty list", "absent": "not there", "null": "null"}[each.empty]
    return _bulleted(
        [
            f"{typed(each.request)} publishes {each.kind}, listed at {data(each.at)}",
            *(f"An item keeps its {key} at {typed(pointer)}" for key, pointer in each.item.items()),
            f"Where there is nothing to list, it is {empty}",
            _cited(words.source(each.source)),
        ]
    )


def _navigation(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    rule = taxonomy.navigation
    if rule is None:
        return []
    return _bulleted(
        [
            f"{typed(rule.offers)} lists the offered actions; {typed(rule.takes)} takes one",
            f"What exists and is not offered: {anchors.code(rule.refused)}",
            f"What does not exist: {anchors.code(rule.unknown)}" if rule.unknown else None,
            f"All there is stands in {typed('$' + rule.all)}" if rule.all else None,
            _cited(words.source(rule.source)),
        ]
    )


# Why


def _rulings(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    def entry(name: str) -> list[str]:
        each = taxonomy.rulings[name]
        statements = f"On {', '.join(map(inline, each.statements))}" if each.statements else None
        return _bulleted(
            [
                statements,
                f"What is contradicted or left open: {inline(each.conflict)}",
                f"Decision: {inline(each.decision)}",
                f"Reason: {inline(each.reason)}",
            ]
        )

    return _entries("ruling", ((name, entry(name)) for name in taxonomy.rulings))


def _obligations(taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    rows = (
        (
            typed(obligation.name),
            inline(obligation.text),
            inline(obligation.reason),
            words.source(obligation.source) or "",
        )
        for obligation in taxonomy.obligations.values()
    )
    return table(("name", "obligation", "why it cannot be checked from outside", "source"), rows)


_SECTIONS: tuple[tuple[str, str, Section], ...] = (
    ("statuses", "HTTP statuses", _statuses),
    ("operations", "Operations", _operations),
    ("envelopes", "Envelopes", _envelopes),
    ("surfaces", "Surfaces", _surfaces),
    ("headers", "Headers by status", _headers),
    ("details", "Details keys", _detail_keys),
    ("domains", "Domains", _domains),
    ("boundaries", "Boundaries", _boundaries),
    ("actions", "Recovery actions", _actions),
    ("vocabularies", "Vocabularies", _vocabularies),
    ("policies", "Retry policies", _policies),
    ("upstream", "Calls to services behind", _upstream),
    ("idempotency", "Idempotency", _idempotency),
    ("unknown", "Undeclared codes", _unknown),
    ("privacy", "Privacy", _privacy),
    ("telemetry", "Telemetry", _telemetry),
    ("renderings", "Renderings", _renderings),
    ("audit", "Audit", _audit),
    ("discovery", "Discovery", _discovery),
    ("navigation", "Navigation", _navigation),
    ("rulings", "Rulings", _rulings),
    ("obligations", "Obligations", _obligations),
)
