"""The state of reading one configuration: the document, the environment, and the diagnostics so
far.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from faultspec.diagnostics.model import Diagnostic
from faultspec.diagnostics.model import Path as Place
from faultspec.language import grammar
from faultspec.language.header_syntax import CONTROL
from faultspec.source import MAX_BYTES, UNREADABLE, Document
from faultspec_conformance.config.form import CONFIGURATION
from faultspec_conformance.config.model import ANONYMOUS, SHORTEST_SECRET, Transport

#: A name in capitals is a variable of the environment, so that the file need not contain secrets.
VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")

#: A name that a string refers to. A step or a login saves it, except `unique`, which the suite
#: provides.
SAVED_NAME = re.compile(r"\$\{([a-z_]\w*)\}")

#: Characters of all values of the environment in a file, as many as a file may have. The same one
#: may stand in thousands of places.
_LONGEST = MAX_BYTES

Node = Mapping[str, object]
"""A mapping of the document."""


class ReadingContext:
    """The state that the parts of one reading share.

    Conclusions from a place in ``lost`` are not reported.

    ``secrets``: values from the environment, each with its replacement in reports. ``items``: path
    shapes of the items of declared resources; None if resources are inferred later. ``identities``:
    the names of the identities; None if they could not be read. ``constants``: the names under
    `values` of the file.
    """

    def __init__(
        self, document: Document, environment: Mapping[str, str], lost: Collection[Place]
    ) -> None:
        self.document = document
        self.environment = environment
        self.lost = lost
        self.secrets: list[tuple[str, str]] = []
        self._expanded: dict[str, str] = {}
        self._length = 0
        self.diagnostics: list[Diagnostic] = []
        self.identities = _identity_names(document.data)
        self.items: tuple[str, ...] | None = None
        self.transport: Transport = "http"
        self.constants: frozenset[str] = frozenset()

    @property
    def directory(self) -> Path:
        """The folder of the document."""
        return Path(self.document.path).parent

    def resolve_path(self, path: str) -> str:
        """A path relative to the document."""
        return os.path.normpath(self.directory / path)

    def report(
        self,
        code: str,
        place: Place,
        message: str,
        *,
        key: bool = True,
        hint: str | None = None,
        needs: Iterable[Place] = (),
    ) -> None:
        """Add a diagnostic, unless ``place`` or one of ``needs`` is lost: then it may be a false
        conclusion. It shows no value of the environment.
        """
        message = self._mask(message)
        hint = None if hint is None else self._mask(hint)
        if place not in self.lost and not any(need in self.lost for need in needs):
            self.diagnostics.append(
                self.document.diagnostic(code, message, place, key=key, hint=hint)
            )

    def expand(self, text: str, place: Place) -> str:
        """The text with the values of its variables. A missing variable is reported and left as it
        is.
        """

        def replacement(match: re.Match[str]) -> str:
            name = match[1]
            hint = f"set it: export {name}=…"
            if name not in self.environment:
                message = f"the environment has no variable {name}"
                self.report("missing-variable", place, message, key=False, hint=hint)
                return match[0]
            value = self.environment[name].strip()  # a token read from a file ends with a newline
            if not value:
                message = f"the variable {name} is empty"
                self.report("empty-variable", place, message, key=False, hint=hint)
            before = self._length
            self._length += len(value)
            if self._length > _LONGEST:
                if before <= _LONGEST:
                    message = f"the variables up to {name} have more than {_LONGEST} characters"
                    hint = "write them less often"
                    self.report("bad-value", place, message, key=False, hint=hint)
                return match[0]
            self._expanded[value] = match[0]
            return value

        return VARIABLE.sub(replacement, text)

    def _mask(self, sentence: str) -> str:
        known = {**self._expanded, **dict(self.secrets)}
        for value in sorted(known, key=len, reverse=True):
            if len(value) >= SHORTEST_SECRET:
                sentence = sentence.replace(value, known[value])
        return sentence

    def expand_body(self, node: Node, place: Place) -> Node:
        """A call with the values of the variables in its query, body and params, which reports
        mask.
        """
        found = dict(node)
        for key in ("query", "body", "raw", "params"):
            if key in node:
                found[key] = self.expand_value(node[key], (*place, key))
        return found

    def expand_value(self, value: object, place: Place) -> object:
        """A value with those of the variables in its texts, which reports mask."""
        self.secrets += self.variables(text for _, text in texts_in(value, ()))
        return self._expand_texts(value, place)

    def _expand_texts(self, value: object, place: Place) -> object:
        if isinstance(value, str):
            return self.expand(value, place)
        if isinstance(value, dict):
            return {name: self._expand_texts(item, (*place, name)) for name, item in value.items()}
        if isinstance(value, list):
            return [self._expand_texts(item, (*place, index)) for index, item in enumerate(value)]
        return value

    def variables(self, texts: Iterable[str]) -> list[tuple[str, str]]:
        """The values that texts take from the environment, each with its replacement in reports."""
        names = (name for text in texts for name in VARIABLE.findall(text))
        return [
            (self.environment[name].strip(), "${" + name + "}")
            for name in names
            if self.environment.get(name)
        ]

    def reject_variables(self, value: object, place: Place) -> None:
        """Report variables in every text of a value that takes none from the environment."""
        for path, text in texts_in(value, place):
            if match := VARIABLE.search(text):
                self.report(
                    "misplaced-variable",
                    path,
                    f"`{match[0]}` is not replaced here: only headers, queries, bodies, the "
                    "address and tenants take values from the environment",
                    key=False,
                    hint="move it into `headers` or `body`, or write the value",
                )

    def known_identity(self, node: Node, place: Place) -> str | None:
        """The identity under `as`; an unknown one is reported."""
        name = node.get("as")
        if not isinstance(name, str):
            return None
        known = (*(self.identities or ()), ANONYMOUS)
        if self.identities is not None and name not in known:
            hint = grammar.closest(name, known) or f"the identities are {', '.join(known)}"
            message = f"`{name}` is not an identity of the file"
            self.report("unknown-identity", (*place, "as"), message, key=False, hint=hint)
        return name

    def call_headers(self, node: Node, place: Place) -> dict[str, str | None]:
        """The headers of a call; None for one that it goes without."""
        written = child_mapping(node, "headers")
        return {**dict.fromkeys(written), **self.headers(node, place)}

    def headers(self, node: Node, place: Place) -> dict[str, str]:
        """The headers of a mapping, with values from the environment; unsendable values are
        reported.
        """
        written = header_texts(node)
        found = {
            name: self.expand(text, (*place, "headers", name)) for name, text in written.items()
        }
        for name, value in found.items():
            if CONTROL.search(value):
                message = f"the value of `{name}` has line ends or control characters"
                at = (*place, "headers", name)
                self.report("bad-value", at, message, key=False, hint="write it in one line")
        return found

    def positive_number(self, node: Node, key: str, place: Place, default: float) -> float:
        """The number under a key, or the default; 0 is reported."""
        value = node.get(key)
        if value == 0:
            message = f"`{key}` is 0; it must be positive"
            self.report("bad-value", (*place, key), message, key=False, hint="leave it out")
        return float(value) if isinstance(value, int | float) and value else default


def child_mapping(node: Node, key: str) -> Node:
    """The mapping under a key; empty if the key is missing."""
    return cast(Node, node.get(key, {}))


def children(node: Node, key: str) -> Iterator[tuple[str, Node]]:
    """The names and mappings below a key."""
    for name, value in child_mapping(node, key).items():
        yield name, cast(Node, value)


def wire_text(value: object) -> str:
    """A YAML scalar as it is sent."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def header_texts(node: Node) -> dict[str, str]:
    """The headers of a mapping as the file has them."""
    written = child_mapping(node, "headers").items()
    return {name: wire_text(value) for name, value in written if value is not None}


def texts_in(value: object, place: Place) -> Iterator[tuple[Place, str]]:
    """Every text in a value, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from texts_in(member, (*place, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts_in(item, (*place, index))


def _identity_names(data: object) -> tuple[str, ...] | None:
    """The names of the identities; None if they could not be read, or their key may be misspelt."""
    if not isinstance(data, dict):
        return ()
    if "identities" not in data:
        unknown = (key for key in data if isinstance(key, str) and key not in CONFIGURATION.keys)
        return (
            None if any(grammar.nearest_spelling(key, ("identities",)) for key in unknown) else ()
        )
    identities = data["identities"]
    return (
        tuple(identities) if isinstance(identities, dict) and UNREADABLE not in identities else None
    )
