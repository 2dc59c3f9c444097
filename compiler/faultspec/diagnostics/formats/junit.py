"""JUnit XML."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from faultspec.diagnostics.formats.escaping import escape_markup, visible_lines

#: Characters that XML 1.0 section 2.2 excludes, escaped or not.
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


class TestCase(NamedTuple):
    """One case. `message` and `type` are attributes of its outcome, `text` is its content.

    The text of a passed case is its output.
    """

    classname: str
    name: str
    outcome: Literal["passed", "failure", "error", "skipped"] = "passed"
    message: str | None = None
    text: str | None = None
    type: str | None = None
    file: str | None = None
    line: int | None = None


class TestSuite(NamedTuple):
    """Cases under one name."""

    name: str
    cases: Sequence[TestCase]


def write_junit(name: str, suites: Sequence[TestSuite], *, seconds: float | None = None) -> str:
    """The document of all suites; `seconds` is the duration of the whole run."""
    from xml.etree import ElementTree  # here, since most output is for terminals

    def add(parent: ElementTree.Element, tag: str, **values: object) -> ElementTree.Element:
        return ElementTree.SubElement(parent, tag, _attributes(values))

    root = ElementTree.Element("testsuites", _attributes({"name": name}))
    root.attrib |= _counts(case for suite in suites for case in suite.cases)
    if seconds is not None:
        root.set("time", f"{seconds:.3f}")
    for suite in suites:
        parent = add(root, "testsuite", name=suite.name)
        parent.attrib |= _counts(suite.cases)
        for case in suite.cases:
            element = add(
                parent,
                "testcase",
                classname=case.classname,
                name=case.name,
                file=case.file,
                line=case.line,
            )
            if case.outcome != "passed":
                element = add(element, case.outcome, type=case.type, message=case.message)
            elif case.text is not None:
                element = add(element, "system-out")
            if case.text is not None:
                element.text = _xml_text("\n".join(visible_lines(case.text)))
    ElementTree.indent(root)
    document = escape_markup(ElementTree.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _counts(cases: Iterable[TestCase]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
    }


def _attributes(values: Mapping[str, object]) -> dict[str, str]:
    return {name: _xml_text(str(value)) for name, value in values.items() if value is not None}


def _xml_text(text: str) -> str:
    return re.sub(_NOT_XML, "\ufffd", text)
