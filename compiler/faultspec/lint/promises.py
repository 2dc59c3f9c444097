"""Rules on what is promised of single exchanges: echoes, replays, examples, and where an original code is kept."""

import re
from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.carriers import carriers
from faultspec.language.model import Code, Envelope, Example, Field, HeaderRule, Taxonomy
from faultspec.lint.places import carried, example_path, live
from faultspec.lint.rule import Remark, Subject
from faultspec.lint.statuses import compatible
from faultspec.runtime.nodes import Slot, child, slot_places, walk


def idempotency_left_open(subject: Subject) -> Iterator[Remark]:
    """Who promises safe repetition says of which methods, and what one key with two bodies is, be it `unspecified`."""
    written = subject.data.get("idempotency")
    for key, what in (
        ("methods", "which methods accept the key"),
        ("mismatch", "what one key with two bodies is"),
    ):
        if written is not None and key not in written:
            yield Remark(("idempotency",), f"nothing says {what}", f"add `{key}:`")


def echo_unguarded(subject: Subject) -> Iterator[Remark]:
    """What is echoed comes from outside, so it is said what happens to a value that is malformed."""
    for name, envelope in subject.data.get("envelopes", {}).items():
        for slot, each in envelope.get("fields", {}).items():
            if "echo" in each and "invalid_inbound" not in each:
                message = f"nothing says what becomes of a malformed `{each['echo']}` in a request"
                hint = "add `invalid_inbound: replace`: unchecked input in a header is header injection"
                yield Remark(("envelopes", name, "fields", slot, "echo"), message, hint)


def echo_contradiction(subject: Subject) -> Iterator[Remark]:
    """A header that repeats a slot is not forbidden, repeats no other slot, and has the format of the slot."""
    taxonomy = subject.taxonomy
    rules: list[tuple[Path, HeaderRule]] = [
        (("headers", each.name), each) for each in taxonomy.headers
    ]
    rules += [
        ((*path, "headers", each.name), each)
        for path, code in live(taxonomy)
        for each in code.headers
    ]
    for envelope in taxonomy.envelopes.values():
        owners: dict[str, Field] = {}
        for slot, each in envelope.fields.items():
            at: Path = ("envelopes", envelope.name, "fields", slot)
            for header in dict.fromkeys(
                name for name in (each.echo, each.mirror) if name is not None
            ):
                first = owners.setdefault(header.lower(), each)
                if first is not each:
                    message = f"`{header}` repeats `${slot}` here, and `${first.slot}` already"
                    yield Remark(at, message, "give one of the two another header")
                for path, rule in rules:
                    if (
                        rule.name.lower() == header.lower()
                        and (problem := _against(rule, each)) is not None
                    ):
                        related = ((f"`${slot}` is here", at),)
                        yield Remark(
                            path,
                            f"`{rule.name}` {problem}",
                            "change one of the two",
                            related=related,
                        )


def _against(rule: HeaderRule, field: Field) -> str | None:
    """What a rule says against its header repeating the slot of a field."""
    if rule.presence == "forbidden":
        return f"is forbidden, and repeats `${field.slot}`"
    if rule.equals not in (None, field.slot):
        return f"repeats `${rule.equals}`, and `${field.slot}` as well"
    if rule.format and field.schema.format and not compatible(rule.format, field.schema.format):
        return f"is {' or '.join(rule.format)}, and repeats `${field.slot}`, which is {' or '.join(field.schema.format)}"
    return None


def replay_echo(subject: Subject) -> Iterator[Remark]:
    """A replay whose body must be equal does not also echo the id of each request in that body."""
    replay = subject.data.get("idempotency", {}).get("replay", {})
    if "body" not in replay.get("equal", ()):
        return
    for envelope in subject.taxonomy.envelopes.values():
        for slot, each in envelope.fields.items():
            if each.echo is not None:
                message = f"a replay has an equal body, and `${slot}` in it is `{each.echo}` of each request"
                hint = "say in a ruling which of the two holds where the ids differ"
                related = (
                    (f"`${slot}` is echoed here", ("envelopes", envelope.name, "fields", slot)),
                )
                yield Remark(("idempotency", "replay", "equal"), message, hint, related=related)


def never_echoed(subject: Subject) -> Iterator[Remark]:
    """No example speaks of what may never be echoed, or it is unclear whether the name or the value is meant."""
    taxonomy = subject.taxonomy
    for attribute in taxonomy.privacy.never_echoed if taxonomy.privacy else ():
        named = re.compile(rf"(?<![A-Za-z]){re.escape(attribute)}(?:_id)?(?![A-Za-z])")
        for path, code in live(taxonomy):
            for index, example in enumerate(code.examples):
                if any(named.search(text) for text in _said(example)):
                    at = example_path(subject, path, index)
                    message = f"the example speaks of `{attribute}`, which is never echoed"
                    hint = "use another attribute, or suppress this with the reason why the name may be said"
                    yield Remark(at, message, hint)


def _said(example: Example) -> Iterator[str]:
    yield example.message or ""
    for value in (*(example.details or {}).values(), *example.slots.values()):
        if isinstance(value, str):
            yield value
    yield from example.details or ()


def original_code_place(subject: Subject) -> Iterator[Remark]:
    """Where the code is kept that was not declared, there is a place for a text."""
    taxonomy = subject.taxonomy
    for section, rule in (("undeclared", taxonomy.undeclared), ("unknown", taxonomy.unknown)):
        code = taxonomy.codes.get(rule.becomes) if rule else None
        if rule is None or rule.original_code is None or code is None:
            continue
        worn = carriers(taxonomy, code, of_operation=False)
        problems = [_misplaced(taxonomy, each, code, rule.original_code) for each in worn]
        if problems and all(problems):
            message = f"`{rule.original_code}` is no place for a code: {problems[0]}"
            hint = "name a details key, such as `/details/code`"
            yield Remark((section, "original_code"), message, hint, on_key=False)


def _misplaced(taxonomy: Taxonomy, envelope: Envelope, code: Code, pointer: str) -> str | None:
    places = {place.path: place.node for place in walk(envelope.shape)}
    node = places.get(pointer)
    if isinstance(node, Slot):
        schema = envelope.fields[node.name].schema if node.name in envelope.fields else None
        if node.name == "details" or (schema and schema.types and "string" not in schema.types):
            return f"`${node.name}` stands there, which is no text"
        return None
    if node is not None:
        return "what stands there is always the same"
    for place in slot_places(envelope.shape).get("details", ()):
        key = next(
            (
                each
                for each in (*code.details, *taxonomy.detail_keys)
                if child(place.path, each) == pointer
            ),
            None,
        )
        if key is not None:
            member = code.details.get(key)
            types = member.schema.types if member else taxonomy.detail_keys[key].schema.types
            return f"`{key}` is {' or '.join(types)}" if types and "string" not in types else None
    return f"`{envelope.name}` has no such member"


def example_incomplete(subject: Subject) -> Iterator[Remark]:
    """An example has all that an envelope of its code must carry and nobody but the author can fill in."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        worn = carried(taxonomy, path, code)
        for index, example in enumerate(code.examples):
            lacking = [_lacking(each, code, example) for each in worn]
            if lacking and all(lacking):
                least = min(lacking, key=len)
                lacks = ", ".join(f"`${each}`" for each in least)
                message = f"the example lacks {lacks}, which every envelope of `{code.name}` has"
                hint = "add `slots:` (or `message:`), or make the member optional"
                yield Remark(example_path(subject, path, index), message, hint)


def _lacking(envelope: Envelope, code: Code, example: Example) -> list[str]:
    # The id of a request belongs to the request.
    known = {
        "code",
        "summary",
        "status",
        "domain",
        "boundary",
        "actions",
        "details",
        "request_id",
        *example.slots,
    }
    known |= {slot for slot, terms in code.facts.items() if len(terms) == 1}
    if code.message or example.message:
        known.add("message")
    if code.retriable.kind != "caller":
        known.add("retriable")
    return [
        slot
        for slot, places in slot_places(envelope.shape).items()
        if slot not in known
        and any(place.required for place in places)
        and not (slot in envelope.fields and envelope.fields[slot].echo)
    ]
