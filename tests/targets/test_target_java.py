"""Laws of the Java target: javac accepts it without a warning, and it answers as the vectors
say.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.runtime import retry_after
from faultspec.targets import SHIPPED
from faultspec.targets.catalog import refusals
from faultspec.targets.java import base_name
from support.command_line import faultspec
from support.java import JAVA, compile_java, compile_package, needs_javac
from support.once import build_once
from targets.answers_of_python import (
    check_answers,
    check_passing,
    error_cases,
    status_cases,
)
from targets.laws_of_ports import add_a_code, check_refusal
from targets.test_large_taxonomies import many_codes
from targets.test_typescript import Compiled, compiled, every_taxonomy

__all__ = ["compiled"]

HERE = Path(__file__).parent
TARGETS = [SHIPPED["java"], SHIPPED["vectors"]]

pytestmark = [needs_javac]


def supported() -> Mapping[str, Taxonomy]:
    """The taxonomies whose errors the target can read."""
    return {
        name: taxonomy
        for name, taxonomy in every_taxonomy().items()
        if not list(refusals(taxonomy))
    }


def write(taxonomy: Taxonomy, folder: Path) -> None:
    """Write the classes and the vectors of a taxonomy, and the comparison of both."""
    for path, text in render(taxonomy, TARGETS, "taxonomy.yaml").items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (package,) = (folder / "java/src").iterdir()
    text = (HERE / "java_comparison.txt").read_text(encoding="utf-8")
    text = text.replace("PACKAGE", package.name).replace("BASE", base_name(taxonomy))
    (package / "Comparison.java").write_text(text, encoding="utf-8")


class JavaBindings(NamedTuple):
    """The classes of each supported taxonomy, in folders of their names.

    ``printed``: of each, the lines of the compiler, else the comparison with the vectors as JSON.
    """

    folder: Path
    taxonomies: Mapping[str, Taxonomy]
    printed: Mapping[str, str]

    def run(self, cases: Mapping[str, Any], method: str = "sent") -> Mapping[str, Any]:
        """The answers to cases, by taxonomy; or what another method of `java_comparison.txt` says
        of them.
        """
        with TemporaryDirectory() as asked:  # the classes are shared by all workers
            for name, of_taxonomy in cases.items():
                (Path(asked) / f"{name}.json").write_text(json.dumps(of_taxonomy))
            found = run_main(self.folder, method, asked, *cases)
        return {name: json.loads(line) for name, line in found.items()}


def run_main(folder: Path, *arguments: str) -> Mapping[str, str]:
    """The lines of `java_main.txt`, by the name before the tab."""
    done = subprocess.run(
        [*JAVA, "Main.java", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.rstrip("\n").split("\n"):  # a text may have other ends of lines
        name, _, found[name] = line.partition("\t")
    return found


@pytest.fixture(scope="session")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> JavaBindings:
    """The classes of every supported taxonomy."""
    taxonomies = supported()

    def build(folder: Path) -> None:
        for name, taxonomy in taxonomies.items():
            write(taxonomy, folder / name)
        shutil.copy(HERE / "java_main.txt", folder / "Main.java")
        printed = run_main(folder, *taxonomies)
        (folder / "printed.json").write_text(json.dumps(printed), encoding="utf-8")

    folder = build_once(tmp_path_factory, "java", build)
    printed = json.loads((folder / "printed.json").read_text(encoding="utf-8"))
    assert printed.keys() == taxonomies.keys()
    return JavaBindings(folder, taxonomies, printed)


def test_the_classes_compile_without_a_warning(bindings: JavaBindings) -> None:
    """`javac -Xlint:all -Werror` has nothing to say, whatever codes and details are called."""
    printed = bindings.printed.items()
    assert {name: lines for name, lines in printed if not lines.startswith("{")} == {}


def test_java_answers_what_the_vectors_say(bindings: JavaBindings) -> None:
    """It reads, renders and plans the same for every answer of every taxonomy."""
    rows: dict[str, dict[str, Any]] = {n: json.loads(line) for n, line in bindings.printed.items()}
    assert {name: row["found"] for name, row in rows.items() if row["found"]} == {}
    assert all(row["count"] > 10 for row in rows.values())
    assert sum(row["count"] for row in rows.values()) > 1000


TEXTS = (
    *("", " ", "null", " [1 , 2]\n", "[1,]", "[,1]", "{}", '{"a":1,"a":2}', '{"a" 1}', "{a:1}"),
    *('{"a":1,}', "01", "-", "-0", "1.", ".5", "+1", "1e5", "1E-2", "1e", "1.0", "0.1", "-1.5e3"),
    *("9223372036854775807", "9007199254740993.0", "true", "True", "nul"),
    *(
        "NaN",
        "Infinity",
        '"a',
        '"\\u00e9"',
        '"\\u00g9"',
        '"\\x"',
        '"\t"',
        '"\\ud83d\\ude00"',
        "1 2",
    ),
    *(
        '"\\/\\b\\f\\n\\r\\t\\\\\\""',
        "[" * 300 + "]" * 300,
        "[" * 100_000,
        '{"a":' * 100_000,
        "[1}",
        "//1",
    ),
)

WAITS = (
    *(
        "0",
        "7",
        "007",
        "5.5",
        "120, 60",
        "1,\t2",
        " 8 ",
        "-1",
        "+5",
        "1e9",
        "nan",
        "0x10",
        "8 s",
        "",
    ),
    *(",", "1,", "9" * 400, ", ".join("1" * 5000), "Mon, 01 Jan 2024 00:01:00 GMT"),
    *(
        "Mon, 1 Jan 2024 00:01:00 UTC",
        "Wed, 01 Jan 2024 00:01:00 GMT",
        "mon, 01 jan 2024 00:01:00 gmt",
    ),
    *(
        "Monday, 01-Jan-24 00:01:00 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Mon Jan  1 00:01:00 2024",
    ),
    *(
        "Fri, 30 Feb 2024 00:00:00 GMT",
        "Mon, 01 Jan 2024 00:01:00 CET",
        "Mon, 01 Jan 2024 25:00:00 GMT",
    ),
    *(
        "Sat, 31 Dec 2016 23:59:60 GMT",
        "Wed, 01 Jan 3000 00:00:00 GMT",
        "Friday, 01-Jan-74 00:00:00 GMT",
    ),
)


def test_java_reads_texts_as_python_does(bindings: JavaBindings) -> None:
    """JSON is read or refused as RFC 8259 says, whatever its depth; a Retry-After is the same
    wait.
    """
    now = 1_704_067_200
    cases = {"platform": {"now": now, "json": TEXTS, "waits": WAITS}}
    found = bindings.run(cases, "readings")["platform"]

    def expected(text: str) -> list[Any]:
        try:
            return [json.loads(text, parse_constant=[].index)]
        except (ValueError, RecursionError):
            return []

    assert dict(zip(TEXTS, found["json"], strict=True)) == {text: expected(text) for text in TEXTS}
    waits = {text: retry_after.parse(text, now=now, lenient=True).seconds for text in WAITS}
    assert dict(zip(WAITS, found["waits"], strict=True)) == waits


def test_an_error_in_java_is_sent_as_python_sends_it(
    bindings: JavaBindings, compiled: Compiled
) -> None:
    """Status, headers and body of every shared code are those of Python, without details and with
    a value for each.
    """
    check_answers(error_cases(bindings.taxonomies, compiled), bindings.run)


def test_a_boundary_in_java_answers_a_status_as_pythons_does(
    bindings: JavaBindings, compiled: Compiled
) -> None:
    """Every status from 400 to 599 without a code has the answer of the Python boundary, with the
    headers of the framework that are kept.
    """
    check_answers(status_cases(bindings.taxonomies, compiled), bindings.run)


def test_an_envelope_passes_a_boundary_in_java_as_it_passes_pythons(
    bindings: JavaBindings, compiled: Compiled
) -> None:
    """A handler may fill an envelope itself, with one error or a list, all of them declared."""
    check_passing(bindings.taxonomies, compiled, bindings.run)


def test_a_new_code_only_adds_lines_of_java() -> None:
    """It adds a file, and lines to those that a taxonomy decides; the others stay as they are."""
    tree = add_a_code(TARGETS[0])
    assert len(tree.after.keys() - tree.before.keys()) == 1
    assert {path.rsplit("/", 1)[1] for path in tree.changed} == {
        *("ShopException.java", "Codes.java", "Constructors.java", "catalog.json"),
    }


def test_a_taxonomy_that_java_cannot_read_is_refused(tmp_path: Path) -> None:
    """The diagnostic names the file and each envelope, and nothing is written."""
    check_refusal("java", tmp_path)


@pytest.mark.full
def test_java_of_ten_thousand_codes_compiles(tmp_path: Path) -> None:
    """And starts, with an error of the last of them."""
    loaded = read(many_codes(10_000), "t.yaml").taxonomy
    assert loaded is not None
    for path, text in render(loaded, TARGETS[:1], "t.yaml").items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (package,) = (tmp_path / "java/src").iterdir()
    compile_package(tmp_path, package.name)
    (tmp_path / "Large.java").write_text(
        f"""import {package.name}.Errors;

final class Large {{
    public static void main(String[] arguments) {{
        byte[] body = "{{\\"code\\": \\"code_9999\\"}}".getBytes();
        System.out.println(Errors.parse(500, java.util.Map.of(), body).getClass());
    }}
}}
"""
    )
    compile_java(tmp_path, [tmp_path / "Large.java"])
    done = subprocess.run(
        [*JAVA, "-cp", str(tmp_path / "classes"), "Large"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"class {package.name}.Code9999Exception\n", done.stderr


NUMBERS = """
faultspec: 1
taxonomy: {name: nums, version: 1.0.0, title: Nums, owner: nobody}
envelopes: {error: {shape: {code: $code, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  one: {summary: One, http: 409, retriable: false, details: {left: {type: integer}}}
  two: {summary: Two, http: 409, retriable: false, details: {left: {type: integer}, share?: {type: number}}}
  three: {summary: Three, http: 409, retriable: false, details: {name: {type: string}, share: {type: number}}}
  four: {summary: Four, http: 409, retriable: false, details: {left: {type: integer}, right: {type: integer}}}
"""

LITERALS = """
import numserrors.*;

public final class Literals {
    public static void main(String[] arguments) {
        Long boxed = 4L;
        System.out.println(new OneException.Details(-3));
        System.out.println(new OneException.Details(boxed));
        System.out.println(new TwoException.Details(3).withShare(1));
        System.out.println(new TwoException.Details(boxed, 1.0).withShare((Double) null));
        System.out.println(new ThreeException.Details("n", 2));
        System.out.println(new FourException.Details(boxed, 2L));
    }
}
"""


@needs_javac
def test_details_take_literal_numbers(tmp_path: Path) -> None:
    """`new Details(-3)` compiles where the schema is an integer, as do boxed values, and calls with
    both.
    """
    (tmp_path / "taxonomy.yaml").write_text(NUMBERS)
    done = faultspec("compile", "--target", "java", "--out", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    compile_package(tmp_path, "numserrors")
    (tmp_path / "Literals.java").write_text(LITERALS)
    compile_java(tmp_path, [tmp_path / "Literals.java"])
    command = [*JAVA, "-cp", str(tmp_path / "classes"), "Literals"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == [
        "Details[left=-3]",
        "Details[left=4]",
        "Details[left=3, share=1.0]",
        "Details[left=4, share=null]",
        "Details[name=n, share=2.0]",
        "Details[left=4, right=2]",
    ], ran.stderr
