"""What stands around an error: renderings, audit records, publications, navigation, imported codes."""

from faultspec.language.constructs.parts import MEANING, MEMBER, NAME, POINTER, SOURCE_KEY, TERM
from faultspec.language.grammar import Anything, Choice, Flag, Key, Named, Record, Text

RENDERING = Record(
    "a rendering",
    {
        "summary": Key(Text(), "For whom it is."),
        "given": Key(
            Named(Text(), NAME), "Values that the error does not know, each with what it is."
        ),
        "shape": Key(
            Anything(),
            "A picture as under `envelopes`; `${details.key}` and `${given}` stand in text too, and a line whose parameter "
            "is missing is left out.",
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
            "The slot that leads to the record.",
        ),
        "lookup": Key(
            Record(
                "a look-up",
                {
                    "request": Key(Text(), "`GET /path`, or the URI of a resource.", True),
                    "items": Key(
                        POINTER, "Where the list of records stands; default the whole answer."
                    ),
                    "id": Key(POINTER, "Where a record keeps the id."),
                    "order": Key(
                        Choice(("newest-first", "oldest-first")), "How the list is ordered."
                    ),
                },
            ),
            "How records are read back; left out where they can't be.",
        ),
        "record": Key(
            Named(MEMBER, TERM, optional=True, least=1), "The members of a record.", True
        ),
        "means": Key(
            Named(
                MEANING,
                TERM,
            ),
            "Which slot or detail of the error a member repeats.",
        ),
        "per": Key(
            Choice(("failure", "exchange")), "Whether successes are recorded too; default failure."
        ),
        "source": SOURCE_KEY,
    },
)

PUBLICATION = Record(
    "a publication",
    {
        "request": Key(Text(), "How it is asked for; `${operation}` is an operation's name.", True),
        "kind": Key(
            Choice(("errors", "openapi", "mcp-tools", "actions")), "What is published there.", True
        ),
        "at": Key(POINTER, "Where the list stands; default the whole answer."),
        "item": Key(
            Named(
                POINTER,
                Text(r"code|summary|http|details", "code, summary, http or details"),
                least=1,
            ),
            "Where an item of the list keeps what.",
        ),
        "empty": Key(
            Choice(("list", "absent", "null")),
            "What stands there when there is nothing; default list.",
        ),
        "source": SOURCE_KEY,
    },
)

NAVIGATION = Record(
    "the navigation",
    {
        "offers": Key(
            POINTER, "Where an answer, success or refusal, lists what may come next.", True
        ),
        "takes": Key(POINTER, "Where a request says what it wants.", True),
        "refused": Key(Text(), "The code of what exists and is not offered.", True),
        "unknown": Key(Text(), "The code of what does not exist."),
        "all": Key(
            Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $known_actions"),
            "The slot that lists all there is.",
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
            "What such a code looks like; `${status}` is the status that it travels under.",
            True,
        ),
        "retriable": Key(Flag(), "Whether they may be sent again; default false."),
        "source": SOURCE_KEY,
    },
)
