"""A last look at what was imported, by the language itself and by its lint."""

from copy import deepcopy
from typing import Any

from faultspec.importers import Imported, Loss, NotImportable
from faultspec.importers.written import written
from faultspec.language import read
from faultspec.lint import check

#: Each look takes at least one thing out; a document needs one look, or two.
_LOOKS = 4


def settled(imported: Imported) -> Imported:
    """The same without the examples that the language refuses, each of them a loss. Raises NotImportable where something
    else is left that the language refuses, which is a mistake of the importer's.
    """
    data, losses = deepcopy(dict(imported.data)), list(imported.losses)
    for _ in range(_LOOKS):
        errors = [each for each in check(read(written(data, ""), "")) if each.severity == "error"]
        if not errors:
            return Imported(data, tuple(losses))
        examples = {each.pointer[: each.pointer.index("example") + 1] for each in errors if "example" in each.pointer}
        for path in sorted(examples, key=str):
            holder: Any = data
            for step in path[:-1]:
                holder = holder[step]
            del holder["example"]
            reason = next(each.message for each in errors if each.pointer[: len(path)] == path)
            losses.append(Loss("", "example", f"the examples of `{path[-2]}` do not fit it: {reason}"))
        if not examples:
            break
    first = errors[0]
    where = "/".join(map(str, first.pointer))
    raise NotImportable(
        first.code, f"the taxonomy would not hold at {where}: {first.message}", hint="please report this document"
    )
