"""Operations, and the codes of statuses: of responses whose bodies name no code."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from faultspec.importers import Data, Report
from faultspec.importers.bodies import ImportedContract, ImportedOperation, ImportedResponse
from faultspec.importers.codes import ImportedCode, with_examples
from faultspec.importers.examples import PlacedExample
from faultspec.importers.headers import header_rule
from faultspec.importers.names import PATTERN, NamedFamilies
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.language.spelling import snake
from faultspec.language.values import foreign_schema_problem
from faultspec.targets.model import phrase

#: Methods of HTTP that are idempotent (RFC 9110, section 9.2.2).
_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})


class StatusCodes(NamedTuple):
    """An operation as data, without its codes, and the codes of its statuses."""

    name: str
    data: Data
    errors: dict[str, ImportedCode]


def import_operations(
    contract: ImportedContract,
    named: NamedFamilies,
    operations: Iterable[str],
    codes: Iterable[str],
    lose: Report,
) -> list[StatusCodes]:
    """The operations that have a failure. ``operations`` and ``codes`` are the names in use."""
    names, shared_names = UniqueNames(operations), set(codes)
    found = []
    for operation in contract.operations:
        if not operation.uncoded and not operation.coded:
            continue
        name = names.reserve(identifier(snake(operation.identity), "operation"))
        errors: dict[str, ImportedCode] = {}
        for response in operation.uncoded:
            code = _status_name(response, {*shared_names, *errors}, lose)
            errors[code] = _status_code(response, lose)
        found.append(StatusCodes(name, _operation(operation, name, named), errors))
    return found


def _operation(operation: ImportedOperation, name: str, named: NamedFamilies) -> Data:
    data: Data = {}
    if operation.description and operation.description.strip():
        data["summary"] = operation.description
    if operation.wire and operation.wire != name and operation.wire.strip():
        data["wire"] = operation.wire
    data["match"] = {"routes": [operation.route]}
    if operation.method in _IDEMPOTENT:
        data["idempotent"] = True
    keys = [named.codes[body] for body in operation.coded]
    if shared := dict.fromkeys(key.name for key in keys if key.operation is None):
        data["codes"] = list(shared)
    return data


def _status_name(response: ImportedResponse, used: set[str], lose: Report) -> str:
    name = PATTERN.replace("${status}", response.status.upper())
    unused = UniqueNames(used).reserve(name)
    if unused != name:
        reason = f"the document has its own code {name}; this one is called {unused}"
        lose(response.pointer, "collision", reason)
    return unused


def _status_code(response: ImportedResponse, lose: Report) -> ImportedCode:
    status: Any = int(response.status) if response.status.isdecimal() else response.status
    if response.status == "default":
        status = ["4xx", "5xx"]
        reason = "`default` is any status that is not listed; it became 4xx and 5xx"
        lose(response.pointer, "default", reason)
    plain = f"An answer with the status {response.status}"
    summary = response.description or (phrase(status) if isinstance(status, int) else "")
    data: Data = {"summary": " ".join(summary.split()) or plain, "http": status}
    headers: Data = {}
    for name, header in response.headers.items():
        presence = "required" if header.required else "optional"
        rule = header_rule(name, header, lose)
        headers[name] = {"presence": presence, **rule} if rule else presence
    if headers:
        data["headers"] = headers
    if response.schema:
        problem = _schema_problem(json.dumps(response.schema))
        if problem is not None:
            reason = f"the schema of its body is not JSON Schema: {problem}"
            lose(response.pointer, "schema", reason)
        elif isinstance(response.schema, dict):
            data["schema"] = dict(response.schema)
    return with_examples(data, _examples(response, lose))


@lru_cache(maxsize=256)  # many operations have the same response
def _schema_problem(schema: str) -> str | None:
    """Why the string is not a JSON Schema."""
    problem = foreign_schema_problem(json.loads(schema))
    return None if problem is None else problem[1]


def _examples(response: ImportedResponse, lose: Report) -> list[PlacedExample]:
    found = []
    for sample in response.samples:
        if isinstance(sample.value, dict):
            summary = {"summary": sample.summary} if sample.summary else {}
            data = {**summary, "details": sample.value}
            found.append(PlacedExample(data, (sample.pointer,)))
        else:
            lose(sample.pointer, "example", "details are an object, and this body is not")
    return found
