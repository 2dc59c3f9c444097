"""The grammar of the language: types of values, each key with its explanation.

The same values check a document (``check_data``), become its JSON Schema (``language.schema``) and
its reference page, so an explanation is written once. The branches of a union differ in the kind
of YAML node, so that every message is about one branch. ``language.resolve`` adds the meaning.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from faultspec.diagnostics.model import Diagnostic, Remedy, Severity
from faultspec.source import UNREADABLE, Document

Path = tuple[str | int, ...]
Kind = Literal["string", "integer", "number", "boolean", "null", "list", "mapping"]


class Text(NamedTuple):
    """A string, perhaps of a pattern, which ``shape`` describes in words.

    Without a pattern it may be empty or blank only if ``blank`` is set.
    """

    pattern: str | None = None
    shape: str = "text"
    blank: bool = False


class Choice(NamedTuple):
    """One of a closed list of strings."""

    values: tuple[str, ...]


class Integer(NamedTuple):
    """A whole number within bounds."""

    low: int | None = None
    high: int | None = None


class Number(NamedTuple):
    """Any number within bounds."""

    low: float | None = None
    high: float | None = None


class Flag:
    """``true`` or ``false``."""


class Nothing:
    """``null``."""


class Anything:
    """Any value."""


class Many(NamedTuple):
    """A list of at least ``least`` items. Texts and numbers in it are unique, unless it ``repeats``
    them.
    """

    item: "Type"
    least: int = 0
    repeats: bool = False


class Named(NamedTuple):
    """A mapping of at least ``least`` names that the author chooses.

    ``optional``: a name may end in ``?``.
    """

    value: "Type"
    key: Text = Text()
    optional: bool = False
    least: int = 0


class Key(NamedTuple):
    """A key of a record: its type, its explanation, and whether it is required."""

    type: "Type"
    doc: str
    required: bool = False


class Record(NamedTuple):
    """A mapping with known keys. ``name`` is used in messages, with its article."""

    name: str
    keys: Mapping[str, Key]


class Either(NamedTuple):
    """A union, whose branches differ in the kind of their YAML node."""

    branches: tuple["Type", ...]


class DeferredKind(NamedTuple):
    """A type that contains itself, resolved on use. ``name`` is its name in the JSON Schema."""

    name: str
    get: Callable[[], "Type"]


Type = (
    Text
    | Choice
    | Integer
    | Number
    | Flag
    | Nothing
    | Anything
    | Many
    | Named
    | Record
    | Either
    | DeferredKind
)


class GrammarProblem(NamedTuple):
    """A mistake at a path of a document. ``on_key``: the key is at fault, not its value."""

    code: str
    path: Path
    message: str
    hint: str | None = None
    on_key: bool = True
    severity: Severity = "error"
    remedy: Remedy | None = None


def problem_diagnostics(document: Document, problems: Iterable[GrammarProblem]) -> list[Diagnostic]:
    """The problems as diagnostics at their places in a document that is not a taxonomy.

    They have no fix: `faultspec lint --fix` repairs taxonomies only.
    """
    return [
        document.diagnostic(
            problem.code,
            problem.message,
            problem.path,
            key=problem.on_key,
            severity=problem.severity,
            hint=problem.hint,
        )
        for problem in problems
    ]


#: The kinds by the Python types of YAML data; every other type is a mapping.
_KINDS: Mapping[type, Kind] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "list",
}


def node_kind(value: object) -> Kind:
    """The kind of YAML node that ``value`` came from."""
    return _KINDS.get(value.__class__, "mapping")


#: The kinds of node that a simple type allows; an integer is also a number.
_ALLOWED: Mapping[type, tuple[Kind, ...]] = {
    Text: ("string",),
    Choice: ("string",),
    Integer: ("integer",),
    Number: ("integer", "number"),
    Flag: ("boolean",),
    Nothing: ("null",),
    Many: ("list",),
    Named: ("mapping",),
    Record: ("mapping",),
    Anything: ("string", "integer", "number", "boolean", "null", "list", "mapping"),
}


def node_kinds(type: Type) -> tuple[Kind, ...]:
    """The kinds of node that ``type`` allows."""
    if isinstance(type, DeferredKind):
        return node_kinds(type.get())
    if isinstance(type, Either):
        kinds = (kind for branch in type.branches for kind in node_kinds(branch))
        return tuple(dict.fromkeys(kinds))
    return _ALLOWED[type.__class__]


_ARTICLE: Mapping[Kind, str] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "list": "a list",
    "mapping": "a mapping",
}


def check_data(type: Type, value: object, path: Path = ()) -> Iterable[GrammarProblem]:
    """Every mistake in ``value`` and below it, in document order; unreadable values are skipped."""
    if isinstance(type, DeferredKind):
        type = type.get()
    if value is UNREADABLE:
        return ()
    kind = node_kind(value)
    if isinstance(type, Either):
        branch = next((branch for branch in type.branches if kind in node_kinds(branch)), None)
        if branch is None:
            return (_wrong_kind(type, kind, path),)
        if isinstance(branch, Choice) and any(isinstance(other, Flag) for other in type.branches):
            return _check_flag_or_word(branch, str(value), path)
        return check_data(branch, value, path)
    if kind not in _ALLOWED[type.__class__]:
        problem = _wrong_kind(type, kind, path)
        if isinstance(type, Text) and not type.pattern and kind in ("integer", "number"):
            problem = problem._replace(remedy=Remedy("quote"))
        return (problem,)
    check = _CHECKS.get(type.__class__)
    return () if check is None else check(type, value, path)


def _bad_value(path: Path, message: str, hint: str | None = None) -> GrammarProblem:
    return GrammarProblem("bad-value", path, message, hint, on_key=False)


def _check_text(type: Text, value: str, path: Path) -> Iterable[GrammarProblem]:
    if type.pattern is not None and not re.fullmatch(type.pattern, value, re.ASCII):
        return (_bad_value(path, f"`{_short(value)}` is not {type.shape}"),)
    if type.pattern is None and not type.blank and not value.strip():
        return (_bad_value(path, "this text is empty"),)
    return ()


def _check_choice(type: Choice, value: str, path: Path) -> Iterable[GrammarProblem]:
    if value in type.values:
        return ()
    message = f"`{_short(value)}` is not one of {', '.join(type.values)}"
    problem = _bad_value(path, message, closest(value, type.values))
    return (problem._replace(remedy=_certain_word(value, type.values)),)


def _check_integer(type: Integer, value: int, path: Path) -> Iterable[GrammarProblem]:
    low, high = type.low, type.high
    if (low is None or value >= low) and (high is None or value <= high):
        return ()
    wanted = f"between {low} and {high}" if high is not None else f"at least {low}"
    return (_bad_value(path, f"{_short(value)} is not {wanted}"),)


def _check_number(type: Number, value: float, path: Path) -> Iterator[GrammarProblem]:
    if type.low is not None and value < type.low:
        yield _bad_value(path, f"{_short(value)} is less than {type.low}")
    if type.high is not None and value > type.high:
        yield _bad_value(path, f"{_short(value)} is more than {type.high}")


def _check_list(type: Many, value: list[object], path: Path) -> Iterator[GrammarProblem]:
    if len(value) < type.least:
        yield _too_few("list", "item", type.least, path)
    found = set()
    for index, item in enumerate(value):
        at = (*path, index)
        yield from check_data(type.item, item, at)
        if type.repeats or isinstance(item, (list, dict)) or item is UNREADABLE:
            continue
        if (node_kind(item), item) in found:
            message, hint = f"`{_short(item)}` is in this list twice", "keep one of the two"
            problem = GrammarProblem("duplicate-item", at, message, hint, on_key=False)
            yield problem._replace(remedy=Remedy("drop"))
        found.add((node_kind(item), item))


#: Flags of YAML 1.1 that are text in YAML 1.2.
_FLAGS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def _check_flag_or_word(type: Choice, value: str, path: Path) -> Iterator[GrammarProblem]:
    for problem in check_data(type, value, path):
        message = f"`{_short(value)}` is not one of true, false, {', '.join(type.values)}"
        flag = _FLAGS.get(value.lower())
        hint = problem.hint if flag is None else f"write `{flag}`"
        yield problem._replace(message=message, hint=hint)


def _too_few(what: str, part: str, least: int, path: Path) -> GrammarProblem:
    return GrammarProblem("too-few", path, f"this {what} needs at least {least} {part}")


def _check_named(type: Named, value: dict[Any, object], path: Path) -> Iterator[GrammarProblem]:
    key, optional = type.key, type.optional
    if len(value) < type.least:
        yield _too_few("mapping", "entry", type.least, path)
    for name, item in readable_items(value):
        at = (*path, name)
        bare = name.removesuffix("?") if optional else name
        if key.pattern is not None and not re.fullmatch(key.pattern, bare, re.ASCII):
            yield GrammarProblem(
                "bad-name", at, f"`{_short(name)}` is not {key.shape}", _renaming_hint(type, name)
            )
        if optional and bare != name and bare in value:
            message = f"`{bare}` is here twice, once with and once without `?`"
            yield GrammarProblem("duplicate-key", at, message, "keep one of the two")
        yield from check_data(type.value, item, at)


def _check_record(type: Record, value: dict[Any, object], path: Path) -> Iterator[GrammarProblem]:
    keys = type.keys
    missing = tuple(key for key in keys if key not in value)
    misspelled = set()
    for name, item in readable_items(value):
        key = keys.get(name)
        if key is None:
            misspelled.add(nearest_spelling(name, missing))
            yield GrammarProblem(
                "unknown-key",
                (*path, name),
                f"{type.name} has no key `{_short(name)}`",
                closest(name, missing)
                or closest(name, tuple(keys))
                or f"its keys are {', '.join(keys)}",
                remedy=_certain_key(name, item, missing, keys),
            )
        else:
            for problem in check_data(key.type, item, (*path, name)):
                # The doc of the innermost key is the default hint.
                yield problem if problem.hint else problem._replace(hint=f"`{name}`: {key.doc}")
    for name in missing:
        if keys[name].required and name not in misspelled and UNREADABLE not in value:
            message, hint = f"{type.name} lacks `{name}`", f"add `{name}:`. {keys[name].doc}"
            yield GrammarProblem("missing-key", path, message, hint)


#: The check of a value of the right kind; other types have none.
_CHECKS: Mapping[type, Callable[[Any, Any, Path], Iterable[GrammarProblem]]] = {
    Text: _check_text,
    Choice: _check_choice,
    Integer: _check_integer,
    Number: _check_number,
    Many: _check_list,
    Named: _check_named,
    Record: _check_record,
}


def readable_items(mapping: Mapping[Any, object]) -> Iterable[tuple[str, object]]:
    """The entries of a mapping whose keys are readable."""
    if UNREADABLE not in mapping:
        return mapping.items()
    return [(name, value) for name, value in mapping.items() if name is not UNREADABLE]


def _wrong_kind(type: Type, found: Kind, path: Path) -> GrammarProblem:
    wanted = [_ARTICLE[kind] for kind in node_kinds(type)]
    if "a number" in wanted and "a whole number" in wanted:
        wanted.remove("a whole number")
    name = "the document"
    if path:
        name = f"`{path[-1]}`" if isinstance(path[-1], str) else "this item"
    record = next(_records(type), None)
    hint = None if record is None else f"{record.name} has the keys {', '.join(record.keys)}"
    message = f"{name} must be {' or '.join(wanted)}, not {_ARTICLE[found]}"
    return GrammarProblem("wrong-type", path, message, hint, on_key=False)


def _records(type: Type) -> Iterator[Record]:
    """The records that a value of ``type`` may be."""
    match type:
        case Record():
            yield type
        case Either(branches):
            for branch in branches:
                yield from _records(branch)
        case DeferredKind(_, get):
            yield from _records(get())


#: Comparisons for the suggestions of one document: they take seconds.
_COMPARISONS = 50_000

_COMPARISONS_LEFT: ContextVar[list[int] | None] = ContextVar("comparisons", default=None)


@contextmanager
def bounded_suggestions() -> Iterator[None]:
    """Bound the comparisons for suggestions: beyond them, nothing is near to anything."""
    token = _COMPARISONS_LEFT.set([_COMPARISONS])
    try:
        yield
    finally:
        _COMPARISONS_LEFT.reset(token)


def _may_compare(count: int) -> bool:
    left = _COMPARISONS_LEFT.get()
    if left is None:
        return True
    left[0] -= count
    return left[0] >= 0


def _close_matches(word: str, candidates: Sequence[str], n: int, cutoff: float) -> list[str]:
    import difflib  # here, because a document without mistakes does not need it

    # Longer words are not misspelled names, and the comparison takes quadratic time.
    return difflib.get_close_matches(word, candidates, n, cutoff) if len(word) <= 80 else []


def nearest_spelling(word: str, candidates: tuple[str, ...], cutoff: float = 0.6) -> str | None:
    """The candidate that ``word`` probably misspells, or None.

    ``cutoff`` is the least share of letters in common.
    """
    return _nearest(word, candidates, cutoff) if _may_compare(len(candidates)) else None


@lru_cache(maxsize=1024)  # words; the same mistake is often repeated
def _nearest(word: str, candidates: tuple[str, ...], cutoff: float) -> str | None:
    near = _close_matches(word, candidates, 1, cutoff)
    return near[0] if near else None


def _certain_word(word: str, candidates: tuple[str, ...]) -> Remedy | None:
    """The candidate that `word` certainly misspells: the only near one, and very near."""
    near = _close_matches(word, candidates, 2, 0.6) if _may_compare(len(candidates)) else []
    # Three quarters of the letters: `htpp` is `http`, while `o` may be `on`, or a foreign key.
    certain = len(near) == 1 and _close_matches(word, near, 1, 0.75)
    return Remedy("write", near[0]) if certain else None


def _certain_key(
    word: str, value: object, missing: tuple[str, ...], keys: Mapping[str, Key]
) -> Remedy | None:
    """The key that `word` certainly misspells, if it allows the value."""
    remedy = _certain_word(word, missing)
    if remedy is None or any(check_data(keys[remedy.text].type, value)):
        return None
    return remedy


def closest(word: str, candidates: tuple[str, ...], cutoff: float = 0.6) -> str | None:
    """``did you mean …?`` with the candidate nearest to ``word``, or None."""
    near = nearest_spelling(word, candidates, cutoff)
    return f"did you mean `{near}`?" if near else None


def _short(value: object) -> str:
    is_large = isinstance(value, int) and abs(value) >= 10**18
    text = "a very large number" if is_large else str(value)
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= 60 else text[:57] + "…"


def _renaming_hint(type: Named, name: str) -> str:
    """The hint for a name of another form: a pointer to a member begins with a slash, and a code
    that has other signs on the wire has a name beside them.
    """
    pointer, pattern = f"/{name}", type.key.pattern or ""
    if not name.startswith("/") and re.fullmatch(pattern, pointer):
        return f"write `{_short(pointer)}`"
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    has_wire = isinstance(type.value, Record) and "wire" in type.value.keys
    if has_wire and re.fullmatch(pattern, plain, re.ASCII):
        return f"write `{_short(plain)}: {{wire: {_short(name)}, …}}`"
    return "rename it"
