"""Importers: a taxonomy from a document of another format, such as OpenAPI.

An importer is a pure function of a parsed document. It reports everything that it could not carry
over, with place and reason. It reads no ``x-`` extension except the ``x-nullable`` of Swagger 2.0,
and follows no reference out of the document.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from faultspec.openapi.nodes import Json
from faultspec.openapi.reader import Loss, Report

Data = dict[str, Any]
"""A part of a taxonomy or a schema, as it is made."""


class Decision(NamedTuple):
    """A warning of lint about the taxonomy: the document leaves it to the team.

    ``rule``: the name of the lint rule. ``path``: the place in the taxonomy. ``reason``: the
    warning.
    """

    rule: str
    path: str
    reason: str


class ImportedTaxonomy(NamedTuple):
    """The data of a taxonomy, its keys in the order in which they are written, and the losses.

    ``examples``: for the path of a code in the data, the places in the document of each of its
    examples. ``decisions``: those that are left to the team.
    """

    data: Json
    losses: tuple[Loss, ...]
    examples: Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}
    decisions: tuple[Decision, ...] = ()


class NotImportable(Exception):
    """The importer cannot read the document, or the document declares no failure.

    ``code`` is in kebab case, ``pointer`` the place, ``hint`` the remedy.
    """

    def __init__(self, code: str, message: str, pointer: str = "", hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.pointer = pointer
        self.hint = hint


__all__ = ["Data", "Decision", "ImportedTaxonomy", "Json", "Loss", "NotImportable", "Report"]
