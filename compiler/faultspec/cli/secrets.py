"""The secrets of a command, and the one exit of its texts: what it prints has a mask in their
place.

They are those of its arguments, known before any is read, and those of the files and variables that
the command reads. Reports and drafts are masked by value, so that they stay what they are, and
leave through `bypass_masks`.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from faultspec_conformance.results.model import Report
    from faultspec_conformance.sanitize.masking import Masking


class _KnownSecrets:
    """The secrets of a command, each with its replacement, and what masks them."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self._masking: Masking | None = None

    def add(self, secret: str, word: str) -> None:
        """Add a secret. The first replacement of a secret stays."""
        if secret not in self.words:
            self.words[secret] = word
            self._masking = None

    @property
    def masking(self) -> "Masking | None":
        """The masking of them; None if there are none."""
        if self._masking is None and self.words:
            from faultspec_conformance.sanitize.masking import build_masking

            self._masking = build_masking((), self.words.items())
        return self._masking


_KNOWN: ContextVar[_KnownSecrets | None] = ContextVar("secrets", default=None)

#: The option with a header, also if it is misspelt.
_HEADER_OPTION = re.compile(r"-H|--head\w*")

#: What an argument with a secret has: an address with a user or a query, or a name and a value.
_SUSPECT = re.compile(r"//.*[@?]|:.*@|[A-Za-z][\w-]*\s*:\s*[^\s/\d]", re.DOTALL)


def find_argument_secrets(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The secrets of a command line, each with its replacement: those of addresses and headers,
    also where the command line is wrong.
    """
    before = ""
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if _HEADER_OPTION.fullmatch(before):
            yield from _find_header_secrets(argument)
        elif equals and _HEADER_OPTION.fullmatch(option):
            yield from _find_header_secrets(value)
        elif _SUSPECT.search(argument):
            from faultspec_conformance.config.addresses import find_written_secrets

            yield from find_written_secrets(argument)
        before = argument


def _find_header_secrets(header: str) -> Iterator[tuple[str, str]]:
    """The secrets of the value of `--header`: the value, and what follows its scheme. Without a
    name, all of it may be one.
    """
    from faultspec_conformance.config import name_variable, secret_of

    name, colon, value = header.partition(":")
    if colon and re.fullmatch(r"[\w-]+", name.strip()) and value.isprintable():
        name, value = name.strip(), value.strip()
        yield from ((text, name_variable(name)) for text in (secret_of(name, value), value))
        return
    for text in (header, value):
        yield text.strip(), "***"
        yield from ((word, "***") for word in text.split()[1:])


@contextmanager
def masked_output(arguments: Sequence[str]) -> Iterator[None]:
    """Mask the secrets of these arguments, and those that `remember` adds, in all that the block
    prints.
    """
    token = _KNOWN.set(_KnownSecrets())
    remember(find_argument_secrets(arguments))
    out, err = (cast(TextIO, _MaskedStream(each)) for each in (sys.stdout, sys.stderr))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            yield
    finally:
        _KNOWN.reset(token)


def remember(secrets: Iterable[tuple[str, str]]) -> None:
    """Mask these secrets too. The first replacement of a secret stays."""
    known = _KNOWN.get()
    if known is not None:
        for secret, word in secrets:
            known.add(secret, word)


def remember_environment() -> None:
    """Mask the variables whose names say that they are secrets. A service that the same shell
    started has them too, and may show them in an answer.
    """
    from faultspec_conformance.config.addresses import find_environment_secrets

    remember(find_environment_secrets(os.environ))


def mask_known(text: str) -> str:
    """The text without the known secrets."""
    masking = _find_masking()
    return text if masking is None else masking.text(text)


def mask_report(report: "Report") -> "Report":
    """The report without the known secrets."""
    from dataclasses import replace

    masking = _find_masking()
    if masking is None:
        return report
    masking = replace(masking, again=True)
    base, only = masking.text(report.base), report.only
    return replace(
        report,
        result=masking.result(report.result),
        base=base,
        only=only and masking.text(only),
        source=report.source and masking.text(report.source),
    )


#: A word that texts have by chance.
_WORD = re.compile(r"[A-Za-z]{1,16}")


def mask_draft(text: str) -> str:
    """A drafted file without the known secrets, such as a service repeats them in its document. A
    secret that is a word stays, since the file has words of its own.
    """
    from faultspec_conformance.sanitize.masking import build_masking

    known = _KNOWN.get()
    words = known.words if known is not None else {}
    secrets = [(secret, "masked") for secret in words if not _WORD.fullmatch(secret)]
    return build_masking((), secrets).text(text) if secrets else text


def bypass_masks(stream: TextIO) -> TextIO:
    """The stream behind the exit, for texts that are masked by value."""
    return stream.masked if isinstance(stream, _MaskedStream) else stream


def _find_masking() -> "Masking | None":
    known = _KNOWN.get()
    return known.masking if known is not None else None


class _MaskedStream:
    """A text stream that masks. It hides its `buffer`, by which texts would get around it."""

    def __init__(self, masked: TextIO) -> None:
        self.masked = masked

    def write(self, text: str) -> int:
        """Write a text, masked. Returns the number of its characters."""
        self.masked.write(mask_known(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.masked, name)
