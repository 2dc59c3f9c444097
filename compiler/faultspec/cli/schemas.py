"""The JSON Schemas of the files that commands read, for editors, and their reference page:
`python -m faultspec.cli.schemas [FOLDER]`. The grammar of each file is their only source.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faultspec.cli.files import PROJECT_FILE, UserFile, files_page, user_files
from faultspec.language.schema import file_schema, schema_text

PROJECT_SCHEMA = PROJECT_FILE.schema


def _schema(file: UserFile) -> dict[str, Any]:
    return file_schema(file.grammar, file.name, file.summary)


def project_schema() -> dict[str, Any]:
    """The schema of the project file, which needs no conformance extra."""
    return _schema(PROJECT_FILE)


def schemas() -> Mapping[str, dict[str, Any]]:
    """The schemas by the name of their file."""
    return {file.schema: _schema(file) for file in user_files()}


def main(folder: str = "docs") -> None:
    """Write the schemas and the reference page."""
    pages = {name: schema_text(schema) for name, schema in schemas().items()}
    for name, text in {**pages, "reference/files.md": files_page()}.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
