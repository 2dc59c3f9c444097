"""Where the parts of a model stand in the document, and walks over all of them."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.carriers import carriers, reaches
from faultspec.language.model import Code, Envelope, RetryPolicy, Schema, Surface, Taxonomy
from faultspec.lint.rule import Subject


def codes(taxonomy: Taxonomy) -> Iterator[tuple[Path, Code]]:
    """Every code with its path: the shared ones, then those of each operation."""
    for code in taxonomy.codes.values():
        yield ("codes", code.name), code
    for operation in taxonomy.operations.values():
        for code in operation.errors.values():
            yield ("operations", operation.name, "errors", code.name), code


def live(taxonomy: Taxonomy) -> Iterator[tuple[Path, Code]]:
    """Every code a service may produce, with its path."""
    return ((path, code) for path, code in codes(taxonomy) if code.live)


def at(subject: Subject, path: Path) -> object:
    """What stands at `path` of the document, or None."""
    value: object = subject.data
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def present(subject: Subject, path: Path, *keys: str) -> Path:
    """The path of the first of `keys` that the author wrote at `path`, or `path` itself."""
    there = at(subject, path)
    return next(((*path, key) for key in keys if isinstance(there, dict) and key in there), path)


def example_path(subject: Subject, path: Path, index: int) -> Path:
    """The path of a code's example, which may stand alone or in a list."""
    return (
        (*path, "example", index)
        if isinstance(at(subject, (*path, "example")), list)
        else (*path, "example")
    )


def allowed_on(code: Code, path: Path, surface: Surface) -> bool:
    """Whether errors on `surface` may carry the code; an operation's own codes go wherever the operation is."""
    return bool(surface.envelopes) and (
        surface.codes is None or _of_operation(path) or code.name in surface.codes
    )


def meets(surface: Surface, path: Path, code: Code) -> bool:
    """Whether the code at a path may be met on a surface."""
    return reaches(surface, code, of_operation=_of_operation(path))


def carried(taxonomy: Taxonomy, path: Path, code: Code) -> tuple[Envelope, ...]:
    """The envelopes that the code at a path may stand in."""
    return carriers(taxonomy, code, of_operation=_of_operation(path))


def codes_of_policy(taxonomy: Taxonomy, policy: RetryPolicy) -> tuple[Code, ...]:
    """The live codes that a policy retries: those that it lists, else those that name it.

    Of one that lists none and is how services behind are called: all.
    """
    everything = (
        taxonomy.upstream is not None
        and taxonomy.upstream.retry == policy.name
        and not policy.eligible
    )
    return tuple(
        code
        for _, code in live(taxonomy)
        if everything
        or (code.name in policy.eligible if policy.eligible else code.retry == policy.name)
    )


def _of_operation(path: Path) -> bool:
    return path[0] == "operations"


def schemas(schema: Schema) -> Iterator[Schema]:
    """A schema and every one inside it."""
    yield schema
    if schema.items is not None:
        yield from schemas(schema.items)
    for member in schema.properties.values():
        yield from schemas(member.schema)
