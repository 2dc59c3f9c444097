"""Targets of the user's own: a folder of templates with a ``target.yaml`` that maps each to the file it becomes."""

import re
from collections.abc import Mapping
from pathlib import Path

from faultspec.diagnostic import Diagnostic, Span
from faultspec.source import Document, SourceError, load
from faultspec.targets import LISTS, Output, Target, TargetError

DESCRIPTION = "target.yaml"


def targets_in(folder: Path, shipped: Mapping[str, Target]) -> dict[str, Target]:
    """The targets that a folder of templates adds, by name, in order of name; raises TargetError.

    A subfolder with the name of a shipped target overrides templates of that one and needs no description.
    """
    if not folder.is_dir():
        raise TargetError(
            Diagnostic(
                "no-templates", "there is no such folder of templates", str(folder), hint="see templates/README.md"
            )
        )
    found: dict[str, Target] = {}
    for each in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        description = each / DESCRIPTION
        if description.is_file():
            found[each.name] = _target(each.name, description)
        elif each.name not in shipped:
            raise TargetError(
                Diagnostic(
                    "no-target-description",
                    f"`{each.name}` is no shipped target, and its folder has no {DESCRIPTION}",
                    str(each),
                    hint=f"override one of {', '.join(shipped)}, or list the files in {DESCRIPTION}",
                )
            )
    return found


def _target(name: str, path: Path) -> Target:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise TargetError(
            Diagnostic(
                "bad-target-name",
                f"`{name}` is no name of a target",
                str(path),
                hint="lower-case letters, digits, `-` and `_`",
            )
        )
    try:
        document = load(path)
    except SourceError as error:
        raise TargetError(error.diagnostics[0]) from error
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get("files"), list) or not data["files"]:
        raise _wrong(
            document,
            (),
            "a target lists its files",
            "write files: [{template: reference.md.jinja, path: reference.md}]",
        )
    for key in data:
        if key not in ("files", "summary", "model"):
            raise _wrong(document, (key,), f"a target has no key `{key}`", "its keys are files, summary and model")
    return Target(
        name,
        str(data.get("summary", "")),
        tuple(_output(document, index, each) for index, each in enumerate(data["files"])),
    )


def _output(document: Document, index: int, data: object) -> Output:
    at = ("files", index)
    if not isinstance(data, dict) or not isinstance(data.get("template"), str) or not isinstance(data.get("path"), str):
        raise _wrong(
            document, at, "a file has a template and a path", "write {template: reference.md.jinja, path: reference.md}"
        )
    each = data.get("each")
    if each is not None and each not in LISTS:
        raise _wrong(document, (*at, "each"), f"the model has no list `{each}`", f"its lists are {', '.join(LISTS)}")
    for key in data:
        if key not in ("template", "path", "each"):
            raise _wrong(document, (*at, key), f"a file has no key `{key}`", "its keys are template, path and each")
    return Output(data["template"], data["path"], each)


def _wrong(document: Document, path: tuple[str | int, ...], message: str, hint: str) -> "TargetError":
    span: Span | None = document.span(path, key=bool(path) and isinstance(path[-1], str)) if path else None
    return TargetError(Diagnostic("bad-target", message, document.path, span, hint=hint))
