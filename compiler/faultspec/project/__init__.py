"""The project file `faultspec.yaml`: the taxonomies of a repository, and settings of commands."""

from faultspec.project.form import PROJECT
from faultspec.project.model import Destination, LoadedProject, Project, ProjectTaxonomy
from faultspec.project.reading import (
    FILE,
    find_bad_records,
    find_project_file,
    parse_project,
    read_project,
)

__all__ = [
    "FILE",
    "PROJECT",
    "Destination",
    "LoadedProject",
    "Project",
    "ProjectTaxonomy",
    "find_bad_records",
    "find_project_file",
    "parse_project",
    "read_project",
]
