"""The codes that may leave each function: its own, and those of the functions that it uses."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from faultspec.diagnostics.model import Span
from faultspec.language.model import Taxonomy
from faultspec.raising.functions import Function, ProgramNames, Use
from faultspec.raising.sources import ProgramSize
from faultspec.targets.python import names as python_names

#: Other classes that the package has, whatever its taxonomy is.
_EXPORTED = python_names.MODULE | {"Rendered"}


class CodeClasses(NamedTuple):
    """The exceptions of a generated package. ``codes``: the code of each exception by the last part
    of its name. ``groups``: the codes of each base class.
    """

    package: str
    codes: Mapping[str, str]
    groups: Mapping[str, frozenset[str]]

    def code(self, name: str) -> str | None:
        """The code of the exception with a dotted name."""
        package, _, last = name.rpartition(".")
        return self.codes.get(last) if self._owns(package) else None

    def caught(self, names: frozenset[str]) -> frozenset[str]:
        """The codes that a ``try`` with these exceptions catches."""
        found: set[str] = set()
        for name in names:
            package, _, last = name.rpartition(".")
            if name == "builtins.BaseException":
                return frozenset(self.codes.values())
            if self._owns(package):
                found |= self.groups.get(last, frozenset())
                found |= {self.codes[last]} if last in self.codes else set()
        return frozenset(found)

    def lacks(self, module: str | None, name: str) -> bool:
        """Whether a module of the package is asked for a class that it does not have."""
        parts = (module or "").split(".")
        is_own = parts[-1] == self.package or parts[-2:] == [self.package, "errors"]
        known = name in self.codes or name in self.groups or name in _EXPORTED
        return is_own and name[:1].isupper() and not name.isupper() and not known

    def _owns(self, package: str) -> bool:
        return self.package in package.split(".")


def code_classes(taxonomy: Taxonomy, package: str | None = None) -> CodeClasses:
    """The exceptions that the Python target generates; ``package`` if it has another name."""
    kinds = python_names.exceptions(taxonomy)
    codes = {name: code.name for name, (_, code) in kinds.items()}
    base = python_names.base_class(taxonomy.name)
    taken = {base, *python_names.MODULE, *kinds}
    used = dict.fromkeys(code.domain for _, code in kinds.values() if code.domain)
    groups = {base: frozenset(codes.values())}
    for domain in taxonomy.domains:
        if domain in used:
            groups[python_names.domain_class(domain, taken)] = frozenset(
                code.name for _, code in kinds.values() if code.domain == domain
            )
    return CodeClasses(package or python_names.package(taxonomy.name), codes, groups)


class Raised(NamedTuple):
    """A code that may leave a function. ``through``: the function that it uses and that the code
    leaves; None if it raises the code itself.
    """

    path: str
    span: Span
    through: str | None = None


Flow = Mapping[str, Mapping[str, Raised]]
"""For each function that a code may leave, the codes."""

#: Codes of all functions that they may leave. In an application of 10,000 functions, 50 each.
MOST_WAYS = 500_000


def own_raises(function: Function, classes: CodeClasses) -> Iterator[tuple[str, Use]]:
    """The errors that a function makes, with their codes."""
    for use in function.uses:
        code = classes.code(use.name) if use.made else None
        if code is not None:
            yield code, use


def trace_codes(
    functions: Mapping[str, Function],
    names: ProgramNames,
    classes: CodeClasses,
    size: ProgramSize,
) -> Flow:
    """The codes that may leave each function. A function that is only named may be called. Raises
    TooLarge.
    """
    found: defaultdict[str, dict[str, Raised]] = defaultdict(dict)
    callers: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for function in functions.values():
        for code, use in own_raises(function, classes):
            if code not in classes.caught(use.caught):
                found[function.name].setdefault(code, Raised(function.path, use.span))
        for use in function.uses:
            target = names.target(use.name)
            if target is not None and target != function.name:
                callers.setdefault(target, []).append((function.name, use.caught))
    waiting = [name for name, codes in found.items() if codes]
    while waiting:
        name = waiting.pop()
        for caller, exceptions in callers.get(name, ()):
            caught = classes.caught(exceptions)
            new = [code for code in found[name] if code not in caught and code not in found[caller]]
            for code in new:
                found[caller][code] = found[name][code]._replace(through=name)
            if new:
                size.add("ways of codes through functions", len(new), MOST_WAYS)
                waiting.append(caller)
    return dict(found)


def way_to(flow: Flow, name: str, code: str) -> Iterator[str]:
    """The functions from one that a code leaves to the one that raises it."""
    current: str | None = name
    while current is not None:
        yield current
        current = flow[current][code].through
