"""A drawing of the surfaces: by transport, in the order in which they claim an exchange."""

import json
from collections.abc import Iterator, Mapping, Sequence

from faultspec.language.model import Match, Surface, Taxonomy
from faultspec.targets.filters import visible

#: The routes and tools of a surface that a line names; more would not fit.
_SHOWN = 3


def surface_map(taxonomy: Taxonomy) -> tuple[str, ...]:
    """The lines of the drawing; none if there are no surfaces."""
    found: list[str] = []
    for transport, surfaces in _surfaces_by_transport(taxonomy).items():
        found.append(transport)
        for index, surface in enumerate(surfaces):
            branch = "└─" if surface is surfaces[-1] else "├─"
            claims = _claimed_exchanges(surface.match) or ("any other" if index else "any")
            found.append(visible(f"{branch} {surface.name}: {claims} ─▶ {_outcome(surface)}"))
    return tuple(found)


def _surfaces_by_transport(taxonomy: Taxonomy) -> Mapping[str, Sequence[Surface]]:
    found: dict[str, list[Surface]] = {}
    for surface in taxonomy.surfaces.values():
        found.setdefault(surface.transport, []).append(surface)
    return found


def _claimed_exchanges(match: Match) -> str:
    """The exchanges that a surface claims; empty for all."""
    return ", ".join(
        part
        for part in (
            _first_names(match.methods),
            _first_names(match.routes),
            _first_names(match.tools),
            *(f"{at} {_texts(values)}" for at, values in match.request.items()),
            *(f"{name}: {_texts(values)}" for name, values in match.headers.items()),
            *(f"?{name}={_texts(values)}" for name, values in match.query.items()),
            "under " + " or ".join(map(str, match.statuses)) if match.statuses else "",
        )
        if part
    )


def _outcome(surface: Surface) -> str:
    """The envelopes of errors, and the sign of an error."""
    envelopes = " or ".join(surface.envelopes) or "no envelope"
    signs = list(_signs(surface))
    place = f" at {surface.at}" if surface.at else ""
    return f"{envelopes}{place}{', if ' if signs else ''}{' and '.join(signs)}"


def _signs(surface: Surface) -> Iterator[str]:
    if surface.error_when:
        yield " or ".join(map(str, surface.error_when))
    if surface.error_pointer is not None:
        yield f"it has {surface.error_pointer}"
    for pointer, value in surface.error_equals.items():
        yield f"{pointer} is {json.dumps(value, ensure_ascii=False)}"


def _first_names(names: Sequence[str]) -> str:
    rest = f" or {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return " or ".join(names[:_SHOWN]) + rest


def _texts(values: Sequence[object]) -> str:
    return " or ".join(json.dumps(value, ensure_ascii=False) for value in values)
