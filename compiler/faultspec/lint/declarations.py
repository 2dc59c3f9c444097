"""Rules on names: what is declared is used, what is used is alive, and what is called alike is meant alike."""

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from faultspec.diagnostics.model import Path
from faultspec.language.model import Schema, Taxonomy
from faultspec.language.scope import word_tuple
from faultspec.lint.places import codes, live, schemas
from faultspec.lint.rule import Remark, Subject
from faultspec.runtime.nodes import slot_places


def unused_declaration(subject: Subject) -> Iterator[Remark]:
    """What is declared is used."""
    taxonomy = subject.taxonomy
    used = _used(taxonomy, subject)
    declared: tuple[tuple[str, str, Iterable[str]], ...] = (
        ("domain", "domains", taxonomy.domains),
        ("boundary", "boundaries", taxonomy.boundaries),
        ("action", "actions", taxonomy.actions),
        ("vocabulary", "vocabularies", taxonomy.vocabularies),
        ("envelope", "envelopes", taxonomy.envelopes if taxonomy.surfaces else ()),
        ("retry policy", "retry_policies", taxonomy.retry_policies),
        ("detail key", "detail_keys", taxonomy.detail_keys),
        ("ruling", "rulings", taxonomy.rulings),
    )
    for what, section, names in declared:
        for name in names:
            if name not in used[section] and not _reserved(taxonomy, section, name):
                hint = (
                    "name it under `source: {ruling: …}`"
                    if what == "ruling"
                    else "use it, or remove it"
                )
                hint += (
                    ", or say `lifecycle: reserved`"
                    if section in ("domains", "boundaries", "actions")
                    else ""
                )
                yield Remark((section, name), f"nothing uses the {what} `{name}`", hint)


def _reserved(taxonomy: Taxonomy, section: str, name: str) -> bool:
    terms = {
        "domains": taxonomy.domains,
        "boundaries": taxonomy.boundaries,
        "actions": taxonomy.actions,
    }
    return section in terms and terms[section][name].lifecycle != "stable"


def _used(taxonomy: Taxonomy, subject: Subject) -> dict[str, set[str]]:
    every = [code for _, code in codes(taxonomy)]
    vocabularies = {
        schema.vocabulary for schema in _schemas(taxonomy) if schema.vocabulary is not None
    }
    slots = {
        slot for envelope in taxonomy.envelopes.values() for slot in slot_places(envelope.shape)
    }
    tests = {
        test.fact
        for code in every
        for rule in (*code.http.rules, *code.retriable.rules)
        for test in rule.when
    }
    details = {
        *(key for code in every for key in code.details),
        *(key for surface in taxonomy.surfaces.values() for key in surface.requires_details),
        *(
            each.batch.bad_items
            for each in taxonomy.surfaces.values()
            if each.batch and each.batch.bad_items
        ),
        *(policy.annotate for policy in taxonomy.retry_policies.values() if policy.annotate),
        *([taxonomy.upstream.status] if taxonomy.upstream and taxonomy.upstream.status else ()),
        *(fact.removeprefix("details.") for fact in tests),
        *(code.deadline.detail for code in every if code.deadline),
        *(key.name for key in taxonomy.detail_keys.values() if key.everywhere),
    }
    actions = {
        *(action for code in every for action in code.actions),
        *(code.retriable.until for code in every if code.retriable.until),
    }
    return {
        "domains": {code.domain for code in every if code.domain},
        "boundaries": {boundary for code in every for boundary in code.boundaries},
        # Actions that only the running system knows are a slot of their own or a vocabulary.
        "actions": set(taxonomy.actions)
        if "actions" in vocabularies | slots and not actions
        else actions,
        "vocabularies": vocabularies,
        "envelopes": {
            *(name for each in taxonomy.surfaces.values() for name in each.envelopes),
            *(each.protocol.envelope for each in taxonomy.surfaces.values() if each.protocol),
            *(name for each in subject.data["envelopes"].values() for name in _uses(each["shape"])),
        },
        "retry_policies": {
            *(code.retry for code in every if code.retry),
            *(name for name, each in taxonomy.retry_policies.items() if each.eligible),
            *({taxonomy.upstream.retry} if taxonomy.upstream and taxonomy.upstream.retry else ()),
        },
        "detail_keys": details,
        "rulings": set(_rulings(subject.data)),
    }


def _schemas(taxonomy: Taxonomy) -> Iterator[Schema]:
    roots = [
        *(
            field.schema
            for envelope in taxonomy.envelopes.values()
            for field in envelope.fields.values()
        ),
        *(key.schema for key in taxonomy.detail_keys.values()),
        *(member.schema for _, code in codes(taxonomy) for member in code.details.values()),
        *(
            member.schema
            for member in (taxonomy.telemetry.log.values() if taxonomy.telemetry else ())
        ),
        *(member.schema for member in (taxonomy.audit.record.values() if taxonomy.audit else ())),
        *(
            member.schema
            for surface in taxonomy.surfaces.values()
            for member in surface.success.values()
        ),
    ]
    for root in roots:
        yield from schemas(root)


def _uses(picture: object) -> Iterator[str]:
    """The shapes that a picture takes over with `use:`."""
    if isinstance(picture, dict) and len(picture) == 1 and isinstance(picture.get("use"), str):
        yield picture["use"]
    items = (
        picture.values()
        if isinstance(picture, dict)
        else picture
        if isinstance(picture, list)
        else ()
    )
    for item in items:
        yield from _uses(item)


def _sources(value: object) -> Iterator[tuple[Path, object]]:
    """Every `source:` of the document with its path."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "source":
                yield (key,), each
            else:
                yield from (((key, *path), source) for path, source in _sources(each))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from (((index, *path), source) for path, source in _sources(each))


def _rulings(data: object) -> Iterator[str]:
    return (
        name
        for _, each in _sources(data)
        if isinstance(each, dict)
        for name in word_tuple(each.get("ruling"))
    )


def statement_spelling(subject: Subject) -> Iterator[Remark]:
    """A statement is cited by one spelling of its id."""
    cited: list[tuple[Path, str]] = []
    for path, source in _sources(subject.data):
        statements = source.get("statement") if isinstance(source, dict) else source
        cited += [(path, word) for word in word_tuple(statements)]
    for name, each in subject.data.get("rulings", {}).items():
        cited += [
            (("rulings", name, "statements"), str(statement))
            for statement in each.get("statements", ())
        ]
    spellings = Counter(statement for _, statement in cited)
    usual: dict[str, str] = {}
    for statement, _ in spellings.most_common():
        usual.setdefault(re.sub(r"[\W_]+", "", statement).casefold(), statement)
    for path, statement in cited:
        other = usual[re.sub(r"[\W_]+", "", statement).casefold()]
        if other != statement:
            yield Remark(
                path,
                f"`{statement}` is cited elsewhere as `{other}`",
                f"write `{other}`",
                on_key=False,
            )


#: What ECMAScript 2025 and TypeScript keep for themselves, beside the keywords of Python.
_TYPESCRIPT = """
    case catch const debugger default delete do enum export extends function implements instanceof interface let new null
    package private protected public static super switch this throw typeof undefined var void
"""
_RESERVED = frozenset((*keyword.kwlist, *_TYPESCRIPT.split()))

#: Words that are capitalised as classes are.
_CONSTANTS = frozenset({"none", "true", "false"})


def reserved_name(subject: Subject) -> Iterator[Remark]:
    """Names become identifiers of generated code, so none is a word of Python or TypeScript.

    Codes become classes and constants, which are spelled otherwise than most words.
    """
    taxonomy = subject.taxonomy
    names: list[tuple[Path, str]] = [(("taxonomy", "name"), taxonomy.name)]
    for path, code in codes(taxonomy):
        if code.name in _RESERVED or code.name.lower() in _CONSTANTS:
            yield _reserved_word(path, code.name)
        written = subject.data
        for step in path:
            written = written[str(step)]
        names += [
            ((*path, "details", key), key.removesuffix("?")) for key in written.get("details", {})
        ]
    names += [(("detail_keys", name), name) for name in taxonomy.detail_keys]
    for path, name in names:
        if name in _RESERVED:
            yield _reserved_word(path, name)


def _reserved_word(path: Path, name: str) -> Remark:
    message = f"`{name}` is a word of Python or TypeScript"
    return Remark(path, message, "choose another name", on_key=path != ("taxonomy", "name"))


def name_collision(subject: Subject) -> Iterator[Remark]:
    """Names that differ only by case or underscores become the same identifier in generated code."""
    taxonomy = subject.taxonomy
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("codes", taxonomy.codes),
        ("detail_keys", taxonomy.detail_keys),
        ("envelopes", taxonomy.envelopes),
        ("surfaces", taxonomy.surfaces),
    )
    for section, names in sections:
        seen: dict[str, str] = {}
        for name in names:
            first = seen.setdefault(name.replace("_", "").casefold(), name)
            if first != name:
                yield Remark(
                    (section, name),
                    f"`{name}` and `{first}` differ only by case or underscores",
                    "rename one of the two",
                    related=((f"`{first}` is here", (section, first)),),
                )


_SPELLINGS = (
    ("lower_snake_case", re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")),
    ("UPPER_SNAKE_CASE", re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")),
    ("PascalCase", re.compile(r"([A-Z][a-z0-9]*)+")),
    ("camelCase", re.compile(r"[a-z][a-z0-9]*([A-Z][a-z0-9]*)*")),
)


def mixed_spelling(subject: Subject) -> Iterator[Remark]:
    """All codes are spelled one way."""
    names = tuple(subject.taxonomy.codes)
    if len(names) < 2:
        return
    fitting = {
        style: [name for name in names if pattern.fullmatch(name)] for style, pattern in _SPELLINGS
    }
    style, matching = max(fitting.items(), key=lambda item: len(item[1]))
    if len(matching) * 2 <= len(names):
        return  # no style has a majority that the others could follow
    for name in names:
        if name not in matching:
            yield Remark(
                ("codes", name),
                f"`{name}` is not {style}, as the other codes are",
                f"spell it in {style}",
            )


# Lifecycles


def dead_reference(subject: Subject) -> Iterator[Remark]:
    """What is fallen back on, or named in a list of codes, is a code that a service may produce."""
    taxonomy = subject.taxonomy
    references: list[tuple[Path, str]] = []
    for section, rule in (("unknown", taxonomy.unknown), ("undeclared", taxonomy.undeclared)):
        if rule is not None:
            references.append(((section, "becomes"), rule.becomes))
    for key, fallback in zip(subject.data.get("fallback", {}), taxonomy.fallbacks, strict=False):
        if fallback.code is not None:
            references.append((("fallback", key, "code"), fallback.code))
    if taxonomy.idempotency is not None and taxonomy.idempotency.mismatch is not None:
        references.append((("idempotency", "mismatch"), taxonomy.idempotency.mismatch))
    for index, each in enumerate(taxonomy.privacy.conceal if taxonomy.privacy else ()):
        references.append((("privacy", "conceal", index, "answer"), each.answer))
    references += [
        ((*path, "replaced_by"), code.replaced_by)
        for path, code in codes(taxonomy)
        if code.replaced_by is not None
    ]
    lifecycles = {code.name: code.lifecycle for _, code in codes(taxonomy)}
    alive = {code.name for _, code in live(taxonomy)}
    for path, name in references:
        if name not in alive:
            message = f"`{name}` is {lifecycles[name]}: no service may answer with it"
            yield Remark(path, message, "name a live code", on_key=False)
    for path, name in _listed(subject.data):
        # A reserved code may be listed before it is in use; a removed one is in nobody's.
        if name not in alive and lifecycles.get(name) == "removed":
            message = f"`{name}` is removed: no service may answer with it"
            yield Remark(path, message, "take it off the list", on_key=False)


def _listed(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Every code that a list of codes names, as it is written."""
    lists: list[tuple[Path, object]] = [
        *(
            ((section, name, "codes"), each.get("codes"))
            for section in ("surfaces", "operations")
            for name, each in data.get(section, {}).items()
        ),
        *(
            (("retry_policies", name, "eligible"), each.get("eligible"))
            for name, each in data.get("retry_policies", {}).items()
        ),
        *(
            (("retry_policies", name, "kinds", kind, "codes"), each.get("codes"))
            for name, policy in data.get("retry_policies", {}).items()
            for kind, each in policy.get("kinds", {}).items()
        ),
        *(
            (("telemetry", "alerts", name, "codes"), each.get("codes"))
            for name, each in data.get("telemetry", {}).get("alerts", {}).items()
        ),
        *(
            (("privacy", "conceal", index, "never"), each.get("never"))
            for index, each in enumerate(data.get("privacy", {}).get("conceal", ()))
        ),
    ]
    for name, written in data.get("headers", {}).items():
        alone: Path = ("headers", name)
        rules = enumerate(written) if isinstance(written, list) else ((None, written),)
        lists += [
            ((*alone, *(() if index is None else (index,)), "codes"), rule.get("codes"))
            for index, rule in rules
        ]
    for path, named in lists:
        if isinstance(named, list):
            yield from (((*path, index), str(each)) for index, each in enumerate(named))


def deprecated_without_successor(subject: Subject) -> Iterator[Remark]:
    """Who is told that a code goes away is told when, or what takes its place."""
    for path, code in codes(subject.taxonomy):
        if code.lifecycle == "deprecated" and code.replaced_by is None and code.sunset is None:
            message = (
                f"`{code.name}` is deprecated, and nothing says when it ends or what comes instead"
            )
            yield Remark((*path, "lifecycle"), message, "add `sunset:` or `replaced_by:`")


def sunset_of_stable(subject: Subject) -> Iterator[Remark]:
    """A code that stops being produced on a day is deprecated until then."""
    for path, code in codes(subject.taxonomy):
        if code.sunset is not None and code.lifecycle == "stable":
            message = f"`{code.name}` is stable, and is not produced after {code.sunset}"
            yield Remark(
                (*path, "sunset"), message, "add `lifecycle: deprecated`, or leave the day out"
            )


def since_later_version(subject: Subject) -> Iterator[Remark]:
    """No live code came with a version that is still to come."""
    now = _version(subject.taxonomy.version)
    for path, code in live(subject.taxonomy):
        since = _version(code.since or "")
        if since is not None and now is not None and since > now:
            message = (
                f"`{code.name}` came with {code.since}, and this is {subject.taxonomy.version}"
            )
            hint = (
                "raise the version of the taxonomy, correct `since:`, or say `lifecycle: reserved`"
            )
            yield Remark((*path, "since"), message, hint, on_key=False)


def _version(text: str) -> tuple[int, ...] | None:
    """The three numbers of a semantic version, or None for what is none."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)(?![.\d])", text)
    return tuple(map(int, found.groups())) if found else None


def replacement_circle(subject: Subject) -> Iterator[Remark]:
    """Following `replaced_by` comes to an end."""
    successors = {code.name: code.replaced_by for _, code in codes(subject.taxonomy)}
    for path, code in codes(subject.taxonomy):
        walked = [code.name]
        following = code.replaced_by
        while following is not None and following not in walked:
            walked.append(following)
            following = successors.get(following)
        if following == code.name:
            message = f"`{code.name}` is replaced, in the end, by itself: {' → '.join((*walked, code.name))}"
            yield Remark(
                (*path, "replaced_by"), message, "end the chain at a live code", on_key=False
            )


def removed_with_facts(subject: Subject) -> Iterator[Remark]:
    """A code that is no longer, or not yet, produced names nothing that only a running service could use."""
    for path, code in codes(subject.taxonomy):
        if code.lifecycle == "removed" and (code.retry or code.headers or code.examples):
            yield Remark(
                path,
                f"`{code.name}` is removed; its policy, headers and examples are for nobody",
                "keep the summary only",
            )
