"""Logins of the configuration: requests that yield the credentials of an identity."""

from collections.abc import Mapping

from faultspec.diagnostics.model import Path as Place
from faultspec.language import grammar
from faultspec_conformance.config.context import (
    SAVED_NAME,
    Node,
    ReadingContext,
    child_mapping,
    texts_in,
)
from faultspec_conformance.config.model import Login
from faultspec_conformance.config.requests import read_call, read_saved_part


def read_login_request(
    context: ReadingContext, identity: Node, headers: Mapping[str, str], place: Place
) -> Login | None:
    """The login of an identity. Values that its headers do not use, or lack, are reported."""
    at = (*place, "login")
    if context.transport != "http":
        message = "`login` belongs to services over HTTP"
        context.report("misplaced-key", at, message, hint="remove the key")
        return None
    node = dict(child_mapping(identity, "login"))
    for key in ("query", "body", "raw"):
        texts = list(texts_in(node.get(key), (*at, key)))
        context.secrets += context.variables(text for _, text in texts)
        if key in node:
            node[key] = _expand(context, node[key], (*at, key))
    save = {
        name: read_saved_part(context, value, (*at, "save", name))
        for name, value in child_mapping(node, "save").items()
    }
    used = {name for value in headers.values() for name in SAVED_NAME.findall(value)}
    for name in sorted(used - save.keys()):
        hint = grammar.closest(name, tuple(save)) or f"add `save: {{{name}: /token}}`"
        message = f"`{name}` is not saved by `login`"
        context.report("unknown-name", (*place, "headers"), message, key=False, hint=hint)
    for name in sorted(save.keys() - used):
        hint = f"use it in `headers`, such as `Authorization: Bearer ${{{name}}}`"
        message = f"no header of the identity uses `${{{name}}}`"
        context.report("unused-name", (*at, "save", name), message, hint=hint)
    return Login(read_call(context, node, at), save)


def _expand(context: ReadingContext, value: object, place: Place) -> object:
    """The value with the variables of the environment in all its texts."""
    if isinstance(value, str):
        return context.expand(value, place)
    if isinstance(value, dict):
        return {name: _expand(context, item, (*place, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [_expand(context, item, (*place, index)) for index, item in enumerate(value)]
    return value
