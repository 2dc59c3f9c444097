"""Evolution rules about texts, owners and origins, on which no program may depend."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Effect
from faultspec.evolution.promises import (
    join_values,
    replacement_message,
    split_values,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.language.model import Support

#: Texts for readers, by record.
_TEXTS = [
    "Code.description",
    "Code.summary",
    "DetailKey.summary",
    "Envelope.summary",
    "Example.summary",
    "Fallback.reason",
    "HeaderRule.summary",
    "HttpMapping.reason",
    "Metric.summary",
    "NumberRange.summary",
    "Operation.summary",
    "Rendering.summary",
    "RetryPolicy.summary",
    "Schema.description",
    "Surface.reason",
    "Term.summary",
]

#: The origins of records.
_SOURCES = tuple(
    f"{record}.source"
    for record in [
        "Alert",
        "Audit",
        "Code",
        "Concealment",
        "Deadline",
        "DetailKey",
        "DetailMember",
        "Envelope",
        "Example",
        "Fallback",
        "Field",
        "HeaderRule",
        "Idempotency",
        "ImportedCodes",
        "Metric",
        "Navigation",
        "Obligation",
        "Operation",
        "Privacy",
        "Protocol",
        "Publication",
        "RecordingRule",
        "Rendering",
        "RetryPolicy",
        "Surface",
        "Telemetry",
        "Term",
        "Unknown",
        "Upstream",
        "UpstreamCode",
    ]
)


@evolution_rule("text/changed", "DOC", reads=tuple(_TEXTS))
def text_changed(evolution: Evolution) -> Iterator[Occurrence]:
    """Summaries, descriptions and reasons are for readers."""
    fields = {tuple(text.split(".")) for text in _TEXTS}
    for pair in evolution.changed_records:
        record = type(pair.old).__name__
        for field in pair.old._fields:
            before, after = getattr(pair.old, field), getattr(pair.new, field)
            if field == "reason" and None in (before, after):
                continue  # the key beside it says more
            if (record, field) in fields and before != after:
                message = f"the {field} of `{_subject(pair.path)}` is worded differently"
                yield Occurrence((*pair.path, field), Effect("safe", message), before, after)


def _subject(path: tuple[object, ...]) -> str:
    return ".".join(str(step) for step in path)


@evolution_rule(
    "text/origin",
    "DOC",
    reads=(
        "Taxonomy.rulings",
        "Ruling.name",
        "Ruling.statements",
        "Ruling.conflict",
        "Ruling.decision",
        "Ruling.reason",
        "Taxonomy.obligations",
        "Obligation.name",
        "Obligation.text",
        "Obligation.reason",
        *_SOURCES,
        "Source.statements",
        "Source.section",
        "Source.rulings",
        "Source.note",
    ),
)
def text_origin(evolution: Evolution) -> Iterator[Occurrence]:
    """Rulings, obligations and sources say where a rule comes from, not what it demands."""
    for section in ("rulings", "obligations"):
        for path, _ in evolution.find_added(section):
            yield Occurrence(path, Effect("safe", f"`{path[-1]}` is new in {section}"))
        for path, _ in evolution.find_removed(section):
            message = f"`{path[-1]}` is gone from {section}"
            promised = section == "obligations"
            effect = (
                Effect("risky", message, ("clients",), ("BEHAVIOUR",))
                if promised
                else Effect("safe", message)
            )
            yield Occurrence(path, effect)
        for path, _, _ in evolution.pairs(section):
            yield Occurrence(
                path, Effect("safe", f"`{path[-1]}` of {section} is worded differently")
            )
    for pair in evolution.changed_records:
        has_source = "source" in pair.old._fields and pair.path[0] != "obligations"
        if has_source and pair.old.source != pair.new.source:
            message = f"the source of `{_subject(pair.path)}` is another one"
            yield Occurrence((*pair.path, "source"), Effect("safe", message))


@evolution_rule(
    "code/support",
    "DOC",
    reads=(
        "Code.support",
        "Support.owner",
        "Support.runbook",
        "Support.docs",
        "Support.fault",
    ),
)
def code_support(evolution: Evolution) -> Iterator[Occurrence]:
    """Owner, runbook, documentation and fault side are facts for people."""
    for path, old, new in evolution.changed_codes:
        for field in Support._fields:
            before, after = getattr(old.support, field), getattr(new.support, field)
            if before != after:
                what = f"the {field} of `{_subject(path[1:])}`"
                message = replacement_message(what, after, before)
                yield Occurrence((*path, "support", field), Effect("safe", message), before, after)


@evolution_rule("code/messages", "DOC", reads=("Code.messages",))
def code_messages(evolution: Evolution) -> Iterator[Occurrence]:
    """Messages in other languages are texts for people, like `message`."""
    for path, old, new in evolution.changed_codes:
        for locale in dict.fromkeys((*old.messages, *new.messages)):
            before, after = old.messages.get(locale), new.messages.get(locale)
            if before == after:
                continue
            how = "is new" if before is None else "is gone" if after is None else "differs"
            message = f"the message of `{_subject(path[1:])}` in {locale} {how}"
            effect = Effect("safe", message, adds=before is None)
            yield Occurrence((*path, "messages", locale), effect, before, after)


@evolution_rule(
    "text/examples",
    "DOC",
    reads=(
        "Code.examples",
        "Example.message",
        "Example.details",
        "Example.slots",
        "Example.status",
        "Example.headers",
    ),
)
def text_examples(evolution: Evolution) -> Iterator[Occurrence]:
    """Examples illustrate a code. Nobody may rely on their values."""
    for path, old, new in evolution.changed_codes:
        if old.examples != new.examples:
            message = f"the examples of `{_subject(path[1:])}` changed"
            yield Occurrence((*path, "examples"), Effect("safe", message))


@evolution_rule("taxonomy/extensible", "SOURCE", reads=("Taxonomy.extensible", "Ruling.allows"))
def taxonomy_extensible(evolution: Evolution) -> Iterator[Occurrence]:
    """Taxonomies that extend this one may change what it lists, and decide otherwise what its
    rulings allow. What is no longer listed stops them from compiling."""
    lists: list[tuple[Path, tuple[str, ...], tuple[str, ...]]] = [
        (("extensible",), evolution.old.extensible, evolution.new.extensible)
    ]
    for name, ruling in evolution.old.rulings.items():
        after = evolution.new.rulings.get(name)
        allowed = () if after is None else after.allows
        lists.append((("rulings", name, "allows"), ruling.allows, allowed))
    for path, old, new in lists:
        gone, more = split_values(old, new)
        if gone:
            effect = Effect(
                "breaking", f"overlays may no longer change {join_values(gone)}", ("services",)
            )
            yield Occurrence(path, effect, old, new)
        elif more:
            effect = Effect("safe", f"overlays may change {join_values(more)}", adds=True)
            yield Occurrence(path, effect, old, new)


@evolution_rule(
    "taxonomy/overrides",
    "DOC",
    reads=(
        "Taxonomy.overrides",
        "Override.path",
        "Override.value",
        "Override.reason",
        "Override.rulings",
    ),
)
def taxonomy_overrides(evolution: Evolution) -> Iterator[Occurrence]:
    """An override says that a value is a decision of this taxonomy. The value itself is compared
    where it applies."""
    old, new = evolution.old.overrides, evolution.new.overrides
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            how = "is new" if path not in old else "is gone" if path not in new else "differs"
            effect = Effect("safe", f"the override of `{path}` {how}")
            yield Occurrence(("overrides", path), effect)


@evolution_rule(
    "taxonomy/header",
    "DOC",
    reads=(
        "Taxonomy.name",
        "Taxonomy.version",
        "Taxonomy.title",
        "Taxonomy.owner",
        "Taxonomy.description",
    ),
)
def taxonomy_header(evolution: Evolution) -> Iterator[Occurrence]:
    """Generated packages have the name of the taxonomy. Its owner is who answers for it."""
    for field in ("name", "title", "owner", "description"):
        before, after = getattr(evolution.old, field), getattr(evolution.new, field)
        if before == after:
            continue
        message = replacement_message(f"the {field} of the taxonomy", after, before)
        effect = Effect("safe", message)
        if field == "name":
            effect = Effect("breaking", message, BOTH, ("SOURCE",))
        elif field == "owner":
            effect = Effect("safe", message, (), ("OPS",))
        yield Occurrence(("taxonomy", field), effect, before, after, covers=((field,),))
