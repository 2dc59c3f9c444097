"""The OpenRPC target: the errors of each method, and the groups that methods share.

A document of OpenRPC 1.3.2 (https://spec.open-rpc.org), to be merged into that of the service: it
knows methods, and neither their parameters nor their results. `errors` of a method are its own. The
shared errors that it may have are its `x-error-group` (`@open-rpc/extensions` 0.0.2: lists of
errors), and all of a surface are components. OpenRPC has numbers only, so a surface with other
codes has no document.
"""

from collections.abc import Iterator
from typing import NamedTuple

from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.model import Code, Envelope, Operation, Surface, Taxonomy
from faultspec.targets import openapi
from faultspec.targets.doc_text import message_template
from faultspec.targets.model import Model
from faultspec.targets.schema import Json
from faultspec.targets.surfaces import SurfaceFile, SurfacesView

VERSION = "1.3.2"

_GROUP = "x-error-group"


class _Found(NamedTuple):
    """A code in an envelope of a surface, and its number there."""

    code: Code
    envelope: Envelope
    number: int


def view(taxonomy: Taxonomy, model: Model) -> SurfacesView | None:
    """The document of each JSON-RPC surface with numbers, or None if there is none."""
    files = tuple(
        SurfaceFile(surface.name, _document(surface, taxonomy, model))
        for surface in taxonomy.surfaces.values()
        if surface.transport == "jsonrpc" and any(_shared_errors(surface, taxonomy, None))
    )
    return SurfacesView(files) if files else None


def _document(surface: Surface, taxonomy: Taxonomy, model: Model) -> Json:
    methods = [
        method
        for operation in taxonomy.operations.values()
        if not operation.match.routes
        for method in _methods(operation, surface, taxonomy)
    ]
    return {
        "openrpc": VERSION,
        "info": {
            "title": f"{taxonomy.title}: the errors on {surface.name}",
            # The version of the taxonomy would change this file with every release.
            "version": "1",
            "x-comment": model.header,
        },
        "methods": methods,
        "components": {
            "errors": {
                each.code.name: _error(each, taxonomy)
                for each in _shared_errors(surface, taxonomy, None)
            }
        },
    }


def _methods(operation: Operation, surface: Surface, taxonomy: Taxonomy) -> Iterator[Json]:
    """The methods of an operation; a pattern of names is none."""
    names = [name for name in operation.match.tools if "*" not in name] or [operation.wire]
    own = _errors(_own_errors(operation, surface, taxonomy), taxonomy)
    group = _errors(_shared_errors(surface, taxonomy, operation), taxonomy)
    for name in names:
        yield {
            "name": name,
            **({"summary": operation.summary} if operation.summary else {}),
            "params": [],
            **({"errors": own} if own else {}),
            **({_GROUP: [group]} if group else {}),
        }


def _shared_errors(
    surface: Surface, taxonomy: Taxonomy, operation: Operation | None
) -> Iterator[_Found]:
    """The shared codes that a method may answer with, in the form of all operations."""
    for code in taxonomy.shared_live_codes():
        listed = operation is None or operation.codes is None or code.name in operation.codes
        differs = operation is not None and code.name in operation.variants
        if listed and not differs and reaches(surface, code, of_operation=False):
            yield from _find_numbers(code, surface, taxonomy)


def _own_errors(operation: Operation, surface: Surface, taxonomy: Taxonomy) -> Iterator[_Found]:
    """The codes that an operation alone has, or has in a form of its own."""
    for code in (*operation.errors.values(), *operation.variants.values()):
        owned = taxonomy.owns(operation.name, code)
        if code.live and reaches(surface, code, of_operation=owned):
            yield from _find_numbers(code, surface, taxonomy)


def _find_numbers(code: Code, surface: Surface, taxonomy: Taxonomy) -> Iterator[_Found]:
    """A code with its number in the first envelope that has one."""
    for name in surface.envelopes:
        envelope = taxonomy.envelopes[name]
        number = code.wire_in(envelope)
        if uses_envelope(code, envelope) and isinstance(number, int):
            yield _Found(code, envelope, number)
            return


def _errors(found: Iterator[_Found], taxonomy: Taxonomy) -> list[Json]:
    """Error objects: number, message and, if an example has details, those as its data."""
    return [_error(each, taxonomy) for each in found]


def _error(found: _Found, taxonomy: Taxonomy) -> Json:
    message = _message(found)
    return {"code": found.number, "message": message, **_data(found, taxonomy)}


def _message(found: _Found) -> str:
    code = found.code
    return code.summary if "${" in message_template(code) else message_template(code)


def _data(found: _Found, taxonomy: Taxonomy) -> Json:
    """The member `data` of the first example, as JSON-RPC has it beside the number."""
    for _, _, body in openapi.bodies(found.envelope, found.code, taxonomy):
        error = body.get("error", body) if isinstance(body, dict) else None
        if isinstance(error, dict) and "data" in error:
            return {"data": error["data"]}
    return {}
