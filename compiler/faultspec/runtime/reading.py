"""The bounds of what is read of a body, and its failures, whatever its format."""

DEEPEST = 100
"""Levels of nesting that are read; RFC 8259 section 9 lets a parser set a limit."""

MOST = 250_000
"""Values that are read: a million take a second of the run, and 200 MB."""


class UnreadableBody(ValueError):
    """A body is not in its format, or beyond the bounds. The text is the predicate of a
    sentence about "the body".
    """


class MalformedBody(UnreadableBody):
    """A body is not in its format."""


class UnsayableValue(ValueError):
    """A format has no way to write a value."""
