"""Lint rules about privacy: leaks, internal names, values that are never echoed, concealment."""

import re
from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.model import Example
from faultspec.leaks import detect, name_patterns
from faultspec.leaks.detectors import DETECTORS
from faultspec.lint.rule import Remark, Subject, rule


@rule("message-leaks", severity="error", local=True)
def message_leaks(subject: Subject) -> Iterator[Remark]:
    """No message and no example shows internals: addresses, paths, secrets, SQL, internal names.

    Bad::

        codes:
          failed: {summary: It failed., message: Cannot open /var/lib/shop/orders.db, http: 500}

    Good::

        codes:
          failed: {summary: It failed., message: Something went wrong on our side, http: 500}
    """
    privacy = subject.taxonomy.privacy
    detectors = privacy.detectors if privacy else tuple(DETECTORS)
    # Only the suite plants canaries.
    kinds = tuple(detector for detector in detectors if detector != "canary")
    names = name_patterns(privacy.internal_names) if privacy else ()
    for path, code in subject.codes():
        exempt = {entry.removeprefix("details.") for entry in code.passthrough}
        texts: list[tuple[Path, str]] = [((*path, "message"), code.message)] if code.message else []
        texts += [((*path, "messages", locale), text) for locale, text in code.messages.items()]
        for place, example in subject.examples(path, code):
            texts += _texts_of(place, example, exempt)
        for where, text in texts:
            for leak in detect(text, kinds, names)[:1]:
                message = f"this text shows {leak.what}"
                hint = "clients see it: write a safe text, such as a domain below example.com"
                yield Remark(where, message, hint, on_key=False)


def _texts_of(place: Path, example: Example, exempt: set[str]) -> Iterator[tuple[Path, str]]:
    """The texts of an example without those under exempt names, each with its path."""
    if example.message is not None:
        yield (*place, "message"), example.message
    parts = (
        ("details", example.details or {}),
        ("slots", example.slots),
        ("headers", example.headers),
    )
    for part, values in parts:
        for name, value in values.items():
            if name not in exempt:
                yield from _texts((*place, part, name), value)


def _texts(path: Path, value: object) -> Iterator[tuple[Path, str]]:
    """Every text in a value, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts((*path, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts((*path, index), item)


@rule("idle-internal-names", severity="warning")
def idle_internal_names(subject: Subject) -> Iterator[Remark]:
    """If internal names are declared, the detectors include the one for internal names.

    Bad::

        privacy: {detectors: [secret], internal_names: ["orders-db-[0-9]+"]}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        privacy: {detectors: [secret, internal-name], internal_names: ["orders-db-[0-9]+"]}
        codes:
          failed: {summary: It failed., http: 500}
    """
    privacy = subject.taxonomy.privacy
    if privacy is not None and privacy.internal_names and "internal-name" not in privacy.detectors:
        message = "no detector finds these names: `internal-name` is not among `detectors`"
        yield Remark(("privacy", "internal_names"), message, "add `internal-name` to `detectors`")


@rule("never-echoed", severity="note")
def never_echoed(subject: Subject) -> Iterator[Remark]:
    """No example mentions an attribute that is never echoed.

    Bad::

        privacy: {never_echoed: [tenant]}
        codes:
          refused: {summary: It was refused., http: 400,
              example: {message: The field tenant_id is missing}}

    Good::

        privacy: {never_echoed: [tenant]}
        codes:
          refused: {summary: It was refused., http: 400,
              example: {message: The field name is missing}}
    """
    privacy = subject.taxonomy.privacy
    for attribute in privacy.never_echoed if privacy else ():
        mention = re.compile(rf"(?<![A-Za-z]){re.escape(attribute)}(?:_id)?(?![A-Za-z])")
        for path, code in subject.live_codes():
            for where, example in subject.examples(path, code):
                details = example.details or {}
                texts = (example.message, *details, *details.values(), *example.slots.values())
                if any(isinstance(text, str) and mention.search(text) for text in texts):
                    message = f"the example mentions `{attribute}`, which is never echoed"
                    hint = (
                        "use another attribute, or suppress this and say why the name may be shown"
                    )
                    yield Remark(where, message, hint)


@rule("concealment", severity="error")
def concealment(subject: Subject) -> Iterator[Remark]:
    """The code that conceals a resource has an HTTP status and is not under `never`.

    Bad::

        codes:
          missing: {summary: It is not there., http: 404}
        privacy:
          conceal: [{across: tenant, answer: missing, never: [missing]}]

    Good::

        codes:
          missing: {summary: It is not there., http: 404}
          forbidden: {summary: It is not yours., http: 403}
        privacy:
          conceal: [{across: tenant, answer: missing, never: [forbidden]}]
    """
    taxonomy = subject.taxonomy
    http = any(surface.transport == "http" for surface in taxonomy.surfaces.values())
    for index, conceal in enumerate(taxonomy.privacy.conceal if taxonomy.privacy else ()):
        path: Path = ("privacy", "conceal", index)
        answer = taxonomy.codes[conceal.answer]
        if conceal.answer in conceal.never:
            place: Path = (*path, "never", conceal.never.index(conceal.answer))
            message = f"`{conceal.answer}` is both `answer` and under `never`"
            yield Remark(place, message, "remove it from one of them", on_key=False)
        elif http and answer.live and not answer.http.statuses:
            message = f"`{conceal.answer}` has no HTTP status, so it conceals nothing on HTTP"
            hint = "answer with a code that has an HTTP status"
            yield Remark((*path, "answer"), message, hint, on_key=False)
