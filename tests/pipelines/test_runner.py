"""The runner of the tests does what GitHub does, so what passes here means something there."""

from pathlib import Path

import pytest

from support.workflow_expressions import evaluate, is_met, substitute
from support.workflow_runner import Machine

CONTEXT = {
    "inputs": {"name": "shop", "empty": ""},
    "github": {"event": {"number": 7}},
    "state": {"success": False, "failure": True, "cancelled": False, "always": True},
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("inputs.name", "shop"),
        ("inputs.missing.deeper", ""),
        ("github.event.number", 7),
        ("inputs.name == 'SHOP' && !cancelled()", True),
        ("inputs.empty != '' && 'full' || 'it''s'", "it's"),
        ("!(inputs.empty || inputs.name)", False),
    ],
)
def test_expressions_have_the_values_of_github(expression: str, value: object) -> None:
    """Names, texts, operators and functions have the values that GitHub documents."""
    assert evaluate(expression, CONTEXT) == value


@pytest.mark.parametrize("expression", ["1 + 1", "'open", "format('a')", "a b", "secrets.TOKEN"])
def test_an_expression_that_is_not_understood_is_an_error(expression: str) -> None:
    """The runner refuses what it cannot evaluate. It never guesses a value."""
    with pytest.raises((ValueError, KeyError)):
        evaluate(expression, CONTEXT)


def test_a_condition_asks_for_success() -> None:
    """After a failure a step runs only if its condition names the state."""
    assert not is_met("inputs.name == 'shop'", CONTEXT)
    assert is_met("${{ !cancelled() && inputs.name == 'shop' }}", CONTEXT)
    assert substitute("${{ inputs.name }}-${{ failure() }}", CONTEXT) == "shop-true"


def test_the_runner_executes_interpolated_inputs(tmp_path: Path) -> None:
    """An input inside `run` becomes shell code, as on GitHub, so the runner would show an
    injection.
    """
    (tmp_path / "action.yml").write_text(
        "inputs: {name: {default: ''}}\noutputs: {}\nruns:\n  using: composite\n  steps:\n"
        "    - {id: greet, shell: bash, run: 'echo ${{ inputs.name }}'}\n"
    )
    result = Machine(tmp_path, tmp_path / "temp").run_action(tmp_path, {"name": "a; touch harmed"})
    assert result.outcomes == {"greet": "success"}
    assert (tmp_path / "harmed").exists()
