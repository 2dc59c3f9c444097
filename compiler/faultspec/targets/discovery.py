"""The discovery target: the errors of each operation, as services publish them and clients read
them.

Each publication has one document: by operation, the value at the place of the list in the answer to
its request. The schema of an item is JSON Schema 2020-12 of the error's details.
"""

from faultspec.exchange.body import replace_value
from faultspec.language.model import Code, Operation, Publication, Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.model import Model
from faultspec.targets.surfaces import SurfaceFile, SurfacesView


def view(taxonomy: Taxonomy, model: Model) -> SurfacesView | None:
    """The documents, or None if errors are not published."""
    files = tuple(
        SurfaceFile(each.name, _document(each, taxonomy, model))
        for each in taxonomy.discovery.values()
        if each.kind == "errors"
    )
    return SurfacesView(files) if files and taxonomy.operations else None


def _document(publication: Publication, taxonomy: Taxonomy, model: Model) -> schemas.Json:
    return {
        "$comment": model.header,
        "title": f"{taxonomy.title}: the errors that each operation declares",
        "request": publication.request,
        "answers": {
            operation.wire: _answer(publication, operation, taxonomy)
            for operation in taxonomy.operations.values()
        },
    }


def _answer(publication: Publication, operation: Operation, taxonomy: Taxonomy) -> object:
    items = [_item(publication, code, taxonomy) for code in operation.errors.values() if code.live]
    if not items and publication.empty == "absent":
        return {}
    return replace_value(
        {}, publication.at, items if items or publication.empty == "list" else None
    )


def _item(publication: Publication, code: Code, taxonomy: Taxonomy) -> object:
    known = {
        "code": code.wire,
        "summary": code.summary,
        "http": code.http.own_default,
        "details": schemas.details_schema(code, taxonomy),
    }
    item: object = {}
    for key, pointer in publication.item.items():
        item = replace_value(item, pointer, known[key])
    return item
