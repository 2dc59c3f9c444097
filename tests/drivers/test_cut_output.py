"""Outputs of processes are kept in part, and a secret may be cut there."""

import pytest

from faultspec_conformance.drivers.processes import keep_beginning, keep_end
from faultspec_conformance.sanitize.masking import build_masking

SECRET = "Qz7pLm2Xv9RtB4nKw8HsJ3fDyG6cTa1Z"


@pytest.mark.parametrize("kept", range(6, len(SECRET)))
def test_a_secret_that_is_cut_is_masked(kept: int) -> None:
    """However much of a secret is left, at the beginning or the end of an output."""
    masking = build_masking((), [(SECRET, "${TOKEN}")])
    first = keep_beginning(b"x" * (2000 - kept) + SECRET.encode() + b" more", 2000)
    last = keep_end(b"more " + SECRET.encode() + b"x" * (2000 - kept), 2000)
    for output in (first, last):
        shown = masking.body(output).decode()
        assert SECRET[:kept] not in shown
        assert SECRET[-kept:] not in shown


def test_an_output_that_is_not_cut_stays() -> None:
    """No ellipsis is added to what is kept whole."""
    assert keep_beginning(b"short", 5) == b"short"
    assert keep_end(b"short", 5) == b"short"
