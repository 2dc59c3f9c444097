"""Which clauses a taxonomy gives no meaning."""

from collections.abc import Mapping

from faultspec.contract.clauses import CLAUSES
from faultspec.language.model import Taxonomy
from faultspec.runtime.shape import slot_places


def not_applicable(taxonomy: Taxonomy) -> Mapping[str, str]:
    """Clauses, or families of them, that this taxonomy says nothing about, with the reason."""
    found: dict[str, str] = {}
    surfaces = tuple(taxonomy.surfaces.values())
    fields = [each for envelope in taxonomy.envelopes.values() for each in envelope.fields.values()]
    slots = {
        slot for envelope in taxonomy.envelopes.values() for slot in slot_places(envelope.shape)
    }
    headers = {rule.name.lower() for rule in taxonomy.headers}
    statuses = {status for code in taxonomy.live_codes() for status in code.http.all()}
    if taxonomy.idempotency is None:
        found["idempotency"] = "the taxonomy declares no idempotency"
    if taxonomy.privacy is None or not taxonomy.privacy.conceal:
        found["tenancy"] = "the taxonomy declares no concealment"
    if not any(field.echo for field in fields):
        found["correlation"] = "the taxonomy declares no correlation id that is echoed"
    if not any(surface.batch for surface in surfaces):
        found["batch"] = "the taxonomy declares no batches"
    if not any(surface.transport == "stream" for surface in surfaces):
        found["stream"] = "the taxonomy declares no streams"
    if not any(surface.requires_details for surface in surfaces):
        found["stream/offset"] = "the taxonomy requires nothing of errors in a stream"
    if 412 not in statuses:
        found["preconditions"] = "no code travels under 412"
    if 409 not in statuses:
        found["duplicates"] = "no code travels under 409"
    if not any(key.refers_to == "resource" for key in taxonomy.detail_keys.values()):
        found["duplicates/existing-id"] = "no detail names a resource"
    if not any(key.equals_header for key in taxonomy.detail_keys.values()):
        found["details/validator"] = "no detail repeats a header"
    if "retry-after" not in headers and not any(
        rule.name.lower() == "retry-after"
        for code in taxonomy.codes.values()
        for rule in code.headers
    ):
        found["retry"] = "the taxonomy declares no Retry-After"
    if "status" not in slots:
        found["envelope/status"] = "no envelope repeats the status"
    if "actions" not in slots:
        found["actions"] = "no envelope lists actions"
    if "boundary" not in slots:
        found["boundary"] = "no envelope names the layer"
    if not statuses and not taxonomy.fallbacks:
        found["code/status"] = "no code travels over HTTP"
    if taxonomy.privacy is None:
        found["leaks"] = "the taxonomy declares no privacy"
    else:
        for address in CLAUSES:
            family, _, name = address.partition("/")
            if family == "leaks" and name not in (*taxonomy.privacy.detectors, "echoed-tenant"):
                found[address] = f"the taxonomy does not ask for the detector {name}"
        if "tenant" not in taxonomy.privacy.never_echoed:
            found["leaks/echoed-tenant"] = "the taxonomy does not ban the tenant"
    return found
