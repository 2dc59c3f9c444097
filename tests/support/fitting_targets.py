"""The targets that can be compiled for any taxonomy that a test makes."""

from collections.abc import Sequence

from faultspec.language.model import Taxonomy
from faultspec.targets import SHIPPED, CompileTarget
from faultspec.targets.vectors import exclusion_reasons

#: The targets that refuse what the vectors leave out.
_SELECTIVE = ("go", "java")


def fitting_targets(taxonomy: Taxonomy) -> Sequence[CompileTarget]:
    """All shipped targets, without those that refuse the envelopes of the taxonomy."""
    refused = _SELECTIVE if list(exclusion_reasons(taxonomy)) else ()
    return [target for name, target in SHIPPED.items() if name not in refused]
