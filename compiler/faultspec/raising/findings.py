"""Diagnostics of a program that raises other codes than its taxonomy declares."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, Related, Span
from faultspec.language import LoadedTaxonomy
from faultspec.language.model import Operation, Taxonomy
from faultspec.language.routes import compile_route
from faultspec.raising.bare_errors import bare_errors, is_bare_error
from faultspec.raising.flow import CodeClasses, Flow, own_raises, trace_codes, way_to
from faultspec.raising.functions import (
    Function,
    ProgramNames,
    SourcePlace,
    read_functions,
    written_texts,
)
from faultspec.raising.routes import CodeRoute, RouteReader
from faultspec.raising.sources import Program, SourceModule

CODES: Mapping[str, str] = {
    "code-not-raised": "A declared code that no line of the program raises (`trace-code`).",
    "raise-undeclared": (
        "A route may raise a code that its operation does not list (`trace-code`)."
    ),
    "binding-missing": (
        "An import of a class that the bindings of the taxonomy do not have (`trace-code`)."
    ),
    "framework-error": "An error of the framework, which has no code (`trace-code`).",
    "route-undeclared": "A route that no operation of the taxonomy matches (`trace-code`).",
    "routes-unknown": (
        "The taxonomy has routes, and none of the program was recognised (`trace-code`)."
    ),
    "raise-unknown": "A raise of a value whose class is not known without running (`trace-code`).",
    "call-unknown": (
        "A call of a method of a value whose class is not known, where a method of that name may "
        "raise codes (`trace-code`)."
    ),
    "source-unreadable": "A file that is not Python (`trace-code`).",
}


#: Diagnostics of one question. A program with more has one cause for many.
MOST_SHOWN = 5_000

#: Functions of a way that a message shows.
_SHOWN = 10


class CodeTrace(NamedTuple):
    """The diagnostics, and the counts of what was read."""

    diagnostics: tuple[Diagnostic, ...]
    files: int
    functions: int
    routes: int
    raised: int
    declared: int


def trace_program(
    program: Program, loaded: LoadedTaxonomy, classes: CodeClasses, boundary: str | None = None
) -> CodeTrace:
    """Compare a program with its taxonomy, which is valid. ``boundary``: only its codes are due."""
    taxonomy = loaded.taxonomy
    if taxonomy is None:
        raise ValueError("the taxonomy is not valid")
    names = ProgramNames(program)
    router = RouteReader(program, names)
    functions: dict[str, Function] = {}
    texts: dict[str, SourcePlace] = {}
    wires = {str(code.wire) for code in taxonomy.every_code()}
    missing: list[Diagnostic] = []
    for module in program.modules.values():
        tree = module.parse()
        read = read_functions(
            module, tree, names, lambda name: is_bare_error(name) or classes.code(name) is not None
        )
        functions |= {function.name: function for function in read}
        router.read(module, tree)
        missing += _missing_bindings(program, module, tree, classes)
        texts = {**written_texts(module, tree, wires), **texts}
    flow = trace_codes(functions, names, classes, program.size)
    routes = router.routes()
    raised = {code for function in functions.values() for code, _ in own_raises(function, classes)}
    due = _due_codes(taxonomy, boundary)
    diagnostics = (
        *program.problems,
        *_some(iter(missing)),
        *_some(_not_raised(loaded, due - raised, boundary, texts)),
        *_some(_route_diagnostics(loaded, routes, functions, flow)),
        *_some(_framework_errors(functions)),
        *_some(_unfollowed_lines(program, names, functions, flow)),
    )
    return CodeTrace(
        diagnostics=tuple(sorted(diagnostics)),
        files=len(program.modules),
        functions=len(names.functions),
        routes=len(routes),
        raised=len(due & raised),
        declared=len(due),
    )


def _missing_bindings(
    program: Program, module: SourceModule, tree: ast.Module, classes: CodeClasses
) -> Iterator[Diagnostic]:
    """Imports of what the bindings had before a code was renamed or removed."""
    for node in ast.walk(tree):
        # A module of the program may have the name of the package.
        if not isinstance(node, ast.ImportFrom) or node.module in program.modules:
            continue
        for alias in node.names:
            if classes.lacks(node.module, alias.name):
                at = alias.col_offset + 1
                yield Diagnostic(
                    "binding-missing",
                    f"the bindings of the taxonomy have no `{alias.name}`, so the import fails",
                    path=module.path,
                    span=Span(alias.lineno, at, alias.lineno, at + len(alias.name)),
                    hint="raise the code that replaces it",
                )


def _some(diagnostics: Iterator[Diagnostic]) -> Iterator[Diagnostic]:
    """The first diagnostics; the last of them counts those that are left out."""
    for number, diagnostic in enumerate(diagnostics, 1):
        if number == MOST_SHOWN:
            left = sum(1 for _ in diagnostics)
            more = f"{diagnostic.message}; {left:,} more are left out" if left else None
            yield replace(diagnostic, message=more or diagnostic.message)
            return
        yield diagnostic


def _due_codes(taxonomy: Taxonomy, boundary: str | None) -> set[str]:
    """The live codes that the program itself is to raise: not the fallbacks, which the error
    boundary makes, and none that only other boundaries produce.
    """
    fallbacks = {fallback.code for fallback in taxonomy.fallbacks}
    return {
        code.name
        for code in taxonomy.every_code()
        if code.live
        and code.name not in fallbacks
        and (boundary is None or not code.boundaries or boundary in code.boundaries)
    }


def _not_raised(
    loaded: LoadedTaxonomy,
    missing: set[str],
    boundary: str | None,
    texts: Mapping[str, SourcePlace],
) -> Iterator[Diagnostic]:
    if loaded.document is None or loaded.taxonomy is None:
        return
    hint = "raise it, remove it, or leave it to another service"
    if boundary is None and len(loaded.taxonomy.boundaries) > 1:
        hint += "; `--boundary NAME` asks for the codes of one boundary only"
    seen: set[str] = set()
    for path, code in loaded.taxonomy.located_codes():
        if code.name not in missing or code.name in seen:
            continue
        seen.add(code.name)
        diagnostic = loaded.document.diagnostic(
            "code-not-raised",
            f"no line of the program raises `{code.name}`",
            path,
            severity="warning",
            hint=hint,
        )
        place = texts.get(str(code.wire))
        if place is not None:
            related = (Related("it is written as text here", place.path, place.span),)
            diagnostic = replace(diagnostic, severity="note", related=related)
        yield diagnostic


def _route_diagnostics(
    loaded: LoadedTaxonomy,
    routes: tuple[CodeRoute, ...],
    functions: Mapping[str, Function],
    flow: Flow,
) -> Iterator[Diagnostic]:
    compiled = [
        (operation, compile_route(pattern))
        for operation in (loaded.taxonomy.operations.values() if loaded.taxonomy else ())
        if not operation.match.reads_request
        for pattern in operation.match.routes
    ]
    if not compiled:
        return
    if not routes and loaded.document is not None:
        yield loaded.document.diagnostic(
            "routes-unknown",
            "no route of the program was recognised, so no operation is compared with its codes",
            ("operations",),
            severity="note",
            hint="name the folder that has the routes; docs/how-to/trace-code.md has the forms",
        )
    for route in routes:
        shown = f"{route.method or 'any method of'} {route.path}"
        matching = {
            operation.name: operation
            for operation, pattern in compiled
            if pattern.claims(route.method or pattern.method or "GET", [route.path])
        }
        handlers = [functions[name] for name in route.functions if name in functions]
        if not handlers:
            continue
        if not matching:
            yield Diagnostic(
                "route-undeclared",
                f"no operation of the taxonomy has the route {shown}",
                path=handlers[-1].place.path,
                span=handlers[-1].place.span,
                severity="note",
            )
        for operation in matching.values():
            yield from _undeclared_codes(operation, shown, handlers, flow)


def _undeclared_codes(
    operation: Operation, shown: str, handlers: list[Function], flow: Flow
) -> Iterator[Diagnostic]:
    listed = frozenset(operation.named_codes)
    if not listed:
        return
    reported: set[str] = set()
    for handler in handlers:
        for code, raised in sorted(flow.get(handler.name, {}).items()):
            if code in listed or code in reported:
                continue
            reported.add(code)
            way = _shown_way(way_to(flow, handler.name, code))
            yield Diagnostic(
                "raise-undeclared",
                f"{shown} may raise `{code}`, which the operation `{operation.name}` does not list",
                path=raised.path,
                span=raised.span,
                hint=f"list it in operations.{operation.name}.codes, or catch it on the way",
                related=(Related(f"by way of {way}", handler.place.path, handler.place.span),),
            )


def _shown_way(functions: Iterator[str]) -> str:
    names = [name.rpartition(".")[2] for name in functions]
    if len(names) > _SHOWN:
        names = [*names[: _SHOWN // 2], "…", *names[-_SHOWN // 2 :]]
    return " → ".join(names)


def _framework_errors(functions: Mapping[str, Function]) -> Iterator[Diagnostic]:
    for function in functions.values():
        for span, what in bare_errors(function):
            yield Diagnostic(
                "framework-error",
                what,
                path=function.path,
                span=span,
                severity="warning",
                hint="raise an error of the taxonomy in its place",
            )


def _unfollowed_lines(
    program: Program, names: ProgramNames, functions: Mapping[str, Function], flow: Flow
) -> Iterator[Diagnostic]:
    methods: dict[str, set[str]] = {}
    for name, raised in flow.items():
        if raised and name in names.functions:
            methods.setdefault(name.rpartition(".")[2], set()).update(raised)
    packages = {module.partition(".")[0] for module in program.modules}
    for function in functions.values():
        for span in function.dynamic:
            message = "the class of the raised value is not known, so its code is not traced"
            yield Diagnostic("raise-unknown", message, function.path, span=span, severity="note")
        for use in function.uses:
            last = use.name.rpartition(".")[2]
            inside = use.name.partition(".")[0] in packages
            if use.made and inside and last in methods and names.target(use.name) is None:
                codes = ", ".join(f"`{code}`" for code in sorted(methods[last]))
                yield Diagnostic(
                    "call-unknown",
                    f"the class of this value is not known; a method `{last}` may raise {codes}",
                    path=function.path,
                    span=use.span,
                    severity="note",
                    hint="annotate the variable with its class",
                )
