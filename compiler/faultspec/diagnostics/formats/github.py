"""Workflow commands, which GitHub Actions shows as annotations."""

from typing import Literal, NamedTuple

from faultspec.diagnostics.formats.escaping import visible_lines
from faultspec.diagnostics.model import Span


class Annotation(NamedTuple):
    """A text at a file, at a span of it, or at the whole run."""

    level: Literal["error", "warning", "notice"]
    title: str
    message: str
    file: str | None = None
    span: Span | None = None


def workflow_command(annotation: Annotation) -> str:
    """The annotation as one line, `::error file=…,line=…,title=…::message`."""
    properties: dict[str, object] = {}
    if annotation.file is not None:
        properties["file"] = annotation.file
    if span := annotation.span:
        properties |= {"line": span.line, "endLine": span.end_line, "col": span.column}
        if span.end_line == span.line:
            # GitHub accepts an end column within one line only, and counts it inclusively.
            properties["endColumn"] = max(span.column, span.end_column - 1)
    properties["title"] = annotation.title
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{annotation.level} {listed}::{_data(annotation.message)}\n"


def _data(value: str) -> str:
    return "%0A".join(visible_lines(value.replace("%", "%25")))


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
