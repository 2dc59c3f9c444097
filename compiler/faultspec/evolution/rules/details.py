"""Evolution rules about details, registered keys and the schemas of values in answers."""

import json
from collections.abc import Iterator, Mapping

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Audience, Effect
from faultspec.evolution.promises import (
    as_argument,
    compare_allowed,
    compare_bound,
    compare_presence,
    compare_promise,
    compare_strictness,
    format_value,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.codes import code_name
from faultspec.language.carriers import carriers
from faultspec.language.model import Code, DetailKey, DetailMember, Schema, Taxonomy
from faultspec.runtime.nodes import Object

_ANNOTATIONS = frozenset({"title", "description", "examples", "default", "$comment"})

#: Keywords of JSON Schema whose lists have no order.
_SETS = frozenset({"required", "enum"})

_SCHEMA_FIELDS = tuple(
    f"Schema.{name}" for name in Schema._fields if name not in ("description", "sensitive")
)


@evolution_rule(
    "details/member",
    "WIRE",
    reads=("Code.details", "DetailMember.presence", "DetailMember.name"),
)
def details_member(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients read the details of a code, and services give them to its constructor. A detail that
    turns required must be given; one that is gone can neither be given nor read."""
    same_keys = evolution.old.detail_keys == evolution.new.detail_keys
    for path, old, new in evolution.code_pairs:
        if same_keys and old.details == new.details:
            continue
        closed = _forbids_more(evolution.old, path, old)
        before, after = effective_details(evolution.old, old), effective_details(evolution.new, new)
        for name in dict.fromkeys((*before, *after)):
            one, other = before.get(name), after.get(name)
            effect = compare_member(
                one, other, f"the detail `{name}` of {code_name(path)}", closed=closed
            )
            if effect is not None:
                covers = ((*path, "details", name), ("detail_keys", name, "everywhere"))
                values = one and one.presence, other and other.presence
                place = (*path, "details", name)
                yield Occurrence(place, _detail_effect(effect, one, other), *values, covers=covers)


def effective_details(taxonomy: Taxonomy, code: Code) -> Mapping[str, DetailMember]:
    """The details of a code, and those that every code may carry."""
    everywhere = {
        key.name: DetailMember(key.name, key.schema, "optional")
        for key in taxonomy.detail_keys.values()
        if key.everywhere
    }
    return {**everywhere, **code.details}


def _detail_effect(
    effect: Effect, before: DetailMember | None, after: DetailMember | None
) -> Effect:
    """The effect on a detail, which constructors take."""
    if before is not None and after is None:
        return effect._replace(breaks=BOTH, categories=("SOURCE", "WIRE"))
    return as_argument(effect) or effect


def _forbids_more(taxonomy: Taxonomy, path: Path, code: Code) -> bool:
    """Whether a client may refuse an answer with details that are not declared."""
    return any(
        envelope.additional == "forbid"
        if isinstance(envelope.shape, Object) and envelope.shape.spread == "details"
        else "details" in envelope.fields and envelope.fields["details"].additional == "forbid"
        for envelope in carriers(taxonomy, code, of_operation=path[0] == "operations")
    )


def compare_member(
    before: DetailMember | None, after: DetailMember | None, what: str, *, closed: bool
) -> Effect | None:
    """The effect on a member of an object. ``closed``: clients may refuse undeclared members."""
    if before is None and after is not None:
        if after.presence == "required":
            hurt: tuple[Audience, ...] = BOTH if closed else ("services",)
            return Effect("breaking", f"{what} is new and required", hurt)
        if closed:
            message = f"{what} is new, and clients may refuse members that were not declared"
            return Effect("breaking", message, ("clients",))
        return Effect("safe", f"{what} is new and {after.presence}", adds=True)
    if after is None and before is not None:
        return Effect("breaking", f"{what} is gone (it was {before.presence})", ("clients",))
    if before is None or after is None:
        return None
    return compare_presence(before.presence, after.presence, what)


@evolution_rule(
    "schema/value",
    "WIRE",
    reads=(*_SCHEMA_FIELDS, "DetailMember.schema", "DetailKey.schema", "Field.schema"),
)
def schema_value(evolution: Evolution) -> Iterator[Occurrence]:
    """The schema of a value promises clients its type, form and range. A wider one surprises
    clients; a narrower one breaks services that send what was allowed until now."""
    inherited = _shared_schemas(evolution)
    for path, old, new in evolution.record_pairs(Schema):
        if path[:1] == ("telemetry",) or _is_inherited(path, inherited):
            continue
        if path[0] == "detail_keys" and path[1] not in inherited:
            continue
        argument = path[0] in ("codes", "detail_keys", "operations") and "properties" not in path
        for field, effect in schema_effects(old, new, _subject(path)):
            values = getattr(old, field), getattr(new, field)
            covers = ((*path, field), *_inheritors(evolution, path))
            whole = field in ("opaque", "properties")  # constructors take an object as a mapping
            judged = (as_argument(effect) or effect) if argument and not whole else effect
            if field == "format" and _is_echoed(evolution, path) and "services" in judged.breaks:
                judged = judged._replace(breaks=BOTH)  # ids of clients no longer come back
            yield Occurrence((*path, field), _readers_effect(path, judged), *values, covers=covers)


def _is_echoed(evolution: Evolution, path: Path) -> bool:
    """Whether a schema is that of a slot that returns a value of the request."""
    if path[0] != "envelopes" or len(path) < 4 or path[2] != "fields":
        return False
    return evolution.old.envelopes[str(path[1])].fields[str(path[3])].echo is not None


def _readers_effect(path: Path, effect: Effect) -> Effect:
    """Records of an audit are read by operators."""
    return as_operators_effect(effect) if path[0] == "audit" else effect


def as_operators_effect(effect: Effect) -> Effect:
    """The effect on what operators read in place of clients."""
    hurt = tuple("operators" if name == "clients" else name for name in effect.breaks)
    return effect._replace(breaks=hurt, categories=("OPS",))


def _shared_schemas(evolution: Evolution) -> frozenset[str]:
    """The keys whose schema changed for every code that takes it from the registry, and for codes
    that carry the key everywhere."""
    found = set()
    for name, key in evolution.old.detail_keys.items():
        after = evolution.new.detail_keys.get(name)
        if after is None or after.schema == key.schema:
            continue
        users = [
            (old.details[name].schema, new.details[name].schema)
            for _, old, new in evolution.code_pairs
            if name in old.details and name in new.details
        ]
        takers = [pair for pair in users if pair == (key.schema, after.schema)]
        if takers or (key.everywhere and after.everywhere):
            found.add(name)
    return frozenset(found)


def _is_inherited(path: Path, inherited: frozenset[str]) -> bool:
    """Whether the schema of a detail is that of its registered key, which is reported instead."""
    if path[0] not in ("codes", "operations") or "details" not in path:
        return False
    return path[path.index("details") + 1] in inherited


def _inheritors(evolution: Evolution, path: Path) -> Iterator[Path]:
    if path[0] == "detail_keys":
        for place, code in evolution.old_codes.items():
            if path[1] in code.details:
                yield (*place, "details", path[1])


def _subject(path: Path) -> str:
    """The subject of a schema in messages: the innermost names of its path."""
    names = [
        str(step) for step in path if step not in ("schema", "properties", "fields", "details")
    ]
    if path[0] == "detail_keys":
        return f"the detail `{'.'.join(names[1:])}`"
    if path[0] in ("codes", "operations"):
        own = 2 if path[0] == "codes" else 4
        return f"the detail `{'.'.join(names[own:])}` of {code_name(path)}"
    return f"`{'.'.join(names[1:])}`"


def schema_effects(old: Schema, new: Schema, what: str) -> Iterator[tuple[str, Effect]]:
    """The effects of each field, but for nested schemas, which are pairs of their own."""
    comparisons = {
        **{field: _compare_field(field, old, new, what) for field in _LABELS},
        "items": compare_promise(
            old.items and "limited", new.items and "limited", f"the items of {what}"
        ),
        "additional": compare_strictness(old.additional, new.additional, what),
    }
    yield from ((field, effect) for field, effect in comparisons.items() if effect is not None)
    closed = old.additional == "forbid"
    for name in dict.fromkeys((*old.properties, *new.properties)):
        before, after = old.properties.get(name), new.properties.get(name)
        member = compare_member(before, after, f"`{name}` of {what}", closed=closed)
        if member is not None:
            yield "properties", member
    imported = compare_imported(old.opaque, new.opaque, what)
    if imported is not None:
        yield "opaque", imported


_LABELS = {
    "types": "type",
    "format": "format",
    "enum": "value",
    "pattern": "pattern",
    "vocabulary": "vocabulary",
    "minimum": "least number",
    "maximum": "greatest number",
    "min_length": "least length",
    "max_length": "greatest length",
}


def _compare_field(field: str, old: Schema, new: Schema, what: str) -> Effect | None:
    before, after, label = (
        getattr(old, field),
        getattr(new, field),
        f"the {_LABELS[field]} of {what}",
    )
    if field in ("types", "format", "enum"):
        return compare_allowed(before, after, label, any_if_empty=True)
    if field == "pattern" and before and after and _continues(before, after):
        return Effect("breaking", f"{label} is narrower: {format_value(after)}", ("services",))
    if field in ("pattern", "vocabulary"):
        return compare_promise(before, after, label)
    return compare_bound(before, after, label, upper=field.startswith("max"))


def _continues(before: str, after: str) -> bool:
    """Whether a pattern demands what another one does, and more after it."""
    return before.startswith("^") and not before.endswith("$") and after.startswith(before)


def compare_imported(old: object, new: object, what: str) -> Effect | None:
    """The effect on an imported JSON Schema. Only its annotations are known to be harmless."""
    if _without_annotations(old) == _without_annotations(new):
        if _as_text(old) == _as_text(new):
            return None
        return Effect(
            "safe", f"the imported schema of {what} is described differently", (), ("DOC",)
        )
    message = f"the imported schema of {what} is another one"
    before, after = (s if isinstance(s, dict) else {} for s in (old, new))
    rest = [{k: v for k, v in s.items() if k != "required"} for s in (before, after)]
    if _without_annotations(rest[0]) == _without_annotations(rest[1]):
        demanded = [set(s.get("required", ())) for s in (before, after)]
        if demanded[1] < demanded[0]:
            return Effect("breaking", f"{message}: it requires less", ("clients",))
        if demanded[0] < demanded[1]:
            return Effect("breaking", f"{message}: it requires more", ("services",))
    return Effect("breaking", message, BOTH)


def _as_text(schema: object) -> str:
    """A schema as text, in which order means nothing."""
    return json.dumps(_sort_sets(schema), sort_keys=True, default=str)


def _sort_sets(schema: object) -> object:
    if isinstance(schema, Mapping):
        return {
            key: sorted(value, key=repr) if key in _SETS else _sort_sets(value)
            for key, value in schema.items()
        }
    return [_sort_sets(item) for item in schema] if isinstance(schema, list | tuple) else schema


def _without_annotations(schema: object) -> object:
    if isinstance(schema, Mapping):
        return {
            key: sorted(value, key=repr) if key in _SETS else _without_annotations(value)
            for key, value in schema.items()
            if key not in _ANNOTATIONS
        }
    if isinstance(schema, list | tuple):
        return [_without_annotations(item) for item in schema]
    return schema


@evolution_rule("details/imported", "WIRE", reads=("Code.details_schema", "Schema.opaque"))
def details_imported(evolution: Evolution) -> Iterator[Occurrence]:
    """An imported schema of details is compared as a whole: its language is larger than the rules
    here."""
    for path, old, new in evolution.changed_codes:
        before, after = old.details_schema, new.details_schema
        if (before is None) != (after is None):
            verb = "have" if before is None else "no longer have"
            message = f"the details of {code_name(path)} {verb} an imported schema"
            hurt: tuple[Audience, ...] = ("services",) if before is None else ("clients",)
            effect = Effect("breaking", message, hurt)
            yield Occurrence((*path, "details_schema"), effect)


@evolution_rule(
    "details/key",
    "WIRE",
    "SOURCE",
    reads=(
        "Taxonomy.detail_keys",
        "DetailKey.name",
        "DetailKey.everywhere",
        "DetailKey.role",
        "DetailKey.unit",
        "DetailKey.equals_header",
        "DetailKey.refers_to",
    ),
)
def details_key(evolution: Evolution) -> Iterator[Occurrence]:
    """A registered key has one type and one meaning wherever it occurs. What it repeats or refers
    to is a promise of its own."""
    for path, key in evolution.find_added("detail_keys"):
        yield Occurrence(path, Effect("safe", f"the detail key `{key.name}` is new", adds=True))
    for path, key in evolution.find_removed("detail_keys"):
        message = f"the detail key `{key.name}` is no longer registered"
        effect = Effect("safe", message)
        yield Occurrence(path, effect)
    for path, old, new in evolution.pairs("detail_keys"):
        for field, effect in _key_effects(old, new):
            yield Occurrence((*path, field), effect, getattr(old, field), getattr(new, field))


def _key_effects(old: DetailKey, new: DetailKey) -> Iterator[tuple[str, Effect]]:
    what = f"the detail `{old.name}`"
    if old.role != new.role:
        now = "is" if new.role else "is no longer"
        role = "the wait" if "retry_after" in (old.role, new.role) else "the retry flag"
        message = f"{what} {now} {role}"
        yield "role", Effect("breaking", message, ("clients",), ("BEHAVIOUR",))
    elif old.unit != new.unit:
        message = f"{what} counts `{new.unit}` instead of `{old.unit}`"
        yield "unit", Effect("breaking", message, ("clients",), ("WIRE",))
    for field, label in (
        ("equals_header", "the header that %s repeats"),
        ("refers_to", "what %s refers to"),
    ):
        before, after = getattr(old, field), getattr(new, field)
        effect = compare_promise(before, after, label % what)
        if effect is not None:
            yield field, effect._replace(categories=("WIRE",))


@evolution_rule("schema/sensitive", "OPS", reads=("Schema.sensitive",))
def schema_sensitive(evolution: Evolution) -> Iterator[Occurrence]:
    """Logs mask a sensitive value. One that is no longer sensitive is readable there."""
    for path, old, new in evolution.record_pairs(Schema):
        if old.sensitive == new.sensitive:
            continue
        name = ".".join(str(step) for step in path if step not in ("schema", "properties"))
        effect = Effect("safe", f"logs mask `{name}`", adds=True)
        if old.sensitive:
            effect = Effect("risky", f"logs no longer mask `{name}`", ("operators",))
        yield Occurrence((*path, "sensitive"), effect, old.sensitive, new.sensitive)
