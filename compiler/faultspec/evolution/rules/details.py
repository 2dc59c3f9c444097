"""Evolution rules about details, registered keys and the schemas of values in answers."""

from collections.abc import Iterator, Mapping

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Audience, Effect
from faultspec.evolution.promises import (
    compare_allowed,
    compare_bound,
    compare_presence,
    compare_promise,
    compare_strictness,
)
from faultspec.evolution.rule import Evolution, Occurrence, rule
from faultspec.evolution.rules.codes import code_name
from faultspec.language.model import Code, DetailKey, DetailMember, Schema, Taxonomy

_ANNOTATIONS = frozenset({"title", "description", "examples", "default", "$comment"})

_SCHEMA_FIELDS = tuple(f"Schema.{name}" for name in Schema._fields if name != "description")


@rule(
    "details/member",
    "WIRE",
    "SOURCE",
    reads=("Code.details", "DetailMember.presence", "DetailMember.name"),
)
def details_member(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients read the details of a code, and services give them to its constructor. A detail that
    turns required must be given; one that is gone can neither be given nor read."""
    for path, old, new in evolution.changed_codes:
        if old.details == new.details:
            continue
        closed = _forbids_more(evolution.old, old)
        for name in dict.fromkeys((*old.details, *new.details)):
            before, after = old.details.get(name), new.details.get(name)
            effect = _member_effect(before, after, f"the detail `{name}`", closed=closed)
            if effect is not None:
                place = (*path, "details", name)
                values = before and before.presence, after and after.presence
                yield Occurrence(place, effect, *values)


def _forbids_more(taxonomy: Taxonomy, code: Code) -> bool:
    """Whether a client may refuse an answer with details that are not declared."""
    fields = [field for field in taxonomy.fields() if field.slot == "details"]
    return any(field.additional == "forbid" for field in fields)


def _member_effect(
    before: DetailMember | None, after: DetailMember | None, what: str, *, closed: bool
) -> Effect | None:
    if before is None and after is not None:
        if after.presence == "required":
            hurt: tuple[Audience, ...] = BOTH if closed else ("services",)
            return Effect("breaking", f"{what} is new and required", hurt)
        if closed:
            message = f"{what} is new, and clients may refuse members that were not declared"
            return Effect("breaking", message, ("clients",), ("WIRE",))
        return Effect("safe", f"{what} is new and {after.presence}", adds=True)
    if after is None and before is not None:
        return Effect("breaking", f"{what} is gone (it was {before.presence})", BOTH)
    if before is None or after is None:
        return None
    return compare_presence(before.presence, after.presence, what)


@rule(
    "schema/value",
    "WIRE",
    reads=(*_SCHEMA_FIELDS, "DetailMember.schema", "DetailKey.schema", "Field.schema"),
)
def schema_value(evolution: Evolution) -> Iterator[Occurrence]:
    """The schema of a value promises clients its type, form and range. A wider one surprises
    clients; a narrower one breaks services that send what was allowed until now."""
    inherited = _inherited(evolution)
    for path, old, new in evolution.record_pairs(Schema):
        if path[:1] == ("telemetry",) or _is_inherited(path, old, inherited):
            continue
        for field, effect in _schema_effects(old, new, _subject(path)):
            values = getattr(old, field), getattr(new, field)
            covers = tuple(((*path, field), *_inheritors(evolution, path, old)))
            yield Occurrence((*path, field), effect, *values, covers=covers)


def _inherited(evolution: Evolution) -> Mapping[str, Schema]:
    return {
        name: key.schema
        for name, key in evolution.old.detail_keys.items()
        if name in evolution.new.detail_keys
        and evolution.new.detail_keys[name].schema != key.schema
    }


def _is_inherited(path: Path, old: Schema, inherited: Mapping[str, Schema]) -> bool:
    """Whether the schema of a detail is that of its registered key, which is reported instead."""
    if "details" not in path:
        return False
    index = path.index("details")
    return (
        len(path) > index + 1
        and path[index + 1] in inherited
        and path[0] in ("codes", "operations")
    )


def _inheritors(evolution: Evolution, path: Path, old: Schema) -> Iterator[Path]:
    if path[0] == "detail_keys":
        for place, code in evolution.old.located_codes():
            if path[1] in code.details:
                yield (*place, "details", path[1])


def _subject(path: Path) -> str:
    """What a schema is of, for messages: the innermost names of its path."""
    names = [
        str(step) for step in path if step not in ("schema", "properties", "fields", "details")
    ]
    if path[0] == "detail_keys":
        return f"the detail `{'.'.join(names[1:])}`"
    if path[0] in ("codes", "operations"):
        own = 2 if path[0] == "codes" else 4
        return f"the detail `{'.'.join(names[own - (1 if path[0] == 'operations' else 0) :])}`"
    return f"`{'.'.join(names[1:])}`"


def _schema_effects(old: Schema, new: Schema, what: str) -> Iterator[tuple[str, Effect]]:
    if old.types != new.types:
        effect = compare_allowed(old.types, new.types, f"the type of {what}", any_if_empty=True)
        if effect is not None:
            yield "types", effect._replace(categories=("WIRE", "SOURCE"))
    for field, label in (("format", "format"), ("enum", "value")):
        before, after = getattr(old, field), getattr(new, field)
        effect = compare_allowed(before, after, f"the {label} of {what}", any_if_empty=True)
        if effect is not None:
            yield field, effect
    for field in ("pattern", "vocabulary"):
        before, after = getattr(old, field), getattr(new, field)
        effect = compare_promise(before, after, f"the {field} of {what}")
        if effect is not None:
            yield field, effect
    for field, label, upper in (
        ("minimum", "least number", False),
        ("maximum", "greatest number", True),
        ("min_length", "least length", False),
        ("max_length", "greatest length", True),
    ):
        effect = compare_bound(
            getattr(old, field), getattr(new, field), f"the {label} of {what}", upper=upper
        )
        if effect is not None:
            yield field, effect
    if (old.items is None) != (new.items is None):
        promise = compare_promise(
            old.items and "limited", new.items and "limited", f"the items of {what}"
        )
        if promise is not None:
            yield "items", promise
    strictness = compare_strictness(old.additional, new.additional, what)
    if strictness is not None:
        yield "additional", strictness
    closed = old.additional == "forbid"
    for name in dict.fromkeys((*old.properties, *new.properties)):
        member = _member_effect(
            old.properties.get(name), new.properties.get(name), f"`{name}` of {what}", closed=closed
        )
        if member is not None:
            yield "properties", member
    if old.opaque != new.opaque:
        yield "opaque", compare_imported(old.opaque, new.opaque, what)


def compare_imported(old: object, new: object, what: str) -> Effect:
    """The effect on an imported JSON Schema. Only its annotations are known to be harmless."""
    if _without_annotations(old) == _without_annotations(new):
        return Effect(
            "safe", f"the imported schema of {what} is described differently", (), ("DOC",)
        )
    message = f"the imported schema of {what} is another one"
    return Effect("breaking", message, BOTH)


def _without_annotations(schema: object) -> object:
    if isinstance(schema, Mapping):
        return {
            key: _without_annotations(value)
            for key, value in schema.items()
            if key not in _ANNOTATIONS
        }
    if isinstance(schema, list | tuple):
        return [_without_annotations(item) for item in schema]
    return schema


@rule("details/imported", "WIRE", reads=("Code.details_schema", "Schema.opaque"))
def details_imported(evolution: Evolution) -> Iterator[Occurrence]:
    """An imported schema of details is compared as a whole: its language is larger than the rules
    here."""
    for path, old, new in evolution.changed_codes:
        before, after = old.details_schema, new.details_schema
        if (before is None) != (after is None):
            effect = compare_promise(
                before and "limited", after and "limited", f"the details of {code_name(path)}"
            )
            if effect is not None:
                yield Occurrence((*path, "details_schema"), effect)


@rule(
    "details/key",
    "WIRE",
    "SOURCE",
    reads=(
        "Taxonomy.detail_keys",
        "DetailKey.name",
        "DetailKey.everywhere",
        "DetailKey.role",
        "DetailKey.equals_header",
        "DetailKey.refers_to",
    ),
)
def details_key(evolution: Evolution) -> Iterator[Occurrence]:
    """A registered key has one type and one meaning wherever it occurs. What it repeats or refers
    to is a promise of its own."""
    for path, key in evolution.added("detail_keys"):
        yield Occurrence(path, Effect("safe", f"the detail key `{key.name}` is new", adds=True))
    for path, key in evolution.removed("detail_keys"):
        message = f"the detail key `{key.name}` is no longer registered"
        effect = Effect("breaking", message, BOTH) if key.everywhere else Effect("safe", message)
        yield Occurrence(path, effect)
    for path, old, new in evolution.pairs("detail_keys"):
        for field, effect in _key_effects(old, new):
            yield Occurrence((*path, field), effect, getattr(old, field), getattr(new, field))


def _key_effects(old: DetailKey, new: DetailKey) -> Iterator[tuple[str, Effect]]:
    what = f"the detail `{old.name}`"
    if old.everywhere != new.everywhere:
        yield (
            "everywhere",
            (
                Effect("safe", f"every code may carry {what}", adds=True)
                if new.everywhere
                else Effect(
                    "breaking",
                    f"only codes that declare {what} may carry it",
                    BOTH,
                )
            ),
        )
    if old.role != new.role:
        now = "is" if new.role else "is no longer"
        message = f"{what} {now} the retry flag"
        yield "role", Effect("breaking", message, BOTH, ("BEHAVIOUR",))
    for field, label in (
        ("equals_header", "the header that %s repeats"),
        ("refers_to", "what %s refers to"),
    ):
        before, after = getattr(old, field), getattr(new, field)
        effect = compare_promise(before, after, label % what)
        if effect is not None:
            yield field, effect._replace(categories=("WIRE",))
