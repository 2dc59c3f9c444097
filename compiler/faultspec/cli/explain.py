"""``faultspec explain``: explain a name of faultspec or of a taxonomy."""

import click

from faultspec.cli.explanations import load_explanations
from faultspec.diagnostics.formats.escaping import escape_line, visible_lines
from faultspec.language.grammar import closest
from faultspec.project import FILE


@click.command(name="explain")
@click.argument("name")
@click.option(
    "--taxonomy",
    "path",
    type=click.Path(),
    help=(
        "The taxonomy that declares the codes. Default: those of faultspec.yaml, else "
        "taxonomy.yaml."
    ),
)
def command(name: str, path: str | None) -> int:
    """Explain NAME.

    NAME is a code or a ruling of the taxonomy, a lint rule, a rule of `faultspec diff`
    (code/status), a clause, the code of a diagnostic (unknown-key), a construct of the language
    (codes.retriable), or a key of conformance.yaml, waivers.yaml, faultspec.yaml or a ledger
    (limits.requests, resources.*.create). The name of such a file lists its keys.

    Exit codes: 0 explained; 1 the name is unknown; 2 the name is unknown, and a taxonomy or
    faultspec.yaml could not be read.
    """
    explanations = load_explanations(path)
    found = explanations.find(name)
    if found:
        click.echo("\n".join(visible_lines("\n\n".join(found))))
        return 0
    click.echo(f"`{escape_line(name)}` is unknown", err=True)
    hint = closest(name, explanations.names())
    if hint:
        click.echo(f"  hint: {hint}", err=True)
    for file in explanations.unreadable:
        see = "faultspec lint" if file == FILE else f"faultspec lint {file}"
        note = f"  note: {file} could not be read, so its codes are unknown; see `{see}`"
        click.echo(note, err=True)
    return 2 if explanations.unreadable else 1
