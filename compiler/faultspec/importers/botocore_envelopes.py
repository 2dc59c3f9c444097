"""The envelopes of the protocols that botocore speaks."""

from collections.abc import Mapping, Sequence
from typing import Any

from faultspec.importers import Data, Json, NotImportable
from faultspec.openapi.nodes import mapping

#: The header of a service that once spoke the query protocol: the code of that, and the fault.
_QUERY_ERROR: Data = {"header": "x-amzn-query-error", "pattern": "^([^;]+);"}

#: The header of the error's name: a namespace may precede it, and a URI may follow.
_ERROR_TYPE: Data = {"header": "x-amzn-errortype", "pattern": "^(?:[^:]*#)?([^:#]+)"}

_MESSAGE: Data = {"type": "string", "places": ["/message", "/Message"]}

_XML_ERROR: Data = {"Code": "$code", "Message?": "$message", "...": "$details"}
_FAULT: Data = {"fault": {"type": "string", "enum": ["Sender", "Receiver"]}}
_REQUEST_ID: Data = {"request_id": {"type": "string"}}


def _json_envelope(
    summary: str, media_type: Any, members: Sequence[str], headers: Sequence[Data]
) -> Data:
    """An envelope whose code is in a header, else in the first of these members."""
    places = [*headers, *(f"/{member}" for member in members)]
    return {
        "summary": summary,
        "media_type": media_type,
        "shape": {
            **{f"{member}?": "$code" for member in members},
            "message?": "$message",
            "Message?": "$message",
            "...": "$details",
        },
        "fields": {"code": {"type": "string", "places": places}, "message": _MESSAGE},
        "additional": "allow",
    }


def _xml_envelope(media_type: str, shape: Data, fields: Data) -> Data:
    """An XML body; elements are members, repeated elements lists, texts strings."""
    return {
        "summary": "An XML body.",
        "media_type": media_type,
        "shape": shape,
        "fields": {**fields, **_REQUEST_ID},
        "additional": "allow",
    }


def _wrap_error(media_type: str) -> Data:
    error = {"Type?": "$fault", **_XML_ERROR}
    shape = {"ErrorResponse": {"Error": error, "RequestId?": "$request_id"}}
    return _xml_envelope(media_type, shape, _FAULT)


#: The envelopes by protocol, with the places that ``botocore.parsers`` reads, in its order.
_ENVELOPES: Mapping[str, Mapping[str, Data]] = {
    "json": {
        "error": _json_envelope(
            "A JSON body that names its error.",
            ["application/x-amz-json-1.1", "application/x-amz-json-1.0"],
            ["__type"],
            [],
        )
    },
    "rest-json": {
        "error": _json_envelope(
            "A JSON body; a header names the error, or else the body.",
            "application/json",
            ["code", "Code", "__type"],
            [_ERROR_TYPE],
        )
    },
    "smithy-rpc-v2-cbor": {
        "error": _json_envelope(
            "A CBOR body that names its error.", "application/cbor", ["__type"], []
        )
    },
    "query": {"error": _wrap_error("text/xml")},
    "ec2": {
        "error": _xml_envelope(
            "text/xml",
            {"Response": {"Errors": {"Error": _XML_ERROR}, "RequestID?": "$request_id"}},
            {},
        )
    },
    "rest-xml": {
        "error": _wrap_error("application/xml"),
        "bare": _xml_envelope(
            "application/xml",
            {"Error": {**_XML_ERROR, "RequestId?": "$request_id"}},
            {},
        ),
    },
}

#: Protocols whose bodies are XML, in which every value is text.
IN_XML = ("query", "ec2", "rest-xml")

#: Services whose XML has no element around the error.
_BARE = frozenset({"s3", "s3-control"})


def protocol_envelopes(metadata: Json, shapes: Json) -> Data:
    """The envelopes of a service, in the order of comparison. Raises NotImportable."""
    protocol = str(metadata.get("protocol", ""))
    envelopes = _ENVELOPES.get(protocol)
    if envelopes is None:
        message = f"the protocol `{protocol}` is not known"
        raise NotImportable("unknown-protocol", message, "/metadata/protocol")
    if protocol == "rest-xml" and str(metadata.get("endpointPrefix")) in _BARE:
        return {"error": envelopes["bare"]}
    error = envelopes["error"]
    if "__type?" not in error["shape"]:
        return dict(envelopes)
    errors = (mapping(mapping(shape).get("error")) for shape in shapes.values())
    if "awsQueryCompatible" in metadata and any("code" in error for error in errors):
        error = _with_place(error, _QUERY_ERROR)
    return {"error": error, "qualified": _qualify_code(error)}


def _qualify_code(envelope: Data) -> Data:
    """The envelope with a namespace before the code: ``ns#Code`` (``BaseJSONParser``)."""
    return {
        **envelope,
        "summary": "The code behind the namespace of the service, as in "
        "`com.amazonaws.sample#NotFound`; else as `error`.",
        "shape": {
            "__type": "${namespace}#${code}",
            **{key: slot for key, slot in envelope["shape"].items() if slot != "$code"},
        },
        "fields": {"namespace": {"type": "string"}, "message": _MESSAGE},
    }


def _with_place(envelope: Data, place: Data) -> Data:
    """The envelope with another first place of the code."""
    code = envelope["fields"]["code"]
    places = [place, *code["places"]]
    return {
        **envelope,
        "fields": {**envelope["fields"], "code": {**code, "places": places}},
    }
