"""Importers: what a team already has (an OpenAPI document, a service model of botocore) as a taxonomy.

An importer is a pure function of a parsed document. It says what it could not carry over, each with its place and why;
nothing is left out in silence. It reads no ``x-`` extension and follows no reference out of the document.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]


class Loss(NamedTuple):
    """Something of the document that the taxonomy does not say.

    ``pointer``: its place in the document (JSON Pointer, RFC 6901). ``kind``: a word to count by, such as ``reference``.
    ``reason``: a sentence, without a full stop.
    """

    pointer: str
    kind: str
    reason: str


class ImportedTaxonomy(NamedTuple):
    """The data of a taxonomy, its keys in the order in which they are written, and what it does not carry.

    ``examples``: by the path of a code in the data, the places in the document of each of its examples.
    """

    data: Json
    losses: tuple[Loss, ...]
    examples: Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}


class NotImportable(Exception):
    """The document is not what the importer reads, or has no failure in it.

    ``code`` in kebab case, ``pointer`` the place, ``hint`` what to do.
    """

    def __init__(self, code: str, message: str, pointer: str = "", hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.pointer = pointer
        self.hint = hint


__all__ = ["ImportedTaxonomy", "Json", "Loss", "NotImportable"]
