"""What stands in many constructs: names, statuses, sources, conditions, and values in the subset of JSON Schema."""

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
HEADER_VALUE = Text(r"[^\x00-\x08\x0a-\x1f\x7f]*", "the value of a header, which has no line ends")
HEADER = Text(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+", "a header name (RFC 9110 token)")
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
    r"\$[A-Za-z_][A-Za-z0-9_]*|details\.[A-Za-z_][A-Za-z0-9_]*",
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
                "statement": Key(
                    WORDS, "The ids of the document's statements this rule comes from."
                ),
                "section": Key(
                    Text(),
                    "The section of the document, or of a standard such as `RFC 9110 §15.5.6`.",
                ),
                "ruling": Key(WORDS, "The entry of `rulings` that decided this, or several."),
                "note": Key(Text(), "Anything a reader of the rule should know."),
            },
        ),
    )
)
SOURCE_KEY = Key(SOURCE, "Where this comes from: statement ids, a section, or a ruling.")

_TERM_KEYS = {
    "summary": Key(Text(), "What it means, in one sentence.", True),
    "lifecycle": Key(
        Choice(("stable", "deprecated", "reserved")),
        "`reserved` terms exist in the vocabulary and on no wire.",
    ),
    "source": SOURCE_KEY,
}
TERM_VALUE = Either((Text(), Record("a term", _TERM_KEYS)))
ACTION_VALUE = Either(
    (
        Text(),
        Record(
            "a recovery action",
            {
                **_TERM_KEYS,
                "sends_again": Key(
                    Flag(),
                    "Taking it sends again what failed. Where an action says so, a retriable error suggests one that does.",
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
        r"status|cause|operation\.idempotent|caller\.authenticated|details\.[A-Za-z_][A-Za-z0-9_]*",
        "a fact: status, cause, operation.idempotent, caller.authenticated or details.<key>",
    ),
    least=1,
)

_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


def schema() -> Type:
    """The type of a schema, which holds itself."""
    return SCHEMA


def member() -> Type:
    """The type of a member, which holds itself."""
    return MEMBER


SCHEMA_KEYS = {
    "type": Key(
        Either((Choice(_TYPES), Many(Choice(_TYPES), 1))), "The JSON type, or a list of them."
    ),
    "description": Key(Text(), "What the value means."),
    "format": Key(
        WORDS, "An identifier format such as uuid7, ulid, date-time, uri; a list means any of them."
    ),
    "pattern": Key(Text(), "A regular expression (ECMA-262, unanchored) the string must match."),
    "enum": Key(Many(SCALAR, 1), "The closed list of values."),
    "vocabulary": Key(
        Text(),
        "The vocabulary (`actions`, `boundaries` or one of `vocabularies`) the string comes from.",
    ),
    "minimum": Key(Number(), "The smallest number allowed."),
    "maximum": Key(Number(), "The largest number allowed."),
    "minLength": Key(Integer(0), "The fewest characters allowed."),
    "maxLength": Key(Integer(0), "The most characters allowed."),
    "items": Key(DeferredKind("schema", schema), "The schema of every item of an array."),
    "properties": Key(
        Named(DeferredKind("member", member), optional=True),
        "The members of an object; a key ending in `?` is optional.",
    ),
    "additional": Key(
        Choice(("forbid", "warn", "allow")),
        "What an undeclared member is: an error, a warning, or nothing.",
    ),
}
SCHEMA = Record("a schema", SCHEMA_KEYS)
MEMBER = Record(
    "a member",
    {
        **SCHEMA_KEYS,
        "expected": Key(Flag(), "The member SHOULD be there: its absence is a warning."),
        "source": SOURCE_KEY,
    },
)
