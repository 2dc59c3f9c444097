"""Renderings, audit records, publications, navigation and imported codes."""

from faultspec.language.constructs.parts import MEANING, MEMBER, NAME, POINTER, SOURCE_KEY, TERM
from faultspec.language.grammar import Anything, Choice, Flag, Key, Named, Record, Text

RENDERING = Record(
    "a rendering",
    {
        "summary": Key(Text(), "The readers of the rendering."),
        "given": Key(
            Named(Text(), NAME), "Values from outside the error, each with a description."
        ),
        "shape": Key(
            Anything(),
            "A picture as under `envelopes`. Texts may also contain `${details.key}` and given "
            "values; a line with a missing parameter is left out.",
            True,
        ),
        "source": SOURCE_KEY,
    },
)

AUDIT = Record(
    "the audit contract",
    {
        "id": Key(
            Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $audit_id"),
            "The slot with the id of the record.",
        ),
        "lookup": Key(
            Record(
                "a look-up",
                {
                    "request": Key(Text(), "`GET /path`, or the URI of a resource.", True),
                    "items": Key(
                        POINTER, "The place of the list of records; default the whole answer."
                    ),
                    "id": Key(POINTER, "The place of the id in a record."),
                    "order": Key(
                        Choice(("newest-first", "oldest-first")), "The order of the list."
                    ),
                },
            ),
            "How records are read back, if they can be.",
        ),
        "record": Key(
            Named(MEMBER, TERM, optional=True, least=1), "The members of a record.", True
        ),
        "means": Key(
            Named(
                MEANING,
                TERM,
            ),
            "The slot or detail of the error that a member repeats.",
        ),
        "per": Key(
            Choice(("failure", "exchange")),
            "Whether every exchange is recorded, or failures only; default failure.",
        ),
        "source": SOURCE_KEY,
    },
)

PUBLICATION = Record(
    "a publication",
    {
        "request": Key(
            Text(), "The request for it; `${operation}` is the name of an operation.", True
        ),
        "kind": Key(
            Choice(("errors", "openapi", "mcp-tools", "actions")), "The kind of publication.", True
        ),
        "at": Key(POINTER, "The place of the list; default the whole answer."),
        "item": Key(
            Named(
                POINTER,
                Text(r"code|summary|http|details", "code, summary, http or details"),
                least=1,
            ),
            "The places of members in an item of the list.",
        ),
        "empty": Key(
            Choice(("list", "absent", "null")),
            "The form of an empty list; default list.",
        ),
        "source": SOURCE_KEY,
    },
)

NAVIGATION = Record(
    "the navigation",
    {
        "offers": Key(POINTER, "The place in any answer of the list of possible next steps.", True),
        "takes": Key(POINTER, "The place of the requested step in a request.", True),
        "refused": Key(Text(), "The code for a step that exists and is not offered.", True),
        "unknown": Key(Text(), "The code for a step that does not exist."),
        "all": Key(
            Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $known_actions"),
            "The slot that lists all steps.",
        ),
        "source": SOURCE_KEY,
    },
)

IMPORTED = Record(
    "imported codes",
    {
        "pattern": Key(
            Text(
                r"[A-Za-z0-9_.\-]*\$\{status\}[A-Za-z0-9_.\-]*",
                "text with ${status} in it, such as HTTP_${status}",
            ),
            "The form of such a code, in which `${status}` is its status.",
            True,
        ),
        "retriable": Key(Flag(), "Whether the requests may be repeated; default false."),
        "source": SOURCE_KEY,
    },
)
