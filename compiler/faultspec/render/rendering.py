"""From a taxonomy to the texts of files: views and templates in, paths and texts out."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from jinja2 import (
    ChoiceLoader,
    FileSystemLoader,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.language.model import Taxonomy
from faultspec.render.environment import bytecode, environment, shipped_templates
from faultspec.render.ownership import COPY_HEADER
from faultspec.render.paths import path_problem
from faultspec.targets import (
    NO_SETTINGS,
    CompileTarget,
    Context,
    Output,
    TargetError,
    TargetSettings,
)
from faultspec.targets.model import model_of

RenderedFile = tuple[str, Iterable[str]]
"""The POSIX path of a file, relative to the output folder, and its text in pieces."""

_COMMENT_SIGNS = {".py": "#", ".ts": "//"}
"""The beginning of a comment in a copied file."""

_PIECES = 2_000
"""Pieces of a template's output that are joined to one: enough for speed, and a few megabytes."""


def rendered_files(
    taxonomy: Taxonomy,
    targets: Iterable[CompileTarget],
    source: str,
    overrides: Path | None = None,
    *,
    alone: bool = False,
    settings: TargetSettings = NO_SETTINGS,
) -> Iterator[RenderedFile]:
    """The files of the targets, one by one; raises TargetError.

    A path begins with the name of its target. ``alone``: the output folder is that of one target.
    It takes the place of the target's folder, and also of the folder of the package in it.
    ``settings``: those of the project file for targets.

    Each file is rendered while its text is read, which must be before the next file is asked for.
    Each view is made for its target and then dropped. So a large taxonomy takes memory for one
    target, and for a part of one file. ``source``: the path of the
    taxonomy in the header of each file. ``overrides``: a folder of templates. One at
    ``<target>/<name>`` replaces the shipped template of that name.
    """
    taken: set[str] = set()
    model = model_of(taxonomy, source)
    roots = [root for root in (overrides, shipped_templates()) if root is not None]
    compiled = bytecode()
    for target in targets:
        folders = [root / target.name for root in roots]
        templates = environment(
            ChoiceLoader([FileSystemLoader(str(folder)) for folder in folders]),
            compiled,
            shipped=overrides is None,
        )
        context = target.context(taxonomy, model, settings)
        if context is None:
            continue
        package = f"{target.package(context)}/"
        for below, texts in _outputs(templates, target, context, folders):
            path = below.removeprefix(package) if alone else f"{target.name}/{below}"
            _reserve(path, taken)
            yield path, texts
        del context  # before the next view is made


def render(
    taxonomy: Taxonomy, targets: Iterable[CompileTarget], source: str, overrides: Path | None = None
) -> dict[str, str]:
    """All files of the targets at once, text by path; see ``rendered_files``."""
    files = rendered_files(taxonomy, targets, source, overrides)
    return {path: "".join(texts) for path, texts in files}


def _outputs(
    templates: ImmutableSandboxedEnvironment,
    target: CompileTarget,
    context: Context,
    folders: Sequence[Path],
) -> Iterator[RenderedFile]:
    for output in target.outputs:
        with _template_errors(output.template, folders):
            template = templates.get_template(output.template)
            for item in _items(output, context):
                names = {"view": context.view, "model": context.model, "each": item}
                path = _path(templates, output.path, names)
                yield path, _pieces(template.generate(names), output.template, folders)
    for path, origin in target.copies(context):
        sign = _COMMENT_SIGNS[origin.suffix]
        yield path, (f"{sign} {COPY_HEADER}\n", origin.read_text(encoding="utf-8"))


def _pieces(texts: Iterator[str], template: str, folders: Sequence[Path]) -> Iterator[str]:
    """The output of a template in larger pieces."""
    with _template_errors(template, folders):
        while pieces := list(islice(texts, _PIECES)):
            yield "".join(pieces)


def _items(output: Output, context: Context) -> Iterable[object]:
    """The items for each of which the template is rendered once."""
    if output.each is None:
        return (None,)
    of_view = output.each.startswith("view.")
    found: Iterable[object] = getattr(
        context.view if of_view else context.model, output.each.removeprefix("view.")
    )
    return found


def _path(templates: ImmutableSandboxedEnvironment, path: str, names: Mapping[str, object]) -> str:
    """The output path; one with a single plain name, as all shipped ones are, is not compiled as a
    template.
    """
    plain = re.fullmatch(r"([^{}]*)(?:\{\{ (view|each)\.([a-z]+) \}\}([^{}]*))?", path)
    if plain is None:
        return templates.from_string(path).render(names)
    before, name, member, after = plain.groups("")
    return before + (str(getattr(names[name], member)) if name else "") + after


@contextmanager
def _template_errors(template: str, folders: Sequence[Path]) -> Iterator[None]:
    """Turn an error in a template into a TargetError with its file and line."""
    try:
        yield
    except TemplateSyntaxError as error:
        place = error.filename or _template_path(template, folders)
        raise _template_problem(
            place, error.lineno, error.message or "the template cannot be read"
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
        if isinstance(error, TemplateNotFound):
            raise _template_problem(
                _template_path(template, folders), None, f"there is no template `{error}`"
            ) from error
        place, line = _line_in_template(error, folders) or (_template_path(template, folders), None)
        message = re.sub(r"'(?:\w+\.)*(\w+) object'", r"a \1", str(error))
        raise _template_problem(place, line, message or type(error).__name__) from error


def _template_path(template: str, folders: Sequence[Path]) -> str:
    paths = (folder / template for folder in folders)
    return next((str(path) for path in paths if path.is_file()), template)


def _template_problem(path: str, line: int | None, message: str) -> TargetError:
    span = None if line is None else Span(line, 1, line, 1)
    return TargetError(
        Diagnostic(
            "bad-template",
            message,
            path,
            span,
            hint="templates/README.md lists the names that a template sees",
        )
    )


def _line_in_template(error: BaseException, folders: Sequence[Path]) -> tuple[str, int] | None:
    """The innermost template line of a traceback, in which Jinja names the template's own file."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if any(name.startswith(str(folder) + os.sep) for folder in folders):
            found = (name, trace.tb_lineno)
        trace = trace.tb_next
    return found


def _reserve(path: str, taken: set[str]) -> None:
    """Refuse a path that leaves the output folder, or that another file has."""
    problem = path_problem(path)
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
