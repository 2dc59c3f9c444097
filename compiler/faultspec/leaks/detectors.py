"""The patterns of leaks: a literal table with one row for each pattern."""

import re
from collections.abc import Mapping

from faultspec.leaks.business import BUSINESS
from faultspec.leaks.dumps import DUMPS
from faultspec.leaks.evidence import (
    banners,
    callers,
    context,
    files,
    hosts,
    keys,
    passwords,
    persons,
    programs,
    urls,
)
from faultspec.leaks.flags import FLAGS
from faultspec.leaks.frameworks import FRAMEWORKS
from faultspec.leaks.internals import (
    CODE,
    CONNECTIONS,
    CREDENTIALS,
    ENTERPRISE,
    FILES,
    HOSTS,
    LOGS,
    NAMES,
    QUERIES,
    SCHEMA,
    SHELL,
    VERSIONS,
)
from faultspec.leaks.operations import OPERATIONS
from faultspec.leaks.passwords import PASSWORDS
from faultspec.leaks.pattern import Pattern
from faultspec.leaks.pattern import pattern as _pattern
from faultspec.leaks.personal import PERSONAL
from faultspec.leaks.prefixes import PREFIXES
from faultspec.leaks.sentences import NETWORK, PLATFORM, RUNTIMES, STORES
from faultspec.leaks.sources import SCHEMAS, SOURCES
from faultspec.leaks.teams import TEAMS
from faultspec.leaks.technologies import TECHNOLOGIES
from faultspec.leaks.tenants import TENANTS
from faultspec.leaks.tokens import TOKENS
from faultspec.leaks.topology import TOPOLOGY

_I = re.IGNORECASE

_COLUMN = (
    r"(?:[\w.*\"`\[\]$:@']{1,100}+(?:\((?:[^()\n]|\([^()\n]{0,100}\)){0,200}+\)(?:\s{1,4}(?!FROM\b)\w{1,60})?)?"
    r"(?:\s{1,4}AS\s{1,4}[\w\"`\[\]]{1,80})?)"
)
"""A selected column: a name or a call, never two words in a row."""

_CONDITION = r"[\w.\"`\[\]()]{1,80}\s{0,4}(?:=|<|>|!=|\bIN\s{0,4}\(|\bIS\s{1,4}(?:NOT\s{1,4})?NULL\b|\bLIKE\s{1,4}['$%?:]|\bBETWEEN\s)"
"""A condition after "where", as in SQL and not as in a sentence."""

_STORES = "redis|mongo|postgres|mysql|mariadb|rabbit|kafka|elastic|memcached|etcd|nats|zookeeper|clickhouse|cassandra|database|-db"
"""Names of stores in host names: with the port of a store, such a name is a host."""

_ERRNO = "enoent|eacces|eperm|eisdir|enotdir|eexist|erofs|emfile|enospc|ebusy|enotempty|exdev|eloop|enametoolong|etxtbsy|ebadf|edquot"
"""Node's names for errors of a file system."""

_NO_FILE = "no such file or directory|is a directory|not a directory|read-only file system|no space left on device|file name too long"
"""Messages of operating systems about files only; "permission denied" has many other uses."""

_ABSOLUTE = r"/[\w.@+~-]{1,100}(?:/[\w.@+~-]{1,100}){1,40}"

_ROOT = "app|apps|data|workspaces?|code|build|builds|storage|volumes?|efs|deploy|dist|config|conf|models|function"
"""Root folders in containers, which occur in URLs as well."""

_ROOTS = "|".join(
    f"/{folder}/" for folder in [*_ROOT.replace("s?", "").split("|"), "workspaces", "volumes"]
)
_VALUE = r"[\"'`]?(?P<value>[^\s\"'`,;&<>=\x00]{%d,400}+)"

# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
DETECTORS: Mapping[str, tuple[Pattern, ...]] = {
    "stack-trace": (
        _pattern("a Python traceback", "traceback (most", r"Traceback \(most recent(?: call)?"),
        _pattern("a Python frame", 'file "', r'\bFile "[^"\n]{1,300}", line \d{1,7}\b'),
        _pattern("a JVM frame", ".java:|.kt:|.scala:|.groovy:|.clj:|(native method)|(unknown source)", r"\bat [\w$.<>/]{1,200}\((?:[\w$-]{1,100}\.(?:java|kt|scala|groovy|clj):\d{1,7}|Native Method|Unknown Source)\)"),
        _pattern("a JVM exception", "exception|error", r"\b(?:java|javax|jakarta|kotlin|kotlinx|scala|org|com|io)\.(?:[a-z_$][\w$]{0,60}\.){1,10}[A-Z]\w{0,80}(?:Exception|Error)\b"),
        _pattern("a JVM exception", "nested exception is", r"\bnested exception is\b"),
        _pattern("a JVM exception", "exception in thread", r'\bException in thread "'),
        _pattern("a JavaScript frame", "at node:|at file:|at webpack|at /|async node:|async file:|async webpack|async /|(node:|(file:|(webpack|(/|:\\", r"\bat (?:async )?(?:[\w.<>$\[\] ]{1,120} \()?(?:node:|file://|webpack|/|[A-Za-z]:\\)[^\s()]{0,300}:\d{1,7}:\d{1,7}\b"),
        _pattern("a JavaScript frame", "<anonymous>", r"\bat (?:async )?[\w.$<>\[\] ]{1,120} \(<anonymous>:\d{1,7}:\d{1,7}\)|\bat (?:async )?[\w.$<>\[\] ]{1,120} \(<anonymous>\)"),
        _pattern("a JavaScript frame", "js:|ts:|tsx:|jsx:", r"\w\.(?:[cm]?js|[cm]?ts|tsx|jsx):\d{1,7}:\d{1,7}\b"),
        _pattern("a Go panic", "goroutine ", r"\bgoroutine \d{1,9} \[[^\]\n]{1,60}\]:"),
        _pattern("a Go panic", "panic: ", r"\bpanic: (?:runtime error|[\w*.]{1,60}[:{])"),
        _pattern("a Go panic", "created by ", r"\bcreated by [\w./*()-]{1,200}(?: in goroutine \d{1,9})?\n"),
        _pattern("a signal", "[signal sig", r"\[signal SIG[A-Z]{2,10}: "),
        _pattern("a C++ exception", "terminate called", r"\bterminate called (?:after throwing|recursively|without an active exception)"),
        _pattern("a Go source line", ".go:", r"\w\.go:\d{1,7}\b"),
        _pattern("a .NET frame", ":line ", r"\.(?:cs|vb|fs):line \d{1,7}\b"),
        _pattern("a .NET frame", "at ", r"(?<!\w)at (?P<name>(?:[A-Z<][\w`<>]{0,80}\.){1,12}\.?[\w`<>\[\]|]{1,100})\((?P<parameters>[^)\n]{0,300})\)", accept=programs.is_frame),
        _pattern("a Mono frame", "[0x", r"\bat [\w.`<>+\[\], ]{1,300} \([^)\n]{0,300}\) \[0x[0-9a-f]{4,8}\] in "),
        _pattern("a .NET exception", "exception", r"\b(?:System|Microsoft)\.(?:\w{1,60}\.){0,6}\w{0,60}Exception\b"),
        _pattern("a .NET exception", "stack trace", r"--- End of (?:inner exception )?stack trace"),
        _pattern("a Ruby frame", ".rb:|:in ", r"\w\.rb:\d{1,7}\b|\w:\d{1,7}:in [`']"),
        _pattern("a PHP error", "fatal error|parse error", r"\b(?:Fatal|Parse) error: {1,4}(?:Uncaught|syntax|Allowed memory|Call to|Cannot)"),
        _pattern("a PHP frame", ".php", r"\.php(?:\(\d{1,7}\)| (?:on )?line \d|:\d{1,7}\b)"),
        _pattern("a PHP error", "</b>:", r"<b>(?:Warning|Notice|Fatal error|Parse error|Deprecated)</b>: {1,4}[^\n]{1,400}? on line <b>\d"),
        _pattern("a Rust panic", "panicked at", r"\bthread '[^'\n]{1,100}'(?: \(\d{1,9}\))? panicked at\b"),
        _pattern("a Rust source line", ".rs:", r"\w\.rs:\d{1,7}\b"),
        _pattern("a Rust backtrace", "stack backtrace:", r"\bstack backtrace:"),
        _pattern("an Elixir exception", "** (", r"(?<!\w)\*\* \((?:EXIT from|(?:[A-Z]\w{0,60}\.?){1,6}\))"),
        _pattern("an Elixir frame", ".ex:|.exs:|.erl:", r"\w\.(?:exs?|erl):\d{1,7}\b"),
        _pattern("a Perl frame", " line ", r"\bat (?:\S{1,200}\.(?:pl|pm|t|cgi|psgi)|\(eval \d{1,9}\)|-e) line \d{1,7}\b"),
        _pattern("a Lua traceback", "stack traceback:|.lua:", r"\bstack traceback:|\w\.lua:\d{1,7}:"),
        _pattern("a Python exception", "error: |stopiteration|keyboardinterrupt", r"(?<![\w.])(?:Arithmetic|Attribute|BlockingIO|BrokenPipe|Buffer|ChildProcess|ConnectionAborted|ConnectionRefused|ConnectionReset|EOF|FileExists|FileNotFound|FloatingPoint|Import|InterruptedIO|IsADirectory|Lookup|Memory|ModuleNotFound|NotADirectory|OS|Overflow|Permission|ProcessLookup|Recursion|System|UnboundLocal|Unicode|UnicodeDecode|UnicodeEncode|Value)Error: \S", accept=callers.is_code_of_service),
        _pattern("an exception", "error: ", r"(?<![\w.])(?:Assertion|Index|Key|Name|NotImplemented|Range|Runtime|Syntax|Type|ZeroDivision)Error: \S", accept=callers.is_code_of_service),
        _pattern("a Python exception", "' object |object of type '|object' has", r"'[\w. ]{1,60} object' has no attribute '|'[A-Za-z_][\w.]{0,80}' object (?:has no attribute|is not (?:subscriptable|iterable|callable|an iterator)|does not support|cannot be interpreted)\b|\bobject of type '[\w.]{1,80}' has no len\(\)"),
        _pattern("a JavaScript exception", "referenceerror: |cannot read propert|cannot set propert|is not an object (ev|cannot find module", r"\bReferenceError: \S|\bCannot (?:read|set) propert(?:y|ies) (?:'[^'\n]{1,100}' )?of (?:undefined|null)\b|\bis not an object \(evaluating |\bCannot find module '[./]", accept=callers.is_code_of_service),
        _pattern("a JVM exception", "nullpointerexception|because \"", r"\bNullPointerException\b|\bCannot (?:invoke|read|load|store|assign)\b[^\n]{1,300} because \"[^\"\n]{1,200}\" is null"),
        _pattern("a .NET exception", "object reference not set", r"\bObject reference not set to an instance of an object\b"),
        _pattern("a Go panic", "nil pointer dereference", r"\binvalid memory address or nil pointer dereference\b"),
        _pattern("a Go error", "runtime error: |cannot unmarshal |rpc error: code", r"\bruntime error: (?:index out of range|slice bounds out of range|integer divide by zero|makeslice: |hash of unhashable|cannot convert slice)|\bcannot unmarshal [a-z]{2,20} into Go (?:struct field|value)\b|\brpc error: code = [A-Z][a-zA-Z]{1,30} desc = "),
        _pattern("a Python exception", "unsupported operand|positional argument|keyword-only argument|unexpected keyword|has no attribute '|index out of range|pop from empty list|unhashable type: |not enough values to unpack|too many values to unpack", r"\bunsupported operand type\(s\) for [^\s:]{1,12}: '|\w\(\) (?:missing \d{1,3} required (?:positional|keyword-only) arguments?: '|takes \d{1,3} positional arguments? but \d|got an unexpected keyword argument ')|\bmodule '[\w.]{1,100}' has no attribute '|\b(?:list|tuple|string|bytearray) (?:assignment )?index out of range\b|\bpop from empty list\b|\bunhashable type: '|\b(?:not enough|too many) values to unpack \(expected \d"),
        _pattern("a native frame", "0x", r"(?<![\w&#])#\d{1,4} {1,4}0x[0-9a-f]{6,16} in \w"),
        _pattern("a Ruby exception", "undefined method |undefined local variable|nomethoderror", r"\bundefined (?:method|local variable or method) [`'][^'\n]{1,100}' for\b|\bNoMethodError\b"),
        _pattern("a PHP error", "on null|undefined index: |undefined variable ", r"\bCall to a member function \w{1,100}\(\) on null\b|\bUndefined (?:index: \w|variable \$\w)"),
        _pattern("a PHP error", "undefined array key ", r"\bUndefined array key (?:\d|[\"'])"),
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
        _pattern("a JavaScript frame", "blob:http|@http|):|eval at |native:", r"\((?:\(\w{1,30}\)|eval at \w{1,60}|native):\d{1,7}:\d{1,7}\)|\(blob:http[^\s()]{1,200}:\d{1,7}:\d{1,7}\)|(?<![^\s])[\w$.<>/]{0,80}(?:\(\))?@https?://[^\s@]{1,300}\.js:\d{1,7}\b"),
        *FRAMEWORKS,
        *RUNTIMES,
        *CODE,
        *DUMPS,
        *LOGS,
        *SOURCES,
    ),
    "sql": (
        *SCHEMAS,
        _pattern("a SQL statement", "select", rf"\bSELECT\s{{1,4}}(?:(?:ALL|DISTINCT|TOP \d{{1,9}})\s{{1,4}})?{_COLUMN}(?:\s{{0,4}},\s{{0,4}}{_COLUMN}){{0,60}}\s{{1,8}}FROM\s{{1,4}}(?!clauses?\b)[\w\"`\[(.]", accept=callers.is_code_of_service),
        _pattern("a SQL statement", "select", r"\bSELECT\b[^\n]{1,400}?\bFROM\b\s{1,4}(?!(?:and|or)\b)[\w\"`\[.\]]{1,80}(?:\s{1,4}(?:AS\s{1,4})?\w{1,60})?\s{1,4}(?:WHERE|(?:LEFT|RIGHT|INNER|OUTER|CROSS|FULL|NATURAL)\s|JOIN|LIMIT|ORDER BY|GROUP BY|FOR UPDATE)\b", accept=callers.is_code_of_service),
        _pattern("a SQL statement", "select", rf"\bselect\s{{1,4}}(?:distinct\s{{1,4}})?(?:\*|count\(\*\)|\w{{1,60}}\.[\w*]{{1,60}})(?:\s{{0,4}},\s{{0,4}}{_COLUMN}){{0,60}}\s{{1,8}}from\s{{1,4}}(?!(?:the|an?|all|any|this|that|these|those|your|our|its?)\s)[\w\"`\[.]", flags=_I, accept=callers.is_code_of_service),
        _pattern("a SQL statement", "select", rf"\bselect\s{{1,4}}(?:distinct\s{{1,4}})?{_COLUMN}(?:\s{{0,4}},\s{{0,4}}{_COLUMN}){{0,60}}\s{{1,8}}from\s{{1,4}}[\w\"`\[\].]{{1,80}}(?:\s{{1,4}}(?:as\s{{1,4}})?[\w\"`]{{1,60}})?\s{{1,4}}(?:where\s{{1,4}}{_CONDITION}|(?:(?:left|right|inner|outer)\s{{1,4}})?join\s{{1,4}}\S{{1,80}}\s)", flags=_I, accept=callers.is_code_of_service),
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
        _pattern("a PostgreSQL error", "connection to server |connect to server: |connection unexpectedly|ssl syscall", r"\bconnection to server (?:at|on socket) [\"\w/]|\bcould not connect to server: |\bserver closed the connection unexpectedly\b|\bSSL SYSCALL error\b"),
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
        _pattern("a Go SQL error", "sql: ", r"\bsql: (?:no rows in result set|database is closed|connection is already closed|transaction has already been|Scan error on column|expected \d{1,4} (?:destination )?arguments|converting argument |unknown driver )"),
        _pattern("a Prisma error", "constraint failed on the|constraint violated on the", r"\b(?:Unique|Foreign key|Null) constraint (?:failed|violated) on the (?:fields?|constraint): [(`]"),
        _pattern("a SQL condition", "[where ", r"\[WHERE [\"`\[]\w"),
        _pattern("an ORM error", "could not execute|could not extract|jpa entitymanager|hikaripool|prisma|activerecord|ecto.|hibernate|queryfailed|sequelize", r"\bcould not execute (?:statement|query|batch)\b|\bcould not extract ResultSet\b|\bJPA EntityManager\b|\bHikariPool\b|\bPrismaClient\w|\bActiveRecord::\w|\bEcto\.\w{1,60}Error\b|\borg\.hibernate\b|\bQueryFailedError\b|\bSequelize\w{1,60}Error\b"),
        _pattern("a PostgreSQL error", "at character ", r"(?:exist|near|alias|partition|specification|expression|allowed|ambiguous|clause|columns|type|[\"')]) at character \d{1,7}\b"),
        _pattern("a PostgreSQL error", "null value in column| of relation \"| of table \"|for relation \"|relation \"| of view \"|into view \"|update view \"|from view \"", r"\bcolumn \"[^\"\n]{1,100}\" of (?:relation|view|table) \"|\bpartition of relation \"|\bnull value in column \"|\bconstraint \"[^\"\n]{1,100}\" (?:of|for) relation \"|\brelation \"[^\"\n]{1,100}\" (?:already exists|does not exist(?! (?:in|on)\b))|\bcannot (?:insert into|update|delete from) view \""),
        _pattern("a PostgreSQL error", "null value in column|must be owner of|missing from-clause|column reference|on conflict |must have an alias|must appear in the group by|row-level security|for enum |cannot be cast |read-only transaction|prepared statement |because other objects depend|is of type |pg_", r"\bnull value in column \"|\bmust be owner of \w|\bmissing FROM-clause entry\b|\bcolumn reference \"[^\"\n]{1,100}\" is ambiguous\b|\bON CONFLICT (?:DO|specification|\()|\bmust have an alias\b|\bmust appear in the GROUP BY\b|\bviolates row-level security\b|\binvalid input value for enum \w|\bcannot be cast (?:automatically )?to type\b|\bin a read-only transaction\b|\bprepared statement \"[^\"\n]{1,100}\" (?:does not|already)|\bbecause other objects depend on it\b|\bis of type \w[\w ]{0,40} but expression is of type\b|\bpg_(?:hba|catalog|class|authid|toast|stat\w{0,40}|temp\w{0,20}|advisory\w{0,30}|sleep|dump|restore|namespace|attribute|settings|roles|database|tables)\b"),
        _pattern("a PostgreSQL error", "authentication failed for user|permitted to log in|accepting connections|canceling |duplicate key v|unterminated quoted|multiple primary keys|overlap partition|partitioned table|lock on relation|replication slot|regrole", r"\b(?:Ident|password|Peer|GSSAPI|LDAP|PAM|SCRAM) authentication failed for user \"|\bis not permitted to log in\b|\bis not currently accepting connections\b|\bcanceling (?:statement|autovacuum)\b|\bduplicate key v(?:iolates|alue violates) unique\b|\bunterminated quoted (?:string|identifier)\b|\bmultiple primary keys for table\b|\bwould overlap partition\b|\bis not a partitioned table\b|\block on relation\b|\breplication slot \""),
        _pattern("a PostgreSQL error", "permission denied |must be superuser|too many connections for|by some row|new row |hash partition|in block |wal |target columns|terminating |protocol synchronization|wraparound data|materialized view|composite type|is not an index|is not a sequence|partition of|partitioned ", r"\bpermission denied for (?:view|table|materialized view|foreign table|column|function|procedure|schema|sequence|database|tablespace|type|language|large object) \"?(?:\w{1,60}_\w{0,60}|\w{1,60}\"?\s{0,4}$)|\bpermission denied to (?:grant|create|set|drop|alter|rename|reassign) (?:role|database|parameter|owned|extension)|\bmust be superuser\b|\btoo many connections for (?:database|role) \"|\bis violated by some row\b|\bnew row (?:for relation )?[^\n]{0,100}?violates\b|\bhash partition\b|\bin block \d{1,12} of relation\b|\bWAL (?:stream|location|file|segment|record)\b|\bmore (?:expressions than target columns|target columns than expressions)\b|\bterminating (?:connection|walreceiver|walsender|background worker|autovacuum)\b|\bprotocol synchronization was lost\b|\bwraparound data loss\b|\" is not an? (?:index|sequence|partition of|partitioned table|composite type|materialized view|foreign table)\b|\bas a partition of (?:index|relation|table) \"|\bpartitioned (?:table|index) \""),
        _pattern("a SQL statement", "copy", r"\bCOPY\s{1,4}[\w\"`.]{1,100}\s{0,4}(?:\([^\n()]{0,400}\)\s{0,4})?(?:FROM\s{1,4}STDIN|TO\s{1,4}STDOUT|FROM\s{1,4}')"),
        _pattern("a PostgreSQL error", "function |operator ", r"\bfunction [\w.]{1,80}\([\w ,.\[\]]{0,200}\) (?:does not exist|already exists|is not unique)\b|\boperator does not exist: "),
        _pattern("a PostgreSQL error", "pq: |pg::|postgrex|pgsql", r"\bpq: [a-z]|\bPG::[A-Z]\w{2,60}|\bPostgrex\.\w{1,40}|\bPgSqlException\b"),
        _pattern("a database error", "unknown database|base table or view|communications link|last packet |schema-validation|server has gone away|lost connection to mysql|cannot be null|have a default value|too many connections|out of range value", r"\bUnknown database '|\bBase table or view\b|\bCommunications link failure\b|\bThe last packet s(?:ent|uccessfully)|\bSchema-validation: |\bserver has gone away\b|\bLost connection to MySQL\b|\bColumn '[\w.]{1,80}' cannot be null\b|\bField '[\w.]{1,80}' doesn't have a default value\b|\bToo many connections\b|\bOut of range value for column\b"),
        _pattern("a database error", "invalid `|in the current database|unable to start a transaction|cast to ", r"\bInvalid `[\w.$]{1,100}\(\)` invocation\b|\bdoes not exist in the current database\b|\bUnable to start a transaction in the given time\b|\bCast to (?:ObjectId|Number|String|Date|Boolean|Embedded|Buffer|UUID|\[\w{1,20}\]) failed\b"),
        _pattern("a database error", "key violation|sql statement:|is not a sequence|transaction (|ora-|db2 sql|sqlcode", r"\b(?:primary|foreign) key violation: |\bSQL statement:|\bis not a SEQUENCE\b|\bTransaction \(Process ID \d|\bDB2 SQL Error\b|\bSQLCODE[=:]"),
        _pattern("a SQL statement", "select|insert into|values", r"\bSELECT\s{1,4}(?:\$\d{1,3}|\w{1,60}\([^\n()]{0,200}\)|\d{1,9}(?:\s{0,4}[+*/-]\s{0,4}\d{1,9})?\s{0,4}(?:;|$))|\bINSERT INTO\s{1,4}[\w\"`\[\].]{1,80}\s{1,4}VALUES\s{0,4}\("),
        _pattern("a MongoDB error", "e11000|mongo", r"\bE11000 duplicate key\b|\bMongo(?:[A-Z]\w{0,40})?(?:Error|Exception)\b|\bpymongo\.errors\b"),
        _pattern("a Cassandra error", "query at consistency", r"\bduring \w{4,20} query at consistency [A-Z_]{3,20}\b"),
        _pattern("a Redis error", "clusterdown|oom command|readonly you can't|misconf redis|loading redis|moved ", r"\bCLUSTERDOWN\b|\bOOM command not allowed\b|\bREADONLY You can't write against\b|\bMISCONF Redis\b|\bLOADING Redis\b|\bMOVED \d{1,5} \S{1,200}:\d"),
        _pattern("a Redis error", "wrongtype operation|redis.exceptions|rediserror|noauth authentication", r"\bWRONGTYPE Operation\b|\bredis\.exceptions\b|\bRedisError\b|\bNOAUTH Authentication required\b"),
        *STORES,
        *SCHEMA,
        *QUERIES,
    ),
    "connection-string": (
        _pattern("a URL with credentials", "://", r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s:/@?#\"'\x00]{0,100}:[^\s/@\"'\x00]{1,200}@[^\s\"'<>\x00]{1,300}", accept=urls.is_real_url),
        _pattern("the address of a backing service", "://", r"\b(?:postgres(?:ql)?(?:\+\w{1,20})?|mysql(?:\+\w{1,20})?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|kafka|nats|memcached?|ldaps?|cassandra|clickhouse|etcd|zookeeper)://[\w:\[%*.-][^\s\"'<>\x00]{0,300}", accept=urls.is_real_url, flags=_I),
        _pattern("a data source name", "@tcp(|@unix(|@udp(", r"\b[\w.-]{1,64}:[^\s:@/()\"'\x00]{0,200}@(?:tcp|unix|udp)\([^\s()]{1,200}\)"),
        _pattern("an Oracle connect string", "@//", r"\b\w{1,60}/[^\s/@\"'\x00]{1,100}@//[\w.-]{1,100}(?::\d{2,5})?/\w{1,100}"),
        _pattern("a JDBC URL", "jdbc:", r"\bjdbc:[a-z0-9]{2,20}:[^\s\"'<>\x00]{1,300}", accept=urls.is_real_jdbc, flags=_I),
        _pattern("a connection string", ";", r"\b(?:Server|Data Source|Host|Address|AccountName|Endpoint) {0,2}=[^;=\n]{1,200};[^\n]{0,400}?\b(?:Password|Pwd|AccountKey|SharedAccessKey) {0,2}=[^;\s]{1,200}", flags=_I),
        _pattern("a libpq connection string", "dbname=", r"\b(?:host|user|password|port)=[^\s=]{1,100}[^\n]{0,200}?\bdbname=[^\s=]{1,100}|\bdbname=[^\s=]{1,100}[^\n]{0,200}?\b(?:host|user|password)="),
        *CONNECTIONS,
    ),
    "secret": (
        _pattern("a private key", "-----begin", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}(?:PRIVATE KEY|CERTIFICATE)(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\,:-]{0,8000}-----END [A-Z0-9 ]{1,80}-----)?", accept=context.is_key_block),
        _pattern("a JSON Web Token", "eyj", r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{0,2000})?"),
        _pattern("an AWS access key", "akia|asia|aroa|abia|acca|a3t", r"\b(?:AKIA|ASIA|AROA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{16}\b"),
        _pattern("an Azure key", "accountkey=", r"\bAccountKey=[A-Za-z0-9+/]{80,90}={0,2}", flags=_I),
        _pattern("a payment key", "sk_live_|rk_live_|sk_test_|rk_test_|whsec_", r"\b(?:[sr]k_(?:live|test)_|whsec_)[0-9A-Za-z]{8,200}"),
        _pattern("an API key", "sk-", r"\bsk-(?:(?:live|test|proj|ant|svcacct)-(?P<value>[\w-]{3,250})|[A-Za-z0-9]{20,250})", accept=keys.is_key),
        _pattern("an API key", "hf_|gsk_", r"\b(?:hf|gsk)_[A-Za-z0-9]{30,100}\b", accept=keys.is_as_random_as(3)),
        _pattern("a Vault token", "hvs.|hvr.", r"\bhv[sr]\.[\w-]{24,300}", accept=keys.is_as_random_as(3)),
        _pattern("a GitHub token", "ghp_|gho_|ghs_|ghu_|ghr_|github_pat_", r"\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,255}"),
        _pattern("a Twilio key", "sk0|sk1|sk2|sk3|sk4|sk5|sk6|sk7|sk8|sk9|ska|skb|skc|skd|ske|skf", r"\bSK[0-9a-f]{32}\b"),
        _pattern("a payment key", "sq0", r"\bsq0(?:atp|csp)-[\w-]{22,60}"),
        _pattern("a GitLab token", "glpat-|gldt-|glft-|glsoat-|glrt-|glcbt-|glptt-", r"\bgl(?:pat|dt|ft|soat|rt|cbt|ptt)-[\w-]{20,100}"),
        _pattern("a Slack token", "xox|hooks.slack", r"\bxox[abeoprs]-[A-Za-z0-9-]{8,250}|\bhooks\.slack\.com/services/[\w/]{10,200}"),
        _pattern("a Google key", "aiza|ya29.", r"\bAIza[\w-]{35}|\bya29\.[\w-]{20,400}"),
        _pattern("a package registry token", "npm_|pypi-", r"\bnpm_[A-Za-z0-9]{30,100}|\bpypi-[\w-]{50,400}"),
        _pattern("a mail service key", "-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
        _pattern("a bot's token", ":aa", r"\b\d{8,10}:AA[\w-]{33}\b"),
        _pattern("a mail service key", "sg.", r"\bSG\.[\w-]{16,64}\.[\w-]{16,128}"),
        _pattern("a bearer token", "bearer", r"\bBearer:?[ \t]{1,4}(?P<value>[A-Za-z0-9._~+/-]{12,4000}={0,2})", accept=keys.is_random, flags=_I),
        _pattern("a pair of credentials", "basic", r"\bBasic[ \t]{1,4}(?P<value>[A-Za-z0-9+/]{8,1000}={0,2})", accept=passwords.is_credentials),
        _pattern("a password", "pass|pwd", r"(?<![\w-])(?:\w{1,40}_)?(?:password|passwd|passphrase|pwd)[\"'`]? {0,2}= {0,2}" + _VALUE % 3, accept=keys.is_value, flags=_I),
        _pattern("a secret", "secret|key|token", r"(?<![\w-])(?:[\w-]{0,40}[_-])?(?:secret|client_?secret|secret_?(?:access_?)?key|api[_-]?key|access[_-]?key|private_?key|(?:auth|access|refresh|session|api|bearer|bot|user|service)[_-]?token)[\"'`]? {0,2}= {0,2}" + _VALUE % 6, accept=keys.is_random, flags=_I),
        _pattern("a secret", "pass|secret|key|token", r"(?<![\w-])(?:[\w-]{1,40}[_-])?(?:password|passwd|client_?secret|secret_?key|api[_-]?key|(?:auth|access|refresh|session|api|bearer|bot)[_-]?token|private_?key)[\"'`]? {0,2}: {0,2}" + _VALUE % 6 + r"(?![ \t]{1,4}[a-z])", accept=keys.is_random, flags=_I),
        _pattern("a token", "token", r"(?<![\w-])(?:[Xx]-)?token[\"'`]? {0,2}[=:] {0,2}[\"'`]?(?P<value>[\w.~+/-]{16,400}+={0,2})", accept=keys.is_long_random, flags=_I),
        _pattern("a secret", "secret|key|token|pass|auth|credential|_pat", r"(?<![A-Za-z0-9])(?P<name>[\w.-]{0,60}(?:secret|key|token|password|passwd|credentials?|_pat|auth)(?:[_-]?(?:id|value|key|token|access|b64|base64|hex|prod|dev))?)[\"'`\\]{0,2}(?:[ \t]{0,20}(?:=>|:=|=|:)[ \t]{0,20}|[\"'`]?[, \t]{1,3}value=)(?:[\"'`\\]{0,2}|(?:Bearer|Basic|Token)[ \t])(?P<value>[\w.~+/|!@#$%^*-]{14,400}+={0,2})", accept=keys.is_assigned, flags=_I),
        _pattern("a secret", "secret|key|token|password|pwd", r"(?<![A-Za-z0-9])(?P<name>[\w-]{0,40}(?:secret|(?:api|access|auth|private|license|bot)[ _-]?(?:key|token)|password|pwd)[\w-]{0,20}?)[\"'`]?[ \t-](?:is[ \t]|was[ \t]|key[ \t=-])?[\"'`]?(?P<value>[\w+/.~-]{20,400}+={0,2})", accept=keys.is_spoken, flags=_I),
        _pattern("a pair of credentials", "curl", r"\bcurl\b(?:[^\n]|\\\n){0,400}?[ \n](?:-u|--user)[ =]?['\"]?[^\s:'\"]{2,200}:(?P<value>[^\s'\"]{6,200})", accept=keys.is_own_value),
        _pattern("a secret", "convertto-securestring", r"\bConvertTo-SecureString\b[^\n]{0,40}?[\"'](?P<value>[^\"'\n]{6,200})[\"']", accept=keys.is_value),
        *PREFIXES,
        *CREDENTIALS,
        *PASSWORDS,
        *(_pattern(f"a token such as `{name}`", needles, expression, accept=keys.is_as_random_as(entropy)) for name, needles, expression, entropy in TOKENS),
    ),
    "email": (
        _pattern("an e-mail address", "@", r"(?<![\w.+%/-])[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}\b", accept=persons.is_personal),
        Pattern("an e-mail address", ("@",), r"(?<![\w.+%/-])[^\W\d_][\w.+%-]{0,63}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}\b", accept=persons.is_international),
    ),
    "personal-data": PERSONAL,
    "private-address": (
        _pattern("a private address", "10.|172.|192.168.|169.254.|100.", r"(?<![\w.-])(?:10(?:\.\d{1,3}){3}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|(?:192\.168|169\.254)(?:\.\d{1,3}){2})(?!\w)(?!\.\d)", accept=hosts.is_address),
        _pattern("a private IPv6 address", "fe80::|fd", r"(?<![\w:])(?:fe80::[0-9a-f:]{1,40}|fd[0-9a-f]{2}:[0-9a-f]{0,4}:[0-9a-f:]{1,40})(?!\w)", accept=hosts.is_ipv6, flags=_I),
        _pattern("an address behind the service", "127.|[::1]:", r"(?<![\w.:-])(?:127(?:\.\d{1,3}){3}|\[::1\]):\d{2,5}\b(?!\.\d)", accept=hosts.is_loopback),
        _pattern("an address behind the service", "localhost:", r"\b(?:connect(?:ion|ing)?|reach|refused|dial|upstream)\b[^\n]{0,30}?[ (\"'`](?P<place>localhost:\d{2,5})\b|(?<![\w./:-])localhost:\d{2,5}\b(?=[\"'`)]{0,2}:? (?:refused|timed out|connect|is down))", flags=_I),
        _pattern("an internal host", "ip-10-|ip-172-|ip-192-|ip-100-", r"(?<![\w-])ip-(?:10|172|192|100)(?:-\d{1,3}){3}(?![\w-])"),
        _pattern("an address behind the service", "connectionpool(", r"\bHTTPS?ConnectionPool\(host=['\"](?P<place>[^'\"\n]{1,200})['\"]"),
        _pattern("an address behind the service", "getaddrinfo for | connecting to ", r"\bgetaddrinfo for (?P<place>\S{1,200}) failed\b|\bError -?\d{1,3} connecting to (?P<other>[^\s:]{1,200}:\d{2,5})\b", flags=_I),
        _pattern("an address behind the service", ":1433|:1521|:2181|:2379|:330|:4222|:54|:5672|:63|:8086|:8123|:9042|:9092|:9200|:11211|:2701|:26379", rf"(?<![\w./-])(?:[a-z0-9-]{{0,40}}(?:{_STORES})[a-z0-9.-]{{0,60}}|db[a-z0-9.-]{{0,60}}):(?:1433|1521|2181|2379|3306|3307|4222|54\d\d|5672|6379|6380|8086|8123|9042|9092|9200|11211|2701[789]|26379)\b", accept=urls.is_store, flags=_I),
        _pattern("an address behind the service", "[errno ", r"\[Errno -?\d{1,5}\] (?:Name or service not known|Temporary failure in name resolution|Cannot assign requested address|Connection (?:refused|reset|timed out)|No route to host|Network is unreachable|nodename nor servname)"),
        _pattern("an internal host", ".corp.|.internal.|.intra.|.lan.|.int.|.intranet.|.priv.|.dmz.|.mgmt.|.infra.", r"(?<![\w@.-])[a-z0-9-]{0,60}[a-z][0-9-][a-z0-9-]{0,60}\.(?:[a-z0-9-]{1,60}\.){0,5}(?:corp|internal|intra|lan|int|intranet|priv|dmz|mgmt|infra)\.(?:[a-z0-9-]{1,60}\.){0,3}(?:com|net|org|io|dev|cloud|co|pl|no|se|fi|dk|de|fr|es|it|nl|be|at|ch|eu|uk|ie|pt|br|jp|in|au|ca|us|cz|sk|hu|ro|gr|tr|lt|lv|ee|is|lu|si|hr|bg|rs|info|biz|tech|app|ai|systems|network|health|bank|services|me|cn|kr|sg|za|nz|mx|ar|cl)(?![\w-])", accept=hosts.is_outside_documentation, flags=_I),
        _pattern("an internal host", ".internal|.local|.svc|.lan|.corp|.intra", r"(?<![\w@.-])(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,8}(?:internal|local|lan|corp|intra|intranet|svc)(?![\w-])(?!\.\w)", accept=hosts.is_host, flags=_I),
        _pattern("an address behind the service", "econn|enotfound|etimedout|ehostunreach|eai_again|connect e", r"\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN) {1,2}\S{1,200}|\bconnect E[A-Z]{5,12}\b"),
        _pattern("an error of the network", "econnre|econnaborted|etimedout|epipe|ehostunreach|enetunreach|eai_again|esockettimedout|und_err_", r"(?<![\w.-])(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ESOCKETTIMEDOUT|UND_ERR_[A-Z_]{4,40})(?![\w-])"),
        _pattern("an address behind the service", "upstream connect error|no live upstreams|no healthy upstream|connection timed out after", r"\bupstream connect error or disconnect\b|\bno live upstreams\b|\bno healthy upstream\b"),
        _pattern("an address behind the service", "dial ", r"\bdial (?:tcp|udp|unix)\b[^\n]{1,200}"),
        *NETWORK,
        *HOSTS,
    ),
    "internal-name": (
        _pattern("a dependency with its version", "sql|maria|mongo|redis|rabbit|kafka|elastic|opensearch|cassandra|memcached|oracle database", r"\b(?:PostgreSQL|MySQL|MariaDB|SQL Server|SQLite|MongoDB|Redis|RabbitMQ|Kafka|Elasticsearch|OpenSearch|Cassandra|Memcached|Oracle Database)[ /]v?\d{1,4}(?:\.\d{1,5}){0,3}\b", accept=banners.is_banner, flags=_I),
        _pattern("a pod's name", "-", r"-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])", accept=hosts.is_pod),
        _pattern("a pod's name", "pod", r"\b[Pp][Oo][Dd][Ss]?[ \t:=/\\\"'`]{1,4}(?=[a-z0-9.-]{0,200}\d)[a-z0-9]{1,60}(?:-[a-z0-9]{1,60}){1,10}(?![\w-])|\b[Pp]ods? \\?[\"'][a-z0-9.-]{1,253}\\?[\"'] (?:is forbidden|not found|already exists)"),
        _pattern("a service account of a cluster", "system:serviceaccount:", r"\bsystem:serviceaccount:[a-z0-9-]{1,63}:[a-z0-9-]{1,63}"),
        _pattern("a container's id", "container|docker|crio|cri-o|kubepods", r"\b(?:container|docker|containerd|cri-o|crio)(?:[ _-]?id)?[ \t:=/\\\"'`(]{1,4}[0-9a-f]{12}(?:[0-9a-f]{52})?(?![\w-])|\bkubepods[./-][\w./-]{4,200}", accept=hosts.is_container, flags=_I),
        _pattern("a container's host name", "host|instance|node|server", r"\b(?:hostname|host|instance|node|server)(?:[ _-]?(?:id|name))?[\"'\\]{0,2}[ \t]{0,2}[:=][ \t]{0,2}[\"'\\]{0,2}(?=[0-9a-f]{0,11}[a-f])(?=[0-9a-f]{0,11}\d)[0-9a-f]{12}(?![\w-])", flags=_I),
        _pattern("an instance's id", "i-0", r"(?<![\w-])i-0[0-9a-f]{16}(?![\w-])"),
        _pattern("an AWS resource name", "arn:aws", r"\barn:aws[\w-]{0,20}:[a-z0-9-]{1,40}:[\w-]{0,30}:\d{0,12}:[^\s\"'<>\x00]{1,300}", accept=context.is_real),
        _pattern("a queue's address", ".amazonaws.com|.queue.core.windows|.servicebus.windows", r"\w\.(?:[\w-]{1,60}\.amazonaws\.com|queue\.core\.windows\.net|servicebus\.windows\.net)\b"),
        _pattern("a topic's name", "/topics/|/subscriptions/", r"\bprojects/[\w-]{1,60}/(?:topics|subscriptions)/[\w.~+%-]{1,200}"),
        _pattern("a queue's name", "queue|exchange|routing key", r"\b(?:queue|exchange|routing key)[ \t]{1,2}['\"`][\w.:/-]{1,200}['\"`]", accept=callers.is_of_service, flags=_I),
        _pattern("a broker's name", "amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq", r"\b(?:amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq)\b(?!-compatible)[^\n]{0,60}\b(?:queue|topic|exchange|channel|broker|partition|consumer|producer)s?\b", accept=callers.is_of_service, flags=_I),
        _pattern("a topic's name", "not present in metadata|topic or partition", r"\bTopic [\w.-]{1,200} not present in metadata\b|\bUnknown topic or partition\b"),
        _pattern("a broker's name", "amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq", r"\b(?:queue|topic|exchange|channel|broker|partition|consumer|producer)s?\b[^\n]{0,60}\b(?:amqp|rabbitmq|kafka|sqs|sns|celery|sidekiq|pubsub|activemq)\b", accept=callers.is_of_service, flags=_I),
        *PLATFORM,
        *NAMES,
        *ENTERPRISE,
        *OPERATIONS,
        *FLAGS,
        *TEAMS,
        *TOPOLOGY,
        *BUSINESS,
        *TENANTS,
        *TECHNOLOGIES,
        *SHELL,
        *VERSIONS,
    ),
    "path": (
        _pattern("an installed package", "-packages/|node_modules/|.m2/repository/|go/pkg/mod/", r"\b(?:site-packages|dist-packages|node_modules|\.m2/repository|go/pkg/mod)/[\w./@-]{1,200}"),
        _pattern("a path of the server", "/home/|/users/|/root/|/etc/|/var/|/usr/|/opt/|/srv/|/tmp/|/mnt/|/proc/|/private/|/nix/store/|/run/secrets/", r"(?<![\w/.:*}>-])/(?:home|Users|root|etc|var|usr|opt|srv|tmp|mnt|proc|private/(?:var|tmp)|nix/store|run/secrets)/[\w.@+~-]{1,100}(?:/[\w.@+~-]{1,100}){0,40}", accept=files.is_file_path),
        _pattern("a source file of the server", ".py|.rb|.go|.rs|.java|.kt|.php|.ex|.erl|.cs|.fs|.vb|.jar|.dll|.pem|.db", r"(?<![\w/:.*}>-])/?(?:[\w.@+~-]{1,100}/){1,40}[\w.@+~-]{1,100}\.(?:py|pyc|rb|go|rs|java|kt|php|exs?|erl|cs|fs|vb|jar|dll|pem|db)(?![\w/])(?!\.\w)", accept=files.is_file_path),
        _pattern("a path of the server", ":\\", r"(?<!\w)[A-Za-z]:\\{1,2}(?:[^\\/:*?\"<>|\s\x00]{1,100}\\{1,2}){0,40}[^\\/:*?\"<>|\s\x00]{1,100}", accept=files.is_own_folder),
        _pattern("a file that an error of the system names", "[errno |[winerror ", r"\[(?:Errno|WinError) -?\d{1,5}\] [^\n'\":]{3,100}: (?:['\"](?P<place>[^'\"\n]{1,300})['\"]|(?P<other>/[^\s'\"]{1,300}))"),
        _pattern("a file that an error of the system names", _ERRNO, rf"\b(?:{_ERRNO.upper()}): [a-z][a-z ,()/-]{{4,60}}, [a-z]{{3,12}} ['\"](?P<place>[^'\"\n]{{1,300}})['\"]"),
        _pattern("a file that an error of the system names", _NO_FILE, rf"\b(?:{_NO_FILE})(?:: | ['\"`(]|: ['\"`])(?P<place>{_ABSOLUTE})|(?<![\w/.:])(?P<other>{_ABSOLUTE})['\"`]?(?:: | \()(?:{_NO_FILE})\b", flags=_I),
        _pattern("a file that an error of the system names", "permission denied|failed to open ", rf"\b(?:open|stat|lstat|mkdir|unlink|chdir|scandir|fork/exec|chmod|chown) ['\"]?(?P<place>{_ABSOLUTE})['\"]?: permission denied\b|\w\((?P<other>{_ABSOLUTE})\): failed to open (?:stream|dir)\b", flags=_I),
        _pattern("a file of the server", _ROOTS, rf"(?<![\w/.:*}}>-])/(?:{_ROOT})/(?:[\w.@+~-]{{1,100}}/){{0,40}}[\w.@+~-]{{1,100}}\.(?:ya?ml|conf|cfg|ini|toml|env|sqlite3?|log|lock|sock|pid|bin|bak|key|crt|p12|jks|so|c|cc|cpp|hpp?|properties|pkl|parquet|h5|pt|onnx|swift|dart|hs|jl|zig|ml|pl|lua|sh|mjs|cjs|tsx?|erb|j2|jinja2?|ejs|hbs|twig|ftl|tmpl|mustache)(?!\w)(?!\.\w)", accept=files.is_file_path),
        _pattern("a file of the server", _ROOTS, rf"\b(?:files?|director(?:y|ies)|folder|open(?:ing|ed)?|read(?:ing)?|load(?:ing|ed)?|writ(?:e|ing|able)|import(?:ing)?|pars(?:e|ing)|access(?:ing)?|from disk|config(?:uration)?|stat|mkdir|unlink|rename|chdir)\b[^\n/]{{0,20}}[ '\"`(:](?P<place>/(?:{_ROOT})/(?:[\w.@+~-]{{1,100}}/){{0,40}}[\w@+~-]{{1,100}}(?:\.\w{{1,8}}){{1,3}})(?!\w)", accept=files.is_file_path, flags=_I),
        _pattern("a network share", "\\\\", r"(?<![\\\w])\\\\(?!(?:server|host|hostname|computer)\\)[\w.-]{2,60}\\[\w$.-]{2,60}"),
        _pattern("an object in a store", "s3://|s3a://|gs://", r"\b(?:s3a?|gs)://(?P<place>[a-z0-9][a-z0-9.-]{2,62}/[^\s\"'<>\x00]{1,300})", accept=urls.is_real_bucket),
        _pattern("a file URL", "file://", r"\bfile:///?[\w./%-]{2,300}"),
        *FILES,
    ),
}
# fmt: on
"""The detectors by name. A text that one detector reports is not reported by a later one."""
