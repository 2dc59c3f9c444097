"""From a service model of botocore (``service-2.json``) to a taxonomy.

Every structure that is an exception is a code. Each protocol has its places for the code,
those that the parsers of botocore read: the member ``__type`` of a JSON body, alone or after the
service's namespace, a header and the members ``code`` and ``Code`` (REST JSON), or ``Error/Code``
in XML. The older protocols of a service are reported, not carried.
"""

import html
import re
from collections.abc import Iterator
from http import HTTPMethod
from pathlib import Path
from typing import NamedTuple

from faultspec.importers import Data, ImportedTaxonomy, Json, Loss, NotImportable
from faultspec.importers.assembly import assemble
from faultspec.importers.botocore_envelopes import IN_XML, protocol_envelopes
from faultspec.importers.clean import clean_document
from faultspec.importers.envelopes import one_or_all
from faultspec.importers.examples import MADE_MESSAGE, make_value
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.importers.prose import first_sentence
from faultspec.language.constructs.parts import OF_DETAILS
from faultspec.openapi.nodes import mapping, sequence, texts
from faultspec.openapi.pointers import child
from faultspec.openapi.reader import DocumentReader, SchemaExpansions

#: Members of the envelope, not of the details, in lower case.
_ENVELOPE_MEMBERS = frozenset({"message", "code", "type", "requestid", "__type"})

_TYPES = {
    "boolean": "boolean",
    **dict.fromkeys(("string", "character", "blob"), "string"),
    **dict.fromkeys(("integer", "long", "bigInteger"), "integer"),
    **dict.fromkeys(("float", "double", "bigDecimal"), "number"),
}

_JSON_TYPES = {"structure": "object", "map": "object", "list": "array"}

#: Levels of structures in structures; a structure below is any object.
_DEEPEST = 5

#: Shapes that are written out, each once for every place. The largest model of AWS has 87.
_MOST_SHAPES = 20_000

#: What botocore's standard mode retries for any service: statuses, codes of transient failures,
#: codes of throttling (``botocore.retries.standard``; a test compares).
TRANSIENT_STATUSES = frozenset({500, 502, 503, 504})
TRANSIENT = frozenset({"RequestTimeout", "RequestTimeoutException", "PriorRequestNotComplete"})
THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)

#: botocore's standard mode (``ExponentialBackoff`` and ``RetryQuotaChecker`` of
#: ``botocore.retries.standard``). Its ``x-amz-retry-after`` is not Retry-After, so the policy omits
#: it.
POLICY: Data = {
    "summary": "botocore's standard mode.",
    "max_attempts": 3,
    "backoff": {"kind": "exponential", "base": "50ms", "factor": 2, "max": "20s"},
    "jitter": {"kind": "full"},
    "budget": {"tokens": 500, "cost": 14, "idle_refund": 1},
    "kinds": {"throttled": {"base": "1s", "cost": 5}},
}

#: Services whose first delay is shorter.
_FASTER = {"dynamodb": "25ms", "dynamodbstreams": "25ms"}


def read(document: object, service: str) -> ImportedTaxonomy:
    """The taxonomy of a service, by botocore's name for it. Raises NotImportable."""
    model, losses = clean_document(document, "botocore")
    if not all(isinstance(model.get(key), dict) for key in ("metadata", "operations", "shapes")):
        message = "this is not a service model: it has no metadata, operations and shapes"
        hint = "name a service-2.json, or a service that botocore knows"
        raise NotImportable("not-botocore", message, "", hint)
    return _Importer(model, losses).taxonomy(service)


class _ErrorShape(NamedTuple):
    """A structure that is an error. ``wire``: its code on the wire. ``pointer``: its place."""

    name: str
    data: Json
    wire: str
    pointer: str


class _Importer:
    """``codes``: the names of the codes by their wires."""

    def __init__(self, model: Json, losses: list[Loss]) -> None:
        expansions = SchemaExpansions(left=_MOST_SHAPES)
        self.reader = DocumentReader(model, dict.fromkeys(losses), expansions)
        self.lose = self.reader.lose
        self.metadata: Json = model["metadata"]
        self.shapes: Json = model["shapes"]
        self.operations: Json = model["operations"]
        self.protocol = str(self.metadata.get("protocol", ""))
        self.codes: dict[str, str] = {}

    def taxonomy(self, service: str) -> ImportedTaxonomy:
        """The taxonomy of the service."""
        envelopes = protocol_envelopes(self.metadata, self.shapes)
        errors = self._errors()
        codes = {self.codes[error.wire]: self._code(error) for error in errors}
        if not codes:
            message = "the model declares no errors"
            if self.protocol == "ec2":
                message += ": EC2 documents its own in prose"
            raise NotImportable("no-failures", message, "/shapes", "name another service")
        title = str(self.metadata.get("serviceFullName") or service)
        for older in texts(self.metadata.get("protocols")):
            if older != self.protocol:
                reason = f"the service also speaks {older}; its first protocol is imported"
                self.lose("/metadata/protocols", "protocol", reason)
        header: Data = {
            "name": identifier(service, "service"),
            "version": "1.0.0",
            "title": f"{title} errors",
        }
        data: Data = {
            "boundaries": _boundaries(codes),
            "envelopes": envelopes,
            "surfaces": {
                "api": {
                    "transport": "http",
                    "envelope": one_or_all(list(envelopes)),
                    "codes": "open",
                }
            },
        }
        if any(code.get("retry") for code in codes.values()):
            throttled = [self.codes[error.wire] for error in errors if _is_throttled(error)]
            data["retry_policies"] = {"standard": _policy(service, throttled)}
        data["codes"] = codes
        if operations := self._operations():
            data["operations"] = operations
        return ImportedTaxonomy(assemble(header, data), tuple(self.reader.losses))

    def _errors(self) -> list[_ErrorShape]:
        """The error shapes, the first of each wire; `codes` receives their names."""
        names = UniqueNames()
        found = []
        for shape, data in self.shapes.items():
            if not isinstance(data, dict) or not _is_error(data):
                continue
            error = _ErrorShape(shape, data, _wire(shape, data), child("/shapes", shape))
            if error.wire in self.codes:
                code = self.codes[error.wire]
                reason = (
                    f"`{error.wire}` is `{code}` already, and the wire does not tell the two apart"
                )
                self.lose(error.pointer, "wire", reason)
            else:
                self.codes[error.wire] = names.reserve(identifier(shape, "error"))
                found.append(error)
        return found

    # Codes

    def _code(self, error: _ErrorShape) -> Data:
        data, name = error.data, self.codes[error.wire]
        text = _plain_text(data.get("documentation"))
        summary = first_sentence(text) or f"{error.name}."
        fault = _is_fault(data)
        code: Data = {"summary": summary}
        if len(text) > len(summary) + 1:
            code["description"] = text
        if error.wire != name:
            code["wire"] = error.wire
        code["boundary"] = "receiver" if fault else "sender"
        code["http"] = status = self._status(error, fault)
        code |= _retries(error, status)
        if details := self._details(error):
            code["details"] = details
        shown = make_value({"type": "object", "properties": details})
        code["example"] = {"message": MADE_MESSAGE, **({"details": shown} if shown else {})}
        if data.get("deprecated") is True:
            code["lifecycle"] = "deprecated"
        if data.get("deprecatedMessage"):
            reason = "a taxonomy has a code's replacement, not the reason for it"
            self.lose(child(error.pointer, "deprecatedMessage"), "documentation", reason)
        return code

    def _status(self, error: _ErrorShape, fault: bool) -> int:
        """The status of an error. Models omit it if the protocol's default holds."""
        status = mapping(error.data.get("error")).get("httpStatusCode")
        if isinstance(status, int) and not isinstance(status, bool) and 100 <= status <= 599:
            return status
        default = 500 if fault else 400
        reason = f"the model has no status; {default} is the protocol's default for it"
        self.lose(error.pointer, "status", reason)
        return default

    def _details(self, error: _ErrorShape) -> Data:
        required = texts(error.data.get("required"))
        found: Data = {}
        folded: set[str] = set()
        for name, member, wire in _members(error.data):
            pointer = child(child(error.pointer, "members"), name)
            if name.lower() in _ENVELOPE_MEMBERS:
                continue
            if member.get("location") in ("header", "headers", "statusCode"):
                self.lose(pointer, "header", f"it is in the header {wire}, not in the body")
                continue
            if not re.fullmatch(OF_DETAILS, wire) or wire.casefold() in folded:
                reason = f"`{wire}` cannot be the name of a detail beside the others"
                self.lose(pointer, "member", reason)
                continue
            folded.add(wire.casefold())
            schema = self._schema(member.get("shape"), pointer, ())
            type_ = {"type": schema.pop("type")} if "type" in schema else {}
            text = first_sentence(_plain_text(member.get("documentation")))
            description = {"description": text} if text else {}
            found[wire if name in required else f"{wire}?"] = {**type_, **description, **schema}
        return found

    def _schema(self, shape: object, pointer: str, above: tuple[object, ...]) -> Data:
        """The schema of a shape. ``above``: the shapes around it."""
        data = self.shapes.get(shape) if isinstance(shape, str) else None
        if not isinstance(data, dict):
            self.lose(pointer, "shape", f"the model has no shape `{shape}`")
            return {}
        kind = data.get("type")
        too_many = not self.reader.expansions.spend(1)
        if too_many:
            reason = f"the errors have more than {_MOST_SHAPES:,} shapes in them"
            self.lose(pointer, "size", reason)
        elif shape in above or len(above) >= _DEEPEST:
            self.lose(pointer, "depth", f"the members of `{shape}` are not carried at this depth")
        if too_many or shape in above or len(above) >= _DEEPEST:
            return {"type": _JSON_TYPES.get(str(kind), "string")}
        match kind:
            case "structure":
                return self._structure(str(shape), data, pointer, (*above, shape))
            case "list":
                return self._list(str(shape), data, pointer, (*above, shape))
            case "map":
                reason = (
                    f"a taxonomy cannot express the keys and values of `{shape}`; it is any object"
                )
                self.lose(pointer, "map", reason)
                return {"type": "object"}
            case "timestamp":
                return self._timestamp(data)
            case "string" if enum := texts(data.get("enum")):
                return {"type": "string", "enum": enum}
        return self._scalar(str(shape), data, pointer)

    def _list(self, shape: str, data: Json, pointer: str, above: tuple[object, ...]) -> Data:
        if self.protocol in IN_XML:
            reason = f"in XML one item of `{shape}` is an element and several are a list"
            self.lose(pointer, "shape", reason)
            return {"type": ["string", "object", "array"]}
        item = mapping(data.get("member")).get("shape")
        return {"type": "array", "items": self._schema(item, pointer, above)}

    def _structure(self, shape: str, data: Json, pointer: str, above: tuple[object, ...]) -> Data:
        required = texts(data.get("required"))
        members: Data = {}
        for name, member, wire in _members(data):
            schema = self._schema(member.get("shape"), pointer, above)
            members[wire if name in required else f"{wire}?"] = schema
        if len({wire.casefold().removesuffix("?") for wire in members}) < len(members):
            reason = f"members of `{shape}` differ by case alone; it is any object"
            self.lose(pointer, "member", reason)
            members = {}
        return {"type": "object", **({"properties": members} if members else {})}

    def _timestamp(self, data: Json) -> Data:
        in_xml = self.protocol in IN_XML
        match data.get("timestampFormat", "iso8601" if in_xml else "unixTimestamp"):
            case "iso8601":
                return {"type": "string", "format": "date-time"}
            case "rfc822":
                return {"type": "string"}
        return {"type": "string" if in_xml else "number"}

    def _scalar(self, shape: str, data: Json, pointer: str) -> Data:
        kind = data.get("type")
        if not isinstance(kind, str) or kind not in _TYPES:
            self.lose(pointer, "shape", f"the type `{kind}` of `{shape}` is not known")
            return {}
        if data.get("document") is True:
            return {}
        if data.keys() & {"pattern", "min", "max"}:
            reason = f"bounds and pattern of `{shape}` hold for requests only"
            self.lose(pointer, "constraint", reason)
        return {"type": "string" if self.protocol in IN_XML else _TYPES[kind]}

    # Operations

    def _operations(self) -> Data:
        """The operations that have errors."""
        names = UniqueNames()
        found: Data = {}
        for key, operation in self.operations.items():
            pointer = child("/operations", key)
            if not isinstance(operation, dict):
                self.lose(pointer, "form", "the operation is not an object")
                continue
            codes: dict[str, None] = {}
            for index, error in enumerate(sequence(operation.get("errors"))):
                shape = mapping(error).get("shape")
                data = mapping(self.shapes.get(shape)) if isinstance(shape, str) else {}
                if _is_error(data):
                    codes[self.codes[_wire(str(shape), data)]] = None
                else:
                    place = child(child(pointer, "errors"), index)
                    self.lose(place, "reference", f"`{shape}` is not an error of the model")
            if codes:
                name = names.reserve(identifier(key, "operation"))
                found[name] = {
                    **({"wire": key} if key != name else {}),
                    **self._match(operation, key, pointer),
                    **({"idempotent": True} if operation.get("idempotent") is True else {}),
                    "codes": list(codes),
                }
        return found

    def _match(self, operation: Json, key: str, pointer: str) -> Data:
        """How a request names the operation: by a route in the REST protocols, else by its name."""
        if not self.protocol.startswith("rest-"):
            return {"match": {"tools": [key]}}
        http = mapping(operation.get("http"))
        method, uri = str(http.get("method", "POST")), str(http.get("requestUri", "/"))
        before, _, asked = uri.partition("#")[0].partition("?")
        path = re.sub(r"\{(\w+)\+\}", r"**", before)
        if method not in {known.value for known in HTTPMethod} or not re.fullmatch(r"/\S*", path):
            self.lose(child(pointer, "http"), "route", "this is not a method and a path")
            return {}
        parameters = (part.partition("=") for part in asked.split("&") if part)
        query = {name: value or "*" for name, _, value in parameters}
        return {"match": {"routes": [f"{method} {path}"], **({"query": query} if query else {})}}


def _policy(service: str, throttled: list[str]) -> Data:
    """The retry policy. ``throttled``: the codes of throttling."""
    base = {"base": _FASTER[service]} if service in _FASTER else {}
    codes = {"codes": throttled} if throttled else {}
    return {
        **POLICY,
        "backoff": {**POLICY["backoff"], **base},
        "kinds": {"throttled": {**POLICY["kinds"]["throttled"], **codes}},
    }


def _members(data: Json) -> Iterator[tuple[str, Json, str]]:
    """The members of a structure, each with its name in the model and on the wire."""
    for name, member in mapping(data.get("members")).items():
        if isinstance(member, dict):
            yield name, member, str(member.get("locationName", name))


def _is_error(data: Json) -> bool:
    return data.get("exception") is True or "error" in data or data.get("fault") is True


def _is_fault(data: Json) -> bool:
    """Whether the service is at fault."""
    error = mapping(data.get("error"))
    return True in (data.get("fault"), error.get("fault")) or error.get("senderFault") is False


def _is_throttled(error: _ErrorShape) -> bool:
    return error.wire in THROTTLED or mapping(error.data.get("retryable")).get("throttling") is True


def _retries(error: _ErrorShape, status: int) -> Data:
    """The retry of an error in the standard mode: it retries, or it does not."""
    if _is_throttled(error):
        return {"retriable": True, "retry": "standard", "effect": "none"}
    transient = error.wire in TRANSIENT or status in TRANSIENT_STATUSES
    if transient or error.data.get("retryable") is not None:
        return {"retriable": True, "retry": "standard", "effect": "unknown"}
    return {"retriable": False}


def _wire(shape: str, data: Json) -> str:
    """The code of an error shape on the wire: its ``code``, or else its name."""
    code = mapping(data.get("error")).get("code")
    return code if isinstance(code, str) and code.strip() else shape


def _boundaries(codes: Data) -> Data:
    used = {code["boundary"] for code in codes.values()}
    summaries = {"sender": "The request is at fault.", "receiver": "The service is at fault."}
    return {name: text for name, text in summaries.items() if name in used}


def _plain_text(documentation: object) -> str:
    """The text of an HTML fragment on one line."""
    if not isinstance(documentation, str):
        return ""
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", documentation)).split())


def models(folder: str) -> Iterator[tuple[str, str]]:
    """Every service in a data folder of botocore, with the path of its newest model."""
    for service in sorted(Path(folder).iterdir()):
        versions = sorted(service.glob("*/service-2.json*")) if service.is_dir() else []
        if versions:
            yield service.name, str(versions[-1])
