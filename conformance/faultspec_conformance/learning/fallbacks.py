"""Answers of a drafted service where its framework refuses or breaks: the envelope, and the codes
of the fallbacks.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from faultspec.importers import Data
from faultspec.openapi.nodes import mapping

#: By class: the status of its code, the name and summary of a new one, and the reason.
_CLASSES: Mapping[str, tuple[int, str, str, str]] = {
    "4xx": (400, "invalid_request", "The request is refused", "What the framework refuses"),
    "5xx": (500, "internal_error", "The service failed", "What breaks"),
}

#: The statuses by which frameworks refuse unknown routes and methods, and long bodies. A new code
#: for what they refuse keeps them.
_BARE = (404, 405, 413)

#: Names of codes that say no more than that something is refused, or is broken.
_GENERAL = re.compile(
    r"(?:invalid|bad|validation|malformed|unprocessable|internal|server|unexpected|unknown)"
    r"(?:[_.-]?(?:request|input|params?|parameters?|arguments?|body|error|failed|failure|server"
    r"|entity|content))*|(?:general_)?(?:error|failure)",
    re.IGNORECASE,
)


def with_fallback_codes(data: Data) -> tuple[Data, tuple[str, ...]]:
    """Drafted data whose fallbacks have codes in the envelope of most errors, and the names of the
    codes that are new. An observed code is taken if its name is general or several operations have
    it: a code of one operation says something else. A class without a code stays without if none
    can be imitated.

    An error boundary renders all its errors in one envelope, and no detail is known of them.
    """
    codes: dict[str, Data] = dict(data["codes"])
    fallback: dict[str, Data] = dict(data.get("fallback", {}))
    first = next(iter(data["envelopes"]), None)
    used = Counter(
        code
        for operation in data.get("operations", {}).values()
        for code in operation.get("codes", ())
    )
    new: list[str] = []
    for name, (status, suggested, summary, reason) in _CLASSES.items():
        if fallback.get(name, {"code": None})["code"] is not None:
            continue
        own = {
            code: facts for code, facts in codes.items() if facts.get("envelope", first) == first
        }
        able = (
            code
            for code, facts in own.items()
            if facts.get("http") == status
            and "details" not in facts
            and (_GENERAL.fullmatch(code) or used[code] != 1)
        )
        chosen = next(able, None)
        if chosen is None:
            model = next((facts for facts in own.values() if facts.get("http")), None)
            if model is None or isinstance(model.get("wire"), int):
                continue
            is_upper = all(code.isupper() for code in codes)
            chosen = suggested.upper() if is_upper else suggested
            if chosen in codes:
                continue
            codes[chosen] = _imitate(model, _new_statuses(name, data), summary)
            new.append(chosen)
        fallback[name] = {"code": chosen, "reason": reason}
    return {**data, "fallback": fallback, "codes": codes}, tuple(new)


def _new_statuses(name: str, data: Data) -> int | list[int]:
    """The statuses of the new code of a class. A status that alone decides which code an error has
    is not shared.
    """
    status = _CLASSES[name][0]
    if name != "4xx":
        return status
    envelope = mapping(next(iter(data["envelopes"].values()), None))
    by_status = mapping(mapping(envelope.get("fields")).get("code")).get("places") == ["status"]
    taken = {facts.get("http") for facts in data["codes"].values()} if by_status else set()
    return [status, *(each for each in _BARE if each not in taken)]


def with_usual_envelope_first(data: Data) -> Data:
    """Drafted data whose first envelope is that of most codes: bindings answer in the first one."""
    used = Counter(code.get("envelope") for code in data["codes"].values())
    envelopes: dict[str, Data] = dict(data["envelopes"])
    ranked = sorted(envelopes, key=lambda name: -used[name])
    surfaces = {
        name: {**surface, "envelope": sorted(surface["envelope"], key=ranked.index)}
        if isinstance(surface.get("envelope"), list)
        else surface
        for name, surface in data["surfaces"].items()
    }
    return {**data, "envelopes": {name: envelopes[name] for name in ranked}, "surfaces": surfaces}


def _imitate(model: Data, statuses: int | list[int], summary: str) -> Data:
    """A code like another one, with other statuses and text, and without details."""
    examples = model.get("example") or {}
    example = dict(examples[0] if isinstance(examples, list) else examples)
    example.pop("details", None)
    if "message" in example:
        example["message"] = summary
    kept: dict[str, Any] = {
        name: model[name] for name in ("envelope", "retriable") if name in model
    }
    return {"summary": summary, "http": statuses, "example": example, **kept}
