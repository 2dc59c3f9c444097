"""Lint rules about details: their keys, their types, and whether envelopes can carry them."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.model import Schema
from faultspec.lint.places import envelopes_of, requires_slot, slots_of, with_integers
from faultspec.lint.rule import Remark, Subject, rule


@rule("unregistered-detail", severity="warning")
def unregistered_detail(subject: Subject) -> Iterator[Remark]:
    """If detail keys are registered, the details of shared codes are: one name, one meaning.

    Bad::

        detail_keys:
          limit: {type: integer}
        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {},
              window: {type: integer}}}

    Good::

        detail_keys:
          limit: {type: integer}
          window: {type: integer}
        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {}, window: {}}}
    """
    registry = subject.taxonomy.detail_keys
    for name in subject.taxonomy.codes if registry else ():
        for key in subject.mapping_at("codes", name, "details"):
            if key.removesuffix("?") not in registry:
                message = f"`{key.removesuffix('?')}` is not a registered detail key"
                hint = "register it under `detail_keys:`"
                yield Remark(("codes", name, "details", key), message, hint)


@rule("detail-type", severity="error", local=True)
def detail_type(subject: Subject) -> Iterator[Remark]:
    """A detail key has its registered type in every code.

    Bad::

        detail_keys:
          limit: {type: integer}
        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {type: string}}}

    Good::

        detail_keys:
          limit: {type: integer}
        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {}}}
    """
    registry = subject.taxonomy.detail_keys
    for path, code in subject.codes():
        for name, member in code.details.items():
            wanted = registry[name].schema.types if name in registry else ()
            types = member.schema.types
            if wanted and types and not {*types} <= with_integers(wanted):
                message = (
                    f"`{name}` is {' or '.join(types)}, but registered as {' or '.join(wanted)}"
                )
                yield Remark(
                    subject.member_path((*path, "details"), name),
                    message,
                    "write `{}` to take the registered type, or use another key",
                    related=(("registered here", ("detail_keys", name)),),
                )


@rule("untyped-detail", severity="warning")
def untyped_detail(subject: Subject) -> Iterator[Remark]:
    """Every declared detail has a type, which generated code needs.

    Bad::

        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {}}}

    Good::

        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {type: integer}}}
    """
    registry = subject.taxonomy.detail_keys
    for name, key in registry.items():
        if _accepts_anything(key.schema):
            hint = "add `type:`, `enum:` or `vocabulary:`"
            yield Remark(("detail_keys", name), f"`{name}` has no type", hint)
    for path, code in subject.codes():
        for name, member in code.details.items():
            if _accepts_anything(member.schema) and name not in registry:
                where = subject.member_path((*path, "details"), name)
                yield Remark(where, f"`{name}` has no type", "add `type:`, or register it")


def _accepts_anything(schema: Schema) -> bool:
    return schema._replace(description=None) == Schema()


@rule("details-optional-and-required", severity="warning")
def details_optional_and_required(subject: Subject) -> Iterator[Remark]:
    """If every surface of an envelope requires details, they are a required member of the envelope.

    Bad::

        detail_keys:
          retryable: {type: boolean, role: retriable, everywhere: true}
        envelopes:
          error: {shape: {code: $code, details?: $details}}
        surfaces:
          api: {transport: http, envelope: error, requires_details: [retryable]}
        codes:
          failed: {summary: It failed., http: 500, retriable: false}

    Good::

        detail_keys:
          retryable: {type: boolean, role: retriable, everywhere: true}
        envelopes:
          error: {shape: {code: $code, details: $details}}
        surfaces:
          api: {transport: http, envelope: error, requires_details: [retryable]}
        codes:
          failed: {summary: It failed., http: 500, retriable: false}
    """
    for envelope in subject.taxonomy.envelopes.values():
        surfaces = [
            name
            for name, surface in subject.taxonomy.surfaces.items()
            if envelope.name in surface.envelopes
        ]
        required = all(
            subject.mapping_at("surfaces", name).get("requires_details") for name in surfaces
        )
        if surfaces and required and not requires_slot(envelope, "details"):
            where: Path = ("surfaces", surfaces[0], "requires_details")
            listed = " and ".join(f"`{name}`" for name in surfaces)
            subjects = (
                f"surface {listed} requires" if not surfaces[1:] else f"surfaces {listed} require"
            )
            message = (
                f"{subjects} details in every error, but envelope `{envelope.name}` makes them"
                " optional"
            )
            hint = "write `details: $details` without `?`, or remove `requires_details`"
            related = (("the envelope is here", ("envelopes", envelope.name, "shape")),)
            yield Remark(where, message, hint, related=related)


@rule("details-without-place", severity="error")
def details_without_place(subject: Subject) -> Iterator[Remark]:
    """The required details of a code have a place in one of its envelopes.

    Bad::

        envelopes:
          error: {shape: {code: $code, message: $message}}
        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {type: integer}}}

    Good::

        envelopes:
          error: {shape: {code: $code, message: $message, "...": $details}}
        codes:
          limited: {summary: Too many requests., http: 429, details: {limit: {type: integer}}}
    """
    for path, code in subject.live_codes():
        slots = slots_of(envelopes_of(subject.taxonomy, path, code))
        lost = [
            f"`{key}`"
            for key, member in code.details.items()
            if member.presence == "required" and key not in slots
        ]
        if lost and "details" not in slots:
            message = (
                f"`{code.name}` requires {', '.join(lost)}, but none of its envelopes has"
                " `$details`"
            )
            hint = "add `details: $details` to an envelope, or make the details optional"
            yield Remark((*path, "details"), message, hint)


@rule("deadline-detail", severity="error")
def deadline_detail(subject: Subject) -> Iterator[Remark]:
    """The detail with the time budget is required, and a number of seconds.

    Bad::

        codes:
          late:
            summary: It took too long.
            http: 504
            details: {budget?: {type: number}}
            deadline: {equals: details.budget}

    Good::

        codes:
          late:
            summary: It took too long.
            http: 504
            details: {budget: {type: number}}
            deadline: {equals: details.budget}
    """
    for path, code in subject.codes():
        if code.deadline is None:
            continue
        key = code.deadline.detail
        member = code.details.get(key)
        if member is None or member.presence != "required":
            problem = "which is not required"
        elif member.schema.types and not {*member.schema.types} <= {"integer", "number"}:
            problem = f"which is {' or '.join(member.schema.types)}, not a number of seconds"
        else:
            continue
        message = f"the budget is in `details.{key}`, {problem}"
        hint = f"declare `details: {{{key}: {{type: number}}}}`"
        yield Remark((*path, "deadline", "equals"), message, hint, on_key=False)
