"""The failures of upstreams that the table `upstream.codes` tells apart."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from faultspec.language.model import UpstreamCode


class UpstreamSays(NamedTuple):
    """A failure: the name of the upstream, the status of its answer, and its code there.

    None: an upstream that no row names, no answer, a code that no row names.
    """

    upstream: str | None
    status: int | None
    code: str | int | None


def distinct_failures(rows: Sequence[UpstreamCode]) -> Iterator[UpstreamSays]:
    """One failure of each kind that some row tells from others.

    The statuses are the bounds of ranges: between two of them all are alike.
    """
    spans = [span for row in rows for span in row.statuses]
    bounds = {bound for span in spans for bound in (span.low, span.high, span.high + 1)}
    statuses = sorted(status for status in {400, 500, *bounds} if status < 600)
    upstreams = dict.fromkeys(name for row in rows for name in row.upstreams)
    codes = dict.fromkeys(code for row in rows for code in row.codes)
    for upstream, status, code in product((None, *upstreams), (None, *statuses), (None, *codes)):
        if code is None or status is not None:
            yield UpstreamSays(upstream, status, code)


def deciding_row(rows: Sequence[UpstreamCode], failure: UpstreamSays) -> UpstreamCode | None:
    """The first row that fits; None if there is none."""
    return next((row for row in rows if row.fits(*failure)), None)
