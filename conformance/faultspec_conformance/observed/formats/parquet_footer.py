"""The sizes of a footer of Parquet, which DuckDB lays out whole before it reads a row: in Thrift's
compact protocol, as `FileMetaData` of the format's specification.
"""

from collections import Counter
from collections.abc import Mapping

#: The types of fields of the compact protocol that have a length of their own.
_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 3, 7, 8, 9, 10, 11, 12

#: Flags, whose value is their type.
_FLAGS = (1, 2)

#: Levels of structures. Those of the specification have seven.
_DEPTH = 16

#: Elements of lists that are counted, whatever they are.
_MOST = 2_000_000

SCHEMA = (2,)
"""The path of the list of columns and members of objects, by the numbers of fields."""

Path = tuple[int, ...]


class BrokenFooter(Exception):
    """A footer that is not in the compact protocol, or beyond what is counted."""


def count_elements(footer: bytes) -> Mapping[Path, int]:
    """The structures in each list of a footer, by the numbers of the fields that lead to it. A
    field that stands twice counts twice. Raises BrokenFooter.
    """
    reader = _FooterReader(footer)
    try:
        reader.skip_struct(())
    except IndexError as error:
        raise BrokenFooter from error
    return reader.found


class _FooterReader:
    """Skips the values of a footer, and counts."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0
        self.left = _MOST
        self.found: Counter[Path] = Counter()

    def skip_struct(self, path: Path) -> None:
        """Skip the fields of a structure."""
        if len(path) > _DEPTH:
            raise BrokenFooter
        field = 0
        while head := self._byte():
            delta, kind = head >> 4, head & 0x0F
            if delta:
                field += delta
            else:
                number = self._number()
                field = (number >> 1) ^ -(number & 1)
            if kind not in _FLAGS:
                self._skip(kind, (*path, field))

    def _skip(self, kind: int, path: Path) -> None:
        if kind == _STRUCT:
            self.skip_struct(path)
        elif kind in (_LIST, _SET):
            self._skip_list(path)
        elif kind == _MAP:
            raise BrokenFooter  # the specification has none
        elif kind == _BINARY:
            length = self._number()
            self.place += length
        elif kind == _DOUBLE:
            self.place += 8
        elif kind == _BYTE:
            self.place += 1
        else:
            self._number()

    def _skip_list(self, path: Path) -> None:
        head = self._byte()
        size, kind = head >> 4, head & 0x0F
        if size == 0x0F:
            size = self._number()
        self.left -= size
        if self.left < 0:
            raise BrokenFooter
        if kind == _STRUCT:
            self.found[path] += size
        if kind in _FLAGS:
            self.place += size
            return
        for _ in range(size):
            self._skip(kind, path)

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _number(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise BrokenFooter
        return number | byte << shift
