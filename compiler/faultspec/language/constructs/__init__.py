"""The constructs of the language, each key with its explanation.

That one text is the hint of a message, the description in the editor and the sentence of the reference page.
"""

from faultspec.language.constructs.failures import CODE, OPERATION
from faultspec.language.constructs.parts import (
    ACTION_VALUE,
    HEADER,
    NAME,
    SOURCE_KEY,
    STATUS_KEY,
    TERM,
    TERM_VALUE,
)
from faultspec.language.constructs.policies import (
    IDEMPOTENCY,
    PRIVACY,
    RETRY_POLICY,
    TELEMETRY,
    UNKNOWN,
    UPSTREAM,
)
from faultspec.language.constructs.surroundings import (
    AUDIT,
    IMPORTED,
    NAVIGATION,
    PUBLICATION,
    RENDERING,
)
from faultspec.language.constructs.wire import DETAIL_KEY, ENVELOPE, HEADER_RULES, SURFACE
from faultspec.language.grammar import Either, Integer, Key, Many, Named, Nothing, Record, Text

DOCUMENT = Record(
    "a taxonomy",
    {
        "faultspec": Key(Integer(1, 1), "The version of this language: 1.", True),
        "taxonomy": Key(
            Record(
                "the header",
                {
                    "name": Key(
                        NAME, "The taxonomy's name; generated packages are called after it.", True
                    ),
                    "version": Key(
                        Text(
                            r"\d+\.\d+\.\d+(-[0-9A-Za-z.\-]+)?(\+[0-9A-Za-z.\-]+)?",
                            "a version such as 1.0.0",
                        ),
                        "The taxonomy's own semantic version.",
                        True,
                    ),
                    "title": Key(Text(), "What people call it."),
                    "owner": Key(Text(), "The team that decides."),
                    "description": Key(Text(), "What it covers."),
                },
            ),
            "Name, version and owner.",
            True,
        ),
        "extends": Key(
            Text(),
            "The taxonomy that this one is laid over: a path from here, or `package:name/path` in an installed package.",
        ),
        "extensible": Key(
            Many(Text(r"[a-z_]+(\.[^.]+)*", "a path such as codes or codes.*.message"), 1),
            "What a taxonomy that extends this one may touch: to a mapping it may add, anything else it may replace. "
            "What this one extends has to allow it too.",
        ),
        "rulings": Key(
            Named(
                Record(
                    "a ruling",
                    {
                        "statements": Key(Many(Text()), "The statements it is about."),
                        "conflict": Key(Text(), "What contradicts, or what is left open.", True),
                        "decision": Key(Text(), "What holds here.", True),
                        "reason": Key(Text(), "Why.", True),
                    },
                ),
                TERM,
            ),
            "Decisions on what the document contradicts or leaves open.",
        ),
        "domains": Key(Named(TERM_VALUE, NAME), "Groups of codes by responsibility."),
        "boundaries": Key(Named(TERM_VALUE, NAME), "The layers that produce errors."),
        "actions": Key(Named(ACTION_VALUE, NAME), "The closed vocabulary of recovery actions."),
        "vocabularies": Key(
            Named(Named(TERM_VALUE, TERM), NAME), "Other closed vocabularies, e.g. phases."
        ),
        "detail_keys": Key(
            Named(DETAIL_KEY, NAME),
            "The registry of details keys: one name, one meaning, everywhere.",
        ),
        "envelopes": Key(Named(ENVELOPE, NAME, least=1), "Pictures of the wire.", True),
        "surfaces": Key(Named(SURFACE, NAME), "Where each envelope applies."),
        "headers": Key(Named(HEADER_RULES, HEADER), "Response headers by status."),
        "fallback": Key(
            Named(
                Record(
                    "a fallback",
                    {
                        "code": Key(
                            Either((Text(), Nothing())),
                            "The code such a status travels with; null: the status is not used.",
                            True,
                        ),
                        "reason": Key(Text(), "Why.", True),
                        "source": SOURCE_KEY,
                    },
                ),
                STATUS_KEY,
            ),
            "The code of each error status that no code claims.",
        ),
        "retry_policies": Key(Named(RETRY_POLICY, NAME), "How clients retry."),
        "idempotency": Key(IDEMPOTENCY, "How a write is made safe to send again."),
        "upstream": Key(UPSTREAM, "How services behind this one are called."),
        "codes": Key(Named(CODE, NAME, least=1), "The failures.", True),
        "operations": Key(Named(OPERATION, NAME), "Operations with failures of their own."),
        "unknown": Key(UNKNOWN, "What a client does with a code it does not know."),
        "undeclared": Key(UNKNOWN, "What a service does with an error it did not declare."),
        "imported": Key(
            IMPORTED,
            "The form of the codes that an importer makes of the statuses of another service's operations. It declares none: each is among "
            "the `errors` of the operation that was imported, or it is an undeclared code like any other.",
        ),
        "renderings": Key(
            Named(RENDERING, NAME), "Errors as text, for readers without an envelope."
        ),
        "navigation": Key(NAVIGATION, "How callers walk: what is offered may be taken."),
        "audit": Key(AUDIT, "The record of every failure, and where it is looked up."),
        "discovery": Key(Named(PUBLICATION, NAME), "Where services publish what they declare."),
        "privacy": Key(PRIVACY, "What must not leave."),
        "telemetry": Key(TELEMETRY, "Metrics, log record, span attributes and alerts."),
        "obligations": Key(
            Named(
                Record(
                    "an obligation",
                    {
                        "text": Key(Text(), "What is owed.", True),
                        "reason": Key(Text(), "Why nobody can check it from outside.", True),
                        "source": SOURCE_KEY,
                    },
                ),
                TERM,
            ),
            "Statements nobody can check from outside.",
        ),
    },
)
