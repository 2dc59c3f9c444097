"""The prose of documents as summaries and descriptions."""

import re


def first_sentence(text: str) -> str:
    """The first sentence of ``text``."""
    found = re.match(r".*?[.!?](?=\s+[A-Z]|$)", text)
    return re.sub(r"(?<!\s)\s+([.,;:])", r"\1", found[0] if found else text)
