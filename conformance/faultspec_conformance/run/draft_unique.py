"""Members of a draft that no two resources share: the likeliest ones, and why."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from faultspec.language.model import Taxonomy
from faultspec.openapi.nodes import mapping
from faultspec.openapi.resources import DocumentedResource
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.session import sampling
from faultspec_conformance.session.observation import leaves

#: Last words of names that mostly stand for one thing each, and of names that often do.
_STRONG = frozenset(
    {"slug", "sku", "email", "username", "login", "handle", "isbn", "issn", "iban", "ean", "gtin"}
    | {"barcode", "vin", "imo", "serial", "hostname", "plate", "registration", "callsign", "ssn"}
)
_WEAK = frozenset({"code", "name", "title", "label", "key", "reference", "number", "identifier"})

#: Last words of names that many resources share, and of long texts and secrets.
_SHARED = frozenset(
    {"colour", "color", "status", "state", "type", "kind", "category", "currency", "country"}
    | {"language", "locale", "unit", "gender", "description", "note", "notes", "comment", "text"}
    | {"password", "secret", "token", "size", "role", "level", "message", "content", "phase"}
)

#: Words of a description that call its member unique.
_CALLED_UNIQUE = re.compile(
    r"\b(unique(ly)?|unambiguous(ly)?|no two|already (exists?|taken|in use)|only once|distinct)\b",
    re.IGNORECASE,
)
_CALLED_SHARED = re.compile(
    r"\b(not|never|non|need not be|isn't|don't have to be)[ -]+(be )?unique", re.IGNORECASE
)

#: Characters that a unique value needs. A shorter member has too few values.
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class UniqueCandidate:
    """A member that may be unique. ``certain``: the document says so; a 409 and a likely name are
    not enough. ``others``: members that are just as likely.
    """

    member: str
    reason: str
    certain: bool
    others: tuple[str, ...] = ()


def find_unique(
    description: Description, taxonomy: Taxonomy, resource: DocumentedResource
) -> UniqueCandidate | None:
    """The text of a creation's body that is most likely unique; None if none is likely.

    The document decides before names do: `x-unique`, the text of the 409, the description of the
    member, the parameter of the item's path.
    """
    operation = resource.create
    if operation is None or operation.body is None:
        return None
    texts = _texts(description, operation)
    conflict = "409" in operation.responses
    possible = conflict or any(code.http.allows(409) for code in taxonomy.shared_live_codes())
    named = dict(_fields_of_conflicts(taxonomy))
    conflict_text = _text_of_conflict(description, operation)
    ranked: dict[str, list[tuple[str, str, bool]]] = {}
    for name, member in texts.items():
        found = _evidence(
            name, member, conflict_text=conflict_text if conflict else "", item=resource.item
        )
        rank, reason, definite = found
        if name in named and rank > "c":
            rank, reason = "c", f"an example of `{named[name]}` (409) names `{name}`"
            definite = conflict
        needs_conflict = rank >= "f"
        if rank < "z" and (possible or not needs_conflict):
            certain = definite or (conflict and rank < "f")
            ranked.setdefault(rank, []).append((name, reason, certain))
    if not ranked:
        return None
    (best, reason, certain), *others = ranked[min(ranked)]
    if conflict and f"{operation.name} documents 409" not in reason:
        reason = f"{operation.name} documents 409, and {reason}"
    more = tuple(name for name, *_ in others)
    return UniqueCandidate(best, reason, certain and not more, more)


def _evidence(
    name: str, member: Mapping[str, object], *, conflict_text: str, item: str | None
) -> tuple[str, str, bool]:
    """The rank of a member, "a" first and "z" for none, the reason, and whether it is definite."""
    text = str(member.get("description", ""))
    if member.get("x-unique") is True:
        return "a", f"`{name}` has `x-unique`", True
    if conflict_text and re.search(rf"\b{re.escape(name)}\b", conflict_text, re.IGNORECASE):
        return "b", f"its text names `{name}`", True
    if _CALLED_SHARED.search(text):
        return "z", "", False
    if _CALLED_UNIQUE.search(text):
        return "d", f"the description of `{name}` calls it unique", False
    parameter = (item or "").rpartition("{")[2].partition("}")[0]
    if name == parameter:
        return "e", f"`{name}` is the parameter of {item}", False
    last = (_words(name) or ("",))[-1]
    formatted = member.get("format") in ("email", "hostname")
    if last in _STRONG or formatted:
        # `email` is the item's own; `owner_email` may belong to somebody with many items.
        rank = "e" if formatted and _words(name) == (last,) and last in _STRONG else "f"
        return rank, f"`{name}` is the likeliest member", False
    if last in _WEAK:
        # A pattern belongs to numbers that somebody assigns.
        rank = "g" if isinstance(member.get("pattern"), str) else "h"
        return rank, f"`{name}` is the likeliest member", False
    return "z", "", False


def _words(name: str) -> tuple[str, ...]:
    """The words of a name in camel, snake or kebab case, in lower case."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = tuple(filter(None, re.split(r"[^a-z0-9]+", parted.lower())))
    joined = "".join(words)
    return (*words[:-1], joined) if joined in _STRONG else words


def _texts(
    description: Description, operation: ServiceOperation
) -> Mapping[str, Mapping[str, object]]:
    """The members of the body that are sent and may be unique texts."""
    assert operation.body is not None
    node = sampling.merge_all_of(description.document, operation.body.schema)
    sent = {*sampling.required_names(node), *mapping(operation.body.example)}
    members = {
        name: sampling.merge_all_of(description.document, member)
        for name, member in sampling.properties_of(node).items()
        if name in sent
    }
    return {name: member for name, member in members.items() if may_be_unique(name, member)}


def may_be_unique(name: str, member: Mapping[str, object]) -> bool:
    """Whether a member is a text with enough values, and not of a kind that resources share."""
    if member.get("x-unique") is True:
        return True
    longest = member.get("maxLength")
    short = isinstance(longest, int) and longest < _SHORTEST
    fixed = {"enum", "const"} & member.keys()
    temporal = member.get("format") in ("date", "date-time", "time", "duration", "binary", "byte")
    shared = (_words(name) or ("",))[-1] in _SHARED
    return member.get("type") == "string" and not (fixed or temporal or short or shared)


def is_naming(name: str) -> bool:
    """Whether a member has the name of what people call an item by, such as `title`."""
    return (_words(name) or ("",))[-1] in _WEAK


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
