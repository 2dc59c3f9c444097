"""The spellings of one name: its words, ``RateLimited`` and ``rate_limited``."""

import re
from functools import cache


def words(name: str) -> list[str]:
    """The words of a name in any spelling: ``file`` and ``Found`` of ``fileFound``."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)


@cache  # many files have the same name
def pascal(name: str) -> str:
    """``RateLimited``"""
    return "".join(word[:1].upper() + word[1:].lower() for word in words(name))


@cache
def snake(name: str) -> str:
    """``rate_limited``"""
    return "_".join(word.lower() for word in words(name))
