"""Rules on what stands around errors: records, renderings, navigation, discovery, imports and overlays."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.model import IMPLIED, Code, Surface, Taxonomy
from faultspec.language.pictures import find_parameters
from faultspec.lint.places import codes, live
from faultspec.lint.rule import Remark, Subject
from faultspec.runtime.nodes import Object, child, walk


def audit_type(subject: Subject) -> Iterator[Remark]:
    """A member of the audit record has the type of what it repeats."""
    taxonomy = subject.taxonomy
    if taxonomy.audit is None:
        return
    for member, meant in taxonomy.audit.means.items():
        recorded = taxonomy.audit.record[member].schema.types
        repeated = _types(taxonomy, meant)
        if recorded and repeated and not _wider(recorded) & _wider(repeated):
            message = f"`{member}` is {' or '.join(recorded)}, and `{meant}`, which it repeats, {' or '.join(repeated)}"
            written = member if member in subject.data["audit"]["record"] else f"{member}?"
            yield Remark(
                ("audit", "record", written),
                message,
                "give both one type, or repeat something else",
            )


def _types(taxonomy: Taxonomy, meant: str) -> tuple[str, ...]:
    """The types that a slot or a detail may have; empty where nothing says."""
    if not meant.startswith("$"):
        key = taxonomy.detail_keys.get(meant.removeprefix("details."))
        return key.schema.types if key else ()
    slot = meant[1:]
    if slot == "code":
        return tuple(
            {"integer" if isinstance(code.wire, int) else "string" for _, code in live(taxonomy)}
        )
    fields = [
        envelope.fields[slot].schema.types
        for envelope in taxonomy.envelopes.values()
        if slot in envelope.fields
    ]
    if all(fields) and fields:
        return tuple(dict.fromkeys(name for field in fields for name in field))
    return IMPLIED[slot].types if slot in IMPLIED else ()


def _wider(types: tuple[str, ...]) -> set[str]:
    return {*types, "number"} if "integer" in types else set(types)


def navigation_offers(subject: Subject) -> Iterator[Remark]:
    """The codes of the navigation travel in an envelope that lists what may come next."""
    taxonomy, navigation = subject.taxonomy, subject.taxonomy.navigation
    if navigation is None:
        return
    for key, name in (("refused", navigation.refused), ("unknown", navigation.unknown)):
        code = taxonomy.codes.get(name or "")
        if code is None or any(
            _offers(taxonomy, surface, code, navigation.offers)
            for surface in taxonomy.surfaces.values()
        ):
            continue
        message = f"`{code.name}` reaches no surface whose envelope has something at `{navigation.offers}`"
        hint = "give the envelope that member, or correct `offers:`"
        yield Remark(("navigation", key), message, hint, on_key=False)


def _offers(taxonomy: Taxonomy, surface: Surface, code: Code, pointer: str) -> bool:
    if not reaches(surface, code, of_operation=False):
        return False
    for envelope in (
        taxonomy.envelopes[each] for each in surface.envelopes if uses_envelope(code, each)
    ):
        for place in walk(envelope.shape, surface.at):
            spread = isinstance(place.node, Object) and place.node.spread == "details"
            if place.path == pointer or (
                spread and any(child(place.path, detail) == pointer for detail in code.details)
            ):
                return True
    return False


def rendering_shows_nothing(subject: Subject) -> Iterator[Remark]:
    """A detail that a rendering shows is one that some code has."""
    taxonomy = subject.taxonomy
    had = {key for _, code in live(taxonomy) for key in code.details}
    had |= {key.name for key in taxonomy.detail_keys.values() if key.everywhere}
    for rendering in taxonomy.renderings.values():
        for path, parameter in find_parameters(
            rendering.picture, ("renderings", rendering.name, "shape")
        ):
            key = parameter.removeprefix("details.")
            if key != parameter and key not in had:
                message = f"no code has `details.{key}`, so this part is never shown"
                yield Remark(
                    path,
                    message,
                    "declare it under the `details` of a code, or leave it out",
                    on_key=False,
                )


def discovery_without_operations(subject: Subject) -> Iterator[Remark]:
    """What is published for each operation is published by a taxonomy that has operations."""
    for each in subject.taxonomy.discovery.values():
        if "${operation}" in each.request and not subject.taxonomy.operations:
            message = f"`{each.name}` asks for each operation, and none is declared"
            yield Remark(
                ("discovery", each.name, "request"), message, "declare `operations:`", on_key=False
            )


def imported_form(subject: Subject) -> Iterator[Remark]:
    """An operation's code with the form of an imported one travels under the status that its name says."""
    imported = subject.taxonomy.imported
    if imported is None:
        return
    for path, code in codes(subject.taxonomy):
        if path[0] != "operations" or not imported.has_form(code.wire):
            continue
        if not any(imported.code(status) == code.wire for status in code.http.all()):
            message = f"`{code.wire}` has the form of imported codes, `{imported.pattern}`, and never travels as its name says"
            yield Remark(
                path,
                message,
                "give the code a name that says what went wrong, or the status of its name",
            )


def extensible_nowhere(subject: Subject) -> Iterator[Remark]:
    """What overlays may touch is there to be touched."""
    for index, text in enumerate(subject.data.get("extensible", ())):
        there: list[object] = [subject.data]
        for step in text.split("."):
            below = [each for each in there if isinstance(each, dict)]
            there = [value for each in below for key, value in each.items() if step in ("*", key)]
        if not there and "." in text:
            message = f"there is nothing at `{text}`"
            yield Remark(
                ("extensible", index), message, "correct the path, or remove it", on_key=False
            )


def upstream_without_key(subject: Subject) -> Iterator[Remark]:
    """Who retries calls to services behind it says what names one intent there, or retries no write."""
    upstream = subject.taxonomy.upstream
    if (
        upstream is not None
        and upstream.retry
        and not upstream.keys
        and upstream.default != "not_idempotent"
    ):
        at: Path = ("upstream", "retry")
        message = "calls are retried, and nothing tells the service behind that two of them are one intent"
        yield Remark(at, message, "add `keys:`, or `default: not_idempotent`")
