"""``faultspec demo``: judge the reference service, on loopback."""

from importlib import resources
from pathlib import Path

import click

from faultspec.cli.extra import require_conformance


def shipped_taxonomy() -> str:
    """The path of the Core Platform taxonomy: in the checkout, else the copy in the wheel."""
    in_place = Path(__file__).resolve().parents[3] / "taxonomy.yaml"
    return str(
        in_place if in_place.is_file() else resources.files("faultspec") / "data" / "taxonomy.yaml"
    )


@click.command(name="demo")
@click.option(
    "--serve", "only_serve", is_flag=True, help="Only start the orders service, until interrupted."
)
@click.option(
    "--sin",
    metavar="NAME",
    help="The defect to show; an unknown name lists all. Default: ignores-idempotency-key.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="With --serve: the loopback port; default: a free one.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports/demo"),
    show_default=True,
    help="The folder for the compiled files and the reports.",
)
def command(only_serve: bool, sin: str | None, port: int, out: Path) -> int:
    """Compile the Core Platform taxonomy, judge the orders service, then judge it again with one
    defect.
    """
    require_conformance()
    from faultspec.diagnostics.printers import text
    from faultspec.targets import TargetError
    from faultspec_conformance.orders import demo
    from faultspec_conformance.orders.sins import SINS

    if sin is not None and sin not in SINS:
        listed = "\n".join(f"  {known.name:24} {known.sentence}" for known in SINS.values())
        raise click.UsageError(f"{sin!r} is not a sin; the sins are\n{listed}")
    if only_serve:
        try:
            demo.serve(sin, port, click.echo)
        except OSError as error:
            raise click.UsageError(f"port {port} cannot be used: {error.strerror}") from None
        return 0
    try:
        out.mkdir(parents=True, exist_ok=True)
        return demo.demonstrate(
            shipped_taxonomy(), out, sin or "ignores-idempotency-key", click.echo
        )
    except TargetError as error:
        click.echo(text([error.diagnostic], {}), err=True, nl=False)
        return 2
