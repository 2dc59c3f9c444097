"""Laws of the TypeScript target: it compiles under every strictness, a switch over its errors is
checked for wholeness, and what it says of an answer and of a retry is what Python says.

Node and npm have to be there. The compiler and prettier are installed once a machine, below
``.cache``.
"""

import copy
import importlib
import itertools
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.runtime import durations, http_dates, retry, retry_after, shape
from faultspec.targets import SHIPPED
from faultspec.targets.model import model_of
from faultspec.targets.typescript import names
from faultspec.targets.typescript.names import RESERVED, camel
from paths import ROOT
from runtime.test_runtime_retry import OUTCOMES, VECTORS, failure_of
from support import wire_shapes as shapes
from support.evolving import REPLACEMENTS, shop
from support.examples import examples
from support.npm import installed
from support.once import build_once
from systems.test_five_systems import SEEDS, SHOWN, SYSTEMS, changed
from targets.test_targets_laws import _Plain, nasty, with_code

#: The one place that says which compiler and which formatter.
TOOLS = {"typescript": "5.9.3", "prettier": "3.10.1"}

HARNESS = Path(__file__).parent / "typescript_harness.mjs"
TARGETS = [SHIPPED["python"], SHIPPED["typescript"]]
STRICT = (
    *(
        "--strict",
        "--noUncheckedIndexedAccess",
        "--exactOptionalPropertyTypes",
        "--verbatimModuleSyntax",
    ),
    *(
        "--noUnusedLocals",
        "--noUnusedParameters",
        "--noImplicitReturns",
        "--target",
        "es2020",
        "--lib",
        "es2020",
    ),
)

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]


def tsc(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The compiler, on the files of a folder, whose modules are node's."""
    (folder / "package.json").write_text('{"type": "module"}')
    command = [str(installed(TOOLS, ".bin/tsc") / ".bin" / "tsc"), *STRICT, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


#: A message with dollars before and without a parameter.
_DOLLARS = "$$5, $${default}, $ $$${a_rather_long_key_of_the_details}"


def odd() -> Taxonomy:
    """A taxonomy whose codes, operations, slots and details are called as nobody should call
    them.
    """
    words = [
        *(
            "class",
            "default",
            "delete",
            "function",
            "null",
            "undefined",
            "this",
            "await",
            "constructor",
            "__proto__",
        ),
        *(
            "toString",
            "hasOwnProperty",
            "prototype",
            "A",
            "a",
            "a_",
            "_",
            "__",
            "_1",
            "x_details",
            "some_envelope",
        ),
        *(re.sub(r"(?<!^)(?=[A-Z])", "_", each).lower() for each in sorted(RESERVED)),
        "a_code_whose_name_is_so_long_that_little_else_stands_on_its_line",
    ]
    words = list(dict.fromkeys(words))
    slots = [
        "raw",
        "known",
        "original_code",
        "retry_after",
        "class",
        "constructor",
        "plain",
        "__proto",
    ]
    shaped = {"code": "$code", "message?": "$message", "why?": "$details", "__proto__?": "$plain"}
    fields = {each: {"type": "string"} for each in slots}
    data = {
        "faultspec": 1,
        "taxonomy": {"name": "odd", "version": "1.0.0", "title": "Odd names */ ${x}"},
        "domains": {"d": "Domain."},
        "envelopes": {
            "some": {
                "shape": {
                    **shaped,
                    **{f"s-{each}?": f"${each}" for each in slots if each != "plain"},
                },
                "fields": fields,
            },
            "Array": {
                "shape": {
                    "kind": "odd",
                    "nested": {"...": "$details", "code": "$code", "at": "at ${message}!"},
                }
            },
            "many": {
                "shape": {"errors": [{"code": "$code", "class?": "$class"}]},
                "fields": {"class": fields["class"]},
            },
            "some_of_many": {
                "shape": {"items": [{"code?": "$code", "class?": "$class"}]},
                "fields": {"class": fields["class"]},
            },
        },
        "unknown": {"becomes": "undefined", "retriable": True},
        "retry_policies": {
            "constructor": {
                "max_attempts": 3,
                "backoff": {"kind": "linear", "base": "1s"},
                "kinds": {"toString": {"base": "2s"}},
                "eligible": ["class", "__proto__"],
            }
        },
        "codes": {
            name: {
                "summary": f"Number {number} of $$.",
                **({"message": _DOLLARS} if number % 2 else {}),
                "wire": f"odd wire {number} é \"'`${{}}\\ \u2028",
                "http": [400, "5xx"] if number % 2 else "4xx",
                "retriable": True,
                "client_action": "retry",
                "retry": "constructor",
                "details": {
                    "constructor?": {"type": ["string", "null"]},
                    "@type?": {"type": "string"},
                    "x-y.z?": {"type": "integer"},
                    "__proto__?": {
                        "type": "array",
                        "items": {"enum": ["x" * 20, "y" * 20, "z" * 20]},
                    },
                    "a_rather_long_key_of_the_details": {
                        "type": ["string", "number", "boolean", "object", "array", "null"]
                    },
                    "default?": {
                        "type": "object",
                        "properties": {"in-side?": {"type": "integer"}, "class": {}},
                    },
                },
            }
            for number, name in enumerate(words)
        },
        "operations": {
            "get": {
                "errors": {
                    "lost": {"summary": "Own.", "http": "5xx", "retriable": False, "wire": "own"}
                }
            },
            "__proto__": {
                "errors": {
                    "lost": {"summary": "Own.", "http": 404, "retriable": False, "wire": "own"}
                }
            },
        },
    }
    loaded = read(yaml.dump(data, Dumper=_Plain, sort_keys=False, width=10_000), "odd.yaml")
    assert loaded.taxonomy is not None, [
        (each.message, each.pointer) for each in loaded.diagnostics
    ]
    return loaded.taxonomy


#: What is different between the cases of the AWS SDKs, in the words of the language.
AWS = {
    "v1": "retry_after: {honor: false}, budget: {tokens: 500, cost: 5}, backoff: {base: 1s",
    "v21": (
        "retry_after: {honor: true, over: 5s, at_least_computed: true}, budget: {tokens: 500, cost: 14},"
        " kinds: {throttling: {cost: 5, base: 1s}}, backoff: {base: 50ms"
    ),
}
AWS_CASES = [
    (f"{version}_{number}", version, case)
    for version in AWS
    for number, case in enumerate(VECTORS[version])
]


def aws() -> str:
    """The policies of the AWS SDKs' standard modes, written in the language."""
    policies = []
    for name, version, case in AWS_CASES:
        given = case["given"]
        written = AWS[version]
        if "base" in given:
            written = written.replace("base: 50ms", f"base: {given['base'] * 1000:g}ms")
        attempts, most = given.get("max_attempts", 3), given.get("max_backoff", 20)
        growth = f", kind: exponential, factor: 2, max: {most}s}}"
        policies.append(
            f"  {name}: {{max_attempts: {attempts}, jitter: {{kind: full}}, {written}{growth}}}\n"
        )
    return (
        "faultspec: 1\ntaxonomy: {name: aws, version: 1.0.0, title: AWS}\n"
        "envelopes: {error: {shape: {code: $code}}}\n"
        "codes: {failed: {summary: It failed., http: 500, retriable: true}}\n"
        f"retry_policies:\n{''.join(policies)}"
    )


#: Codes that are numbers, and stand inside a text alone.
NUMBERED = """
faultspec: 1
taxonomy: {name: numbered, version: 1.0.0}
envelopes: {error: {shape: {type: "urn:err:${code}", title: $message}}}
codes: {gone: {summary: Gone., wire: 1001, http: 409, retriable: false}}
operations: {show: {errors: {own: {summary: Own., wire: 7, http: 409, retriable: false}}}}
"""

#: Codes that some services send bare and others behind a namespace, as the JSON protocols of AWS
#: do.
QUALIFIED = """
faultspec: 1
taxonomy: {name: qualified, version: 1.0.0}
envelopes:
  named: {shape: {__type: "${namespace}#${code}", message: $message}, fields: {namespace: {type: string}}}
  error: {shape: {__type: $code, message: $message}}
surfaces: {api: {transport: http, envelope: [error, named], codes: closed}}
retry_policies:
  standard:
    max_attempts: 3
    backoff: {kind: exponential, base: 100ms}
    budget: {tokens: 100, cost: 14}
    kinds: {throttled: {base: 1s, cost: 5, codes: [SlowDown, ThrottlingException]}, odd: {cost: 1, codes: [LimitExceeded]}}
  plain: {max_attempts: 2}
  single: {max_attempts: 2, backoff: {kind: constant, base: 1s}, kinds: {slow: {base: 2s, codes: [Busy]}}}
codes:
  ResourceNotFoundException: {summary: There is no such resource., http: 400}
  SlowDown: {summary: Too fast., http: 400, retriable: true, effect: none, retry: standard}
  ThrottlingException: {summary: Too many., http: 400, retriable: true, effect: none, retry: standard}
  LimitExceeded: {summary: Too much., http: 400, retriable: true, effect: none, retry: standard}
  Failed: {summary: It failed., http: 500, retriable: true, effect: none, retry: standard}
  Busy: {summary: Too busy., http: 503, retriable: true, effect: none, retry: single}
  Broken:
    summary: It broke.
    http: 503
    retriable: {when: [{if: {operation.idempotent: true}, then: true}], else: false}
    effect: none
    retry: single
"""

PLAIN_FIRST = """
faultspec: 1
taxonomy: {name: plain_first, version: 1.0.0}
envelopes:
  error: {shape: {__type: $code, message: $message}}
  named: {shape: {__type: "com.amazonaws.tables#${code}", message: $message}}
surfaces: {api: {transport: http, envelope: [error, named], codes: closed}}
codes:
  ThrottlingException: {summary: Too many., http: 400}
operations:
  Put: {codes: [ThrottlingException], errors: {TooLarge: {summary: Too large., http: 400}}}
"""

#: Requests that carry an idempotency key, in each place.
KEYED = {
    "header": "Idempotency-Key",
    "path": "{path: payment-key}",
    "query": "{query: request_id}",
    "body": "{body: /client/a~1b/~0__proto__}",
}

FORM_LISTS = """
faultspec: 1
taxonomy: {name: form_lists, version: 1.0.0}
detail_keys: {size: {type: integer}, exact: {type: boolean}}
envelopes:
  form:
    media_type: application/x-www-form-urlencoded
    shape: {error: $code, version: 2, "text?": $message, "...": $details}
  lines:
    media_type: application/jsonl
    shape: {errors: [{code: $code, "text?": $message, "details?": $details}]}
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: [form, lines]}
codes:
  large: {wire: too-large, summary: Too large., http: 413,
      details: {"size?": {}, "exact?": {}}}
  busy: {summary: Busy., http: 503}
operations:
  put: {match: {routes: [PUT /x]}, errors: {full: {summary: Full., http: 507}}}
"""

BRANCHES = """
faultspec: 1
taxonomy: {name: branches, version: 1.0.0}
surfaces:
  api: {transport: http, envelope: error, idempotency_key: {query: request_id}}
envelopes: {error: {shape: {code: $code, message: $message}}}
operations:
  pay: {match: {routes: [POST /payments]}, idempotency_key: {body: /client/token}}
idempotency: {key: Idempotency-Key, methods: [POST]}
codes: {failed: {summary: It failed., http: 500, retriable: true}}
"""

NUMERIC = """
faultspec: 1
taxonomy: {name: numeric, version: 1.0.0}
envelopes: {error: {shape: {error: {code: $code, status: $status, attempt?: $attempt}}, fields: {attempt: {type: integer}}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  busy: {wire: 1001, summary: Too busy., http: 503}
"""


def keyed(place: str) -> Taxonomy | None:
    """A taxonomy whose idempotency key is in a place."""
    return read(
        f"faultspec: 1\ntaxonomy: {{name: keyed_{place}, version: 1.0.0}}\n"
        "envelopes: {error: {shape: {code: $code}}}\n"
        f"idempotency: {{key: {KEYED[place]}, methods: [PUT]}}\n"
        "codes: {failed: {summary: It failed., http: 500, retriable: true}}\n",
        f"keyed_{place}.yaml",
    ).taxonomy


class Compiled(NamedTuple):
    """Where everything was compiled. ``taxonomies``: by the name of their folder."""

    folder: Path
    taxonomies: Mapping[str, Taxonomy]

    def ask(self, questions: list[dict[str, Any]]) -> list[Any]:
        """The answers of the compiled modules, from one process."""
        command = ["node", str(HARNESS), str(self.folder / "javascript")]
        done = subprocess.run(
            command, input=json.dumps(questions), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found: list[Any] = json.loads(done.stdout)
        return found

    def module(self, name: str, file: str = "index") -> str:
        """The path of a compiled module of a taxonomy."""
        return f"{name}/{names.folder(self.taxonomies[name].name)}/{file}.js"

    def python(self, name: str) -> ModuleType:
        """The generated Python package of a taxonomy."""
        return importlib.import_module(f"{self.taxonomies[name].name}_errors")


def every_taxonomy() -> Mapping[str, Taxonomy]:
    """The taxonomies that are compiled, by the name of their folder."""
    found = {name: load(str(ROOT / path)).taxonomy for name, (path, _) in SYSTEMS.items()}
    found["kinto"] = load(str(ROOT / "examples/kinto/taxonomy.yaml")).taxonomy
    found |= {"odd": odd(), "nasty": nasty(), "aws": read(aws(), "aws.yaml").taxonomy}
    found["qualified"] = read(QUALIFIED, "qualified.yaml").taxonomy
    found["numbered"] = read(NUMBERED, "numbered.yaml").taxonomy
    found["plain_first"] = read(PLAIN_FIRST, "plain_first.yaml").taxonomy
    found["numeric"] = read(NUMERIC, "numeric.yaml").taxonomy
    found |= {f"keyed_{place}": keyed(place) for place in KEYED}
    found["branches"] = read(BRANCHES, "branches.yaml").taxonomy
    found["formats"] = load(str(ROOT / "tests/taxonomies/formats.yaml")).taxonomy
    found["listed"] = load(str(ROOT / "tests/fixtures/wire_forms/listed.yaml")).taxonomy
    found["placed"] = load(str(ROOT / "tests/fixtures/wire_forms/placed.yaml")).taxonomy
    found["aria2"] = load(str(ROOT / "examples/aria2/taxonomy.yaml")).taxonomy
    found["registry"] = load(str(ROOT / "examples/registry/taxonomy.yaml")).taxonomy
    found["form_lists"] = read(FORM_LISTS, "form_lists.yaml").taxonomy
    found["shop"] = shop()
    found |= {f"shape_{shape}": shapes.taxonomy(shape) for shape in shapes.SHAPES}
    taxonomies = {name: each for name, each in found.items() if each is not None}
    assert taxonomies.keys() == found.keys()
    return taxonomies


def build(taxonomies: Mapping[str, Taxonomy], folder: Path) -> None:
    """Write the bindings of all taxonomies to the folder, and compile the TypeScript for node.

    The compiler then checks all packages and their clients as a bundler does. Its lines go to
    `clients.txt`.
    """
    for name, taxonomy in taxonomies.items():
        targets = TARGETS if name not in ("odd", "nasty") else TARGETS[1:]
        for path, text in render(taxonomy, targets, f"{name}.yaml").items():
            target, _, rest = path.partition("/")
            file = folder / target / (name if target == "typescript" else ".") / rest
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    files = sources(folder)
    done = tsc(folder / "typescript", "--module", "nodenext", "--outDir", "../javascript", *files)
    assert done.returncode == 0, done.stdout
    (folder / "javascript/package.json").write_text('{"type": "module"}')
    home = folder / "clients"
    for name, text in clients(home).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    packages = [f"../typescript/{file}" for file in files]
    programs = sorted(path.relative_to(home).as_posix() for path in home.rglob("*.ts"))
    modules = ("--noEmit", "--module", "es2020", "--moduleResolution", "bundler")
    libraries = ("--lib", "es2020,dom,dom.iterable")
    done = tsc(home, *modules, *libraries, *packages, *programs)
    (home / "clients.txt").write_text(done.stdout)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiled]:
    """TypeScript of all taxonomies, compiled for node, and Python beside it, importable."""
    taxonomies = every_taxonomy()
    folder = build_once(tmp_path_factory, "typescript", partial(build, taxonomies))
    others = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if name.split(".")[0].endswith("_errors")
    }
    sys.path.insert(0, str(folder / "python"))
    yield Compiled(folder, taxonomies)
    sys.path.remove(str(folder / "python"))
    for name in [each for each in sys.modules if each.split(".")[0].endswith("_errors")]:
        del sys.modules[name]
    sys.modules.update(others)


def sources(folder: Path) -> list[str]:
    """Every file of TypeScript, as the compiler gets them."""
    home = folder / "typescript"
    return sorted(each.relative_to(home).as_posix() for each in home.rglob("*.ts"))


# It is clean


def test_it_compiles_for_bundlers_too(type_errors: Mapping[str, list[str]]) -> None:
    """Modules that node accepts, a bundler accepts. The compilation for node permits no library but
    that of 2020.
    """
    assert type_errors["packages"] == []


@pytest.mark.full
def test_it_is_laid_out_as_prettier_would(compiled: Compiled) -> None:
    """Whatever the names and texts of a taxonomy; the runtime too."""
    command = [
        str(installed(TOOLS, ".bin/tsc") / ".bin" / "prettier"),
        "--no-config",
        "--list-different",
        "typescript/**/*.ts",
    ]
    done = subprocess.run(command, cwd=compiled.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_imports_nothing_from_outside(compiled: Compiled) -> None:
    """There is nothing to install: every import is of a file beside it."""
    for each in sources(compiled.folder):
        file = compiled.folder / "typescript" / each
        package = compiled.folder.joinpath("typescript", *Path(each).parts[:2])
        for path in re.findall(r'^(?:import|export|\}) .*from "([^"]+)"', file.read_text(), re.M):
            assert path.startswith("."), (each, path)
            found = (file.parent / path).resolve().with_suffix(".ts")
            assert found.is_file(), (each, path)
            assert found.is_relative_to(package.resolve()), (each, path)


def test_it_reads_the_codes_of_well_known_shapes(compiled: Compiled) -> None:
    """Of each answer in JSON of a well-known framework or protocol, it parses the code that the
    judge reads: from a member, a header, the status or the envelope.
    """
    known = [answer for _, answer in shapes.answers() if answer.is_json]
    questions = [
        {
            "module": compiled.module(f"shape_{answer.shape}"),
            "ask": "answer",
            "body": json.loads(answer.error),
            "answer": {
                "status": answer.exchange.response.status,
                "headers": dict(answer.exchange.response.headers),
                "operation": answer.operation,
            },
        }
        for answer in known
    ]
    found = compiled.ask(questions)
    codes = [each["error"]["code"] if each["error"]["known"] else None for each in found]
    assert codes == [answer.code for answer in known]
    assert all(each["same"] for each in found)


def test_the_runtime_is_copied_verbatim(compiled: Compiled) -> None:
    """A client runs the very port that is tested here."""
    home = ROOT / "compiler/faultspec/runtime/typescript"
    for each in (compiled.folder / "typescript").rglob("_runtime/*.ts"):
        header, _, text = each.read_text().partition("\n")
        assert header == "// Copied from faultspec; do not edit"
        assert text == (home / each.name).read_text()


# A switch over the errors is whole, or does not compile


def switch(taxonomy: Taxonomy, folder: str) -> str:
    """A switch over every code of a taxonomy, with `never` for its default."""
    codes = [code.name for code in taxonomy.shared_live_codes()]
    codes += [
        each.name for of in taxonomy.operations.values() for each in of.errors.values() if each.live
    ]
    cases = "".join(f"    case {json.dumps(each)}:\n" for each in dict.fromkeys(codes))
    unknown = "" if taxonomy.unknown else "    case null:\n"
    return (
        f'import type {{ AnyError, KnownError }} from "{folder}/index.js";\n'
        f"export function any(error: AnyError): string {{\n  switch (error.code) {{\n{cases}{unknown}"
        "      return error.message;\n    default: {\n      const rest: never = error;\n      return rest;\n    }\n  }\n}\n"
        f"export function known(error: KnownError): string {{\n  switch (error.code) {{\n{cases}"
        "      return error.message;\n    default: {\n      const rest: never = error;\n      return rest;\n    }\n  }\n}\n"
    )


#: A client that asks for details; the gap is for what it may not ask.
DETAILS = """\
declare const console: {{ log(x: unknown): void }};
import {{ ErrorCode, hasCode, isKnown, parse }} from "{package}/index.js";
const error = parse({{}});
if (hasCode(error, ErrorCode.RATE_LIMITED)) {{
  const limit: number | undefined = error.details.limit;
  console.log(limit);
}}
if (isKnown(error) && error.code === "stale_read") {{
  const etag: string | undefined = error.details.expected_etag;
  console.log(etag);
{gap}}}
"""


#: A client that uses deprecated codes, and codes that are not.
DEPRECATED = """\
import { ErrorCode, type NoStock, type SoldOut } from "../typescript/shop/shop-errors/index.js";
export const codes: ErrorCode[] = [ErrorCode.SOLD_OUT, ErrorCode.NO_STOCK, ErrorCode.TOO_LATE];
export function stock(error: SoldOut): number { return error.details.stock; }
export function old(error: NoStock): number { return error.details.stock; }
"""

#: A script that prints what an editor strikes out in a file: the texts that are deprecated.
STRUCK_OUT = """\
const [compiler, file] = process.argv.slice(1);
const ts = require(compiler);
const options = {
  target: ts.ScriptTarget.ES2020,
  module: ts.ModuleKind.ES2020,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};
const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file],
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => {
    const text = ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => process.cwd(),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
});
const text = ts.sys.readFile(file);
const found = service
  .getSuggestionDiagnostics(file)
  .filter(({ reportsDeprecated }) => reportsDeprecated)
  .map(({ start, length }) => text.slice(start, start + length));
process.stdout.write(JSON.stringify(found));
"""


def clients(home: Path) -> Mapping[str, str]:
    """Clients of the generated packages, by file. Writes the packages with one more code to
    ``home``.
    """
    texts: dict[str, str] = {}
    for system, (path, *_) in SYSTEMS.items():
        before = load(str(ROOT / path)).taxonomy
        assert before is not None
        numeric = any(isinstance(code.wire, int) for code in before.codes.values())
        added = {
            "summary": "New.",
            "retriable": False,
            "http": None,
            "http_reason": "Not over HTTP.",
            **({"wire": 999} if numeric else {}),
        }
        after = with_code(ROOT / path, 1, "brand_new", added)
        write(render(after, TARGETS[1:], "x.yaml"), home / "after" / system, ["typescript"])
        package = names.folder(before.name)
        texts[f"before/{system}.ts"] = switch(before, f"../../typescript/{system}/{package}")
        texts[f"after/{system}.ts"] = switch(before, f"./{system}/typescript/{package}")
        texts[f"removed/{system}.ts"] = switch(after, f"../../typescript/{system}/{package}")
    package = "../typescript/platform/platform-errors"
    texts["details.ts"] = DETAILS.format(package=package, gap="")
    texts["foreign.ts"] = DETAILS.format(
        package=package, gap="  console.log(error.details.limit);\n"
    )
    texts["deprecated.ts"] = DEPRECATED
    shown = re.findall(r"```ts\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(shown) == 1
    texts["readme.ts"] = shown[0].replace('"./platform-errors/', f'"{package}/')
    return texts


@pytest.fixture(scope="module")
def type_errors(compiled: Compiled) -> Mapping[str, list[str]]:
    """The errors of the compiler in each client, and in all the `packages`."""
    home = compiled.folder / "clients"
    lines = (home / "clients.txt").read_text().splitlines()
    found: dict[str, list[str]] = {
        path.relative_to(home).as_posix(): [] for path in home.rglob("*.ts")
    }
    found["packages"] = []
    for line in lines:
        if not line.startswith(" "):
            found.setdefault(line.partition("(")[0], found["packages"]).append(line)
    return found


def test_a_switch_that_lacks_a_code_does_not_compile(
    type_errors: Mapping[str, list[str]],
) -> None:
    """With every code it compiles; when the taxonomy gets one more it does not, and says which."""
    for system in SYSTEMS:
        assert type_errors[f"before/{system}.ts"] == []
        errors = type_errors[f"after/{system}.ts"]
        assert len(errors) == 2
        assert all(
            "error TS2322: Type 'BrandNew' is not assignable to type 'never'" in error
            for error in errors
        )


def test_a_switch_over_a_removed_code_does_not_compile(
    type_errors: Mapping[str, list[str]],
) -> None:
    """A case for a code that the taxonomy lacks does not compile; the message names the code."""
    for system in SYSTEMS:
        errors = type_errors[f"removed/{system}.ts"]
        assert len(errors) == 2
        assert all("error TS2678" in error and "brand_new" in error for error in errors)


def test_deprecated_codes_are_struck_out(compiled: Compiled) -> None:
    """An editor marks each use of the enumeration's member and of the interface of a deprecated
    code, and no use of another.
    """
    compiler = installed(TOOLS, ".bin/tsc") / "typescript"
    file = compiled.folder / "clients/deprecated.ts"
    command = ["node", "-e", STRUCK_OUT, str(compiler), str(file)]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(done.stdout)) == ["NO_STOCK", "NoStock", "TOO_LATE", "type NoStock"]


def test_the_code_decides_the_type_of_the_details(type_errors: Mapping[str, list[str]]) -> None:
    """In its case an error has its own details, and no other's."""
    assert type_errors["details.ts"] == []
    (error,) = type_errors["foreign.ts"]
    assert "TS2339" in error


def test_the_example_of_the_readme_compiles(type_errors: Mapping[str, list[str]]) -> None:
    """The examples of the README are TypeScript, compiled against its taxonomy."""
    assert type_errors["readme.ts"] == []


# The planner


def camelled(value: Any) -> Any:
    """The value that the port takes for a named tuple of the runtime; the kinds of a policy keep
    their names.
    """
    if hasattr(value, "_asdict"):
        return {camel(name): camelled(each) for name, each in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: camelled(each) for name, each in value.items()}
    return [camelled(each) for each in value] if isinstance(value, tuple) else value


def test_the_aws_cases_through_a_policy_in_yaml(compiled: Compiled) -> None:
    """Written in the language, compiled, and run: outcome, tokens and delay of every step are what
    the SDKs publish, in TypeScript and in Python.
    """
    package = compiled.python("aws")
    questions, wanted = [], []
    for name, _, case in AWS_CASES:
        policy = package.POLICIES[name]
        tokens = case["given"].get("tokens", 500)
        steps, published, state = [], [], package.retry.start(policy, tokens)
        for _, outcome, left, delay, *extras in case["steps"]:
            published.append(
                [
                    OUTCOMES.get(outcome, outcome),
                    left,
                    None if delay is None else pytest.approx(delay),
                ]
            )
            if outcome == "success":
                steps.append(None)
                state = package.retry.succeed(policy, state)
                assert state.tokens == left
                continue
            failure = package.retry.Failure(*failure_of(extras[0] if extras else {}))
            steps.append(camelled(failure))
            decision = package.retry.plan(policy, state, failure, now=0.0, random=lambda: 1.0)
            state = decision.state
            assert [decision.reason, state.tokens, decision.delay] == published[-1]
        question = {"ask": "walk", "policy": name, "tokens": tokens, "steps": steps}
        questions.append({"module": "../harness", **question} | {"module": compiled.module("aws")})
        wanted.append(published)
    assert len(questions) == 20
    assert compiled.ask(questions) == wanted


#: Durations and factors whose powers no library of mathematics rounds.
TIMES = (
    0.0,
    0.001,
    0.05,
    0.25,
    0.3,
    1.0,
    1.5,
    2.0,
    7.0,
    20.0,
    60.0,
    3600.0,
    90061.5,
    2.0**31,
    2.0**33,
)
HINTS: tuple[Any, ...] = (
    *(
        None,
        0,
        1,
        2.5,
        -1,
        -0.0,
        1e12,
        "0",
        "3",
        "007",
        "5.5",
        "120, 60",
        "120 ,\t60.1",
        ",",
        "1,",
        "",
        " ",
        " 9\t",
        "\n9",
    ),
    *(
        "-1",
        "+5",
        "-0.5",
        "1e9",
        "nan",
        "inf",
        "Infinity",
        "0x10",
        "1_000",
        "8 s",
        "９",
        "3.",
        ".5",
        "9" * 400,
        "2147483648",
    ),
    *(
        "2147483649",
        "1" + "0" * 12,
        "9\n",
        "9\u00a0",
        "²",
        "5;q=1",
        "Thu, 01 Jan 1970 00:00:30 GMT",
    ),
    *(
        "thu, 01 jan 1970 00:01:00 utc",
        "Thu, 1 Jan 1970 00:00:30 GMT",
        "Thu, 01 Jan 1970 00:00:30 CET",
    ),
    *(
        "Thursday, 01-Jan-70 00:00:45 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Thu Jan  1 00:00:50 1970",
    ),
    *(
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "Thu, 30 Feb 2023 00:00:00 GMT",
        "Mon, 29 Feb 2027 00:00:00 GMT",
    ),
    *(
        "Sat, 31 Dec 2016 23:59:60 GMT",
        "Sat, 31 Dec 2016 22:59:60 GMT",
        "Sat, 31 Dec 2016 24:00:00 GMT",
    ),
    *(
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Mon, 01 Jan 0000 00:00:00 GMT",
        "Mon, 01 Jan 0001 00:00:00 GMT",
    ),
    *(
        "Tue, 29 Feb 2000 00:00:00 GMT",
        "Thu, 29 Feb 1900 00:00:00 GMT",
        "Fri, 01 Jan 1970 00:00:30 GMT",
    ),
    *(
        "ſun, 06 Nov 1994 08:49:37 GMT",
        " Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 08:49:37 GMT\n",
    ),
    *(
        "Sunday, 06-Nov-94 08:49:37 gmt",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994",
        "soon",
        "{}",
    ),
)


def drawn(dice: random.Random) -> tuple[retry.Policy, retry.State, retry.Failure, float, float]:
    """A policy, a state, a failure, a time and a chance."""

    def maybe(value: Any) -> Any:
        return dice.choice((None, value))

    phases = tuple(
        retry.Phase(
            dice.choice(("exponential", "linear", "constant")),
            dice.choice(TIMES),
            dice.choice((1.0, 1.5, 2.0, 3.0, 10.0)),
            dice.choice(TIMES),
            maybe(dice.choice(TIMES)),
            maybe(dice.choice(TIMES)),
        )
        for _ in range(dice.randrange(4))
    )
    kinds = {
        "throttling": retry.Kind(maybe(dice.choice((0, 5, 7.25))), maybe(dice.choice(TIMES))),
        "constructor": retry.Kind(),
    }
    policy = retry.Policy(
        "p",
        maybe(dice.randrange(1, 9)),
        phases,
        retry.Jitter(
            dice.choice(("none", "full", "equal", "additive", "ratio")),
            dice.choice((0, 0.1, 0.25, 1)),
        ),
        retry.RetryAfterRule(
            dice.random() < 0.9,
            maybe(dice.choice(TIMES)),
            dice.choice(("cap", "ignore")),
            dice.random() < 0.5,
            maybe(dice.choice(TIMES)),
        ),
        maybe(
            retry.Budget(
                dice.choice((10, 500, 1_234_567)),
                dice.choice((0, 1, 5.125, 14)),
                dice.choice(("last_cost", "none")),
                1.5,
            )
        ),
        maybe(dice.choice(TIMES[4:])),
        dice.choice(({}, kinds)),
    )
    state = retry.State(
        dice.randrange(1, 9),
        dice.choice(TIMES[:12]),
        dice.choice((0, 4, 5, 499.5, 100_000.5, 1_234_567)),
        dice.choice((0, 5)),
        dice.randrange(4),
        dice.choice((0, 1, 2, 5, 12, 2000)),
    )
    failure = retry.Failure(
        dice.random() < 0.95,
        dice.choice((None, "throttling", "constructor", "toString", "other")),
        dice.choice(HINTS),
        dice.random() < 0.9,
        dice.random() < 0.95,
        dice.choice(("none", "possible", "unknown")),
    )
    return (
        policy,
        state,
        failure,
        dice.choice((0.0, -86_400.0, 784_111_777.0, 1.5e9, 1.5e9 + 0.25)),
        dice.choice((0, 0.25, 0.5, 0.7310585786300049, 1)),
    )


def test_both_planners_decide_alike(compiled: Compiled) -> None:
    """Decision, delay, band, state and every sentence: for policies, states, failures and hints of
    all kinds.
    """
    dice = random.Random(20_26)
    module = compiled.module("aws", "_runtime/retry")
    questions: list[dict[str, Any]] = []
    wanted: list[Any] = []
    reasons = set()
    for _ in range(5000):
        policy, state, failure, now, chance = drawn(dice)
        made = {"policy": camelled(policy), "state": camelled(state), "failure": camelled(failure)}
        questions.append({"module": module, "ask": "plan", **made, "now": now, "chance": chance})
        decision = retry.plan(policy, state, failure, now=now, random=lambda chance=chance: chance)  # type: ignore[misc]
        wanted.append(camelled(decision))
        reasons.add(decision.reason)
        for name, args, result in (
            ("succeed", (policy, state), retry.succeed(policy, state)),
            ("bounds", (policy, state, failure.kind), retry.bounds(policy, state, failure.kind)),
        ):
            questions.append(
                {"module": module, "ask": "call", "name": name, "args": camelled(args)}
            )
            wanted.append(camelled(result))
    assert len(reasons) == 7
    for question, answer, expected in zip(questions, compiled.ask(questions), wanted, strict=True):
        assert answer == expected, question


def test_both_read_a_code_inside_a_text(compiled: Compiled) -> None:
    """`namespace#Code` is the code, where the taxonomy draws it so, and the bare code stays one;
    both write the bare one.
    """
    wires = [
        "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
        "ResourceNotFoundException",
        "a#Other",
        "Other",
    ]
    bodies: list[dict[str, object]] = [{"__type": each, "message": "m"} for each in wires]
    python = compiled.python("qualified")
    wanted = [python.parse(each, status=400) for each in bodies]
    codes = [None if isinstance(each, python.UnknownError) else each.code for each in wanted]
    assert codes == ["ResourceNotFoundException"] * 2 + [None, None]
    assert [each.namespace for each in wanted[:3]] == [
        "com.amazonaws.dynamodb.v20120810",
        None,
        "a",
    ]
    assert [python.to_envelope(each)["__type"] for each in wanted[:2]] == [
        "ResourceNotFoundException"
    ] * 2
    module = compiled.module("qualified")
    questions = [
        {"module": module, "ask": "answer", "body": each, "answer": {"status": 400}}
        for each in bodies
    ]
    found = [each["error"] for each in compiled.ask(questions)]
    assert [each["code"] for each in found] == codes
    assert [each.get("namespace") for each in found[:3]] == [
        "com.amazonaws.dynamodb.v20120810",
        None,
        "a",
    ]


def test_both_read_a_number_inside_a_text(compiled: Compiled) -> None:
    """A code that is a number is known inside a text, where it is drawn there and nowhere else: a
    shared one and an operation's own.
    """
    bodies: list[dict[str, object]] = [
        {"type": f"urn:err:{each}", "title": "m"} for each in ("1001", "7", "1009", "x")
    ]
    python = compiled.python("numbered")
    answers = [python.parse(each, status=409, operation="show") for each in bodies]
    codes = [None if isinstance(each, python.UnknownError) else each.code for each in answers]
    assert codes == ["gone", "own", None, None]
    assert [python.to_envelope(each)["type"] for each in answers[:2]] == [
        "urn:err:1001",
        "urn:err:7",
    ]
    module, answer = compiled.module("numbered"), {"status": 409, "operation": "show"}
    questions = [
        {"module": module, "ask": "answer", "body": each, "answer": answer} for each in bodies
    ]
    assert [each["error"]["code"] for each in compiled.ask(questions)] == codes


def test_both_prefer_the_envelope_whose_code_is_declared(compiled: Compiled) -> None:
    """Of the envelopes that a body fits it is read as the one in which its code is a declared one,
    wherever it is written; where there is none, as the first.
    """
    wires = {
        "com.amazonaws.tables#ThrottlingException": "ThrottlingException",
        "ThrottlingException": "ThrottlingException",
        "com.amazonaws.tables#TooLarge": "TooLarge",
        "TooLarge": "TooLarge",
        "com.amazonaws.tables#Other": None,
        "Other": None,
    }
    bodies = [{"__type": each, "message": "m"} for each in wires]
    python = compiled.python("plain_first")
    read = [python.parse(each, status=400, operation="Put") for each in bodies]
    assert [None if isinstance(each, python.UnknownError) else each.code for each in read] == list(
        wires.values()
    )
    assert [each.original_code for each in read[4:]] == ["com.amazonaws.tables#Other", "Other"]
    own = [python.wire.parse_own(json.dumps(each).encode(), 400) for each in bodies]
    assert [None if each is None else each.code for each in own] == list(wires.values())
    module = compiled.module("plain_first")
    asked = {"module": module, "ask": "answer", "answer": {"status": 400, "operation": "Put"}}
    found = compiled.ask([{**asked, "body": each} for each in bodies])
    assert [each["error"]["code"] for each in found] == list(wires.values())
    assert [each["error"]["originalCode"] for each in found[4:]] == [
        "com.amazonaws.tables#Other",
        "Other",
    ]
    assert [each["envelope"] for each in found] == [True, True, False, False, False, False]


def test_both_read_a_removed_code_as_its_replacement(compiled: Compiled) -> None:
    """A removed code parses to the code that replaces it, and to the fallback without one."""
    python, module = compiled.python("shop"), compiled.module("shop")
    questions = []
    for operation, wire, replaced_by in REPLACEMENTS:
        body = {"code": wire, "message": "m"}
        code = python.parse(body, status=410, operation=operation).code
        assert code == (replaced_by or "failed")
        answer = {"status": 410, "operation": operation}
        questions.append({"module": module, "ask": "answer", "body": body, "answer": answer})
    errors = [found["error"] for found in compiled.ask(questions)]
    assert [error["code"] for error in errors] == [row[2] or "failed" for row in REPLACEMENTS]
    assert [error["known"] for error in errors] == [row[2] is not None for row in REPLACEMENTS]


def test_both_know_one_kind_of_number(compiled: Compiled) -> None:
    """`1001.0` is 1001 in JSON, as a code and in whatever slot holds an integer; true is not a
    number.
    """
    texts = [
        '{"error": {"code": 1001.0, "status": 503.0, "attempt": 2.0}}',
        '{"error": {"code": 1.001e3, "status": 5.03e2, "attempt": 2}}',
        '{"error": {"code": 1001.5, "status": 503.5, "attempt": 2.5}}',
        '{"error": {"code": true, "status": true, "attempt": true}}',
        '{"error": {"code": 1e400, "status": 1e400, "attempt": 1e400}}',
    ]
    wanted = [("busy", 503, 2), ("busy", 503, 2), *[(None, None, None)] * 3]
    python = compiled.python("numeric")
    for parsed in (
        [python.parse(each) for each in texts],
        [python.parse(json.loads(each)) for each in texts],
    ):
        known = [None if isinstance(each, python.UnknownError) else each.code for each in parsed]
        assert (
            list(
                zip(
                    known,
                    [each.status for each in parsed],
                    [each.attempt for each in parsed],
                    strict=True,
                )
            )
            == wanted
        )
    assert [python.wire.parse_own(each.encode(), 503) is None for each in texts] == [
        False,
        False,
        True,
        True,
        True,
    ]
    module = compiled.module("numeric")
    found = compiled.ask(
        [{"module": module, "ask": "answer", "answer": {}, "body": each} for each in texts]
    )
    assert [
        tuple(each["error"][name] for name in ("code", "status", "attempt")) for each in found
    ] == wanted


@pytest.mark.parametrize(
    ("code", "delay", "left"),
    [
        ("SlowDown", 1.0, 95.0),
        ("ThrottlingException", 1.0, 95.0),
        ("LimitExceeded", 0.1, 99.0),
        ("Failed", 0.1, 86.0),
        ("Busy", 2.0, 0.0),
    ],
)
def test_both_know_the_kind_of_a_code(
    compiled: Compiled, code: str, delay: float, left: float
) -> None:
    """The settings of a kind in a policy apply to the codes of the kind; a caller that names
    another kind overrides it.
    """
    body: dict[str, object] = {"__type": code, "message": "m"}
    python = compiled.python("qualified")
    error = python.parse(body, status=400)
    plan = python.plan_retry(error, python.start_retry(error), now=0.0, random=lambda: 0.5)
    assert (plan.delay, plan.state.tokens) == (delay, left)
    question = {
        "module": compiled.module("qualified"),
        "ask": "answer",
        "body": body,
        "answer": {"status": 400},
    }
    (found,) = compiled.ask([question])
    assert (found["plan"]["delay"], found["plan"]["state"]["tokens"]) == (delay, left)
    if code != "Busy":
        named = python.plan_retry(
            error, python.start_retry(error), kind="odd", now=0.0, random=lambda: 0.5
        )
        assert (named.delay, named.state.tokens) == (0.1, 99.0)


@pytest.mark.parametrize("idempotent", [True, False])
def test_both_ask_the_caller_what_no_answer_says(compiled: Compiled, idempotent: bool) -> None:
    """A rule that asks whether the operation is idempotent is decided by an argument of the
    planner, as no answer has the fact.
    """
    body: dict[str, object] = {"__type": "Broken", "message": "m"}
    python = compiled.python("qualified")
    error = python.parse(body, status=503)
    state = python.start_retry(error)
    assert python.plan_retry(error, state, idempotent=idempotent, now=0.0).retry is idempotent
    question = {
        "module": compiled.module("qualified"),
        "ask": "answer",
        "body": body,
        "answer": {"status": 503},
    }
    (found,) = compiled.ask([{**question, "idempotent": idempotent}])
    assert found["plan"]["retry"] is idempotent
    assert error.retriable is found["error"]["retriable"] is False


def test_both_read_retry_after_alike(compiled: Compiled) -> None:
    """Strictly and leniently, whatever a service writes, in whatever year it is read."""
    module = compiled.module("aws", "_runtime/retry-after")
    cases = list(
        itertools.product(
            [each for each in HINTS if isinstance(each, str)],
            (True, False),
            (0.0, -1e9, 1.8e9, 3e9),
        )
    )
    questions = [
        {
            "module": module,
            "ask": "call",
            "name": "parse",
            "args": [value, {"now": now, "lenient": lenient}],
        }
        for value, lenient, now in cases
    ]
    wanted = [
        retry_after.parse(value, now=now, lenient=lenient)._asdict()
        for value, lenient, now in cases
    ]
    assert len({each["problem"] for each in wanted}) > 6
    for question, answer, expected in zip(questions, compiled.ask(questions), wanted, strict=True):
        assert answer == expected, question


def test_both_read_strings_of_shapes_alike(compiled: Compiled) -> None:
    """A string with several slots, of which one may be the code, is read into the same texts."""
    dice = random.Random(3)

    def word(letters: str, least: int, most: int) -> str:
        return "".join(dice.choices(letters, k=dice.randrange(least, most + 1)))

    cases = []
    for _ in range(400):
        slots = dice.sample(["code", "x", "y"], k=dice.randrange(1, 4))
        texts = [word("ab", 1, 2) for _ in slots[1:]] + [word("ab", 0, 1)]
        picture = word("ab", 0, 1) + "".join(
            f"${{{slot}}}{text}" for slot, text in zip(slots, texts, strict=True)
        )
        cases.append((picture, word("abc", 2, 14)))
    module = compiled.module("aws", "_runtime/shape")
    found = compiled.ask(
        [
            {"module": module, "ask": "extract", "picture": picture, "body": text}
            for picture, text in cases
        ]
    )
    wanted = [shape.extract(shape.compile_shape(picture), text) for picture, text in cases]
    assert 20 < sum(each.fits for each in wanted) < 380
    for case, answer, expected in zip(cases, found, wanted, strict=True):
        assert answer == {"slots": expected.slots, "fits": expected.fits}, case


def test_both_write_times_alike(compiled: Compiled) -> None:
    """Durations read and written, dates and delays written."""
    dice = random.Random(7)
    numbers = [
        *TIMES,
        0.5**10,
        3 * 0.5**10,
        1e-9,
        1.5e-9,
        0.9999999996,
        1 / 3,
        1e7 / 3,
        59.9999999999,
        2.0**62,
    ]
    numbers += [dice.uniform(0, 10 ** dice.randrange(-6, 9)) for _ in range(300)]
    texts = [
        "250ms",
        "2.5s",
        "5m",
        "24h",
        "7d",
        "9",
        "0.1",
        "PT24H",
        "P1DT12H",
        "P2W",
        "PT1.5S",
        "P",
        "PT",
        "1M",
        "P1Y",
    ]
    texts += ["", "s", "1 s", "-1s", "1e3s", "٣s", "9" * 30 + "s", "P1D T1H", "1s\n", ".5s", "1.s"]
    runtime = {
        name: compiled.module("aws", f"_runtime/{name}")
        for name in ("durations", "http-dates", "retry-after")
    }
    questions: list[dict[str, Any]] = []
    wanted: list[Any] = []

    def add(module: str, name: str, argument: object, result: object) -> None:
        questions.append(
            {"module": runtime[module], "ask": "call", "name": name, "args": [argument]}
        )
        wanted.append(result)

    for number in numbers:
        add("durations", "render", number, durations.render(number))
        add("durations", "quantity", number, f"{number:g}")
        add("retry-after", "render", number, retry_after.render(number))
        if number < 2.5e11:
            add("http-dates", "render", number, http_dates.render(number))
    for moment in (-62_135_596_800, -1, 951_782_400, 951_868_799, 253_402_300_799):
        add("http-dates", "render", moment, http_dates.render(moment))
    for text in texts:
        try:
            add("durations", "seconds", text, durations.seconds(text))
        except ValueError:
            add("durations", "seconds", text, {"thrown": "RangeError"})
    for question, answer, expected in zip(questions, compiled.ask(questions), wanted, strict=True):
        assert answer == expected, question


# The bindings


class Heard(NamedTuple):
    """An answer as a client hears it."""

    system: str
    body: Any
    status: int | None = None
    headers: Mapping[str, str] | None = None
    operation: str | None = None


HEADERS: tuple[dict[str, str], ...] = (
    {"Retry-After": "8", "ETag": '"x"', "X-Other": "1", "Content-Type": "application/json"},
    {"retry-AFTER": "-1", "X-Correlation-Id": "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T", "etag": 'W/"y"'},
    {
        "RETRY-AFTER": "120, 60",
        "allow": "GET",
        "www-authenticate": "Bearer",
        "x-request-id": "r-1",
        "__proto__": "p",
    },
)

#: Bodies that are not an envelope of any taxonomy.
STRANGE: tuple[Any, ...] = (
    *(
        "",
        " ",
        "null",
        "true",
        "7",
        '"x"',
        "[]",
        "{}",
        "[{}]",
        "{",
        "\u0000",
        "<html>502</html>",
        "[" * 100_000,
        '{"a":' * 5000,
    ),
    *(
        '{"code": "constructor"}',
        '{"code": "__proto__"}',
        '{"__proto__": {"code": "not_found"}}',
        '{"code": null}',
    ),
    *(
        '{"code": ["x"], "message": {}}',
        '{"error": []}',
        '{"error": [{"code": "x"}]}',
        '{"code": "toString", "message": "m"}',
    ),
    *(
        '{"code": "\\ud800", "message": "\\u0000"}',
        '{"error": {"code": -32603, "message": 1}}',
        '{"code": ""}',
    ),
    *(
        '{"code": true}',
        '{"code": {}}',
        '{"code": {"toString": 1}}',
        '{"code": ["x", {"toString": null, "valueOf": null}]}',
        '{"code": ' + "[" * 900 + "]" * 900 + "}",
        '{"error": "x", "error": "y"}',
        '{"details": [{"a": 1}], "code": "x"}',
    ),
)


def heard(compiled: Compiled) -> Iterator[Heard]:
    """The examples of the documents, each of their variations, a body of every code, and bodies
    that are not errors.
    """
    for shown in SHOWN:
        for number, (_, body) in enumerate([("", shown.body), *changed(shown.body)]):
            headers = (None, *HEADERS)[number % 4]
            yield Heard(
                shown.system, body, shown.status if number % 2 else None, headers, shown.operation
            )
    for file in sorted((SEEDS / "core_platform").glob("*")):
        head, _, text = file.read_text().rpartition("\n\n")
        status = int(head.split()[1]) if head else None
        for number, (_, body) in enumerate([("", json.loads(text)), *changed(json.loads(text))]):
            yield Heard("platform", body, status, HEADERS[number % 3])
    for system in (*SYSTEMS, "kinto"):
        for number, body in enumerate(STRANGE):
            yield Heard(system, body, (None, 502, 429)[number % 3], (None, *HEADERS)[number % 4])
        yield from of_codes(system, compiled.taxonomies[system])


def of_codes(system: str, taxonomy: Taxonomy) -> Iterator[Heard]:
    """Every code in every envelope, with its details and without, under each of a few statuses."""
    own = [
        (each.wire, code) for each in taxonomy.operations.values() for code in each.errors.values()
    ]
    live = [
        *((None, code) for code in taxonomy.shared_live_codes()),
        *own,
        ("nobody", next(iter(taxonomy.shared_live_codes()))),
    ]
    for (operation, code), envelope in itertools.product(live, taxonomy.envelopes.values()):
        shown = [dict(each.details) for each in code.examples if each.details]
        slots = {
            **dict.fromkeys(shape.slot_places(envelope.shape), "x"),
            "code": code.wire,
            "details": {"field": "f"},
        }
        for number, details in enumerate([*shown, {"retryable": False, "reason": 1}, None]):
            values = {
                **slots,
                "details": details,
                "message": "m" if number else None,
                "status": 500 + number,
            }
            status = next(iter(code.http.allowed_statuses()), None) if number % 2 else None
            with suppress(
                ValueError
            ):  # a spread detail that the envelope has a member of its own for
                body = shape.render(envelope.shape, values)
                yield Heard(system, body, status, HEADERS[number % 3], operation)
                for member, items in body.items() if isinstance(body, dict) else ():
                    if isinstance(items, list):
                        other = {"class": "x"}
                        longer = {**body, member: [other, {"code": None}, *items, other, *items]}
                        yield Heard(system, longer, status, None, operation)


def facts_of(error: Any, members: Mapping[str, str]) -> dict[str, Any]:
    """The members of an error in Python, in the words of TypeScript."""
    known = not hasattr(error, "original_code")
    found = {
        "known": known,
        "code": None if error.code is None else str(error.code),
        "operation": error.operation,
        "message": error.message,
        "status": error.status,
        "retriable": error.retriable,
        "flag": error._retriable if known else None,
        "retryAfter": error.retry_after,
        "boundary": error.boundary,
        "headers": error.headers,
        "details": dict(error.details),
        **{member: getattr(error, attribute) for attribute, member in members.items()},
    }
    if not known:
        found |= {"originalCode": error.original_code, "replacedBy": error.replaced_by}
    if hasattr(error, "others"):
        found["others"] = [facts_of(other, members) for other in error.others]
    return found


def without_raw(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error without its body."""
    found = {name: value for name, value in error.items() if name != "raw"}
    if "others" in found:
        found["others"] = [without_raw(other) for other in found["others"]]
    return found


def test_both_bindings_hear_alike(compiled: Compiled) -> None:
    """Code, message, status, flag, wait, boundary, headers, details and slots; facts, guards and
    the plan of a retry: of the documents' examples, of each variation of them, of every code, and
    of bodies that are not errors. Nothing throws.
    """
    answers = list(heard(compiled))
    questions = [
        {
            "module": compiled.module(each.system),
            "ask": "answer",
            "body": each.body,
            "answer": {"status": each.status, "headers": each.headers, "operation": each.operation},
            "idempotent": number % 2 == 0,
        }
        for number, each in enumerate(answers)
    ]
    members = {}
    for system in {each.system for each in answers}:
        taxonomy = compiled.taxonomies[system]
        views = [target.context(taxonomy, model_of(taxonomy, "x")) for target in TARGETS]
        rows = [each.view.slots for each in views if each is not None]  # type: ignore[attr-defined]
        members[system] = {a.attribute: b.member for a, b in zip(*rows, strict=True)}
    seen: dict[str, set[bool]] = {}
    for number, (answer, found) in enumerate(zip(answers, compiled.ask(questions), strict=True)):
        package = compiled.python(answer.system)
        error = package.parse(
            answer.body, status=answer.status, headers=answer.headers, operation=answer.operation
        )
        expected = facts_of(error, members[answer.system])
        assert without_raw(found["error"]) == expected, answer
        assert found["same"]
        assert found["kept"]
        assert found["guards"] == [expected["known"], not expected["known"], expected["known"]]
        text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        read, _ = package.wire._read(text.encode("utf-8", "surrogatepass"))
        wire = read.slots.get("code") if read is not None and read.fits else None
        # A body alone does not tell the operation, so only codes of every operation count.
        declared = isinstance(wire, str | int) and any(
            each.operation is None for each in package.wire.error_classes(wire)
        )
        assert found["envelope"] == declared, answer
        assert found["facts"]["wire"] == error.facts.wire
        state = package.start_retry(error)
        decision = package.plan_retry(
            error, state, idempotent=number % 2 == 0, now=0.0, random=lambda: 0.5
        )
        assert found["plan"] == camelled(decision), answer
        seen.setdefault(answer.system, set()).add(expected["known"])
    assert len(answers) > 1000
    assert all(each == {True, False} for each in seen.values())


def test_both_heed_the_rules_of_a_policy(compiled: Compiled) -> None:
    """The first rule of `eligible_when` that holds decides in both whether a policy is for an
    error, flag or no flag.
    """
    package = compiled.python("aileron")
    cases = [
        (status, idempotent)
        for status in (None, 302, 404, 429, 499, 500, 503, "404")
        for idempotent in (True, False)
    ]
    bodies = [
        {
            "error": {
                "class": "external_api_error",
                "message": "x",
                "retriable": True,
                "boundary": "external",
                "audit_id": "audit-1",
                "details": {} if status is None else {"status": status},
            }
        }
        for status, _ in cases
    ]
    questions = [
        {
            "module": compiled.module("aileron"),
            "ask": "answer",
            "body": json.dumps(body),
            "answer": {"status": 502},
            "idempotent": idempotent,
        }
        for body, (_, idempotent) in zip(bodies, cases, strict=True)
    ]
    for body, case, found in zip(bodies, cases, compiled.ask(questions), strict=True):
        error = package.parse(json.dumps(body), status=502)
        state = package.start_retry(error)
        decision = package.plan_retry(error, state, idempotent=case[1], now=0.0, random=lambda: 0.5)
        assert found["plan"] == camelled(decision), case
        assert found["plan"]["retry"] == (case[1] and case[0] not in (404, 499)), case


def test_both_know_the_same_of_a_code(compiled: Compiled) -> None:
    """The facts of every code, what a client does about it, and about a code that nobody
    declared.
    """
    for system in (*SYSTEMS, "kinto"):
        package, module = compiled.python(system), compiled.module(system)
        asked = [*(str(each) for each in package.ErrorCode), "constructor", "no_such_code", None]
        questions = [
            {"module": module, "ask": "call", "name": name, "args": [code]}
            for code in asked
            for name in ("isRetryable", "clientAction", "isErrorCode")
        ]
        constants = [
            {"module": module, "ask": "value", "name": name}
            for name in ("FACTS", "ErrorCode", "POLICIES")
        ]
        *found, facts, codes, policies = compiled.ask([*questions, *constants])
        known = {str(each) for each in package.ErrorCode}
        wanted = [
            each
            for code in asked
            for each in (package.is_retryable(code), package.client_action(code), code in known)
        ]
        assert found == wanted
        assert codes == {each.name: str(each) for each in package.ErrorCode}
        assert list(facts) == [str(each) for each in package.ErrorCode]
        for code, each in package.FACTS.items():
            own = camelled(each._replace(statuses=tuple(each.statuses)))
            rules = [
                {**rule, "when": [{"fact": a, "values": b} for a, b in rule["when"]]}
                for rule in own.pop("rules")
            ]
            for name in (
                "statusRules",
                "headers",
                "constants",
            ):  # who raises an error asks them, and no client does
                del own[name]
            own.pop("exactActions", None)  # the same
            assert facts[code].items() >= {**own, "rules": rules}.items()
            assert (
                facts[code]["summary"] == compiled.taxonomies[system].codes[code].summary
                if code in compiled.taxonomies[system].codes
                else True
            )
        assert policies == {name: camelled(each) for name, each in package.POLICIES.items()}


def test_odd_names_stay_distinct(compiled: Compiled) -> None:
    """Reserved words, names of the language's own objects, and names that differ by case or
    underscores alone.
    """
    taxonomy = compiled.taxonomies["odd"]
    own = [("get", "lost", "own"), ("__proto__", "lost", "own")]
    asked = [*((None, code.name, code.wire) for code in taxonomy.shared_live_codes()), *own]
    questions = [
        {
            "module": compiled.module("odd"),
            "ask": "answer",
            "body": json.dumps(
                {"code": wire, "s-raw": "r", "s-constructor": "c", "__proto__": "p"}
            ),
            "answer": {"operation": operation},
            "idempotent": True,
        }
        for operation, _, wire in asked
    ]
    for (operation, code, wire), found in zip(asked, compiled.ask(questions), strict=True):
        error = found["error"]
        assert (error["known"], error["code"], error["operation"]) == (True, code, operation)
        assert (error["rawSlot"], error["constructorSlot"], error["plain"]) == ("r", "c", "p")
        assert found["facts"]["wire"] == wire
        assert found["plan"]["retry"] == (code in ("class", "__proto__") and operation is None), (
            found["plan"]
        )


# Renderings


def test_ailerons_tool_message_is_drawn(compiled: Compiled) -> None:
    """The document's tool message comes of an error with its parts; a line whose part is missing is
    left out (A32).
    """
    wanted = json.loads((SEEDS / "aileron/tool_message.json").read_text())
    error = {
        "class": "external_api_error",
        "message": "Slack returned 401: invalid token",
        "retriable": False,
        "boundary": "external",
        "audit_id": "audit-7f3e...",
    }
    suggestion = "The API key may have been revoked. Try `aileron binding rebind oauth2/slack/work` or notify the user."
    given = {
        "tool_message": {"tool_call_id": "...", "action": "send-team-email"},
        "tool_result": {"tool_use_id": "u"},
    }
    question = {"module": compiled.module("aileron"), "ask": "answer", "answer": {}, "given": given}
    whole, bare, unknown = compiled.ask(
        [
            {**question, "body": {"error": {**error, "details": {"suggestion": suggestion}}}},
            {**question, "body": {"error": error}},
            {**question, "body": "<html>"},
        ]
    )
    assert whole["text"][0] == wanted
    package = compiled.python("aileron")
    drawn = importlib.import_module("aileron_errors.renderings")
    for body, found in (
        ({"error": error}, bare),
        ({"error": {**error, "details": {"suggestion": 1.5}}}, None),
    ):
        asked = [{**question, "body": body}]
        read = package.parse(body)
        texts = [
            drawn.tool_message(read, **given["tool_message"]),
            drawn.tool_result(read, **given["tool_result"]),
        ]
        assert (found or compiled.ask(asked)[0])["text"] == texts
    short = f"external_api_error: {error['message']}\naudit_id: {error['audit_id']}"
    assert bare["text"][1] == {
        "type": "tool_result",
        "tool_use_id": "u",
        "is_error": True,
        "content": short,
    }
    assert "audit_id" not in unknown["text"][0]["content"]


def nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Lists and objects, the latter with members that a pointer may pass."""
    members = st.sampled_from(("client", "a/b", "~__proto__", "__proto__", "constructor", "amount"))
    return st.lists(inner, max_size=2) | st.dictionaries(members, inner, max_size=4)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3), nested, max_leaves=6
)


#: The media types that TypeScript reads, and texts that they may have or not have.
FORMATS = {
    "application/json": ['{"code": "busy"}', "{", "7", ""],
    "application/x-ndjson": [
        '{"a": 1}\n\n{"error": {"code": "busy"}}\r\n',
        '{"a": 1}\n{',
        "\n",
        "",
    ],
    "application/x-www-form-urlencoded": [
        "error=busy&error_description=Wait+a%20bit",
        "error=absent&attempt=3",
        "error=absent&attempt=three&__proto__=x",
        "error=busy&error=absent",
        "error=%zz&a=%C3%BC",
        "error=%ff",
        "error",
        "error=\u017c",
        "error=too-large&version=2&size=12&exact=true&more=1",
        "error=7&version=2&size=-0",
        "error=too-large&version=02&size=1.5&exact=yes",
        "",
    ],
    "text/plain": ["busy: Wait", "absent: a\nb\n", "busy:Wait", "busy: Wait\r\n", "", "\n"],
}


def read_alike(compiled: Compiled, name: str, bodies: list[tuple[str | None, str]]) -> None:
    """Compare both readings of bodies, each with a media type."""
    python = compiled.python(name)
    module = compiled.module(name)
    answers = [
        {"status": 400, "headers": {} if media_type is None else {"Content-Type": media_type}}
        for media_type, _ in bodies
    ]
    questions = [
        {"module": module, "ask": "answer", "body": body, "answer": answer}
        for (_, body), answer in zip(bodies, answers, strict=True)
    ]
    found = compiled.ask(questions)
    for (media_type, body), answer, each in zip(bodies, answers, found, strict=True):
        expected = python.parse(body.encode("utf-8", "surrogatepass"), **answer)
        error = each["error"]
        case = (media_type, body)
        unknown = type(expected).__name__ == "UnknownError"
        assert error["known"] is not unknown, case
        assert error["details"] == dict(expected.details), case
        if unknown:
            assert error["originalCode"] == expected.original_code, case
        else:
            assert error["code"] == expected.code, case
            assert error["message"] == expected.message, case
        assert each["same"], case


@pytest.mark.parametrize("name", ["formats", "form_lists"])
def test_both_read_forms_lines_and_texts_alike(compiled: Compiled, name: str) -> None:
    """TypeScript finds the code, the message and the details that Python finds, also where a body
    has another media type than it says, or none.
    """
    cases = [
        (media_type, body)
        for media_type in (*FORMATS, None)
        for bodies in FORMATS.values()
        for body in bodies
    ]
    parts = st.sampled_from(
        ("error", "code", "busy", "absent", "=", "&", "+", "%20", "%e2", ": ", "\n", "\r", '"', "{")
    )
    texts = st.lists(parts | st.text(max_size=2), max_size=6).map("".join)

    @examples(200)
    @given(st.sampled_from([*FORMATS, None]), texts)
    def collect(media_type: str | None, text: str) -> None:
        cases.append((media_type, text.encode("utf-8", "replace").decode()))

    collect()
    # Python decodes JSON that JavaScript does not have: NaN, and numbers that are too long.
    read_alike(compiled, name, [each for each in cases if "NaN" not in each[1]])


def test_a_format_that_is_not_read_gives_no_code(compiled: Compiled) -> None:
    """XML and CBOR are unknown errors that say so, and keep the body; a body of no format says why
    it was not read, and one that was read says nothing.
    """
    xml = "<Error version='2'><Code>busy</Code><Message>Wait</Message></Error>"
    bodies = {
        ("application/xml", xml): "XML is not read in TypeScript",
        ("application/cbor", "\u00a1"): "CBOR is not read in TypeScript",
        ("application/x-www-form-urlencoded", "error"): "the body is not a form",
        ("application/x-ndjson", "{}\n{"): "the body is not JSON in line 2",
        ("application/json", "{"): "the body is not JSON",
        ("application/json", '{"code": "none"}'): None,
        ("text/plain", "none: of ours"): None,
    }
    module = compiled.module("formats")
    questions = [
        {
            "module": module,
            "ask": "answer",
            "body": body,
            "answer": {"status": 503, "headers": {"Content-Type": media_type}},
        }
        for media_type, body in bodies
    ]
    for (case, reason), found in zip(bodies.items(), compiled.ask(questions), strict=True):
        error = found["error"]
        assert (error["known"], error["unreadable"]) == (False, reason), case
        if reason is not None:
            assert (error["originalCode"], error["raw"]) == (None, case[1]), case


@pytest.mark.parametrize("place", KEYED)
def test_both_set_the_key_of_a_request_alike(compiled: Compiled, place: str) -> None:
    """TypeScript puts a key where Python does, whatever the part of the request holds: other cases
    of a header, no object on the way to a member, names of JavaScript's prototypes. The part stays
    as it was, and the key is read back from the place.
    """
    name = f"keyed_{place}"
    taxonomy = compiled.taxonomies[name]
    assert taxonomy.idempotency is not None
    python = compiled.python(name)
    at = taxonomy.idempotency.key.at
    names = st.sampled_from((at, at.upper(), at.lower(), "client", "__proto__", "x"))
    parts: list[dict[str, Any]] = [{}]

    @examples(150)
    @given(st.dictionaries(names, VALUES, max_size=4))
    def collect(part: dict[str, Any]) -> None:
        parts.append(part)

    collect()
    wanted = []
    for part in parts:
        before = copy.deepcopy(part)
        wanted.append(python.put_idempotency_key(part, "k-1"))
        assert part == before
        found: Any = wanted[-1]
        for step in ("client", "a/b", "~__proto__") if place == "body" else (at,):
            found = found[step]
        assert found == "k-1"
    module = compiled.module(name)
    questions = [
        {"module": module, "ask": "call", "name": "putIdempotencyKey", "args": [part, "k-1"]}
        for part in parts
    ]
    for part, found, expected in zip(parts, compiled.ask(questions), wanted, strict=True):
        assert found == expected, part


def test_both_put_the_key_where_an_operation_has_it(compiled: Compiled) -> None:
    """The places of surfaces and operations are values of both packages, and a key is put at each
    of them; without one it is put at the general place.
    """
    python = importlib.import_module(f"{compiled.python('branches').__name__}.retry")
    places = {"pay": ("body", "/client/token"), "api": ("query", "request_id")}
    found = {**python.OPERATION_KEY_PLACES, **python.SURFACE_KEY_PLACES}
    assert {name: tuple(place) for name, place in found.items()} == places
    put = python.put_idempotency_key
    wanted = [
        put({"amount": 1}, "k"),
        put({"amount": 1}, "k", python.OPERATION_KEY_PLACES["pay"]),
        put({"page": "2"}, "k", python.SURFACE_KEY_PLACES["api"]),
    ]
    assert wanted == [
        {"amount": 1, "Idempotency-Key": "k"},
        {"amount": 1, "client": {"token": "k"}},
        {"page": "2", "request_id": "k"},
    ]
    kinds = [{}, *({"kind": kind, "at": at} for kind, at in places.values())]
    parts: list[dict[str, Any]] = [{"amount": 1}, {"amount": 1}, {"page": "2"}]
    module = compiled.module("branches", "retry")
    questions = [
        {
            "module": module,
            "ask": "call",
            "name": "putIdempotencyKey",
            "args": [part, "k", *([kind] if kind else [])],
        }
        for part, kind in zip(parts, kinds, strict=True)
    ]
    assert compiled.ask(questions) == wanted


@pytest.mark.parametrize("place", KEYED)
def test_both_say_where_the_key_is(compiled: Compiled, place: str) -> None:
    """The place is a value of both packages; the name of the header only where there is one."""
    name = f"keyed_{place}"
    python = importlib.import_module(f"{compiled.python(name).__name__}.retry")
    at = "/client/a~1b/~0__proto__" if place == "body" else KEYED[place].strip("{}").split(": ")[-1]
    questions = [
        {"module": compiled.module(name, "retry"), "ask": "value", "name": constant}
        for constant in ("IDEMPOTENCY_KEY_PLACE", "IDEMPOTENCY_HEADER")
    ]
    header = at if place == "header" else None
    assert compiled.ask(questions) == [{"kind": place, "at": at}, header]
    assert tuple(python.IDEMPOTENCY_KEY_PLACE) == (place, at)
    assert getattr(python, "IDEMPOTENCY_HEADER", None) == header
