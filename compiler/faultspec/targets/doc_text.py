"""Texts about a code in the documentation of bindings in any language."""

from collections.abc import Callable, Mapping, Sequence

from faultspec.language.conditions import StatusRange
from faultspec.language.model import Code, Support, Taxonomy
from faultspec.runtime.retry import Policy
from faultspec.targets.literals import Verbatim

#: The message of an unknown error, if the taxonomy declares no code for it.
NO_MESSAGE = "The answer is not a known error"


def message_template(code: Code) -> str:
    """The message of a code with its parameters: as declared, else the summary, in which a dollar
    is `$$`.
    """
    return code.message or code.summary.replace("$", "$$")


def code_paragraphs(code: Code, marks: Mapping[str, str], owner: str | None) -> list[str]:
    """The paragraphs about a code: its meaning, its facts, and behind its mark its lifecycle."""
    paragraphs = [code.summary]
    if code.description:
        paragraphs.append(code.description)
    known = []
    if code.http.statuses:
        known.append(f"HTTP {', '.join(map(str, code.http.statuses))}")
    if code.boundaries:
        known.append("from " + " or ".join(code.boundaries))
    policy = f" ({code.retry})" if code.retry else ""
    actions = {
        "retry": f"clients retry{policy}",
        "refetch": "clients read again before they retry",
        "user": "a person has to act",
        "none": f"clients retry if the error allows it{policy}"
        if len(code.retriable.outcomes) > 1
        else "clients do not retry",
    }
    known.append(actions[code.client_action])
    facts = "; ".join(known)
    paragraphs.append(f"{facts[0].upper()}{facts[1:]}.")
    if code.effect != "none":
        paragraphs[-1] += " The operation may have taken effect."
    support = support_sentence(code, owner)
    return [*paragraphs, *([support] if support else []), *lifecycle_notes(code, marks)]


_FAULTS = {"caller": "the caller", "service": "the service", "dependency": "a dependency"}


def has_support(taxonomy: Taxonomy) -> bool:
    """Whether a code or its domain says who answers for it, or where more is written."""
    return any(code.support != Support() for code in taxonomy.every_code())


def support_sentence(code: Code, owner: str | None) -> str | None:
    """Fault side, owner and runbook of a code as a sentence; None if neither the code nor its
    domain has any. ``owner``: that of the taxonomy.
    """
    support = code.support
    if support == Support():
        return None
    known = (
        ("fault of", _FAULTS.get(support.fault or "")),
        ("owner:", support.owner or owner),
        ("runbook:", support.runbook),
    )
    sentence = "; ".join(f"{name} {value}" for name, value in known if value)
    return f"{sentence[0].upper()}{sentence[1:]}" if sentence else None


_STAGES = {
    "experimental": "it may change or go at any time",
    "beta": "it may still change, which is announced",
}


def lifecycle_notes(code: Code, marks: Mapping[str, str]) -> list[str]:
    """The note about the lifecycle of a code behind its mark, unless the code is stable.

    ``marks``: by lifecycle, what stands before the note.
    """
    terms = deprecation_terms(code) or _STAGES.get(code.lifecycle)
    return [f"{marks[code.lifecycle]} {terms}."] if terms else []


def deprecation_terms(code: Code) -> str | None:
    """``use gone, not sent after 2027-01-31``; None if the code is not deprecated."""
    if code.lifecycle != "deprecated":
        return None
    terms = [
        f"use {code.replaced_by}" if code.replaced_by else "without a replacement",
        *([f"not sent after {code.sunset}"] if code.sunset else []),
    ]
    return ", ".join(terms)


#: Statuses up to which each is named; a longer stretch is written as a range.
NAMED_STATUSES = 8


def statuses(
    ranges: Sequence[StatusRange], span: Callable[[StatusRange], str], spread: str
) -> Verbatim | tuple[object, ...]:
    """Statuses as a tuple; a long range as the source from ``span``, after ``spread`` if it is one
    of several.
    """
    if len(ranges) == 1 and ranges[0].width > NAMED_STATUSES:
        return Verbatim(span(ranges[0]))
    parts: list[object] = []
    for range_ in ranges:
        if range_.width > NAMED_STATUSES:
            parts.append(Verbatim(f"{spread}{span(range_)}"))
        else:
            parts += range(range_.low, range_.high + 1)
    return tuple(dict.fromkeys(parts))


def plain_policy(policy: Policy) -> Policy:
    """The policy without fields that have no effect: the step of a phase that is not linear."""
    phases = tuple(
        phase if phase.kind == "linear" else phase._replace(step=0.0) for phase in policy.phases
    )
    return policy._replace(phases=phases)
