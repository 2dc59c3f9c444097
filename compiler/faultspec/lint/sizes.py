"""The number of codes of a taxonomy, beside the numbers that targets were tried with.

It is not a rule, because no example of it fits into a page.
"""

from collections.abc import Iterator, Mapping

from faultspec.diagnostics.model import Diagnostic
from faultspec.language.model import Taxonomy
from faultspec.source import Document
from faultspec.targets import SHIPPED

#: The diagnostics of this module, with their conditions.
CODES: Mapping[str, str] = {
    "large-taxonomy": "The taxonomy has more codes than a target was tried with: 10,000 are known "
    "to compile (TypeScript) and to be imported (Python).",
}


def check_size(document: Document, taxonomy: Taxonomy) -> Iterator[Diagnostic]:
    """A warning with the targets whose output may be too large for a compiler or an import."""
    codes = len(taxonomy.codes) + sum(
        len(operation.errors) for operation in taxonomy.operations.values()
    )
    targets = [
        target.name
        for target in SHIPPED.values()
        if target.tried_codes is not None and codes > target.tried_codes
    ]
    if targets:
        yield document.diagnostic(
            "large-taxonomy",
            f"{codes} codes are more than {' and '.join(targets)} were tried with",
            ("codes",),
            severity="warning",
            hint="split the taxonomy by service, or compile its output before you rely on it",
        )
