"""The routes of a program, as its framework declares them: method, path, and the function that
answers.

Read are the decorators of FastAPI, Flask, Quart and Litestar (``@router.get("/orders")``,
``@app.route("/orders", methods=["POST"])``, ``@get("/orders")``) with the prefixes of routers and
blueprints, ``Route`` of Starlette, ``path`` of Django, and ``web.get`` of aiohttp.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from faultspec.raising.functions import ProgramNames
from faultspec.raising.sources import Program, SourceModule, definitions, dotted_name

_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})

#: A parameter of a path: ``<int:number>`` (Flask, Django), ``{number:int}`` (Starlette).
_PARAMETER = re.compile(r"<(?:[^<>:]*:)?([^<>:]+)>|\{([^{}:]+)(?::[^{}]*)?\}")

#: Routes of one program. Routers that are included twice at each level would multiply them.
MOST_ROUTES = 20_000

#: Routers within routers; a cycle ends here.
_DEEPEST = 8


class CodeRoute(NamedTuple):
    """A route, and the functions that run for it: its handler and the dependencies of its
    routers.
    """

    method: str | None
    path: str
    functions: tuple[str, ...]


class _Router(NamedTuple):
    """A router or application: its own prefix, and the functions that run before its routes."""

    prefix: str
    functions: tuple[str, ...]


class _Inclusion(NamedTuple):
    """A router that another one has, below a prefix."""

    outer: str
    inner: str
    prefix: str
    functions: tuple[str, ...]


class RouteReader:
    """The routers, inclusions and handlers of the modules that were read so far."""

    def __init__(self, program: Program, names: ProgramNames) -> None:
        self.size = program.size
        self.names = names
        self.routers: dict[str, _Router] = {}
        self.inclusions: list[_Inclusion] = []
        self.handlers: list[tuple[str | None, CodeRoute]] = []

    def read(self, module: SourceModule, tree: ast.Module) -> None:
        """Read a module."""
        self.read_module(module, tree)
        functions = {
            found.name: found.node.decorator_list
            for found in definitions(tree.body, module.name)
            if not isinstance(found.node, ast.ClassDef)
        }
        for name, decorators in functions.items():
            for decorator in decorators:
                self.read_decorator(decorator, module, name)

    def read_module(self, module: SourceModule, tree: ast.Module) -> None:
        """Routers, inclusions, and tables of routes."""
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    prefix = _text(call, "prefix") or _text(call, "url_prefix") or ""
                    depends = tuple(self.dependencies(call, module))
                    if prefix or depends:
                        self.routers[f"{module.name}.{name}"] = _Router(prefix, depends)
                case ast.Call(func=ast.Attribute(value=outer, attr=attribute)) if attribute in (
                    "include_router",
                    "register_blueprint",
                ):
                    self.read_inclusion(node, outer, module)
                case ast.Call(func=called):
                    self.read_table_entry(node, called, module)

    def read_inclusion(self, call: ast.Call, outer: ast.expr, module: SourceModule) -> None:
        """``app.include_router(router, prefix="/x")``, and blueprints."""
        inner = dotted_name(call.args[0], module, {}) if call.args else None
        own = dotted_name(outer, module, {})
        if inner is not None and own is not None:
            prefix = _text(call, "prefix") or _text(call, "url_prefix") or ""
            depends = tuple(self.dependencies(call, module))
            self.inclusions.append(
                _Inclusion(self.names.resolve(own), self.names.resolve(inner), prefix, depends)
            )

    def read_table_entry(self, call: ast.Call, called: ast.expr, module: SourceModule) -> None:
        """``Route("/x", handler)``, ``path("x/", handler)``, ``web.get("/x", handler)``."""
        name = dotted_name(called, module, {}) or ""
        framework = name.partition(".")[0]
        last = name.rpartition(".")[2]
        entry = (framework in ("starlette", "litestar") and last == "Route") or (
            framework == "django" and last == "path"
        )
        verb = framework == "aiohttp" and last in _METHODS
        if not (entry or verb) or len(call.args) < 2:
            return
        target = call.args[1]
        if isinstance(target, ast.Call):  # a class as view: `View.as_view()`
            target = target.func.value if isinstance(target.func, ast.Attribute) else target.func
        handler = dotted_name(target, module, {})
        path = _constant(call.args[0])
        if handler is None or path is None:
            return
        resolved = self.names.resolve(handler)
        methods: list[str | None] = [last.upper()] if verb else [*_methods(call)]
        for method in methods or [None]:
            for function, own in self.views(resolved, method):
                self.handlers.append((None, CodeRoute(own, "/" + path.lstrip("/"), (function,))))

    def views(self, name: str, method: str | None) -> Iterator[tuple[str, str | None]]:
        """The function of a handler, or those of a class with a method for each verb."""
        if name not in self.names.classes:
            yield name, method
            return
        for verb in sorted(_METHODS):
            function = self.names.method(name, verb)
            if function is not None:
                yield function, verb.upper()

    def read_decorator(self, decorator: ast.expr, module: SourceModule, function: str) -> None:
        """``@router.get("/x")``, ``@app.route("/x", methods=[…])``, ``@get("/x")``."""
        if not isinstance(decorator, ast.Call):
            return
        called = decorator.func
        router: str | None = None
        if isinstance(called, ast.Attribute):
            verb = called.attr
            owner = dotted_name(called.value, module, {})
            router = None if owner is None else self.names.resolve(owner)
        elif (dotted := dotted_name(called, module, {})) and dotted.startswith("litestar."):
            verb = dotted.rpartition(".")[2]
        else:
            return
        path = _constant(decorator.args[0]) if decorator.args else _text(decorator, "path")
        if verb not in (*_METHODS, "route", "api_route") or path is None:
            return
        methods = [verb.upper()] if verb in _METHODS else (_methods(decorator) or ["GET"])
        depends = tuple(self.dependencies(decorator, module))
        for method in methods:
            self.handlers.append((router, CodeRoute(method, path, (function, *depends))))

    def dependencies(self, call: ast.Call, module: SourceModule) -> Iterator[str]:
        """The functions of ``dependencies=[Depends(f), …]``."""
        for keyword in call.keywords:
            if keyword.arg == "dependencies":
                for node in ast.walk(keyword.value):
                    if isinstance(node, ast.Call) and node.args:
                        dotted = dotted_name(node.args[0], module, {})
                        if dotted is not None:
                            yield self.names.resolve(dotted)

    def routes(self) -> tuple[CodeRoute, ...]:
        """Every handler below each prefix that its router has, by path. Raises TooLarge."""
        found = set(self._prefixed_routes())
        return tuple(sorted(found, key=lambda route: (route.path, route.method or "")))

    def _prefixed_routes(self) -> Iterator[CodeRoute]:
        for router, route in self.handlers:
            for prefix, functions in self.prefixes(router, _DEEPEST):
                self.size.add("routes", 1, MOST_ROUTES)
                path = _PARAMETER.sub(lambda match: f"{{{match[1] or match[2]}}}", route.path)
                yield CodeRoute(route.method, prefix + path, (*functions, *route.functions))

    def prefixes(self, router: str | None, depth: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each prefix at which a router stands, with the functions that run before."""
        own = self.routers.get(router or "", _Router("", ()))
        outer = [each for each in self.inclusions if each.inner == router]
        if not outer or depth == 0:
            yield own.prefix, own.functions
        for each in outer if depth else ():
            for prefix, functions in self.prefixes(each.outer, depth - 1):
                yield (
                    prefix + each.prefix + own.prefix,
                    (*functions, *each.functions, *own.functions),
                )


def _text(call: ast.Call, name: str) -> str | None:
    return next((_constant(each.value) for each in call.keywords if each.arg == name), None)


def _constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _methods(call: ast.Call) -> Sequence[str]:
    for each in call.keywords:
        if each.arg == "methods" and isinstance(each.value, ast.List | ast.Tuple | ast.Set):
            return [text.upper() for part in each.value.elts if (text := _constant(part))]
    return ()
