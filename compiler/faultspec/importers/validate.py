"""A check of what was imported, by the language itself and its lint."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from faultspec.diagnostics.model import Diagnostic
from faultspec.importers import Data, Decision, ImportedTaxonomy, Loss, NotImportable
from faultspec.importers.yaml_writer import write_yaml
from faultspec.language import read_without_places
from faultspec.lint import check
from faultspec.source import MAX_BYTES, MAX_NODES

#: Checks, each of which drops the examples that the language refuses. One or two are enough.
_ROUNDS = 4

CodePath = tuple[str, ...]


def drop_invalid(imported: ImportedTaxonomy) -> ImportedTaxonomy:
    """The taxonomy without the examples that the language refuses, each of which is a loss, and
    with the decisions that lint asks for.

    Raises NotImportable if the taxonomy is too large, or if the language refuses anything else,
    which is a mistake of the importer.
    """
    if not _fits(imported.data):
        raise _too_large(f"more than {MAX_NODES:,} keys and values")
    data, losses = dict(imported.data), list(imported.losses)
    pointers = dict(imported.examples)
    for number in range(_ROUNDS):
        remarks = _remarks(data)
        errors = [found for found in remarks if found.severity == "error"]
        if not errors:
            unique = tuple(dict.fromkeys(losses))
            return ImportedTaxonomy(data, unique, pointers, tuple(_decisions(remarks)))
        if any(found.code == "file-too-large" for found in errors):
            raise _too_large(f"more than {MAX_BYTES // 1024**2} MiB")
        refused = _refused_examples(errors)
        if refused and number == 0:
            data = deepcopy(data)
        for path, reasons in refused.items():
            code: Any = data
            for step in path:
                code = code[step]
            losses += _drop(code, path, reasons, pointers)
        if not refused:
            break
    first = errors[0]
    place = "/".join(map(str, first.pointer))
    message = f"the imported taxonomy would be invalid at {place}: {first.message}"
    raise NotImportable(first.code, message, hint="please report this document")


def _remarks(data: Data) -> list[Diagnostic]:
    """The diagnostics of the language and of lint, in the order of the data."""
    indices: dict[int, dict[str, int]] = {}

    def place(remark: Diagnostic) -> list[int]:
        value: Any = data
        found = []
        for step in remark.pointer:
            if isinstance(value, Mapping) and step in value:
                if id(value) not in indices:
                    indices[id(value)] = {key: index for index, key in enumerate(value)}
                found.append(indices[id(value)][str(step)])
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                found.append(step)
            else:
                break
            value = value[step]
        return found

    return sorted(check(read_without_places(write_yaml(data), "")), key=place)


def _fits(data: object) -> bool:
    """Whether the language can read a taxonomy, by its number of keys and values."""
    left, waiting = MAX_NODES, [data]
    while waiting and left > 0:
        value = waiting.pop()
        left -= 1
        if isinstance(value, Mapping):
            left -= len(value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return left >= len(waiting)


def _too_large(size: str) -> NotImportable:
    message = f"the taxonomy would have {size}, the most that a taxonomy may have"
    return NotImportable("file-too-large", message, hint="import a part of the document")


def _decisions(remarks: Sequence[Diagnostic]) -> Iterator[Decision]:
    for remark in remarks:
        if remark.severity == "warning":
            yield Decision(remark.code, ".".join(map(str, remark.pointer)), remark.message)


def _refused_examples(errors: Sequence[Diagnostic]) -> dict[CodePath, dict[int, str]]:
    """For each code, the indices of its refused examples, each with the reason."""
    refused: dict[CodePath, dict[int, str]] = {}
    for error in errors:
        if "example" in error.pointer:
            at = error.pointer.index("example")
            index = error.pointer[at + 1] if len(error.pointer) > at + 1 else 0
            reasons = refused.setdefault(tuple(map(str, error.pointer[:at])), {})
            reasons.setdefault(index if isinstance(index, int) else 0, error.message)
    return refused


def _drop(
    code: Any,
    path: CodePath,
    reasons: dict[int, str],
    pointers: dict[CodePath, tuple[tuple[str, ...], ...]],
) -> Iterator[Loss]:
    """Take refused examples out of a code and out of ``pointers``, the places of its examples."""
    examples = code["example"] if isinstance(code["example"], list) else [code["example"]]
    places = pointers.get(path) or ((),) * len(examples)
    for index, problem in reasons.items():
        reason = f"the language refuses it as an example of `{path[-1]}`: {problem}"
        for pointer in places[index] or ("",):
            yield Loss(pointer, "example", reason)
    kept = [index for index in range(len(examples)) if index not in reasons]
    pointers[path] = tuple(places[index] for index in kept)
    if not kept:
        del code["example"]
    else:
        left = [examples[index] for index in kept]
        code["example"] = left if len(left) > 1 else left[0]
