"""A service of one kind of resource with two tenants, ann and ben, judged as a run judges it."""

import json
from pathlib import Path

from starlette.applications import Starlette

from faultspec.language import read
from faultspec_conformance.config import Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures.serve import serving


def judged(
    folder: Path,
    app: Starlette,
    taxonomy: str,
    document: object,
    resource: ResourceConfig,
    *,
    requests: int,
    only: str | None = None,
) -> Report:
    """The report of the probes; ``document``: the OpenAPI document of the service, which is written
    into the folder.
    """
    place = folder / "openapi.json"
    place.write_text(json.dumps(document), encoding="utf-8")
    loaded = read(taxonomy, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    with serving(app) as url:
        target = ServiceConfig(
            http=url,
            openapi_file=str(place),
            identities={
                name: Identity(
                    name,
                    headers=(("Authorization", name),),
                    tenant=name,
                )
                for name in ("ann", "ben")
            },
            resources={resource.name: resource},
            limits=Limits(requests=requests, seconds=30, writes=True),
        )
        report = run(target, loaded.taxonomy, RunOptions(sweep=False, only=only))
    assert isinstance(report, Report)
    return report
