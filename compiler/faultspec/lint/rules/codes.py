"""Lint rules about codes: their names, wire values and messages, and how they reach a client."""

import keyword
import re
from collections.abc import Iterable, Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.carriers import uses_envelope
from faultspec.language.model import Code, Surface, Taxonomy
from faultspec.language.pictures import message_parameters
from faultspec.lint.rule import Remark, Subject, rule

_SPELLINGS = (
    ("lower_snake_case", re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")),
    ("UPPER_SNAKE_CASE", re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")),
    ("PascalCase", re.compile(r"([A-Z][a-z0-9]*)+")),
    ("camelCase", re.compile(r"[a-z][a-z0-9]*([A-Z][a-z0-9]*)*")),
)


@rule("mixed-spelling", severity="warning")
def mixed_spelling(subject: Subject) -> Iterator[Remark]:
    """All codes use the same spelling.

    Bad::

        codes:
          not_found: {summary: It is not there., http: 404}
          too_large: {summary: It is too much., http: 413}
          Failed: {summary: It failed., http: 500}

    Good::

        codes:
          not_found: {summary: It is not there., http: 404}
          too_large: {summary: It is too much., http: 413}
          failed: {summary: It failed., http: 500}
    """
    names = tuple(subject.taxonomy.codes)
    fitting = {
        style: [name for name in names if pattern.fullmatch(name)] for style, pattern in _SPELLINGS
    }
    style, found = max(fitting.items(), key=lambda item: len(item[1]))
    if len(found) * 2 <= len(names):
        return  # no spelling has a majority that the other codes could follow
    matching = frozenset(found)
    for name in names:
        if name not in matching:
            message = f"`{name}` is not in {style}; the other codes are"
            yield Remark(("codes", name), message, f"spell it in {style}")


#: The reserved words of ECMAScript 2025 and TypeScript that Python does not have.
_TYPESCRIPT = """
    case catch const debugger default delete do enum export extends function implements instanceof
    interface let new null package private protected public static super switch this throw typeof
    undefined var void
"""
_RESERVED = frozenset((*keyword.kwlist, *_TYPESCRIPT.split()))

#: Reserved words that a code in PascalCase would become.
_CONSTANTS = frozenset({"none", "true", "false"})


@rule("reserved-name", severity="warning")
def reserved_name(subject: Subject) -> Iterator[Remark]:
    """Names become identifiers of generated code, so no name is a reserved word of Python or
    TypeScript.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, details: {class: {type: string}}}

    Good::

        codes:
          failed: {summary: It failed., http: 500, details: {kind: {type: string}}}
    """
    taxonomy = subject.taxonomy
    names: list[tuple[Path, str]] = [(("taxonomy", "name"), taxonomy.name)]
    names += [(("detail_keys", name), name) for name in taxonomy.detail_keys]
    for path, code in subject.codes():
        if code.name in _RESERVED or code.name.lower() in _CONSTANTS:
            yield _reserved_word(path, code.name)
        keys = subject.mapping_at(*path, "details")
        names += [((*path, "details", key), key.removesuffix("?")) for key in keys]
    for path, name in names:
        if name in _RESERVED:
            yield _reserved_word(path, name)


def _reserved_word(path: Path, name: str) -> Remark:
    message = f"`{name}` is a reserved word of Python or TypeScript"
    return Remark(path, message, "choose another name", on_key=path != ("taxonomy", "name"))


@rule("name-collision", severity="error")
def name_collision(subject: Subject) -> Iterator[Remark]:
    """Names become identifiers of generated code, so no two names differ only in case or
    underscores.

    Bad::

        codes:
          not_found: {summary: It is not there., http: 404}
          NotFound: {summary: It is not there either., http: 410}

    Good::

        codes:
          not_found: {summary: It is not there., http: 404}
          gone: {summary: It is not there any more., http: 410}
    """
    taxonomy = subject.taxonomy
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("codes", taxonomy.codes),
        ("detail_keys", taxonomy.detail_keys),
        ("envelopes", taxonomy.envelopes),
        ("surfaces", taxonomy.surfaces),
    )
    for section, names in sections:
        first_names: dict[str, str] = {}
        for name in names:
            first = first_names.setdefault(name.replace("_", "").casefold(), name)
            if first != name:
                yield Remark(
                    (section, name),
                    f"`{name}` and `{first}` differ only in case or underscores",
                    "rename one of them",
                    related=((f"`{first}` is here", (section, first)),),
                )


@rule("wire-reused", severity="error")
def wire_reused(subject: Subject) -> Iterator[Remark]:
    """The wire value of an operation's code is not that of a shared code, live or removed.

    Bad::

        codes:
          declined: {summary: It was declined., lifecycle: removed}
        operations:
          pay:
            errors:
              card_declined: {summary: The bank said no., wire: declined, http: 402}

    Good::

        codes:
          declined: {summary: It was declined., lifecycle: removed}
        operations:
          pay:
            errors:
              card_declined: {summary: The bank said no., http: 402}
    """
    taxonomy = subject.taxonomy
    shared = {code.wire: code for code in taxonomy.codes.values()}
    for path, code in subject.codes():
        if path[0] != "operations" or _is_imported(code, taxonomy):
            continue
        other, value, key = shared.get(code.wire), code.wire, "wire"
        if other is None or other.name == code.name:
            other, value, key = _same_identity(code, taxonomy)
        if other is None:
            continue
        removed = "removed " if other.lifecycle == "removed" else ""
        owner = f"the {removed}code `{other.name}`"
        message = f"`{code.name}` reuses `{value}`, the wire value of {owner}"
        yield Remark(
            subject.first_written(path, key),
            message,
            f"give the operation's code another `{key}:`",
            related=((f"`{other.name}` is here", ("codes", other.name)),),
        )


def _same_identity(code: Code, taxonomy: Taxonomy) -> tuple[Code | None, str | int, str]:
    """The other shared code with the same value in an envelope, with that value and its key."""
    for name, value in code.identities.items():
        envelope = taxonomy.envelopes[name]
        for other in taxonomy.codes.values():
            if (
                other.name != code.name
                and uses_envelope(other, envelope)
                and other.wire_in(envelope) == value
            ):
                return other, value, "on"
    return None, code.wire, "wire"


@rule("identity-without-surface", severity="warning")
def identity_without_surface(subject: Subject) -> Iterator[Remark]:
    """A value of the code slot under `on:` is for a transport that a surface has.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, on: {jsonrpc: -32001}}

    Good::

        envelopes:
          error: {shape: {code: $code, message: $message}}
          rpc: {shape: {error: {code: $code, message: $message}}}
        surfaces:
          api: {transport: http, envelope: error}
          calls: {transport: jsonrpc, error_when: {present: /error}, envelope: rpc}
        codes:
          failed: {summary: It failed., http: 500, on: {jsonrpc: -32001}}
    """
    transports = {
        surface.transport for surface in subject.taxonomy.surfaces.values() if surface.envelopes
    }
    for path, code in subject.codes():
        for transport, value in subject.mapping_at(*path, "on").items():
            is_mark = isinstance(value, dict) and transport == "mcp" and "code" not in value
            if transport in transports or transport == "grpc" or is_mark:
                continue
            message = f"`{code.name}` has a value on `{transport}`, but no surface is on it"
            yield Remark(
                (*path, "on", transport),
                message,
                f"remove it, or declare the surface with `transport: {transport}`",
            )


def _is_imported(code: Code, taxonomy: Taxonomy) -> bool:
    """Whether an importer made the code from one of its statuses; no service sends such a code."""
    imported = taxonomy.imported
    return imported is not None and any(
        imported.code(status) == code.wire for status in code.http.allowed_statuses()
    )


@rule("imported-form", severity="error")
def imported_form(subject: Subject) -> Iterator[Remark]:
    """A code named like an imported one, such as `HTTP_404`, has the status in its name.

    Bad::

        codes:
          failed: {summary: It failed., http: 500}
        operations:
          pay: {errors: {HTTP_402: {summary: The bank said no., http: 403}}}
        imported: {pattern: "HTTP_${status}"}

    Good::

        codes:
          failed: {summary: It failed., http: 500}
        operations:
          pay: {errors: {HTTP_402: {summary: The bank said no., http: 402}}}
        imported: {pattern: "HTTP_${status}"}
    """
    imported = subject.taxonomy.imported
    if imported is None:
        return
    for path, code in subject.codes():
        of_form = path[0] == "operations" and imported.has_form(code.wire)
        if of_form and not _is_imported(code, subject.taxonomy):
            message = (
                f"`{code.wire}` has the form of imported codes, `{imported.pattern}`, but does not"
                " travel as the status in its name"
            )
            hint = "name the code after its cause, or give it the status of its name"
            yield Remark(path, message, hint)


@rule("code-without-transport", severity="error")
def code_without_transport(subject: Subject) -> Iterator[Remark]:
    """A code that is neither reserved nor removed has an HTTP status, a gRPC status, or a surface
    of another transport.

    Bad::

        codes:
          lost: {summary: Nobody hears of it., http: null, http_reason: It is internal.}

    Good::

        codes:
          lost: {summary: Workers hear of it., http: null, http_reason: It is internal.,
              on: {grpc: ABORTED}}
    """
    for path, code in subject.live_codes():
        elsewhere = any(
            surface.transport != "http" and _is_allowed_on(surface, path, code)
            for surface in subject.taxonomy.surfaces.values()
        )
        if not code.http.carried_statuses and not code.grpc and not elsewhere:
            message = (
                f"`{code.name}` cannot be sent: it has no HTTP status and no gRPC status, and no"
                " surface other than HTTP allows it"
            )
            hint = "give it an HTTP status, or name its carrier under `on:`"
            yield Remark(subject.first_written(path, "http"), message, hint)


@rule("code-on-no-surface", severity="warning")
def code_on_no_surface(subject: Subject) -> Iterator[Remark]:
    """Every live code is allowed on a surface that has an envelope.

    Bad::

        surfaces:
          api: {transport: http, envelope: error, codes: [refused]}
        codes:
          refused: {summary: It was refused., http: 400}
          failed: {summary: It failed., http: 500}

    Good::

        surfaces:
          api: {transport: http, envelope: error, codes: closed}
        codes:
          refused: {summary: It was refused., http: 400}
          failed: {summary: It failed., http: 500}
    """
    surfaces = subject.taxonomy.surfaces.values()
    for path, code in subject.live_codes():
        if not any(_is_allowed_on(surface, path, code) for surface in surfaces):
            message = f"no surface allows `{code.name}`"
            yield Remark(path, message, "add it to the `codes` of a surface")


def _is_allowed_on(surface: Surface, path: Path, code: Code) -> bool:
    """Whether errors on `surface` may have the code; the codes of operations always may."""
    return bool(surface.envelopes) and (
        surface.codes is None or path[0] == "operations" or code.name in surface.codes
    )


@rule("uneven-messages", severity="error", local=True)
def uneven_messages(subject: Subject) -> Iterator[Remark]:
    """The message of a code uses the same details in every language.

    Bad::

        codes:
          limited:
            summary: Too many requests.
            message: "The limit is ${limit}"
            messages: {de: Das Limit ist erreicht}
            http: 429
            details: {limit: {type: integer}}

    Good::

        codes:
          limited:
            summary: Too many requests.
            message: "The limit is ${limit}"
            messages: {de: "Das Limit ist ${limit}"}
            http: 429
            details: {limit: {type: integer}}
    """
    for path, code in subject.codes():
        wanted = set(message_parameters(code.message))
        for locale, text in code.messages.items():
            used = set(message_parameters(text))
            for key in sorted(used ^ wanted):
                place = "lacks" if key in wanted else "alone uses"
                message = f"the message of `{code.name}` in `{locale}` {place} `${{{key}}}`"
                hint = "use the same details in `message` and in `messages`"
                yield Remark((*path, "messages", locale), message, hint, on_key=False)


@rule("message-has-holes", severity="error", local=True)
def message_has_holes(subject: Subject) -> Iterator[Remark]:
    """A message uses required details only, so that every placeholder is filled.

    Bad::

        codes:
          limited:
            summary: Too many requests.
            message: "The limit is ${limit}"
            http: 429
            details: {limit?: {type: integer}}

    Good::

        codes:
          limited:
            summary: Too many requests.
            message: "The limit is ${limit}"
            http: 429
            details: {limit: {type: integer}}
    """
    for path, code in subject.live_codes():
        for key in message_parameters(code.message):
            member = code.details.get(key)
            if member is None or member.presence != "required":
                message = (
                    f"the message uses `{key}`, which is not a required detail of `{code.name}`"
                )
                hint = f"require it (`details: {{{key}: {{}}}}`), or remove it from the message"
                yield Remark((*path, "message"), message, hint, on_key=False)
