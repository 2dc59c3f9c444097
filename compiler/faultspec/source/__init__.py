"""YAML text → `Document`: data, and a span for every key and value, from one parse.

The dialect is smaller than YAML, so that readers and the compiler understand the same:

- A plain scalar is null (`null`, `~` or empty), a boolean (`true`, `false`), a number if JSON has
  it (`12`, `-0.5`, `1e3`), and otherwise text. So `NO`, `on`, `012`, `0x1F`, `1:30`, `4_29`, `.5`,
  `.inf`, `.nan` and dates are text. Integers of more than 64 bits and infinite floats are errors.
- A plain mapping key is always text: `404:` is `"404"`, `NO:` is `"NO"`, `<<:` is an ordinary key.
- Tags, anchors, aliases, directives, collections as keys and second documents are errors.
- Lines end in LF, CRLF or CR. U+0085, U+2028 and U+2029, which are line ends in YAML 1.1 but not in
  editors, must be escaped, like control characters.
"""

from collections.abc import Mapping

from faultspec.source.document import UNREADABLE, Document
from faultspec.source.file import (
    MAX_BYTES,
    SourceError,
    decode,
    leaves_repository,
    load_document,
    read_bytes,
    refuse_link,
)
from faultspec.source.readers import MAX_DEPTH, MAX_NODES
from faultspec.source.tree import parse

__all__ = [
    "CODES",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "UNREADABLE",
    "Document",
    "SourceError",
    "decode",
    "leaves_repository",
    "load_document",
    "parse",
    "read_bytes",
    "refuse_link",
]

#: Every diagnostic code of this package, with its condition.
CODES: Mapping[str, str] = {
    "file-not-found": "The file does not exist.",
    "not-a-file": "The path is a directory, a device, a pipe or a socket.",
    "file-unreadable": "The file exists and cannot be read.",
    "file-too-large": f"The file is larger than {MAX_BYTES // 1024**2} MiB, or has more than "
    f"{MAX_NODES:,} keys and values.",
    "not-utf-8": "The file has another encoding than UTF-8, or is not text.",
    "empty-document": "The file has only blank space and comments.",
    "yaml-character": "A control character or an invisible line end, which must be escaped.",
    "yaml-syntax": "The text is not YAML.",
    "yaml-directive": "A line such as `%YAML 1.1`.",
    "yaml-tag": "An explicit tag such as `!!str`.",
    "yaml-alias": "An anchor such as `&a`, or an alias such as `*a`.",
    "yaml-documents": "A second document in one file.",
    "yaml-key": "A mapping key that is a mapping or a list.",
    "duplicate-key": "A key that the same mapping has already.",
    "number-out-of-range": "A number that does not fit 64 bits.",
    "nested-too-deeply": f"More than {MAX_DEPTH} levels of nesting.",
}
