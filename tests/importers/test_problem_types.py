"""Laws of the import of problem types: our own registry comes back, and so do those of others."""

import json
from pathlib import Path
from typing import Any

import pytest
from importers.test_importers import OTHERS, OURS, taken_in, taxonomy

from faultspec.importers.problem_types import read
from faultspec.language.model import Taxonomy
from faultspec.targets import problems as target
from faultspec.targets.model import model_of


def exported(of: Taxonomy) -> Any:
    """The registry of the target `problems`, as JSON data; None if no code travels over HTTP."""
    view = target.view(of, model_of(of, "taxonomy.yaml"))
    return None if view is None else json.loads(json.dumps(view.registry))


@pytest.mark.parametrize(
    "path", [*OURS, *OTHERS], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_our_own_registry_comes_back(path: Path) -> None:
    registry = exported(taxonomy(path))
    if registry is None:
        pytest.skip("no code travels over HTTP")
    again = exported(taken_in(read(registry, "again")))
    assert again["problems"] == registry["problems"]
