"""The JSON Schemas of the files that commands read, for editors: `python -m faultspec.cli.schemas
[FOLDER]`. The grammar of each file is its only source.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faultspec.language.schema import file_schema, schema_text
from faultspec.project.form import PROJECT

PROJECT_SCHEMA = "project.schema.json"


def project_schema() -> dict[str, Any]:
    """The schema of the project file, which needs no conformance extra."""
    return file_schema(
        PROJECT,
        "faultspec.yaml",
        "The project file of faultspec: taxonomies, output folders and settings of commands.",
    )


def schemas() -> Mapping[str, dict[str, Any]]:
    """The schemas by the name of their file."""
    from faultspec_conformance.config.form import CONFIGURATION
    from faultspec_conformance.results.waivers import FILE

    return {
        PROJECT_SCHEMA: project_schema(),
        "conformance.schema.json": file_schema(
            CONFIGURATION,
            "conformance.yaml",
            "How `faultspec conform` judges a service: target, identities, resources, recipes.",
        ),
        "waivers.schema.json": file_schema(
            FILE,
            "waivers.yaml",
            "Known failures of a service, each with its reason, its owner and its last day.",
        ),
    }


def main(folder: str = "docs") -> None:
    """Write the schemas."""
    for name, schema in schemas().items():
        path = Path(folder) / name
        path.write_text(schema_text(schema), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
