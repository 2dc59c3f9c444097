"""What must not leave a service in an error: detectors of leaks, and the search for planted values.

A detector says what kind of thing it saw and shows at most a masked glimpse of it: no message built from a ``Leak`` repeats
what leaked. Every repetition in a pattern is bounded, and a pattern is tried only where one of its needles stands in the
text, so a scan is linear in the text.

A harmless text that looks like a leak costs more trust than a leak missed, so the patterns want evidence: a frame, not the
word "at"; a driver's sentence, not the word "constraint"; a root that belongs to a file system, not any path.
"""

import base64
import html
import ipaddress
import json
import re
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log2
from typing import NamedTuple

from faultspec.exchange import Canary
from faultspec.tokens import TOKENS

SCANNED = 256 * 1024
"""Characters of one answer that are searched by pattern: a leak stands near the beginning of an answer or near its end."""

_HEAD = SCANNED * 3 // 4
"""Of these, those at the beginning."""

JOINT = "\n\x00\n"
"""What stands between texts that are scanned together: no pattern reaches across a line with a NUL in it."""

_BY_CHANCE = 4
"""Planted values shorter than this occur in any sentence, so they count only where they stand alone, quoted or named."""

_ENCODABLE = 6
"""Planted values shorter than this are looked for as they are only: encoded, they too would be found by chance."""

_AT_MOST = 20
"""Matches of one pattern that are kept: one is enough for a finding, more only say how widespread it is."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that should not have left, at ``start`` to ``end`` of the text.

    ``kind`` is the detector, ``what`` the thing in words, ``glimpse`` as much of it as is safe to print.
    """

    kind: str
    what: str
    glimpse: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way in which a kind of leak looks.

    ``needles``: lower-case strings of which every match contains one. ``accept`` has the last word on a match.
    """

    what: str
    needles: tuple[str, ...]
    expression: str
    flags: int = 0
    accept: Callable[[re.Match[str]], bool] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        """The expression, compiled when a needle was found: most never are."""
        return _compiled(self.expression, self.flags)


@lru_cache(maxsize=512)  # more than there are patterns, and a taxonomy's own names beside them
def _compiled(expression: str, flags: int) -> re.Pattern[str]:
    return re.compile(expression, flags)


def _pattern(
    what: str,
    needles: str,
    regex: str,
    *,
    accept: Callable[[re.Match[str]], bool] | None = None,
    flags: int = 0,
) -> Pattern:
    return Pattern(what, tuple(needles.lower().split("|")), regex, flags | re.MULTILINE | re.ASCII, accept)


_DOCUMENTATION_DOMAIN = re.compile(
    r"^(?:.*\.)?(?:example|test|invalid|localhost)$|^example\.(?:com|org|net|edu)$", re.I
)
"""RFC 2606 and RFC 6761 reserve these for documentation, and test data lives there too: only with a placeholder before the
@ is an address there nobody's."""

_NOBODY = re.compile(
    r"^(?:(?:your|my|some|first|last)?[._-]?(?:user|name|username|first|last|surname|e?mail|address|someone|somebody|you|me|test|foo|bar|x+|support|help|info|contact|no-?reply)[._-]?)+\d*$",
    re.I,
)
"""What stands before the @ in a message that explains how an address looks."""

_ROLE = frozenset(
    {
        *("info", "marketing", "sales", "support", "abuse", "noc", "security"),
        *("postmaster", "hostmaster", "usenet", "news", "webmaster", "www", "uucp", "ftp"),
        *("help", "helpdesk", "contact", "billing", "privacy", "legal", "feedback", "hello", "press"),
        *("noreply", "no-reply", "donotreply", "do-not-reply"),
    }
)
"""Mailboxes of a role, not a person: those of RFC 2142, and what is as common. An error may say whom to write to."""

_ASSET = frozenset({"png", "jpg", "jpeg", "svg", "gif", "webp", "css", "js"})
"""What ends a name like ``logo@2x.png``, which has the form of an address."""

_VERSION = re.compile(
    r"\b(?:v|versions?|releases?|builds?|revisions?|firmware|ver\.?)[\"'`]?\W{1,4}(?:(?:\d{1,9}\.){1,5}\d{1,9}\W{1,3}(?:(?:and|or|to|through|until)\W)?){0,3}$",
    re.I,
)
"""What stands before four numbers that are a version."""

_EXAMPLE = re.compile(
    r"\b(?:for example|for instance|example|e\.g\.|eg|i\.e\.|such as|like this)[ ,:=\"'`(\[]{0,5}$", re.I
)
"""What stands before something made up to explain a form."""

_OR_LATER = re.compile(r"[\"'`]? (?:or|and) (?:later|newer|higher|above|older|earlier|lower|below)\b", re.I)
"""And what follows them."""

_BLOCK = re.compile(r"/(?:[12]?\d|3[0-2])(?![\w/.-])")
"""The length of a network's prefix: a block of addresses is what rules are made of, and nobody's address."""

_HOST_BEFORE = re.compile(
    r"(?://|@|\b(?:host|hostname|server|upstream|proxy|gateway|resolver?|resolving|lookup|dial|dialing|reach|reaching|contact|contacting|unreachable|(?:connect|connected|connecting|connection|request|requests|call|response|timeout|redirect) (?:to|from|by|with)|enotfound|getaddrinfo|eai_again)(?: (?:host|address|server))?[ :=\"'`(\[]{1,4})$",
    re.I,
)
_HOST_AFTER = re.compile(
    r":\d{2,5}\b|/\w|[\"'`)]{0,2},? (?:refused|timed? out|unreachable|did not (?:respond|answer)|(?:is )?(?:un|not )(?:reachable|available|resolvable)|is (?:down|offline)|could not be (?:reached|resolved)|closed the connection|:\d)",
    re.I,
)
"""What stands around the name of a host, and never around that of a field."""

_FIELD_BEFORE = re.compile(
    r"\b(?:field|property|attribute|parameter|param|argument|key|member|setting|option|column|variable|element|path|pointer|at|in|for)s?[ :=\"'`(\[]{1,4}$",
    re.I,
)
_FIELD_AFTER = re.compile(
    r"[\"'`)\]]{0,2}:? {0,2}(?:(?:is|are|was|were|has|have|does|do|must|may|should|can|cannot|needs?|expects?|requires?|contains?|value|field|property)\b|: [A-Z]|=|\[)"
)
"""What stands around the name of a field. `order.address.local` may be either."""

_SURE_HOST = re.compile(r"\.(?:svc|cluster\.local|compute\.internal|ec2\.internal|c\.[\w-]{1,60}\.internal)$", re.I)
"""Names that clusters and clouds give to machines."""

_ROUTE_BEFORE = re.compile(
    r"\b(?:get|head|post|put|patch|delete|options|routes?|endpoints?|urls?|uris?|links?|href|resources?|pages?)(?: (?:for|to|at|named|is|matches|matching))?[ :=\"'`(]{0,4}$",
    re.I,
)
"""What stands before the path of a URL."""

_ERROR_NAMES = frozenset({"code", "codes", "err", "error", "errors", "fault", "faults", "http", "status"})
"""``errors.internal`` is the name of an error, not of a host."""

_PLACEHOLDER = re.compile(
    r"^[*•<\[{$%]|^x{3}|^\.{3}|^(?:null|none|undefined|true|false|required|missing|invalid|redacted|filtered|masked)\b"
    r"|^(?:your|insert|replace|enter|example|sample|dummy|placeholder|some|the)[._-]|(?-i:^[A-Z]{2,}(?:[_-][A-Z]{2,}){1,8}\d{0,6}$)",
    re.I,
)


def _before(match: re.Match[str], most: int = 60) -> str:
    """The end of what stands before a match."""
    return match.string[max(0, match.start() - most) : match.start()]


def _after(match: re.Match[str], most: int = 40) -> str:
    """The beginning of what follows a match."""
    return match.string[match.end() : match.end() + most]


def _is_address(match: re.Match[str]) -> bool:
    if any(int(octet) > 255 for octet in match[0].split(".")):
        return False
    before, after = _before(match), _after(match)
    if before.endswith("//"):
        return True
    return not any((_BLOCK.match(after), _OR_LATER.match(after), _VERSION.search(before), _EXAMPLE.search(before)))


def _is_ipv6(match: re.Match[str]) -> bool:
    try:
        ipaddress.IPv6Address(match[0])
    except ValueError:
        return False
    return _is_real(match)


def _is_real(match: re.Match[str]) -> bool:
    return not _EXAMPLE.search(_before(match))


def _is_loopback(match: re.Match[str]) -> bool:
    """A server under test is itself at a loopback address, and its own URLs may say so."""
    return not re.search(r"https?://$", _before(match), _I)


def _is_host(match: re.Match[str]) -> bool:
    """A host is told from a field by what stands around it, or by a name that fields do not have."""
    labels = match[0].lower().split(".")
    if labels[0] in _ERROR_NAMES:
        return False
    before, after = _before(match), _after(match)
    if (_SURE_HOST.search(match[0]) and len(labels) > 2) or _HOST_BEFORE.search(before) or _HOST_AFTER.match(after):
        return True
    names = [each for each in labels[:-1] if not each.isdigit()]
    if any("-" in each or re.search(r"[a-z]\d", each) for each in names):
        return True
    return len(names) > 1 and not (_FIELD_BEFORE.search(before) or _FIELD_AFTER.match(after))


def _is_no_route(match: re.Match[str]) -> bool:
    return not _ROUTE_BEFORE.search(_before(match))


def _is_key(match: re.Match[str]) -> bool:
    """Whether what follows the vendor's mark is a key: `sk-test-item-2` is an item."""
    return not re.fullmatch(
        r"(?=.*[a-z])(?:[a-z]{1,12}|\d{1,4})(?:[-_](?:[a-z]{1,12}|\d{1,4})){0,20}", match["value"] or "X"
    )


def _is_no_example(match: re.Match[str]) -> bool:
    """Documentation writes ``postgres://user:password@host/db``."""
    return not re.search(
        r"://<?\{?(?:db_?)?(?:user|username|login|name)\}?>?:<?\{?(?:user_?|db_?|your_?)?(?:pass|password|passwd|pwd|pw|secret)\}?>?@"
        r"<?\{?(?:(?:db|database|your)[_-]?)?(?:host|hostname|server|localhost|127\.0\.0\.1|address|example\.com|ip|your-[\w-]{1,60})\b",
        match[0],
        _I,
    )


_PARAMETER = r"(?:out |ref |in |params )?[A-Z][\w.`<>&*?\[\],]{0,100} \w{1,60}"
_PARAMETERS = re.compile(rf"{_PARAMETER}(?:, {_PARAMETER}){{0,30}}")
_PRIMITIVE = re.compile(r"\b(?:String|Int(?:16|32|64)|Boolean|Object|Guid|Double|Decimal|DateTime|Byte)\b|[\]`&]")


def _is_frame(match: re.Match[str]) -> bool:
    """.NET shows the types of parameters; a word in parentheses, or a plural in them, is a sentence."""
    name, parameters = match["name"], match["parameters"]
    deep = name.count(".") > 1 or bool(re.search(r"[<>`]|\.ctor$", name))
    line = _before(match).rpartition("\n")[2]
    if not parameters:
        return deep or (len(line) > 1 and line.isspace())
    return bool(_PARAMETERS.fullmatch(parameters)) and (deep or not line.strip() or bool(_PRIMITIVE.search(parameters)))


def _is_somebody(match: re.Match[str]) -> bool:
    domain = match[0].rpartition("@")[2]
    local = match[0].rpartition("@")[0]
    if local.lower() in _ROLE:
        return False
    if _DOCUMENTATION_DOMAIN.search(domain) and _NOBODY.search(local):
        return False
    return domain.rpartition(".")[2].lower() not in _ASSET


def _is_value(match: re.Match[str]) -> bool:
    return not _PLACEHOLDER.search(match["value"])


def _is_random(match: re.Match[str]) -> bool:
    value = match["value"]
    return _is_value(match) and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_as_random_as(bits: float) -> Callable[[re.Match[str]], bool]:
    """Whether a token has so many bits of entropy a character: what is written in documentation has few."""

    def accept(match: re.Match[str]) -> bool:
        token = match[1] if match.re.groups and match[1] else match[0]
        return -sum(n / len(token) * log2(n / len(token)) for n in Counter(token).values()) >= bits

    return accept


def _is_long_random(match: re.Match[str]) -> bool:
    """A word such as "token" stands before much: only what no writer would make up is one."""
    return _is_random(match) and _is_as_random_as(3)(match) and not _LEXICAL.search(_before(match))


_LEXICAL = re.compile(r"\b(?:unexpected|unrecognized|illegal|unknown|page|cursor|sync|next|continuation)[ _-]$", re.I)
"""What stands before the tokens of parsers and of pages."""


def _is_credentials(match: re.Match[str]) -> bool:
    raw = match["value"].rstrip("=")
    try:
        name, colon, password = base64.b64decode(raw + "=" * (-len(raw) % 4), validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon) and (name + password).isprintable()


_I = re.IGNORECASE

_COLUMN = (
    r"(?:[\w.*\"`\[\]$:@']{1,100}+(?:\((?:[^()\n]|\([^()\n]{0,100}\)){0,200}+\)(?:\s{1,4}(?!FROM\b)\w{1,60})?)?"
    r"(?:\s{1,4}AS\s{1,4}[\w\"`\[\]]{1,80})?)"
)
"""What a statement selects: a name or a call, never two words in a row."""

_CONDITION = r"[\w.\"`\[\]()]{1,80}\s{0,4}(?:=|<|>|!=|\bIN\s{0,4}\(|\bIS\s{1,4}(?:NOT\s{1,4})?NULL\b|\bLIKE\s{1,4}['$%?:]|\bBETWEEN\s)"
"""What follows "where" in SQL and in no sentence."""

_STORES = "redis|mongo|postgres|mysql|mariadb|rabbit|kafka|elastic|memcached|etcd|nats|zookeeper|clickhouse|cassandra|database|-db"
"""What hosts are called after what runs there: with the port of such a thing a name is a host."""

_ERRNO = "enoent|eacces|eperm|eisdir|enotdir|eexist|erofs|emfile|enospc|ebusy|enotempty|exdev|eloop|enametoolong|etxtbsy|ebadf|edquot"
"""What Node calls the errors of a file system."""

_NO_FILE = "no such file or directory|is a directory|not a directory|read-only file system|no space left on device|file name too long"
"""What systems say of files; "permission denied" is said of much else."""

_ABSOLUTE = r"/[\w.@+~-]{1,100}(?:/[\w.@+~-]{1,100}){1,40}"

_ROOT = "app|apps|data|workspaces?|code|build|builds|storage|volumes?|efs|deploy|dist|config|conf|models|function"
"""Folders that containers have beside those of every system, and that URLs have as well."""

_ROOTS = "|".join(f"/{each}/" for each in [*_ROOT.replace("s?", "").split("|"), "workspaces", "volumes"])
_VALUE = r"[\"'`]?(?P<value>[^\s\"'`,;&<>=\x00]{%d,400}+)"

# A row is one way in which a leak looks, kept on one line however long: what it is, its needles, its pattern.
# ruff: noqa: E501
# fmt: off
DETECTORS: Mapping[str, tuple[Pattern, ...]] = {
    "stack-trace": (
        _pattern("a Python traceback", "traceback (most", r"Traceback \(most recent call (?:last|first)\)"),
        _pattern("a Python frame", 'file "', r'\bFile "[^"\n]{1,300}", line \d{1,7}\b'),
        _pattern("a JVM frame", "at ", r"\bat [\w$.<>/]{1,200}\((?:[\w$-]{1,100}\.(?:java|kt|scala|groovy|clj):\d{1,7}|Native Method|Unknown Source)\)"),
        _pattern("a JVM exception", "exception|error", r"\b(?:java|javax|jakarta|kotlin|kotlinx|scala|org|com|io)\.(?:[a-z_$][\w$]{0,60}\.){1,10}[A-Z]\w{0,80}(?:Exception|Error)\b"),
        _pattern("a JVM exception", "nested exception is", r"\bnested exception is\b"),
        _pattern("a JVM exception", "exception in thread", r'\bException in thread "'),
        _pattern("a JavaScript frame", "at ", r"\bat (?:async )?(?:[\w.<>$\[\] ]{1,120} \()?(?:node:|file://|webpack|/|[A-Za-z]:\\)[^\s()]{0,300}:\d{1,7}:\d{1,7}\b"),
        _pattern("a JavaScript frame", "(<anonymous>)", r"\bat (?:async )?[\w.$<>\[\] ]{1,120} \(<anonymous>\)"),
        _pattern("a JavaScript frame", "js:|ts:|tsx:|jsx:", r"\w\.(?:[cm]?js|[cm]?ts|tsx|jsx):\d{1,7}:\d{1,7}\b"),
        _pattern("a Go panic", "goroutine ", r"\bgoroutine \d{1,9} \[[^\]\n]{1,60}\]:"),
        _pattern("a Go panic", "panic: ", r"\bpanic: (?:runtime error|[\w*.]{1,60}[:{])"),
        _pattern("a Go panic", "created by ", r"\bcreated by [\w./*()-]{1,200}(?: in goroutine \d{1,9})?\n"),
        _pattern("a signal", "[signal sig", r"\[signal SIG[A-Z]{2,10}: "),
        _pattern("a C++ exception", "terminate called", r"\bterminate called (?:after throwing|recursively|without an active exception)"),
        _pattern("a Go source line", ".go:", r"\w\.go:\d{1,7}\b"),
        _pattern("a .NET frame", ":line ", r"\.(?:cs|vb|fs):line \d{1,7}\b"),
        _pattern("a .NET frame", "at ", r"(?<!\w)at (?P<name>(?:[A-Z<][\w`<>]{0,80}\.){1,12}\.?[\w`<>\[\]|]{1,100})\((?P<parameters>[^)\n]{0,300})\)", accept=_is_frame),
        _pattern("a Mono frame", "[0x", r"\bat [\w.`<>+\[\], ]{1,300} \([^)\n]{0,300}\) \[0x[0-9a-f]{4,8}\] in "),
        _pattern("a .NET exception", "exception", r"\b(?:System|Microsoft)\.(?:\w{1,60}\.){0,6}\w{0,60}Exception\b"),
        _pattern("a .NET exception", "stack trace", r"--- End of (?:inner exception )?stack trace"),
        _pattern("a Ruby frame", ".rb:", r"\w\.rb:\d{1,7}\b"),
        _pattern("a PHP error", "fatal error|parse error", r"\b(?:Fatal|Parse) error: {1,4}(?:Uncaught|syntax|Allowed memory|Call to|Cannot)"),
        _pattern("a PHP frame", ".php", r"\.php(?:\(\d{1,7}\)| on line \d|:\d{1,7}\b)"),
        _pattern("a PHP error", "</b>:", r"<b>(?:Warning|Notice|Fatal error|Parse error|Deprecated)</b>: {1,4}[^\n]{1,400}? on line <b>\d"),
        _pattern("a Rust panic", "panicked at", r"\bthread '[^'\n]{1,100}'(?: \(\d{1,9}\))? panicked at\b"),
        _pattern("a Rust source line", ".rs:", r"\w\.rs:\d{1,7}\b"),
        _pattern("a Rust backtrace", "stack backtrace:", r"\bstack backtrace:"),
        _pattern("an Elixir exception", "** (", r"\*\* \((?:EXIT from|(?:[A-Z]\w{0,60}\.?){1,6}\))"),
        _pattern("an Elixir frame", ".ex:|.exs:|.erl:", r"\w\.(?:exs?|erl):\d{1,7}\b"),
        _pattern("a Perl frame", " line ", r"\bat (?:\S{1,200}\.(?:pl|pm|t|cgi|psgi)|\(eval \d{1,9}\)|-e) line \d{1,7}\b"),
        _pattern("a Lua traceback", "stack traceback:|.lua:", r"\bstack traceback:|\w\.lua:\d{1,7}:"),
        _pattern("a Python exception", "error: |stopiteration|keyboardinterrupt", r"(?<![\w.])(?:Arithmetic|Assertion|Attribute|BlockingIO|BrokenPipe|Buffer|ChildProcess|ConnectionAborted|ConnectionRefused|ConnectionReset|EOF|FileExists|FileNotFound|FloatingPoint|Import|Index|InterruptedIO|IsADirectory|Key|Lookup|Memory|ModuleNotFound|Name|NotADirectory|NotImplemented|OS|Overflow|Permission|ProcessLookup|Recursion|Runtime|System|Type|UnboundLocal|Unicode|UnicodeDecode|UnicodeEncode|Value|ZeroDivision)Error: \S"),
        _pattern("a Python exception", "' object |object of type '", r"'[A-Za-z_][\w.]{0,80}' object (?:has no attribute|is not (?:subscriptable|iterable|callable|an iterator)|does not support|cannot be interpreted)\b|\bobject of type '[\w.]{1,80}' has no len\(\)"),
        _pattern("a JavaScript exception", "referenceerror: |rangeerror: |syntaxerror: |cannot read propert|cannot set propert|is not an object (ev|cannot find module", r"\b(?:Reference|Range|Syntax)Error: \S|\bCannot (?:read|set) propert(?:y|ies) (?:'[^'\n]{1,100}' )?of (?:undefined|null)\b|\bis not an object \(evaluating |\bCannot find module '[./]"),
        _pattern("a JVM exception", "nullpointerexception|because \"", r"\bNullPointerException\b|\bCannot (?:invoke|read|load|store|assign)\b[^\n]{1,300} because \"[^\"\n]{1,200}\" is null"),
        _pattern("a .NET exception", "object reference not set", r"\bObject reference not set to an instance of an object\b"),
        _pattern("a Go panic", "nil pointer dereference", r"\binvalid memory address or nil pointer dereference\b"),
        _pattern("a Ruby exception", "undefined method |undefined local variable|nomethoderror", r"\bundefined (?:method|local variable or method) [`'][^'\n]{1,100}' for\b|\bNoMethodError\b"),
        _pattern("a PHP error", "on null|undefined index: |undefined variable ", r"\bCall to a member function \w{1,100}\(\) on null\b|\bUndefined (?:index: \w|variable \$\w)"),
        _pattern("a Rust panic", "::unwrap()", r"\bcalled `(?:Option|Result)::unwrap\(\)` on\b"),
        _pattern("an object of the program", " at 0x", r"<(?:[\w.<>]{1,200} )?(?:object|function|instance|method [\w.]{1,200} of|module|coroutine)[^<>\n]{0,200} at 0x[0-9a-fA-F]{4,16}>"),
        _pattern("an object of the program", "@", r"(?<![\w.@/-])(?:[a-z_]\w{0,60}\.){1,10}[A-Z][\w$]{0,80}@[0-9a-f]{5,8}\b(?!\.)"),
        _pattern("a Swift trap", ".swift", r"\w\.swift(?::\d{1,7}\b|, line \d)"),
        _pattern("a Swift trap", "found nil|program crashed: ", r"\b[Uu]nexpectedly found nil while (?:implicitly )?unwrapping an Optional\b|\bProgram crashed: \w"),
        _pattern("a Dart frame", ".dart", r"\w\.dart(?::\d{1,7}\b| \d{1,7}:\d{1,7}\b)"),
        _pattern("a Dart exception", "null check operator|is not a subtype of type|nosuchmethoderror: ", r"\bNull check operator used on a null value\b|\btype '[^'\n]{1,100}' is not a subtype of type '|\bNoSuchMethodError: \S"),
        _pattern("a Haskell call stack", "callstack (from|.hs:", r"\bCallStack \(from HasCallStack\)|\w\.hs:(?:\d{1,7}:\d{1,7}|\(\d{1,7},\d{1,7}\))"),
        _pattern("a Haskell exception", "prelude.|fromjust: nothing", r"\bPrelude\.[\w!]{1,20}: (?:empty list|no parse|index too|negative index|bad arg|undefined)|\bMaybe\.fromJust: Nothing\b"),
        _pattern("a Julia stack trace", "stacktrace:|.jl:|in expression starting ", r"\bStacktrace:\s{1,8}\[1\] |\w\.jl:\d{1,7}\b|\bin expression starting (?:at|on line) \S"),
        _pattern("a Julia frame", "@ main|@ base|@ core", r"(?<!\S)@ (?:Main|Base|Core)(?:\.\w{1,60}){0,4} [./~]"),
        _pattern("a Julia exception", "undefvarerror: |boundserror: |inexacterror: |loaderror: |no method matching", r"\b(?:UndefVar|Bounds|Inexact|Load)Error: \S|\bMethodError: no method matching\b"),
        _pattern("a Zig panic", ".zig:", r"\w\.zig:\d{1,7}:\d"),
        _pattern("an OCaml backtrace", ' in file "', r'\b(?:Raised|Called|Re-raised) (?:at|from|by)\b[^\n]{1,200} in file "[^"\n]{1,200}", line \d'),
        _pattern("a crash of the process", "core dumped|terminating app due to", r"\(core dumped\)|\*\*\* Terminating app due to uncaught exception\b"),
        _pattern("a Clojure exception", "clojure.lang.", r"\bclojure\.lang\.[A-Z]\w{2,60}"),
        _pattern("an error of the system", "(os error ", r"\(os error \d{1,5}\)"),
        _pattern("an Erlang crash", "{badmatch|{case_clause|{function_clause|{badarg|{'exit'", r"\{(?:badmatch|case_clause|badarg|'EXIT'|function_clause),"),
    ),
    "sql": (
        _pattern("a SQL statement", "select", rf"\bSELECT\s{{1,4}}(?:(?:ALL|DISTINCT|TOP \d{{1,9}})\s{{1,4}})?{_COLUMN}(?:\s{{0,4}},\s{{0,4}}{_COLUMN}){{0,60}}\s{{1,8}}FROM\s{{1,4}}(?!clauses?\b)[\w\"`\[(.]"),
        _pattern("a SQL statement", "select", r"\bSELECT\b[^\n]{1,400}?\bFROM\b\s{1,4}[\w\"`\[.\]]{1,80}(?:\s{1,4}(?:AS\s{1,4})?\w{1,60})?\s{1,4}(?:WHERE|(?:LEFT|RIGHT|INNER|OUTER|CROSS|FULL|NATURAL)\s|JOIN|LIMIT|ORDER BY|GROUP BY|FOR UPDATE)\b"),
        _pattern("a SQL statement", "select", rf"\bselect\s{{1,4}}(?:distinct\s{{1,4}})?(?:\*|count\(\*\)|\w{{1,60}}\.[\w*]{{1,60}})(?:\s{{0,4}},\s{{0,4}}{_COLUMN}){{0,60}}\s{{1,8}}from\s{{1,4}}(?!(?:the|an?|all|any|this|that|these|those|your|our|its?)\s)[\w\"`\[.]", flags=_I),
        _pattern("a SQL statement", "select", rf"\bselect\s{{1,4}}(?:distinct\s{{1,4}})?{_COLUMN}(?:\s{{0,4}},\s{{0,4}}{_COLUMN}){{0,60}}\s{{1,8}}from\s{{1,4}}[\w\"`\[\].]{{1,80}}(?:\s{{1,4}}(?:as\s{{1,4}})?[\w\"`]{{1,60}})?\s{{1,4}}(?:where\s{{1,4}}{_CONDITION}|(?:(?:left|right|inner|outer)\s{{1,4}})?join\s{{1,4}}\S{{1,80}}\s)", flags=_I),
        _pattern("a SQL statement", "where", rf"(?<!\w)WHERE\s{{1,4}}{_CONDITION}[^\n]{{0,100}}?\s(?:AND|OR|LIMIT|ORDER BY|GROUP BY)\s"),
        _pattern("a SQL statement", "delete", rf"\bdelete\s{{1,4}}from\s{{1,4}}[\w\"`\[\].]{{1,80}}\s{{1,4}}where\s{{1,4}}{_CONDITION}", flags=_I),
        _pattern("a SQL statement", "update", r"\bupdate\s{1,4}[\w\"`\[\].]{1,80}\s{1,4}set\s{1,4}[\w\"`\[\].]{1,80}\s{0,4}=\s{0,4}(?:'|\d|\?|[$:%@]\w|null\b|now\()", flags=_I),
        _pattern("a SQL statement", "table", r"\b(?:DROP|TRUNCATE)\s{1,4}TABLE\s{1,4}(?:IF EXISTS\s{1,4}\S|(?!(?:is|are|was|were|and|or|not|may|must|can|cannot|will|with|requires?|statements?|commands?|quer(?:y|ies)|operations?|permissions?|privileges?|access|syntax|on|in|for|to)\b)[\w\"`\[])"),
        _pattern("a SQL statement", "table", r"\bALTER\s{1,4}TABLE\s{1,4}(?:ONLY\s{1,4}|IF EXISTS\s{1,4})?[\w\"`\[\].]{1,80}\s{1,4}(?:ADD|DROP|ALTER|RENAME|MODIFY|CHANGE|OWNER|SET|ENABLE|DISABLE)\b", flags=_I),
        _pattern("a SQL statement", "table", r"\bdrop\s{1,4}table\s{1,4}(?:if exists\s{1,4}[\w\"`\[.\]]{1,80}|[\w\"`\[.\]]{1,80}(?=;|--))", flags=_I),
        _pattern("a SQL statement", "table", r"\bCREATE\s{1,4}(?:(?:TEMP|TEMPORARY|UNLOGGED|EXTERNAL)\s{1,4})?TABLE\s{1,4}(?:IF NOT EXISTS\s{1,4})?[\w\"`\[\].]{1,80}\s{0,4}\("),
        _pattern("a SQL statement", "table", r"\bcreate\s{1,4}(?:temp(?:orary)?\s{1,4})?table\s{1,4}(?:if not exists\s{1,4})?[\w\"`\[\].]{1,80}\s{0,4}\(\s{0,8}[\w\"`\[\]]{1,80}\s{1,4}(?:(?:big|small|tiny)?(?:int|serial)|integer|n?varchar|char|text|uuid|timestamp|date|datetime|bool|boolean|numeric|decimal|jsonb?|blob|real|double|float)\b", flags=_I),
        _pattern("a SQL statement", "index", r"\bCREATE\s{1,4}(?:UNIQUE\s{1,4})?INDEX\s{1,4}(?:CONCURRENTLY\s{1,4})?(?:IF NOT EXISTS\s{1,4})?[\w\"`\[\].]{1,80}\s{1,4}ON\b"),
        _pattern("a SQL statement", "insert into", r"\bINSERT INTO\s{1,4}[\w\"`\[\].]{1,80}\s{0,4}\(", flags=_I),
        _pattern("a SQL statement", "update", r"\bUPDATE\s{1,4}[\w\"`\[\].]{1,80}\s{1,4}SET\s{1,4}[\w\"`\[\].]{1,80}\s{0,4}="),
        _pattern("a SQL statement", "delete from", r"\bDELETE FROM\s{1,4}[\w\"`\[.]"),
        _pattern("a PostgreSQL error", "violates", r"\bviolates (?:unique|foreign key|check|not-null|exclusion) constraint\b"),
        _pattern("a PostgreSQL error", "does not exist", r"\b(?:relation|column) \"[^\"\n]{1,100}\" does not exist\b(?! (?:in|on)\b)"),
        _pattern("a PostgreSQL error", "syntax error at", r"\bsyntax error at or near \""),
        _pattern("a PostgreSQL error", "transaction is aborted|serialize access|deadlock detected", r"\bcurrent transaction is aborted\b|\bcould not serialize access\b|\bdeadlock detected\b"),
        _pattern("a PostgreSQL error", "password authentication failed|fatal: |connection slots|pg_hba|too many clients", r"\bpassword authentication failed for user \"|\bFATAL: {1,3}(?:role|database|the database system|terminating connection)\b|\bremaining connection slots are reserved\b|\bno pg_hba\.conf entry\b|\btoo many clients already\b"),
        _pattern("a PostgreSQL error", "connection to server |connect to server: |connection unexpectedly|ssl syscall", r"\bconnection to server (?:at|on socket) \"|\bcould not connect to server: |\bserver closed the connection unexpectedly\b|\bSSL SYSCALL error\b"),
        _pattern("a PostgreSQL error", "permission denied for |canceling statement|too long for type|invalid input syntax for|key (|restart transaction: ", r"\bpermission denied for (?:relation|sequence|schema) \w|\bERROR: {1,3}permission denied for \w|\bcanceling statement due to\b|\bvalue too long for type \w|\binvalid input syntax for (?:type )?(?:integer|bigint|uuid|json|boolean|numeric|date|timestamp|double)\b|\bDETAIL: {1,3}Key \(|\brestart transaction: \w"),
        _pattern("a PostgreSQL driver", "psycopg|asyncpg|org.postgresql|pgx|pgconn|npgsql|pq: ", r"\b(?:psycopg\d?|asyncpg|npgsql|pgx|pgconn)[.:]|\borg\.postgresql\b|\bpq: \w", flags=_I),
        _pattern("an SQLSTATE", "sqlstate", r"\bSQLSTATE\b"),
        _pattern("a MySQL error", "in your sql", r"\berror in your SQL syntax\b"),
        _pattern("a MySQL error", "duplicate entry", r"\bDuplicate entry '[^\n]{0,200}?' for key\b"),
        _pattern("a MySQL error", "unknown column", r"\bUnknown column '[^'\n]{1,100}' in\b"),
        _pattern("a MySQL error", "doesn't exist", r"\bTable '[^'\n.]{1,100}\.[^'\n]{1,100}' doesn't exist\b"),
        _pattern("a MySQL error", "access denied for user '", r"\bAccess denied for user '[^'\n]{0,100}'@'"),
        _pattern("a MySQL error", "lock wait timeout|trying to get lock|foreign key constraint fails", r"\bLock wait timeout exceeded\b|\bDeadlock found when trying to get lock\b|\ba foreign key constraint fails\b"),
        _pattern("a MySQL error", "for column '|a default value", r"\b(?:Data too long|Out of range value|Data truncated|Incorrect \w{1,20} value: [^\n]{1,200}?) for column '|\bField '[^'\n]{1,100}' doesn't have a default value\b"),
        _pattern("a MySQL error", "mysql server|mariadb server", r"\bCan\\?'t connect to (?:local )?(?:MySQL|MariaDB) server\b|\bLost connection to (?:MySQL|MariaDB) server\b|\b(?:MySQL|MariaDB) server has gone away\b"),
        _pattern("a MySQL error", "error 1", r"\bERROR 1\d{3} \([0-9A-Z]{5}\)"),
        _pattern("a MySQL driver", "mysql", r"\b(?:MySQLdb|pymysql|mysql\.connector|com\.mysql|mysql2?::Error|MySqlException)\b", flags=_I),
        _pattern("an SQLite error", "constraint failed", r"\b(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY|PRIMARY KEY) constraint failed\b"),
        _pattern("an SQLite error", "no such table|no such column", r"\bno such (?:table|column): \w"),
        _pattern("an SQLite error", "sqlite_|sqlite3.|sqliteexception", r"\bSQLITE_[A-Z]{3,20}\b|\bsqlite3\.\w{1,40}Error\b|\bSQLiteException\b"),
        _pattern("an SQLite error", "syntax error", r"\bnear \"[^\"\n]{0,80}\": syntax error\b"),
        _pattern("an SQLite error", "is locked|readonly database|disk image is malformed|open database file", r"(?<!the )(?<!The )(?<!your )(?<!this )\bdatabase (?:table |schema )?is locked\b(?! (?:by|for|until|because|while|due|during|and|as)\b)|\battempt to write a readonly database\b|\bdatabase disk image is malformed\b|\bunable to open database file\b"),
        _pattern("an Oracle error", "ora-", r"\bORA-\d{5}\b"),
        _pattern("a SQL Server error", "quotation mark|incorrect syntax near|violation of|cannot insert", r"\bUnclosed quotation mark after the character string\b|\bIncorrect syntax near '|\bViolation of (?:UNIQUE|PRIMARY) KEY constraint\b|\bCannot insert (?:duplicate key row|the value NULL)\b"),
        _pattern("a SQL Server error", "login failed for user '", r"\bLogin failed for user '(?:(?:sa|dbo|root|admin)'|[^'\n\\]{1,60}\\|[\w.-]{0,60}[_-](?:user|app|svc|service|rw|ro|db|login|owner)'|(?:app|svc|db|sql)[_-]|[^'\n]{0,100}'[^\n]{0,40}(?:Reason:|\[CLIENT:))"),
        _pattern("a SQL Server error", "invalid object name '|invalid column name '|requested by the login", r"\bInvalid object name '(?:(?:\w{1,60}\.)?(?:dbo|sys|guest)\.|#|[A-Z]\w{0,60}\.[A-Z]\w{0,60}')|\bInvalid column name '|\bCannot open database \"[^\"\n]{1,100}\" requested by the login\b"),
        _pattern("a SQL Server error", "conversion failed when|data would be truncated|statement conflicted with", r"\bConversion failed when converting (?:the )?\w|\b[Ss]tring or binary data would be truncated\b|\bstatement conflicted with the [A-Z]"),
        _pattern("a SQL Server error", "level ", r"\bMsg \d{1,6}, Level \d{1,3}, State \d{1,3}\b"),
        _pattern("an ODBC error", "[microsoft]|odbc", r"\[Microsoft\]\[|\[unixODBC\]|\bODBC [\w ]{0,30}Driver\b"),
        _pattern("a SQL driver", "exception|sqlclient", r"\bSQL\w{0,40}Exception\b|\bSqlClient\b", flags=_I),
        _pattern("an SQLAlchemy error", "sqlalche|[sql: ", r"\bsqlalchemy\.(?:exc|orm|dialects)\b|\bsqlalche\.me\b|\[SQL: "),
        _pattern("an ORM error", "could not execute|could not extract|jpa entitymanager|hikaripool|prisma|activerecord|ecto.|hibernate|queryfailed|sequelize", r"\bcould not execute (?:statement|query|batch)\b|\bcould not extract ResultSet\b|\bJPA EntityManager\b|\bHikariPool\b|\bPrismaClient\w|\bActiveRecord::\w|\bEcto\.\w{1,60}Error\b|\borg\.hibernate\b|\bQueryFailedError\b|\bSequelize\w{1,60}Error\b"),
        _pattern("a MongoDB error", "e11000|mongo", r"\bE11000 duplicate key\b|\bMongo(?:[A-Z]\w{0,40})?(?:Error|Exception)\b|\bpymongo\.errors\b"),
        _pattern("a Cassandra error", "query at consistency", r"\bduring \w{4,20} query at consistency [A-Z_]{3,20}\b"),
        _pattern("a Redis error", "clusterdown|oom command|readonly you can't|misconf redis|loading redis|moved ", r"\bCLUSTERDOWN\b|\bOOM command not allowed\b|\bREADONLY You can't write against\b|\bMISCONF Redis\b|\bLOADING Redis\b|\bMOVED \d{1,5} \S{1,200}:\d"),
        _pattern("a Redis error", "wrongtype operation|redis.exceptions|rediserror|noauth authentication", r"\bWRONGTYPE Operation\b|\bredis\.exceptions\b|\bRedisError\b|\bNOAUTH Authentication required\b"),
    ),
    "connection-string": (
        _pattern("a URL with credentials", "://", r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s:/@?#\"'\x00]{0,100}:[^\s/@\"'\x00]{1,200}@[^\s\"'<>\x00]{1,300}", accept=_is_no_example),
        _pattern("the address of a backing service", "://", r"\b(?:postgres(?:ql)?(?:\+\w{1,20})?|mysql(?:\+\w{1,20})?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|kafka|nats|memcached?|ldaps?|cassandra|clickhouse|etcd|zookeeper)://[\w:\[%*.-][^\s\"'<>\x00]{0,300}", accept=_is_no_example, flags=_I),
        _pattern("a data source name", "@tcp(|@unix(|@udp(", r"\b[\w.-]{1,64}:[^\s:@/()\"'\x00]{0,200}@(?:tcp|unix|udp)\([^\s()]{1,200}\)"),
        _pattern("an Oracle connect string", "@//", r"\b\w{1,60}/[^\s/@\"'\x00]{1,100}@//[\w.-]{1,100}(?::\d{2,5})?/\w{1,100}"),
        _pattern("a JDBC URL", "jdbc:", r"\bjdbc:[a-z0-9]{2,20}:[^\s\"'<>\x00]{1,300}", flags=_I),
        _pattern("a connection string", ";", r"\b(?:Server|Data Source|Host|Address|AccountName|Endpoint) {0,2}=[^;=\n]{1,200};[^\n]{0,400}?\b(?:Password|Pwd|AccountKey|SharedAccessKey) {0,2}=[^;\s]{1,200}", flags=_I),
        _pattern("a libpq connection string", "dbname=", r"\b(?:host|user|password|port)=[^\s=]{1,100}[^\n]{0,200}?\bdbname=[^\s=]{1,100}|\bdbname=[^\s=]{1,100}[^\n]{0,200}?\b(?:host|user|password)="),
    ),
    "secret": (
        _pattern("a private key", "-----begin", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}(?:PRIVATE KEY|CERTIFICATE)(?: BLOCK)?-----"),
        _pattern("a JSON Web Token", "eyj", r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{0,2000})?"),
        _pattern("an AWS access key", "akia|asia|aroa|abia|acca|a3t", r"\b(?:AKIA|ASIA|AROA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{16}\b"),
        _pattern("an Azure key", "accountkey=", r"\bAccountKey=[A-Za-z0-9+/]{80,90}={0,2}", flags=_I),
        _pattern("a payment key", "sk_live_|rk_live_|sk_test_|rk_test_|whsec_", r"\b(?:[sr]k_(?:live|test)_|whsec_)[0-9A-Za-z]{8,200}"),
        _pattern("an API key", "sk-", r"\bsk-(?:(?:live|test|proj|ant|svcacct)-(?P<value>[\w-]{3,250})|[A-Za-z0-9]{20,250})", accept=_is_key),
        _pattern("an API key", "hf_|gsk_", r"\b(?:hf|gsk)_[A-Za-z0-9]{30,100}\b", accept=_is_as_random_as(3)),
        _pattern("a Vault token", "hvs.|hvr.", r"\bhv[sr]\.[\w-]{24,300}", accept=_is_as_random_as(3)),
        _pattern("a GitHub token", "ghp_|gho_|ghs_|ghu_|ghr_|github_pat_", r"\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,255}"),
        _pattern("a payment key", "sq0", r"\bsq0(?:atp|csp)-[\w-]{22,60}"),
        _pattern("a GitLab token", "glpat-|gldt-|glft-|glsoat-|glrt-|glcbt-|glptt-", r"\bgl(?:pat|dt|ft|soat|rt|cbt|ptt)-[\w-]{20,100}"),
        _pattern("a Slack token", "xox|hooks.slack", r"\bxox[abeoprs]-[A-Za-z0-9-]{8,250}|\bhooks\.slack\.com/services/[\w/]{10,200}"),
        _pattern("a Google key", "aiza|ya29.", r"\bAIza[\w-]{35}|\bya29\.[\w-]{20,400}"),
        _pattern("a package registry token", "npm_|pypi-", r"\bnpm_[A-Za-z0-9]{30,100}|\bpypi-[\w-]{50,400}"),
        _pattern("a mail service key", "-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
        _pattern("a bot's token", ":aa", r"\b\d{8,10}:AA[\w-]{33}\b"),
        _pattern("a mail service key", "sg.", r"\bSG\.[\w-]{16,64}\.[\w-]{16,128}"),
        _pattern("a bearer token", "bearer", r"\bBearer[ \t]{1,4}(?P<value>[A-Za-z0-9._~+/-]{12,4000}={0,2})", accept=_is_random, flags=_I),
        _pattern("a pair of credentials", "basic", r"\bBasic[ \t]{1,4}(?P<value>[A-Za-z0-9+/]{8,1000}={0,2})", accept=_is_credentials),
        _pattern("a password", "pass|pwd", r"(?<![\w-])(?:\w{1,40}_)?(?:password|passwd|passphrase|pwd)[\"'`]? {0,2}= {0,2}" + _VALUE % 3, accept=_is_value, flags=_I),
        _pattern("a secret", "secret|key|token", r"(?<![\w-])(?:[\w-]{0,40}[_-])?(?:secret|client_?secret|secret_?(?:access_?)?key|api[_-]?key|access[_-]?key|private_?key|(?:auth|access|refresh|session|api|bearer|bot|user|service)[_-]?token)[\"'`]? {0,2}= {0,2}" + _VALUE % 6, accept=_is_random, flags=_I),
        _pattern("a secret", "pass|secret|key|token", r"(?<![\w-])(?:[\w-]{1,40}[_-])?(?:password|passwd|client_?secret|secret_?key|api[_-]?key|(?:auth|access|refresh|session|api|bearer|bot)[_-]?token|private_?key)[\"'`]? {0,2}: {0,2}" + _VALUE % 6 + r"(?![ \t]{1,4}[a-z])", accept=_is_random, flags=_I),
        _pattern("a token", "token", r"(?<![\w-])(?:[Xx]-)?token[\"'`]? {0,2}[=:] {0,2}[\"'`]?(?P<value>[\w.~+/-]{16,400}+={0,2})", accept=_is_long_random, flags=_I),
        *(_pattern(f"a token such as `{name}`", needles, expression, accept=_is_as_random_as(entropy)) for name, needles, expression, entropy in TOKENS),
    ),
    "email": (
        _pattern("an e-mail address", "@", r"(?<![\w.+%/-])[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}\b", accept=_is_somebody),
    ),
    "private-address": (
        _pattern("a private address", "10.|172.|192.168.|169.254.|100.", r"(?<![\w.-])(?:10(?:\.\d{1,3}){3}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|(?:192\.168|169\.254)(?:\.\d{1,3}){2})(?!\w)(?!\.\d)", accept=_is_address),
        _pattern("a private IPv6 address", "fe80::|fd", r"(?<![\w:])(?:fe80::[0-9a-f:]{1,40}|fd[0-9a-f]{2}:[0-9a-f]{0,4}:[0-9a-f:]{1,40})(?!\w)", accept=_is_ipv6, flags=_I),
        _pattern("an address behind the service", "127.|[::1]:", r"(?<![\w.:-])(?:127(?:\.\d{1,3}){3}|\[::1\]):\d{2,5}\b(?!\.\d)", accept=_is_loopback),
        _pattern("an address behind the service", "localhost:", r"\b(?:connect(?:ion|ing)?|reach|refused|dial|upstream)\b[^\n]{0,30}?[ (\"'`](?P<place>localhost:\d{2,5})\b|(?<![\w./:-])localhost:\d{2,5}\b(?=[\"'`)]{0,2}:? (?:refused|timed out|connect|is down))", flags=_I),
        _pattern("an internal host", "ip-10-|ip-172-|ip-192-|ip-100-", r"(?<![\w-])ip-(?:10|172|192|100)(?:-\d{1,3}){3}(?![\w-])"),
        _pattern("an address behind the service", "connectionpool(", r"\bHTTPS?ConnectionPool\(host=['\"](?P<place>[^'\"\n]{1,200})['\"]"),
        _pattern("an address behind the service", "getaddrinfo for | connecting to ", r"\bgetaddrinfo for (?P<place>\S{1,200}) failed\b|\bError -?\d{1,3} connecting to (?P<other>[^\s:]{1,200}:\d{2,5})\b", flags=_I),
        _pattern("an address behind the service", ":1433|:1521|:2181|:2379|:330|:4222|:54|:5672|:63|:8086|:8123|:9042|:9092|:9200|:11211|:2701|:26379", rf"(?<![\w./-])(?:[a-z0-9-]{{0,40}}(?:{_STORES})[a-z0-9.-]{{0,60}}|db[a-z0-9.-]{{0,60}}):(?:1433|1521|2181|2379|3306|3307|4222|54\d\d|5672|6379|6380|8086|8123|9042|9092|9200|11211|2701[789]|26379)\b", flags=_I),
        _pattern("an address behind the service", "[errno ", r"\[Errno -?\d{1,5}\] (?:Name or service not known|Temporary failure in name resolution|Connection (?:refused|reset|timed out)|No route to host|Network is unreachable|nodename nor servname)"),
        _pattern("an internal host", ".corp.|.internal.|.intra.|.lan.", r"(?<![\w@.-])[a-z0-9-]{0,60}[a-z][0-9-][a-z0-9-]{0,60}\.(?:[a-z0-9-]{1,60}\.){0,5}(?:corp|internal|intra|lan)\.(?:[a-z0-9-]{1,60}\.){0,3}(?:com|net|org|io|dev|cloud|co)(?![\w-])", flags=_I),
        _pattern("an internal host", ".internal|.local|.svc|.lan|.corp|.intra", r"(?<![\w@.-])(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,8}(?:internal|local|lan|corp|intra|intranet|svc)(?![\w-])(?!\.\w)", accept=_is_host, flags=_I),
        _pattern("an address behind the service", "econn|enotfound|etimedout|ehostunreach|eai_again", r"\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN) {1,2}\S{1,200}"),
        _pattern("an address behind the service", "dial ", r"\bdial (?:tcp|udp|unix)\b[^\n]{1,200}"),
    ),
    "internal-name": (
        _pattern("a dependency with its version", "sql|maria|mongo|redis|rabbit|kafka|elastic|opensearch|cassandra|memcached|oracle database", r"\b(?:PostgreSQL|MySQL|MariaDB|SQL Server|SQLite|MongoDB|Redis|RabbitMQ|Kafka|Elasticsearch|OpenSearch|Cassandra|Memcached|Oracle Database)[ /]v?\d{1,4}(?:\.\d{1,5}){0,3}\b", flags=_I),
        _pattern("an AWS resource name", "arn:aws", r"\barn:aws[\w-]{0,20}:[a-z0-9-]{1,40}:[\w-]{0,30}:\d{0,12}:[^\s\"'<>\x00]{1,300}", accept=_is_real),
        _pattern("a queue's address", ".amazonaws.com|.queue.core.windows|.servicebus.windows", r"\w\.(?:[\w-]{1,60}\.amazonaws\.com|queue\.core\.windows\.net|servicebus\.windows\.net)\b"),
        _pattern("a topic's name", "/topics/|/subscriptions/", r"\bprojects/[\w-]{1,60}/(?:topics|subscriptions)/[\w.~+%-]{1,200}"),
        _pattern("a queue's name", "queue|exchange|routing key", r"\b(?:queue|exchange|routing key)[ \t]{1,2}['\"`][\w.:/-]{1,200}['\"`]", flags=_I),
        _pattern("a broker's name", "amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq", r"\b(?:amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq)\b[^\n]{0,60}\b(?:queue|topic|exchange|channel|broker|partition|consumer|producer)s?\b", flags=_I),
        _pattern("a broker's name", "amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq", r"\b(?:queue|topic|exchange|channel|broker|partition|consumer|producer)s?\b[^\n]{0,60}\b(?:amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq)\b", flags=_I),
    ),
    "path": (
        _pattern("an installed package", "-packages/|node_modules/|.m2/repository/|go/pkg/mod/", r"\b(?:site-packages|dist-packages|node_modules|\.m2/repository|go/pkg/mod)/[\w./@-]{1,200}"),
        _pattern("a path of the server", "/", r"(?<![\w/.:*}>-])/(?:home|Users|root|etc|var|usr|opt|srv|tmp|mnt|proc|private/(?:var|tmp)|nix/store|run/secrets)/[\w.@+~-]{1,100}(?:/[\w.@+~-]{1,100}){0,40}", accept=_is_no_route),
        _pattern("a source file of the server", "/", r"(?<![\w/:.*}>-])/?(?:[\w.@+~-]{1,100}/){1,40}[\w.@+~-]{1,100}\.(?:py|pyc|rb|go|rs|java|kt|php|exs?|erl|cs|fs|vb|jar|dll|pem|db)(?!\w)(?!\.\w)"),
        _pattern("a path of the server", ":\\", r"(?<!\w)[A-Za-z]:\\{1,2}(?:[^\\/:*?\"<>|\s\x00]{1,100}\\{1,2}){0,40}[^\\/:*?\"<>|\s\x00]{1,100}"),
        _pattern("a file that an error of the system names", "[errno |[winerror ", r"\[(?:Errno|WinError) -?\d{1,5}\] [^\n'\":]{3,100}: ['\"](?P<place>[^'\"\n]{1,300})['\"]"),
        _pattern("a file that an error of the system names", _ERRNO, rf"\b(?:{_ERRNO.upper()}): [a-z][a-z ,()/-]{{4,60}}, [a-z]{{3,12}} ['\"](?P<place>[^'\"\n]{{1,300}})['\"]"),
        _pattern("a file that an error of the system names", _NO_FILE, rf"\b(?:{_NO_FILE})(?:: | ['\"`(]|: ['\"`])(?P<place>{_ABSOLUTE})|(?<![\w/.:])(?P<other>{_ABSOLUTE})['\"`]?(?:: | \()(?:{_NO_FILE})\b", flags=_I),
        _pattern("a file that an error of the system names", "permission denied|failed to open ", rf"\b(?:open|stat|lstat|mkdir|unlink|chdir|scandir|fork/exec|chmod|chown) ['\"]?(?P<place>{_ABSOLUTE})['\"]?: permission denied\b|\w\((?P<other>{_ABSOLUTE})\): failed to open (?:stream|dir)\b", flags=_I),
        _pattern("a file of the server", _ROOTS, rf"(?<![\w/.:*}}>-])/(?:{_ROOT})/(?:[\w.@+~-]{{1,100}}/){{0,40}}[\w.@+~-]{{1,100}}\.(?:ya?ml|conf|cfg|ini|toml|env|sqlite3?|log|lock|sock|pid|bin|bak|key|crt|p12|jks|so|c|cc|cpp|hpp?|properties|pkl|parquet|h5|pt|onnx|swift|dart|hs|jl|zig|ml|pl|lua|sh|mjs|cjs|tsx?|erb|j2|jinja2?|ejs|hbs|twig|ftl|tmpl|mustache)(?!\w)(?!\.\w)", accept=_is_no_route),
        _pattern("a file of the server", _ROOTS, rf"\b(?:files?|director(?:y|ies)|folder|open(?:ing|ed)?|read(?:ing)?|load(?:ing|ed)?|writ(?:e|ing|able)|import(?:ing)?|pars(?:e|ing)|access(?:ing)?|from disk|config(?:uration)?|stat|mkdir|unlink|rename|chdir)\b[^\n/]{{0,20}}[ '\"`(:](?P<place>/(?:{_ROOT})/(?:[\w.@+~-]{{1,100}}/){{0,40}}[\w@+~-]{{1,100}}(?:\.\w{{1,8}}){{1,3}})(?!\w)", accept=_is_no_route, flags=_I),
        _pattern("a network share", "\\\\", r"(?<![\\\w])\\\\[\w.-]{2,60}\\[\w$.-]{2,60}"),
        _pattern("a file URL", "file://", r"\bfile:///?[\w./%-]{2,300}"),
    ),
}
# fmt: on
"""The detectors by name, in the order in which they claim text: what one has claimed, no later one reports again."""

_PARTS_OF_A_TRACE = frozenset({"path", "sql"})
"""A trace is full of paths and drivers; it is one leak, not three."""

_FORGIVEN_WHEN_SENT = frozenset({"path", "private-address"})
"""An answer may repeat the address it was asked at; it doesn't leak what the caller said."""


def name_patterns(names: Iterable[str]) -> tuple[Pattern, ...]:
    """Patterns for a taxonomy's own internal names: regular expressions, or the text itself where one is not well formed."""
    found = []
    for name in names:
        try:
            re.compile(name, _I)
        except re.error:
            name = re.escape(name)
        found.append(Pattern("an internal name", ("",), name, _I))
    return tuple(found)


def detect(text: str, kinds: Iterable[str], names: tuple[Pattern, ...] = (), sent: str = "") -> tuple[Leak, ...]:
    """The leaks of the given kinds in ``text``, by place.

    ``names`` widens the detector ``internal-name``. ``sent`` is what the caller sent: where it already holds an address or a
    path, the answer may repeat it. Text that holds a stack trace is not searched for paths and drivers as well.
    """
    whole, text = text, _trimmed(text)
    found: list[Leak] = []
    for kind, pattern in _possible(text.lower(), frozenset(kinds), names):
        traces = [each for each in found if each.kind == "stack-trace"] if kind in _PARTS_OF_A_TRACE else []
        for match in _matches(pattern, text):
            if any(match.start() < each.end and each.start < match.end() for each in found):
                continue
            if kind in _FORGIVEN_WHEN_SENT and _place(match) in sent:
                continue
            if any(_together(text, each, match) for each in traces):
                continue
            found.append(Leak(kind, pattern.what, _glimpse(match[0]), match.start(), match.end()))
    moved = (_moved(leak, len(whole) - len(text)) for leak in found)
    return tuple(sorted(moved, key=lambda leak: (leak.start, leak.kind, leak.end)))


def planted(text: str, canaries: Iterable[Canary], *, whole: bool) -> tuple[Leak, ...]:
    """The planted values that stand in ``text``, as they are or encoded; ``whole``: as a token of their own only.

    One leak a value, in the order of the canaries; it shows nothing of the value.
    """
    lowered = folded(text)
    found = []
    for canary in canaries:
        at = next(_places(canary.value, text, lowered, whole), None)
        if at is not None:
            how, start, end = at
            found.append(Leak(canary.kind, f"the {canary.kind} of the request{how}", "", start, end))
    return tuple(found)


def _trimmed(text: str) -> str:
    if len(text) <= SCANNED:
        return text
    return text[:_HEAD] + JOINT + text[_HEAD - SCANNED :]


def _place(match: re.Match[str]) -> str:
    """The path or the address in what a pattern found: its groups ``place`` and ``other``, or all of it."""
    groups = match.groupdict()
    return groups.get("place") or groups.get("other") or match[0]


def _moved(leak: Leak, left_out: int) -> Leak:
    """The leak at its place in the whole text, of whose middle so many characters were left out."""
    if left_out == 0 or leak.start < _HEAD:
        return leak
    return replace(leak, start=leak.start + left_out, end=leak.end + left_out)


def _possible(lowered: str, kinds: frozenset[str], names: tuple[Pattern, ...]) -> list[tuple[str, Pattern]]:
    """The patterns of which a needle stands in the text, each with its detector, in the order of the detectors."""
    patterns, always, search, beginnings = _needles(kinds, names)
    begun: set[str] = set()
    match = search(lowered)
    while match is not None:
        begun.add(match[0])
        match = search(lowered, match.start() + 1)
    found = set(always)
    for beginning in begun:
        for needle, at in beginnings[beginning]:
            if needle in lowered:
                found.update(at)
    return [patterns[index] for index in sorted(found)]


class _Needles(NamedTuple):
    """The patterns of some detectors, and how their needles are found.

    ``always``: patterns without a needle. ``search`` finds the next needle that no shorter one begins; ``beginnings`` has all
    that begin with it, each with the patterns that it belongs to.
    """

    patterns: tuple[tuple[str, Pattern], ...]
    always: tuple[int, ...]
    search: Callable[..., re.Match[str] | None]
    beginnings: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]]


@lru_cache(maxsize=32)  # as many as there are taxonomies in one run, with room for tests
def _needles(kinds: frozenset[str], names: tuple[Pattern, ...]) -> _Needles:
    patterns = tuple(
        (kind, pattern)
        for kind, own in DETECTORS.items()
        if kind in kinds
        for pattern in (*own, *(names if kind == "internal-name" else ()))
    )
    needles: dict[str, tuple[int, ...]] = {}
    for index, (_, pattern) in enumerate(patterns):
        for needle in pattern.needles:
            needles[needle] = (*needles.get(needle, ()), index)
    always = needles.pop("", ())
    beginnings: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for needle in sorted(needles):  # what begins another comes before it
        first = next((needle[:end] for end in range(1, len(needle)) if needle[:end] in beginnings), needle)
        beginnings.setdefault(first, []).append((needle, needles[needle]))
    search = re.compile(_branches(sorted(beginnings)) or r"(?!)").search
    return _Needles(patterns, always, search, {each: tuple(found) for each, found in beginnings.items()})


def _branches(words: list[str]) -> str:
    """A regular expression of the words that tells them apart letter by letter; none begins another."""
    if len(words) <= 1:
        return re.escape("".join(words))
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    return f"(?:{'|'.join(re.escape(letter) + _branches(rest) for letter, rest in rests.items())})"


def _matches(pattern: Pattern, text: str) -> Iterator[re.Match[str]]:
    kept = 0
    for match in pattern.regex.finditer(text):
        if match[0] and (pattern.accept is None or pattern.accept(match)):
            yield match
            kept += 1
            if kept == _AT_MOST:
                return


def _together(text: str, leak: Leak, match: re.Match[str]) -> bool:
    first, last = sorted((leak.start, match.start()))
    return JOINT not in text[first:last]


def _glimpse(text: str) -> str:
    return f"{text[:2].strip()}… ({len(text)} characters)"


def _places(value: str, text: str, lowered: str, whole: bool) -> Iterator[tuple[str, int, int]]:
    if not value:
        return
    if len(value) < _BY_CHANCE:
        escaped = re.escape(value)
        alone = rf"(?:^|\x00\n){escaped}(?:\n\x00|$)|([\"'`]){escaped}\1|\btenant(?:[_ -]?id)?[\"'`]?[ :=]{{1,3}}[\"'`]?{escaped}(?!\w)"
        match = re.search(alone, text, re.I)
        if match:
            yield "", match.start(), match.end()
        return
    for how, needle, fold in _forms(value):
        haystack = lowered if fold else text
        start = haystack.find(needle)
        while start >= 0:
            end = start + len(needle)
            if not whole or not (_in_token(haystack, start - 1) or _in_token(haystack, end)):
                yield how, start, end
                return
            start = haystack.find(needle, end)


def folded(text: str) -> str:
    """The text without regard to case, every character at its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text)


def _in_token(text: str, index: int) -> bool:
    return 0 <= index < len(text) and (text[index].isalnum() or text[index] in "_-")


@lru_cache(maxsize=256)  # a caller's own values come back with every exchange of his
def _forms(value: str) -> tuple[tuple[str, str, bool], ...]:
    """How a value may stand in a text: in words, the text, and whether case is ignored."""
    return tuple(_encoded(value))


def _encoded(value: str) -> Iterator[tuple[str, str, bool]]:
    yield "", folded(value), True
    if len(value) < _ENCODABLE:
        return
    escaped = {
        " (URL-encoded)": (
            urllib.parse.quote(value, safe="", errors="replace"),
            urllib.parse.quote(value, errors="replace"),
            urllib.parse.quote_plus(value, errors="replace"),
        ),
        " (JSON-escaped)": (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]),
        " (HTML-escaped)": (html.escape(value),),
    }
    for how, texts in escaped.items():
        for text in texts:
            if text != value:
                yield how, folded(text), True
    raw = value.encode(errors="replace")
    yield " (hexadecimal)", raw.hex(), True
    for shift in range(3):
        # Of base64 only the characters made of the value's own bytes are the same whatever stands around it.
        coded = base64.b64encode(b"\x00" * shift + raw)
        stable = coded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6].decode()
        yield " (base64)", stable, False
        if "+" in stable or "/" in stable:
            yield " (base64)", stable.replace("+", "-").replace("/", "_"), False
