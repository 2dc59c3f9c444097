"""From a taxonomy to files: ``rendered_files`` makes texts, ``check`` and ``write`` compare and
fill the output folder.
"""

from faultspec.render.output import MANIFEST, Drift, WriteSummary, check, listed_targets, write
from faultspec.render.rendering import render, rendered_files

__all__ = [
    "MANIFEST",
    "Drift",
    "WriteSummary",
    "check",
    "listed_targets",
    "render",
    "rendered_files",
    "write",
]
