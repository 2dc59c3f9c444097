"""Configured calls with their placeholders filled in."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from faultspec_conformance.config import ABSENT, ConfiguredCall
from faultspec_conformance.config.context import texts_in
from faultspec_conformance.config.requests import NAMES
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import point
from faultspec_conformance.session.placeholders import fill_in, fill_in_text, fill_in_texts
from faultspec_conformance.session.resources import CreatedResource, ResourceKind


def fill_in_call(
    session: HttpSession, call: ConfiguredCall, saved: Mapping[str, object] | None = None
) -> ConfiguredCall:
    """Return a call with new values, constants, saved names and members of created resources.

    New values in the body fit the schema that the document has for it.
    """
    known = {**session.constants, **dict(_members(session, call)), **(saved or {})}
    path = fill_in_text(session.source, call.path, known)
    body = call.body
    if body is not ABSENT:
        operation = session.operation(call.method, path.partition("?")[0])
        schema = operation.body.schema if operation.body is not None else None
        body = fill_in(session.source, body, known, schema)
        session.observations.plant(
            session.confidential.keep_made_up(
                session.confidential.places(operation, body), call.body, body
            )
        )
    return replace(
        call,
        path=path,
        query=fill_in_texts(session.source, call.query, known),
        headers={
            name: None if text is None else fill_in_text(session.source, text, known)
            for name, text in call.headers.items()
        },
        body=body,
        raw=fill_in_text(session.source, call.raw, known) if call.raw is not None else None,
    )


def named_kinds(session: HttpSession, call: ConfiguredCall) -> Iterator[ResourceKind | str]:
    """Yield the kinds of resource whose members a call contains, and names that no kind has."""
    for name in dict.fromkeys(name for name, _ in _names(call)):
        yield _kind(session, name) or name


def _members(session: HttpSession, call: ConfiguredCall) -> Iterator[tuple[str, object]]:
    """Yield the members of created resources that a call contains, each under its placeholder."""
    for name, member in _names(call):
        kind = _kind(session, name)
        resource = session.knowledge.created.get(kind.name) if kind is not None else None
        value = _member(resource, member) if resource is not None else None
        if value is not None:
            yield f"{name}.{member}", value


def _member(resource: CreatedResource, member: str) -> object:
    if member == "id":
        return resource.id
    found = point(resource.creation.json, f"/{member}")
    body = resource.body if isinstance(resource.body, dict) else {}
    return found if found is not None else body.get(member)


def _kind(session: HttpSession, name: str) -> ResourceKind | None:
    own = next((kind for kind in session.kinds if kind.name == name), None)
    return own or next((kind for kind in session.kinds if name in kind.names), None)


def _names(call: ConfiguredCall) -> Iterator[tuple[str, str]]:
    """Yield the names of resources in a call, each with the member."""
    for value in (call.path, dict(call.query), dict(call.headers), call.body, call.raw):
        for _, text in texts_in(value, ()):
            for found in NAMES.findall(text):
                name, dot, member = found.partition(".")
                if dot:
                    yield name, member
