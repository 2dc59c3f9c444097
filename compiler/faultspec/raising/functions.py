"""The functions of a program: what each raises itself, and which others it may call."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.diagnostics.model import Span
from faultspec.raising.sources import Program, SourceModule

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class SourcePlace(NamedTuple):
    """A line of a file."""

    path: str
    span: Span


class Use(NamedTuple):
    """An absolute dotted name that a function uses: a call, a reference, a raised class.

    ``caught``: the dotted names of the exceptions that an enclosing ``try`` catches for good.
    ``made``: it is called or raised, and not only named.
    """

    name: str
    place: SourcePlace
    caught: frozenset[str]
    made: bool
    call: ast.Call | None = None


class Function(NamedTuple):
    """A function, a method, or the statements of a module (``name`` is that of the module).

    ``dynamic``: raises of a value whose class is unknown. ``returned``: returned tuples with a
    status, as Flask reads them.
    """

    name: str
    place: SourcePlace
    uses: tuple[Use, ...]
    dynamic: tuple[SourcePlace, ...]
    returned: tuple[tuple[SourcePlace, int], ...] = ()
    decorators: tuple[ast.expr, ...] = ()


class ProgramNames:
    """The names of a program, resolved through imports, re-exports and base classes."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.functions: dict[str, tuple[SourceModule, _FunctionNode, str | None]] = {}
        self.classes: dict[str, tuple[SourceModule, ast.ClassDef]] = {}
        for module in program.modules.values():
            self._add(module, module.tree.body, module.name, None)

    def _add(
        self, module: SourceModule, body: Iterable[ast.stmt], prefix: str, owner: str | None
    ) -> None:
        for node in body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    name = f"{prefix}.{node.name}"
                    self.functions[name] = module, node, owner
                    self._add(module, node.body, name, owner)
                case ast.ClassDef():
                    name = f"{prefix}.{node.name}"
                    self.classes[name] = module, node
                    self._add(module, node.body, name, name)
                case ast.If() | ast.Try() | ast.With():
                    self._add(module, node.body, prefix, owner)
                    self._add(module, getattr(node, "orelse", ()), prefix, owner)

    def resolve(self, name: str) -> str:
        """The name where it is defined: re-exports are followed."""
        for _ in range(20):  # re-exports of re-exports; a cycle ends
            if name in self.functions or name in self.classes:
                return name
            followed = self._follow(name)
            if followed is None:
                return name
            name = followed
        return name

    def _follow(self, name: str) -> str | None:
        head, _, rest = name.rpartition(".")
        tail = rest
        while head:
            module = self._program.modules.get(head)
            if module is not None:
                first, _, more = tail.partition(".")
                target = module.imports.get(first)
                if target is None:
                    return None
                followed = f"{target}.{more}" if more else target
                return None if followed == name else followed
            head, _, part = head.rpartition(".")
            tail = f"{part}.{tail}"
        return None

    def method(self, owner: str, name: str) -> str | None:
        """The function that is the method of a class, its own or of a base."""
        waiting, seen = [owner], set[str]()
        while waiting:
            current = self.resolve(waiting.pop(0))
            if current in seen or current not in self.classes:
                continue
            seen.add(current)
            if f"{current}.{name}" in self.functions:
                return f"{current}.{name}"
            module, node = self.classes[current]
            for base in node.bases:
                dotted = dotted_name(base, module, {})
                if dotted is not None:
                    waiting.append(dotted)
        return None

    def target(self, name: str) -> str | None:
        """The function that a name calls: itself, the constructor of a class, a method."""
        name = self.resolve(name)
        if name in self.functions:
            return name
        if name in self.classes:
            return self.method(name, "__init__")
        owner, _, attribute = name.rpartition(".")
        return self.method(owner, attribute) if owner else None


def dotted_name(node: ast.expr, module: SourceModule, types: Mapping[str, str]) -> str | None:
    """The absolute dotted name of an expression; ``types`` has the classes of variables."""
    match node:
        case ast.Name(id=name):
            if name in types:
                return types[name]
            return module.imports.get(name, f"{module.name}.{name}")
        case ast.Attribute(value=value, attr=attribute):
            owner = dotted_name(value, module, types)
            return None if owner is None else f"{owner}.{attribute}"
        case ast.Call(func=called):
            return dotted_name(called, module, types)
        case ast.Subscript(value=value):
            return dotted_name(value, module, types)
        case ast.Constant(value=str(text)):
            return dotted_name_of_text(text, module)
        case _:
            return None


def dotted_name_of_text(text: str, module: SourceModule) -> str | None:
    """The absolute dotted name of an annotation in quotes."""
    try:
        return dotted_name(ast.parse(text, mode="eval").body, module, {})
    except (SyntaxError, ValueError):
        return None


def read_functions(program: Program) -> tuple[ProgramNames, dict[str, Function]]:
    """Every function of the program by its dotted name, and the statements of each module."""
    names = ProgramNames(program)
    found: dict[str, Function] = {}
    for name, (module, node, owner) in names.functions.items():
        found[name] = _FunctionReader(module, owner, names).read(name, node)
    for module in program.modules.values():
        reader = _FunctionReader(module, None, names)
        found[module.name] = reader.read_statements(module)
    return names, found


def written_texts(program: Program) -> Mapping[str, SourcePlace]:
    """The first place of each text that the program has as a literal."""
    found: dict[str, SourcePlace] = {}
    for module in program.modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.setdefault(node.value, _place(module, node))
    return found


def annotated_types(
    node: _FunctionNode, module: SourceModule, names: ProgramNames
) -> dict[str, str]:
    """The classes of the parameters that have an annotation of the program's own classes."""
    found: dict[str, str] = {}
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        for candidate in _annotation_parts(argument.annotation):
            dotted = dotted_name(candidate, module, {})
            if dotted is not None and names.resolve(dotted) in names.classes:
                found[argument.arg] = names.resolve(dotted)
                break
    return found


def _annotation_parts(node: ast.expr | None) -> Iterator[ast.expr]:
    match node:
        case None:
            return
        case ast.BinOp(left=left, right=right):
            yield from _annotation_parts(left)
            yield from _annotation_parts(right)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
            yield value
            for part in parts:
                yield from _annotation_parts(part)
        case ast.Subscript(value=value, slice=part):
            yield value
            yield from _annotation_parts(part)
        case _:
            yield node


class _FunctionReader:
    """One function under way."""

    def __init__(self, module: SourceModule, owner: str | None, names: ProgramNames) -> None:
        self.module = module
        self.owner = owner
        self.names = names
        self.name = module.name
        self.types: dict[str, str] = {}
        self.uses: list[Use] = []
        self.dynamic: list[SourcePlace] = []
        self.returned: list[tuple[SourcePlace, int]] = []

    def read(self, name: str, node: _FunctionNode) -> Function:
        """A function with its signature, whose defaults and annotations name dependencies."""
        self.name = name
        self.types = annotated_types(node, self.module, self.names)
        if self.owner is not None and node.args.args:
            self.types.setdefault(node.args.args[0].arg, self.owner)
        for statement in ast.walk(node):
            match statement:
                case ast.Assign(targets=[ast.Name(id=variable)], value=ast.Call(func=called)):
                    dotted = dotted_name(called, self.module, self.types)
                    if dotted is not None and self.names.resolve(dotted) in self.names.classes:
                        self.types[variable] = self.names.resolve(dotted)
        for part in (node.args, *node.decorator_list):
            self.walk(part, frozenset(), frozenset())
        for statement in node.body:
            self.walk(statement, frozenset(), frozenset())
        return Function(
            name,
            self.place(node),
            uses=tuple(self.uses),
            dynamic=tuple(self.dynamic),
            returned=tuple(self.returned),
            decorators=tuple(node.decorator_list),
        )

    def read_statements(self, module: SourceModule) -> Function:
        """The statements of a module that are in no function."""
        for statement in module.tree.body:
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.walk(statement, frozenset(), frozenset())
        start = SourcePlace(module.path, Span(1, 1, 1, 1))
        return Function(module.name, start, tuple(self.uses), tuple(self.dynamic))

    def place(self, node: ast.stmt | ast.expr) -> SourcePlace:
        """The first line of a node."""
        return _place(self.module, node)

    def walk(self, node: ast.AST, caught: frozenset[str], handled: frozenset[str]) -> None:
        """Read a node below ``try`` statements that catch ``caught``; ``handled`` are the names of
        the exceptions that enclosing handlers have.
        """
        match node:
            case ast.ClassDef():
                pass  # its methods are functions of their own
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                nested = f"{self.name}.{node.name}"
                self.uses.append(Use(nested, self.place(node), caught, made=False))
            case ast.Try() | ast.TryStar():
                self.walk_try(node, caught, handled)
            case ast.Raise(exc=raised) if raised is not None:
                self.read_raise(raised, caught, handled)
                if node.cause is not None:
                    self.walk(node.cause, caught, handled)
            case ast.Call():
                self.read_call(node, caught, handled)
            case ast.Return(value=ast.Tuple(elts=[_, ast.Constant(value=int(status)), *_])):
                self.returned.append((self.place(node), status))
                self.walk_children(node, caught, handled)
            case ast.Attribute() | ast.Name():
                self.read_name(node, caught, handled)
            case _:
                self.walk_children(node, caught, handled)

    def walk_try(
        self, node: ast.Try | ast.TryStar, caught: frozenset[str], handled: frozenset[str]
    ) -> None:
        inner = caught | self.names_caught(node.handlers)
        for statement in node.body:
            self.walk(statement, inner, handled)
        for handler in node.handlers:
            own = {handler.name} if handler.name else set[str]()
            for statement in handler.body:
                self.walk(statement, caught, handled | own)
        for statement in (*node.orelse, *node.finalbody):
            self.walk(statement, caught, handled)

    def walk_children(self, node: ast.AST, caught: frozenset[str], handled: frozenset[str]) -> None:
        for child in ast.iter_child_nodes(node):
            self.walk(child, caught, handled)

    def names_caught(self, handlers: Sequence[ast.ExceptHandler]) -> frozenset[str]:
        """The exceptions that do not leave: those of handlers that do not raise them again."""
        found: set[str] = set()
        for handler in handlers:
            again = any(
                isinstance(inner, ast.Raise)
                and (
                    inner.exc is None
                    or (isinstance(inner.exc, ast.Name) and inner.exc.id == handler.name)
                )
                for statement in handler.body
                for inner in ast.walk(statement)
            )
            if again:
                continue
            if handler.type is None:
                found.add("builtins.BaseException")
                continue
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            for kind in kinds:
                if isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"):
                    found.add("builtins.BaseException")
                elif (dotted := dotted_name(kind, self.module, {})) is not None:
                    found.add(self.names.resolve(dotted))
        return frozenset(found)

    def read_raise(self, raised: ast.expr, caught: frozenset[str], handled: frozenset[str]) -> None:
        if isinstance(raised, ast.Call):
            self.read_call(raised, caught, handled)
            dotted = dotted_name(raised.func, self.module, self.types)
        else:
            dotted = dotted_name(raised, self.module, {})
        known = isinstance(raised, ast.Call | ast.Name | ast.Attribute) and dotted is not None
        if isinstance(raised, ast.Name) and (raised.id in handled or raised.id in self.types):
            return  # raised again, or made in this function
        if (isinstance(raised, ast.Name) and raised.id[:1].islower()) or not known:
            self.dynamic.append(self.place(raised))
        elif not isinstance(raised, ast.Call) and dotted is not None:
            name = self.names.resolve(dotted)
            self.uses.append(Use(name, self.place(raised), caught, made=True))

    def read_call(self, node: ast.Call, caught: frozenset[str], handled: frozenset[str]) -> None:
        dotted = dotted_name(node.func, self.module, self.types)
        if dotted is not None:
            name = self.names.resolve(dotted)
            self.uses.append(Use(name, self.place(node), caught, made=True, call=node))
        if isinstance(node.func, ast.Attribute):
            self.walk(node.func.value, caught, handled)
        for part in (*node.args, *node.keywords):
            self.walk(part, caught, handled)

    def read_name(
        self, node: ast.Attribute | ast.Name, caught: frozenset[str], handled: frozenset[str]
    ) -> None:
        dotted = dotted_name(node, self.module, self.types)
        if dotted is not None:
            name = self.names.resolve(dotted)
            self.uses.append(Use(name, self.place(node), caught, made=False))
        elif isinstance(node, ast.Attribute):
            self.walk(node.value, caught, handled)


def _place(module: SourceModule, node: ast.stmt | ast.expr) -> SourcePlace:
    """The first line of a node. Columns of the syntax tree count bytes; spans count characters."""
    line = module.lines[node.lineno - 1].encode()
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    column = len(line[: node.col_offset].decode(errors="replace")) + 1
    end_column = len(line[:end].decode(errors="replace")) + 1
    return SourcePlace(module.path, Span(node.lineno, column, node.lineno, end_column))
