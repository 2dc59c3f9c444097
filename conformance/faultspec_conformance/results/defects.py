"""Defects of the suite itself: an exception of ours, in words for its developers."""

import traceback
from pathlib import Path

from faultspec_conformance.results.model import faultspec_version

#: The folders whose frames are named.
_OURS = ("faultspec", "faultspec_conformance")

#: The innermost frames that are named.
_FRAMES = 4

#: What users do about it.
HINT = "this is a defect of faultspec, not of the service; please report this line"


def describe_defect(error: BaseException, part: str) -> str:
    """The version, the part of the run, the type of the exception and our own frames.

    Texts of the exception and values stay out, since they may come from the service.
    """
    frames = [
        f"{Path(frame.filename).stem}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if any(name in _OURS for name in Path(frame.filename).parts)
    ]
    where = " < ".join(reversed(frames[-_FRAMES:])) or "unknown"
    version = faultspec_version()
    return f"{HINT}: faultspec {version}, {part}, {type(error).__name__} at {where}"
