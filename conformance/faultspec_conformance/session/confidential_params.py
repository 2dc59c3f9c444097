"""Confidential members of calls by name: which values of their params were made up."""

import json
import re
from collections.abc import Iterator

from faultspec.exchange.model import Canary, Request
from faultspec_conformance.config import ServiceConfig, Step
from faultspec_conformance.config.requests import NAMES
from faultspec_conformance.session.confidential import ConfidentialValues
from faultspec_conformance.session.observation import point


def keep_made_up_params(
    values: ConfidentialValues, config: ServiceConfig, request: Request
) -> tuple[Canary, ...]:
    """Keep the values that configured calls made up at confidential places of a request.

    A request is recognised by its method or tool and by the text that the file has at the place.
    """
    if not values.pointers:
        return ()
    found: list[Canary] = []
    for name, params in _calls_in(request):
        for template in (body for path, body in _templates(config) if path == name):
            places = [
                place
                for place in values.declared_places(params)
                if _fits(point(template, place.pointer), str(point(params, place.pointer)))
            ]
            found += values.keep_made_up(places, template, params)
    return tuple(dict.fromkeys(found))


def _calls_in(request: Request) -> Iterator[tuple[str, object]]:
    """Yield the calls of a message, or of a batch: the method or tool, and its params."""
    try:
        body = json.loads(request.body or b"null")
    except (ValueError, RecursionError):
        return
    for part in body if isinstance(body, list) else [body]:
        if isinstance(part, dict) and part.get("jsonrpc") is not None and "method" in part:
            yield str(part["method"]), part.get("params")
        else:
            yield request.target, part


def _templates(config: ServiceConfig) -> Iterator[tuple[str, object]]:
    """Yield every configured call: the method or tool, and its params with their placeholders."""
    for sample in config.samples:
        yield sample.call.path, sample.call.body
        yield from ((sample.call.path, invalid.params) for invalid in sample.invalid)
        yield from _calls_of(sample.before)
    for recipe in config.recipes:
        yield from _calls_of((*recipe.steps, *recipe.after))
    ends = (step for end in config.session.ends for step in end.steps)
    yield from _calls_of((*config.session.start, *ends))


def _calls_of(steps: tuple[Step, ...]) -> Iterator[tuple[str, object]]:
    return ((step.call.path, step.call.body) for step in steps)


def _fits(template: object, value: str) -> bool:
    """Whether a value is a text of the file with its placeholders filled in."""
    if not isinstance(template, str):
        return False
    parts: list[str] = NAMES.split(template)[::2]  # the texts between the names
    return re.fullmatch(".*".join(map(re.escape, parts)), value, re.DOTALL) is not None
