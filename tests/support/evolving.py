"""A taxonomy with deprecated and removed codes, shared and of one operation, and versions of it."""

from faultspec.language import read
from faultspec.language.model import Taxonomy

SHOP = """\
faultspec: 1
taxonomy: {name: shop, version: 2.0.0}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
detail_keys: {stock: {type: integer}}
surfaces: {http: {transport: http, envelope: error}}
unknown: {becomes: failed, retriable: true}
codes:
  failed: {summary: It failed., http: 500, retriable: false}
  sold_out: {summary: Sold out., http: 409, retriable: false, details: {stock: {}}}
  no_stock: {summary: No stock., http: 409, retriable: false, lifecycle: deprecated, since: 2.0.0, sunset: 2027-01-31, replaced_by: sold_out, details: {stock: {}}}
  odd: {summary: Odd., http: 400, retriable: false, lifecycle: deprecated, sunset: 2027-01-31}
  empty: {summary: It was empty., wire: shop.empty, lifecycle: removed, replaced_by: emptied}
  emptied: {summary: It was emptied., lifecycle: removed, replaced_by: no_stock}
  lost: {summary: It was lost., lifecycle: removed}
  later: {summary: It comes later., http: 410, retriable: false, lifecycle: reserved}
operations:
  buy:
    match: {routes: [POST /orders]}
    errors:
      too_late: {summary: Too late., http: 410, retriable: false, lifecycle: deprecated, replaced_by: failed}
      missed: {summary: It was missed., wire: lost, lifecycle: removed, replaced_by: too_late}
"""

NEW_CODE = "  brand_new: {summary: It is new., http: 422, retriable: false}\n"


def shop(*, new_code: bool = False) -> Taxonomy:
    """The taxonomy, on demand with one more code."""
    place = "  odd: "
    text = SHOP.replace(place, NEW_CODE + place) if new_code else SHOP
    loaded = read(text, "shop.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


#: The code that replaces each removed code in an answer: by operation and value of the code slot.
REPLACEMENTS: tuple[tuple[str | None, str, str | None], ...] = (
    (None, "shop.empty", "no_stock"),
    ("buy", "emptied", "no_stock"),
    (None, "lost", None),
    ("buy", "lost", "too_late"),
    ("POST /orders", "lost", "too_late"),
    ("sell", "lost", None),
    (None, "later", None),
    (None, "empty", None),
    (None, "None", None),
)
