"""A last look at what was imported, by the language itself and by its lint."""

from copy import deepcopy
from typing import Any

from faultspec.importers import ImportedTaxonomy, Loss, NotImportable
from faultspec.importers.yaml_writer import write_yaml
from faultspec.language import read
from faultspec.lint import check

#: Each look takes at least one thing out; a document needs one look, or two.
_LOOKS = 4


def drop_invalid(imported: ImportedTaxonomy) -> ImportedTaxonomy:
    """The same without the examples that the language refuses, each of them a loss. Raises NotImportable where something
    else is left that the language refuses, which is a mistake of the importer's.
    """
    data, losses, places = (
        deepcopy(dict(imported.data)),
        list(imported.losses),
        dict(imported.examples),
    )
    for _ in range(_LOOKS):
        errors = [each for each in check(read(write_yaml(data), "")) if each.severity == "error"]
        if not errors:
            return ImportedTaxonomy(data, tuple(dict.fromkeys(losses)), places)
        refused: dict[tuple[str, ...], dict[int, str]] = {}
        for error in errors:
            if "example" in error.pointer:
                at = error.pointer.index("example")
                number = error.pointer[at + 1] if len(error.pointer) > at + 1 else 0
                known = refused.setdefault(tuple(map(str, error.pointer[:at])), {})
                known.setdefault(number if isinstance(number, int) else 0, error.message)
        for code, reasons in refused.items():
            holder: Any = data
            for step in code:
                holder = holder[step]
            listed = (
                holder["example"] if isinstance(holder["example"], list) else [holder["example"]]
            )
            where = places.get(code) or ((),) * len(listed)
            for number, reason in reasons.items():
                told = f"the language refuses it as an example of `{code[-1]}`: {reason}"
                losses += [Loss(pointer, "example", told) for pointer in where[number] or ("",)]
            kept = [number for number in range(len(listed)) if number not in reasons]
            places[code] = tuple(where[number] for number in kept)
            if kept:
                holder["example"] = (
                    [listed[number] for number in kept] if len(kept) > 1 else listed[kept[0]]
                )
            else:
                del holder["example"]
        if not refused:
            break
    first = errors[0]
    place = "/".join(map(str, first.pointer))
    raise NotImportable(
        first.code,
        f"the taxonomy would not hold at {place}: {first.message}",
        hint="please report this document",
    )
