"""Laws of what is generated: pure, small in diffs, and used for real by the tools that read it."""

import copy
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import Phase, example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from faultspec import source
from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.lint import check
from faultspec.render import render, write
from faultspec.targets import SHIPPED, default_targets
from paths import ROOT
from support.command_line import faultspec
from support.examples import examples
from support.wire_shapes import FOLDER

FLAGSHIP = ROOT / "taxonomy.yaml"
TAXONOMIES = [FLAGSHIP, *sorted((ROOT / "tests/taxonomies").glob("*.yaml"))]
FAULTSPEC = [sys.executable, "-c", "from faultspec.cli import main; main()"]
PATHS = pytest.mark.parametrize("path", TAXONOMIES, ids=lambda path: path.stem)


@cache
def taxonomy(path: Path) -> Taxonomy:
    """A taxonomy that has nothing wrong with it."""
    loaded = load(str(path))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


@cache
def tree(path: Path) -> dict[str, str]:
    """Everything that is compiled from a taxonomy."""
    return render(taxonomy(path), default_targets().values(), path.name)


#: Wire shapes whose codes are in headers, in one of several members, or decided by the status.
PLACED = ("aws_rest_json", "fastapi", "scim")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python packages of every taxonomy, side by side."""
    folder = tmp_path_factory.mktemp("compiled")
    paths = [*TAXONOMIES, *(FOLDER / f"{shape}.yaml" for shape in PLACED)]
    trees = [render(taxonomy(path), [SHIPPED["python"]], path.name) for path in paths]
    write({file: text for each in trees for file, text in each.items()}, folder, ["python"])
    return folder / "python"


def _packages(folder: Path) -> list[Path]:
    return sorted(
        each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Kolkata", "LC_ALL": "C", "PYTHONUTF8": "0"},
        pytest.param(
            {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"},
            marks=pytest.mark.full,
        ),
    ],
    ids=["ascii-locale", "other-seed"],
)
def test_the_bytes_depend_on_the_taxonomy_alone(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Law 1: same YAML, same bytes, under any hash seed, locale and time zone; whatever the
    folder.
    """
    for path in TAXONOMIES:
        shutil.copy(path, tmp_path)  # out of the project, whose folder the headers begin from
        command = [*FAULTSPEC, "compile", path.name, "--out", str(tmp_path / path.stem)]
        subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
        )
        found = {
            each.relative_to(tmp_path / path.stem).as_posix(): each.read_bytes()
            for each in (tmp_path / path.stem).rglob("*")
            if each.is_file()
        }
        manifest = found.pop("MANIFEST").decode()
        assert manifest == "".join(f"{each}\n" for each in sorted(found))
        assert found == {name: text.encode() for name, text in tree(path).items()}


def test_the_generated_folder_is_up_to_date() -> None:
    """`generated/` is what the taxonomy compiles to, no more and no less."""
    found = faultspec("compile", "--check", cwd=ROOT)
    assert (found.returncode, found.stdout) == (0, "")


# Law 2: adding a code only adds lines.


class _Plain(yaml.SafeDumper):
    """Writes what is shared twice: the language has no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def with_code(path: Path, position: int, name: str, code: dict[str, object]) -> Taxonomy:
    """The taxonomy with one more code, at a position among those it has."""
    data = copy.deepcopy(source.load_document(path).data)
    assert isinstance(data, dict)
    codes = list(data["codes"].items())
    codes.insert(position, (name, code))
    data["codes"] = dict(codes)
    text = yaml.dump(data, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=10_000)
    loaded = read(text, path.name)
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def only_adds(before: str, after: str, *, commas: bool) -> bool:
    """Whether every line of `before` is still there, in order; with `commas`, a line may have got a
    comma at its end.
    """
    lines = iter(after.splitlines())
    return all(
        any(each == line or (commas and f"{each}," == line) for line in lines)
        for each in before.splitlines()
    )


codes = st.fixed_dictionaries(
    {
        "summary": st.just('A new "failure".'),
        "retriable": st.sampled_from([True, False, "caller", "none"]),
    },
    optional={
        "message": st.just("It failed"),
        "http": st.sampled_from(
            [
                400,
                403,
                418,
                429,
                500,
                [503, 504],
                "4xx",
                [{"if": {"caller.authenticated": False}, "status": 409}, {"else": 410}],
            ]
        ),
        "details": st.sampled_from(
            [{}, {"zebra": {"type": "string"}}, {"aardvark?": {"type": ["integer", "null"]}}]
        ),
        "headers": st.sampled_from(
            [{"Retry-After": "required"}, {"X-New": {"presence": "optional"}}]
        ),
        "client_action": st.sampled_from(["retry", "refetch", "user"]),
        "effect": st.just("possible"),
        "wire": st.just("zz_new"),
    },
)


@given(
    st.sampled_from(TAXONOMIES),
    st.integers(0, 20),
    st.sampled_from(["aaa", "Zulu", "m_new"]),
    codes,
)
@example(
    FLAGSHIP, 0, "aaa", {"summary": "Any other.", "retriable": False, "http": "4xx"}
)  # beside a fallback for 4xx
@examples(120)
def test_a_new_code_only_adds_lines(
    path: Path, position: int, name: str, code: dict[str, object]
) -> None:
    """Law 2: wherever a code is added, no line of a generated file changes, but for a trailing
    comma in JSON.
    """
    if "http" not in code:
        code = {**code, "http": None, "http_reason": "Not over HTTP."}
    if any(isinstance(each.wire, int) for each in taxonomy(path).codes.values()):
        code = {**code, "wire": 999}
    after = render(with_code(path, position, name, code), default_targets().values(), path.name)
    for file, text in tree(path).items():
        assert only_adds(text, after[file], commas=file.endswith(".json")), file


SYSTEMS = [
    FLAGSHIP,
    *(
        ROOT / f"examples/{name}/taxonomy.yaml"
        for name in ("aileron", "alknet", "theodosia", "keenbench")
    ),
]


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.parent.name)
def test_a_new_code_of_500_takes_nobodys_place(path: Path) -> None:
    """Law 2: a code of 500 before all others does not become what an exception, or a bare 500, was
    answered with.
    """
    code: dict[str, object] = {
        "summary": "New.",
        "message": "New",
        "http": 500,
        "retriable": False,
        "effect": "none",
    }
    if any(isinstance(each.wire, int) for each in taxonomy(path).codes.values()):
        code["wire"] = 999
    after = render(with_code(path, 0, "aaa", code), default_targets().values(), path.name)
    for file, text in tree(path).items():
        assert only_adds(text, after[file], commas=file.endswith(".json")), file


def test_what_only_adds_means() -> None:
    """The measure of law 2 itself sees a changed line, a moved one and a lost one."""
    assert only_adds("a\nb\n", "a\nx\nb\n", commas=False)
    assert only_adds("[\n1\n]\n", "[\n1,\n2\n]\n", commas=True)
    assert not only_adds("a\nb\n", "a,\nb\n", commas=False)
    assert not only_adds("a\nb\n", "b\na\n", commas=False)
    assert not only_adds("a\nb\n", "a\n", commas=True)


# Law 3: everything is used for real.


def test_the_python_is_clean_as_rendered(written: Path) -> None:
    """Generated Python passes ruff's formatter and rules, and mypy --strict, with nothing in
    between.
    """
    alone = ["--isolated", "--no-cache"]
    rules = [
        "--select",
        "E,F,W,I,UP,B,C4,SIM,RET,PIE,PT,RUF,D1",
        "--ignore",
        "D105,D107,RUF001,RUF002,RUF003",
    ]
    for command in (
        ["ruff", "format", *alone, "--diff", "."],
        ["ruff", "check", *alone, "."],
        ["ruff", "check", *alone, "--target-version", "py311", *rules, "."],
        [
            "mypy",
            "--strict",
            "--no-site-packages",  # no framework is installed; tests/frameworks has those
            "--no-incremental",
            "--cache-dir",
            os.devnull,
            *(each.name for each in _packages(written)),
        ],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=written,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


TREES = [ROOT / "generated", *sorted((ROOT / "examples").glob("*/generated"))]


@pytest.mark.parametrize("command", [["format", "--check"], ["check"]], ids=["format", "check"])
@pytest.mark.parametrize("settings", [["--isolated"], []], ids=["strangers", "its-own"])
def test_what_is_committed_passes_ruff_as_it_comes(command: list[str], settings: list[str]) -> None:
    """Every generated package passes ruff with its defaults, and with the settings that come with
    it, which no other width around it changes.
    """
    packages = [str(tree / "python") for tree in TREES]
    assert all((tree / "python/ruff.toml").is_file() for tree in TREES)
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", *settings, *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_python_needs_nothing_but_the_standard_library(written: Path) -> None:
    """Each package imports without site-packages, and without anything of this project."""
    for package in _packages(written):
        probe = f"import {package.name}, {package.name}.asgi, sys; assert not any(m.startswith('faultspec') for m in sys.modules)"
        subprocess.run(
            [
                sys.executable,
                "-I",
                "-S",
                "-c",
                f"import sys; sys.path.insert(0, {str(written)!r}); {probe}",
            ],
            check=True,
        )


def test_the_runtime_is_copied_verbatim(written: Path) -> None:
    """The code that runs in a binding is the code that this project tests and uses. A binding whose
    bodies are all JSON has no codecs, and one without languages, sensitive details or idempotency
    keys nothing for them.
    """
    own = sorted((ROOT / "compiler/faultspec/runtime").glob("*.py"))
    codecs = {"cbor_codec", "codecs", "reading", "text_values", "xml_codec"}
    for package in _packages(written):
        header = "# Copied from faultspec; do not edit\n"
        formats = "write_error_body" in (package / "wire.py").read_text()
        errors = (package / "errors.py").read_text()
        unused = {each for each in ("locales", "sensitive") if f"_runtime.{each} " not in errors}
        unused |= set() if formats else codecs
        unused |= set() if "_runtime.keys " in (package / "retry.py").read_text() else {"keys"}
        copied = [each for each in own if each.stem not in unused]
        assert [header + each.read_text() for each in copied] == [
            each.read_text() for each in sorted((package / "_runtime").glob("*.py"))
        ]


@PATHS
def test_the_schemas_are_schemas(path: Path) -> None:
    """Every JSON Schema obeys its metaschema, and no reference in it leads nowhere."""
    for file, text in tree(path).items():
        if file.startswith("jsonschema/"):
            schema = json.loads(text)
            Draft202012Validator.check_schema(schema)
            for each in _references(schema):
                assert each.removeprefix("#/$defs/") in schema["$defs"], each


@PATHS
@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_the_openapi_documents_are_valid(path: Path, version: str) -> None:
    """The components are valid OpenAPI, and every reference among them resolves."""
    document = json.loads(tree(path)[f"openapi/openapi-{version}.json"])
    validate(document)
    for each in _references(document):
        place: object = document
        for step in each.removeprefix("#/").split("/"):
            assert isinstance(place, dict)
            assert step in place, each
            place = place[step]


@PATHS
def test_each_example_is_what_its_schema_describes(path: Path) -> None:
    """The examples in OpenAPI satisfy the schema of their code, and the JSON Schema of an envelope,
    and nothing more.
    """
    document = json.loads(tree(path)["openapi/openapi-3.1.json"])
    examples = document["components"].get("examples", {})
    assert examples or not any(code.http.statuses for code in taxonomy(path).shared_live_codes())
    for response in document["components"].get("responses", {}).values():
        for media in response["content"].values():
            validator = Draft202012Validator(
                {**media["schema"], "components": document["components"]}
            )
            for name in media.get("examples", {}):
                validator.validate(examples[name]["value"])
    envelopes = [
        Draft202012Validator(json.loads(text))
        for file, text in tree(path).items()
        if file.startswith("jsonschema/") and "details.schema" not in file
    ]
    for name, shown in examples.items():
        assert any(each.is_valid(shown["value"]) for each in envelopes), name


def test_schemathesis_loads_the_components() -> None:
    """A service's document that refers to the responses is read by schemathesis, in both
    versions.
    """
    schemathesis = pytest.importorskip("schemathesis")
    for version in ("3.0", "3.1"):
        document = json.loads(tree(FLAGSHIP)[f"openapi/openapi-{version}.json"])
        responses = {
            name.removeprefix("Error"): {"$ref": f"#/components/responses/{name}"}
            for name in document["components"]["responses"]
        }
        document["paths"] = {
            "/orders": {"get": {"responses": {"200": {"description": "OK"}, **responses}}}
        }
        validate(document)
        schema = schemathesis.openapi.from_dict(document)
        assert [each.ok().label for each in schema.get_all_operations()] == ["GET /orders"]


@PATHS
def test_the_documents_of_30_speak_30(path: Path) -> None:
    """No keyword that OpenAPI 3.0 lacks is left in the document for it."""
    document = json.loads(tree(path)["openapi/openapi-3.0.json"])
    for section in ("schemas", "headers", "responses"):
        for each in _objects(document["components"].get(section, {})):
            assert not isinstance(each.get("type"), list)
            assert "const" not in each or not isinstance(each.get("properties", each["const"]), str)
            assert isinstance(each.get("exclusiveMinimum", True), bool)


@PATHS
def test_nothing_generated_says_when_or_by_what(path: Path) -> None:
    """No date, no hash, no count and no version of a tool; the manifest lists paths alone."""
    for file, text in tree(path).items():
        header = [line for line in text.splitlines() if "Regenerate" in line]
        if "_runtime" not in file and not file.endswith("py.typed"):
            assert len(header) == 1, file
            assert path.name in header[0]


@PATHS
def test_lines_are_as_platforms_agree(path: Path) -> None:
    """Every file ends in one line feed, and none holds a carriage return, a tab or white space at
    the end of a line.
    """
    for file, text in tree(path).items():
        if "_runtime" in file or not text:
            continue
        assert text.endswith("\n"), file
        assert not text.endswith("\n\n"), file
        assert not any(line != line.rstrip() for line in text.split("\n")), file
        assert "\r" not in text


def _references(value: object) -> list[str]:
    found = (each.get("$ref") for each in _objects(value))
    return [each for each in found if isinstance(each, str)]


def _objects(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        return [value, *(inner for each in value.values() for inner in _objects(each))]
    return [inner for each in value for inner in _objects(each)] if isinstance(value, list) else []


# Whatever the text of a taxonomy, what is generated is well formed.

NASTY = [
    'says "no"',
    "it's",
    """both " and '""",
    'ends in a quote"',
    '"begins with one',
    "ends in a backslash \\",
    '""" closes a docstring',
    "\\N{BULLET} \\x41 \\",
    "{{ 7 * 7 }} {% raw %} {# no #}",
    "${not_a_slot} $$ ${",
    "two\nlines and a\ttab",
    "é ↯ \u202e \u00a0 \u2028 \U0001f600",
    "# comment */ --> <!-- ]]>",
    "word " * 60,
    "x" * 300,
    " spaces  inside ",
]


def nasty() -> Taxonomy:
    """A taxonomy in which every text is nasty."""
    data = {
        "faultspec": 1,
        "taxonomy": {
            "name": "nasty",
            "version": "1.0.0",
            "title": NASTY[2],
            "description": NASTY[6],
        },
        "domains": {"d": NASTY[5]},
        "envelopes": {
            "error": {
                "summary": NASTY[10],
                "shape": {
                    'co"de\\': "$code",
                    "message": "$message",
                    "$$x": "a$$b",
                    "d?": "$details",
                },
            }
        },
        "retry_policies": {
            "p": {
                "summary": NASTY[10],
                "max_attempts": 2,
                "backoff": {"kind": "constant", "base": "1s"},
            }
        },
        "codes": {
            f"c{number}": {
                "summary": text,
                "description": text,
                "wire": f"{text}{number}",
                "http": 400 + number,
                "retriable": False,
                "retry": "p",
                "details": {"key?": {"type": "string", "description": text, "enum": [text, "x"]}},
            }
            for number, text in enumerate(NASTY)
        },
    }
    for number, code in enumerate(data["codes"].values()):  # type: ignore[attr-defined]
        code["message"] = NASTY[number].replace("${not_a_slot} $$ ${", "$5")
    loaded = read(
        yaml.dump(data, Dumper=_Plain, sort_keys=False, allow_unicode=False, width=10_000),
        "nasty.yaml",
    )
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def test_any_text_is_quoted(tmp_path: Path) -> None:
    """Quotes, backslashes, tags of templates and invisible characters arrive as text, in Python and
    in JSON.
    """
    taxonomy = nasty()
    tree = render(taxonomy, SHIPPED.values(), "nasty.yaml")
    write(tree, tmp_path, list(SHIPPED))
    probe = (
        "import json, sys; sys.path.insert(0, 'python'); import nasty_errors as n; "
        "json.dump([[e.value, n.FACTS[e].wire, n.errors.ERRORS[e].default_message] for e in n.ErrorCode], sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, check=True
    )
    assert json.loads(done.stdout) == [
        [code.name, code.wire, code.message] for code in taxonomy.codes.values()
    ]
    schema = json.loads(tree["jsonschema/error.schema.json"])
    for name, code in taxonomy.codes.items():
        assert schema["$defs"][name]["properties"]['co"de\\']["const"] == code.wire
        assert schema["$defs"][name]["description"] == code.summary
    for command in (["ruff", "format", "--isolated", "--no-cache", "--diff", "."],):
        checked = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
    assert not any(each in text for text in tree.values() for each in "\u202e\u2028")


# Whatever the names and texts of a taxonomy, the Python is laid out as ruff would.

WORDS = st.lists(
    st.sampled_from(["a", "of", "long", "order", "tenants", "capability", "reconciliation"]),
    min_size=1,
)
NAMES = WORDS.map("_".join).filter(lambda name: len(name) <= 36)
TEXTS = st.lists(
    st.sampled_from(
        ["a", "word", "é", "日本語", '"quoted"', "it's", "\\", "incomprehensibilities"]
    ),
    min_size=1,
).map(" ".join)


@st.composite
def awkward(draw: st.DrawFn) -> Taxonomy:
    """A taxonomy of long names, long texts, many details and enumerations."""
    keys = draw(st.lists(NAMES, max_size=12, unique=True))
    boundaries = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    values: st.SearchStrategy[dict[str, object]] = st.one_of(
        st.just({"type": "string"}),
        st.just({"type": ["string", "null"]}),
        st.just({"type": "array", "items": {"type": "object"}}),
        st.lists(NAMES, min_size=1, max_size=6, unique=True).map(
            lambda each: {"type": "string", "enum": each}
        ),
    )
    data = {
        "faultspec": 1,
        "taxonomy": {"name": draw(NAMES), "version": "1.0.0", "title": draw(TEXTS)},
        "boundaries": {name: draw(TEXTS) for name in boundaries},
        "actions": {name: draw(TEXTS) for name in draw(st.lists(NAMES, max_size=4, unique=True))},
        "detail_keys": {name: draw(values) for name in keys},
        "envelopes": {
            name: {
                "shape": {
                    "code": "$code",
                    "message": "$message",
                    **{each: f"${each}" for each in slots},
                    "d?": "$details",
                },
                "fields": {each: {"type": "string"} for each in slots},
            }
            for name, slots in draw(
                st.dictionaries(
                    NAMES, st.lists(NAMES, max_size=2, unique=True), min_size=1, max_size=2
                )
            ).items()
        },
        "codes": {
            name: {
                "summary": draw(TEXTS),
                "description": draw(TEXTS),
                "http": draw(st.sampled_from([404, [409, 410], "500-599", [500, "502-511"]])),
                "retriable": draw(st.booleans()),
                "boundary": draw(st.lists(st.sampled_from(boundaries), min_size=1, unique=True)),
                "details": {
                    key + draw(st.sampled_from(["", "?"])): {}
                    for key in draw(
                        st.lists(st.sampled_from(keys), unique=True) if keys else st.just([])
                    )
                },
            }
            for name in draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
        },
    }
    loaded = read(
        yaml.dump(data, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=10_000),
        "awkward.yaml",
    )
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


# Unshrunk: the diff that ruff prints says what is wrong whatever the size of the taxonomy.
@examples(100, steady=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(awkward())
def test_any_names_are_laid_out(
    tmp_path_factory: pytest.TempPathFactory, taxonomy: Taxonomy
) -> None:
    """ruff, with its defaults, has nothing to change or to find in what is generated, however long
    the names.
    """
    folder = tmp_path_factory.mktemp("awkward")
    for path, text in render(taxonomy, [SHIPPED["python"]], "awkward.yaml").items():
        if path.endswith(".py") and "/_runtime/" not in path:
            (folder / Path(path).name).write_text(text)
    for command in (["format", "--diff"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


OFF = re.compile(r"^# fmt: off\n(.*?)(?:^# fmt: on\n|\Z)", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.parent.name)
def test_where_ruff_is_off_the_layout_is_its_own(tree: Path) -> None:
    """Between `# fmt: off` and `# fmt: on` stands what ruff writes, were its lines long enough for
    every name and text.
    """
    found = 0
    for path in sorted(tree.glob("python/*/*.py")):
        text = path.read_text()
        command = ["ruff", "format", "--isolated", "--no-cache", "--line-length", "320", "-"]
        done = subprocess.run(
            [sys.executable, "-m", *command],
            input=re.sub(r"^# fmt: o(n|ff)\n", "", text, flags=re.MULTILINE),
            capture_output=True,
            text=True,
            check=True,
        )
        for region in OFF.findall(text):
            found += 1
            assert region.strip("\n") in done.stdout, path
    assert found


POINTERS = """\
faultspec: 1
taxonomy: {name: pointers, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces:
  made:
    transport: event
    envelope: error
    error_when: {%s}
    success: {require: {/done: {type: boolean}}}
retry_policies:
  patient: {max_attempts: 9, backoff: {kind: exponential, base: 1, factor: 1.0e100}}
codes:
  failed: {summary: It failed, http: null, http_reason: No HTTP here, retriable: true, client_action: retry, retry: patient}
"""


@pytest.mark.parametrize(
    ("mark", "body"),
    [
        ('equals: {"": 1}', None),
        ('equals: {"/a~1b": 1}', {"code": "failed", "message": "m", "a/b": 1}),
        ('equals: {"/a/m~0n": 1}', {"code": "failed", "message": "m", "a": {"m~n": 1}}),
        ('present: ""', {"code": "failed", "message": "m"}),
    ],
)
def test_any_pointer_marks_an_error(mark: str, body: object) -> None:
    """The mark of an error may be anywhere (RFC 6901): at the whole body, or under a key with a
    slash. Delays may grow to any value.
    """
    loaded = read(POINTERS % mark, "pointers.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    check(loaded)
    schema = Draft202012Validator(
        json.loads(
            render(loaded.taxonomy, SHIPPED.values(), "pointers.yaml")["surfaces/made.schema.json"]
        )
    )
    assert body is None or schema.is_valid(body)
    assert not schema.is_valid({"code": "failed"})


def test_names_that_differ_by_case_alone_are_two_schemas() -> None:
    """Each code has a component of its own, whatever the codes are called: a union names none of
    them twice.
    """
    text = """
faultspec: 1
taxonomy: {name: same, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
codes:
  not_found: {summary: It is not there., http: 404}
  NotFound: {summary: Nor is this., http: 404}
  not__found: {summary: Nor is that., http: 410}
"""
    taxonomy = read(text, "same.yaml").taxonomy
    assert taxonomy is not None
    rendered = render(taxonomy, [SHIPPED["openapi"]], "same.yaml")
    document = json.loads(rendered["openapi/openapi-3.1.json"])
    branches = document["components"]["schemas"]["Error"]["oneOf"]
    named = {each["$ref"].rpartition("/")[2] for each in branches}
    assert len(named) == len(branches) == 3
    codes = [
        document["components"]["schemas"][each]["properties"]["code"]["const"] for each in named
    ]
    assert sorted(codes) == ["NotFound", "not__found", "not_found"]


LENT = """
faultspec: 1
taxonomy: {name: lent, version: 1.0.0}
envelopes: {error: {shape: {code: $code, http: $status, again: $retriable}, fields: {status: {type: integer}}}}
surfaces: {api: {transport: http, envelope: error, default_status: 422}}
fallback: {4xx: {code: null, reason: Nothing answers so.}, 5xx: {code: null, reason: Nor so.}}
codes:
  failed:
    summary: It failed.
    http: null
    http_reason: It travels over a queue.
    effect: none
    retriable: {when: [{if: {status: 422}, then: true}], else: false}
    example: {}
"""


def test_a_status_that_a_surface_gives_is_one_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A code without a status has the surface's in lint, in what is generated, and for the judge of
    what that sends.
    """
    loaded = read(LENT, "lent.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    assert not [each for each in check(loaded) if each.severity != "note"]
    rendered = render(loaded.taxonomy, [SHIPPED["python"], SHIPPED["openapi"]], "lent.yaml")
    components = json.loads(rendered["openapi/openapi-3.1.json"])["components"]
    shown = components["examples"]["Failed"]["value"]
    assert shown == {"code": "failed", "http": 422, "again": True}
    assert Draft202012Validator(components["schemas"]["Failed"]).is_valid(shown)
    assert list(components["responses"]) == ["Error422"]
    write(rendered, tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("lent_errors")
    sent = package.render(package.Failed())
    assert (sent.status, json.loads(sent.body)) == (422, shown)
    answer = Response(sent.status, tuple(sent.headers.items()), sent.body)
    assert not judge(
        build_contract(loaded.taxonomy), Exchange(Request("GET", "/"), answer)
    ).findings
