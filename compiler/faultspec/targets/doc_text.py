"""What the documentation of a code says, whatever the language of the bindings."""

from collections.abc import Callable, Sequence

from faultspec.language.conditions import StatusRange
from faultspec.language.model import Code
from faultspec.runtime.retry import Policy
from faultspec.targets.literals import Verbatim

#: The message of an answer nobody can read, where the taxonomy has no code for it.
NO_MESSAGE = "The answer is not an error that is known here"


def described(code: Code) -> list[str]:
    """The paragraphs about a code: what it means, what is known of it, and what takes its place."""
    paragraphs = [code.summary]
    if code.description:
        paragraphs.append(code.description)
    known = []
    if code.http.statuses:
        known.append(f"HTTP {', '.join(map(str, code.http.statuses))}")
    if code.boundaries:
        known.append("from " + " or ".join(code.boundaries))
    policy = f" ({code.retry})" if code.retry else ""
    says = code.retriable.kind in ("conditional", "caller")
    actions = {
        "retry": f"clients retry{policy}",
        "refetch": "clients read again before they retry",
        "user": "a person has to act",
        "none": f"clients retry where the error says that they may{policy}"
        if says
        else "clients do not retry",
    }
    known.append(actions[code.client_action])
    said = "; ".join(known)
    paragraphs.append(f"{said[0].upper()}{said[1:]}.")
    if code.effect != "none":
        paragraphs[-1] += " The operation may have taken effect."
    if code.lifecycle == "deprecated":
        paragraphs.append(f"Deprecated{instead(code)}.")
    return paragraphs


def summary(code: Code) -> str:
    """What is said of a code in one line."""
    return code.summary + (f" Deprecated{instead(code)}." if code.lifecycle == "deprecated" else "")


#: Statuses up to which each is named; a longer stretch is written as a range.
NAMED_STATUSES = 8


def statuses(
    ranges: Sequence[StatusRange], span: Callable[[StatusRange], str], spread: str
) -> Verbatim | tuple[object, ...]:
    """Statuses as a list; a long stretch as what ``span`` writes, with ``spread`` in front of it among others."""
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
    """The policy without what does not count: the step of a phase that is not linear."""
    phases = tuple(
        phase if phase.kind == "linear" else phase._replace(step=0.0) for phase in policy.phases
    )
    return policy._replace(phases=phases)


def instead(code: Code) -> str:
    """`` since 2.0.0, use gone`` of a deprecated code, as far as it is declared."""
    return f" since {code.since}" * bool(code.since) + f", use {code.replaced_by}" * bool(
        code.replaced_by
    )
