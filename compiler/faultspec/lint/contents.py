"""Rules on what errors say: details, messages and examples."""

import re
from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.model import Schema
from faultspec.leaks import detect, name_patterns
from faultspec.leaks.detectors import DETECTORS
from faultspec.lint.places import codes, example_path, live
from faultspec.lint.rule import Remark, Subject


def unregistered_detail(subject: Subject) -> Iterator[Remark]:
    """Where details keys are registered, shared codes use registered ones: one name, one meaning."""
    registry = subject.taxonomy.detail_keys
    for code in subject.taxonomy.codes.values() if registry else ():
        for key in subject.data["codes"][code.name].get("details", {}):
            if key.removesuffix("?") not in registry:
                message = f"`{key.removesuffix('?')}` is not a registered details key"
                yield Remark(
                    ("codes", code.name, "details", key),
                    message,
                    "register it under `detail_keys:`",
                )


def detail_type(subject: Subject) -> Iterator[Remark]:
    """A details key has one type everywhere: the one it is registered with."""
    registry = subject.taxonomy.detail_keys
    for path, code in codes(subject.taxonomy):
        for name, member in code.details.items():
            wanted = registry[name].schema.types if name in registry else ()
            if wanted and member.schema.types and not set(member.schema.types) <= _wider(wanted):
                message = f"`{name}` is {' or '.join(member.schema.types)} here and registered as {' or '.join(wanted)}"
                yield Remark(
                    (*path, "details", _written(subject, path, name)),
                    message,
                    "write `{}` to take the registered type, or use another key",
                    related=(("registered here", ("detail_keys", name)),),
                )


def _wider(types: tuple[str, ...]) -> set[str]:
    return {*types, "integer"} if "number" in types else set(types)


def _written(subject: Subject, path: Path, name: str) -> str:
    """A details key as the author wrote it, with its `?` or without."""
    data: object = subject.data
    for step in (*path, "details"):
        data = data[step] if isinstance(data, dict) else {}
    return name if isinstance(data, dict) and name in data else f"{name}?"


def message_has_holes(subject: Subject) -> Iterator[Remark]:
    """A message is built from details that are always there, so that it never has a hole."""
    for path, code in live(subject.taxonomy):
        for key in re.findall(r"\$\{([^}]*)\}", code.message or ""):
            member = code.details.get(key)
            if member is None or member.presence != "required":
                message = f"the message needs `{key}`, which `{code.name}` need not carry"
                hint = f"require it (`details: {{{key}: {{}}}}`), or leave it out of the message"
                yield Remark((*path, "message"), message, hint, on_key=False)


def example_missing(subject: Subject) -> Iterator[Remark]:
    """Every live code has an example: readers copy it, and the compiler holds the schema to it."""
    for path, code in live(subject.taxonomy):
        if not code.examples:
            yield Remark(
                path, f"`{code.name}` has no example", "add `example: {message: …, details: {…}}`"
            )


def idle_internal_names(subject: Subject) -> Iterator[Remark]:
    """Names that stay inside are looked for: the detector of such names is among those asked for."""
    privacy = subject.taxonomy.privacy
    if privacy is not None and privacy.internal_names and "internal-name" not in privacy.detectors:
        message = "nothing looks for these names: `internal-name` is not among the detectors"
        yield Remark(("privacy", "internal_names"), message, "add `internal-name` to `detectors`")


#: What an example cannot contain by accident: canaries are planted by the suite.
_DETECTORS = tuple(name for name in DETECTORS if name != "canary")


def message_leaks(subject: Subject) -> Iterator[Remark]:
    """No message and no example shows what must not leave: addresses, paths, secrets, statements, names from inside."""
    privacy = subject.taxonomy.privacy
    kinds = (
        tuple(detector for detector in privacy.detectors if detector != "canary")
        if privacy
        else _DETECTORS
    )
    names = name_patterns(privacy.internal_names) if privacy else ()
    for path, code in codes(subject.taxonomy):
        texts: list[tuple[Path, str]] = [((*path, "message"), code.message)] if code.message else []
        for index, example in enumerate(code.examples):
            at = example_path(subject, path, index)
            if example.message is not None:
                texts.append(((*at, "message"), example.message))
            for part, values in (
                ("details", example.details or {}),
                ("slots", example.slots),
                ("headers", example.headers),
            ):
                texts += [
                    each
                    for each in _texts(values, (*at, part))
                    if not _exempt(each[0][len(at) + 1], code.passthrough)
                ]
        for where, text in texts:
            for leak in detect(text, kinds, names)[:1]:
                message = f"this text shows {leak.what}"
                yield Remark(
                    where,
                    message,
                    "clients see it: write what is safe, e.g. a domain below example.com",
                    on_key=False,
                )


def _exempt(name: str | int, passthrough: tuple[str, ...]) -> bool:
    return any(str(name) == each.removeprefix("details.") for each in passthrough)


def _texts(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, each in items:
        yield from _texts(each, (*path, step))


def untyped_detail(subject: Subject) -> Iterator[Remark]:
    """Every declared detail has a type, or generated code can promise nothing about it."""
    for name, key in subject.taxonomy.detail_keys.items():
        if _says_nothing(key.schema):
            yield Remark(
                ("detail_keys", name),
                f"`{name}` has no type",
                "add `type:`, or `enum:` or `vocabulary:`",
            )
    for path, code in codes(subject.taxonomy):
        for name, member in code.details.items():
            if _says_nothing(member.schema) and name not in subject.taxonomy.detail_keys:
                message = f"`{name}` has no type"
                yield Remark(
                    (*path, "details", _written(subject, path, name)),
                    message,
                    "add `type:`, or register it",
                )


def _says_nothing(schema: Schema) -> bool:
    """Whether any value is one of the schema, whatever is said in words."""
    return schema._replace(description=None) == Schema()
