"""From a taxonomy to files: templates in, a tree of texts out, and the tree kept in step with the disk.

``render`` is pure but for reading templates; ``check`` compares a tree with a folder; ``write`` makes the folder equal
to it, wholly or not at all. ``MANIFEST`` lists the files a compile wrote, by path only, so that a later one can remove
those that are no longer produced without ever touching a file it did not write.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jinja2 import (
    BaseLoader,
    BytecodeCache,
    ChoiceLoader,
    FileSystemBytecodeCache,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.language.model import Taxonomy
from faultspec.targets import CompileTarget, Context, Output, TargetError, filters
from faultspec.targets.model import model_of

MANIFEST = "MANIFEST"

Tree = Mapping[str, str]
"""Text by POSIX path, relative to the output folder. Paths begin with the name of their target."""


class Drift(NamedTuple):
    """One way in which a folder differs from the tree it should hold.

    ``modified``: other content. ``missing``: not there. ``stale``: listed in the manifest, no longer produced.
    ``untracked``: there, and neither produced nor listed. ``diff``: a unified diff from what is there to what should
    be.
    """

    path: str
    kind: Literal["modified", "missing", "stale", "untracked"]
    diff: str = ""


# Rendering


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox, which has nothing to look into where a template asks a row for one of its members: that is data.

    All but a few look-ups of a template are such, and what the sandbox asks of each takes ten times as long. A row is a
    named tuple of ours; whether what is called may be called is still asked.
    """

    def getattr(self, obj: Any, attribute: str) -> Any:
        row = type(obj)
        if attribute in getattr(row, "_fields", ()) or (
            hasattr(row, "_fields") and not attribute.startswith("_") and hasattr(row, attribute)
        ):
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)


def environment(
    loader: BaseLoader, compiled: BytecodeCache | None = None
) -> ImmutableSandboxedEnvironment:
    """The environment of every template, shipped or not; ``compiled``: where those of earlier runs are kept.

    Sandboxed, because a folder of templates may come from anywhere; strict, because a misspelled name must not render
    as nothing. Autoescaping is off: nothing here is HTML, and each language has a filter that knows its quoting.
    """
    made = _Sandbox(
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=compiled,
    )
    made.filters.update(filters.FILTERS)
    return made


def _bytecode() -> FileSystemBytecodeCache | None:
    """Compiled templates of earlier runs, found by their text; compiling them takes a third of a small compile.

    Jinja keeps them in a folder for temporary files that belongs to this user alone, and refuses any other.
    """
    try:
        return FileSystemBytecodeCache(pattern="__faultspec_%s.cache")
    except (RuntimeError, OSError):
        return None


def shipped_templates() -> Path:
    """The folder of the shipped templates: ``faultspec/templates`` in a wheel, ``templates`` in a checkout."""
    here = Path(__file__).resolve().parents[1]
    installed = here / "templates"
    return installed if installed.is_dir() else here.parent.parent / "templates"


def render(
    taxonomy: Taxonomy, targets: Iterable[CompileTarget], source: str, overrides: Path | None = None
) -> Tree:
    """The whole tree of the targets; raises TargetError.

    ``source``: the taxonomy's path as the header of each file names it. ``overrides``: a folder of templates; one at
    ``<target>/<name>`` takes the place of the shipped template of that name.
    """
    tree: dict[str, str] = {}
    taken: set[str] = set()
    model = model_of(taxonomy, source)
    roots = [each for each in (overrides, shipped_templates()) if each is not None]
    compiled = _bytecode()
    for target in targets:
        folders = [each / target.name for each in roots]
        templates = environment(
            ChoiceLoader([FileSystemLoader(str(each)) for each in folders]), compiled
        )
        context = target.context(taxonomy, model)
        if context is None:
            continue
        for path, text in _outputs(templates, target, context, folders):
            _reserve(f"{target.name}/{path}", taken)
            tree[f"{target.name}/{path}"] = text
    return tree


def _outputs(
    templates: ImmutableSandboxedEnvironment,
    target: CompileTarget,
    context: Context,
    folders: Sequence[Path],
) -> Iterator[tuple[str, str]]:
    for output in target.outputs:
        with _template_errors(output.template, folders):
            template = templates.get_template(output.template)
            for item in _items(output, context):
                names = {"view": context.view, "model": context.model, "each": item}
                yield _path(templates, output.path, names), template.render(names)
    for path, origin in target.copies(context):
        yield path, origin.read_text(encoding="utf-8")


def _items(output: Output, context: Context) -> Iterable[object]:
    """What the template is rendered once for each of."""
    if output.each is None:
        return (None,)
    of_view = output.each.startswith("view.")
    found: Iterable[object] = getattr(
        context.view if of_view else context.model, output.each.removeprefix("view.")
    )
    return found


def _path(templates: ImmutableSandboxedEnvironment, path: str, names: Mapping[str, object]) -> str:
    """The output path; one with a single plain name in it, such as every shipped one, needs no template compiled."""
    plain = re.fullmatch(r"([^{}]*)(?:\{\{ (view|each)\.([a-z]+) \}\}([^{}]*))?", path)
    if plain is None:
        return templates.from_string(path).render(names)
    before, name, member, after = plain.groups("")
    return before + (str(getattr(names[name], member)) if name else "") + after


@contextmanager
def _template_errors(template: str, folders: Sequence[Path]) -> Iterator[None]:
    """Turn whatever a template does wrong into a TargetError that names its file and line."""
    try:
        yield
    except TemplateSyntaxError as error:
        place = error.filename or _template_path(template, folders)
        raise _template_problem(
            place, error.lineno, error.message or "it cannot be read"
        ) from error
    except (
        TemplateError,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        if isinstance(error, TemplateError) and type(error).__name__ == "TemplateNotFound":
            raise _template_problem(
                _template_path(template, folders), None, f"there is no template `{error}`"
            ) from error
        place, line = _line_in_template(error, folders) or (_template_path(template, folders), None)
        said = re.sub(r"'(?:\w+\.)*(\w+) object'", r"a \1", str(error))
        raise _template_problem(place, line, said or type(error).__name__) from error


def _template_path(template: str, folders: Sequence[Path]) -> str:
    return next((str(each / template) for each in folders if (each / template).is_file()), template)


def _template_problem(path: str, line: int | None, message: str) -> TargetError:
    span = None if line is None else Span(line, 1, line, 1)
    return TargetError(
        Diagnostic(
            "bad-template",
            message,
            path,
            span,
            hint="templates/README.md lists what a template sees",
        )
    )


def _line_in_template(error: BaseException, folders: Sequence[Path]) -> tuple[str, int] | None:
    """The innermost template line of a traceback, which Jinja rewrites to name the template's own file."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if any(name.startswith(str(each) + os.sep) for each in folders):
            found = (name, trace.tb_lineno)
        trace = trace.tb_next
    return found


def _reserve(path: str, taken: set[str]) -> None:
    """Refuse a path that leaves the folder, or that another file has."""
    problem = _unsafe(path)
    if problem is not None:
        raise TargetError(
            Diagnostic(
                "bad-output-path",
                f"`{path}` {problem}",
                "target.yaml",
                hint="name a file below the output folder",
            )
        )
    # Two files that differ by case alone are one file on the file systems of Windows and macOS.
    if path.casefold() in taken:
        raise TargetError(
            Diagnostic(
                "duplicate-output",
                f"two templates write `{path}`",
                "target.yaml",
                hint="give one another path",
            )
        )
    taken.add(path.casefold())


def _unsafe(path: str) -> str | None:
    """Why a path must not be written to, or None."""
    if path.startswith("/") or ":" in path or "\\" in path:
        return "is not a relative POSIX path"
    if not path.isprintable():
        return "has characters that cannot be seen"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "leaves the output folder, or names a folder"
    return None


# Comparing


def check(
    tree: Tree,
    folder: Path,
    targets: Sequence[str],
    source: Path | None = None,
    *,
    whole: bool = False,
) -> tuple[Drift, ...]:
    """How ``folder`` differs from ``tree``, in order of path; empty when it does not.

    ``targets``: the targets that were rendered; files of others are none of this comparison's business. ``source``: the
    taxonomy's file. A folder that holds it is more than an output folder: only the targets' own folders in it are
    looked at. ``whole``: every target there is was rendered, so that a folder of none of them is untracked.
    """
    listed = [each for each in _manifest(folder) if _of(each, targets)]
    found: list[Drift] = []
    for path, text in tree.items():
        there = _read(folder, path)
        if there is None:
            found.append(Drift(path, "missing", _diff(path, "", text)))
        elif there != text:
            found.append(Drift(path, "modified", _diff(path, there, text)))
    for path in listed:
        if path not in tree and (there := _read(folder, path)) is not None:
            found.append(Drift(path, "stale", _diff(path, there, "")))
    known = {MANIFEST, *tree, *_manifest(folder)}
    shared = source is not None and source.resolve().is_relative_to(folder.resolve())
    found += [
        Drift(path, "untracked")
        for path in _files(folder)
        if path not in known
        and (
            "/" in path and _of(path, targets)
            if shared
            else whole or "/" not in path or _of(path, targets)
        )
    ]
    manifest = manifest_text(tree, folder, targets)
    there = _read(folder, MANIFEST)
    if there != manifest and not found:
        found.append(
            Drift(
                MANIFEST,
                "modified" if there is not None else "missing",
                _diff(MANIFEST, there or "", manifest),
            )
        )
    return tuple(sorted(found, key=lambda each: each.path))


def listed_targets(folder: Path) -> tuple[str, ...]:
    """The targets whose files the folder's manifest lists, be they still there or not."""
    return tuple(dict.fromkeys(each.partition("/")[0] for each in _manifest(folder)))


def manifest_text(tree: Tree, folder: Path, targets: Sequence[str]) -> str:
    """The manifest after a compile of ``targets`` into ``folder``: one path a line, sorted, those of other targets
    kept.
    """
    kept = [each for each in _manifest(folder) if not _of(each, targets)]
    return "".join(f"{each}\n" for each in sorted({*kept, *tree}))


def _of(path: str, targets: Sequence[str]) -> bool:
    return path.split("/", 1)[0] in targets


def _manifest(folder: Path) -> list[str]:
    """The paths listed in the folder's manifest; lines that no compile would have written are passed over."""
    return [
        each
        for each in (_read(folder, MANIFEST) or "").splitlines()
        if "/" in each and _unsafe(each) is None
    ]


def _read(folder: Path, path: str) -> str | None:
    """The file's text, or None when there is none; bytes that are not UTF-8 are shown as escapes."""
    try:
        return (folder / path).read_bytes().decode("utf-8", "backslashreplace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _files(folder: Path) -> Iterator[str]:
    """Every file below ``folder``, but for what tools leave behind when they run over it: ``__pycache__`` and dot
    folders.
    """
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            each for each in folders if each != "__pycache__" and not each.startswith(".")
        )
        above = Path(root).relative_to(folder)
        for file in sorted(files):
            yield (above / file).as_posix()


def _diff(path: str, there: str, wanted: str) -> str:
    import difflib  # here, since a check that finds nothing has no use for it

    before, after = there.splitlines(keepends=True), wanted.splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, f"{path} (on disk)", f"{path} (compiled)")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


# Writing


class WriteSummary(NamedTuple):
    """What a write did: the paths it wrote and those it removed, in order."""

    written: tuple[str, ...]
    removed: tuple[str, ...]


def write(tree: Tree, folder: Path, targets: Sequence[str]) -> WriteSummary:
    """Make the targets' part of ``folder`` equal to ``tree``; raises TargetError and leaves the folder as it was.

    Everything is first written to a folder beside the files it will replace, then moved into place one rename at a
    time, each undone if a later one fails. Files that are right already are not touched. Only files that an earlier
    manifest lists are ever removed.
    """
    wanted = {**tree, MANIFEST: manifest_text(tree, folder, targets)}
    changed = [path for path, text in wanted.items() if _read(folder, path) != text]
    stale = [
        path
        for path in _manifest(folder)
        if _of(path, targets) and path not in tree and (folder / path).is_file()
    ]
    if not changed and not stale:
        return WriteSummary((), ())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in (*changed, *stale):
            _contained(folder, path)
        with tempfile.TemporaryDirectory(prefix=".faultspec-", dir=folder) as staging:
            _swap(folder, Path(staging), {path: wanted[path] for path in changed}, stale)
    except OSError as error:
        where = str(error.filename or folder)
        raise TargetError(
            Diagnostic(
                "cannot-write",
                error.strerror or str(error),
                where,
                hint="nothing was changed; see that the folder can be written to",
            )
        ) from error
    for path in stale:
        _prune((folder / path).parent, folder)
    return WriteSummary(tuple(changed), tuple(stale))


def _contained(folder: Path, path: str) -> None:
    """Refuse a path that a symbolic link leads out of the folder."""
    target = (folder / path).parent.resolve()
    if not target.is_relative_to(folder.resolve()):
        raise TargetError(
            Diagnostic(
                "bad-output-path",
                f"`{path}` leads out of the output folder through a symbolic link",
                str(folder),
                hint="remove the link",
            )
        )
    if (folder / path).is_dir() and not (folder / path).is_symlink():
        raise TargetError(
            Diagnostic(
                "cannot-write",
                "a folder stands where a file is to be written",
                str(folder / path),
                hint="move it away",
            )
        )


def _swap(folder: Path, staging: Path, changed: Mapping[str, str], stale: Sequence[str]) -> None:
    fresh, old = staging / "new", staging / "old"
    for path, text in changed.items():
        _make_parent(fresh / path)
        # Bytes, so that no platform turns the line ends into its own.
        (fresh / path).write_bytes(text.encode("utf-8", "backslashreplace"))
    undo: list[tuple[Path, Path | None]] = []
    made: list[Path] = []
    try:
        for path in (*changed, *stale):
            place, kept = folder / path, old / path
            made += _make_parent(place)
            if place.is_symlink() or place.exists():
                _make_parent(kept)
                os.replace(place, kept)
                undo.append((place, kept))
            if path in changed:
                os.replace(fresh / path, place)
                if not undo or undo[-1][0] != place:
                    undo.append((place, None))
    except BaseException:
        for place, before in reversed(undo):
            if before is not None:
                os.replace(before, place)
            else:
                place.unlink(missing_ok=True)
        for each in reversed(made):
            with suppress(OSError):
                each.rmdir()
        raise


def _make_parent(path: Path) -> list[Path]:
    """Make the folders above ``path`` that are not there, and name them, outermost first."""
    missing = []
    each = path.parent
    while not each.exists():
        missing.append(each)
        each = each.parent
    path.parent.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _prune(each: Path, top: Path) -> None:
    """Remove the folders from ``each`` up to ``top`` that a removal left empty."""
    while each != top and each.is_relative_to(top):
        try:
            each.rmdir()
        except OSError:
            return
        each = each.parent
