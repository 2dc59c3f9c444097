"""From the protos of a gRPC service to a taxonomy.

The values of an enum of error reasons are codes: the ``reason`` of google.rpc.ErrorInfo (AIP-193).
Their statuses come from an option of the value or of the enum, from a comment such as ``gRPC
status: NOT_FOUND``, or from the name. The methods are operations, matched by their route in gRPC
and by those of google.api.http. The envelopes are those of JSON: google.rpc.Status, and the error
of AIP-193 around it.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from faultspec.importers import Data, ImportedTaxonomy, Json, Loss, NotImportable
from faultspec.importers.assembly import assemble
from faultspec.importers.clean import clean_document
from faultspec.importers.descriptors import FilePlaces, file_places
from faultspec.importers.examples import MADE_MESSAGE
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.importers.prose import first_sentence
from faultspec.language.constructs.failures import GRPC
from faultspec.openapi.nodes import mapping, sequence
from faultspec.openapi.pointers import child

#: Files that others import: their services and enums are not those of the service.
_COMMON = re.compile(
    r"google/(protobuf|api|rpc|type|longrunning|iam|logging)/|validate/|buf/|gogoproto/"
)

#: An enum of error reasons by its name, and one that may be.
_REASONS = re.compile(r"(Error|Failure|Exception)(Reason|Code|Type|Kind|Name)?s?$")
_MAYBE = re.compile(r"Reasons?$")

#: Options that have a status, by a word of their names.
_STATUS_OPTION = re.compile(r"code|status|grpc|http", re.I)

_COMMENT_STATUS = re.compile(
    r"(?:\bgrpc(?:[ _-]?(?:status|code))*|google\.(?:rpc|grpc)\.code)[\s:.=`]{1,4}([A-Z_]{5,})\b",
    re.I,
)
_COMMENT_HTTP = re.compile(
    r"\bhttp(?:[ _-]?(?:status|code|mapping))*[\s:=`]{1,4}([45]\d\d)\b", re.I
)

#: The HTTP status of each gRPC status (google/rpc/code.proto, "HTTP Mapping").
HTTP: Mapping[str, int] = {
    "CANCELLED": 499,
    "UNKNOWN": 500,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "UNAUTHENTICATED": 401,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DATA_LOSS": 500,
}

_INFO = "type.googleapis.com/google.rpc.ErrorInfo"

#: An item of `details` that has no reason is another detail, such as google.rpc.RetryInfo.
_ITEM: Data = {
    "@type": "$detail_type",
    "reason?": "$code",
    "domain?": "$service",
    "metadata?": "$details",
}

_FIELDS: Data = {
    "detail_type": {"type": "string"},
    "service": {"type": "string"},
    "details": {"type": "object"},
}

ENVELOPES: Data = {
    "error": {
        "summary": "The error of HTTP and JSON (AIP-193).",
        "shape": {
            "error": {
                "code": "$status",
                "message": "$message",
                "status?": "$grpc_status",
                "details?": [_ITEM],
            }
        },
        "fields": _FIELDS,
        "additional": "allow",
    },
    "status": {
        "summary": "google.rpc.Status in JSON.",
        "shape": {"code": "$grpc_code", "message": "$message", "details?": [_ITEM]},
        "fields": _FIELDS,
        "additional": "allow",
    },
}


class _File(NamedTuple):
    """A file of the service."""

    pointer: str
    data: Json
    places: FilePlaces


class _Enum(NamedTuple):
    """An enum with its full name."""

    name: str
    pointer: str
    data: Json
    file: _File


class _Status(NamedTuple):
    """The statuses of a value, as far as a proto states them."""

    grpc: str | None = None
    http: int | None = None

    def or_else(self, other: "_Status") -> "_Status":
        """With those of another where this has none."""
        return _Status(self.grpc or other.grpc, self.http or other.http)


def read(document: object, named: Collection[str] = ()) -> ImportedTaxonomy:
    """The taxonomy of a FileDescriptorSet as data. Raises NotImportable.

    ``named``: the files whose services are meant; default all but those of google.
    """
    data, losses = clean_document(document, "protos")
    return _ProtoImporter(data, losses, named).taxonomy()


class _ProtoImporter:
    def __init__(self, data: Json, losses: list[Loss], named: Collection[str]) -> None:
        self.losses = losses
        self.named = frozenset(named)
        files = [
            _File(child("/file", index), file, file_places(file))
            for index, file in enumerate(map(mapping, sequence(data.get("file"))))
        ]
        own = [
            file
            for file in files
            if str(file.data.get("name")) in self.named
            or not _COMMON.match(str(file.data.get("name")))
        ]
        self.files = own or files

    def lose(self, pointer: str, kind: str, reason: str) -> None:
        """Record a loss."""
        self.losses.append(Loss(pointer, kind, reason))

    def taxonomy(self) -> ImportedTaxonomy:
        """The taxonomy of the files."""
        codes = self._codes()
        if not codes:
            message = "the protos have no enum of error reasons"
            hint = "name the file whose enum has the reasons of google.rpc.ErrorInfo as well"
            raise NotImportable("no-failures", message, self._first(), hint)
        operations = self._operations()
        package = next(
            (str(file.data["package"]) for file in self.files if file.data.get("package")), ""
        )
        title = package or "Protos"
        data: Data = {
            "envelopes": ENVELOPES,
            "surfaces": {
                "api": {"transport": "http", "envelope": ["error", "status"], "codes": "closed"}
            },
            "codes": codes,
            **({"operations": operations} if operations else {}),
        }
        reason = "an answer whose `details` have no ErrorInfo has no code, and passes"
        self.lose(self._first(), "body", reason)
        if operations:
            reason = (
                "a method does not say which reasons it has, so it may have all; the team decides"
            )
            self.lose(self._first(), "response", reason)
        header: Data = {
            "name": identifier(package.replace(".", "_"), "protos"),
            "version": "1.0.0",
            "title": f"{title} errors",
        }
        return ImportedTaxonomy(assemble(header, data), tuple(dict.fromkeys(self.losses)))

    def _first(self) -> str:
        return self.files[0].pointer if self.files else ""

    # Codes

    def _codes(self) -> Data:
        names = UniqueNames()
        found: Data = {}
        wires: dict[str, str] = {}
        for enum in self._reason_enums():
            default = _option_status(mapping(enum.data.get("options")))
            for index, value in enumerate(map(mapping, sequence(enum.data.get("value")))):
                pointer = child(child(enum.pointer, "value"), index)
                wire = str(value.get("name"))
                if _is_no_error(wire):
                    continue
                if wire in wires:
                    reason = f"`{wire}` is a value of {wires[wire]} already"
                    self.lose(pointer, "wire", f"{reason}; the wire does not tell the two apart")
                    continue
                wires[wire] = enum.name
                name = names.reserve(identifier(wire, "reason"))
                found[name] = self._code(enum, value, pointer, name=name, default=default)
        return found

    def _reason_enums(self) -> list[_Enum]:
        enums = [enum for file in self.files for enum in _enums(file)]
        found: list[_Enum] = []
        maybe: list[_Enum] = []
        for enum in enums:
            if _has_reasons(enum):
                found.append(enum)
            elif _MAYBE.search(enum.name):
                maybe.append(enum)
        if not found:
            return maybe
        for enum in maybe:
            reason = (
                f"`{enum.name}` is not read as an enum of error reasons, beside `{found[0].name}`"
            )
            self.lose(enum.pointer, "code", reason)
        return found

    def _code(self, enum: _Enum, value: Json, pointer: str, *, name: str, default: _Status) -> Data:
        wire = str(value.get("name"))
        comment = enum.file.places.comment(pointer)
        text = _prose(comment)
        code: Data = {"summary": first_sentence(text) or f"{wire.replace('_', ' ').capitalize()}."}
        if len(text) > len(code["summary"]) + 1:
            code["description"] = text
        if wire != name:
            code["wire"] = wire
        options = mapping(value.get("options"))
        status = (
            _option_status(options)
            .or_else(_comment_status(comment))
            .or_else(_Status(grpc=wire if wire in GRPC else None))
        )
        if status == _Status():
            status = default
        code["http"] = status.http or HTTP.get(status.grpc or "") or ["4xx", "5xx"]
        if status.grpc:
            code["on"] = {"grpc": status.grpc}
        else:
            reason = f"the proto does not say the gRPC status of `{wire}`; the team decides"
            self.lose(pointer, "status", reason)
        if options.get("deprecated") is True:
            code["lifecycle"] = "deprecated"
        slots = {"detail_type": _INFO, "service": "service.example.com"}
        return {**code, "example": {"message": MADE_MESSAGE, "slots": slots}}

    # Operations

    def _operations(self) -> Data:
        names = UniqueNames()
        found: Data = {}
        for file in self.files:
            if self.named and file.data.get("name") not in self.named:
                continue
            package = str(file.data.get("package", ""))
            for pointer, service in _parts(file.data, "service", file.pointer):
                full = f"{package}.{service.get('name')}".lstrip(".")
                for place, method in _parts(service, "method", pointer):
                    key = str(method.get("name"))
                    name = names.reserve(identifier(key, "method"))
                    found[name] = self._operation(
                        f"{full}/{key}", method, place, file.places.comment(place)
                    )
        return found

    def _operation(self, route: str, method: Json, pointer: str, comment: str) -> Data:
        options = mapping(method.get("options"))
        routes = [f"POST /{route}", *self._http_routes(options, pointer)]
        summary = first_sentence(_prose(comment))
        level = options.get("idempotency_level")
        return {
            **({"summary": summary} if summary else {}),
            "wire": route,
            "match": {"routes": list(dict.fromkeys(routes))},
            **({"idempotent": True} if level in ("NO_SIDE_EFFECTS", "IDEMPOTENT") else {}),
        }

    def _http_routes(self, options: Json, pointer: str) -> Iterator[str]:
        """The routes of google.api.http."""
        rule = mapping(options.get("[google.api.http]"))
        for binding in (rule, *map(mapping, sequence(rule.get("additional_bindings")))):
            custom = mapping(binding.get("custom"))
            verbs = {verb: binding.get(verb) for verb in ("get", "put", "post", "delete", "patch")}
            verbs |= {str(custom.get("kind", "")).lower(): custom.get("path")}
            for verb, template in verbs.items():
                if not isinstance(template, str) or not verb:
                    continue
                path = _route(template)
                if path is None or not re.fullmatch(
                    r"get|put|post|delete|patch|head|options", verb
                ):
                    reason = f"`{template[:_LONGEST_ROUTE]}` is not a route"
                    self.lose(pointer, "route", reason)
                else:
                    yield f"{verb.upper()} {path}"


def _parts(parent: Json, key: str, pointer: str) -> Iterator[tuple[str, Json]]:
    """The parts of a list, each with its pointer."""
    for index, item in enumerate(map(mapping, sequence(parent.get(key)))):
        yield child(child(pointer, key), index), item


def _enums(file: _File) -> Iterator[_Enum]:
    """The enums of a file, those in messages as well."""
    scopes = deque([(file.pointer, file.data, str(file.data.get("package", "")))])
    while scopes:
        pointer, scope, prefix = scopes.popleft()
        for place, enum in _parts(scope, "enum_type", pointer):
            yield _Enum(f"{prefix}.{enum.get('name')}".lstrip("."), place, enum, file)
        for key in ("message_type", "nested_type"):
            for place, message in _parts(scope, key, pointer):
                scopes.append((place, message, f"{prefix}.{message.get('name')}"))


def _has_reasons(enum: _Enum) -> bool:
    """Whether an enum has reasons by its name, by options of status, or as it has gRPC statuses."""
    values = [mapping(value) for value in sequence(enum.data.get("value"))]
    listed = {str(value.get("name")) for value in values} - {"OK"}
    return (
        _REASONS.search(enum.name) is not None
        or any(_option_status(mapping(value.get("options"))) != _Status() for value in values)
        or (bool(listed) and listed <= GRPC.keys())
    )


def _is_no_error(wire: str) -> bool:
    """Whether a value stands for no reason, as the first value of an enum does (AIP-126)."""
    return wire == "OK" or re.search(r"(^|_)UNSPECIFIED$", wire) is not None


def _option_status(options: Json) -> _Status:
    """The statuses in options whose name has a word for them: a name or a number."""
    grpc = http = None
    numbers = {number: name for name, number in GRPC.items()}
    for name, value in options.items():
        if not name.startswith("[") or not _STATUS_OPTION.search(name):
            continue
        if isinstance(value, str) and value in GRPC:
            grpc = value
        elif isinstance(value, int) and not isinstance(value, bool):
            if 400 <= value <= 599:
                http = value
            elif value in numbers:
                grpc = numbers[value]
    return _Status(grpc, http)


def _comment_status(comment: str) -> _Status:
    """The statuses that a comment names, if it names one."""
    grpc = {name.upper() for name in _COMMENT_STATUS.findall(comment)} & GRPC.keys()
    http = set(_COMMENT_HTTP.findall(comment))
    return _Status(
        grpc.pop() if len(grpc) == 1 else None, int(http.pop()) if len(http) == 1 else None
    )


def _prose(comment: str) -> str:
    """The first paragraph of a comment on one line, without lines that state a status alone."""
    kept = [
        line.strip()
        for line in comment.strip().split("\n\n")[0].splitlines()
        if not (_COMMENT_STATUS.match(line.strip()) or _COMMENT_HTTP.match(line.strip()))
    ]
    return " ".join(" ".join(kept).split())


#: Characters of a path template; servers refuse longer paths.
_LONGEST_ROUTE = 2_000

#: A variable of a path template.
_VARIABLE = re.compile(r"\{([^{}]+)\}")


def _write_variable(found: re.Match[str]) -> str:
    """A variable as the language writes it: its pattern, or the last of its names in braces."""
    name, pattern, segments = found[1].partition("=")
    if pattern and name:
        return segments
    _, _, last = name.rpartition(".")
    return f"{{{last}}}" if last and not pattern else found[0]


def _route(template: str) -> str | None:
    """The route of a path template of google.api.http; None if it is none."""
    if len(template) > _LONGEST_ROUTE:
        return None
    path = _VARIABLE.sub(_write_variable, template)
    return path if re.fullmatch(r"/\S*", path) else None
