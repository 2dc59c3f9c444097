"""From a taxonomy to files: ``rendered_files`` makes texts, ``find_drift`` compares the output
folder with them, and ``transaction``, ``stage`` and ``write`` fill it.
"""

from faultspec.render.output import (
    Drift,
    WriteSummary,
    find_drift,
    listed_targets,
    recorded_targets,
    stage,
    text_diff,
    write,
)
from faultspec.render.ownership import MANIFEST
from faultspec.render.rendering import render, rendered_files
from faultspec.render.staging import Transaction, settle, transaction

__all__ = [
    "MANIFEST",
    "Drift",
    "Transaction",
    "WriteSummary",
    "find_drift",
    "listed_targets",
    "recorded_targets",
    "render",
    "rendered_files",
    "settle",
    "stage",
    "text_diff",
    "transaction",
    "write",
]
