"""Requirements and sources that clauses of several families share."""

from collections.abc import Callable, Iterable

from faultspec.contract.clauses.clause import Requirement
from faultspec.language.model import Code, DetailKey, Field, Source, Surface, Taxonomy
from faultspec.runtime.shape import slot_places


def any_surface(unmet: str, test: Callable[[Surface], object]) -> Requirement:
    """A surface must pass the test."""
    return Requirement(unmet, lambda taxonomy: any(map(test, taxonomy.surfaces.values())))


def any_code(unmet: str, test: Callable[[Code], object]) -> Requirement:
    """A code, shared or of one operation, must pass the test."""
    return Requirement(unmet, lambda taxonomy: any(map(test, taxonomy.every_code())))


def any_field(unmet: str, test: Callable[[Field], object]) -> Requirement:
    """A field of an envelope must pass the test."""
    return Requirement(unmet, lambda taxonomy: any(map(test, taxonomy.fields())))


def any_detail_key(unmet: str, test: Callable[[DetailKey], object]) -> Requirement:
    """A registered key of the details must pass the test."""
    return Requirement(unmet, lambda taxonomy: any(map(test, taxonomy.detail_keys.values())))


def slot_exists(slot: str) -> Requirement:
    """An envelope must have the slot in its shape."""
    return Requirement(
        f"no envelope has `${slot}` in its shape", lambda taxonomy: shows(taxonomy, slot)
    )


def shows(taxonomy: Taxonomy, slot: str) -> bool:
    """Whether an envelope has the slot in its shape."""
    return any(slot in slot_places(envelope.shape) for envelope in taxonomy.envelopes.values())


def shows_flag(taxonomy: Taxonomy) -> bool:
    """Whether an envelope or its details have a place for the retry flag."""
    return shows(taxonomy, "retriable") or (bool(taxonomy.flag_keys) and shows(taxonomy, "details"))


def status_in_use(status: int) -> Requirement:
    """A live code must travel under the status."""
    return Requirement(
        f"no code has `http: {status}`",
        lambda taxonomy: any(
            status in code.http.allowed_statuses() for code in taxonomy.shared_live_codes()
        ),
    )


HTTP_SURFACE = any_surface(
    "no surface has `transport: http`", lambda each: each.transport == "http"
)
ENVELOPE = any_surface("no surface has an `envelope`", lambda surface: surface.envelopes)
HTTP_ENVELOPE = any_surface(
    "no surface with `transport: http` has an `envelope`",
    lambda surface: surface.transport == "http" and surface.envelopes,
)
IDEMPOTENCY = Requirement("the taxonomy has no `idempotency`", lambda each: bool(each.idempotency))
ECHO = any_field("no field of an envelope has `echo`", lambda field: field.echo)
RETRY_AFTER = Requirement(
    "neither `headers` nor a code declares `Retry-After`",
    lambda taxonomy: any(
        rule.name.lower() == "retry-after" for rule in taxonomy.every_header_rule()
    ),
)


def code_sources(taxonomy: Taxonomy) -> tuple[Source, ...]:
    """Every code, live or not."""
    return tuple(code.source for code in taxonomy.every_code())


def detail_key_sources(taxonomy: Taxonomy) -> tuple[Source, ...]:
    """The registry of the details; the codes where there is none."""
    return tuple(key.source for key in taxonomy.detail_keys.values()) or code_sources(taxonomy)


def validator_sources(taxonomy: Taxonomy) -> tuple[Source, ...]:
    """The keys of the details that repeat a header."""
    return tuple(key.source for key in taxonomy.detail_keys.values() if key.equals_header)


def surface_sources(test: Callable[[Surface], object]) -> Callable[[Taxonomy], Iterable[Source]]:
    """The surfaces that pass the test."""
    return lambda taxonomy: (each.source for each in taxonomy.surfaces.values() if test(each))


def idempotency_sources(taxonomy: Taxonomy) -> tuple[Source, ...]:
    """The construct ``idempotency``; None if the taxonomy does not declare it."""
    return (taxonomy.idempotency.source,) if taxonomy.idempotency else ()


def retry_after_sources(taxonomy: Taxonomy) -> tuple[Source, ...]:
    """The rules for ``Retry-After`` that hold by status."""
    surfaces = (rule for surface in taxonomy.surfaces.values() for rule in surface.headers)
    rules = (*taxonomy.headers, *surfaces)
    return tuple(rule.source for rule in rules if rule.name.lower() == "retry-after")


def echo_sources(taxonomy: Taxonomy) -> tuple[Source, ...]:
    """The fields that a header repeats."""
    return tuple(field.source for field in taxonomy.fields() if field.echo or field.mirror)


def policy_sources(taxonomy: Taxonomy) -> tuple[Source, ...]:
    """The retry policies."""
    return tuple(policy.source for policy in taxonomy.retry_policies.values())
