"""Patterns of places come to other languages as they are, so they are those that all have."""

import json
import re
import shutil
import subprocess

import pytest

from faultspec.language import read
from faultspec.render import render
from faultspec.targets import SHIPPED, TargetError
from faultspec.targets.portable_patterns import is_portable

EVERYWHERE = (
    *(r"^([^:]+)", r"(a{2,3}?)b", r"phase=((?:[a-z]|-[a-z])+)$", r"([\w\-.]+)", r"[\]](a)"),
    *(r"(\.)\d\s\b", r"(a){1}", r"(a|b)*?", r"([^\]a])", r"(&&)", r"([a&])"),
)

#: Those that JavaScript lacks, and those that Java and RE2 lack.
NOWHERE = (
    *(r"^(a*+)b", r"((?>a)b)", r"((?P<x>a))", r"(a)\Z", r"(?i:A)(b)", r"(a)(?#c)", r"(a{,5})b"),
    *(r"([[a])", r"([^]a])", r"([]a])", r"(?s)(.)", r"(\x41)", r"(a]})", r"(])", r"(\07)"),
    *(r"(a{1001})", r"(a{2})++"),
)

TAXONOMY = """
faultspec: 1
taxonomy: {name: places, version: 1.0.0}
envelopes:
  error: {shape: {code?: $code}, fields: {code: {places: [{header: X-Code, pattern: PATTERN}, /code]}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {absent: {summary: Not there, http: 404, retriable: false}}
"""


@pytest.mark.parametrize("pattern", EVERYWHERE)
def test_common_patterns_are_portable(pattern: str) -> None:
    """Characters, sets, alternatives and repetitions."""
    re.compile(pattern)
    assert is_portable(pattern)
    assert is_portable(pattern, to_javascript=True)


@pytest.mark.parametrize("pattern", NOWHERE)
def test_patterns_of_python_alone_are_not(pattern: str) -> None:
    """Brackets that stand first in a set or for themselves, marks, and large counts."""
    assert not is_portable(pattern)
    assert not is_portable(pattern, to_javascript=True)


def test_javascript_looks_around_and_has_few_escapes() -> None:
    """It has other escapes than Java and RE2, under the flag `u`."""
    assert is_portable(r"(?<=a)(b)(?!c)", to_javascript=True)
    assert not is_portable(r"(?<=a)(b)(?!c)")
    assert is_portable(r"(a)\:\ ")
    assert not is_portable(r"(a)\:\ ", to_javascript=True)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_compiles_what_is_portable() -> None:
    """Every pattern that is called portable is one of JavaScript."""
    program = "JSON.parse(process.argv[1]).forEach(one => new RegExp(one, 'u'))"
    patterns = json.dumps([*EVERYWHERE, r"(?<=a)(b)(?!c)"])
    done = subprocess.run(["node", "-e", program, patterns], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", ["typescript", "go", "java"])
def test_other_patterns_are_refused(target: str) -> None:
    """A target whose language lacks a pattern is refused, with the place of the pattern."""
    for pattern, is_refused in ((r"([^]a]+)", True), (r"([a-z]+)", False)):
        taxonomy = read(TAXONOMY.replace("PATTERN", f"'{pattern}'"), "t.yaml").taxonomy
        assert taxonomy is not None
        if not is_refused:
            assert render(taxonomy, [SHIPPED[target]], "t.yaml")
            continue
        with pytest.raises(TargetError) as caught:
            render(taxonomy, [SHIPPED[target]], "t.yaml")
        assert caught.value.diagnostic.code == "unsupported-envelope"
        assert caught.value.diagnostic.pointer is not None
