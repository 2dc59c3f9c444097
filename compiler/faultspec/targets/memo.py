"""What several targets ask of one taxonomy is worked out once."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple

Asked = TypeVarTuple("Asked")
Answer = TypeVar("Answer")


def memoized(function: Callable[[*Asked], Answer]) -> Callable[[*Asked], Answer]:
    """``function``, whose last argument is a taxonomy, asked once for the same arguments, until it is asked about another
    taxonomy.

    Arguments are the same where they are one object: values of the model hold mappings, which have no hash. An answer is
    shared by all who asked for it, so nobody may change it.
    """
    taxonomy: object = None
    known: dict[tuple[int, ...], tuple[tuple[object, ...], Answer]] = {}

    @wraps(function)
    def answer(*asked: *Asked) -> Answer:
        nonlocal taxonomy
        arguments: tuple[object, ...] = asked
        if arguments[-1] is not taxonomy:
            known.clear()
            taxonomy = arguments[-1]
        key = tuple(map(id, arguments))
        found = known.get(key)
        if found is None:
            # With the arguments, so that no other object can get their ids.
            found = known[key] = (arguments, function(*asked))
        return found[1]

    return answer
