"""Whether a match is an address or the name of a machine, a container or a pod."""

import ipaddress
import re

from faultspec.leaks.evidence.context import EXAMPLE, is_real, text_after, text_before
from faultspec.leaks.evidence.placeholders import DOCUMENTATION_DOMAIN
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_VERSION = Expression(
    r"\b(?:v|versions?|releases?|builds?|revisions?|firmware|ver\.?)[\"'`]?\W{1,4}(?:(?:\d{1,9}\.){1,5}\d{1,9}\W{1,3}(?:(?:and|or|to|through|until)\W)?){0,3}$",
    re.I,
)
"""Words before four numbers that are a version."""

_OR_LATER = Expression(
    r"[\"'`]? (?:or|and) (?:later|newer|higher|above|older|earlier|lower|below)\b", re.I
)
"""Words after numbers that are a version."""

_BLOCK = Expression(r"/\d{1,2}(?![\w/.-])")
"""The length of a network's prefix: rules name blocks, which are not addresses of machines."""

_SUFFIX = Expression(r"-[A-Za-z]{1,3}(?![\w-])")
"""Letters after four numbers that are the number of an article or of a release."""

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

ERROR_NAMES = frozenset(
    {"code", "codes", "err", "error", "errors", "fault", "faults", "http", "status"}
)
"""``errors.internal`` is the name of an error, not of a host."""


def is_address(match: re.Match[str]) -> bool:
    """Whether it is an IPv4 address, not a version or a block of addresses."""
    if any(int(octet) > 255 for octet in match[0].split(".")):
        return False
    before, after = text_before(match), text_after(match)
    if before.endswith("//"):
        return True
    return not any(
        (
            _BLOCK.match(after),
            _SUFFIX.match(after),
            _OR_LATER.match(after),
            _VERSION.search(before),
            EXAMPLE.search(before),
        )
    )


def is_ipv6(match: re.Match[str]) -> bool:
    """Whether it is an IPv6 address."""
    try:
        ipaddress.IPv6Address(match[0])
    except ValueError:
        return False
    return is_real(match)


def is_loopback(match: re.Match[str]) -> bool:
    """Whether a loopback address is outside every URL: the URLs of a server under test contain
    one.
    """
    return not re.search(r"https?://$", text_before(match), re.I)


def is_host(match: re.Match[str]) -> bool:
    """Whether it is a host and not a field, by the words around it or by its form."""
    labels = match[0].lower().split(".")
    if labels[0] in ERROR_NAMES:
        return False
    before, after = text_before(match), text_after(match)
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


ANY_HOST = Expression(
    r"(?:localhost|hosts?|hostname|server|servername|domain|example|test|invalid|tenant|subdomain|address|url|uri|path|website|site|www|foo|bar|baz|[a-z]|x+|(?:your|my|some|the)[\w-]*|[\w-]*(?:example|placeholder))(?::\d+)?",
    re.I,
)
"""Hosts of documentation, and the machine of the reader."""


def is_internal_name(match: re.Match[str]) -> bool:
    """Whether a host and port name a machine that only the service's network knows."""
    place = match["place"]
    return not ANY_HOST.fullmatch(place) and not re.search(
        r"\.(?:com|net|org|io|dev|app|co|de|fr|eu|example|test)(?::|$)", place
    )


def is_outside_documentation(match: re.Match[str]) -> bool:
    """Whether a host is outside the domains that RFC 2606 keeps for documentation."""
    host = match[0].rpartition("://")[2].partition(":")[0]
    return not DOCUMENTATION_DOMAIN.search(host) and not re.search(
        r"(?:^|\.)example\.(?:com|net|org)$", host, re.I
    )


_MACHINE = Expression(
    r"(?:db|pg|sql|mysql|postgres|redis|mongo|rabbit(?:mq)?|kafka|cache|mail|smtp|ldap|gateway|gw|lb|proxy|backend|svc|srv|es|elastic|queue|auth|vault|zk|etcd|nats|minio|prod|stg|staging|uat)\d{0,3}",
    re.I,
)
"""Words in the names of machines."""


def is_machine(match: re.Match[str]) -> bool:
    """Whether a part of a name is a word that names a machine's role."""
    return any(map(_MACHINE.fullmatch, match["place"].split("-")))


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


def is_bound(match: re.Match[str]) -> bool:
    """Whether an address of all interfaces is one that the service listens on."""
    return not re.search(
        r"\b(?:must|may|should|can(?:not)?|not|never|allow(?:s|ed)?|callback|redirect\w*|url|uri|webhook|origin)\b",
        text_before(match),
        re.I,
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


_OFFER_BEFORE = Expression(
    r"\b(?:choose|pick|select|either|one of|options?(?: are)?|allowed|supported|engines?|versions?|values?|or|and)[ :=\"'`(\[]{1,4}$",
    re.I,
)
_OFFER_AFTER = Expression(r"[\"'`] (?:or|and) [\"'`]|[\"'`], [\"'`]")
"""Words around the alternatives of a choice."""


def is_not_offered(match: re.Match[str]) -> bool:
    """Whether a name such as `postgres-15` is a machine, and not a choice that callers have."""
    return not (_OFFER_AFTER.match(text_after(match)) or _OFFER_BEFORE.search(text_before(match)))
