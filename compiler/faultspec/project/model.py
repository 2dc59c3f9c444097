"""The project as frozen values."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from faultspec.diagnostics.model import Diagnostic, Severity
from faultspec.source import Document

RuleSeverity = Severity | Literal["off"]


class Destination(NamedTuple):
    """A folder that a compile fills, relative to the project.

    ``target``: the target whose files the folder has. If it is None, the folder has a folder for
    each of ``targets``; None there: for all targets except ``excluded``.
    """

    folder: str
    target: str | None = None
    targets: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()


class ProjectTaxonomy(NamedTuple):
    """A taxonomy, and where it is compiled to. Paths are relative to the project.

    ``declared``: the file has `targets` or `out`, so the manifest need not say which targets are
    compiled. ``ledger``: the file of the changes that a diff accepts. ``settings``: of
    targets that have some, by their names.
    """

    path: str
    destinations: tuple[Destination, ...]
    templates: str | None = None
    declared: bool = False
    ledger: str | None = None
    settings: Mapping[str, Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Project:
    """The settings of a project file. Paths are relative to its folder, and `locate` makes them
    relative to the working directory.

    ``severities``: by the id of a lint rule. ``style``: the limits of names and of texts, as
    written. ``rules``: the entry points of lint rules of other packages. ``against``: the git
    revision that a diff compares with. ``gitattributes``: a compile marks its folders as generated.
    """

    document: Document = field(repr=False)
    taxonomies: tuple[ProjectTaxonomy, ...]
    severities: Mapping[str, RuleSeverity] = field(default_factory=dict)
    style: Mapping[str, Mapping[str, str | int]] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    against: str | None = None
    conformance: tuple[str, ...] = ()
    gitattributes: bool = False

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.document.path

    @property
    def folder(self) -> str:
        """The folder of the file, relative to the working directory."""
        return os.path.dirname(self.path)

    def locate(self, path: str) -> str:
        """A path of the file, relative to the working directory."""
        return os.path.normpath(os.path.join(self.folder, path))

    def output_folders(self) -> tuple[str, ...]:
        """The folders that a compile fills, normalised."""
        return tuple(
            os.path.normpath(destination.folder).replace(os.sep, "/")
            for taxonomy in self.taxonomies
            for destination in taxonomy.destinations
        )

    def taxonomy(self, path: str) -> ProjectTaxonomy | None:
        """The taxonomy at a path from the working directory; None if the file does not have it."""
        wanted = os.path.realpath(path)
        found = (
            taxonomy
            for taxonomy in self.taxonomies
            if os.path.realpath(self.locate(taxonomy.path)) == wanted
        )
        return next(found, None)


class LoadedProject(NamedTuple):
    """The result of reading a project file. ``project`` is None if a diagnostic is an error.

    ``sources``: the text by file name, for printers.
    """

    project: Project | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str] = MappingProxyType({})
