"""Requests that make a service fail on purpose, as recipes of the configuration do.

Generated traffic may repeat them: a switch that the OpenAPI document declares is a parameter like
any other.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import parse_qsl

from faultspec.contract.crashes import may_fail
from faultspec.exchange.model import Request
from faultspec.language.model import Taxonomy
from faultspec.openapi.service import Description
from faultspec_conformance.config import FaultSwitchConfig, ServiceConfig, Step
from faultspec_conformance.config.context import wire_text
from faultspec_conformance.config.requests import NAMES, PLACEHOLDER
from faultspec_conformance.session.resources import place_path

#: Headers with a meaning of their own, which switch nothing on.
STANDARD = frozenset(
    {
        *("accept", "accept-encoding", "accept-language", "authorization", "content-encoding"),
        *("content-type", "cookie", "expect", "host", "idempotency-key", "if-match"),
        *("if-modified-since", "if-none-match", "if-unmodified-since", "origin", "prefer"),
        *("range", "traceparent", "tracestate", "user-agent", "x-api-key", "x-request-id"),
    }
)


@dataclass(frozen=True, slots=True)
class FaultSwitch:
    """The mark of the request of a recipe: a header, or a query parameter with its value, or the
    method and the path with members of the body. ``path`` has ``*`` for each placeholder. A
    ``method`` of None is any. ``declared``: `faults` of the configuration declares it.
    """

    header: str | None = None
    query: tuple[str, str] | None = None
    method: str | None = None
    path: str = ""
    body: tuple[tuple[str, str], ...] = ()
    declared: bool = False

    def is_on(self, request: Request) -> bool:
        """Whether the request makes the service fail as the recipe does."""
        path, _, query = request.target.partition("?")
        if self.header is not None:
            return any(name.lower() == self.header for name, _ in request.headers)
        if self.query is not None:
            return self.query in parse_qsl(query, keep_blank_values=True)
        same_place = self.method in (None, request.method) and fnmatchcase(path, self.path)
        return same_place and set(self.body) <= set(_members(request.body))


def find_switches(
    taxonomy: Taxonomy, config: ServiceConfig, description: Description
) -> Iterator[FaultSwitch]:
    """Yield the declared switches, and those of all recipes for failures of the service."""
    for declared in config.faults:
        yield from _declared_switches(declared)
    own = {name.lower() for identity in config.identities.values() for name, _ in identity.headers}
    for recipe in config.recipes:
        if recipe.steps and may_fail(taxonomy, recipe.code):
            yield from _switches(recipe.steps[-1], own, description)


def _declared_switches(switch: FaultSwitchConfig) -> Iterator[FaultSwitch]:
    if switch.where == "header":
        yield FaultSwitch(header=switch.name.lower(), declared=True)
        return
    for value in switch.values.values():
        if switch.where == "query":
            yield FaultSwitch(query=(switch.name, wire_text(value)), declared=True)
        else:
            member = switch.name, json.dumps(value)
            yield FaultSwitch(path="*", body=(member,), declared=True)


def _switches(step: Step, own: set[str], description: Description) -> Iterator[FaultSwitch]:
    call = step.call
    path, _, inline = call.path.partition("?")
    headers = [name.lower() for name in call.headers if name.lower() not in STANDARD | own]
    query = [*call.query.items(), *parse_qsl(inline, keep_blank_values=True)]
    yield from (FaultSwitch(header=name) for name in headers)
    yield from (FaultSwitch(query=(name, str(value))) for name, value in query)
    if not headers and not query and path.startswith("/"):  # a saved URL names no operation
        body = json.dumps(call.body).encode() if isinstance(call.body, dict) else b""
        literal = tuple(member for member in _members(body) if "${" not in member[1])
        whole = place_path(description, call.method, path)
        pattern = PLACEHOLDER.sub("*", NAMES.sub("*", whole))
        yield FaultSwitch(method=call.method, path=pattern, body=literal)


def _members(body: bytes) -> tuple[tuple[str, str], ...]:
    """The members of a JSON object, each with its value as text."""
    with suppress(ValueError, RecursionError):
        value = json.loads(body) if body else None
        if isinstance(value, Mapping):
            return tuple((name, json.dumps(member)) for name, member in value.items())
    return ()
