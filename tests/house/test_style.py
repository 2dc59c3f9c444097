"""The style of CONTRIBUTING.md, as far as a machine sees it: names, sentences, calls and widths."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from paths import ROOT

PRODUCT = sorted(
    path
    for folder in ("compiler", "conformance")
    for path in (ROOT / folder).rglob("*.py")
    if not path.resolve().is_relative_to(ROOT / "generated")
)
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").glob("**/*.py")
    if "generated" not in path.parts and ".cache" not in path.parts
)
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__).resolve())
TEMPLATES = sorted((ROOT / "templates").rglob("*.jinja"))
TYPESCRIPT = sorted((ROOT / "compiler" / "faultspec" / "runtime" / "typescript").glob("*.ts"))
TAXONOMIES = [
    ROOT / "taxonomy.yaml",
    *sorted((ROOT / "examples").glob("**/taxonomy.yaml")),
    *sorted((ROOT / "tests" / "taxonomies").glob("*.yaml")),
]
CONFIGURATIONS = [
    *sorted((ROOT / "examples").glob("**/conformance.yaml")),
    *sorted((ROOT / "examples").glob("**/waivers.yaml")),
    *sorted((ROOT / "tests" / "miniatures").glob("*.yaml")),
    ROOT / "conformance" / "faultspec_conformance" / "orders" / "conformance.yaml",
    ROOT / "faultspec.yaml",
    ROOT / "compiler" / "faultspec" / "cli" / "starter-project.yaml",
]
BUILDS = [
    *(ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / ".ci" / "run"),
    *(ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"),
]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("templates/*.md"),
        *ROOT.glob("examples/*/README.md"),
    ]
)

#: Parts of identifiers that name neither a value nor an act.
BANNED_NAMES = frozenset({"told", "said", "tells", "untold", "whoever"})

BANNED_PHRASES: Mapping[str, str] = {
    r"\b(?:is|are|was|were|be|been) (?:told|said)\b": "name who reports it: `the report shows`, `lint warns`",
    r"\b[Ww]hoever\b": "name the person or program",
    r"(?:^|[.;:] )Who (?!else\b)[a-z]": "begin with the person or program",
    r"(?<![Tt]here )(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|later\b|other\b|such\b|one\b)[a-z`]": "write `is not a`",
    r"\bthat there (?:is|are|was|were)\b": "name what exists",
    r"\bwhat there (?:is|are|was|were)\b": "name what exists",
    r"\bbe it\b": "write `whether`",
    r"(?<![`\w.])(?:he|she|his|hers|him|himself)(?![`\w])": "write `they` for people, `it` for programs",
}
"""Phrases that are not plain technical English, with the remedy."""

PATTERNS = {re.compile(pattern): remedy for pattern, remedy in BANNED_PHRASES.items()}

SHARED_NAMES: Mapping[str, str] = {
    "command": "the command of the module, which the command line collects",
    "github": "a printer of this format, for diagnostics or for reports",
    "json": "a printer of this format, for diagnostics or for reports",
    "junit": "a printer of this format, for diagnostics or for reports",
    "main": "the entry point of a program",
    "markdown": "a printer of this format, for diagnostics or for reports",
    "matches": "whether a text has a form: a path that of a template, an id that of its format",
    "page": "a page of the documentation",
    "parse": "a text becomes a value; ValueError or diagnostics say why not",
    "read": "text or data becomes the model of the room",
    "recipes": "carries out the recipes of the configuration, over HTTP or by calls",
    "render": "a value becomes text or a body, the inverse of `parse` or of a match",
    "runtime_files": "the modules of the runtime that a target copies, in its language",
    "resolve": "follows a reference: a JSON Pointer or a `$ref`",
    "sarif": "a printer of this format, for diagnostics or for reports",
    "summary": "one line with the counts, of diagnostics or of a report",
    "text": "a printer of this format, for diagnostics or for reports",
    "value_at": "the value at a path of a tree",
    "view": "the values that the templates of a target see, which the table of targets collects",
    "walk": "every node of a tree with its pointer, parents first",
}
"""Names of public functions that several modules define, for one act on several objects."""

PREPOSITIONS = frozenset(
    {
        *(
            "about",
            "above",
            "after",
            "among",
            "around",
            "at",
            "before",
            "behind",
            "below",
            "beside",
        ),
        *("between", "beyond", "by", "during", "for", "here", "in", "inside", "into", "near", "of"),
        *("off", "on", "out", "outside", "over", "per", "since", "through", "to", "together"),
        *("toward", "twice", "under", "until", "upon", "via", "within"),
    }
)
"""Words that begin no name of a function. `from_`, `as_`, `with_` and `without_` are idioms of
Python for other constructors, conversions and changed copies.
"""

PARTICIPLES = frozenset(
    {
        *("begun", "borne", "bound", "broken", "built", "chosen", "cut", "done", "drawn", "drawn"),
        *("fed", "found", "given", "gone", "grown", "heard", "held", "hidden", "kept", "known"),
        *("laid", "learnt", "left", "lent", "lost", "made", "meant", "met", "paid", "seen", "sent"),
        *("shown", "spent", "spoilt", "sworn", "taken", "thrown", "understood", "unheard"),
        *("unknown", "unmet", "unsaid", "unseen", "unsent", "unwritten", "woven", "written"),
    }
)
"""Irregular participles, beside the words in `-ed`."""

NOT_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "speed"})

NAMED_ALIKE: Mapping[str, str] = {
    "after_call": "the name of a hook of schemathesis",
    "before_call": "the name of a hook of schemathesis",
    "before_load_schema": "the name of a hook of schemathesis",
    "failed": "an outcome is made by the name of its kind",
    "lost": "an outcome is made by the name of its kind",
    "on_answer": "a handler of an event",
    "on_async_answer": "a handler of an event",
    "passed": "an outcome is made by the name of its kind",
}
"""Functions named by a participle or a preposition, each with its reason."""

#: Pages that quote what is banned: the style page itself, and texts of others.
QUOTING = frozenset({"CONTRIBUTING.md"})

#: A call with more arguments than this names them.
POSITIONAL = 4

#: Columns of prose on a page. Tables, code blocks and links do not wrap.
WIDTH = 100


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module, which several laws read."""
    return ast.parse(path.read_text(encoding="utf-8"))


def relative(path: Path) -> str:
    """The path of a file in the checkout."""
    return str(path.relative_to(ROOT))


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a module defines, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def texts(source: str) -> Iterator[tuple[str, int]]:
    """Yield docstrings, comments and messages of a module, with the line on which each begins.

    An f-string is one text, with `{}` for its values: tokens of f-strings depend on the version of
    Python, its syntax tree does not.
    """
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("#: "), token.start[0]
    parts: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        text = node.value if isinstance(node, ast.Constant) and node not in parts else ""
        if isinstance(node, ast.JoinedStr):
            parts.update(node.values)
            values = (getattr(part, "value", "") for part in node.values)
            text = "".join(value if isinstance(value, str) else "{}" for value in values)
        if isinstance(text, str) and " " in text:
            yield text, node.lineno


def banned(text: str) -> Iterator[str]:
    """The banned phrases of a text, each with its remedy; line breaks count as spaces."""
    flat = " ".join(text.split())
    for pattern, remedy in PATTERNS.items():
        for match in pattern.finditer(flat):
            yield f"{flat[max(0, match.start() - 30) : match.end() + 20]!r}: {remedy}"


def prose(page: str) -> Iterator[tuple[str, int]]:
    """The lines of a page outside code blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield "", number
        elif not fenced and not line.startswith("    "):
            yield line, number


def paragraphs(page: str) -> Iterator[tuple[str, int]]:
    """The paragraphs and table rows of a page, with the line on which each begins; quoted code is
    left out.
    """
    block: list[str] = []
    start = 0
    for line, number in (*prose(page), ("", 0)):
        if block and (not line.strip() or line.startswith("|") or block[0].startswith("|")):
            yield re.sub(r"`[^`]*`", "`code`", " ".join(block)), start
            block = []
        if line.strip():
            start = start if block else number
            block.append(line)


def test_names_are_words_of_the_field() -> None:
    """No identifier of the product, of its tests or of an example has a banned part."""
    found: list[str] = []
    for path in [*PRODUCT, *TESTS, *EXAMPLES]:
        tree = parsed(path)
        found += [
            f"{relative(path)}:{line}: {name}"
            for name, line in identifiers(tree)
            if BANNED_NAMES & set(name.lower().split("_"))
        ]
    assert found == []


def test_code_speaks_plainly() -> None:
    """No docstring, comment or message has a banned construction; no text of a taxonomy, of a
    configuration or of waivers has one.
    """
    found: list[str] = []
    for path in [
        *PRODUCT,
        *TESTS,
        *EXAMPLES,
        *TEMPLATES,
        *TYPESCRIPT,
        *TAXONOMIES,
        *CONFIGURATIONS,
        *BUILDS,
    ]:
        source = path.read_text(encoding="utf-8")
        parts = texts(source) if path.suffix == ".py" else [(source, 1)]
        found += [
            f"{relative(path)}:{line}: {phrase}" for text, line in parts for phrase in banned(text)
        ]
    assert found == []


def indirect_docstrings(tree: ast.AST) -> Iterator[str]:
    """The docstrings that begin with a question word and so do not name their object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = str(node.value.value)
            if text.startswith(("What ", "Who ")):
                yield f"{node.lineno}: {text[:40]}"


def test_docstrings_name_the_thing() -> None:
    """A docstring begins with the thing or the act, not with `What` or `Who`."""
    assert [
        f"{relative(path)}:{text}"
        for path in [*PRODUCT, *TESTS]
        for text in indirect_docstrings(ast.parse(path.read_text(encoding="utf-8")))
    ] == []


def test_pages_speak_plainly() -> None:
    """No page has a banned construction, but for the one that quotes them."""
    found: list[str] = []
    for path in PAGES:
        if relative(path) in QUOTING:
            continue
        page = path.read_text(encoding="utf-8")
        found += [
            f"{relative(path)}:{line}: {phrase}"
            for text, line in paragraphs(page)
            for phrase in banned(text)
        ]
    assert found == []


def sentence_of(name: str) -> str:
    """Return the name of a test as a sentence."""
    return name.removeprefix("test_").replace("_", " ").capitalize()


def test_names_of_tests_speak_plainly() -> None:
    """The name of a test, read as a sentence, has no banned construction."""
    found: list[str] = []
    for path in TESTS:
        names = [
            (node.name, node.lineno)
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]
        found += [
            f"{relative(path)}:{line}: {phrase}"
            for name, line in names
            for phrase in banned(sentence_of(name))
        ]
    assert found == []


#: A suppression stands on the line that it is for, with its reason, however long that is.
SUPPRESSION = re.compile(r"#\s*(?:noqa|type: ignore)")


def prose_lines(source: str) -> Iterator[int]:
    """Yield the lines of a module that have a comment or a part of a docstring."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not SUPPRESSION.search(token.string):
            yield token.start[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def test_comments_wrap() -> None:
    """Comments and docstrings end at 100 columns. ruff wraps code; a literal may be wider."""
    found: list[str] = []
    for path in [*PRODUCT, *TESTS, *EXAMPLES]:
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        found += [
            f"{relative(path)}:{number}"
            for number in prose_lines(source)
            if len(lines[number - 1]) > WIDTH
        ]
    assert found == []


def test_build_files_and_templates_wrap() -> None:
    """Build files and templates end at 100 columns. A line of a Markdown template is a paragraph or
    a row of the page, so it may be wider.
    """
    found: list[str] = []
    for path in [*BUILDS, *(path for path in TEMPLATES if "markdown" not in path.parts)]:
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [
            f"{relative(path)}:{number}"
            for number, line in enumerate(lines, 1)
            if len(line) > WIDTH
        ]
    assert found == []


def test_long_calls_name_their_arguments() -> None:
    """A call passes at most four arguments by position."""
    found: list[str] = []
    for path in PRODUCT:
        tree = parsed(path)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        found += [
            f"{relative(path)}:{node.lineno}" for node in calls if len(node.args) > POSITIONAL
        ]
    assert found == []


def test_no_class_name_twice() -> None:
    """A class name means one thing in both packages."""
    places: dict[str, list[str]] = {}
    for path in PRODUCT:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{relative(path)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def public_functions(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Return the places of each public function of the modules, by name."""
    places: dict[str, list[str]] = {}
    for path in paths:
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_":
                places.setdefault(node.name, []).append(f"{relative(path)}:{node.lineno}")
    return places


def test_no_function_name_for_two_things() -> None:
    """A public function has a name of its own, unless modules share a verb for one and the same
    act.
    """
    found = public_functions(PRODUCT)
    repeated = {name: places for name, places in found.items() if len(places) > 1}
    assert {name: repeated[name] for name in repeated.keys() - SHARED_NAMES.keys()} == {}
    assert SHARED_NAMES.keys() - repeated.keys() == set(), "an exception without a use"


def is_participle(word: str) -> bool:
    """Whether a word is the participle of a verb."""
    regular = len(word) > 3 and word.endswith("ed") and word not in NOT_PARTICIPLES
    return regular or word in PARTICIPLES


def is_oblique(name: str) -> bool:
    """Whether a name is a participle without a noun, or begins with a preposition."""
    first, *rest = name.strip("_").split("_")
    alone = not rest or rest[0] in PREPOSITIONS
    return first in PREPOSITIONS or (is_participle(first) and alone)


def oblique_names(tree: ast.AST) -> Iterator[str]:
    """The oblique names of functions in a module.

    Properties may be adjectives. A lint rule has the name of its id.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_oblique(node.name):
            marks = {
                getattr(mark, "attr", getattr(mark, "id", ""))
                for mark in (getattr(part, "func", part) for part in node.decorator_list)
            }
            if not marks & {"property", "cached_property", "rule"}:
                yield node.name


def test_functions_say_the_act_or_the_value() -> None:
    """No function is named by a participle alone or from a preposition on, but for a few.

    The runtime is not held to it: generated code and its users have its names.
    """
    runtime = ROOT / "compiler" / "faultspec" / "runtime"
    found = {
        name: relative(path)
        for path in PRODUCT
        if not path.is_relative_to(runtime)
        for name in oblique_names(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert {name: found[name] for name in found.keys() - NAMED_ALIKE.keys()} == {}
    assert NAMED_ALIKE.keys() - found.keys() == set(), "an exception without a use"


def test_prose_wraps() -> None:
    """Prose of a page ends at 100 columns; tables, headings, code and links may be wider."""
    found: list[str] = []
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        found += [
            f"{relative(path)}:{number}"
            for text, number in prose(page)
            if len(text) > WIDTH and not text.startswith(("|", "#", "<!--")) and "](" not in text
        ]
    assert found == []


def test_the_check_sees_what_it_forbids() -> None:
    """Planted sins of style are found, so silence above means something."""
    source = '"""Who is told 429 is no client."""\ndef said(told): f(1, 2, 3, 4, 5)  # his\n'
    phrases = [phrase for text, _ in texts(source) for phrase in banned(text)]
    assert len(phrases) == 4
    assert {name for name, _ in identifiers(ast.parse(source))} == {"said", "told"}
    assert list(banned("There is no retry policy; it is no longer used.")) == []
    planted = (
        "def _told_of(): ...\ndef of_code(): ...\ndef _parsed(): ...\ndef known_codes(): ...\n"
    )
    assert list(oblique_names(ast.parse(planted))) == ["of_code", "_parsed"]
    assert len(list(indirect_docstrings(ast.parse(source)))) == 1
    assert list(banned(sentence_of("test_who_asks_is_answered")))
    assert list(banned(sentence_of("test_an_answer_is_no_error")))
    assert {*prose_lines("x = 1  # why\n\n\ndef f():\n    '''One.\n    '''\n")} == {1, 5, 6}


def test_an_f_string_is_one_text() -> None:
    """The texts of a module are the same on every version of Python, values of f-strings left
    out.
    """
    source = 'f"{a} is no " f"{b!r:>{c}} client"\n# said here\n"""One."""\nx = "two words"\n'
    assert sorted(text for text, _ in texts(source)) == [
        "said here",
        "two words",
        "{} is no {} client",
    ]
