"""Evolution rules about vocabularies: domains, boundaries, actions and those of the author."""

from collections.abc import Iterator

from faultspec.evolution.model import Effect
from faultspec.evolution.promises import format_value
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.language.model import Taxonomy, Term


@evolution_rule(
    "vocabulary/term",
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
        open_slots = _open_slots(evolution.old, section[-1])
        for path, term in evolution.find_added(*section):
            if section[0] == "vocabularies" and section[1] not in evolution.old.vocabularies:
                effect = Effect("safe", f"`{term.name}` is new in {section[1]}", adds=True)
            else:
                effect = _addition(term, section[-1], open_slots=open_slots)
            yield Occurrence(path, _section_effect(effect, section))
        for path, term in evolution.find_removed(*section):
            effect = _removal(evolution, term, section)
            yield Occurrence(path, _section_effect(effect, section))
        for path, old, new in evolution.pairs(*section):
            if old.lifecycle == new.lifecycle:
                continue
            message = f"`{new.name}` of {section[-1]} is {new.lifecycle}, and was {old.lifecycle}"
            if old.lifecycle == "reserved":
                effect = _addition(new, section[-1], open_slots=open_slots)
            elif new.lifecycle == "reserved":
                effect = Effect("breaking", message, ("services",))
            else:
                effect = Effect("safe", message, adds=new.lifecycle == "deprecated")
            place = (*path, "lifecycle")
            yield Occurrence(place, _section_effect(effect, section), old.lifecycle, new.lifecycle)


def _section_effect(effect: Effect, section: tuple[str, ...]) -> Effect:
    """Boundaries, domains and actions are attributes of codes, which say what answers carry."""
    return effect if section[0] == "vocabularies" else effect._replace(categories=("BEHAVIOUR",))


def _removal(evolution: Evolution, term: Term, section: tuple[str, ...]) -> Effect:
    message = f"`{term.name}` is gone from {section[-1]}"
    used = any(
        term.name in (code.domain, *code.boundaries, *code.actions)
        for code in evolution.old.every_code()
    )
    if term.lifecycle == "reserved" or section[0] != "vocabularies":
        return Effect("safe", f"{message}; {'codes name others' if used else 'no code named it'}")
    return Effect("breaking", message, ("services",), ("SOURCE", "WIRE"))


def _sections(evolution: Evolution) -> Iterator[tuple[str, ...]]:
    yield from (("domains",), ("boundaries",), ("actions",))
    for name in dict.fromkeys((*evolution.old.vocabularies, *evolution.new.vocabularies)):
        yield ("vocabularies", name)


def _open_slots(taxonomy: Taxonomy, vocabulary: str) -> bool:
    """Whether answers carry any term of the vocabulary, whatever their code is."""
    if vocabulary in ("domains", "boundaries", "actions"):
        return False
    schemas = [schema for field in taxonomy.fields() for schema in field.schema.nested_schemas()]
    details = [m.schema for c in taxonomy.every_code() for m in c.details.values()]
    schemas += [nested for schema in details for nested in schema.nested_schemas()]
    return any(schema.vocabulary == vocabulary for schema in schemas)


def _addition(term: Term, vocabulary: str, *, open_slots: bool) -> Effect:
    message = f"{format_value(term.name)} is new in {vocabulary}"
    if term.lifecycle == "reserved":
        return Effect("safe", f"{message}, and reserved", adds=True)
    if open_slots:
        return Effect("breaking", f"{message}, and answers carry it", ("clients",), adds=True)
    return Effect("safe", message, adds=True)


@evolution_rule("vocabulary/sends-again", "BEHAVIOUR", reads=("Term.sends_again",))
def vocabulary_sends_again(evolution: Evolution) -> Iterator[Occurrence]:
    """An action that repeats the failed request is offered with retriable errors only."""
    for section in _sections(evolution):
        for path, old, new in evolution.pairs(*section):
            if old.sends_again != new.sends_again:
                message = (
                    f"`{new.name}` {'repeats' if new.sends_again else 'no longer repeats'} the "
                    "failed request"
                )
                effect = Effect(
                    "breaking", message, ("clients",) if not new.sends_again else ("services",)
                )
                yield Occurrence((*path, "sends_again"), effect, old.sends_again, new.sends_again)
