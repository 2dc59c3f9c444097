"""``faultspec trace-code``: compare what a program raises with its taxonomy."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from faultspec.cli.printing import format_option, print_in_format
from faultspec.cli.project import declared_taxonomies, find_project
from faultspec.diagnostics import printers
from faultspec.language import load
from faultspec.raising.findings import trace_program
from faultspec.raising.flow import code_classes
from faultspec.raising.sources import Program, TooLarge, read_program


class _Sources(Mapping[str, str]):
    """The texts of a program and its taxonomy by path, each decoded when it is shown."""

    def __init__(self, program: Program, taxonomy: Mapping[str, str]) -> None:
        self._modules = {module.path: module for module in program.modules.values()}
        self._taxonomy = taxonomy

    def __getitem__(self, path: str) -> str:
        module = self._modules.get(path)
        return self._taxonomy[path] if module is None else module.text

    def __iter__(self) -> Iterator[str]:
        return iter({**self._modules, **self._taxonomy})

    def __len__(self) -> int:
        return sum(1 for _ in self)


@click.command(name="trace-code")
@click.argument("package", type=click.Path(exists=True))
@click.option(
    "--taxonomy",
    "path",
    type=click.Path(),
    help="The taxonomy. Default: that of faultspec.yaml, else taxonomy.yaml.",
)
@click.option(
    "--bindings",
    metavar="NAME",
    help="The generated package, if it does not have the name of the taxonomy.",
)
@click.option(
    "--boundary", metavar="NAME", help="Only codes of this boundary have to be raised here."
)
@format_option
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
def command(
    package: str,
    path: str | None,
    bindings: str | None,
    boundary: str | None,
    style: str,
    strict: bool,
) -> int:
    """Compare what PACKAGE, a folder or a file of Python, raises with the taxonomy.

    It finds codes that no line raises, codes that a route may raise and its operation does not
    list, and errors of the framework that have no code. The source is read and never run: a raise
    or a call that cannot be followed is a note.

    Exit codes: 0 no errors (with --strict, no warnings either); 1 findings; 2 a file could not be
    read.
    """
    around = find_project() if path is None else None
    if around is not None and around.project is None:
        print_in_format(around.diagnostics, around.sources, style, text_to_stdout=True)
        return 2
    declared = declared_taxonomies(None if around is None else around.project)
    if path is None and len(declared) != 1:
        raise click.UsageError("the project has several taxonomies: choose one with --taxonomy")
    loaded = load(path or declared[0])
    errors = [found for found in loaded.diagnostics if found.severity == "error"]
    if loaded.taxonomy is None or errors:
        print_in_format(errors, loaded.sources, style, text_to_stdout=True)
        return 2
    if boundary is not None and boundary not in loaded.taxonomy.boundaries:
        known = ", ".join(loaded.taxonomy.boundaries)
        raise click.BadParameter(f"{boundary!r} is not a boundary; there are {known}")
    classes = code_classes(loaded.taxonomy, bindings)
    try:
        program = read_program(Path(package), {classes.package})
        trace = trace_program(program, loaded, classes, boundary)
    except TooLarge as error:
        raise click.UsageError(f"{error}: name a part of it") from None
    sources = _Sources(program, loaded.sources)
    print_in_format(trace.diagnostics, sources, style, text_to_stdout=True)
    click.echo(
        f"{trace.files} files, {trace.functions} functions, {trace.routes} routes; "
        f"{trace.raised} of {trace.declared} codes are raised; "
        f"{printers.summary(list(trace.diagnostics))}",
        err=True,
    )
    severities = {found.severity for found in trace.diagnostics}
    if program.problems:
        return 2
    return int("error" in severities or (strict and "warning" in severities))
