"""The map of operations and codes, from a run of the orders service."""

from faultspec import language
from faultspec_conformance.orders import demo
from faultspec_conformance.results.merge import merge_results
from faultspec_conformance.results.model import MapCell, Report, Result
from paths import ROOT


def test_the_map_has_what_was_observed_and_what_is_wrong() -> None:
    """Each observed code is in the map on its operations as often as it was observed there. Cells
    are wrong where a finding is.
    """
    path = str(ROOT / "taxonomy.yaml")
    taxonomy = language.load(path).taxonomy
    assert taxonomy is not None
    report = demo.judge_orders("leaks-stack-trace", taxonomy, path, sweep=False)
    assert isinstance(report, Report)
    result = report.result
    seen = {(cell.operation, cell.code) for cell in result.map if cell.count}
    assert seen >= {
        (operation, code)
        for code, coverage in result.coverage.items()
        for operation in coverage.operations
    }
    wrong = {cell.operation for cell in result.map if cell.wrong}
    assert wrong == {
        operation for found in result.findings_with("error") for operation in found.operations
    }


def test_maps_of_shards_add_up() -> None:
    """Counts and failures add up by operation and code; what one shard knows as declared is."""
    first = Result("t", "x", map=(MapCell("GET /a", "b", count=1), MapCell("GET /c", "b", 1)))
    second = Result("t", "x", map=(MapCell("GET /a", "b", 2, 3, declared=True),))
    assert merge_results(first, second).map == (
        MapCell("GET /a", "b", 3, 3, declared=True),
        MapCell("GET /c", "b", 1),
    )
