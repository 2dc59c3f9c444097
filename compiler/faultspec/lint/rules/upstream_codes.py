"""Lint rules about the table `upstream.codes`."""

from collections.abc import Iterator

from faultspec.language.upstream_failures import deciding_row, distinct_failures
from faultspec.lint.rule import Remark, Subject, rule


@rule("unreachable-upstream-code", severity="warning")
def unreachable_upstream_code(subject: Subject) -> Iterator[Remark]:
    """Every row of `upstream.codes` decides a failure that no earlier row decides.

    Bad::

        upstream:
          codes:
            - {status: 5xx, becomes: failed}
            - {status: 503, becomes: busy}
            - {becomes: failed}
        codes:
          busy: {summary: Too much to do., http: 503}
          failed: {summary: It failed., http: 500}

    Good::

        upstream:
          codes:
            - {status: 503, becomes: busy}
            - {status: 5xx, becomes: failed}
            - {becomes: failed}
        codes:
          busy: {summary: Too much to do., http: 503}
          failed: {summary: It failed., http: 500}
    """
    upstream = subject.taxonomy.upstream
    rows = upstream.codes if upstream is not None else ()
    if not rows:
        return
    reached = {id(deciding_row(rows, failure)) for failure in distinct_failures(rows)}
    for index, row in enumerate(rows):
        if id(row) not in reached:
            message = "earlier rows decide every failure of this row"
            hint = "put it before them, or remove it"
            yield Remark(("upstream", "codes", index), message, hint, on_key=False)
