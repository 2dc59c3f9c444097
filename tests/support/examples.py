"""How many examples hypothesis draws: few of the same ones in `make test`, many new ones in `make
search`.
"""

from typing import Any

from hypothesis import settings

STEADY, SEARCH = 25, 300
"""Examples of a law by default, by profile."""


def examples(number: int, *, steady: int = STEADY, **rest: Any) -> settings:
    """Settings of a law that `make search` tests by ``number`` examples, and `make test` by
    ``steady`` at most.

    ``steady`` differs from its default where an example takes long.
    """
    searching = settings.get_current_profile_name() == "search"
    return settings(max_examples=number if searching else min(number, steady), **rest)
