"""Members of a draft that no two resources share: the best candidate, and why."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faultspec.language.model import Taxonomy
from faultspec.openapi.nodes import mapping
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.session import sampling
from faultspec_conformance.session.observation import leaves

#: Names that mostly stand for one thing each, and names that often do, without punctuation.
_STRONG = (
    *("slug", "sku", "email", "emailaddress", "username", "login", "handle", "isbn", "iban"),
    *("ean", "gtin", "barcode", "vin", "serial", "serialnumber", "hostname", "domain"),
)
_WEAK = ("code", "name", "title", "label", "key", "reference", "number", "plate", "identifier")


@dataclass(frozen=True, slots=True)
class UniqueCandidate:
    """A member that may be unique. ``certain``: a 409 is documented, and it names the member or the
    name tells enough.
    """

    member: str
    reason: str
    certain: bool


def find_unique(
    description: Description, taxonomy: Taxonomy, operation: ServiceOperation
) -> UniqueCandidate | None:
    """The text of a creation's body that is most likely unique; None if none is likely."""
    schema = operation.body.schema if operation.body is not None else {}
    node = sampling.merge_all_of(description.document, schema)
    example = operation.body.example if operation.body is not None else None
    sent = {*sampling.required_names(node), *mapping(example)}
    texts = [
        name
        for name, member in sampling.properties_of(node).items()
        if _is_text(description, member) and name in sent
    ]
    conflict = "409" in operation.responses
    documented = f"{operation.name} documents 409"
    for name in texts if conflict else ():
        if re.search(rf"\b{re.escape(name)}\b", _text_of_conflict(description, operation), re.I):
            return UniqueCandidate(name, f"{documented}, which names `{name}`", certain=True)
    named = dict(_fields_of_conflicts(taxonomy))
    for name in texts:
        if name in named:
            reason = f"an example of `{named[name]}` (409) names `{name}`"
            return UniqueCandidate(name, reason, certain=conflict)
    for names, strong in ((_STRONG, True), (_WEAK, False)):
        plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in texts}
        member = next((plain[name] for name in names if name in plain), None)
        if member is not None and (conflict or _has_conflict(taxonomy)):
            reason = documented if conflict else "the taxonomy has a code of the status 409"
            reason += f", and `{member}` is the likeliest member"
            return UniqueCandidate(member, reason, certain=strong and conflict)
    return None


def _is_text(description: Description, member: object) -> bool:
    node = sampling.merge_all_of(description.document, member)
    fixed = {"enum", "const"} & node.keys()
    temporal = node.get("format") in ("date", "date-time", "time", "duration", "binary", "byte")
    return node.get("type") == "string" and not fixed and not temporal


def _text_of_conflict(description: Description, operation: ServiceOperation) -> str:
    """The description and the examples of the documented 409, without references."""
    for path, item in mapping(description.document.get("paths")).items():
        if description.base + str(path) != operation.template:
            continue
        responses = mapping(mapping(mapping(item).get(operation.method.lower())).get("responses"))
        answer = description.schema(responses.get("409"))
        texts = [str(answer.get("description", ""))]
        for media in mapping(answer.get("content")).values():
            shown = [mapping(media).get("example"), mapping(media).get("examples")]
            texts += [str(value) for _, value in leaves(shown)]
        return " ".join(texts)
    return ""


def _fields_of_conflicts(taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    """Yield the texts in the details of examples of conflicts, each with the code."""
    for code in taxonomy.shared_live_codes():
        if code.http.allows(409):
            for example in code.examples:
                for _, value in leaves(dict(example.details or {})):
                    if isinstance(value, str):
                        yield value.rpartition("/")[2].rpartition(".")[2], code.name


def _has_conflict(taxonomy: Taxonomy) -> bool:
    return any(code.http.allows(409) for code in taxonomy.shared_live_codes())
