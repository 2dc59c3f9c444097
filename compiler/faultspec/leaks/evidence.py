"""Second checks on a match: whether it is a leak or only looks like one."""

import base64
import ipaddress
import re
from collections import Counter
from collections.abc import Callable
from math import log2

from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_DOCUMENTATION_DOMAIN = Expression(
    r"^(?:.*\.)?(?:example|test|invalid|localhost)$|^(?:example|company|domain|yourdomain|your-domain|yourcompany|your-company|email)\.(?:com|org|net|edu)$|\.tld$",
    re.I,
)
"""Domains reserved for documentation (RFC 2606, RFC 6761). Test data uses them too, so an address
there is an example only with a placeholder before the @."""

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

_VERSION = Expression(
    r"\b(?:v|versions?|releases?|builds?|revisions?|firmware|ver\.?)[\"'`]?\W{1,4}(?:(?:\d{1,9}\.){1,5}\d{1,9}\W{1,3}(?:(?:and|or|to|through|until)\W)?){0,3}$",
    re.I,
)
"""Words before four numbers that are a version."""

_EXAMPLE = Expression(
    r"\b(?:for example|for instance|example|e\.g\.|eg|i\.e\.|such as|like this)[ ,:=\"'`(\[]{0,5}$",
    re.I,
)
"""Words before an example that explains a form."""

_OR_LATER = Expression(
    r"[\"'`]? (?:or|and) (?:later|newer|higher|above|older|earlier|lower|below)\b", re.I
)
"""Words after numbers that are a version."""

_BLOCK = Expression(r"/\d{1,2}(?![\w/.-])")
"""The length of a network's prefix: rules name blocks, which are not addresses of machines."""

_HOST_BEFORE = Expression(
    r"(?://|@|\b(?:host|hostname|server|upstream|proxy|gateway|resolver?|resolving|lookup|dial|dialing|reach|reaching|contact|contacting|unreachable|(?:connect|connected|connecting|connection|request|requests|call|response|timeout|redirect) (?:to|from|by|with)|enotfound|getaddrinfo|eai_again)(?: (?:host|address|server))?[ :=\"'`(\[]{1,4})$",
    re.I,
)
_HOST_AFTER = Expression(
    r":\d{2,5}\b|/\w|[\"'`)]{0,2},? (?:refused|timed? out|unreachable|did not (?:respond|answer)|(?:is )?(?:un|not )(?:reachable|available|resolvable)|is (?:down|offline)|could not be (?:reached|resolved)|closed the connection|:\d)",
    re.I,
)
"""Words around the name of a host, and never around that of a field."""

_FIELD_BEFORE = Expression(
    r"\b(?:field|property|attribute|parameter|param|argument|key|member|setting|option|column|variable|element|path|pointer|at|in|for)s?[ :=\"'`(\[]{1,4}$",
    re.I,
)
_FIELD_AFTER = Expression(
    r"[\"'`)\]]{0,2}:? {0,2}(?:(?:is|are|was|were|has|have|does|do|must|may|should|can|cannot|needs?|expects?|requires?|contains?|value|field|property)\b|: [A-Z]|=|\[)"
)
"""Words around the name of a field. `order.address.local` may be either."""

_SURE_HOST = Expression(
    r"\.(?:svc|cluster\.local|compute\.internal|ec2\.internal|c\.[\w-]{1,60}\.internal)$", re.I
)
"""Names that clusters and clouds give to machines."""

_ROUTE_BEFORE = Expression(
    r"\b(?:get|head|post|put|patch|delete|options|routes?|endpoints?|urls?|uris?|links?|href|resources?|pages?)(?: (?:for|to|at|named|is|matches|matching))?[ :=\"'`(]{0,4}$",
    re.I,
)
"""Words before the path of a URL."""

_METHODS_BEFORE = Expression(
    r"\b(?:methods?|requests?|calls?)\b[^\n.]{0,20} (?:for|to|on|of|at) [\"'`]?$", re.I
)
_REPOSITORY_AFTER = Expression(
    r"[^\n]{0,30}\b(?:in|of|from) (?:your|the) (?:\w{1,20} )?(?:repository|repo|branch|commit|pull request|workspace|pipeline|project|archive|bundle|upload|zip)\b"
)
"""Words after a file that the caller keeps with the service."""

_METHODS_AFTER = Expression(
    r"[\"'`)]{0,2}:? [\w ]{0,30}\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\b"
)
"""Words around the path of a URL, of sentences about its methods."""

_ERROR_NAMES = frozenset(
    {"code", "codes", "err", "error", "errors", "fault", "faults", "http", "status"}
)
"""``errors.internal`` is the name of an error, not of a host."""

_PLACEHOLDER = Expression(
    r"^[*•<\[{$%]|^[xX]{3}|^\.{3}|^(?:null|none|undefined|true|false|required|missing|invalid|redacted|filtered|masked|hidden|change_?me)(?!\S)"
    r"|^(?:your|my|insert|replace|enter|example|sample|dummy|placeholder|some|the)[._-]|(?-i:^[A-Z]{2,}(?:[_-][A-Z]{2,}){1,8}\d{0,6}$)"
    r"|^(.)\1{5}|[*•]{3}|[xX]{6}|\.{3}$|^os\.(?:getenv|environ)|^process\.env",
    re.I,
)
"""Values that stand for a secret."""

_UUID = Expression(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_IDENTIFIER = Expression(r"[0-7][0-9A-HJKMNP-TV-Z]{25}|\d{4}-\d\d-\d\d[T ].*|[\d.,:-]+")
"""ULIDs, dates and numbers, which are values of keys and no keys."""

_ORDINARY_NAME = Expression(
    r"(?<![A-Za-z])(?:page|next|prev|previous|cursor|continuation|continue|sync|start|end|pagination|resume|idempotency|primary|foreign|partition|sort|range|hash|public"
    r"|object|routing|cache|unique|natural|compound|map|row|record|message|event|group|dedup(?:lication)?|csrf|xsrf|error|i18n|translation|registry|author"
    r"|publishable|site)[._ -]?(?:key|token|id|value|auth)?$|^(?:key|keys|auth|author|monkey|turkey|hockey|keyword)$|_keys?_id$|oauth$",
    re.I,
)
"""Names that end like those of secrets: tokens of pages, keys of records."""

_CLEAR_NAME = Expression(
    r"secret|passw|pwd|api[._-]?key|access[._-]?(?:key|token)|auth[._-]?token|private[._-]?key|credential",
    re.I,
)
"""Names of nothing but secrets, whose value may have any form."""


def _text_before(match: re.Match[str], most: int = 60) -> str:
    """The text just before a match."""
    return match.string[max(0, match.start() - most) : match.start()]


def _text_after(match: re.Match[str], most: int = 40) -> str:
    """The text just after a match."""
    return match.string[match.end() : match.end() + most]


def is_address(match: re.Match[str]) -> bool:
    """Whether it is an IPv4 address, not a version or a block of addresses."""
    if any(int(octet) > 255 for octet in match[0].split(".")):
        return False
    before, after = _text_before(match), _text_after(match)
    if before.endswith("//"):
        return True
    return not any(
        (
            _BLOCK.match(after),
            _OR_LATER.match(after),
            _VERSION.search(before),
            _EXAMPLE.search(before),
        )
    )


def is_ipv6(match: re.Match[str]) -> bool:
    """Whether it is an IPv6 address."""
    try:
        ipaddress.IPv6Address(match[0])
    except ValueError:
        return False
    return is_real(match)


def is_real(match: re.Match[str]) -> bool:
    """Whether it is not introduced as an example."""
    return not _EXAMPLE.search(_text_before(match))


def is_loopback(match: re.Match[str]) -> bool:
    """Whether a loopback address is outside every URL: the URLs of a server under test contain
    one.
    """
    return not re.search(r"https?://$", _text_before(match), re.I)


def is_host(match: re.Match[str]) -> bool:
    """Whether it is a host and not a field, by the words around it or by its form."""
    labels = match[0].lower().split(".")
    if labels[0] in _ERROR_NAMES:
        return False
    before, after = _text_before(match), _text_after(match)
    if (
        (_SURE_HOST.search(match[0]) and len(labels) > 2)
        or _HOST_BEFORE.search(before)
        or _HOST_AFTER.match(after)
    ):
        return True
    names = [label for label in labels[:-1] if not label.isdigit()]
    if any("-" in name or re.search(r"[a-z]\d", name) for name in names):
        return True
    return len(names) > 1 and not (_FIELD_BEFORE.search(before) or _FIELD_AFTER.match(after))


_POINTER_BEFORE = Expression(
    r"\b(?:field|pointer|property|attribute|member|element|items?|param|parameter|schema|keyword|json ?path)s?[ :=\"'`(\[]{1,4}$"
    r"|[\"'](?:pointer|instance|instance_?path|data_?path|schema_?path|json_?pointer|field|loc|location|\$ref)\\?[\"']\s?:\s?\\?[\"']#?$|#$",
    re.I,
)
"""Words and member names before a JSON Pointer (RFC 6901; RFC 9457 names ``instance``)."""

_POINTER = Expression(r"~[01]|^(?!/proc/|/dev/)(?:/[\w~-]{1,60}){1,2}/(?:\d{1,4}|-)(?:/|$)")
"""The signs of a JSON Pointer: escapes, and positions in a list."""


_POINTER_AFTER = Expression(
    r"[\"'`)\]]{0,2} (?:(?:field|property|member|attribute|element|parameter|value)s?\b|must\b|should be\b|is required|is not of type|has to be|contains an invalid|does not match the (?:pattern|schema))"
)
"""Words after a JSON Pointer, of sentences about its value."""


def is_file_path(match: re.Match[str]) -> bool:
    """Whether it is a file's path, not that of a URL or a JSON Pointer, by the words before it."""
    before = _text_before(match)
    place = match.groupdict().get("place") or match[0]
    return not (
        _ROUTE_BEFORE.search(before)
        or _METHODS_BEFORE.search(before)
        or _METHODS_AFTER.match(_text_after(match))
        or _REPOSITORY_AFTER.match(_text_after(match, 60))
        or _POINTER_BEFORE.search(before)
        or _POINTER.search(place)
        or _POINTER_AFTER.match(_text_after(match))
    )


def is_key(match: re.Match[str]) -> bool:
    """Whether a key follows the vendor's prefix: `sk-test-item-2` is an item."""
    return not re.fullmatch(
        r"(?=.*[a-z])(?:[a-z]{1,12}|\d{1,4})(?:[-_](?:[a-z]{1,12}|\d{1,4})){0,20}",
        match["value"] or "X",
    )


_CREDENTIALS = Expression(r"^[^:]{1,30}://([^:/@]*):([^/@]*)@\[?([^/:?#\]);,]*)")
_PLACEHOLDER_WORD = Expression(
    r"<?[{$]{0,2}(?:db|my|your|the|some)?[_-]?(?:user|username|login|name|admin|pass|password|passwd|pwd|pw|secret|token|apikey|api[_-]key|x+|foo|bar|_)[}>]{0,2}",
    re.I,
)
_PLACEHOLDER_HOST = Expression(
    r"<?[{$]{0,2}(?:(?:db|database|your|my|the|some)[_-]?)?(?:host|hostname|server|localhost|127\.0\.0\.1|address|ip|domain|your-[\w-]{1,60}|(?:[\w-]{1,60}\.)*(?:example|test|invalid)(?:\.(?:com|net|org|edu))?)[}>]{0,2}",
    re.I,
)


def is_real_url(match: re.Match[str]) -> bool:
    """Whether it differs from URLs in documentation, such as ``postgres://user:password@host/db``.

    A masked password leaks nothing; the address of a backing service has a pattern of its own.
    """
    parts = _CREDENTIALS.match(match[0])
    if parts is None:
        host = re.sub(r":\d{2,5}$", "", match[0].partition("://")[2].partition("/")[0])
        return not (_PLACEHOLDER_HOST.fullmatch(host) or _PLACEHOLDER.search(host))
    user, password, host = parts.groups()
    if _PLACEHOLDER.search(password):
        return (
            bool(match.re.flags & re.I)
            and not _PLACEHOLDER_HOST.fullmatch(host)
            and not _PLACEHOLDER.search(host)
        )
    named = _PLACEHOLDER_WORD.fullmatch(password) is not None
    return not (
        _PLACEHOLDER_HOST.fullmatch(host)
        and (
            (named and (not user or _PLACEHOLDER_WORD.fullmatch(user)))
            or ("example." in host and password.isalpha())
        )
    )


_PARAMETER = r"(?:out |ref |in |params )?[A-Z][\w.`<>&*?\[\],]{0,100} \w{1,60}"
_PARAMETERS = Expression(rf"{_PARAMETER}(?:, {_PARAMETER}){{0,30}}")
_PRIMITIVE = Expression(
    r"\b(?:String|Int(?:16|32|64)|Boolean|Object|Guid|Double|Decimal|DateTime|Byte)\b|[\]`&]"
)


def is_frame(match: re.Match[str]) -> bool:
    """Whether it is a .NET frame, which has types of parameters; otherwise it is a sentence."""
    name, parameters = match["name"], match["parameters"]
    deep = name.count(".") > 1 or bool(re.search(r"[<>`]|\.ctor$", name))
    line = _text_before(match).rpartition("\n")[2]
    if not parameters:
        return deep or (len(line) > 1 and line.isspace())
    return bool(_PARAMETERS.fullmatch(parameters)) and (
        deep or not line.strip() or bool(_PRIMITIVE.search(parameters))
    )


_FORM = Expression(
    r"(?:\b(?:for example|for instance|e\.g\.|eg|such as|like|format|form|sample|example)[ ,:=\"'`(\[]{0,5}|\bmailto:)$",
    re.I,
)
"""Words before an address that explains the form of one."""


def is_personal(match: re.Match[str]) -> bool:
    """Whether it is a person's mailbox, and not the end of a URL's user information."""
    if re.search(r"://[^\s/@]*$", _text_before(match)):
        return False
    domain = match[0].rpartition("@")[2]
    local = match[0].rpartition("@")[0]
    words = re.split(r"[._-]", local.lower().partition("+")[0])
    if not _ROLE.isdisjoint(words) or any(map(_ROLE_ENDING.search, words)):
        return False
    if _DOCUMENTATION_DOMAIN.search(domain) and (
        _PLACEHOLDER_NAME.search(local) or _FORM.search(_text_before(match))
    ):
        return False
    return domain.rpartition(".")[2].lower() not in _ASSET


def is_international(match: re.Match[str]) -> bool:
    """Whether it is a person's mailbox with letters beyond ASCII (RFC 6531)."""
    return not match[0].isascii() and is_personal(match)


_EXAMPLE_BUCKET = Expression(
    r"^(?:(?:my|your|the|some|test|example)[-.]?)?(?:bucket|example|path)\b", re.I
)


def is_real_bucket(match: re.Match[str]) -> bool:
    """Whether a bucket has a name that documentation does not use."""
    return not _EXAMPLE_BUCKET.search(match["place"]) and is_real(match)


def is_value(match: re.Match[str]) -> bool:
    """Whether the value is not a placeholder."""
    return not _PLACEHOLDER.search(match["value"])


def is_own_value(match: re.Match[str]) -> bool:
    """Whether the value is not a placeholder, nor the word for one."""
    return is_value(match) and not _PLACEHOLDER_WORD.fullmatch(match["value"])


def is_random(match: re.Match[str]) -> bool:
    """Whether the value may be a key: it has letters and digits."""
    value = match["value"]
    return is_value(match) and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_as_random_as(bits: float) -> Callable[[re.Match[str]], bool]:
    """Accept tokens with at least ``bits`` of entropy per character; placeholders have fewer."""

    def accept(match: re.Match[str]) -> bool:
        return _entropy(match[1] if match.re.groups and match[1] else match[0]) >= bits

    return accept


def _entropy(token: str) -> float:
    """Bits of entropy per character."""
    return -sum(n / len(token) * log2(n / len(token)) for n in Counter(token).values())


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def is_assigned(match: re.Match[str]) -> bool:
    """Whether a value that is assigned to a name is a secret, by both."""
    name, value = match["name"], match["value"]
    if _LEXICAL.search(_text_before(match)) or _ORDINARY_NAME.search(_snake_case(name)):
        return False
    if _PLACEHOLDER.search(value) or _IDENTIFIER.fullmatch(value):
        return False
    if (
        "://" in value
        or value.startswith("/")
        or re.fullmatch(r"[a-z]+\d?(?:[._-][a-z]+\d?)*", value)
    ):
        return False
    if _CLEAR_NAME.search(name):
        mixed = not (value.islower() or value.isupper()) and _entropy(value) >= 4
        return mixed or (_entropy(value) >= 2.8 and any(letter.isdigit() for letter in value))
    is_uuid = _UUID.fullmatch(value) is not None and not name.lower().endswith("token")
    return not is_uuid and is_random(match) and _entropy(value) >= 3


def is_spoken(match: re.Match[str]) -> bool:
    """Whether a word after the name of a secret is one: with digits, letters and much entropy."""
    return (
        not _ORDINARY_NAME.search(_snake_case(match["name"]))
        and not _IDENTIFIER.fullmatch(match["value"])
        and not _UUID.fullmatch(match["value"])
        and is_random(match)
        and _entropy(match["value"]) >= 3.2
        and not re.fullmatch(r"(?:[A-Za-z]+[-_./])*[A-Za-z]+\d{0,4}", match["value"])
    )


def is_mixed(match: re.Match[str]) -> bool:
    """Whether a token has digits and letters in a mixture that no name has."""
    token = match[0]
    return (
        any(letter.isdigit() for letter in token)
        and any(letter.isalpha() for letter in token)
        and _entropy(token) >= 3
    )


def is_pod(match: re.Match[str]) -> bool:
    """Whether the two random parts of a pod's name follow a name, and are not words or a UUID."""
    start = match.start()
    before = match.string[max(0, start - 64) : start]
    name = re.search(r"(?<![\w./:-])[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$", before)
    replica, _, own = match[0][1:].partition("-")
    return (
        name is not None
        and any(letter.isdigit() for letter in replica)
        and any(letter.isalpha() for letter in replica)
        and any(
            letter.isdigit() or letter not in "bcdfghjklmnpqrstvwxz" for letter in replica + own
        )
    )


def is_container(match: re.Match[str]) -> bool:
    """Whether it is the id of a container: hexadecimal with digits and letters."""
    number = re.search(r"[0-9a-f]{12,64}$", match[0], re.I)
    if number is None:
        return True
    return any(c.isdigit() for c in number[0]) and any(c.isalpha() for c in number[0])


def is_long_random(match: re.Match[str]) -> bool:
    """Whether the value after a word such as "token" is random, and not a parser's or a page's
    token.
    """
    return (
        is_random(match) and is_as_random_as(3)(match) and not _LEXICAL.search(_text_before(match))
    )


_LEXICAL = Expression(
    r"\b(?:unexpected|unrecognized|illegal|unknown|page|cursor|sync|next|continuation)[ _-]$", re.I
)
"""Words before tokens of parsers and of pages."""


def is_credentials(match: re.Match[str]) -> bool:
    """Whether it decodes to the name and password of HTTP basic authentication."""
    raw = match["value"].rstrip("=")
    try:
        name, colon, password = (
            base64.b64decode(raw + "=" * (-len(raw) % 4), validate=True).decode().partition(":")
        )
    except ValueError:
        return False
    return bool(colon) and (name + password).isprintable()


_PUBLIC_NAME = Expression(
    r"\b(?:scopes?|permissions?|event(?: type)?s?|fields?|members?|propert(?:y|ies)|attributes?|parameters?|error codes?|codes?|resource types?|features?|i18n|translations?|bundle(?: id)?|app)[ :=\"'`(\[]{1,4}$",
    re.I,
)
"""Words before a dotted name that belongs to the contract of an API."""


def is_code_name(match: re.Match[str]) -> bool:
    """Whether a dotted name is one of the program and not of its contract."""
    first = match[0].partition(".")[0].lower()
    return first not in {*_ERROR_NAMES, "messages", "i18n", "events", "www", "docs"} and not (
        _PUBLIC_NAME.search(_text_before(match)) or _text_before(match).endswith(("://", "@"))
    )


_ANY_HOST = Expression(
    r"(?:localhost|hosts?|hostname|server|servername|domain|example|test|invalid|tenant|subdomain|address|url|uri|path|website|site|www|foo|bar|baz|[a-z]|x+|(?:your|my|some|the)[\w-]*|[\w-]*(?:example|placeholder))(?::\d+)?",
    re.I,
)
"""Hosts of documentation, and the machine of the reader."""


def is_store(match: re.Match[str]) -> bool:
    """Whether the host of a store is outside the domains of documentation."""
    host = match[0].rpartition(":")[0].rpartition("@")[2]
    return not _PLACEHOLDER_HOST.fullmatch(host)


def is_internal_name(match: re.Match[str]) -> bool:
    """Whether a host and port name a machine that only the service's network knows."""
    place = match["place"]
    return not _ANY_HOST.fullmatch(place) and not re.search(
        r"\.(?:com|net|org|io|dev|app|co|de|fr|eu|example|test)(?::|$)", place
    )


def is_outside_documentation(match: re.Match[str]) -> bool:
    """Whether a host is outside the domains that RFC 2606 keeps for documentation."""
    host = match[0].rpartition("://")[2].partition(":")[0]
    return not _DOCUMENTATION_DOMAIN.search(host) and not re.search(
        r"(?:^|\.)example\.(?:com|net|org)$", host, re.I
    )


def is_named_file(match: re.Match[str]) -> bool:
    """Whether a file in a sentence of the system is not a route of the API."""
    return not _ROUTE_BEFORE.search(_text_before(match))


_MACHINE = Expression(
    r"(?:db|pg|sql|mysql|postgres|redis|mongo|rabbit(?:mq)?|kafka|cache|mail|smtp|ldap|gateway|gw|lb|proxy|backend|svc|srv|es|elastic|queue|auth|vault|zk|etcd|nats|minio|prod|stg|staging|uat)\d{0,3}",
    re.I,
)
"""Words in the names of machines."""


def is_machine(match: re.Match[str]) -> bool:
    """Whether a part of a name is a word that names a machine's role."""
    return any(map(_MACHINE.fullmatch, match["place"].split("-")))


def is_internal_url(match: re.Match[str]) -> bool:
    """Whether a URL has a host without a domain, and explains no form."""
    before = _text_before(match)
    explains = re.search(
        r"\b(?:redirect|callback|format|form|like|origin|scheme)\b", before, re.I
    ) or _EXAMPLE.search(before)
    return not _ANY_HOST.fullmatch(match["place"]) and not explains


_REQUIRED_BEFORE = Expression(
    r"\b(?:requires?|needs?|at least|minimum|supports?|supported|upgrade to|update to|compatible with|since|from|artifact|artefact|package|chart|plugin|tag|branch|theme|uploaded|user[- ]agent:?|for|sdk|client)[ :\"'`(]{1,4}$",
    re.I,
)
_REQUIRED_AFTER = Expression(
    r"[\"'`)]{0,2},? (?:or|and|is required|are required|is (?:no longer )?supported|is not supported|is no longer|is the default|is not (?:offered|available|among)|image|compatible|sdk|client|required|has been retired|is deprecated)",
    re.I,
)


def is_banner(match: re.Match[str]) -> bool:
    """Whether a name with a version is a banner, not a requirement or a user agent."""
    line = match.string[max(0, match.start() - 200) : match.start()]
    return not (
        _REQUIRED_BEFORE.search(_text_before(match))
        or ("/" not in match[0] and _REQUIRED_AFTER.match(_text_after(match)))
        or "Mozilla/" in line
    )


_RECORD = Expression(
    r"^(?:req|request|res|order|ord|trace|span|txn|tx|transaction|inv|invoice|case|ticket|ref|id|evt|event|msg|message|doc|file|user|usr|cust|customer|acct|account|session|sess|corr|correlation|batch|run|cart|prod|product|item|sku|pay|payment|ship|sub|plan|token|key)(?:-|$)"
)
"""First parts of the ids of records."""


def is_replica(match: re.Match[str]) -> bool:
    """Whether a name with two random parts is that of a pod, and not the id of a record."""
    replica, own = match["replica"], match["own"]
    return (
        _RECORD.match(match["name"]) is None or "svc" in match["name"] or "service" in match["name"]
    ) and (
        (replica.isdigit() or any(letter.isalpha() for letter in replica))
        and any(letter.isdigit() for letter in replica + own)
        and any(letter.isalpha() for letter in own)
        and re.search(r"[a-z]{3}", match["name"]) is not None
    )


def is_session(match: re.Match[str]) -> bool:
    """Whether the value of a cookie is random: it has digits and letters, and some entropy."""
    value = match["value"]
    return is_random(match) and not _UUID.fullmatch(value) and _entropy(value) >= 2.3


_PART = r"(?:[A-Za-z]{2,}\d{0,2}|v\d+|\d{1,4})"
"""A part of a name: a word, also with a short number, a version or a year."""

_PUBLIC_VALUE = Expression(
    r"(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[a-z]{2,6}_[A-Za-z0-9]{8,40}|pk_\w+|[0-9a-f]{24}|eyJ[\w-]+={0,2}|\d[\d.,:TZ+-]*|(?:[A-Za-z]+[-_./~])*[A-Za-z]+\d{0,6}"
    rf"|(?:{_PART}[/._~-])*{_PART})",
)
"""Ids of records, publishable keys, cursors, dates, words, and names such as
`oauth2/google/contacts`.
"""


def is_token(match: re.Match[str]) -> bool:
    """Whether a word after the name of a secret is random, and not an id, a date, a path or a
    name.
    """
    value = match["value"]
    return not (
        _PLACEHOLDER.search(value)
        or _PUBLIC_VALUE.fullmatch(value)
        or _LEXICAL.search(_text_before(match))
        or value.startswith("/")
        or "//" in value
        or _IDENTIFIER.fullmatch(value)
        or _entropy(value) < 3.2
    )


def is_password(match: re.Match[str]) -> bool:
    """Whether a text after the name of a password is one, and not a placeholder or a rule."""
    value = match["quoted"] or match["bare"] or match["pair"] or match["after"] or ""
    if _PLACEHOLDER.search(value) or _PLACEHOLDER_WORD.fullmatch(value):
        return False
    return any(letter.isdigit() for letter in value) or bool(re.search(r"[!@#$%^&?]", value))


_STANDARD = Expression(
    r"(?:oauth|saml|sha|http|ipv|utf|mp|h|x|base|tls|ssl|md|es|rs|hs|ps|ed|v|s|ec|p|aes)-?\d[\d._]{0,5}\w{0,3}(?:-[a-z]{2,12})?",
    re.I,
)
"""Names of standards with a number, such as OAuth2."""


def _classes(value: str) -> int:
    """How many of small letters, capitals, digits and signs a value has."""
    tests = (str.islower, str.isupper, str.isdigit, lambda letter: letter in "!@#$%^&*?+~_=|")
    return sum(any(map(test, value)) for test in tests)


def _groups(match: re.Match[str], *names: str) -> str:
    """The first of the named groups that took part in a match, without a sentence's full stop."""
    groups = match.groupdict()
    return next((groups[name] for name in names if groups.get(name)), "").rstrip(".:")


def is_strong_password(match: re.Match[str]) -> bool:
    """Whether a value has the form of a password: letters with digits or signs."""
    value = _groups(match, "quoted", "value")
    if (
        len(value) < 5
        or not any(map(str.isalpha, value))
        or _PLACEHOLDER.search(value)
        or _PLACEHOLDER_WORD.fullmatch(value)
        or _STANDARD.fullmatch(value)
        or _UUID.fullmatch(value)
        or _IDENTIFIER.fullmatch(value)
        or re.search(r"[\^\\]|://|^/|^[(\[]|[{},.]\d|\(\?", value)
    ):
        return False
    signs = any(map(str.isdigit, value)) or re.search(r"[!@#$%^&*?+]", value) is not None
    if match.groupdict().get("quoted"):
        return signs or _changes(value) > 1
    digits = sum(map(str.isdigit, value))
    return _classes(value) > 2 or (signs and digits > 1 and not re.match(r"\d+[\w-]*$", value))


def is_mixed_password(match: re.Match[str]) -> bool:
    """Whether a word that follows the word for a password directly has letters, digits and more."""
    value = _groups(match, "value")
    return (
        is_strong_password(match)
        and _classes(value) > 2
        and any(map(str.isdigit, value))
        and not re.fullmatch(r"[A-Z][a-z]+[-_]?\d+(?:[-_.]\w+)*", value)
    )


def is_mixed_value(match: re.Match[str]) -> bool:
    """Whether an argument of a command is a secret: it has digits or signs, and letters."""
    value = _groups(match, "value", "other")
    return (
        not _PLACEHOLDER.search(value)
        and not _PLACEHOLDER_WORD.fullmatch(value)
        and any(map(str.isalpha, value))
        and any(letter.isdigit() or letter in "!@#$%^&*?+" for letter in value)
    )


def is_value_of_variable(match: re.Match[str]) -> bool:
    """Whether a value beside the name of a setting is a secret: random, or with two classes."""
    value = match["value"].rstrip(".")
    name = match[0].partition(" ")[0]
    if (
        _PLACEHOLDER.search(value)
        or re.search(r"(?:PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|IDEMPOTENCY|CACHE)_", name)
        or re.fullmatch(r"[A-Z][A-Z0-9_]*|[a-z]+(?:[._ -][a-z]+)*|[\d.,:-]+", value)
        or "://" in value
        or value.startswith("/")
    ):
        return False
    return _classes(value) > 1 and (
        any(map(str.isdigit, value)) or _classes(value) > 2 or _changes(value) > 2
    )


def _changes(value: str) -> int:
    """How often a small letter is followed by a capital, as in random text."""
    return len(re.findall(r"[a-z][A-Z]", value))


def is_hexadecimal_key(match: re.Match[str]) -> bool:
    """Whether the digits of a key are not all the same."""
    return len(set(match["value"])) > 4


_OWN_CODE = Expression(
    r"\b(?:(?:your|this|the (?:custom|saved|submitted|uploaded)|custom|saved) (?:\w{1,20} )?(?:script|formula|macro|snippet|expression|template|code|cell|function|notebook|flow|transformation)s?|snippet|formula|lint rule)\b[^\n.]{0,60}$",
    re.I,
)
"""Words before an error or a statement in a program that the caller wrote."""


def is_code_of_service(match: re.Match[str]) -> bool:
    """Whether it is code of the service, and not of a program that the caller wrote."""
    return not _OWN_CODE.search(_text_before(match, 90))


def is_bound(match: re.Match[str]) -> bool:
    """Whether an address of all interfaces is one that the service listens on."""
    return not re.search(
        r"\b(?:must|may|should|can(?:not)?|not|never|allow(?:s|ed)?|callback|redirect\w*|url|uri|webhook|origin)\b",
        _text_before(match),
        re.I,
    )


_REFUSED_NUMBER = Expression(
    r"[\"'`)]{0,2},? (?:is|are|was)? ?(?:not (?:a )?(?:valid|well|correct|of)|invalid|malformed|too (?:short|long)|wrong|required|unknown|has (?:a |an )?(?:wrong|invalid|bad)|fails?|does not (?:match|pass|exist)|must|should|needs|cannot be (?:parsed|read))",
    re.I,
)
"""Words after a number that the caller sent and that is of no person."""


def is_issued(match: re.Match[str]) -> bool:
    """Whether a number belongs to somebody: no words say that it is malformed."""
    return not _REFUSED_NUMBER.match(_text_after(match))


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


def is_hidden_place(match: re.Match[str]) -> bool:
    """Whether the host in an address of a backend is not one of documentation."""
    host = re.split(r"[:/,?]", match["place"].rpartition("@")[2])[0]
    return (
        not _PLACEHOLDER_HOST.fullmatch(host)
        and not _DOCUMENTATION_DOMAIN.search(host)
        and not _PLACEHOLDER.search(match["place"])
        and not re.search(r"(?:^|\.)example(?:\.|$)", host)
        and is_real(match)
        and not _FORM.search(_text_before(match))
    )


def is_numbered_machine(match: re.Match[str]) -> bool:
    """Whether the last word is a machine's name: a word and a number, and not of an order."""
    name = re.split(r"[ \"'`]", match[0])[-1]
    words = re.findall(r"[a-z]+", name)
    return any(
        _MACHINE.fullmatch(word)
        or word in {"app", "web", "node", "host", "api", "worker", "vm", "ip", "edge", "server"}
        for word in words
    )


def is_server_banner(match: re.Match[str]) -> bool:
    """Whether two products with versions are a server's banner, and not the caller's agent."""
    before = match.string[max(0, match.start() - 200) : match.start()]
    return (
        "Mozilla/" not in before + match[0]
        and not re.search(r"\b(?:agents?|clients?|browsers?|sdk|app|apps)\b", before, re.I)
        and match[0].count(".") > 2
        and not re.match(r"(?:HTTP|TLS|SSL|IPP|RTSP|SIP|OpenAPI|JSON|XML)/", match[0])
    )


_FILE_BEFORE = Expression(
    r"(?:\b(?:in|from|see|check|reading|read|opening|open|load(?:ing)?|edit|via|pars(?:e|ing)|include|config(?:uration)? file|found|missing)|[/\\(]) ?[\"'`]?$",
    re.I,
)
_FILE_AFTER = Expression(
    r"[\"'`)]?(?:,? (?:not found|missing|is missing|could not|cannot be (?:read|opened|parsed|loaded)|was not found|(?:on |at )?line \d|permission|is (?:not |un)(?:readable|writable))|:\d|: (?:no such|permission|not found|line))",
    re.I,
)
"""Words around a file that the service reads."""


def is_file_of_server(match: re.Match[str]) -> bool:
    """Whether a configuration file is one that the service reads, by the words around it."""
    return bool(
        _FILE_BEFORE.search(_text_before(match)) or _FILE_AFTER.match(_text_after(match))
    ) and not _REPOSITORY_AFTER.match(_text_after(match, 60))


def is_real_jdbc(match: re.Match[str]) -> bool:
    """Whether a JDBC URL names a host, and not the word for one."""
    host = re.split(r"[:/;,?]", match[0].partition("://")[2])[0]
    return (
        not host
        or not (_PLACEHOLDER_HOST.fullmatch(host) or _PLACEHOLDER.search(host))
        or ("password=" in match[0].lower())
    )


_TITLE_BEFORE = Expression(
    r"\b(?:question|ticket|lesson|article|topic|post|issue|course|video|page|card|task|thread|title|note|book|chapter|quiz|playlist|comment|discussion|subject|song|film|workshop|talk|exam|recipe|album|survey)s? (?:called |named |titled )?(?P<quote>[\"“«‘'`])[^\"”»\n\x00]{0,100}$",
    re.I,
)
_TITLE_AFTER = Expression(r"[^\"”»'`\n\x00]{0,100}[\"”»’'`]")
_OWN_PROGRAM = Expression(
    r"\byour (?:submitted |own )?(?:program|submission|solution|script|macro|notebook|formula)\b|\byour code (?:did not|does not|failed to|could not|stopped|raised|threw|ended|crashed)\b|\bexercises?\b",
    re.I,
)
_PLACE_OF_SERVER = Expression(
    r"(?<![\w.:/])/(?:[\w.-]{1,60}/){1,20}\w|\b[A-Z]:\\|site-packages|node_modules"
)


def is_of_caller(match: re.Match[str]) -> bool:
    """Whether a match is in the title of a caller's resource, or about a program of the caller.

    A title has several words in quotes behind the noun of a resource. The text about a program
    names no file of the server.
    """
    before = match.string[max(0, match.start() - 160) : match.start()]
    title = _TITLE_BEFORE.search(before)
    if title is not None and _TITLE_AFTER.match(match.string, match.end()):
        rest = match.string[match.end() : match.end() + 40]
        if before[title.start("quote") + 1 :].strip() or re.match(r" \w", rest):
            return True
    around = match.string[max(0, match.start() - 400) : match.end() + 600]
    return _OWN_PROGRAM.search(around) is not None and not _PLACE_OF_SERVER.search(around)


def is_assignment(match: re.Match[str]) -> bool:
    """Whether a variable of the environment is the service's: its value has no placeholder."""
    value = re.match(r"[^\s\"']{0,200}", match.string[match.end() - 1 : match.end() + 200])
    return not (
        (value is not None and re.search(r"<\w{1,30}>|\.\.\.|\{\w{1,30}\}", value[0]))
        or is_yours(match)
    )


def is_yours(match: re.Match[str]) -> bool:
    """Whether the thing is one that the caller keeps with the service, such as "your queue"."""
    return bool(
        re.search(
            r"\byour (?:app|service|project|site|deployment|function|container|environment|queue|topic|workspace|stack|build)\b[^\n.]{0,60}$|\byour $",
            _text_before(match, 90),
            re.I,
        )
    )


def is_of_service(match: re.Match[str]) -> bool:
    """Whether the thing is not one that the caller keeps with the service."""
    return not is_yours(match)
