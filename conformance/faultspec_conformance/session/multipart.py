"""Bodies of ``multipart/form-data`` (RFC 7578)."""

import email
import email.message
import email.policy
import json
import mimetypes
from collections.abc import Iterator, Mapping

from urllib3.fields import RequestField
from urllib3.filepost import encode_multipart_formdata

MULTIPART = "multipart/form-data"
"""The media type of forms with files."""

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


def is_multipart(media_type: str) -> bool:
    """Whether it is the media type of forms with files."""
    return media_type.partition(";")[0].strip().lower() == MULTIPART


def encode_multipart(body: Mapping[str, object], files: Mapping[str, str]) -> tuple[bytes, str]:
    """A form, and its media type with the boundary. ``files``: the media type of each field that is
    a file. A list repeats its field; null is left out; an object is JSON (OpenAPI 3.1, 4.8.14.3).
    """
    parts = [part for name, value in body.items() for part in _parts(name, value, files)]
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


def _parts(name: str, value: object, files: Mapping[str, str]) -> Iterator[RequestField]:
    for item in value if isinstance(value, list) else [value] if value is not None else []:
        if name in files:
            yield _file_part(name, item, files[name])
        elif isinstance(item, dict | list):
            yield _part(name, json.dumps(item).encode(), "application/json")
        else:
            text = str(item).lower() if isinstance(item, bool) else str(item)
            yield _part(name, text.encode("utf-8", "surrogatepass"))


def _file_part(name: str, value: object, media_type: str) -> RequestField:
    name = _sendable(name)
    content = _BEGINNINGS.get(media_type, b"") + str(value).encode("utf-8", "surrogatepass")
    extension = mimetypes.guess_extension(media_type) or ".bin"
    return _part(name, content, media_type, f"{name}{extension}")


def _part(
    name: str, content: bytes, media_type: str | None = None, filename: str | None = None
) -> RequestField:
    part = RequestField(_sendable(name), content, filename)
    part.make_multipart(content_type=media_type)
    return part


def _sendable(name: str) -> str:
    """A name from a document, which may have half a surrogate."""
    return name.encode("utf-8", "replace").decode()
