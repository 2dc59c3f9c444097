"""Languages of messages, by BCP 47 tag."""

from collections.abc import Iterable


def find_locale(wanted: str, known: Iterable[str]) -> str | None:
    """The known tag for a wanted one: the same, else the nearest shorter one (RFC 4647
    section 3.4), so that ``de-AT`` finds ``de``; None if there is none. Tags have no
    case.
    """
    tags = {tag.lower(): tag for tag in known}
    parts = wanted.lower().split("-")
    while parts:
        found = tags.get("-".join(parts))
        if found is not None:
            return found
        parts.pop()
        if parts and len(parts[-1]) == 1:
            parts.pop()
    return None
