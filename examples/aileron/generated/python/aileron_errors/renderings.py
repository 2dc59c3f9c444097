"""Errors of Aileron failures as text, for readers without an envelope."""

# Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aileron/taxonomy.yaml

import typing as t

from ._runtime.rendering import filled
from .errors import (
    AileronError,
)
from .wire import slot_values


def tool_message(
    error: AileronError,
    *,
    tool_call_id: object,
    action: object,
) -> t.Any:
    """The result of a tool call in a chat completion.

    ``tool_call_id``: The call that failed. ``action``: The name of the action.
    """
    picture = {
        "tool_call_id": "$tool_call_id",
        "role": "tool",
        "content": "Action '${action}' failed: ${code} (${message}).\n${details.suggestion}\naudit_id: ${audit_id}",
    }
    given: dict[str, object] = {
        "tool_call_id": tool_call_id,
        "action": action,
    }
    return filled(picture, {**_known(error), **given})


def tool_result(
    error: AileronError,
    *,
    tool_use_id: object,
) -> t.Any:
    """The same for an API that has a block for it.

    ``tool_use_id``: The call that failed.
    """
    picture = {
        "type": "tool_result",
        "tool_use_id": "$tool_use_id",
        "is_error": True,
        "content": "${code}: ${message}\n${details.suggestion}\naudit_id: ${audit_id}",
    }
    given: dict[str, object] = {
        "tool_use_id": tool_use_id,
    }
    return filled(picture, {**_known(error), **given})


def _known(error: AileronError) -> dict[str, object]:
    details = {f"details.{key}": value for key, value in error.details.items()}
    return {**slot_values(error), **details}
