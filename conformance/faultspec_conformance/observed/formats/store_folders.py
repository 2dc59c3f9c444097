"""Folders of object stores. A store may list without end, and its library reads a whole folder
before it shows a name: a process of its own reads the listing, with bounds.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from faultspec_conformance.observed.formats.listing import DEEPEST, Listing
from faultspec_conformance.observed.formats.record import NotARecording

#: What a pattern of names has.
PATTERN = re.compile(r"[*?\[]")

#: Bytes of data of the process, where the system can bound them. The libraries need a fifth, and
#: the names within the bounds of a listing as much.
_MEMORY = 512 * 1024**2

#: Seconds for a listing. A thousand folders of a store on another continent take as long.
_PATIENCE = 300

Find = Callable[[str], list[str] | None]
"""Finds the files of an address by `list_store_files`. It raises OSError and NotARecording."""


def find_apart(find: Find, path: str) -> list[str] | None:
    """The result of a function of a module, in a process whose memory and time are bounded. Raises
    what it raises, and NotARecording beyond these bounds.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_found, args=(sender, find, path), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(_PATIENCE):
            raise NotARecording(f"its listing takes longer than {_PATIENCE} seconds: name less")
        found: list[str] | Exception | None = receiver.recv()
    except EOFError:
        most = f"{_MEMORY // 1024**2} MiB of memory"
        raise NotARecording(
            f"its listing ended early, as one of more than {most}: name less"
        ) from None
    finally:
        receiver.close()
        process.kill()
        process.join()
    if isinstance(found, Exception):
        raise found
    return found


def _send_found(sender: Connection, find: Find, path: str) -> None:
    # A library that gets no more memory writes about it, and ends the process.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    _bound_memory()
    found: list[str] | Exception | None
    try:
        found = find(path)
    except (OSError, NotARecording) as error:
        found = error
    sender.send(found)


def _bound_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource  # missing on Windows

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        limit = _MEMORY if most == resource.RLIM_INFINITY else min(_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def list_store_files(system: Any, name: str) -> list[str] | None:
    """The files of a folder or a pattern of a file system; None if the name is that of an object.
    Raises NotARecording beyond the bounds of a listing.
    """
    wildcard = PATTERN.search(name)
    if wildcard is None:
        return _walk(system, name, "**") if system.isdir(name) else None
    root, _, first = name[: wildcard.start()].rpartition("/")
    return _walk(system, root, first + name[wildcard.start() :])


def _walk(system: Any, root: str, pattern: str) -> list[str]:
    """The files below a folder that match a pattern. A folder is listed if it matches its part."""
    translate = import_module("fsspec.utils").glob_translate
    parts = pattern.split("/")
    above = f"{root}/" if root else ""
    matches = re.compile(translate(pattern)).match
    depth = DEEPEST + 1 if "**" in pattern else len(parts)
    listing = Listing()
    for folder, folders, files in system.walk(root, maxdepth=depth, detail=True):
        level = 1 + folder.removeprefix(root).strip("/").count("/") + (folder != root)
        known = "/".join(parts[:level])
        fits = None if "**" in known else re.compile(translate(known)).match
        for name, info in [*folders.items()]:
            listing.count(info["name"], level)
            below = info["name"].rstrip("/").removeprefix(above)
            if level < depth and (fits is None or fits(below)):
                listing.add_folder(info["name"])
            else:
                del folders[name]
        for info in files.values():
            listing.count(info["name"], level)
            if matches(info["name"].removeprefix(above)):
                listing.add_file(info["name"])
    return [*listing.files]
