"""The routes of a service without a document, each asked as it was found."""

from collections.abc import Iterator
from dataclasses import replace

from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import likely_values
from faultspec_conformance.session.requests import RequestSpec

#: Requests with a text that no answer may repeat.
_TEXTS = 12


def learned_reads(session: HttpSession) -> Iterator[ProbeResult]:
    """Read each learned route with the values that were seen, then with a canary in each parameter
    of its query. The judge decides.
    """
    reads = [one for one in session.description.operations if one.method == "GET"]
    requests: list[RequestSpec] = []
    texts: list[RequestSpec] = []
    for operation in reads if session.description.learned else ():
        spec = ordinary_request(session, operation, likely_values(session, operation))
        requests.append(spec)
        for parameter in operation.parameters:
            if parameter.where == "query":
                mark = session.canary("value")
                query = {**spec.query, parameter.name: mark.value}
                what = f"a text in `{parameter.name}`"
                texts.append(replace(spec, query=query, canaries=(mark,), trigger=what))
    for spec in (*requests, *texts[:_TEXTS]):
        yield from attempt(_ask(session, spec))


def _ask(session: HttpSession, spec: RequestSpec) -> Iterator[ProbeResult]:
    session.call(spec)
    yield from ()
