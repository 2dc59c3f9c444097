"""The order of imported operations."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from faultspec.importers.route_order import order_by_route
from faultspec.language.model import Match
from faultspec.lint.matching import claims_all_of
from support.examples import examples

segments = st.sampled_from(["orders", "latest", "{id}", "**", "*"])
routes = st.lists(segments, min_size=1, max_size=3).map(lambda each: "GET /" + "/".join(each))
queries = st.sampled_from([{}, {"view": "full"}, {"view": "*"}])


@given(st.lists(st.tuples(routes, queries), max_size=6))
@examples(200)
def test_every_operation_is_reached(matches: list[tuple[str, dict[str, str]]]) -> None:
    """No operation stands behind one that claims all of its requests and more, and none is lost."""
    known = {
        f"o{number}": Match(routes=(route,), query={name: (query[name],) for name in query})
        for number, (route, query) in enumerate(matches)
    }
    operations = {
        f"o{number}": {"match": {"routes": [route], "query": query}}
        for number, (route, query) in enumerate(matches)
    }
    ordered = order_by_route(operations)
    assert ordered == operations
    for earlier, later in combinations(ordered, 2):
        wider = claims_all_of(known[earlier], known[later])
        assert not wider or claims_all_of(known[later], known[earlier]), (earlier, later)


def test_an_order_that_works_stays() -> None:
    """Operations that do not claim each other's requests keep their places."""
    names = ["b", "a", "c"]
    operations = {name: {"match": {"routes": [f"GET /{name}/{{id}}"]}} for name in names}
    assert list(order_by_route(operations)) == names
