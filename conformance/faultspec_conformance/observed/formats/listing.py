"""How much of a listing is read: the names of a web server or a store may never end."""

from dataclasses import dataclass, field

from faultspec_conformance.observed.formats.record import NotARecording

#: Folders that are listed, and levels of them; files and characters of names that are found. An
#: archive of the logs of a year, by day and hour, has less.
_FOLDERS, DEEPEST, _FILES, _NAMES = 1_000, 32, 100_000, 16 * 1024**2


@dataclass(slots=True)
class Listing:
    """The names that a listing has had so far. Its methods raise NotARecording beyond a bound."""

    folders: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    _characters: int = 0

    def add_folder(self, name: str) -> None:
        """Note a folder that is to be listed."""
        self.folders.add(name)
        if len(self.folders) > _FOLDERS:
            raise NotARecording(f"it lists more than {_FOLDERS:,} folders: name one of them")

    def add_file(self, name: str) -> None:
        """Note a file."""
        self.files.add(name)
        if len(self.files) > _FILES:
            raise NotARecording(f"it lists more than {_FILES:,} files: name a folder of them")

    def count(self, name: str, level: int) -> None:
        """Count a name of any kind in a folder of a level, from 1 on."""
        self._characters += len(name)
        if self._characters > _NAMES:
            raise NotARecording(
                f"its names have more than {_NAMES:,} characters: name a folder of them"
            )
        if level > DEEPEST:
            raise NotARecording(f"its folders are deeper than {DEEPEST} levels")
