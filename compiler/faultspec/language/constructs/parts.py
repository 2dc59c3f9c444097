"""Parts of many constructs: names, statuses, sources, conditions, and the subset of JSON Schema."""

from collections.abc import Mapping

from faultspec.language.grammar import (
    Choice,
    DeferredKind,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Nothing,
    Number,
    Record,
    Text,
    Type,
)

NAME = Text(
    r"[A-Za-z_][A-Za-z0-9_]*", "a name (letters, digits and underscores, not starting with a digit)"
)
TERM = Text(r"[A-Za-z_][A-Za-z0-9_.\-]*", "a name (letters, digits, `_`, `.` and `-`)")
OF_DETAILS = r"[A-Za-z_@.][A-Za-z0-9_@.:/\-]*"
DETAIL = Text(OF_DETAILS, "a detail (letters, digits and `_.@:/-`, not starting with a digit)")
HEADER_VALUE = Text(r"[^\x00-\x08\x0a-\x1f\x7f]*", "the value of a header, which has no line ends")
HEADER = Text(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+", "a header name (RFC 9110 token)")
LOCALE = Text(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", "a language tag such as de or pt-BR (BCP 47)")
POINTER = Text(r"(/([^~/]|~[01])*)*", "a JSON Pointer such as /error/details (RFC 6901)")
DURATION = Either(
    (
        Text(r"(\d+(\.\d+)?(ms|s|m|h|d)|P.+)", "a duration such as 250ms, 2s, 5m, 24h or PT24H"),
        Number(0),
    )
)
STATUS = Either(
    (
        Integer(100, 599),
        Text(r"[1-5]xx|[1-5]\d\d(-[1-5]\d\d)?", "a status such as 429, 5xx or 502-504"),
    )
)
STATUSES = Either((Integer(100, 599), STATUS.branches[1], Many(STATUS, 1)))
STATUS_KEY = Text(r"[1-5]xx|[1-5]\d\d(-[1-5]\d\d)?", "a status such as 405, 4xx or 502-504")
WORDS = Either((Text(), Many(Text(), 1)))
MEANING = Text(
    r"\$[A-Za-z_][A-Za-z0-9_]*|details\." + OF_DETAILS,
    "a slot such as $code, or details.<key>",
)
MEDIA_TYPE = Text(
    r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+/[A-Za-z0-9!#$%&'*+.^_`|~\-]+( *;.*)?",
    "a media type such as application/json",
)
SCALAR = Either((Text(blank=True), Number(), Flag(), Nothing()))

SOURCE = Either(
    (
        Text(),
        Many(Text(), 1),
        Record(
            "a source",
            {
                "statement": Key(WORDS, "The ids of the statements in the source document."),
                "section": Key(
                    Text(),
                    "A section of the source document, or of a standard such as `RFC 9110 "
                    "§15.5.6`.",
                ),
                "ruling": Key(
                    WORDS, "The rulings that decided this, by their names under `rulings`."
                ),
                "note": Key(Text(), "A note for readers of the rule."),
            },
        ),
    )
)
SOURCE_KEY = Key(SOURCE, "The origin of this rule: statement ids, a section, or a ruling.")

URL = Text(r"https?://[^\s<>\"`{}|\\^]+", "a URL such as https://example.com/errors")

#: The facts of a code for people: a domain gives defaults.
SUPPORT_KEYS = {
    "owner": Key(Text(), "The team that answers for it; default the owner of the taxonomy."),
    "runbook": Key(URL, "The URL of its runbook, for operators."),
    "docs": Key(URL, "The URL of its documentation, for callers."),
    "fault": Key(
        Choice(("caller", "service", "dependency")),
        "The side whose fault it is: the caller, the service, or a service behind it.",
    ),
}

_TERM_KEYS = {
    "summary": Key(Text(), "The meaning, in one sentence.", True),
    "lifecycle": Key(
        Choice(("stable", "deprecated", "reserved")),
        "`reserved`: part of the vocabulary, and not used in messages yet.",
    ),
    "source": SOURCE_KEY,
}
TERM_VALUE = Either((Text(), Record("a term", _TERM_KEYS)))


def domain_value(defaults: Mapping[str, Key]) -> Either:
    """A domain: a term with default keys of its codes."""
    keys = {
        **_TERM_KEYS,
        "defaults": Key(
            Record("defaults of codes", defaults),
            "What the codes of the domain have unless they say otherwise.",
        ),
    }
    return Either((Text(), Record("a domain", keys)))


ACTION_VALUE = Either(
    (
        Text(),
        Record(
            "a recovery action",
            {
                **_TERM_KEYS,
                "sends_again": Key(
                    Flag(),
                    "The action repeats the failed request. If any action has this flag, a "
                    "retriable error suggests one that has it.",
                ),
            },
        ),
    )
)

CONDITION = Named(
    Either(
        (Text(blank=True), Number(), Flag(), Many(Either((Text(blank=True), Number(), Flag())), 1))
    ),
    Text(
        r"status|cause|operation\.idempotent|caller\.authenticated|details\." + OF_DETAILS,
        "a fact: status, cause, operation.idempotent, caller.authenticated or details.<key>",
    ),
    least=1,
)

_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


def schema_type() -> Type:
    """The type of a schema, which contains itself."""
    return SCHEMA


def member_type() -> Type:
    """The type of a member, which contains itself."""
    return MEMBER


SCHEMA_KEYS = {
    "type": Key(
        Either((Choice(_TYPES), Many(Choice(_TYPES), 1))), "The JSON type, or a list of types."
    ),
    "description": Key(Text(), "The meaning of the value."),
    "format": Key(
        WORDS, "A format such as uuid7, ulid, date-time or uri; a list allows any of them."
    ),
    "pattern": Key(Text(), "A regular expression (ECMA-262, unanchored) that the string matches."),
    "enum": Key(Many(SCALAR, 1), "The allowed values."),
    "vocabulary": Key(
        Text(),
        "The vocabulary of the string: `actions`, `boundaries`, `domains` or one of "
        "`vocabularies`.",
    ),
    "minimum": Key(Number(), "The least number allowed."),
    "maximum": Key(Number(), "The greatest number allowed."),
    "minLength": Key(Integer(0), "The fewest characters allowed."),
    "maxLength": Key(Integer(0), "The most characters allowed."),
    "items": Key(DeferredKind("schema", schema_type), "The schema of every item of an array."),
    "properties": Key(
        Named(DeferredKind("member", member_type), optional=True),
        "The members of an object; a key ending in `?` is optional.",
    ),
    "additional": Key(
        Choice(("forbid", "warn", "allow")),
        "How undeclared members are treated: as errors, as warnings, or not at all.",
    ),
    "sensitive": Key(
        Flag(), "The value is for the caller only: logs, traces and reports show a mask."
    ),
}
SCHEMA = Record("a schema", SCHEMA_KEYS)
MEMBER = Record(
    "a member",
    {
        **SCHEMA_KEYS,
        "expected": Key(Flag(), "The member SHOULD be present; its absence is a warning."),
        "source": SOURCE_KEY,
    },
)

_KEY_PLACE = Record(
    "a place of the key",
    {
        "header": Key(HEADER, "The request header with the key."),
        "path": Key(
            Text(r"[^{}/]+", "the name of a placeholder, without braces"),
            "The placeholder of the route with the key, such as `key` of `/payments/{key}`. No "
            "request lacks such a key, so `missing` is not declared beside it.",
        ),
        "query": Key(Text(r".+", "the name of a parameter"), "The query parameter with the key."),
        "body": Key(
            Text(r"(/([^~/]|~[01])+)+", "a JSON Pointer such as /client_token (RFC 6901)"),
            "The member of the request body with the key, by JSON Pointer.",
        ),
    },
)

KEY_PLACE = Either((HEADER, _KEY_PLACE))

OWN_KEY = Key(
    KEY_PLACE,
    "The place of the idempotency key in its requests, if it is another than `idempotency.key`. "
    "That of an operation counts before that of its surface.",
)
