"""Where recordings come from: files, folders, patterns, standard input, pipes, object stores."""

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from faultspec.exchange.sensitive import MASK
from faultspec_conformance.observed.formats.byte_streams import ByteStream
from faultspec_conformance.observed.formats.record import NotARecording, install
from faultspec_conformance.observed.formats.store_folders import (
    PATTERN,
    find_apart,
    list_store_files,
)
from faultspec_conformance.observed.formats.web_folders import (
    bounded_response,
    find_web_files,
    is_web_address,
)

STANDARD_INPUT = "-"
"""The argument that stands for standard input."""

#: The beginning of an address: a scheme, after those that read through it (`filecache::s3://`). No
#: name of a file has it, so a pattern that the shell expands names no store.
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]{0,40}::){0,8}[a-z][a-z0-9+.-]{0,40}://", re.IGNORECASE)

#: User and password in an address. A password with a slash, which nothing can open, is one too.
_USER = re.compile(r"(?<=://)(?:[^/?#@]*@|[^/?#@:]*:(?!\d{1,5}/)[^?#@]*@)")

#: The value of a parameter of an address.
_VALUE = re.compile(r"(?<==)[^&#]+")

#: The status of an answer in an error of obstore, the library of the large stores.
_STATUS = re.compile(r"\bstatus(?: code)?: (\d{3})\b")

#: What an error of obstore has where no answer came, and what it means.
_CAUSES = {
    "BadScheme": "the store is at `http://`, which AWS_ALLOW_HTTP=true allows",
    "kind: Connect": "nobody answers at the address of the store",
    "kind: Timeout": "the store does not answer in time",
    "BareRedirect": "the store redirects to nowhere, as one of another region does",
}


class ByteSource(NamedTuple):
    """The bytes of a recording. ``size``: how many, if that is known."""

    stream: io.BufferedIOBase
    size: int | None


def is_remote(path: str) -> bool:
    """Whether a path is the address of an object store, and not a file's."""
    return _ADDRESS.match(path) is not None


def mask_address(path: str) -> str:
    """A path as reports show it: the address of a store without its user, password and values of
    its query, which are credentials of presigned addresses.
    """
    if not is_remote(path):
        return path
    before, mark, query = _USER.sub(f"{MASK}@", path).partition("?")
    return before + mark + _VALUE.sub(MASK, query)


def find_recordings(path: str) -> list[str]:
    """The recordings that an argument names, in the order of their names: a file; the files of a
    folder and those below it, but for hidden ones; the files of a pattern, whose `**` is any number
    of folders; it follows no links, which may lead in a circle.

    Raises OSError, and NotARecording if there are none or a library is missing.
    """
    if path == STANDARD_INPUT:
        return [path]
    if is_remote(path):
        return _find_remote(path)
    if Path(path).is_dir():
        found = _match(Path(path), ("**", "*"))
    elif PATTERN.search(path) and not os.path.lexists(path):
        pattern = Path(path)
        parts = pattern.relative_to(pattern.anchor).parts
        found = _match(Path(pattern.anchor), (*parts, "*") if parts[-1] == "**" else parts)
    else:
        return [path]
    files = sorted(found)
    if not files:
        raise NotARecording("there are no such files")
    return files


def _match(folder: Path, pattern: tuple[str, ...]) -> Iterator[str]:
    """The files below a folder that match a pattern. Names that begin with a dot match no wildcard
    at their beginning.
    """
    dotted = [part for part in pattern if part[0] in ".["]
    parts = (part if part == "**" else re.sub(r"\*{2,}", "*", part) for part in pattern)
    for found in folder.glob("/".join(parts)):
        names = (name for name in found.relative_to(folder).parts if name.startswith("."))
        if found.is_file() and all(any(fnmatchcase(name, one) for one in dotted) for name in names):
            yield str(found)


@contextmanager
def open_source(path: str) -> Iterator[ByteSource]:
    """Open a recording. Raises OSError, and NotARecording if a library is missing."""
    if path == STANDARD_INPUT:
        yield ByteSource(_standard_input(), None)
    elif is_remote(path):
        file = _open_object(path)
        with file:
            yield ByteSource(io.BufferedReader(ByteStream(partial(_read_object, file))), file.size)
    else:
        # Checked before it is opened: reading a device may not end.
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISDIR(mode)):
            raise OSError(errno.EINVAL, "it is a device or a socket")
        with Path(path).open("rb") as raw:
            yield ByteSource(raw, os.path.getsize(path) if stat.S_ISREG(mode) else None)


@contextmanager
def open_range(path: str, start: int) -> Iterator[Callable[[int], bytes]]:
    """Open a file or an object at an offset: a function of how many bytes to read at most. Raises
    OSError, and NotARecording if a library is missing.
    """
    if is_remote(path):
        file = _open_object(path)
        file.seek(start)
        with file:
            yield partial(_read_object, file)
    else:
        with Path(path).open("rb") as raw:
            raw.seek(start)
            yield raw.read


def size_of_source(path: str) -> int:
    """Bytes of a file or an object; 0 if that is unknown, as of a pipe."""
    try:
        if not is_remote(path):
            return os.path.getsize(path)
        with _translate_errors():
            system, name = file_system(path)
            return int(system.info(name).get("size") or 0)
    except (OSError, NotARecording):  # reading it tells
        return 0


def _standard_input() -> io.BufferedIOBase:
    stream = sys.stdin.buffer
    assert isinstance(stream, io.BufferedIOBase)  # its type is that of any binary stream
    return stream


def file_system(path: str) -> tuple[Any, str]:
    """The file system of fsspec for an address, and the name there. Credentials are found as its
    library finds them, in the environment or its files.

    Raises NotARecording if a library is missing.
    """
    try:
        core = import_module("fsspec.core")
    except ImportError as error:
        raise NotARecording(install("fsspec")) from error
    for scheme in ("http", "https"):
        import_module("fsspec.config").conf.setdefault(scheme, {})["get_client"] = _open_session
    try:
        found: tuple[Any, str] = core.url_to_fs(path)
    except ImportError as missing:
        try:  # it has the stores of the large clouds; s3fs and gcsfs are preferred if installed
            import_module("obstore.fsspec").register(path.partition("://")[0])
            found = core.url_to_fs(path)
        except (ImportError, ValueError):
            raise NotARecording(str(missing)) from missing
    except ValueError as error:  # a scheme that fsspec does not know
        raise NotARecording(str(error)) from error
    return found


async def _open_session(**options: Any) -> Any:
    """The session of fsspec for `http://` and `https://`, which stays on the host it asks."""
    aiohttp = import_module("aiohttp")
    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(_refuse_other_host)
    answers = bounded_response(aiohttp.ClientResponse)
    return aiohttp.ClientSession(trace_configs=[trace], response_class=answers, **options)


async def _refuse_other_host(_session: Any, _context: Any, redirect: Any) -> None:
    url = redirect.url
    target = url.join(type(url)(redirect.response.headers.get("Location", "")))
    if (target.host, target.port) != (url.host, url.port):
        raise NotARecording(
            f"{url.host} redirects to {target.host}, which the argument does not name"
        )


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise OSError for any error of a store. Libraries have classes of their own, and their texts
    may have credentials.
    """
    try:
        yield
    except (NotARecording, MemoryError):
        raise
    except Exception as error:
        if isinstance(error.__cause__, NotARecording):
            raise error.__cause__ from None
        if isinstance(error, OSError) and error.strerror:
            raise
        raise OSError(describe_store_error(error)) from error


def describe_store_error(error: Exception) -> str:
    """The cause of an error of a store, by what its text has of the cause, and never its text."""
    if isinstance(error, FileNotFoundError):
        return "the store has no such object"
    text = str(error)
    statuses: list[str] = _STATUS.findall(text)
    if statuses:  # the first may be in the name of the object
        return f"the store answers {statuses[-1]}"
    for sign, reason in _CAUSES.items():
        if sign in text:
            return reason
    return f"the store answers with {type(error).__name__}"


def _find_remote(path: str) -> list[str]:
    with _translate_errors():
        system, name = file_system(path)
        found = find_web_files(system, name) if is_web_address(name) else None
    listed = find_apart(_find_in_store, path) if found is None else found
    if listed is None or listed == [name]:
        return [path]
    folder = PATTERN.split(name)[0]
    shown = (one for one in listed if not _is_hidden(one, folder) or "/." in name)
    files = sorted(system.unstrip_protocol(one) for one in shown)
    if not files:
        raise NotARecording("there are no such files")
    return files


def _find_in_store(path: str) -> list[str] | None:
    with _translate_errors():
        return list_store_files(*file_system(path))


def _is_hidden(name: str, folder: str) -> bool:
    """Whether a part of a name below a folder begins with a dot, as local patterns leave out."""
    return any(part.startswith(".") for part in name.removeprefix(folder).split("/"))


def _open_object(path: str) -> Any:
    with _translate_errors():
        system, name = file_system(path)
        system.info(name)  # files of obstore that cannot be opened print a traceback at their end
        return system.open(name, "rb")


def _read_object(file: Any, size: int) -> bytes:
    with _translate_errors():
        return bytes(file.read(size))
