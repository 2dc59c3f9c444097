"""The signatures of generated constructors, which code that raises errors depends on."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.language.model import Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.python import names
from faultspec.targets.python.annotations import Annotations
from faultspec.targets.python.constructors import Constructor, package_of
from faultspec.targets.python.wire import slot_rows


class Signature(NamedTuple):
    """An exception class and the parameters of its constructor: whether each is mandatory.

    ``details``: the parameters that are members of the details.
    """

    name: str
    parameters: Mapping[str, bool]
    details: frozenset[str]


def constructor_signatures(taxonomy: Taxonomy, paths: Collection[Path]) -> dict[Path, Signature]:
    """The signatures of the live codes at some paths."""
    types = Annotations(taxonomy)
    package = package_of(taxonomy, types, slot_rows(taxonomy, types))
    taken = {names.base_class(taxonomy.name), *names.MODULE}
    found = {}
    for operation, code in schemas.live(taxonomy):
        path: Path = ("codes", code.name)
        if operation is not None:
            section = "errors" if taxonomy.owns(operation, code) else "variants"
            path = ("operations", operation, section, code.name)
        name = names.exception(operation, code.name, taken)
        if path in paths:
            envelope = schemas.own_envelope(taxonomy, operation, code)
            made = Constructor(code, name, envelope, package)
            parameters = {row.name: row.mandatory for row in made.parameters}
            found[path] = Signature(name, parameters, frozenset(made.keys.values()))
    return found
