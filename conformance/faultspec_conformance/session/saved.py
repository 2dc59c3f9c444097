"""Values of answers that the configuration keeps: of a login, and of the steps of a recipe."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from faultspec.exchange.expressions import UncheckableExpression, search
from faultspec.language.values import shorten
from faultspec.runtime.nodes import child
from faultspec_conformance.config import SavedPart
from faultspec_conformance.session.observation import Observation, point

#: The members of an answer that a reason names, so that a pointer can be mended.
_SHOWN = 6


def saved_values(
    save: Mapping[str, SavedPart], answer: Observation, where: str
) -> dict[str, object] | str:
    """Return the values to keep of an answer by name, or why one is missing.

    ``where`` names the request.
    """
    values = {name: _part(part, answer) for name, part in save.items()}
    missing = next((save[name] for name, value in values.items() if value is None), None)
    if missing is None:
        return values
    is_pointer = " " not in missing.place
    members = [*answer.json][:_SHOWN] if is_pointer and isinstance(answer.json, dict) else []
    shown = ", ".join(shorten(child("", name)) for name in members)
    has = f", which has {shown}" if shown else ""
    return f"no {missing} in the answer ({answer}) of {where}{has}"


def _part(part: SavedPart, answer: Observation) -> object:
    """Return a part of an answer, or None."""
    kind, space, name = part.place.partition(" ")
    if not space:
        value = point(answer.json, part.place)
    else:
        value = answer.header(name) if kind == "header" else _cookie(answer, name)
    if part.match is None or value is None:
        return value
    try:
        found = search(part.match, str(value))
    except UncheckableExpression:
        return None
    return None if found is None else found[1] if found.re.groups else found[0]


def _cookie(answer: Observation, name: str) -> str | None:
    """Return the value of a cookie that an answer sets (RFC 6265, 4.1), or None."""
    for header, value in answer.exchange.response.headers:
        if header.lower() == "set-cookie":
            try:
                cookies = SimpleCookie(value)
            except CookieError:
                continue
            if name in cookies:
                return cookies[name].value
    return None
