"""The functions of a program: what each raises itself, and which others it may call."""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.diagnostics.model import Span
from faultspec.raising.sources import (
    Program,
    SourceModule,
    annotation_parts,
    definitions,
    dotted_name,
)

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


#: The parameters that have the status of an answer.
_STATUS = frozenset({"status", "status_code"})

#: Uses of names that are held of one program, with the exceptions that are caught around each.
MOST_USES = 300_000


class SourcePlace(NamedTuple):
    """A line of a file."""

    path: str
    span: Span


class Use(NamedTuple):
    """An absolute dotted name that a function uses: a call, a reference, a raised class.

    ``caught``: the dotted names of the exceptions that an enclosing ``try`` catches for good.
    ``made``: it is called or raised, and not only named. ``status``: the argument of that name.
    """

    name: str
    span: Span
    caught: frozenset[str]
    made: bool
    status: int | None = None


class Function(NamedTuple):
    """A function, a method, or the statements of a module (``name`` is that of the module).

    ``uses``: the first of each name, unless it is made of what is not the program's own.
    ``dynamic``: raises of a value whose class is unknown. ``returned``: returned tuples with a
    status, as Flask reads them.
    """

    name: str
    path: str
    span: Span
    uses: tuple[Use, ...]
    dynamic: tuple[Span, ...]
    returned: tuple[tuple[Span, int], ...] = ()

    @property
    def place(self) -> SourcePlace:
        """Its first line."""
        return SourcePlace(self.path, self.span)


class ProgramNames:
    """The names of a program, resolved through imports, re-exports and base classes."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.functions = program.functions
        self.classes = program.classes
        self.returns = program.returns
        self.instances = program.instances
        self.last_names = {name.rpartition(".")[2] for name in program.functions}

    def count_uses(self, count: int) -> None:
        """Raises TooLarge if too many uses of names are kept."""
        self._program.size.add("uses of names", count, MOST_USES)

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
        """The function that is the method of a class, its own or of a base, or that of a variable
        of a module.
        """
        made = self.instances.get(self.resolve(owner))
        waiting, seen = [owner if made is None else self.made_class(made) or owner], set[str]()
        while waiting:
            current = self.resolve(waiting.pop(0))
            if current in seen or current not in self.classes:
                continue
            seen.add(current)
            if f"{current}.{name}" in self.functions:
                return f"{current}.{name}"
            waiting += self.classes[current]
        return None

    def made_class(self, name: str) -> str | None:
        """The class of the program that a call of a name gives: itself, or what a function of the
        program returns.
        """
        name = self.resolve(name)
        if name in self.classes:
            return name
        returned = map(self.resolve, self.returns.get(name, ()))
        return next((each for each in returned if each in self.classes), None)

    def target(self, name: str) -> str | None:
        """The function that a name calls: itself, the constructor of a class, a method."""
        name = self.resolve(name)
        if name in self.functions:
            return name
        if name in self.classes:
            return self.method(name, "__init__")
        owner, _, attribute = name.rpartition(".")
        return self.method(owner, attribute) if owner else None


def read_functions(
    module: SourceModule,
    tree: ast.Module,
    names: ProgramNames,
    is_foreign_error: Callable[[str], bool],
) -> Iterator[Function]:
    """Every function of a module, and last its statements.

    ``is_foreign_error``: whether what has a dotted name that the program does not define may be an
    error; its uses are kept. Raises TooLarge.
    """
    reading = _ModuleReading(module, module.lines(), names, is_foreign_error)
    nodes = {
        found.name: found
        for found in definitions(tree.body, module.name)
        if not isinstance(found.node, ast.ClassDef)
    }
    for name, (_, node, owner) in nodes.items():
        assert not isinstance(node, ast.ClassDef)
        yield _FunctionReader(reading, owner).read(name, node)
    yield _FunctionReader(reading, None).read_statements(tree)


def written_texts(
    module: SourceModule, tree: ast.Module, wanted: Collection[str]
) -> Mapping[str, SourcePlace]:
    """The first place of each wanted text that the module has as a literal."""
    found: dict[str, SourcePlace] = {}
    lines = module.lines()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in wanted:
            found.setdefault(node.value, SourcePlace(module.path, _span(lines, node)))
    return found


def annotated_types(
    node: _FunctionNode, module: SourceModule, names: ProgramNames
) -> dict[str, str]:
    """The classes of the parameters that have an annotation of the program's own classes, or a
    dependency of FastAPI that makes one.
    """
    found: dict[str, str] = {}
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False)
    ]
    defaults += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    for argument, default in defaults:
        made = _depended_class(default, module, names)
        if made is not None:
            found[argument.arg] = made
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        for candidate in annotation_parts(argument.annotation):
            dotted = dotted_name(candidate, module, {})
            if dotted is not None and names.resolve(dotted) in names.classes:
                found[argument.arg] = names.resolve(dotted)
                break
    return found


def _depended_class(
    default: ast.expr | None, module: SourceModule, names: ProgramNames
) -> str | None:
    """The class that ``Depends(f)`` or ``Security(f)`` gives."""
    match default:
        case ast.Call(func=called, args=[dependency, *_]):
            name = dotted_name(called, module, {}) or ""
            made = dotted_name(dependency, module, {})
            if name.rpartition(".")[2] in ("Depends", "Security") and made is not None:
                return names.made_class(made)
    return None


def _classes_made(
    node: _FunctionNode, module: SourceModule, names: ProgramNames, types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The variables of a function that calls give classes of the program, with these."""
    for statement in ast.walk(node):
        match statement:
            case ast.Assign(targets=[ast.Name(id=variable)], value=ast.Call(func=called)):
                dotted = dotted_name(called, module, types)
                made = None if dotted is None else names.made_class(dotted)
                if made is not None:
                    yield variable, made


def _own_variables(node: _FunctionNode) -> Iterator[str]:
    """The parameters and variables of a function, which hide those of its module."""
    for part in ast.walk(node):
        match part:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name


#: Functions that read an error, and raise nothing.
_READERS = frozenset({"str", "repr", "print", "type", "isinstance", "bool", "id"})


def _idle_calls(node: _FunctionNode, errors: Collection[str]) -> Iterator[ast.Call]:
    """The calls whose value goes nowhere: that of a statement, of a variable that is only read, and
    of an argument of a function that only reads it.

    ``errors``: the variables whose raises are uses of their own.
    """
    let_out = {
        name.id
        for parent in ast.walk(node)
        for name in ast.iter_child_nodes(parent)
        if isinstance(name, ast.Name)
        and isinstance(name.ctx, ast.Load)
        and not _only_reads(parent)
        and not (isinstance(parent, ast.Raise) and name.id in errors)
    }
    for statement in ast.walk(node):
        match statement:
            case ast.Expr(value=ast.Call() as call):
                yield call
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as call)
            ) if name not in let_out:
                yield call
            case ast.Call(args=arguments) if _only_reads(statement):
                yield from (each for each in arguments if isinstance(each, ast.Call))


def _only_reads(node: ast.AST) -> bool:
    """Whether an expression cannot pass on the value of its parts."""
    match node:
        case ast.Attribute() | ast.Compare() | ast.FormattedValue():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _READERS
    return False


class _ModuleReading(NamedTuple):
    """The module whose functions are read."""

    module: SourceModule
    lines: Sequence[str]
    names: ProgramNames
    is_foreign_error: Callable[[str], bool]


class _FunctionReader:
    """One function under way."""

    def __init__(self, reading: _ModuleReading, owner: str | None) -> None:
        self.reading = reading
        self.module = reading.module
        self.owner = owner
        self.names = reading.names
        self.name = reading.module.name
        self.types: dict[str, str] = {}
        self.uses: list[Use] = []
        self.known: set[tuple[str, frozenset[str], bool]] = set()
        self.dynamic: list[Span] = []
        self.returned: list[tuple[Span, int]] = []
        self.idle: frozenset[int] = frozenset()
        self.errors: dict[str, set[str]] = {}

    def read(self, name: str, node: _FunctionNode) -> Function:
        """A function with its signature, whose defaults and annotations name dependencies."""
        self.name = name
        self.types = annotated_types(node, self.module, self.names)
        if self.owner is not None and node.args.args:
            self.types.setdefault(node.args.args[0].arg, self.owner)
        self.types |= _classes_made(node, self.module, self.names, self.types)
        for variable in _own_variables(node):
            if f"{self.module.name}.{variable}" in self.names.instances:
                self.types.setdefault(variable, f"{name}.{variable}")
        self.errors = self.read_errors(node)
        self.idle = frozenset(map(id, _idle_calls(node, self.errors)))
        for part in (node.args, *node.decorator_list, *node.body):
            self.walk(part, frozenset(), frozenset())
        return Function(
            name,
            self.module.path,
            self.span(node),
            uses=tuple(self.uses),
            dynamic=tuple(self.dynamic),
            returned=tuple(self.returned),
        )

    def read_statements(self, tree: ast.Module) -> Function:
        """The statements of a module that are in no function."""
        for statement in tree.body:
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.walk(statement, frozenset(), frozenset())
        return Function(
            self.module.name,
            self.module.path,
            Span(1, 1, 1, 1),
            uses=tuple(self.uses),
            dynamic=tuple(self.dynamic),
        )

    def span(self, node: ast.stmt | ast.expr) -> Span:
        """The first line of a node."""
        return _span(self.reading.lines, node)

    def add_use(
        self, name: str, node: ast.stmt | ast.expr, caught: frozenset[str], *, made: bool
    ) -> None:
        """Keep each error of others, and the first use that leads to a function or may be one of a
        method.
        """
        if not (made and self.reading.is_foreign_error(name)):
            may_be_method = made and name.rpartition(".")[2] in self.names.last_names
            if (name, caught, made) in self.known:
                return
            if not may_be_method and self.names.target(name) is None:
                return
        self.known.add((name, caught, made))
        self.names.count_uses(1 + len(caught))
        status = _status(node) if isinstance(node, ast.Call) else None
        self.uses.append(Use(name, self.span(node), caught, made=made, status=status))

    def walk(self, node: ast.AST, caught: frozenset[str], handled: frozenset[str]) -> None:
        """Read a node below ``try`` statements that catch ``caught``; ``handled`` are the names of
        the exceptions that enclosing handlers have.
        """
        match node:
            case ast.ClassDef():
                pass  # its methods are functions of their own
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                nested = f"{self.name}.{node.name}"
                self.add_use(nested, node, caught, made=False)
            case ast.Try() | ast.TryStar():
                self.walk_try(node, caught, handled)
            case ast.Raise(exc=raised) if raised is not None:
                self.read_raise(raised, caught, handled)
                if node.cause is not None:
                    self.walk(node.cause, caught, handled)
            case ast.Call():
                self.read_call(node, caught, handled)
            case ast.Return(value=ast.Tuple(elts=[_, ast.Constant(value=int(status)), *_])):
                self.returned.append((self.span(node), status))
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

    def read_errors(self, node: _FunctionNode) -> dict[str, set[str]]:
        """The variables that have errors alone, with the dotted names of what makes these."""
        found: dict[str, set[str]] = {}
        unknown: set[str] = set()
        for statement in ast.walk(node):
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=variable)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=variable), value=ast.expr() as value)
                ):
                    for leaf in _alternatives(value):
                        name = self.error_name(leaf)
                        if name is None:
                            unknown.add(variable)
                        else:
                            found.setdefault(variable, set()).add(name)
        return {variable: made for variable, made in found.items() if variable not in unknown}

    def error_name(self, value: ast.expr) -> str | None:
        """The dotted name of an error, its class, or a function of the program that makes it."""
        if not isinstance(value, ast.Call | ast.Name | ast.Attribute):
            return None
        dotted = dotted_name(value, self.module, self.types)
        name = None if dotted is None else self.names.resolve(dotted)
        if name is None:
            return None
        made_here = isinstance(value, ast.Call) and self.names.target(name) is not None
        return name if made_here or self.reading.is_foreign_error(name) else None

    def read_raise(self, raised: ast.expr, caught: frozenset[str], handled: frozenset[str]) -> None:
        if isinstance(raised, ast.Call):
            self.read_call(raised, caught, handled)
            dotted = dotted_name(raised.func, self.module, self.types)
        else:
            dotted = dotted_name(raised, self.module, {})
        known = isinstance(raised, ast.Call | ast.Name | ast.Attribute) and dotted is not None
        if isinstance(raised, ast.Name) and (raised.id in handled or raised.id in self.types):
            return  # raised again, or made in this function
        variable = raised.func if isinstance(raised, ast.Call) else raised
        if isinstance(variable, ast.Name) and variable.id in self.errors:
            for name in sorted(self.errors[variable.id]):
                self.add_use(name, raised, caught, made=True)
            return
        if (isinstance(raised, ast.Name) and raised.id[:1].islower()) or not known:
            self.dynamic.append(self.span(raised))
        elif not isinstance(raised, ast.Call) and dotted is not None:
            self.add_use(self.names.resolve(dotted), raised, caught, made=True)

    def read_call(self, node: ast.Call, caught: frozenset[str], handled: frozenset[str]) -> None:
        dotted = dotted_name(node.func, self.module, self.types)
        if dotted is not None:
            name = self.names.resolve(dotted)
            is_class = name.rpartition(".")[2][:1].isupper()
            made = not (id(node) in self.idle and is_class and self.reading.is_foreign_error(name))
            self.add_use(name, node, caught, made=made)
        if isinstance(node.func, ast.Attribute):
            self.walk(node.func.value, caught, handled)
        for part in (*node.args, *node.keywords):
            self.walk(part, caught, handled)

    def read_name(
        self, node: ast.Attribute | ast.Name, caught: frozenset[str], handled: frozenset[str]
    ) -> None:
        dotted = dotted_name(node, self.module, self.types)
        if dotted is not None:
            self.add_use(self.names.resolve(dotted), node, caught, made=False)
        elif isinstance(node, ast.Attribute):
            self.walk(node.value, caught, handled)


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions of which a value is one."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            yield from _alternatives(one)
            yield from _alternatives(other)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _alternatives(each)
        case ast.Constant(value=None):
            return
        case _:
            yield value


def _status(call: ast.Call) -> int | None:
    """The argument that has the status of an answer."""
    for keyword in call.keywords:
        if (
            keyword.arg in _STATUS
            and isinstance(keyword.value, ast.Constant)
            and isinstance(keyword.value.value, int)
        ):
            return keyword.value.value
    return None


def _span(lines: Sequence[str], node: ast.stmt | ast.expr) -> Span:
    """The first line of a node. Columns of the syntax tree count bytes; spans count characters."""
    line = lines[node.lineno - 1]
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    column, end_column = _characters(line, node.col_offset), _characters(line, end)
    return Span(node.lineno, column + 1, node.lineno, end_column + 1)


def _characters(line: str, count: int | None) -> int:
    """The characters of the first bytes of a line, or of all."""
    if count is None:
        return len(line)
    return count if line.isascii() else len(line.encode()[:count].decode(errors="replace"))
