"""The project file of the working directory, for the commands that read it."""

import os
from collections.abc import Sequence
from pathlib import Path

from faultspec.project import LoadedProject, Project, find_project_file, read_project


def find_project() -> LoadedProject | None:
    """The project of the working directory; None without a project file."""
    found = find_project_file(Path.cwd())
    return None if found is None else read_project(os.path.relpath(found))


def declared_taxonomies(project: Project | None) -> Sequence[str]:
    """The taxonomies of a project, from the working directory; without a project the usual file."""
    if project is None:
        return ("taxonomy.yaml",)
    return [project.locate(taxonomy.path) for taxonomy in project.taxonomies]
