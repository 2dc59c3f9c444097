"""Evolution rules about vocabularies: domains, boundaries, actions and those of the author."""

from collections.abc import Iterator

from faultspec.evolution.model import BOTH, Effect
from faultspec.evolution.promises import shown
from faultspec.evolution.rule import Evolution, Occurrence, rule
from faultspec.language.model import Taxonomy, Term
from faultspec.runtime.nodes import slot_places

#: The slot with terms of each vocabulary, unless a field names another one.
_SLOTS = {"domains": "domain", "boundaries": "boundary", "actions": "actions"}


@rule(
    "vocabulary/term",
    "SOURCE",
    "WIRE",
    reads=(
        "Taxonomy.domains",
        "Taxonomy.boundaries",
        "Taxonomy.actions",
        "Taxonomy.vocabularies",
        "Term.name",
        "Term.lifecycle",
    ),
)
def vocabulary_term(evolution: Evolution) -> Iterator[Occurrence]:
    """Answers contain terms of closed vocabularies, and clients match them. A term that is gone
    takes its name with it; a new one reaches clients without a case for it."""
    for section in _sections(evolution):
        visible = _is_visible(evolution.old, section[-1])
        for path, term in evolution.added(*section):
            if section[0] == "vocabularies" and section[1] not in evolution.old.vocabularies:
                yield Occurrence(
                    path, Effect("safe", f"`{term.name}` is new in {section[1]}", adds=True)
                )
                continue
            yield Occurrence(path, _addition(term, section[-1], visible=visible))
        for path, term in evolution.removed(*section):
            message = f"`{term.name}` is gone from {section[-1]}"
            if term.lifecycle == "reserved":
                yield Occurrence(path, Effect("safe", f"{message}; it was reserved"))
                continue
            yield Occurrence(path, Effect("breaking", message, BOTH))
        for path, old, new in evolution.pairs(*section):
            if old.lifecycle == new.lifecycle:
                continue
            message = f"`{new.name}` of {section[-1]} is {new.lifecycle}, and was {old.lifecycle}"
            if old.lifecycle == "reserved":
                effect = _addition(new, section[-1], visible=visible)
            elif new.lifecycle == "reserved":
                effect = Effect("breaking", message, ("services",))
            else:
                effect = Effect("safe", message, adds=new.lifecycle == "deprecated")
            yield Occurrence((*path, "lifecycle"), effect, old.lifecycle, new.lifecycle)


def _sections(evolution: Evolution) -> Iterator[tuple[str, ...]]:
    yield from (("domains",), ("boundaries",), ("actions",))
    for name in dict.fromkeys((*evolution.old.vocabularies, *evolution.new.vocabularies)):
        yield ("vocabularies", name)


def _is_visible(taxonomy: Taxonomy, vocabulary: str) -> bool:
    """Whether answers carry terms of the vocabulary."""
    slot = _SLOTS.get(vocabulary)
    return any(
        field.schema.vocabulary == vocabulary
        or (field.schema.items and field.schema.items.vocabulary == vocabulary)
        for field in taxonomy.fields()
    ) or any(slot in slot_places(envelope.shape) for envelope in taxonomy.envelopes.values())


def _addition(term: Term, vocabulary: str, *, visible: bool) -> Effect:
    message = f"{shown(term.name)} is new in {vocabulary}"
    if term.lifecycle == "reserved":
        return Effect("safe", f"{message}, and reserved", adds=True)
    if visible:
        return Effect("risky", f"{message}, and answers carry it", ("clients",), adds=True)
    return Effect("safe", message, adds=True)


@rule("vocabulary/sends-again", "BEHAVIOUR", reads=("Term.sends_again",))
def vocabulary_sends_again(evolution: Evolution) -> Iterator[Occurrence]:
    """An action that repeats the failed request is offered with retriable errors only."""
    for section in _sections(evolution):
        for path, old, new in evolution.pairs(*section):
            if old.sends_again != new.sends_again:
                message = f"`{new.name}` {'repeats' if new.sends_again else 'no longer repeats'} the failed request"
                effect = Effect(
                    "breaking", message, ("clients",) if not new.sends_again else ("services",)
                )
                yield Occurrence((*path, "sends_again"), effect, old.sends_again, new.sends_again)
