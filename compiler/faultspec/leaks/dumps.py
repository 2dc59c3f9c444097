"""Patterns of a program's memory: objects printed for a programmer, addresses, crashes."""

import re

from faultspec.leaks.evidence import callers, programs
from faultspec.leaks.pattern import Pattern
from faultspec.leaks.pattern import pattern as _pattern

_I = re.IGNORECASE

_MEMBER = r"[a-z]\w{0,40}=[^,=(){}\[\]\n]{0,60}"
"""A member of an object, as Java, Kotlin and Python print it."""

# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
DUMPS: tuple[Pattern, ...] = (
    _pattern("an object of the program", "@", r"(?<![\w\[])\[{1,3}(?:L[\w.$]{1,200};|[BCDFIJSZ])@[0-9a-f]{3,8}\b"),
    _pattern("an object of the program", "=", rf"(?<![\w./`\"'@])(?:[A-Z][a-z0-9]{{1,30}}){{1,6}}(?:\{{{_MEMBER}(?:, {_MEMBER}){{1,30}}\}}|\[{_MEMBER}(?:, {_MEMBER}){{1,30}}\]|\({_MEMBER}(?:, {_MEMBER}){{2,30}}\))", accept=programs.is_dump),
    _pattern("an object of the program", "{", r"(?<![\w$}])&?\{[A-Z]\w{0,40}:[^\s{}:]{0,60}(?: [A-Z]\w{0,40}:[^\s{}:]{0,60}){2,30}\}"),
    _pattern("an object of the program", " = ", r"(?<![\w./`\"'@])(?:[A-Z][a-z0-9]{1,30}){1,6} \{ [A-Z]\w{0,40} = [^,{}\n]{0,60}(?:, [A-Z]\w{0,40} = [^,{}\n]{0,60}){1,30} \}", accept=programs.is_dump),
    _pattern("an object of the program", "%", r"(?<![\w%])%[A-Z]\w{1,40}(?:\.[A-Z]\w{1,40}){0,6}\{\w{1,40}: "),
    _pattern("an object of the program", "=", r"<[A-Z][a-z]\w{0,40} [a-z]\w{0,30}=[^<>\"'{}\n]{1,100}>"),
    _pattern("a dump of a variable", "=>", r"\[\\?\"\w{1,60}\\?\"\]=>\s{0,40}(?:\\n\s{0,40})?(?:string|int|bool|float|array|object|NULL)\b|\bArray\s{0,4}(?:\\n\s{0,4})?\(\s{0,16}(?:\\n\s{0,16})?\[\w{1,60}\] => "),
    _pattern("a dump of a variable", "[object ", r"\[object (?:Object|Promise|Undefined|Error|Map|Set|Function)\]"),
    _pattern("a dump of a variable", "debug", r"[\"']_?debug(?:_?info|_?data|_?context)?[\"']\s?:\s?[{\[](?!\s?[}\]])", flags=_I),
    _pattern("a prompt of a debugger", "pdb)|gdb)|lldb)|irb(main)|pry(", r"\((?:i?[Pp]db|gdb|lldb)\)|\birb\(main\):\d|\[\d{1,4}\] pry\("),
    _pattern("a note of a programmer", "todo|fixme|xxx", r"(?:^|[\"']: ?[\"']|\()(?:TODO|FIXME|XXX)(?:\(\w{1,40}\))?: \w"),
    _pattern("a note of a programmer", "branch|code path|switch case|default case|unreachable", r"\b(?:branch|code path|switch case|default case)\b[^\n.]{0,24}\b(?:should|must|can) ?(?:never|not) (?:happen|be reached|be taken|run)\b|\bunreachable (?:code|branch|statement)\b", accept=callers.is_code_of_service, flags=_I),
    _pattern("a crash of the process", "segfault at|general protection|segmentation fault|access violation|exc_bad_access|sanitizer: |0xc0000005|stack smashing|double free|corrupted size|malloc(): |free(): |munmap_chunk|buffer overflow detected", r"\bsegfault at [0-9a-fx]{1,18}\b|\bgeneral protection (?:fault|ip:)|\b[Ss]egmentation fault\b|\b[Aa]ccess violation (?:at|reading|writing|executing)\b|\bEXC_BAD_ACCESS\b|\b(?:Address|Thread|Memory|Leak|UndefinedBehavior)Sanitizer: |\b0[xX][cC]0000005\b|\bstack smashing detected\b|\bdouble free (?:or corruption|detected)|\bcorrupted size vs\. prev_size|\b(?:malloc|free)\(\): \w|\bmunmap_chunk\(\)|\bbuffer overflow detected\b", accept=callers.is_code_of_service),
    _pattern("a signal", "sigsegv|sigabrt|sigbus|sigill|sigfpe", r"\bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b", accept=callers.is_code_of_service),
    _pattern("an address in memory", "0000", r"\b(?:[Hh]andle|[Pp]ointer|[Aa]ddress|[Oo]bject|at)[ :=]{1,2}(?P<value>0{4,12}[0-9A-F]{4,12})\b", accept=programs.is_address_of_memory),
    _pattern("an address in memory", "rva 0x|register|pointer|after free|after-free|null page", r"\bRVA 0x[0-9a-f]{2,16}\b|\bregisters? (?:[re][abcd]x|[re][sd]i|[re][sb]p|[re]ip)\b|\b(?:(?:wild|dangling|stray|null) pointer|null page)\b|\buse[- ]after[- ]free\b", accept=callers.is_code_of_service, flags=_I),
    _pattern("a Ruby frame", "block ", r"\bin [`']block (?:\(\d{1,3} levels\) )?in \w"),
    _pattern("a JavaScript frame", "column |col ", r"\bline \d{1,7},? col(?:umn)? \d{1,7} (?:of|in) [\w~./-]{1,100}\.(?:[cm]?js|tsx?)\b"),
    _pattern("a JavaScript frame", ".chunk.js|.bundle.js", r"[\w~.-]{1,100}\.(?:chunk|bundle)\.js\b"),
    _pattern("a source line", "error ts", r"\w\.[cm]?tsx?\(\d{1,6},\d{1,6}\): error TS\d"),
    _pattern("an exception's class", "threw|raised|throwing|raising|throws", r"\b(?:threw|raised|throws|throwing|raising) (?:an? )?[`'\"]?(?:[A-Za-z_]\w{0,40}\.){0,6}[A-Z]\w{1,60}(?:Error|Exception)\b", accept=callers.is_code_of_service),
    _pattern("a type of the program", "nsarray|bigdecimal|biginteger|localdate|zoneddatetime|offsetdatetime|hashmap|arraylist|nsstring|nsnumber|nsdictionary|nullable`|datetime.date|decimal.decimal|uuid.uuid", r"(?<![\w./-])(?:BigDecimal|BigInteger|LocalDate(?:Time)?|ZonedDateTime|OffsetDateTime|(?:Linked|Concurrent)?HashMap|ArrayList|NS(?:String|Number|Dictionary|Array)|Nullable`1|datetime\.date(?:time)?|decimal\.Decimal|uuid\.UUID)(?![\w/-])", accept=callers.is_code_of_service),
    _pattern("an exception's class", "nullreference|nullpointer|indexoutof|outofmemory|classcast", r"\b(?:NullReference|NullPointer|IndexOutOfRange|IndexOutOfBounds|OutOfMemory|ClassCast)\b", accept=callers.is_code_of_service),
    _pattern("a fault of a gateway", "steps.|messaging.|policies.", r"(?<![\w./-])(?:steps\.[a-z]\w{2,40}|messaging\.(?:adaptors|runtime)\.[\w.]{2,60}|policies\.[a-z]\w{2,40})\.[A-Z]\w{3,60}(?![\w.])"),
    _pattern("a sentence of serde", "expected ", r"\binvalid (?:type|value|length): [^\n]{1,80}, expected (?:struct \w|(?:[iuf]\d{1,3}|usize|isize)\b|a tuple|tuple struct|newtype|internally tagged|externally tagged)|\bunknown variant `[^`\n]{1,60}`, expected (?:one of )?`"),
    _pattern("a class of the program", "abstract|legacy|strategy|visitor|facade|decorator|converter|deserializer|singleton|mediator", r"(?<![\w./@-])(?:(?:Abstract|Legacy)(?:[A-Z][a-z0-9]{1,30}){1,5}(?:Strategy|Visitor|Facade|Decorator|Converter|Service|Handler|Manager|Factory|Provider|Processor|Repository|Adapter|Controller|Impl|Mapper|Client)|(?:[A-Z][a-z0-9]{1,30}){2,6}(?:Strategy|Visitor|Facade|Decorator|Converter|Deserializer|Singleton|Mediator))\b", accept=callers.is_of_service),
    _pattern("a page of a server", "it works!|could not be retrieved|friendly error page|j_security_check|generated by |welcome to nginx|test page for|default page", r"<h1>It works!</h1>|\bThe requested URL could not be retrieved\b|\bChrome friendly error page\b|\bj_security_check\b|\bGenerated by [\w.-]{1,100} \(squid/|\bWelcome to nginx!|\bTest Page for the (?:Apache|HTTP Server|Nginx)|\b(?:Apache2? (?:Ubuntu|Debian)|IIS Windows(?: Server)?) Default Page\b", flags=_I),
)
# fmt: on
