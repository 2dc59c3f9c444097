"""The report of a run that did not write one itself: its process hung, or ended."""

from collections.abc import Mapping

from faultspec.contract.clauses import Clause
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers.http import without_credentials
from faultspec_conformance.results.model import ClauseResult, Report, Result
from faultspec_conformance.session.options import RunOptions, day_of_run


def lost_report(
    target: ServiceConfig,
    taxonomy: Taxonomy,
    options: RunOptions,
    reason: str,
    clauses: Mapping[str, Clause],
) -> Report:
    """A report in which no clause could run, for ``reason``. Nothing of the service is in it."""
    address = without_credentials(target.address) if target.transport == "http" else ""
    result = Result(
        target=address,
        taxonomy=f"{taxonomy.name} {taxonomy.version}",
        clauses={
            name: ClauseResult(name, clause.title, clause.statements, not_run=(reason,))
            for name, clause in clauses.items()
        },
        not_run=(reason,),
        shards=() if options.shard is None else (options.shard,),
        complete=False,
    )
    return Report(
        result,
        base=address,
        only=options.only,
        source=target.path,
        day=day_of_run(options),
        seed=options.seed,
    )
