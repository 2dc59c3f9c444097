"""Names in TypeScript; never one that the modules use themselves, never the same twice."""

from faultspec.language.spelling import pascal, words
from faultspec.targets.filters import take_unique
from faultspec.targets.python.names import package as python_package

#: Names that the modules declare, import or use: an interface of the same name would hide them.
RESERVED = frozenset(
    {
        *("Answer", "AnyError", "Budget", "ClientAction", "Common", "Condition", "Details"),
        *("Effect", "ErrorCode", "Errors", "ErrorsOfCode", "Failure", "Facts", "HeaderSource"),
        *("Jitter", "KnownError", "Kind", "PlanOptions", "PolicyName", "Phase", "Plan"),
        *("Policy", "Reason", "Refusal", "Retriability", "RetriableRule", "Retry"),
        *("RetryAfterRule", "State", "UnknownError", "Wire", "Json", "Array", "Boolean"),
        *("Date", "Error"),
        *("Exclude", "Extract", "Function", "Iterable", "JSON", "Map", "Math", "Number"),
        *("Object", "Omit", "Partial", "Pick", "Promise", "Readonly", "ReadonlyArray"),
        *("ReadonlyMap", "ReadonlySet", "Record", "RegExp", "Required", "Set", "String"),
        *("Symbol", "EvalError", "RangeError", "ReferenceError", "SyntaxError"),
        *("TypeError", "URIError"),
        *("AnyException", "CodeValue", "ConstantField", "Declared", "DerivedField"),
        *("EnvelopeName", "ExceptionClass", "Fallback", "NonNullable", "Options"),
        *("Parameters", "Reflect", "ReturnType", "SentError", "Span"),
    }
)

#: Members of every error, whose names a slot cannot have.
MEMBERS = frozenset(
    {
        *("cause", "constructor", "name", "stack"),  # of `Error` and of classes
        *("boundary", "code", "details", "headers", "known", "message", "operation"),
        *(
            "originalCode",
            "others",
            "raw",
            "retriable",
            "flag",
            "retryAfter",
            "status",
            "replacedBy",
        ),
    }
)


def folder(taxonomy: str) -> str:
    """``platform-errors`` for the taxonomy ``platform``."""
    return python_package(taxonomy).strip("_").replace("_", "-")


def error(operation: str | None, code: str, taken: set[str]) -> str:
    """The interface of a code, called as its exception in Python is; one that would hide another
    name says ``Failure`` behind it.
    """
    name = (pascal(operation) if operation else "") + pascal(code)
    if not name or name[0].isdigit():
        name = f"Code{name}"
    if name in RESERVED or name.endswith(("Details", "Envelope")):
        name += "Failure"
    return take_unique(name, taken)


def envelope(name: str, taken: set[str]) -> str:
    """The type of an envelope: ``ErrorEnvelope`` for ``error``."""
    stem = pascal(name).removesuffix("Envelope")
    return take_unique(f"Of{stem}Envelope" if stem[:1].isdigit() else f"{stem}Envelope", taken)


def camel(name: str) -> str:
    """``correlationId`` for ``correlation_id``."""
    first, *rest = [word.lower() for word in words(name)] or ["value"]
    found = first + "".join(each[:1].upper() + each[1:] for each in rest)
    return f"slot{found}" if found[0].isdigit() else found


def slot(name: str, taken: set[str]) -> str:
    """The member of errors for a slot."""
    found = camel(name)
    return take_unique(f"{found}Slot" if found in MEMBERS else found, taken)
