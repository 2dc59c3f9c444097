"""The targets that can be compiled for any taxonomy that a test makes."""

from collections.abc import Sequence

from faultspec.language.model import Taxonomy
from faultspec.targets import SHIPPED, CompileTarget
from faultspec.targets.catalog import refusals

#: The targets that refuse what their catalogue cannot have.
_SELECTIVE = ("go", "java")


def fitting_targets(taxonomy: Taxonomy) -> Sequence[CompileTarget]:
    """All shipped targets, without those that refuse the envelopes of the taxonomy."""
    refused = _SELECTIVE if list(refusals(taxonomy)) else ()
    return [target for name, target in SHIPPED.items() if name not in refused]
