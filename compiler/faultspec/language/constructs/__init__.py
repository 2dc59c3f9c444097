"""The constructs of the language, each key with its explanation.

The explanation is the hint of a message, the description in editors, and the text of the
reference page.
"""

from faultspec.language.constructs.failures import CODE, DOMAIN_DEFAULTS, OPERATION
from faultspec.language.constructs.parts import (
    ACTION_VALUE,
    DETAIL,
    HEADER,
    NAME,
    SOURCE_KEY,
    STATUS_KEY,
    TERM,
    TERM_VALUE,
    domain_value,
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
from faultspec.language.grammar import (
    Anything,
    Choice,
    Either,
    Integer,
    Key,
    Many,
    Named,
    Nothing,
    Record,
    Text,
)

_PATH = Text(r"[a-z_]+(\.[^.]+)*", "a path such as codes or codes.*.message")

DOCUMENT = Record(
    "a taxonomy",
    {
        "faultspec": Key(Integer(1, 1), "The version of this language: 1.", True),
        "taxonomy": Key(
            Record(
                "the header",
                {
                    "name": Key(NAME, "The name of the taxonomy and of generated packages.", True),
                    "version": Key(
                        Text(
                            r"\d+\.\d+\.\d+(-[0-9A-Za-z.\-]+)?(\+[0-9A-Za-z.\-]+)?",
                            "a version such as 1.0.0",
                        ),
                        "The taxonomy's own semantic version.",
                        True,
                    ),
                    "title": Key(Text(), "The title for readers; default the name."),
                    "owner": Key(Text(), "The team that maintains it."),
                    "description": Key(Text(), "The scope of the taxonomy."),
                },
            ),
            "Name, version and owner.",
            True,
        ),
        "extends": Key(
            Text(),
            "The base of this taxonomy: a path relative to this file, in the same repository, or "
            "`package:name/path` in an installed package, which is not imported.",
        ),
        "extensible": Key(
            Many(_PATH, 1),
            "The paths that an extending taxonomy may change: it may add to mappings, and replace "
            "other values. If this taxonomy has a base, the base must list the path as well.",
        ),
        "overrides": Key(
            Named(
                Record(
                    "an override",
                    {
                        "value": Key(Anything(), "The value in place of the base's.", True),
                        "reason": Key(Text(), "Why this taxonomy decides otherwise.", True),
                    },
                ),
                _PATH,
                least=1,
            ),
            "Decisions in place of those of the base, by path. A ruling of the base allows the "
            "path (`allows`), or `extensible` of the base lists it.",
        ),
        "rulings": Key(
            Named(
                Record(
                    "a ruling",
                    {
                        "statements": Key(Many(Text()), "The statements that it concerns."),
                        "conflict": Key(Text(), "The contradiction or the open question.", True),
                        "decision": Key(Text(), "The decision for this taxonomy.", True),
                        "reason": Key(Text(), "Why.", True),
                        "allows": Key(
                            Many(_PATH, 1),
                            "The paths that an extending taxonomy may decide otherwise, under "
                            "`overrides`, each with all below it.",
                        ),
                    },
                ),
                TERM,
            ),
            "Decisions where the source document contradicts itself or leaves a question open.",
        ),
        "domains": Key(
            Named(domain_value(DOMAIN_DEFAULTS), NAME), "Groups of codes by the responsible party."
        ),
        "boundaries": Key(Named(TERM_VALUE, NAME), "The layers that produce errors."),
        "actions": Key(Named(ACTION_VALUE, NAME), "The closed vocabulary of recovery actions."),
        "vocabularies": Key(
            Named(Named(TERM_VALUE, TERM), NAME), "Other closed vocabularies, such as phases."
        ),
        "detail_keys": Key(
            Named(DETAIL_KEY, DETAIL),
            "The registry of details keys; a key has one type and one meaning everywhere.",
        ),
        "envelopes": Key(
            Named(ENVELOPE, NAME, least=1),
            "The shapes of error bodies, as pictures with slots.",
            True,
        ),
        "surfaces": Key(
            Named(SURFACE, NAME),
            "The places where errors occur, each with its envelopes and codes.",
        ),
        "headers": Key(Named(HEADER_RULES, HEADER), "Rules for response headers, by status."),
        "profile": Key(
            Choice(("rfc9110",)),
            "A profile of HTTP that services keep, besides the rules for headers. `rfc9110`: the "
            "headers and content that RFC 9110 requires of each status, and HEAD like GET.",
        ),
        "fallback": Key(
            Named(
                Record(
                    "a fallback",
                    {
                        "code": Key(
                            Either((Text(), Nothing())),
                            "The code for such a status; null: the status is not used.",
                            True,
                        ),
                        "reason": Key(Text(), "Why.", True),
                        "source": SOURCE_KEY,
                    },
                ),
                STATUS_KEY,
            ),
            "The codes for error statuses that no code claims.",
        ),
        "retry_policies": Key(Named(RETRY_POLICY, NAME), "The retry policies of clients."),
        "idempotency": Key(IDEMPOTENCY, "The rule that makes repeated writes safe."),
        "upstream": Key(UPSTREAM, "The rule for calls of services behind this one."),
        "codes": Key(Named(CODE, NAME, least=1), "The error codes.", True),
        "operations": Key(Named(OPERATION, NAME), "Operations, with error codes of their own."),
        "unknown": Key(UNKNOWN, "How a client treats an unknown code."),
        "undeclared": Key(UNKNOWN, "How a service reports an undeclared error."),
        "imported": Key(
            IMPORTED,
            "The names of codes that an importer makes from statuses: 404 of another service's "
            "operation becomes `HTTP_404`. Such a code is declared if its imported operation "
            "lists it under `errors`.",
        ),
        "renderings": Key(
            Named(RENDERING, NAME), "Renderings of errors as text, for readers without an envelope."
        ),
        "navigation": Key(
            NAVIGATION, "The steps that answers offer to callers, and the codes that refuse others."
        ),
        "audit": Key(AUDIT, "The audit record of every failure, and its look-up."),
        "discovery": Key(
            Named(PUBLICATION, NAME), "Where services publish their errors, actions or documents."
        ),
        "privacy": Key(PRIVACY, "What errors must not reveal."),
        "telemetry": Key(TELEMETRY, "Metrics, the log record, span attributes and alerts."),
        "obligations": Key(
            Named(
                Record(
                    "an obligation",
                    {
                        "text": Key(Text(), "The obligation.", True),
                        "reason": Key(Text(), "Why it cannot be checked from outside.", True),
                        "source": SOURCE_KEY,
                    },
                ),
                TERM,
            ),
            "Statements that cannot be checked from outside.",
        ),
    },
)
