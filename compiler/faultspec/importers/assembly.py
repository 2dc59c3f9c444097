"""The whole of an imported taxonomy."""

from faultspec.importers import Data
from faultspec.importers.extensible import extensible_paths
from faultspec.importers.route_order import order_by_route


def assemble(header: Data, sections: Data) -> Data:
    """A taxonomy of the header and the sections: with the paths that a team may change, and its
    operations in an order in which each is reached.
    """
    if "operations" in sections:
        sections = {**sections, "operations": order_by_route(sections["operations"])}
    return {
        "faultspec": 1,
        "taxonomy": header,
        "extensible": extensible_paths(sections),
        **sections,
    }
