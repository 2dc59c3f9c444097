"""``faultspec init audit``: draft the kind of record of a log from a sample of its lines."""

from collections.abc import Mapping

import click
import yaml

from faultspec.cli.extra import require_conformance
from faultspec.cli.new_files import print_refusal


@click.command(name="audit")
@click.argument("sample", type=click.Path())
def command(sample: str) -> int:
    """Draft `telemetry: records:` from SAMPLE, a log or a table, and print it.

    SAMPLE is a file that `faultspec audit` reads, or - for standard input; its first lines are
    enough. The draft has the places of values, never a value. Nothing is written.

    Exit codes: 0 drafted; 1 no line has a status and a URL; 2 the sample could not be read.
    """
    require_conformance()
    from faultspec_conformance.observed.formats import read_sample
    from faultspec_conformance.observed.formats.drafting import draft_record
    from faultspec_conformance.observed.formats.record import NotARecording

    try:
        lines = read_sample(sample)
    except (OSError, NotARecording) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return print_refusal("file-unreadable", reason, sample)
    found = draft_record(lines)
    if found is None:
        message = "no line has a status and a URL where logs usually have them"
        hint = "`faultspec explain records` shows how to declare them"
        print_refusal("no-record", message, sample, hint)
        return 1
    declared = {"telemetry": {"records": {"line": _nest(found.path, found.pointers)}}}
    click.echo(f"# {found.records} records in the {found.lines} lines of the sample.")
    click.echo("# Check the places, then move this into the taxonomy.")
    click.echo(yaml.safe_dump(declared, sort_keys=False, width=100), nl=False)
    return 0


def _nest(path: tuple[str, ...], pointers: Mapping[str, str]) -> dict[str, object]:
    """The keys of the kind; a dot in a name leads one level down."""
    kind: dict[str, object] = {}
    if path:
        kind["unwrap"] = path[0] if len(path) == 1 else list(path)
    for name, pointer in pointers.items():
        part, _, inner = name.partition(".")
        if inner:
            below = kind.setdefault(part, {})
            assert isinstance(below, dict)  # a name with a dot is of a mapping
            below[inner] = pointer
        else:
            kind[part] = pointer
    return kind
