"""Lint rules about declarations in general: whether they are used, and how statements are cited."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from faultspec.diagnostics.model import Path
from faultspec.language.model import Schema, Taxonomy
from faultspec.language.scope import word_tuple
from faultspec.lint.places import slots_of
from faultspec.lint.rule import Remark, Subject, rule


@rule("unused-declaration", severity="warning")
def unused_declaration(subject: Subject) -> Iterator[Remark]:
    """Every declared term, vocabulary, envelope, retry policy, detail key and ruling is used.

    Bad::

        domains: {request: The client can fix it., runtime: The service can fix it.}
        codes:
          failed: {summary: It failed., http: 500, domain: runtime}

    Good::

        domains:
          request: {summary: The client can fix it., lifecycle: reserved}
          runtime: The service can fix it.
        codes:
          failed: {summary: It failed., http: 500, domain: runtime}
    """
    taxonomy = subject.taxonomy
    terms = {
        "domains": taxonomy.domains,
        "boundaries": taxonomy.boundaries,
        "actions": taxonomy.actions,
    }
    declared: Mapping[str, Iterable[str]] = {
        **terms,
        "vocabularies": taxonomy.vocabularies,
        "envelopes": taxonomy.envelopes if taxonomy.surfaces else (),
        "retry_policies": taxonomy.retry_policies,
        "detail_keys": taxonomy.detail_keys,
        "rulings": taxonomy.rulings,
    }
    for section, (noun, find_used) in _USES.items():
        hint = "name it under `source: {ruling: …}`" if noun == "ruling" else "use it, or remove it"
        hint += ", or write `lifecycle: reserved`" if section in terms else ""
        used = {*find_used(subject)}
        for name in declared[section]:
            term = terms[section][name] if section in terms else None
            if name not in used and (term is None or term.lifecycle == "stable"):
                yield Remark((section, name), f"the {noun} `{name}` is not used", hint)


def _used_domains(subject: Subject) -> Iterator[str | None]:
    return (code.domain for code in subject.taxonomy.every_code())


def _used_boundaries(subject: Subject) -> Iterator[str]:
    return (name for code in subject.taxonomy.every_code() for name in code.boundaries)


def _used_actions(subject: Subject) -> Iterable[str | None]:
    taxonomy = subject.taxonomy
    used = {action for _, code in taxonomy.forms() for action in code.actions}
    used |= {code.retriable.until for code in taxonomy.every_code() if code.retriable.until}
    # Without any use by a code, a slot or field `actions` may hold every action at run time.
    any_action = {*_used_vocabularies(subject), *slots_of(tuple(taxonomy.envelopes.values()))}
    return taxonomy.actions if "actions" in any_action and not used else used


def _used_vocabularies(subject: Subject) -> Iterator[str | None]:
    return (schema.vocabulary for schema in _schemas(subject.taxonomy))


def _schemas(taxonomy: Taxonomy) -> Iterator[Schema]:
    """Every schema of the taxonomy, those inside others included."""
    members = [member for code in taxonomy.every_code() for member in code.details.values()]
    members += taxonomy.telemetry.log.values() if taxonomy.telemetry else ()
    members += taxonomy.audit.record.values() if taxonomy.audit else ()
    for surface in taxonomy.surfaces.values():
        members += surface.success.values()
    roots = [member.schema for member in members]
    roots += [field.schema for field in taxonomy.fields()]
    roots += [key.schema for key in taxonomy.detail_keys.values()]
    return (schema for root in roots for schema in root.nested_schemas())


def _used_envelopes(subject: Subject) -> Iterator[str]:
    for surface in subject.taxonomy.surfaces.values():
        yield from surface.envelopes
        if surface.protocol is not None:
            yield surface.protocol.envelope
    for envelope in subject.data["envelopes"].values():
        yield from _uses(envelope["shape"])


def _uses(shape: object) -> Iterator[str]:
    """The envelopes that a shape takes over with `use:`."""
    if isinstance(shape, dict):
        if len(shape) == 1 and isinstance(shape.get("use"), str):
            yield shape["use"]
        shape = list(shape.values())
    for item in shape if isinstance(shape, list) else ():
        yield from _uses(item)


def _used_retry_policies(subject: Subject) -> Iterator[str | None]:
    taxonomy = subject.taxonomy
    yield from (code.retry for code in taxonomy.every_code())
    yield from (name for name, policy in taxonomy.retry_policies.items() if policy.eligible)
    yield taxonomy.upstream.retry if taxonomy.upstream else None


def _used_detail_keys(subject: Subject) -> Iterator[str | None]:
    taxonomy = subject.taxonomy
    for code in taxonomy.every_code():
        yield from code.details
        yield code.deadline.detail if code.deadline else None
        for fact in (*code.http.reads, *code.retriable.reads):
            yield fact.removeprefix("details.")
    for surface in taxonomy.surfaces.values():
        yield from surface.requires_details
        yield surface.bad_items
    yield from (policy.annotate for policy in taxonomy.retry_policies.values())
    yield taxonomy.upstream.status if taxonomy.upstream else None
    yield from (key.name for key in taxonomy.detail_keys.values() if key.everywhere)


def _used_rulings(subject: Subject) -> Iterator[str]:
    for _, source in _sources(subject.data):
        yield from word_tuple(source.get("ruling")) if isinstance(source, dict) else ()


#: What messages call an entry of a section, and the function that finds the names in use.
_USES: Mapping[str, tuple[str, Callable[[Subject], Iterable[str | None]]]] = {
    "domains": ("domain", _used_domains),
    "boundaries": ("boundary", _used_boundaries),
    "actions": ("action", _used_actions),
    "vocabularies": ("vocabulary", _used_vocabularies),
    "envelopes": ("envelope", _used_envelopes),
    "retry_policies": ("retry policy", _used_retry_policies),
    "detail_keys": ("detail key", _used_detail_keys),
    "rulings": ("ruling", _used_rulings),
}


def _sources(value: object) -> Iterator[tuple[Path, object]]:
    """Every `source:` of the document with its path."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key == "source":
                yield (key,), entry
            else:
                yield from (((key, *path), source) for path, source in _sources(entry))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from (((index, *path), source) for path, source in _sources(item))


@rule("statement-spelling", severity="warning")
def statement_spelling(subject: Subject) -> Iterator[Remark]:
    """Every citation of a statement spells its id in the same way.

    Bad::

        codes:
          refused: {summary: It was refused., http: 400, source: [C7, C9]}
          failed: {summary: It failed., http: 500, source: [C7, c-9]}
          busy: {summary: Too much to do., http: 503, source: [C7, C9]}

    Good::

        codes:
          refused: {summary: It was refused., http: 400, source: [C7, C9]}
          failed: {summary: It failed., http: 500, source: [C7, C9]}
    """
    cited: list[tuple[Path, str]] = []
    for path, source in _sources(subject.data):
        statements = source.get("statement") if isinstance(source, dict) else source
        cited += [(path, word) for word in word_tuple(statements)]
    for name, ruling in subject.mapping_at("rulings").items():
        cited += [
            (("rulings", name, "statements"), id) for id in word_tuple(ruling.get("statements"))
        ]
    usual: dict[str, str] = {}
    for statement, _ in Counter(statement for _, statement in cited).most_common():
        usual.setdefault(_letters(statement), statement)
    for path, statement in cited:
        other = usual[_letters(statement)]
        if other != statement:
            message = f"`{statement}` is cited as `{other}` elsewhere"
            yield Remark(path, message, f"write `{other}`", on_key=False)


def _letters(statement: str) -> str:
    return re.sub(r"[\W_]+", "", statement).casefold()


@rule("extensible-nowhere", severity="warning")
def extensible_nowhere(subject: Subject) -> Iterator[Remark]:
    """Every path of `extensible` exists in the taxonomy.

    Bad::

        extensible: [codes.broken.message]
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        extensible: [codes, codes.*.summary]
        codes:
          failed: {summary: It failed., http: 500}
    """
    for index, text in enumerate(subject.data.get("extensible", ())):
        found: list[object] = [subject.data]
        for step in text.split("."):
            mappings = [value for value in found if isinstance(value, dict)]
            found = [
                value for entry in mappings for key, value in entry.items() if step in ("*", key)
            ]
        if not found and "." in text:
            message = f"`{text}`: the taxonomy has nothing at that path"
            hint = "correct the path, or remove it"
            yield Remark(("extensible", index), message, hint, on_key=False)


@rule("allowed-nothing", severity="warning")
def allowed_nothing(subject: Subject) -> Iterator[Remark]:
    """Each path that a ruling allows to decide otherwise is one of the taxonomy.

    Bad::

        rulings:
          failure-status:
            {conflict: It may be 500 or 503., decision: It is 500., reason: It is common.,
             allows: [codes.failure.http]}
        codes:
          failed: {summary: It failed., http: 500, source: {ruling: failure-status}}

    Good::

        rulings:
          failure-status:
            {conflict: It may be 500 or 503., decision: It is 500., reason: It is common.,
             allows: [codes.failed.http]}
        codes:
          failed: {summary: It failed., http: 500, source: {ruling: failure-status}}
    """
    for ruling in subject.taxonomy.rulings.values():
        for index, path in enumerate(ruling.allows):
            *above, _ = path.split(".")
            if not _mappings_at(subject.data, above):
                message = f"the taxonomy has nothing at `{'.'.join(above)}`"
                hint = "correct the path, or remove it"
                where = ("rulings", ruling.name, "allows", index)
                yield Remark(where, message, hint, on_key=False)


def _mappings_at(data: object, steps: list[str]) -> list[dict[str, Any]]:
    """The mappings at a path, in which `*` stands for any name."""
    found = [data]
    for step in steps:
        inside = [each for each in found if isinstance(each, dict)]
        if step == "*":
            found = [value for each in inside for value in each.values()]
        else:
            found = [each[step] for each in inside if step in each]
    return [each for each in found if isinstance(each, dict)]
