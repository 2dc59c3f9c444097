"""Lines of logs, each with the kind of record that reads it: for explanations, and for tests."""

from importlib.resources import files
from typing import Any, NamedTuple

import yaml


class RecordExample(NamedTuple):
    """A line as a program writes it, and the kind of record that reads it, as in a taxonomy."""

    title: str
    line: str
    record: dict[str, Any]


def record_examples() -> list[RecordExample]:
    """The examples, plain lines first, then text, then what collectors wrap lines in."""
    text = (files("faultspec.language") / "record_examples.yaml").read_text(encoding="utf-8")
    return [
        RecordExample(data["title"], data["line"].strip("\n"), data["record"])
        for data in yaml.safe_load(text)
    ]
