"""Targets of the user's own: a folder of templates with a ``target.yaml`` that maps each to the
file it becomes.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.language.grammar import closest
from faultspec.source import Document, SourceError, load_document, read_bytes
from faultspec.targets import LISTS, CompileTarget, Output, TargetError

DESCRIPTION = "target.yaml"


def targets_in(folder: Path, shipped: Mapping[str, CompileTarget]) -> dict[str, CompileTarget]:
    """The targets that a folder of templates adds, by name, in order of name; raises TargetError.

    A subfolder with the name of a shipped target overrides its templates and needs no description.
    A template that is never used is refused: it is misspelled, or in the wrong place.
    """
    if not os.path.isdir(folder):
        raise TargetError(
            Diagnostic(
                "no-templates",
                "there is no such folder of templates",
                str(folder),
                hint="see templates/README.md",
            )
        )
    _refuse_irregular(folder)
    for stray in sorted(folder.glob("*.jinja")):
        hint = f"move it into the folder of its target, such as {folder}/python"
        raise _useless_file(stray, f"`{stray.name}` is the template of no target", hint)
    found: dict[str, CompileTarget] = {}
    for each in sorted(
        path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")
    ):
        description = each / DESCRIPTION
        if description.is_file():
            found[each.name] = _target(each.name, description)
        elif each.name not in shipped:
            raise TargetError(
                Diagnostic(
                    "no-target-description",
                    f"`{each.name}` is not a shipped target, and its folder lacks {DESCRIPTION}",
                    str(each),
                    hint=f"override one of {', '.join(shipped)}, or write a {DESCRIPTION}",
                )
            )
        else:
            _refuse_unknown(each, shipped[each.name])
    if not any(folder.rglob("*.jinja")):
        hint = f"put them into the folders of their targets, such as {folder}/python"
        raise _useless_file(folder, "the folder of templates is empty", hint)
    return found


def _refuse_irregular(folder: Path) -> None:
    """Refuse links that lead out of the folder, for the text of any file would be generated; and
    pipes, devices and dead links, in whose place shipped templates would be rendered.
    """
    root = Path(os.path.realpath(folder))
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root):
            problem = "a symbolic link leads out of the folder of templates"
        elif not path.is_file() and not path.is_dir() and not path.name.startswith("."):
            problem = "this is not a regular file"
        else:
            continue
        hint = "copy the file into the folder"
        raise TargetError(Diagnostic("bad-template-path", problem, str(path), hint=hint))


def _refuse_unknown(folder: Path, target: CompileTarget) -> None:
    """Refuse a template that its shipped target lacks and that no other template of the folder
    includes.
    """
    known = tuple(dict.fromkeys(output.template for output in target.outputs))
    texts = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*.jinja"))
        if path.is_file()
    }
    for name, path in texts.items():
        included = any(
            name.encode() in _read_template(each)
            for other, each in texts.items()
            if other != name and each.is_file()
        )
        if name not in known and not included:
            message = f"the target `{target.name}` has no template `{name}`"
            raise _useless_file(
                path, message, closest(name, known) or f"its templates are {', '.join(known)}"
            )


def _read_template(path: Path) -> bytes:
    """The bytes of a template. Raises TargetError."""
    try:
        return read_bytes(str(path))
    except SourceError as error:
        raise TargetError(error.diagnostics[0]) from error


def _useless_file(path: Path, message: str, hint: str) -> TargetError:
    return TargetError(Diagnostic("unused-template", message, str(path), hint=hint))


def _target(name: str, path: Path) -> CompileTarget:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise TargetError(
            Diagnostic(
                "bad-target-name",
                f"`{name}` is not the name of a target",
                str(path),
                hint="lower-case letters, digits, `-` and `_`",
            )
        )
    try:
        document = load_document(path)
    except SourceError as error:
        raise TargetError(error.diagnostics[0]) from error
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get("files"), list) or not data["files"]:
        raise _error_at(
            document,
            (),
            "a target lists its files",
            "write files: [{template: reference.md.jinja, path: reference.md}]",
        )
    for key in data:
        if key not in ("files", "summary", "model"):
            raise _error_at(
                document,
                (key,),
                f"a target has no key `{key}`",
                "its keys are files, summary and model",
            )
    return CompileTarget(
        name,
        str(data.get("summary", "")),
        tuple(_output(document, index, each) for index, each in enumerate(data["files"])),
    )


def _output(document: Document, index: int, data: object) -> Output:
    at = ("files", index)
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("template"), str)
        or not isinstance(data.get("path"), str)
    ):
        raise _error_at(
            document,
            at,
            "a file has a template and a path",
            "write {template: reference.md.jinja, path: reference.md}",
        )
    each = data.get("each")
    if each is not None and each not in LISTS:
        raise _error_at(
            document,
            (*at, "each"),
            f"the model has no list `{each}`",
            f"its lists are {', '.join(LISTS)}",
        )
    for key in data:
        if key not in ("template", "path", "each"):
            raise _error_at(
                document,
                (*at, key),
                f"a file has no key `{key}`",
                "its keys are template, path and each",
            )
    return Output(data["template"], data["path"], each)


def _error_at(
    document: Document, path: tuple[str | int, ...], message: str, hint: str
) -> "TargetError":
    span: Span | None = (
        document.span(path, key=bool(path) and isinstance(path[-1], str)) if path else None
    )
    return TargetError(Diagnostic("bad-target", message, document.path, span, hint=hint))
