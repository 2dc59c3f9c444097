"""Bodies of ``multipart/form-data`` (RFC 7578)."""

import email
import email.message
import email.policy
import json
import mimetypes
from collections.abc import Iterator, Mapping

from urllib3.fields import RequestField
from urllib3.filepost import encode_multipart_formdata

from faultspec_conformance.config.context import wire_text

#: The same in all requests, so that a request that is sent again has the same bytes.
_BOUNDARY = "faultspec-4f1c0d7a92be"

#: How files begin. Services look at that, and not at all of a small file.
_BEGINNINGS: Mapping[str, bytes] = {
    "application/pdf": b"%PDF-1.7\n",
    "image/gif": b"GIF89a",
    **dict.fromkeys(("image/jpeg", "image/jpg"), b"\xff\xd8\xff\xe0"),
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/webp": b"RIFF\x10\0\0\0WEBPVP8 ",
}


def encode_multipart(body: Mapping[str, object], files: Mapping[str, str]) -> tuple[bytes, str]:
    """A form, and its media type with the boundary. ``files``: the media type of each field that is
    a file. A list repeats its field; null is left out; an object is JSON (OpenAPI 3.1, 4.8.14.3).
    """
    parts = [part for name, value in body.items() for part in _parts(name, value, files.get(name))]
    return encode_multipart_formdata(parts, _BOUNDARY)


def read_fields(body: bytes, media_type: str) -> list[tuple[str, str]]:
    """The names and texts of the fields of a form without its files; none of other bodies."""
    head = f"Content-Type: {media_type}\r\n\r\n".encode("utf-8", "replace")
    parts = email.message_from_bytes(head + body, policy=email.policy.HTTP).iter_parts()
    return [
        (str(part.get_param("name", "", "content-disposition")), _text_of(part))
        for part in parts
        if part.get_filename() is None
    ]


def _text_of(part: email.message.Message) -> str:
    content = part.get_payload(decode=True)
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else ""


def _parts(name: str, value: object, file_type: str | None) -> Iterator[RequestField]:
    """The parts of a field. ``file_type``: its media type if it is a file."""
    sent = name.encode("utf-8", "replace").decode()  # a document may have half a surrogate
    values = value if isinstance(value, list) else [value]
    for item in values if value is not None else ():
        if file_type is not None:
            yield _file_part(sent, item, file_type)
        elif isinstance(item, dict | list):
            yield _part(sent, json.dumps(item).encode(), "application/json")
        else:
            yield _part(sent, wire_text(item).encode("utf-8", "surrogatepass"))


def _file_part(name: str, value: object, media_type: str) -> RequestField:
    content = _BEGINNINGS.get(media_type, b"") + str(value).encode("utf-8", "surrogatepass")
    extension = mimetypes.guess_extension(media_type) or ".bin"
    return _part(name, content, media_type, f"{name}{extension}")


def _part(
    name: str, content: bytes, media_type: str | None = None, filename: str | None = None
) -> RequestField:
    part = RequestField(name, content, filename)
    part.make_multipart(content_type=media_type)
    return part
