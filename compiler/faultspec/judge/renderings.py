"""Errors as text inside answers: whether they have the form of their rendering."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from faultspec.contract.model import Contract
from faultspec.contract.renderings import (
    PARAMETER,
    RenderingForm,
    compile_beginning,
    compile_text,
    parameters,
    required_parameters,
)
from faultspec.exchange.body import read
from faultspec.exchange.model import Exchange
from faultspec.exchange.sensitive import MASK, SensitivePlaces
from faultspec.judge.code import one_of
from faultspec.judge.collector import FindingCollector, quote_pointer
from faultspec.judge.match_envelope import ErrorReading
from faultspec.language.model import Code, Schema
from faultspec.language.values import are_equal, check_value, show
from faultspec.runtime.nodes import child

CLAUSE = "rendering/form"

_LONGEST = 8_000
"""Characters of a text that is compared: the time for its pattern grows with their square."""

_LARGEST = 1024 * 1024
"""Bytes of a body that is searched: a conversation with its tool messages."""

_DEEPEST_TEXT = 2
"""JSON in a text in JSON is read so often: a tool result holds a body, which holds a text."""


@dataclass(frozen=True, slots=True)
class RenderingReading:
    """A rendering in a body. ``at``: its place. ``values``: its parameters by name.

    ``problems``: what is wrong with it, as pairs of a pointer and a predicate.
    """

    form: RenderingForm
    at: str
    code: Code | None
    values: Mapping[str, object]
    problems: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _RenderingComparison:
    """A value compared with a picture."""

    form: RenderingForm
    sensitive: SensitivePlaces
    values: dict[str, tuple[object, str]] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    constants: int = 0
    missing: list[str] = field(default_factory=list)
    texts: list[tuple[str, str, str]] = field(default_factory=list)
    code: str | None = None
    distinctive: bool = False

    def fits(self, picture: object, value: object, at: str) -> bool:
        """Whether a value has the members of a picture; constants and texts are collected."""
        if isinstance(picture, Mapping):
            return isinstance(value, dict) and self.fits_members(picture, value, at)
        if isinstance(picture, list):
            return (
                isinstance(value, list)
                and len(value) == len(picture)
                and all(
                    self.fits(inner, value[index], child(at, index))
                    for index, inner in enumerate(picture)
                )
            )
        if not isinstance(picture, str) or not PARAMETER.search(picture):
            if not are_equal(picture, value):
                self.constants += 1
                self.problems.append((at, f"is {show(value)}; expected {show(picture)}"))
            return True
        if names := parameters(picture):
            whole = picture in (f"${names[0]}", f"${{{names[0]}}}")
            if whole and not isinstance(value, str):
                self.add(names[0], value, at)
                return True
        if not isinstance(value, str) or len(value) > _LONGEST:
            self.problems.append((at, "is not a text"))
            return True
        self.texts.append((picture, value, at))
        beginning = compile_beginning(picture)
        if beginning is not None and self.code is None:
            found = beginning[0].search(value)
            self.code = found["code"] if found else None
            self.distinctive = beginning[1]
        return True

    def fits_members(
        self, picture: Mapping[str, object], value: Mapping[str, object], at: str
    ) -> bool:
        """Whether the members of an object fit; missing ones are collected."""
        for key, inner in picture.items():
            name = key.removesuffix("?")
            if name in value and not self.fits(inner, value[name], child(at, name)):
                return False
            if name not in value and not key.endswith("?"):
                self.missing.append(name)
                self.problems.append((at, f"lacks the member `{name}`"))
        return True

    def add(self, name: str, value: object, at: str) -> None:
        """Add the value of a parameter; another value of it is a problem."""
        known = self.values.setdefault(name, (value, at))
        if known[0] != value:
            shown, other = (_show(self.sensitive, name, one) for one in (value, known[0]))
            where = quote_pointer(known[1])
            self.problems.append((at, f"has the `{name}` {shown}; {where} has {other}"))


def judge_renderings(
    findings: FindingCollector, rendered: Iterable[RenderingReading], error: ErrorReading | None
) -> None:
    """Check every rendering in an answer: its form, its values, and that they agree with the error
    of the same answer.
    """
    for reading in rendered:
        findings.exercise(CLAUSE)
        source = reading.form.rendering.source
        name = reading.form.rendering.name
        problems = [*reading.problems, *_disagreements(findings.contract, reading, error)]
        for pointer, predicate in problems[:1]:
            findings.add(
                CLAUSE,
                f"{quote_pointer(pointer)} {predicate} (rendering `{name}`)",
                pointer=pointer,
                source=source,
            )


def find_renderings(contract: Contract, exchange: Exchange) -> Iterator[RenderingReading]:
    """The renderings in an answer, at any place. Text that only resembles one is left out."""
    for body in _values_of(exchange) if contract.renderings else ():
        for at, value in _places(body):
            for form in contract.renderings:
                reading = _read(contract, form, value, at)
                if reading is not None:
                    yield reading


def _values_of(exchange: Exchange) -> Iterator[object]:
    """The body of an answer, or the data of its server-sent events."""
    body = exchange.response.body
    if len(body) > _LARGEST:
        return
    media_type = exchange.response_header("Content-Type") or ""
    is_stream = media_type.lower().startswith("text/event-stream")
    lines = body.splitlines() if is_stream else ()
    data = (line.removeprefix(b"data:") for line in lines if line.startswith(b"data:"))
    for text in data if is_stream else (body,):
        if text.lstrip()[:1] in (b"{", b"["):
            decoded = read(text)
            if decoded.problem is None:
                yield decoded.value


def _places(body: object) -> Iterator[tuple[str, object]]:
    """Every object and text of a body, also in texts that are JSON."""
    waiting: list[tuple[str, object, int]] = [("", body, 0)]
    while waiting:
        at, value, depth = waiting.pop()
        if isinstance(value, dict):
            yield at, value
            waiting.extend((child(at, key), inner, depth) for key, inner in value.items())
        elif isinstance(value, list):
            yield at, value
            waiting.extend((child(at, key), inner, depth) for key, inner in enumerate(value))
        elif isinstance(value, str):
            yield at, value
            if depth < _DEEPEST_TEXT and value[:1] in ("{", "[") and len(value) <= _LONGEST:
                decoded = read(value.encode("utf-8", "replace"))
                if decoded.problem is None:
                    waiting.append((at, decoded.value, depth + 1))


def _read(
    contract: Contract, form: RenderingForm, value: object, at: str
) -> RenderingReading | None:
    """A value read as a rendering; None if it is not certain to be one.

    It is one if its text begins with words of the rendering, or if it has all constants of the
    rendering, and names a code.
    """
    picture = form.rendering.picture
    if type(picture) is not type(value):
        return None
    comparison = _RenderingComparison(form, contract.sensitive)
    if not comparison.fits(picture, value, at):
        return None
    plain = comparison.values.get("code", (None, ""))[0]
    named = comparison.code if comparison.code is not None else plain
    if named is None or isinstance(named, dict | list):
        return None
    code = form.wires.get(str(named))
    if not _is_certain(comparison, code):
        return None
    problems = comparison.problems
    if code is None:
        problems.append((at, f"names the code {show(named)}, which is not a live code"))
    else:
        _compare_texts(comparison, code)
        problems += _wrong_values(contract, code, comparison.values)
    values = {name: found for name, (found, _) in comparison.values.items()}
    return RenderingReading(form=form, at=at, code=code, values=values, problems=tuple(problems))


def _is_certain(comparison: _RenderingComparison, code: Code | None) -> bool:
    """Whether a value is meant as the rendering, right or wrong.

    Other texts quote renderings: a member may be missing only if the text and the constants fit.
    """
    form = comparison.form
    has_constants = form.constants > 0 and not comparison.constants
    if comparison.missing:
        return comparison.distinctive and has_constants and code is not None
    if comparison.distinctive and (code is not None or form.closed):
        return True
    return has_constants and code is not None


def _compare_texts(comparison: _RenderingComparison, code: Code) -> None:
    required = required_parameters(comparison.form, code)
    for picture, value, at in comparison.texts:
        match = compile_text(picture, required).fullmatch(value)
        if match is None:
            expected = show(picture)
            comparison.problems.append((at, f"does not have the form {expected}"))
            continue
        for index, name in enumerate(parameters(picture)):
            found = match[f"p{index}"]
            if found is not None:
                comparison.add(name, found, at)


def _wrong_values(
    contract: Contract, code: Code, values: Mapping[str, tuple[object, str]]
) -> Iterator[tuple[str, str]]:
    """The values of parameters that the taxonomy forbids for the code."""
    for name, (value, at) in values.items():
        schema = _schema(contract, code, name)
        if schema is not None and not any(
            next(check_value(schema, form, contract.terms), None) is None
            for form in _readings(value)
        ):
            shown = _show(contract.sensitive, name, value)
            yield at, f"has the `{name}` {shown}, which the taxonomy does not allow"
        allowed: tuple[object, ...] = ()
        if name == "boundary":
            allowed = code.boundaries
        elif name == "retriable" and code.retriable.fixed is not None:
            allowed = (code.retriable.fixed,)
        if allowed and not any(form in allowed for form in _readings(value)):
            expected = one_of([str(term) for term in allowed])
            shown = _show(contract.sensitive, name, value)
            yield at, f"has the `{name}` {shown}; `{code.name}` requires {expected}"


def _schema(contract: Contract, code: Code, name: str) -> Schema | None:
    """The schema of a parameter, if the taxonomy has one."""
    if name.startswith("details."):
        key = name.removeprefix("details.")
        member = code.details.get(key) or contract.taxonomy.detail_keys.get(key)
        return member.schema if member is not None else None
    if name == "code":
        return None
    surfaces = contract.taxonomy.surfaces.values()
    names = (one for surface in surfaces if not surface.foreign for one in surface.envelopes)
    return next((schema for one in names if (schema := contract.slots[one].get(name))), None)


def _readings(value: object) -> Iterator[object]:
    """The values that a text may stand for: itself, and what it is as JSON."""
    yield value
    if isinstance(value, str):
        try:
            yield json.loads(value)
        except (ValueError, RecursionError):
            return


def _disagreements(
    contract: Contract, reading: RenderingReading, error: ErrorReading | None
) -> Iterator[tuple[str, str]]:
    """The values that the error of the same answer has otherwise."""
    if error is None:
        return
    details = error.value("details")
    for name, value in reading.values.items():
        key = name.removeprefix("details.")
        own = details.get(key) if name != key and isinstance(details, dict) else error.value(name)
        if own is None or name in reading.form.rendering.given or isinstance(own, dict | list):
            continue
        if not any(are_equal(form, own) for form in _readings(value)):
            shown, others = (_show(contract.sensitive, name, one) for one in (value, own))
            yield reading.at, f"has the `{name}` {shown}; the error has {others}"


def _show(sensitive: SensitivePlaces, name: str, value: object) -> str:
    """The value of a parameter for a sentence, or a mask if the parameter is sensitive."""
    return MASK if sensitive.hides(name.removeprefix("details.")) else show(value)
