"""Whether a match is the mailbox, the number or the name of a person."""

import re

from faultspec.leaks.evidence.context import text_after, text_before
from faultspec.leaks.evidence.placeholders import DOCUMENTATION_DOMAIN, FORM
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_PLACEHOLDER_NAME = Expression(
    r"^(?:(?:your|my|some|first|last)?[._-]?(?:user|name|username|first|last|surname|e?mail|address|someone|somebody|you|me|test|foo|bar|x+|(?:jane|john)[._-]?(?:doe|smith|public)|support|help|info|contact|no-?reply)[._-]?)+\d*$|^[a-z][._][a-z]$",
    re.I,
)
"""Placeholders before the @ in a message that explains the form of an address."""

_ROLE = frozenset(
    {
        *("info", "marketing", "sales", "support", "abuse", "noc", "security", "postmaster"),
        *("hostmaster", "usenet", "news", "webmaster", "www", "uucp", "ftp"),
        *("help", "helpdesk", "contact", "billing", "privacy", "legal", "feedback", "hello"),
        *("press", "noreply", "reply", "donotreply", "notifications", "alerts", "mailer"),
        *("bounce", "bounces", "service", "services", "care", "customercare", "accounts", "team"),
        *("payments", "invoices", "invoice", "accounting", "finance", "refunds", "returns"),
        *("orders", "shipping", "compliance", "gdpr", "dpo", "dsgvo", "trust", "fraud", "status"),
        *("api", "developer", "developers", "devrel", "integrations", "partners", "partner"),
        *("devops", "operations", "sre", "oncall", "incidents", "servicedesk", "frontdesk"),
        *("desk", "reception", "claims", "disputes", "complaints", "reservations", "webhooks"),
        *("kundeservice", "kundsupport", "hjelp", "tuki", "obsluga", "reklamacje", "apoio"),
        *("servicio", "reservas", "reclamaciones", "reclami", "beschwerde", "klachten", "podpora"),
        *("jobs", "careers", "office", "mail", "admissions", "booking", "bookings", "onboarding"),
        *("kontakt", "hilfe", "datenschutz", "kundenservice", "kundendienst", "rechnung"),
        *("buchhaltung", "aide", "assistance", "facturation", "serviceclient", "comptabilite"),
        *("soporte", "ayuda", "contacto", "facturacion", "privacidad", "suporte", "ajuda"),
        *("contato", "atendimento", "privacidade", "financeiro", "cobranca", "assistenza"),
        *("supporto", "klantenservice", "ondersteuning", "pomoc", "kundtjanst", "asiakaspalvelu"),
    }
)
"""Mailboxes of a role, which an error may name: those of RFC 2142 and other common ones."""

_ROLE_ENDING = Expression(r"(?:support|service|desk|helpline|reply|billing|soporte|suporte)$")
"""Last words of mailboxes of a role that are written as one word."""

_ASSET = frozenset({"png", "jpg", "jpeg", "svg", "gif", "webp", "css", "js"})
"""Endings of names like ``logo@2x.png``, which have the form of an address."""


_CALLER_BEFORE = Expression(
    r"\byou(?: are|'re| were| have)? (?:now |currently |already )?(?:signed|logged) in (?:as|with) [\"'`<]?$|\byou are authenticated as [\"'`<]?$|\byour (?:own |new |current |registered )?(?:e-?mail|mail|login|username|user name|account)(?: address| name)?(?: is)?[ :\"'`(<]{1,3}$",
    re.I,
)
_CALLER_AFTER = Expression(
    r"[\"'`>)]{0,2},? (?:who(?:m|se)? you|that you|which you|you (?:have )?(?:invited|entered|typed|sent|gave|added))\b",
    re.I,
)
"""Words around the mailbox of the caller, or one that the caller has sent."""

_MESSAGE_BEFORE = Expression(
    r"\b(?:message|content|thread)-?id[ :=\"'`(]{1,3}<?$|\b(?:in-reply-to|references)[ :=]{1,3}<?$",
    re.I,
)
"""Words before the id of a message (RFC 5322, 3.6.4), which has the form of a mailbox."""


def is_personal(match: re.Match[str]) -> bool:
    """Whether it is a person's mailbox, and not the end of a URL's user information."""
    if re.search(r"://[^\s/@]*$", text_before(match)):
        return False
    domain = match[0].rpartition("@")[2]
    local = match[0].rpartition("@")[0]
    words = re.split(r"[._-]", local.lower().partition("+")[0])
    before = text_before(match)
    if not any(map(str.isalpha, local)) or _MESSAGE_BEFORE.search(before):
        return False
    if _CALLER_BEFORE.search(before) or _CALLER_AFTER.match(text_after(match)):
        return False
    if not _ROLE.isdisjoint(words) or any(map(_ROLE_ENDING.search, words)):
        return False
    if DOCUMENTATION_DOMAIN.search(domain) and (
        _PLACEHOLDER_NAME.search(local) or FORM.search(text_before(match))
    ):
        return False
    return domain.rpartition(".")[2].lower() not in _ASSET


def is_international(match: re.Match[str]) -> bool:
    """Whether it is a person's mailbox with letters beyond ASCII (RFC 6531)."""
    return not match[0].isascii() and is_personal(match)


_REFUSED_NUMBER = Expression(
    r"[\"'`)]{0,2},? (?:is|are|was)? ?(?:not (?:a )?(?:valid|well|correct|of)|invalid|malformed|too (?:short|long)|wrong|required|unknown|has (?:a |an )?(?:wrong|invalid|bad)|fails?|does not (?:match|pass|exist)|must|should|needs|cannot be (?:parsed|read))",
    re.I,
)
"""Words after a number that the caller sent and that is of no person."""


def is_issued(match: re.Match[str]) -> bool:
    """Whether a number belongs to somebody: no words say that it is malformed."""
    return not _REFUSED_NUMBER.match(text_after(match))


_NOT_A_NAME = frozenset(
    {
        *("service", "services", "support", "center", "centre", "department", "team", "office"),
        *("human", "resources", "customer", "account", "accounts", "group", "company", "bank"),
        *("insurance", "management", "portal", "system", "api", "id", "number", "code", "type"),
        *("status", "record", "records", "data", "plan", "program", "programme", "policy", "house"),
        *("european", "american", "national", "federal", "state", "united", "north", "south"),
        *("east", "west", "new", "general", "international", "central", "standard", "premium"),
        *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
        *("october", "november", "december", "monday", "tuesday", "wednesday", "thursday"),
        *("friday", "saturday", "sunday", "not", "is", "was", "the", "no", "in", "on"),
        *("must", "can", "cannot", "has", "and", "or", "of", "for", "with", "to", "by", "from"),
        *("benefit", "benefits", "portfolio", "relationship", "success", "experience", "manager"),
        *("health", "care", "clinic", "hospital", "union", "card", "gold", "silver", "platinum"),
        *("holding", "holdings", "trading", "solutions", "systems", "media", "foods", "logistics"),
        *("partners", "consulting", "industries", "technologies", "labs", "studio", "agency"),
        *("test", "sample", "example", "demo", "agent", "project", "payment", "order", "product"),
        *("edition", "season", "award", "robot", "club", "hotel", "airlines", "university"),
    }
)
"""Words that begin with a capital and belong to the names of things."""


def is_name_of_person(match: re.Match[str]) -> bool:
    """Whether the words of a name are not those of a thing."""
    words = re.split(r"[\s.-]+", match["person"].lower())
    return _NOT_A_NAME.isdisjoint(words) and not re.search(
        r"\b(?:john|jane|max|erika|joe|jan|mario) (?:doe|smith|public|mustermann|bloggs|kowalski|rossi)\b",
        match["person"],
        re.I,
    )
