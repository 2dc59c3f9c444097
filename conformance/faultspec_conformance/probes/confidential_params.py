"""Confidential members of calls by name: each gets made-up values, which no answer may contain."""

from collections.abc import Iterator

from faultspec.exchange.body import replace_value
from faultspec.runtime.pointers import steps
from faultspec_conformance.config import SampleCall
from faultspec_conformance.probes.calls import take_steps
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import CallSession
from faultspec_conformance.session.confidential import CLAUSE
from faultspec_conformance.session.observation import Unanswered, not_exercised, point
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.placeholders import fill_in


def confidential_params(session: CallSession) -> Iterator[ProbeResult]:
    """Send made-up values in confidential members of the configured calls: as they succeed, below
    the member itself, and without the other members.

    The session searches every answer, also those of recipes and later probes. A service with
    navigation is left to its walks.
    """
    samples = [
        sample
        for sample in (session.samples if session.taxonomy.navigation is None else ())
        if any(session.confidential.declared_places(sample.call.body))
    ]
    for sample in samples:
        for spoilt in ("nothing", "the member", "the others"):
            yield from attempt(_send_members(session, sample, spoilt), CLAUSE)
    if not samples and not session.confidential.sent_values():
        yield not_exercised(
            CLAUSE,
            "no member of a request is confidential: the configuration has no `confidential`, or "
            "no call has a text there",
        )
    for pointer in session.confidential.find_untracked():
        yield not_exercised(
            CLAUSE,
            f"the values that `{pointer}` takes are too short to be recognised in an answer",
        )


def _send_members(session: CallSession, sample: SampleCall, spoilt: str) -> Iterator[Outcome]:
    """Make a call with new values. The session records the outcomes."""
    saved = take_steps(session, sample.before, harmless=sample.safe)
    if isinstance(saved, str):
        yield not_exercised(CLAUSE, saved)
        return
    written = fill_in(session.source, sample.call.body, saved)
    params, places = session.renew_params(written)
    for place in places if spoilt == "the member" else ():
        # A service that looks at the type quotes what it got.
        params = replace_value(params, place, {"unexpected": point(params, place)})
    if spoilt == "the others" and isinstance(params, dict):
        kept = {steps(place)[0] for place in places}
        params = {name: value for name, value in params.items() if name in kept}
    identity = session.identity(sample.identity)
    try:
        session.call(sample.call.path, params, identity=identity, harmless=sample.safe)
    except Unanswered as error:
        if error.asked is None or spoilt == "nothing":
            raise
        # The probe of bad params is about a silence to them.
        yield not_exercised(CLAUSE, f"{sample.call.path} gave no answer to bad params")
