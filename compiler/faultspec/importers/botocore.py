"""From a service model of botocore (``service-2.json``) to a taxonomy.

Every structure that is an exception is a code. The wire carries it as each protocol does: in the member ``__type`` of a
JSON body, alone or behind the service's namespace, in a header (REST JSON), or as ``Error/Code`` in XML. XML is shown as
the JSON of its tree, which is how botocore hands it on. What a query-compatible service is called by the older protocol
is reported, not carried.
"""

import html
import re
from collections.abc import Iterator, Mapping
from http import HTTPMethod
from typing import Any

from faultspec.importers import ImportedTaxonomy, Json, Loss, NotImportable
from faultspec.importers.clean import cleaned
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.openapi.nodes import listed, mapping, texts
from faultspec.openapi.pointers import child

Data = dict[str, Any]

#: The pictures of errors by protocol (the AWS protocols of Smithy 2.0, and ``botocore.parsers``, which reads them).
_JSON = {
    "shape": {"__type": "$code", "message?": "$message", "...": "$details"},
    "additional": "allow",
}
_SHAPES: Mapping[str, Data] = {
    "json": {
        "summary": "A JSON body that names its error.",
        "media_type": ["application/x-amz-json-1.1", "application/x-amz-json-1.0"],
        **_JSON,
    },
    "rest-json": {
        "summary": "A JSON body; the header X-Amzn-ErrorType names the error, and so may the body.",
        **_JSON,
    },
    "smithy-rpc-v2-cbor": {
        "summary": "A CBOR body, shown as JSON.",
        "media_type": "application/cbor",
        **_JSON,
    },
    "query": {
        "summary": "An XML body, shown as the JSON of its tree.",
        "media_type": "text/xml",
        "shape": {
            "ErrorResponse": {
                "Error": {
                    "Type?": "$fault",
                    "Code": "$code",
                    "Message?": "$message",
                    "...": "$details",
                },
                "RequestId?": "$request_id",
            }
        },
        "fields": {
            "fault": {"type": "string", "enum": ["Sender", "Receiver"]},
            "request_id": {"type": "string"},
        },
        "additional": "allow",
    },
    "ec2": {
        "summary": "An XML body, shown as the JSON of its tree.",
        "media_type": "text/xml",
        "shape": {
            "Response": {
                "Errors": {"Error": {"Code": "$code", "Message?": "$message", "...": "$details"}},
                "RequestID?": "$request_id",
            }
        },
        "fields": {"request_id": {"type": "string"}},
        "additional": "allow",
    },
}
_REST_XML = {
    "summary": "An XML body, shown as the JSON of its tree.",
    "media_type": "application/xml",
    "shape": {
        "Error": {
            "Code": "$code",
            "Message?": "$message",
            "RequestId?": "$request_id",
            "...": "$details",
        }
    },
    "fields": {"request_id": {"type": "string"}},
    "additional": "allow",
}

#: Members that are the picture's own, whatever the service calls them.
_OWN = frozenset({"message", "code", "type", "requestid", "__type"})

_TYPES: Mapping[str, Data] = {
    "string": {"type": "string"},
    "character": {"type": "string"},
    "blob": {"type": "string"},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer"},
    "long": {"type": "integer"},
    "bigInteger": {"type": "integer"},
    "float": {"type": "number"},
    "double": {"type": "number"},
    "bigDecimal": {"type": "number"},
}

#: Structures in structures are written out this deep; the sixth is any object.
_DEEPEST = 5

#: What botocore's standard mode retries whatever a model says: statuses, codes of passing failures, codes of throttling
#: (``botocore.retries.standard``; a test compares).
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

#: botocore's standard mode (``ExponentialBackoff`` and ``RetryQuotaChecker`` of ``botocore.retries.standard``). Its
#: ``x-amz-retry-after`` is no Retry-After, so the policy says nothing of that.
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
    """The taxonomy of a service, by the name botocore has for it. Raises NotImportable."""
    model, losses = cleaned(document, "botocore")
    if not all(isinstance(model.get(key), dict) for key in ("metadata", "operations", "shapes")):
        hint = "name a service-2.json, or a service that botocore knows"
        raise NotImportable(
            "not-botocore",
            "this is no service model: it has no metadata, operations and shapes",
            "",
            hint,
        )
    return _Model(model, service, losses).imported()


class _Model:
    def __init__(self, model: Json, service: str, losses: list[Loss]) -> None:
        self.model = model
        self.service = service
        self.losses = losses
        self.metadata: Json = model["metadata"]
        self.shapes: Json = model["shapes"]
        self.protocol = str(self.metadata.get("protocol", ""))
        self.wires: dict[str, str] = {}
        self.throttled: list[str] = []

    def lose(self, pointer: str, kind: str, reason: str) -> None:
        """Tell of a loss; one that is told twice is reported once."""
        self.losses.append(Loss(pointer, kind, reason))

    def imported(self) -> ImportedTaxonomy:
        picture = _REST_XML if self.protocol == "rest-xml" else _SHAPES.get(self.protocol)
        if picture is None:
            raise NotImportable(
                "unknown-protocol",
                f"the protocol `{self.protocol}` is not known",
                "/metadata/protocol",
            )
        envelopes: Data = {"error": picture}
        surface: Any = "error"
        if "__type" in picture["shape"]:
            # What has more to it is declared first, since the bare code would be read from either.
            envelopes, surface = (
                {"qualified": _qualified(picture), "error": picture},
                ["error", "qualified"],
            )
        names = self._names()
        firsts: dict[str, str] = {}
        for shape, name in names.items():
            firsts.setdefault(name, shape)
        codes = {name: self._code(shape, name) for name, shape in firsts.items()}
        if not codes:
            message = "the model declares no errors" + (
                ": EC2 documents its own in prose" if self.protocol == "ec2" else ""
            )
            raise NotImportable("no-failures", message, "/shapes", "there is nothing to import")
        title = str(self.metadata.get("serviceFullName") or self.service)
        retried = any(code.get("retry") for code in codes.values())
        for older in texts(self.metadata.get("protocols")):
            if older != self.protocol:
                self.lose(
                    "/metadata/protocols",
                    "protocol",
                    f"the service also speaks {older}; its first protocol is imported",
                )
        return ImportedTaxonomy(
            {
                "faultspec": 1,
                "taxonomy": {
                    "name": identifier(self.service, "service"),
                    "version": "1.0.0",
                    "title": f"{title} errors",
                },
                "boundaries": _boundaries(codes),
                "envelopes": envelopes,
                "surfaces": {"api": {"transport": "http", "envelope": surface, "codes": "open"}},
                **({"retry_policies": {"standard": self._policy()}} if retried else {}),
                "codes": codes,
                **({"operations": found} if (found := self._operations(names)) else {}),
            },
            tuple(dict.fromkeys(self.losses)),
        )

    def _policy(self) -> Data:
        backoff = POLICY["backoff"] | (
            {"base": _FASTER[self.service]} if self.service in _FASTER else {}
        )
        kinds = {
            "throttled": {
                **POLICY["kinds"]["throttled"],
                **({"codes": self.throttled} if self.throttled else {}),
            }
        }
        return {**POLICY, "backoff": backoff, "kinds": kinds}

    def _names(self) -> dict[str, str]:
        """The error shapes, each with the name of its code; those that the wire does not tell apart share one."""
        taken, found = UniqueNames(), {}
        for shape, each in self.shapes.items():
            if isinstance(each, dict) and (
                each.get("exception") is True or "error" in each or each.get("fault") is True
            ):
                wire = _wire(shape, each)
                if wire in self.wires:
                    found[shape] = self.wires[wire]
                    reason = f"`{wire}` is `{self.wires[wire]}` already, and the wire does not tell the two apart"
                    self.lose(child("/shapes", shape), "wire", reason)
                else:
                    found[shape] = self.wires[wire] = taken.unused(identifier(shape, "error"))
        return found

    # Codes

    def _code(self, shape: str, name: str) -> Data:
        data: Json = self.shapes[shape]
        pointer = child("/shapes", shape)
        error = mapping(data.get("error"))
        text = _plain(data.get("documentation"))
        summary = _sentence(text) or f"{shape}."
        wire = _wire(shape, data)
        sender = error.get("senderFault")
        fault = data.get("fault") is True or error.get("fault") is True or sender is False
        status = error.get("httpStatusCode")
        if not isinstance(status, int) or isinstance(status, bool) or not 100 <= status <= 599:
            status = (
                500 if fault else 400
            )  # botocore's models leave it out where the protocol's default holds
            self.lose(
                pointer,
                "status",
                f"the model gives no status; {status} is the default of the protocol for it",
            )
        code: Data = {"summary": summary}
        if len(text) > len(summary) + 1:
            code["description"] = text
        if wire != name:
            code["wire"] = wire
        code["boundary"] = "receiver" if fault else "sender"
        code["http"] = status
        code |= self._retries(data, wire, status, name)
        details = self._details(data, pointer)
        if details:
            code["details"] = details
        if data.get("deprecated") is True:
            code["lifecycle"] = "deprecated"
        if data.get("deprecatedMessage"):
            self.lose(
                child(pointer, "deprecatedMessage"),
                "documentation",
                "a taxonomy says what replaces a code, not why",
            )
        return code

    def _retries(self, data: Json, wire: str, status: int, name: str) -> Data:
        """What the standard mode does with the code: it is retried, or it is not; nothing is left open."""
        told = data.get("retryable")
        throttled = wire in THROTTLED or (isinstance(told, dict) and told.get("throttling") is True)
        if (
            told is None
            and not throttled
            and wire not in TRANSIENT
            and status not in TRANSIENT_STATUSES
        ):
            return {"retriable": False}
        if throttled:
            self.throttled.append(name)
        return {
            "retriable": True,
            "retry": "standard",
            "effect": "none" if throttled else "unknown",
        }

    def _details(self, data: Json, pointer: str) -> Data:
        required = texts(data.get("required"))
        found: Data = {}
        taken: dict[str, str] = {}
        for name, member in mapping(data.get("members")).items():
            here = child(child(pointer, "members"), name)
            if not isinstance(member, dict) or name.lower() in _OWN:
                continue
            if member.get("location") in ("header", "headers", "statusCode"):
                self.lose(
                    here,
                    "header",
                    f"it travels in the header {member.get('locationName', name)}, not in the body",
                )
                continue
            wire = str(member.get("locationName", name))
            if (
                not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", wire)
                or taken.setdefault(wire.casefold(), wire) != wire
                or wire in found
                or f"{wire}?" in found
            ):
                self.lose(here, "member", f"`{wire}` can be no name of a detail beside the others")
                continue
            schema = self._value(member.get("shape"), here, ())
            if text := _sentence(_plain(member.get("documentation"))):
                schema = (
                    {"type": schema.pop("type"), "description": text, **schema}
                    if "type" in schema
                    else {"description": text, **schema}
                )
            found[wire if name in required else f"{wire}?"] = schema
        return found

    def _value(self, shape: object, pointer: str, above: tuple[object, ...]) -> Data:
        data = self.shapes.get(shape) if isinstance(shape, str) else None
        if not isinstance(data, dict):
            self.lose(pointer, "shape", f"there is no shape `{shape}`")
            return {}
        kind = data.get("type")
        if shape in above or len(above) >= _DEEPEST:
            self.lose(pointer, "depth", f"`{shape}` is written out no further")
            return {
                "type": {"structure": "object", "map": "object", "list": "array"}.get(
                    str(kind), "string"
                )
            }
        above = (*above, shape)
        match kind:
            case "structure":
                members = {
                    (
                        str(m.get("locationName", n))
                        if n in texts(data.get("required"))
                        else f"{m.get('locationName', n)}?"
                    ): self._value(m.get("shape"), pointer, above)
                    for n, m in mapping(data.get("members")).items()
                    if isinstance(m, dict)
                }
                if len({member.casefold().removesuffix("?") for member in members}) < len(members):
                    self.lose(
                        pointer,
                        "member",
                        f"members of `{shape}` differ by case alone; it is any object",
                    )
                    members = {}
                return {"type": "object", **({"properties": members} if members else {})}
            case "list":
                return {
                    "type": "array",
                    "items": self._value(mapping(data.get("member")).get("shape"), pointer, above),
                }
            case "map":
                self.lose(
                    pointer,
                    "map",
                    f"the keys and values of `{shape}` have no word here; it is any object",
                )
                return {"type": "object"}
            case "timestamp":
                form = data.get(
                    "timestampFormat",
                    "iso8601" if self.protocol in ("query", "ec2", "rest-xml") else "unixTimestamp",
                )
                return (
                    {"type": "string", "format": "date-time"}
                    if form == "iso8601"
                    else {"type": "string" if form == "rfc822" else "number"}
                )
            case "string" if texts(data.get("enum")):
                return {"type": "string", "enum": texts(data.get("enum"))}
        if not isinstance(kind, str) or kind not in _TYPES:
            self.lose(pointer, "shape", f"the type `{kind}` of `{shape}` is not known")
            return {}
        if data.get("document") is True:
            return {}
        if "pattern" in data or "min" in data or "max" in data:
            self.lose(
                pointer,
                "constraint",
                f"bounds and pattern of `{shape}` hold for requests; answers are not held to them",
            )
        return dict(_TYPES[kind])

    # Operations

    def _operations(self, names: Mapping[str, str]) -> Data:
        taken, found = UniqueNames(), {}
        for key, operation in self.model["operations"].items():
            pointer = child("/operations", key)
            if not isinstance(operation, dict):
                self.lose(pointer, "form", "the operation is no object")
                continue
            codes: list[str] = []
            for index, each in enumerate(listed(operation.get("errors"))):
                shape = mapping(each).get("shape")
                if isinstance(shape, str) and shape in names:
                    codes.append(names[shape])
                else:
                    self.lose(
                        child(child(pointer, "errors"), index),
                        "reference",
                        f"`{shape}` is no error of the model",
                    )
            if not codes:
                continue
            name = taken.unused(identifier(key, "operation"))
            found[name] = {
                **({"wire": key} if key != name else {}),
                **self._match(operation, key, pointer),
                **({"idempotent": True} if operation.get("idempotent") is True else {}),
                "codes": list(dict.fromkeys(codes)),
            }
        return found

    def _match(self, operation: Json, key: str, pointer: str) -> Data:
        """Where the operation is asked for: a route in the REST protocols, a name in the others."""
        http = mapping(operation.get("http"))
        method = str(http.get("method", "POST"))
        path = re.sub(
            r"\{(\w+)\+\}", r"**", str(http.get("requestUri", "/")).split("?")[0].split("#")[0]
        )
        if not self.protocol.startswith("rest-"):
            return {"match": {"tools": [key]}}
        if method not in {each.value for each in HTTPMethod} or not re.fullmatch(r"/\S*", path):
            self.lose(child(pointer, "http"), "route", "this is no method and path")
            return {}
        if "?" in str(http.get("requestUri", "")):
            self.lose(
                child(pointer, "http/requestUri"),
                "route",
                "operations that differ by their query alone share a route",
            )
        return {"match": {"routes": [f"{method} {path}"]}}


def _qualified(picture: Data) -> Data:
    """The picture of the same body with the namespace in front of the code (``ns#Code``), as ``BaseJSONParser`` reads it."""
    return {
        **picture,
        "summary": "The code behind the namespace of the service, as in `com.amazonaws.sample#NotFound`; else as `error`.",
        "shape": {**picture["shape"], "__type": "${namespace}#${code}"},
        "fields": {"namespace": {"type": "string"}},
    }


def _wire(shape: str, data: Json) -> str:
    """What stands on the wire for an error shape: its code where it has one, else its name (Smithy's AWS protocols)."""
    error = data.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) and code.strip() else shape


def _boundaries(codes: Data) -> Data:
    used = {code["boundary"] for code in codes.values()}
    said = {"sender": "The request is at fault.", "receiver": "The service is at fault."}
    return {name: text for name, text in said.items() if name in used}


def _plain(documentation: object) -> str:
    """The text of an HTML fragment on one line."""
    if not isinstance(documentation, str):
        return ""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", documentation)).split())


def _sentence(text: str) -> str:
    """The first sentence of a text."""
    found = re.match(r".*?[.!?](?=\s+[A-Z]|$)", text)
    return re.sub(r"\s+([.,;:])", r"\1", found[0] if found else text)


def models(folder: str) -> Iterator[tuple[str, str]]:
    """The newest model of every service in a data folder of botocore: its name and the path of the file."""
    from pathlib import Path

    for each in sorted(Path(folder).iterdir()):
        versions = sorted(each.glob("*/service-2.json*")) if each.is_dir() else []
        if versions:
            yield each.name, str(versions[-1])
