"""Sinks of a run: the files that its service appends errors to, besides its answers."""

from collections import Counter
from collections.abc import Iterator

from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers.sink_files import MISSING, SinkFile
from faultspec_conformance.session.observation import parse_body

#: The facts that a line of a log leaves out: who asked, and how long the answer took.
_LACKS = frozenset({"identity", "elapsed"})


class Sink:
    """The file of a surface, from where the run began. ``name``: that of the file in the taxonomy.
    ``records``: how many were read, of which ``errors`` are errors of the surface. ``unread``: the
    other lines, by the reason; ``first_unread``: the first of them.
    """

    def __init__(self, surface: str, name: str, path: str) -> None:
        self.surface, self.path = surface, path
        self.records = self.errors = 0
        self.first_unread = b""
        self.unread: Counter[str] = Counter()
        self._name = name
        self._file = SinkFile(path)

    def read(self) -> Iterator[Exchange]:
        """Yield the records in the lines since the last call. Other lines are counted."""
        for line in filter(None, map(bytes.strip, self._file.read_appended().splitlines())):
            if isinstance(parse_body(line), dict):
                self.records += 1
                yield Exchange(
                    Request("", self._name), Response(None, body=line), "log", lacks=_LACKS
                )
            else:
                self.first_unread = self.first_unread or line
                self.unread["the line is not a JSON object"] += 1

    @property
    def is_readable(self) -> bool:
        """Whether its records could be judged: not if it is a folder or a pipe, or if no line is a
        record.
        """
        is_other = self.problem not in (None, MISSING)
        return not is_other and (self.records > 0 or not self.unread)

    @property
    def problem(self) -> str | None:
        """Why nothing can be read, in words after the name of the file; None without a reason."""
        return self._file.problem

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def open_sinks(config: ServiceConfig, contract: Contract) -> tuple[Sink, ...]:
    """The sinks that a configuration names, from the end of their files."""
    surfaces = contract.taxonomy.surfaces
    return tuple(
        Sink(name, surfaces[name].sink or name, path)
        for name, path in config.sinks.items()
        if name in surfaces
    )
