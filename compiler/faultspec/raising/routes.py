"""The routes of a program, as its framework declares them: method, path, and the function that
answers.

Read are the decorators of FastAPI, Flask, Quart and Litestar (``@router.get("/orders")``,
``@app.route("/orders", methods=["POST"])``, ``@get("/orders")``), the tables of Starlette, Django
and aiohttp (``Route``, ``path``, ``web.get``), the calls that add a route (``add_url_rule``,
``add_api_route``, ``router.add_get``, ``router.register`` of the Django REST framework), and the
prefixes of routers, blueprints, ``Mount`` and ``include``.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.raising.functions import ProgramNames
from faultspec.raising.sources import Program, SourceModule, definitions, dotted_name

_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})

#: A group of an expression of ``re_path``, which is a parameter.
_GROUP = re.compile(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")

#: Calls that add one route to an application, with the methods that it has if none is given.
_ADDITIONS: Mapping[str, Sequence[str]] = {
    **{f"add_{method}": [method.upper()] for method in sorted(_METHODS)},
    "add_api_route": ["GET"],
    "add_route": [],
    "add_url_rule": ["GET"],
    "add_view": [],
}

#: Calls that put a router below another one.
_INCLUSIONS = frozenset({"add_subapp", "include_router", "mount", "register_blueprint"})

#: Names of the arguments of these calls: the path, what answers, and the router below it.
_PATHS = ("path", "rule", "route")
_HANDLERS = ("handler", "endpoint", "view_func", "view")
_ROUTERS = ("app", "router", "blueprint", "routes", "route_handlers", "subapp", "urls")

#: The methods of a view set of the Django REST framework, with the method of HTTP that each answers
#: and whether its path has the id of an item.
_VIEW_SET: Mapping[str, tuple[str, bool]] = {
    "list": ("GET", False),
    "create": ("POST", False),
    "retrieve": ("GET", True),
    "update": ("PUT", True),
    "partial_update": ("PATCH", True),
    "destroy": ("DELETE", True),
}

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


class _Table(NamedTuple):
    """A table of routes that a call stands in: its router, and the prefix below that router."""

    router: str | None
    prefix: str
    depth: int


#: The function of Django that puts the routes of a module below a prefix.
_INCLUDE = "django.urls.include"

_NO_TABLE = _Table(None, "", 0)


class RouteReader:
    """The routers, inclusions and handlers of the modules that were read so far."""

    def __init__(self, program: Program, names: ProgramNames) -> None:
        self.size = program.size
        self.names = names
        self.modules = program.modules
        self.routers: dict[str, _Router] = {}
        self.inclusions: list[_Inclusion] = []
        self.handlers: list[tuple[str | None, CodeRoute]] = []
        self._view_methods: dict[str, Sequence[str]] = {}  # of functions that are views of Django
        self._without_slash = set[str]()  # routers of Django whose paths do not end with one
        # Of the module that is read: tables by the identity of the call that stands in them, and
        # the methods of its classes by their last name.
        self._tables: dict[int, _Table] = {}
        self._own_methods: dict[str, list[str]] = {}

    def read(self, module: SourceModule, tree: ast.Module) -> None:
        """Read a module."""
        found = [
            each
            for each in definitions(tree.body, module.name)
            if not isinstance(each.node, ast.ClassDef)
        ]
        self._tables.clear()
        self._own_methods.clear()
        for each in found:
            if each.owner is not None:
                self._own_methods.setdefault(each.node.name, []).append(each.name)
        for node in ast.walk(tree):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AugAssign(target=ast.Name(id=name), value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    self.read_variable(f"{module.name}.{name}", value, module)
                case ast.Call():
                    self.read_call(node, module)
        for each in found:
            for decorator in each.node.decorator_list:
                self.read_decorator(decorator, module, each.name)
                methods = _view_methods(decorator)
                if methods:
                    self._view_methods[each.name] = methods

    def read_variable(self, name: str, value: ast.expr, module: SourceModule) -> None:
        """A router with its prefix, or a table of routes."""
        self._mark(value, _Table(name, "", 1))
        if not isinstance(value, ast.Call):
            return
        prefix = _text(value, "prefix") or _text(value, "url_prefix") or ""
        depends = tuple(self.dependencies(value, module))
        slash = _argument(value, (), 0, ("trailing_slash",))
        if isinstance(slash, ast.Constant) and slash.value is False:
            self._without_slash.add(name)
        if prefix or depends:
            self.routers[name] = _Router(prefix, depends)

    def _mark(self, node: ast.expr, table: _Table) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                self._tables[id(each)] = table

    def read_call(self, call: ast.Call, module: SourceModule) -> None:
        """An inclusion, an addition, or an entry of a table."""
        name = dotted_name(call, module, {}) or ""
        framework, last = name.partition(".")[0], name.rpartition(".")[2]
        table = self._tables.get(id(call), _NO_TABLE)
        owner = self._owner(call, module)
        if framework == "starlette" and last == "Mount":
            self.read_inclusion(call, table, module)
        elif framework == "django" and last in ("path", "re_path"):
            self.read_path(call, table, module)
        elif framework == "aiohttp" and last in _METHODS:
            self.add(call, table, [last.upper()], module)
        elif framework in ("starlette", "litestar") and last == "Route":
            self.add(call, table, [], module)
        elif owner is not None and last in _INCLUSIONS:
            self.read_inclusion(call, _Table(owner, "", 1), module)
        elif owner is not None and last == "register" and self._is_rest_router(owner, call):
            self.read_view_set(call, owner, module)
        elif owner is not None and last in _ADDITIONS:
            self.add(call, _Table(owner, "", 1), _ADDITIONS[last], module)

    def _is_rest_router(self, owner: str, call: ast.Call) -> bool:
        made = self.names.instances.get(owner, "")
        return len(call.args) > 1 and made.rpartition(".")[2].endswith("Router")

    def _owner(self, call: ast.Call, module: SourceModule) -> str | None:
        """The application or router that a method is called of: that of ``app.router`` is ``app``,
        unless ``app`` is a module.
        """
        if not isinstance(call.func, ast.Attribute):
            return None
        dotted = dotted_name(call.func.value, module, {})
        return None if dotted is None else self._without(dotted, "router")

    def _without(self, dotted: str, attribute: str) -> str:
        """The value that an attribute is of, resolved; a module has names and no attributes."""
        owner, _, last = dotted.rpartition(".")
        if last == attribute and owner not in self.modules:
            dotted = owner
        return self.names.resolve(dotted)

    def read_path(self, call: ast.Call, table: _Table, module: SourceModule) -> None:
        """``path("x/", handler)`` and ``path("x/", include("shop.urls"))`` of Django."""
        view = _argument(call, call.args, 1, _HANDLERS)
        if isinstance(view, ast.Call) and dotted_name(view, module, {}) == _INCLUDE:
            self.read_inclusion(call, table, module)
        else:
            self.add(call, table, [], module)

    def read_inclusion(self, call: ast.Call, table: _Table, module: SourceModule) -> None:
        """``app.include_router(router, prefix="/x")``, ``Mount("/x", routes=…)``, and others."""
        prefix = _text(call, "prefix") or _text(call, "url_prefix")
        prefix = _with_slash(prefix or next(filter(None, map(_constant, call.args)), ""))
        below = _Table(table.router, table.prefix + prefix, table.depth + 1)
        for node in (*call.args, *(each.value for each in call.keywords)):
            if below.depth <= _DEEPEST and not isinstance(node, ast.Constant):
                self._mark(node, below)
        inner = _argument(call, call.args, 0, _ROUTERS)
        if _constant(inner) is not None:  # the prefix stands before the router
            inner = _argument(call, call.args, 1, _ROUTERS)
        name = None if inner is None else self._included_router(inner, module)
        if name is not None:
            depends = tuple(self.dependencies(call, module))
            outer = table.router or ""
            self.inclusions.append(_Inclusion(outer, name, below.prefix, depends))

    def _included_router(self, inner: ast.expr, module: SourceModule) -> str | None:
        """The name of a router that is included: a variable, or the ``urlpatterns`` of a module."""
        if isinstance(inner, ast.Call) and dotted_name(inner, module, {}) == _INCLUDE:
            inner = next(iter(inner.args), inner)
            if isinstance(inner, ast.Tuple) and inner.elts:  # with the name of the application
                inner = inner.elts[0]
            text = _constant(inner)
            if text is not None:
                return f"{text}.urlpatterns"
        if isinstance(inner, ast.Call | ast.List | ast.Tuple):
            return None  # a table that stands here: its entries have the prefix
        dotted = dotted_name(inner, module, {})
        if dotted in self.modules:
            return f"{dotted}.urlpatterns"
        return None if dotted is None else self._without(dotted, "urls")

    def read_view_set(self, call: ast.Call, owner: str, module: SourceModule) -> None:
        """``router.register("orders", OrderViewSet)`` of the Django REST framework."""
        prefix = _constant(call.args[0])
        view = dotted_name(call.args[1], module, {})
        name = None if view is None else self.names.resolve(view)
        if prefix is None or name is None or name not in self.names.classes:
            return
        for function, (method, of_item) in _VIEW_SET.items():
            answers = self.names.method(name, function)
            if answers is not None:
                path = _with_slash(prefix) + ("/{pk}" if of_item else "")
                path += "" if owner in self._without_slash else "/"
                self.handlers.append((owner, CodeRoute(method, path, (answers,))))

    def add(
        self, call: ast.Call, table: _Table, methods: Sequence[str], module: SourceModule
    ) -> None:
        """``Route("/x", handler)``, ``path("x/", handler)``, ``router.add_get("/x", handler)``."""
        last = (dotted_name(call, module, {}) or "").rpartition(".")[2]
        arguments = call.args
        handlers: Sequence[str] = _HANDLERS
        if last == "add_url_rule":  # its second argument, and `endpoint`, are a name
            arguments, handlers = [*arguments[:1], *arguments[2:]], ("view_func",)
        elif len(arguments) > 2 and _constant(arguments[1]) is not None:
            # `add_route("GET", "/x", handler)` of aiohttp
            verb = _constant(arguments[0]) or "*"
            methods = [] if verb == "*" else [verb.upper()]
            arguments = arguments[1:]
        path = _constant(_argument(call, arguments, 0, _PATHS))
        if path is not None and last == "re_path":
            path = _GROUP.sub(r"{\1}", path.removeprefix("^").removesuffix("$"))
        handler = self.handler(_argument(call, arguments, 1, handlers), module)
        is_path = path is not None and (last not in _ADDITIONS or path[:1] in ("/", ""))
        if handler is None or path is None or not is_path:
            return
        own_methods: Sequence[str | None] = _methods(call) or methods or [None]
        for method in own_methods:
            for function, answered in self.views(handler, method):
                route = CodeRoute(answered, table.prefix + "/" + path.lstrip("/"), (function,))
                self.handlers.append((table.router, route))

    def handler(self, node: ast.expr | None, module: SourceModule) -> str | None:
        """The function or class that answers: also of ``View.as_view()``, ``csrf_exempt(view)`` and
        ``self.method``.
        """
        while isinstance(node, ast.Call):
            match node:
                case ast.Call(func=ast.Attribute(value=value, attr="as_view")):
                    node = value
                case ast.Call(args=[wrapped, *_]):  # `csrf_exempt(view)`
                    node = wrapped
                case _:
                    node = node.func
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                own = self._own_methods.get(attribute, [])
                return own[0] if len(own) == 1 else None
        name = None if node is None else dotted_name(node, module, {})
        return None if name is None else self.names.resolve(name)

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
                own: Sequence[str | None] = [route.method]
                if route.method is None:
                    own = self._view_methods.get(route.functions[0], own)
                for method in own:
                    yield CodeRoute(method, prefix + path, (*functions, *route.functions))

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


def _argument(
    call: ast.Call, arguments: Sequence[ast.expr], position: int, names: Sequence[str]
) -> ast.expr | None:
    """An argument by its position or by one of its names."""
    if position < len(arguments):
        return arguments[position]
    return next((each.value for each in call.keywords if each.arg in names), None)


def _with_slash(prefix: str) -> str:
    """A prefix as Django writes it (``orders/``) or others do (``/orders``), with one slash."""
    return "/" + prefix.strip("/") if prefix.strip("/") else ""


def _constant(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _view_methods(decorator: ast.expr) -> Sequence[str]:
    """The methods of ``@api_view(["GET"])``, ``@require_http_methods(["GET"])`` and
    ``@require_GET``.
    """
    match decorator:
        case ast.Call(func=ast.Name(id="api_view"), args=[]):
            return ["GET"]
        case ast.Call(
            func=ast.Name(id="api_view" | "require_http_methods"),
            args=[ast.List(elts=names) | ast.Tuple(elts=names)],
        ):
            return _upper_texts(names)
        case ast.Name(id="require_GET" | "require_POST"):
            return [decorator.id.removeprefix("require_")]
        case ast.Name(id="require_safe"):
            return ["GET"]
    return ()


def _upper_texts(nodes: Sequence[ast.expr]) -> Sequence[str]:
    return [text.upper() for each in nodes if (text := _constant(each))]


def _methods(call: ast.Call) -> Sequence[str]:
    for each in call.keywords:
        if each.arg == "methods" and isinstance(each.value, ast.List | ast.Tuple | ast.Set):
            return _upper_texts(each.value.elts)
    return ()
