"""The grammar of the language: what may stand where, each with the one text that explains it.

The same values check a document (``problems``), become its JSON Schema (``language.schema``) and its reference page,
so an explanation is written once. A union is told apart by the kind of YAML node alone, which keeps every message about
one branch. Nothing here knows what a construct means; that is ``language.resolve``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from faultspec.diagnostics.model import Remedy, Severity
from faultspec.source import UNTOLD

Path = tuple[str | int, ...]
Kind = Literal["string", "integer", "number", "boolean", "null", "list", "mapping"]


class Text(NamedTuple):
    """A string, optionally of a pattern; ``shape`` says the pattern in words.

    Without a pattern it says something: it is neither empty nor blank, unless ``blank`` allows that.
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
    """Any value; checked elsewhere, if at all."""


class Many(NamedTuple):
    """A list of at least ``least`` items. Text and numbers stand in it once."""

    item: "Type"
    least: int = 0


class Named(NamedTuple):
    """A mapping of at least ``least`` keys that the author chooses. ``optional``: a key may end in ``?``."""

    value: "Type"
    key: Text = Text()
    optional: bool = False
    least: int = 0


class Key(NamedTuple):
    """A key of a record: its type, what it means, and whether it must be there."""

    type: "Type"
    doc: str
    required: bool = False


class Record(NamedTuple):
    """A mapping with known keys. ``name`` is what messages call it."""

    name: str
    keys: Mapping[str, Key]


class Either(NamedTuple):
    """Branches that differ in the kind of their YAML node, so at most one can be meant."""

    branches: tuple["Type", ...]


class DeferredKind(NamedTuple):
    """A type that refers to itself, looked up when it is needed. ``name`` is its name in the JSON Schema."""

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
    """Something wrong at a place of a document. ``on_key``: the key is at fault, not its value."""

    code: str
    path: Path
    message: str
    hint: str | None = None
    on_key: bool = True
    severity: Severity = "error"
    remedy: Remedy | None = None


#: The kinds by the types that YAML is read as; whatever else there is, is a mapping.
_KINDS: Mapping[type, Kind] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "list",
}


def kind(value: object) -> Kind:
    """The kind of YAML node that ``value`` came from."""
    return _KINDS.get(value.__class__, "mapping")


#: The kinds that can be meant by a type that stands for itself; an integer also counts as a number.
_MEANT: Mapping[type, tuple[Kind, ...]] = {
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


def kinds(type: Type) -> tuple[Kind, ...]:
    """The kinds of node that can be meant by ``type``."""
    meant = _MEANT.get(type.__class__)
    if meant is not None:
        return meant
    if isinstance(type, DeferredKind):
        return kinds(type.get())
    assert isinstance(type, Either)
    return tuple(dict.fromkeys(k for branch in type.branches for k in kinds(branch)))


_ARTICLE: Mapping[Kind, str] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "list": "a list",
    "mapping": "a mapping",
}


def problems(type: Type, value: object, path: Path = ()) -> Iterable[GrammarProblem]:
    """Every place under ``path`` where ``value`` leaves ``type``, in document order. Nothing is said of what is ``UNTOLD``."""
    if isinstance(type, DeferredKind):
        type = type.get()
    if value is UNTOLD:
        return ()
    found = kind(value)
    if isinstance(type, Either):
        for chosen in type.branches:
            if found in kinds(chosen):
                break
        else:
            return (_wrong_kind(type, found, path),)
        if isinstance(chosen, Choice) and any(isinstance(branch, Flag) for branch in type.branches):
            return _flag_or_word(chosen, str(value), path)
        return problems(chosen, value, path)
    if found not in _MEANT[type.__class__]:
        certain = isinstance(type, Text) and not type.pattern and found in ("integer", "number")
        return (
            _wrong_kind(type, found, path)._replace(remedy=Remedy("quote") if certain else None),
        )
    check = _CHECKS.get(type.__class__)
    return () if check is None else check(type, value, path)


def _text(type: Text, value: str, path: Path) -> Iterable[GrammarProblem]:
    if type.pattern is not None and not re.fullmatch(type.pattern, value, re.ASCII):
        return (
            GrammarProblem(
                "bad-value", path, f"`{_short(value)}` is not {type.shape}", on_key=False
            ),
        )
    if type.pattern is None and not type.blank and not value.strip():
        return (GrammarProblem("bad-value", path, "this text is empty", on_key=False),)
    return ()


def _choice(type: Choice, value: str, path: Path) -> Iterable[GrammarProblem]:
    if value in type.values:
        return ()
    message = f"`{_short(value)}` is not one of {', '.join(type.values)}"
    remedy = _only(value, type.values)
    return (
        GrammarProblem(
            "bad-value", path, message, closest(value, type.values), on_key=False, remedy=remedy
        ),
    )


def _integer(type: Integer, value: int, path: Path) -> Iterable[GrammarProblem]:
    low, high = type.low, type.high
    if (low is None or value >= low) and (high is None or value <= high):
        return ()
    wanted = f"between {low} and {high}" if high is not None else f"at least {low}"
    return (GrammarProblem("bad-value", path, f"{_short(value)} is not {wanted}", on_key=False),)


def _number(type: Number, value: float, path: Path) -> Iterator[GrammarProblem]:
    if type.low is not None and value < type.low:
        yield GrammarProblem(
            "bad-value", path, f"{_short(value)} is less than {type.low}", on_key=False
        )
    if type.high is not None and value > type.high:
        yield GrammarProblem(
            "bad-value", path, f"{_short(value)} is more than {type.high}", on_key=False
        )


def _many(type: Many, value: list[object], path: Path) -> Iterator[GrammarProblem]:
    if len(value) < type.least:
        yield _too_few("list", "item", type.least, path)
    seen = set()
    for index, each in enumerate(value):
        yield from problems(type.item, each, (*path, index))
        if not isinstance(each, (list, dict)):
            if (kind(each), each) in seen and each is not UNTOLD:
                message = f"`{_short(each)}` stands in this list twice"
                yield GrammarProblem(
                    "duplicate-item",
                    (*path, index),
                    message,
                    "keep one of the two",
                    on_key=False,
                    remedy=Remedy("drop"),
                )
            seen.add((kind(each), each))


#: What YAML 1.1 took for a flag, and 1.2 takes for text.
_FLAGS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def _flag_or_word(type: Choice, value: str, path: Path) -> Iterator[GrammarProblem]:
    for problem in problems(type, value, path):
        flag = _FLAGS.get(value.lower())
        hint = problem.hint if flag is None else f"write `{flag}`"
        yield problem._replace(
            message=f"`{_short(value)}` is not one of true, false, {', '.join(type.values)}",
            hint=hint,
        )


def _too_few(what: str, part: str, least: int, path: Path) -> GrammarProblem:
    return GrammarProblem("too-few", path, f"this {what} needs at least {least} {part}")


def _named(type: Named, value: dict[Any, object], path: Path) -> Iterator[GrammarProblem]:
    key, optional = type.key, type.optional
    if len(value) < type.least:
        yield _too_few("mapping", "entry", type.least, path)
    for name, each in readable_items(value):
        bare = name.removesuffix("?") if optional else name
        if key.pattern is not None and not re.fullmatch(key.pattern, bare, re.ASCII):
            yield GrammarProblem(
                "bad-name", (*path, name), f"`{_short(name)}` is not {key.shape}", "rename it"
            )
        if optional and bare != name and bare in value:
            message = f"`{bare}` stands here twice, once with and once without `?`"
            yield GrammarProblem("duplicate-key", (*path, name), message, "keep one of the two")
        yield from problems(type.value, each, (*path, name))


def _record(type: Record, value: dict[Any, object], path: Path) -> Iterator[GrammarProblem]:
    name, keys = type
    meant = set()
    for each, inner in readable_items(value):
        known = keys.get(each)
        if known is None:
            missing = tuple(key for key in keys if key not in value)
            meant.add(nearest(each, missing))
            yield GrammarProblem(
                "unknown-key",
                (*path, each),
                f"{name} has no key `{_short(each)}`",
                closest(each, missing)
                or closest(each, tuple(keys))
                or f"its keys are {', '.join(keys)}",
                remedy=_meant(each, inner, missing, keys),
            )
        else:
            for problem in problems(known.type, inner, (*path, each)):
                # The innermost key explains itself, so that every problem comes with a hint.
                yield problem if problem.hint else problem._replace(hint=f"`{each}`: {known.doc}")
    for each, known in keys.items():
        if known.required and each not in value and each not in meant and UNTOLD not in value:
            yield GrammarProblem(
                "missing-key",
                path,
                f"{name} says nothing of `{each}`",
                f"add `{each}:`. {known.doc}",
            )


#: What each type asks of a value of its kind; the others ask nothing more.
_CHECKS: Mapping[type, Callable[[Any, Any, Path], Iterable[GrammarProblem]]] = {
    Text: _text,
    Choice: _choice,
    Integer: _integer,
    Number: _number,
    Many: _many,
    Named: _named,
    Record: _record,
}


def readable_items(mapping: Mapping[Any, object]) -> Iterable[tuple[str, object]]:
    """The entries of a mapping whose key can be read."""
    if UNTOLD not in mapping:
        return mapping.items()
    return [(name, each) for name, each in mapping.items() if name is not UNTOLD]


def _wrong_kind(type: Type, found: Kind, path: Path) -> GrammarProblem:
    wanted = [_ARTICLE[k] for k in kinds(type)]
    if "a number" in wanted and "a whole number" in wanted:
        wanted.remove("a whole number")
    name = (
        f"`{path[-1]}`"
        if path and isinstance(path[-1], str)
        else "this item"
        if path
        else "the document"
    )
    hint = next(
        (f"{record.name} has the keys {', '.join(record.keys)}" for record in _records(type)), None
    )
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


@lru_cache(maxsize=1024)  # of words: who makes a mistake once makes it again
def nearest(word: str, candidates: tuple[str, ...], cutoff: float = 0.6) -> str | None:
    """The candidate that ``word`` is probably a misspelling of, or None; ``cutoff`` is the share of letters in common."""
    import difflib  # here, since a document without a mistake has no use for it

    # Beyond this length nobody misspells, and the comparison takes quadratic time.
    near = (
        difflib.get_close_matches(word, candidates, n=1, cutoff=cutoff) if len(word) <= 80 else []
    )
    return near[0] if near else None


def _only(word: str, candidates: tuple[str, ...]) -> Remedy | None:
    """The candidate that `word` is certainly a misspelling of: the only one that is near at all, and very near."""
    import difflib

    near = difflib.get_close_matches(word, candidates, n=2, cutoff=0.6) if len(word) <= 80 else []
    # A quarter of the letters: `htpp` is `http`, while `o` may be `on`, or nothing that is known.
    certain = len(near) == 1 and difflib.get_close_matches(word, near, cutoff=0.75)
    return Remedy("write", near[0]) if certain else None


def _meant(
    word: str, value: object, missing: tuple[str, ...], keys: Mapping[str, Key]
) -> Remedy | None:
    """The key that `word` certainly is, where its value is one that the key takes."""
    remedy = _only(word, missing)
    if remedy is None or any(problems(keys[remedy.text].type, value)):
        return None
    return remedy


def closest(word: str, candidates: tuple[str, ...], cutoff: float = 0.6) -> str | None:
    """``did you mean …?`` for the candidate nearest to ``word``, or None."""
    near = nearest(word, candidates, cutoff)
    return f"did you mean `{near}`?" if near else None


def _short(value: object) -> str:
    text = (
        str(value) if not isinstance(value, int) or abs(value) < 10**18 else "a very large number"
    )
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= 60 else text[:57] + "…"
