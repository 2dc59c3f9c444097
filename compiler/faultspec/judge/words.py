"""How a finding names the place that it is about."""

from faultspec.language.values import ValueProblem


def place(pointer: str) -> str:
    """A pointer as a sentence names it."""
    return f"`{pointer}`" if pointer else "the body"


def sentence(misfit: ValueProblem, at: str) -> str:
    """What is wrong, of a value that stands at the pointer `at`."""
    return f"{place(at + misfit.pointer)} {misfit.problem}"
