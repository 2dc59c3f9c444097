"""Which of many values a text may contain, by four characters of each of their forms.

A run has a hundred secrets in a dozen forms each, and its report thousands of texts, most of them
short and without any.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from faultspec_conformance.sanitize.encodings import FoldedLayer, forms_of

#: Characters at the beginning or the end of a form. All that is found of a value, whole or cut, has
#: at least six.
_GRAM = 4

#: Values that are looked for one by one sooner than all groups of four characters are.
_FEW = 8


@dataclass(frozen=True, slots=True)
class _Index:
    """The numbers of values by the characters at both ends of their forms: of those in which case
    counts, and of the others. ``short``: the values with a form that is shorter.
    """

    exact: dict[str, frozenset[int]]
    folded: dict[str, frozenset[int]]
    short: frozenset[int]


def select_likely(layers: tuple[FoldedLayer, ...], values: tuple[str, ...]) -> Iterator[int]:
    """Yield, in order, the numbers of the values that may occur in a layer, whole or cut."""
    if len(values) <= _FEW:
        yield from range(len(values))
        return
    index = _index(values)
    found = set(index.short)
    for layer in layers:
        if layer.joined:
            continue  # both ends of a value stand in the layer whose lines are joined
        for grams, text in ((index.exact, layer.text), (index.folded, layer.folded)):
            if len(text) >= _GRAM:
                for gram in grams.keys() & _grams(text):
                    found |= grams[gram]
    yield from sorted(found)


def _grams(text: str) -> set[str]:
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}


@lru_cache(maxsize=64)  # the secrets of a run, and those with what one finding shows
def _index(values: tuple[str, ...]) -> _Index:
    exact: dict[str, set[int]] = {}
    folded: dict[str, set[int]] = {}
    short: set[int] = set()
    for number, value in enumerate(values):
        for form in forms_of(value):
            if len(form.text) < _GRAM:
                short.add(number)
                continue
            grams = folded if form.any_case else exact
            for gram in (form.text[:_GRAM], form.text[-_GRAM:]):
                grams.setdefault(gram, set()).add(number)
    return _Index(_freeze(exact), _freeze(folded), frozenset(short))


def _freeze(grams: dict[str, set[int]]) -> dict[str, frozenset[int]]:
    return {gram: frozenset(numbers) for gram, numbers in grams.items()}
