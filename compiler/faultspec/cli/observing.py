"""The parts that the commands share which judge traffic that others sent: options, and the loading
of what they judge by.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from faultspec.cli import reporting
from faultspec.cli.conform import match_clauses
from faultspec.cli.reporting import Refused

if TYPE_CHECKING:
    from faultspec.contract.model import Contract
    from faultspec.language.model import Taxonomy
    from faultspec.openapi.service import Description
    from faultspec_conformance.results.waivers import Waiver

taxonomy_option = click.option(
    "--taxonomy",
    "taxonomy_path",
    type=click.Path(),
    help="The taxonomy to judge by; default: that of faultspec.yaml, else taxonomy.yaml.",
)
openapi_option = click.option(
    "--openapi",
    metavar="FILE",
    help="The service's OpenAPI document, which names operations.",
)
waivers_option = click.option("--waivers", metavar="FILE", help="Known failures.")
only_option = click.option(
    "--only",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Judge only matching clauses, such as 'leaks/*'; can be repeated.",
)
crashes_option = click.option(
    "--crashes",
    type=click.Choice(("error", "warning")),
    default="error",
    show_default=True,
    help="What a crash (`service/no-crash`) counts as: tests may bring crashes about.",
)


class Basis(NamedTuple):
    """By what traffic is judged. ``only``: a pattern of clause addresses; None is all. ``owed``:
    there is no taxonomy, and the traffic is judged by what every service owes.
    """

    contract: "Contract"
    description: "Description | None"
    waivers: tuple["Waiver", ...]
    only: str | None
    owed: bool = False


def load_basis(
    taxonomy_path: str | None,
    openapi: str | None,
    waivers: str | None,
    patterns: Sequence[str],
    *,
    needs_taxonomy: bool = True,
) -> Basis:
    """Read the files that the options name. Raises Refused, and UsageError without a taxonomy that
    is needed.
    """
    from faultspec.contract.clauses import join_patterns, service_clauses
    from faultspec.contract.model import build_contract
    from faultspec_conformance.learning.first import OWED_BY_ANY_SHAPE, no_shape

    owed = not needs_taxonomy and taxonomy_path is None and reporting.find_taxonomy() is None
    taxonomy = no_shape() if owed else reporting.load_taxonomy(taxonomy_path)
    description = reporting.load_description(openapi)
    known = _load_waivers(waivers, taxonomy) if waivers is not None else ()
    only = join_patterns(tuple(patterns))
    if not match_clauses(only, service_clauses(taxonomy)):
        raise Refused
    chosen = only or (OWED_BY_ANY_SHAPE if owed else None)
    return Basis(build_contract(taxonomy), description, known, chosen, owed=owed)


def _load_waivers(path: str, taxonomy: "Taxonomy") -> tuple["Waiver", ...]:
    from faultspec_conformance.results import waivers

    loaded = waivers.read_waivers(path)
    found = [*loaded.diagnostics, *waivers.check_waivers(loaded, taxonomy)]
    reporting.print_diagnostics(found, loaded.sources)
    return waivers.waivers_in_force(loaded.waivers, os.environ)
