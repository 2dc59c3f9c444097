"""Files → text: the only part of this package that reads files."""

import os
import stat
from pathlib import Path

from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.source.document import Document, Lines
from faultspec.source.tree import parse

#: A taxonomy of 10,000 codes has about 4 MB; a much larger file is a mistake, such as a data dump.
MAX_BYTES = 16 * 1024 * 1024


class SourceError(Exception):
    """A file that could not be read, or that has mistakes as YAML.

    `diagnostics` has at least one element. `document` is present if the text has a structure (for
    example with a repeated key), so that a caller can report other mistakes in the same run; it
    must not be compiled. `text` is present if the file is text; the diagnostics point into it.
    """

    def __init__(
        self,
        diagnostics: tuple[Diagnostic, ...],
        document: Document | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(diagnostics, document, text)
        self.diagnostics = diagnostics
        self.document = document
        self.text = text

    def __str__(self) -> str:
        return "; ".join(f"{found.path}: {found.message}" for found in self.diagnostics)


def load_document(path: str | os.PathLike[str], *, anywhere: bool = False) -> Document:
    """Read and parse one file. Raises SourceError, and no other exception.

    ``anywhere``: also if it is a link of a repository to a file outside. The text of such a file is
    secret: it may be any that this process can read.
    """
    name = os.fspath(path)
    if not anywhere:
        refuse_link(name)
    data = read_bytes(name)
    text, found = decode(data, name)
    if text is None:
        raise SourceError(tuple(found))
    document, found = parse(text, name)
    if found or document is None:
        raise SourceError(tuple(found), document, text)
    return document


def leaves_repository(path: str) -> bool:
    """Whether a path within a folder that has `.git` leads out of it through a symbolic link.

    A checkout may have such links, and a job that reads it has files of its own beside it.
    """
    place = Path(os.path.abspath(path))
    try:
        real = Path(os.path.realpath(place))
        root = next((folder for folder in place.parents if os.path.lexists(folder / ".git")), None)
    except ValueError:  # a NUL character in the path
        return False
    return root is not None and not real.is_relative_to(os.path.realpath(root))


def refuse_link(path: str) -> None:
    """Raise SourceError for a path that leads out of its repository."""
    if leaves_repository(path):
        message = "this is a link to a file outside the repository"
        raise SourceError((Diagnostic("not-a-file", message, path, hint="copy the file"),))


def read_bytes(path: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a file that a user named, at most ``limit``. Raises SourceError, and no other
    exception.
    """

    def refuse(code: str, message: str, hint: str | None = None) -> SourceError:
        return SourceError((Diagnostic(code, message, path, hint=hint),))

    too_large = refuse(
        "file-too-large",
        f"the file is larger than {limit // 1024**2} MiB",
        "split it, or check that this is the file you meant",
    )
    try:
        # Checked before it is opened, because opening a pipe waits for a writer.
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise refuse("not-a-file", "this is a directory", "name a file in it")
        if not stat.S_ISREG(status.st_mode):
            message = "this is a device, a pipe or a socket"
            raise refuse("not-a-file", message, "write its content to a file first")
        if status.st_size > limit:
            raise too_large
        with open(path, "rb") as file:
            found = file.read(limit + 1)
    except FileNotFoundError:
        hint = "check the spelling and the directory"
        raise refuse("file-not-found", "there is no such file", hint) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = error.strerror if isinstance(error, OSError) else None
        raise refuse("file-unreadable", f"the file cannot be read: {reason or error}") from None
    if len(found) > limit:  # it grew, or its size is unknown before reading, as under /proc
        raise too_large
    return found


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which is not part of the text."""

#: The longer marks first, because that of UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)

_SAVE_AS_UTF8 = "save the file as UTF-8"


def decode(content: bytes, path: str) -> tuple[str | None, list[Diagnostic]]:
    """Bytes → text without a byte order mark, or the reason why they are not UTF-8 text."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            message = f"the file is encoded in {encoding}, not in UTF-8"
            return None, [Diagnostic("not-utf-8", message, path, hint=_SAVE_AS_UTF8)]
    if b"\0" in content:
        return None, [_nul(content, path)]
    content = content.removeprefix(BYTE_ORDER_MARK)
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line, column = Lines(before).place(len(before))
        byte = content[error.start]
        hint = _SAVE_AS_UTF8
        if byte >= 0xA0:  # lower bytes are control characters in Latin-1
            hint += f"; in Latin-1 this byte is {chr(byte)!r}"
        message = f"byte 0x{byte:02X} is not valid UTF-8 here"
        span = Span(line, column, line, column)
        return None, [Diagnostic("not-utf-8", message, path, span, hint=hint)]


def _nul(content: bytes, path: str) -> Diagnostic:
    # In UTF-16, text of mostly ASCII has zeros in every second byte only.
    sample = content[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if min(even, odd) == 0 and max(even, odd) * 4 >= len(sample):
        order = "little" if odd else "big"
        message = (
            f"the file looks like UTF-16 ({order}-endian, without a byte order mark), not UTF-8"
        )
        return Diagnostic("not-utf-8", message, path, hint=_SAVE_AS_UTF8)
    message = f"the file is not text: byte {content.index(0)} is zero"
    return Diagnostic("not-utf-8", message, path, hint="check that this is the file you meant")
