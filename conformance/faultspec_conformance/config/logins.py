"""Logins of the configuration: requests that yield the credentials of an identity."""

from collections.abc import Iterable

from faultspec.diagnostics.model import Path as Place
from faultspec.language import grammar
from faultspec_conformance.config.context import (
    SAVED_NAME,
    Node,
    ReadingContext,
    child_mapping,
)
from faultspec_conformance.config.model import Login
from faultspec_conformance.config.requests import read_call, read_saved_part


def read_login_request(
    context: ReadingContext, identity: Node, values: Iterable[str], place: Place
) -> Login | None:
    """The login of an identity. ``values``: those of its headers and its query. Saved values that
    they do not use, or lack, are reported.
    """
    at = (*place, "login")
    if context.transport != "http":
        message = "`login` belongs to services over HTTP"
        context.report("misplaced-key", at, message, hint="remove the key")
        return None
    node = child_mapping(identity, "login")
    save = {
        name: read_saved_part(context, value, (*at, "save", name))
        for name, value in child_mapping(node, "save").items()
    }
    used = {name for value in values for name in SAVED_NAME.findall(value)}
    at_fault = "headers" if "headers" in identity else "query"
    for name in sorted(used - save.keys()):
        hint = grammar.closest(name, tuple(save)) or f"add `save: {{{name}: /token}}`"
        message = f"`{name}` is not saved by `login`"
        context.report("unknown-name", (*place, at_fault), message, key=False, hint=hint)
    for name in sorted(save.keys() - used):
        hint = f"use it in `headers`, such as `Authorization: Bearer ${{{name}}}`"
        message = f"no header or parameter of the identity uses `${{{name}}}`"
        context.report("unused-name", (*at, "save", name), message, hint=hint)
    return Login(read_call(context, node, at), save)
