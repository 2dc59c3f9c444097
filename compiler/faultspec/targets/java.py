"""The Java target: sealed exceptions and a fixed program over the catalogue of the taxonomy,
standard library only but for the filter of servlets.
"""

from collections.abc import Iterator, Mapping
from json import dumps
from typing import NamedTuple

from faultspec.language.model import Code, DetailMember, Schema, Taxonomy
from faultspec.language.spelling import pascal
from faultspec.targets import schema as schemas
from faultspec.targets.catalog import catalog
from faultspec.targets.data_rows import Json
from faultspec.targets.doc_text import code_paragraphs, deprecation_terms
from faultspec.targets.filters import constant, html_text, take_unique, visible
from faultspec.targets.go import package_name
from faultspec.targets.model import Model, detail_row
from faultspec.targets.python.constructors import allowed_details, flag_key

_MARKS = {"deprecated": "Deprecated:", "experimental": "Experimental:", "beta": "Beta:"}

#: The exceptions of `java.lang`: a class of such a name would hide it in the package, and would be
#: ambiguous behind `import ….*`.
_JAVA_LANG = frozenset(
    f"{stem}exception"
    for stem in (
        *("", "arithmetic", "arrayindexoutofbounds", "arraystore", "classcast", "classnotfound"),
        *("clonenotsupported", "enumconstantnotpresent", "illegalaccess", "illegalargument"),
        *("illegalcaller", "illegalmonitorstate", "illegalstate", "illegalthreadstate"),
        *("indexoutofbounds", "instantiation", "interrupted", "layerinstantiation", "match"),
        *("negativearraysize", "nosuchfield", "nosuchmethod", "nullpointer", "numberformat"),
        *("reflectiveoperation", "runtime", "security", "stringindexoutofbounds"),
        *("typenotpresent", "unsupportedoperation", "wrongthread"),
    )
)

_TAKEN = _JAVA_LANG | {"unknowncodeexception"}

#: Reserved words (JLS 3.9), names that a component of a record may not have (JLS 8.10.1), and a
#: method of the record.
_RESERVED = frozenset(
    (
        *("abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class"),
        *("const", "continue", "default", "do", "double", "else", "enum", "extends", "false"),
        *("final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof"),
        *("int", "interface", "long", "native", "new", "null", "package", "private", "protected"),
        *("public", "return", "short", "static", "strictfp", "super", "switch", "synchronized"),
        *("this", "throw", "throws", "transient", "true", "try", "void", "volatile", "while"),
        *("clone", "finalize", "getClass", "hashCode", "notify", "notifyAll", "toString", "wait"),
        *("map"),
    )
)

#: Constructors in one method. The JVM compiles methods up to 8,000 bytes; one takes about 45.
_PART = 150

#: Parameters of a constructor that a class file can have are 255.
_MOST_COMPONENTS = 250

#: By JSON type, the Java type and its reader.
_TYPES = {
    "string": ("String", "text"),
    "integer": ("Long", "whole"),
    "number": ("Double", "number"),
    "boolean": ("Boolean", "flag"),
    "object": ("Map<String, Object>", "object"),
}


#: A `long` counts as two of the 255 parameters.
_MOST_PRIMITIVES = 100

#: By class, the primitive type whose literals Java converts: `3` is a `long`, and not a `Long`.
_PRIMITIVES = {"Long": "long", "Double": "double"}


class JavaCodeRow(NamedTuple):
    """A constant with the name of a code."""

    constant: str
    doc: str
    literal: str


class JavaComponent(NamedTuple):
    """A component of a record of details. ``key``, ``reader``: the source of its key, and of its
    value in a map. ``primitive``: the type of its literals, empty if that is ``type``; ``boxed``:
    the source of its value from one.
    """

    name: str
    type: str
    wither: str
    key: str
    reader: str
    required: bool
    primitive: str
    boxed: str


class JavaErrorRow(NamedTuple):
    """An exception. ``key``: the source of the key of its code in the program.

    ``parameter``: the type of its details, empty if it has none. ``components``: those of the
    record, none if the details are a map. ``required``: the source of the parameters of a shorter
    constructor of the record, if some are optional; ``shortened``: that of the arguments it passes.
    ``arguments``: that of all components. ``primitive``: the parameters of a constructor that takes
    a literal number, and ``boxed`` the arguments that it passes. ``tags`` and ``details_tags`` are
    those of the comments.
    """

    key: str
    name: str
    file: str
    doc: str
    tags: tuple[tuple[str, str], ...]
    details_doc: str
    details_tags: tuple[tuple[str, str], ...]
    deprecated: bool
    parameter: str
    components: tuple[JavaComponent, ...]
    required: str
    shortened: str
    arguments: str
    primitive: str
    boxed: str
    all_optional: bool
    required_details: bool
    lists: bool


class JavaServletRow(NamedTuple):
    """The package of an API of servlets, and the folder of the filter for it."""

    api: str
    folder: str


class JavaView(NamedTuple):
    """The values of the package. ``base``: the sealed class. ``basefile``: its path without its
    suffix. ``needed``: the source of the slots that only a service can fill, empty if there are
    none. ``deprecated``: whether an exception is.
    """

    package: str
    folder: str
    base: str
    basefile: str
    title: str
    header: str
    catalog: Json
    needed: str
    codes: tuple[JavaCodeRow, ...]
    errors: tuple[JavaErrorRow, ...]
    parts: tuple[tuple[JavaErrorRow, ...], ...]
    part_size: int
    deprecated: bool
    apis: tuple[JavaServletRow, ...]


def view(taxonomy: Taxonomy, model: Model) -> JavaView:
    """The rows of the Java target; raises TargetError for errors that the classes could not
    read.
    """
    found = catalog(taxonomy, model, "java")
    package = package_name(taxonomy.name)
    folder = f"src/{package}"
    base = base_name(taxonomy)
    taken = {*_TAKEN, base.lower()}
    errors = tuple(_error_rows(taxonomy, package, taken))
    return JavaView(
        package=package,
        folder=folder,
        base=base,
        basefile=f"{folder}/{base}",
        title=html_text(taxonomy.title),
        header=_plain(model.header),
        catalog=found,
        needed=dumps(", ".join(found["needed"])) if found["needed"] else "",
        codes=tuple(_code_rows(taxonomy)),
        errors=errors,
        parts=tuple(errors[at : at + _PART] for at in range(0, len(errors), _PART)),
        part_size=_PART,
        deprecated=any(error.deprecated for error in errors),
        apis=tuple(JavaServletRow(api, f"{api}/{package}") for api in ("jakarta", "javax")),
    )


def base_name(taxonomy: Taxonomy) -> str:
    """``OrderException`` for the taxonomy ``order``: the class of all its errors."""
    return _class_name(pascal(taxonomy.name), "Any", set(_TAKEN))


def _plain(text: str) -> str:
    """A text of a line comment: javac reads escapes in it."""
    return visible(text).replace("\\", "/")


def _code_rows(taxonomy: Taxonomy) -> Iterator[JavaCodeRow]:
    taken: set[str] = set()
    for code in schemas.distinct_codes(taxonomy):
        name = constant(code.name)
        name = take_unique(f"CODE_{name}" if not name or name[0].isdigit() else name, taken)
        yield JavaCodeRow(name, code.summary, dumps(code.name))


def _class_name(stem: str, prefix: str, taken: set[str]) -> str:
    """The name of an exception that no other has in any letter case: files may differ by that
    alone only on some machines.
    """
    stem = stem.removesuffix("Exception")
    stem = f"Code{stem}" if stem[:1].isdigit() else stem
    stem = stem if f"{stem}Exception".lower() not in taken else f"{prefix}{stem}"
    name, number = f"{stem}Exception", 2
    while name.lower() in taken:
        name, number = f"{stem}{number}Exception", number + 1
    taken.add(name.lower())
    return name


def _error_rows(taxonomy: Taxonomy, package: str, taken: set[str]) -> Iterator[JavaErrorRow]:
    flag = flag_key(taxonomy)
    prefix = pascal(taxonomy.name) or "Any"
    prefix = f"Any{prefix}" if prefix[0].isdigit() else prefix
    for operation, code in schemas.live(taxonomy):
        stem = (pascal(operation) if operation else "") + pascal(code.name)
        name = _class_name(stem, prefix, taken)
        members = {} if code.details_schema is not None else allowed_details(code)
        own = {key: member for key, member in members.items() if key != flag}
        components = tuple(_components(own)) if len(own) <= _MOST_COMPONENTS else ()
        required = ", ".join(
            f"{each.primitive or each.type} {each.name}" for each in components if each.required
        )
        optional = any(not each.required for each in components)
        terms = deprecation_terms(code)
        yield JavaErrorRow(
            key=dumps(f"{operation}\n{code.name}" if operation else code.name),
            name=name,
            file=f"src/{package}/{name}",
            doc="\n\n".join(code_paragraphs(code, _MARKS, taxonomy.owner)),
            tags=(("@deprecated", terms),) if terms else (),
            details_doc=f"The details of {code.name}.",
            details_tags=tuple(_tags(own, components, taxonomy)),
            deprecated=terms is not None,
            parameter=_parameter(code, own, components),
            components=components,
            required=required if optional else "",
            shortened=", ".join(each.name if each.required else "null" for each in components),
            arguments=", ".join(each.name for each in components),
            primitive=_primitive_parameters(components),
            boxed=", ".join(each.boxed for each in components),
            all_optional=not required,
            required_details=any(each.presence == "required" for each in own.values()),
            lists=any(each.type.startswith("List<") for each in components),
        )


def _primitive_parameters(components: tuple[JavaComponent, ...]) -> str:
    """The parameters of a second constructor for details that are all required, with one number as
    a primitive. With several, a call with both a `Long` and a `long` would be ambiguous.
    """
    numbers = [each for each in components if each.primitive]
    if len(numbers) != 1 or not all(each.required for each in components):
        return ""
    return ", ".join(f"{each.primitive or each.type} {each.name}" for each in components)


def _parameter(
    code: Code, own: Mapping[str, DetailMember], components: tuple[JavaComponent, ...]
) -> str:
    if components:
        return "Details"
    return "Map<String, Object>" if own or code.details_schema is not None else ""


def _components(members: Mapping[str, DetailMember]) -> Iterator[JavaComponent]:
    taken = set(_RESERVED)
    for key, member in members.items():
        stem = pascal(key)
        stem = f"Field{stem}" if not stem or stem[0].isdigit() else stem
        name = stem[0].lower() + stem[1:]
        name = take_unique(f"{name}_" if name in _RESERVED else name, taken)
        kind, reader = _type(member.schema)
        quoted = dumps(key)
        yield JavaComponent(
            name=name,
            type=kind,
            wither=f"with{name[0].upper()}{name[1:]}",
            key=quoted,
            reader=reader.format(f"map.get({quoted})"),
            required=member.presence == "required",
            primitive=_PRIMITIVES.get(kind, "") if len(members) <= _MOST_PRIMITIVES else "",
            boxed=f"{kind}.valueOf({name})" if kind in _PRIMITIVES else name,
        )


def _type(schema: Schema, depth: int = 0) -> tuple[str, str]:
    """The Java type of a value, and the source of its reader; ``Object`` if several are declared,
    or none.
    """
    kinds = [each for each in schema.types if each != "null"]
    if len(kinds) != 1 or schema.opaque is not None:
        return "Object", "{}"
    if kinds[0] != "array":
        kind, reader = _TYPES[kinds[0]]
        return kind, f"Json.{reader}({{}})"
    if schema.items is None:
        return "List<Object>", "Json.list({}, Json::any)"
    kind, reader = _type(schema.items, depth + 1)
    item = f"item{depth}"
    return f"List<{kind}>", f"Json.list({{}}, {item} -> {reader.format(item)})"


def _tags(
    members: Mapping[str, DetailMember], components: tuple[JavaComponent, ...], taxonomy: Taxonomy
) -> Iterator[tuple[str, str]]:
    for component, member in zip(components, members.values(), strict=False):
        doc = detail_row(member, taxonomy).description
        if doc:
            yield f"@param {component.name}", doc
