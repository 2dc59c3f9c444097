"""One list of all errors of a service, and lists of the errors of one operation."""

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.probes import discovery
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: boxes, version: 1.0.0, title: Boxes, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  bad: {summary: Bad input., http: 400, retriable: false}
  absent: {summary: Not there., http: 404, retriable: false}
  old: {summary: Not any more., http: 410, retriable: false, lifecycle: removed, since: 0.1.0}
  inner: {summary: Of another transport., http: null, http_reason: Elsewhere., retriable: false}
discovery: {errors: {request: REQUEST, kind: errors, item: {code: /code, http: /status}}}
"""

OPERATIONS = """
operations:
  stock:
    codes: [absent]
    errors: {empty: {summary: No stock., http: 409, retriable: false}}
  ship:
    errors: {empty: {summary: No box., http: 422, retriable: false}}
"""

BAD, ABSENT = {"code": "bad", "status": 400}, {"code": "absent", "status": 404}
EMPTY, NO_BOX = {"code": "empty", "status": 409}, {"code": "empty", "status": 422}


def problems(request: str, taxonomy: str, **lists: object) -> list[str | None]:
    """The outcomes for a service that publishes these lists; None for one that agrees."""

    def respond(asked: Request) -> Response:
        return answer(200, lists[asked.target.rpartition("/")[2]])

    session = http_session(respond, taxonomy.replace("REQUEST", request))
    outcomes = list(discovery.published_errors(session))
    return [getattr(getattr(each, "finding", None), "message", None) for each in outcomes]


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([BAD, ABSENT], None),
        ([BAD], "the service does not publish its error absent"),
        ([BAD, ABSENT, {"code": "old", "status": 410}], "publishes the error old"),
        ([BAD, {"code": "absent", "status": 410}], "absent with the status 410"),
    ],
)
def test_one_list_has_every_code_of_the_service(items: object, problem: str | None) -> None:
    """A list that is asked for without an operation has all live codes over HTTP, and is compared
    once, also if no operation is declared.
    """
    (found,) = problems("GET /errors", TAXONOMY, errors=items)
    assert (found is None) == (problem is None)
    assert problem is None or problem in str(found)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([BAD, ABSENT, EMPTY], None),
        ([BAD, ABSENT, EMPTY, NO_BOX], None),
        ([BAD, ABSENT], "the service does not publish its error empty"),
        ([BAD, ABSENT, {"code": "empty", "status": 400}], "empty with the status 400"),
    ],
)
def test_one_list_has_the_errors_of_all_operations(items: object, problem: str | None) -> None:
    """Two operations may have errors of the same code; an item may be either."""
    (found,) = problems("GET /errors", TAXONOMY + OPERATIONS, errors=items)
    assert (found is None) == (problem is None)
    assert problem is None or problem in str(found)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([EMPTY], None),
        ([EMPTY, ABSENT], None),
        ([EMPTY, BAD], "`stock` publishes the error bad, which it does not have"),
        ([ABSENT], "`stock` does not publish its error empty"),
    ],
)
def test_the_list_of_an_operation_may_have_the_shared_codes_that_it_names(
    items: object, problem: str | None
) -> None:
    """The errors of an operation are its own and the shared codes under its `codes`."""
    found = problems(
        '"GET /errors/${operation}"', TAXONOMY + OPERATIONS, stock=items, ship=[NO_BOX]
    )
    assert (found[0] is None) == (problem is None)
    assert found[1] is None
    assert problem is None or problem in str(found[0])
