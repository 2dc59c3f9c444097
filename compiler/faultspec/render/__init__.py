"""From a taxonomy to files: ``rendered_files`` makes texts, ``find_drift`` compares the output
folder with them, and ``write`` fills it.
"""

from faultspec.render.output import (
    MANIFEST,
    Drift,
    WriteSummary,
    find_drift,
    listed_targets,
    recorded_targets,
    text_diff,
    write,
)
from faultspec.render.rendering import render, rendered_files

__all__ = [
    "MANIFEST",
    "Drift",
    "WriteSummary",
    "find_drift",
    "listed_targets",
    "recorded_targets",
    "render",
    "rendered_files",
    "text_diff",
    "write",
]
