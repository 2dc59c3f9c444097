"""Laws of the generated TypeScript modules for frameworks, over real HTTP and the real frameworks:
the laws and the table of `test_frameworks`.

Node and npm have to be there. The frameworks are installed once a machine, below `.cache`.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from frameworks.shop import LAWS, Shop, failures, served
from frameworks.test_frameworks import ADOPT, HERE, keep_row, table_row
from support.command_line import faultspec
from support.npm import installed
from support.once import build_once
from targets.test_typescript import tsc

SOURCES = HERE / "typescript"

#: What every shop is compiled with.
_TYPES = {"@types/node": "22.20.5"}


class NodeFramework(NamedTuple):
    """A framework in one version, and the packages of npm that its shop needs. ``shop``: the file
    in `typescript/`, without its suffix.
    """

    shop: str
    title: str
    version: str
    packages: dict[str, str]


EXPRESS = {"cors": "2.8.6", "http-errors": "2.0.1", "@types/cors": "2.8.19"}
EXPRESS |= {"@types/http-errors": "2.0.5"}

NEST = {"reflect-metadata": "0.2.2", "rxjs": "7.8.2"}
NEST |= {"class-validator": "0.14.2", "class-transformer": "0.5.1"}


def nest(version: str) -> dict[str, str]:
    """The packages of Nest in one version."""
    parts = ("common", "core", "platform-express")
    return {**{f"@nestjs/{part}": version for part in parts}, **NEST}


CURRENT = {
    "express": NodeFramework(
        "express", "Express", "5.3", {"express": "5.3.0", "@types/express": "5.0.6", **EXPRESS}
    ),
    "hono": NodeFramework(
        "hono", "Hono", "4.13", {"hono": "4.13.19", "@hono/node-server": "2.1.9"}
    ),
    "fastify": NodeFramework(
        "fastify", "Fastify", "5.12", {"fastify": "5.12.8", "@fastify/cors": "11.4.3"}
    ),
    "nest": NodeFramework("nest", "Nest", "12.5", nest("12.5.1")),
}

PREVIOUS = {
    "express": NodeFramework(
        "express", "Express", "4.22", {"express": "4.22.3", "@types/express": "4.17.25", **EXPRESS}
    ),
    "hono": NodeFramework(
        "hono", "Hono", "4.6", {"hono": "4.6.20", "@hono/node-server": "1.19.19"}
    ),
    "fastify": NodeFramework(
        "fastify", "Fastify", "4.29", {"fastify": "4.29.1", "@fastify/cors": "9.0.1"}
    ),
    "nest": NodeFramework("nest", "Nest", "11.2", nest("11.2.10")),
}

#: Laws that a version cannot keep, with the reason.
LIMITS = {
    ("Hono", "4.6"): {
        "body limit": "a validator takes a body without a declared length that is cut for broken"
        " JSON, so that the answer is 400"
    }
}

#: Frameworks without validation of their own: the service throws the error.
BY_HAND = {"express", "hono"}

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]


def compiled(framework: NodeFramework, factory: pytest.TempPathFactory) -> Path:
    """The folder with the shop of a framework, compiled with its package of errors."""
    modules = installed(
        {**framework.packages, **_TYPES},
        f"{next(iter(framework.packages))}/package.json",
        f"{framework.title}-{framework.version}",
    )

    def build(folder: Path) -> None:
        done = faultspec(
            *("compile", "--target", "typescript", "--out", "."),
            str(HERE / "shop-taxonomy.yaml"),
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
        (folder / "typescript/shop-errors").rename(folder / "shop-errors")
        (folder / "node_modules").symlink_to(modules)
        shutil.copy(SOURCES / f"{framework.shop}.ts", folder)
        compile_here(folder, f"{framework.shop}.ts")
        shutil.copy(SOURCES / "serve.mjs", folder)

    return build_once(factory, f"shop-{framework.shop}-{framework.version}", build)


def compile_here(folder: Path, *files: str) -> None:
    """Compile files of a folder beside themselves; the frameworks' own types are not checked."""
    done = tsc(
        folder,
        *("--module", "nodenext", "--skipLibCheck", "--experimentalDecorators"),
        *("--target", "es2022", "--lib", "es2022,dom"),
        *files,
    )
    assert done.returncode == 0, done.stdout


@contextmanager
def running(framework: NodeFramework, folder: Path, log: Path) -> Iterator[Shop]:
    """The shop of a framework, until the end of the block."""
    command = ["node", str(folder / "serve.mjs"), framework.shop]
    with served(command, {}, log) as port:
        yield Shop(port, log, has_405=False)


def row(framework: NodeFramework, broken: dict[str, str]) -> str:
    """The row of the table."""
    name = f"{framework.title} {framework.version}"
    return table_row(name, broken, by_hand=framework.shop in BY_HAND)


@pytest.mark.full
@pytest.mark.parametrize("name", CURRENT)
def test_a_shop_on_node_keeps_every_law(
    name: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """In the current version every law of `shop.py` holds, and the page says so."""
    check_laws(CURRENT[name], tmp_path_factory, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("name", PREVIOUS)
def test_a_shop_on_node_of_the_previous_version_keeps_every_law(
    name: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """In the previous version too."""
    check_laws(PREVIOUS[name], tmp_path_factory, tmp_path)


def check_laws(framework: NodeFramework, factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """Each law holds, the log says once that a bare 409 has no code of its own, and the page has
    the row.
    """
    with running(framework, compiled(framework, factory), tmp_path / "log") as shop:
        broken = failures(shop)
        log = shop.log.read_text(encoding="utf-8")
    limits = LIMITS.get((framework.title, framework.version), {})
    assert broken.keys() == limits.keys(), broken
    assert log.count("a bare 409 is answered as bad_request") == 1, log
    keep_row(row(framework, broken))


@pytest.mark.full
@pytest.mark.parametrize("name", CURRENT)
def test_the_suite_finds_nothing_in_a_shop_on_node(
    name: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """`faultspec conform` has no finding."""
    framework = CURRENT[name]
    with running(framework, compiled(framework, tmp_path_factory), tmp_path / "log") as shop:
        done = faultspec(
            "conform",
            str(HERE / "shop.yaml"),
            "--seed",
            "1",
            cwd=tmp_path,
            environment={"SHOP_URL": f"http://127.0.0.1:{shop.port}"},
        )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.full
def test_each_law_is_broken_on_node_without_the_boundary(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """An Express shop without the boundary breaks each law, but for those that Express keeps
    alone.
    """
    folder = tmp_path / "unwired"
    shutil.copytree(compiled(CURRENT["express"], tmp_path_factory), folder, symlinks=True)
    module = folder / "shop-errors/frameworks/express.js"
    module.write_text(
        "export function errorBoundary() {\n"
        "  const pass = (request, response, next) => next();\n"
        "  return { first: pass, last: [pass] };\n}\n"
    )
    with running(CURRENT["express"], folder, tmp_path / "log") as shop:
        broken = failures(shop)
    kept_alone = {"streaming", "CORS", "cookies", "cancelled request"}
    assert broken.keys() >= LAWS.keys() - kept_alone


def run_snippets(framework: NodeFramework, folder: Path, text: str) -> str:
    """The output of a program beside the package. No log has the bug that a self-test makes."""
    (folder / "page.ts").write_text(text)
    compile_here(folder, "page.ts")
    done = subprocess.run(
        ["node", "page.js"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "self-test" not in done.stderr
    return done.stdout


@pytest.mark.full
@pytest.mark.parametrize("name", CURRENT)
def test_a_page_on_node_adopts_in_ten_lines(
    name: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """The first snippet of a page has at most ten lines. All snippets, compiled as they stand,
    leave nothing for the self-test to find.
    """
    text = (ADOPT / f"{name}.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```ts\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len([line for line in snippets[0].splitlines() if line]) <= 10
    folder = tmp_path / "page"
    shutil.copytree(compiled(CURRENT[name], tmp_path_factory), folder, symlinks=True)
    program = "".join(snippets) + "\nconsole.log(JSON.stringify(problems));\nprocess.exit(0);\n"
    assert run_snippets(CURRENT[name], folder, program).splitlines()[-1] == "[]"


#: Fastify with answers to errors that are streams, and with hooks and serializers that throw.
FASTIFY_FAILURES = """
import { Readable } from "node:stream";
import fastify from "fastify";
import { install } from "./shop-errors/frameworks/fastify.js";

const fail = () => { throw new Error("hunter2"); };
const app = fastify();
install(app, { log: () => undefined });
app.get("/stream", (_, reply) => reply.code(404).send(Readable.from(["hunter2"])));
app.get("/breaks", (_, reply) => reply.code(500).send(new Readable({ read() { fail(); } })));
app.get("/web", (_, reply) => reply.send(new Response("hunter2", { status: 409 })));
app.get("/serializer", (_, reply) => reply.serializer(fail).send({}));
app.get("/hook", { onSend: async () => fail() }, async () => "done");
app.get("/both", { onSend: async () => fail() }, async () => fail());
app.get("/fine", (_, reply) => reply.send(Readable.from(["fine"])));
const kept = async (_: unknown, reply: any) => {
  const { headers, body } = await app.inject("/unknown");
  return reply.code(404).type(headers["content-type"]).send(Readable.from([body]));
};
app.get("/kept", kept);
const found: string[] = [];
for (const name of ["stream", "breaks", "web", "serializer", "hook", "both", "kept", "fine"]) {
  const { statusCode, body } = await app.inject(`/${name}`);
  found.push(`${name} ${statusCode} ${statusCode < 400 ? body : Object.keys(JSON.parse(body))}`);
}
console.log(JSON.stringify(found));
process.exit(0);
"""


#: Logs that fail: the console at an exception that cannot be read, and one of the application.
FAILING_LOGS = """
import fastify from "fastify";
import { install } from "./shop-errors/frameworks/fastify.js";

const unread = { get: () => { throw 2; } };
const found: string[] = [];
for (const log of [undefined, () => { throw new Error("hunter2"); }]) {
  const app = fastify();
  install(app, { log });
  app.get("/plain", async () => { throw new Error("hunter2"); });
  for (const name of ["message", "stack", "name"]) {
    app.get(`/${name}`, async () => { throw Object.defineProperty(new Error("x"), name, unread); });
  }
  for (const name of ["plain", "message", "stack", "name"]) {
    const { statusCode, body } = await app.inject(`/${name}`);
    found.push(`${statusCode} ${JSON.parse(body).code}`);
  }
}
console.log(JSON.stringify(found));
process.exit(0);
"""


def test_a_log_that_fails_changes_no_answer(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """A crash is answered in the envelope, also if its exception throws when the log reads it."""
    folder = tmp_path / "logs"
    shutil.copytree(compiled(CURRENT["fastify"], tmp_path_factory), folder, symlinks=True)
    shown = run_snippets(CURRENT["fastify"], folder, FAILING_LOGS).splitlines()[-1]
    assert json.loads(shown) == ["500 internal_error"] * 8


@pytest.mark.full
@pytest.mark.parametrize("framework", [CURRENT["fastify"], PREVIOUS["fastify"]])
def test_no_failure_of_an_answer_passes_the_boundary_of_fastify(
    framework: NodeFramework, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Errors that are streams or answers of the Fetch standard, and those of serializers and hooks
    at the answer itself, leave in the envelope. A stream that has the envelope stays.
    """
    folder = tmp_path / "failures"
    shutil.copytree(compiled(framework, tmp_path_factory), folder, symlinks=True)
    output = run_snippets(framework, folder, FASTIFY_FAILURES)
    assert "hunter2" not in output
    found = json.loads(output.splitlines()[-1])
    assert found[-1] == "fine 200 fine"
    statuses = [line.split()[1] for line in found[:-1]]
    assert statuses == ["404", "500", "400", "500", "500", "500", "404"]
    assert len({line.split()[2] for line in found[:-1]}) == 1


#: Fastify with handlers that answer, and then answer again or throw.
FASTIFY_AGAIN = """
import { Readable } from "node:stream";
import fastify from "fastify";
import { install } from "./shop-errors/frameworks/fastify.js";

const app = fastify();
install(app, { log: () => undefined });
const both = async (reply: any, first: unknown) => {
  reply.code(404).send(first);
  reply.code(409).send("b");
  throw new Error("X");
};
app.get("/both", (_, reply) => both(reply, "a"));
app.get("/bytes", (_, reply) => both(reply, Buffer.from("a")));
app.get("/stream", (_, reply) => both(reply, Readable.from(["a"])));
app.get("/throws", async (_, reply) => {
  reply.code(404).send("a");
  throw new Error("X");
});
app.get("/returns", async (_, reply) => {
  reply.code(404).send("a");
  return "b";
});
app.get("/fine", (_, reply) => {
  reply.send("a");
  reply.code(409).send("b");
});
const base = await app.listen({ port: 0, host: "127.0.0.1" });
const found: string[] = [];
for (const name of ["both", "bytes", "stream", "throws", "returns", "fine"]) {
  const answer = await fetch(`${base}/${name}`);
  const body = await answer.text();
  found.push(`${name} ${answer.status} ${answer.ok ? body : JSON.parse(body).code}`);
}
console.log(JSON.stringify(found));
process.exit(0);
"""


@pytest.mark.full
@pytest.mark.parametrize("framework", [CURRENT["fastify"], PREVIOUS["fastify"]])
def test_the_first_answer_of_a_handler_of_fastify_counts(
    framework: NodeFramework, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Later ones and exceptions change nothing and end nothing, as without the boundary."""
    folder = tmp_path / "again"
    shutil.copytree(compiled(framework, tmp_path_factory), folder, symlinks=True)
    found = json.loads(run_snippets(framework, folder, FASTIFY_AGAIN).splitlines()[-1])
    assert found.pop() == "fine 200 a"
    assert {tuple(line.split()[1:]) for line in found} == {("404", "not_found")}


#: Fastify with answers whose headers Node refuses, at once and from streams and timers.
FASTIFY_REFUSED = """
import { Readable } from "node:stream";
import fastify from "fastify";
import { install } from "./shop-errors/frameworks/fastify.js";

const app = fastify();
install(app, { log: () => undefined });
const bad = "\\u20ac\\n";
const web = new Response("a", { status: 404, headers: { "access-control-a": "a\\u0001b" } });
app.get("/text", (_, reply) => reply.code(404).header("x-a", bad).send("a"));
app.get("/fine", (_, reply) => reply.header("x-a", bad).send("a"));
app.get("/name", (_, reply) => reply.code(404).header("a b", "c").send(Readable.from(["a"])));
app.get("/stream", (_, reply) => reply.code(401).header("x-a", bad).send(Readable.from(["a"])));
app.get("/timer", (_, reply) => {
  reply.code(404).header("www-authenticate", bad);
  setTimeout(() => reply.send(Readable.from(["a"])));
});
app.get("/throws", (_, reply) => {
  reply.header("x-a", bad);
  throw new Error("X");
});
app.get("/web", (_, reply) => reply.send(web));
const base = await app.listen({ port: 0, host: "127.0.0.1" });
const found: string[] = [];
for (const name of ["text", "fine", "name", "stream", "timer", "throws", "web"]) {
  const answer = await fetch(`${base}/${name}`);
  found.push(`${answer.status} ${(await answer.json()).code}`);
}
console.log(JSON.stringify(found));
process.exit(0);
"""


@pytest.mark.full
@pytest.mark.parametrize("framework", [CURRENT["fastify"], PREVIOUS["fastify"]])
def test_a_header_that_node_refuses_does_not_pass_the_boundary_of_fastify(
    framework: NodeFramework, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """It is the internal error, in the envelope; thrown behind a hook it could end the process."""
    folder = tmp_path / "refused"
    shutil.copytree(compiled(framework, tmp_path_factory), folder, symlinks=True)
    *refused, web = json.loads(run_snippets(framework, folder, FASTIFY_REFUSED).splitlines()[-1])
    assert set(refused) == {"500 internal_error"}
    assert web == "404 not_found"


#: Applications without their boundary, by framework.
UNWIRED = {
    "express": 'import express from "express"; const app = express();',
    "hono": 'import { Hono } from "hono"; const app = new Hono();',
    "fastify": 'import fastify from "fastify"; const app = fastify();',
    "nest": (
        'import { Module } from "@nestjs/common"; import { NestFactory } from "@nestjs/core";'
        "@Module({}) class AppModule {}"
        "const app = await NestFactory.create(AppModule, { logger: false });"
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("name", UNWIRED)
def test_the_self_test_on_node_names_an_application_without_its_boundary(
    name: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """In plain words: what was sent, and what came back."""
    folder = tmp_path / "unwired"
    shutil.copytree(compiled(CURRENT[name], tmp_path_factory), folder, symlinks=True)
    program = (
        f'{UNWIRED[name]}\nimport {{ check }} from "./shop-errors/frameworks/{name}.js";\n'
        "console.log(JSON.stringify(await check(app)));\nprocess.exit(0);\n"
    )
    found = json.loads(run_snippets(CURRENT[name], folder, program).splitlines()[-1])
    assert found[0] == (
        "an unknown route is answered with 404, not in the envelope: the boundary is not installed"
    )


@pytest.mark.full
def test_the_self_test_on_node_names_a_missing_handler(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """With the first middleware alone, a thrown error leaves as another."""
    folder = tmp_path / "unwired"
    shutil.copytree(compiled(CURRENT["express"], tmp_path_factory), folder, symlinks=True)
    program = """
import express from "express";
import { check, errorBoundary } from "./shop-errors/frameworks/express.js";
const app = express();
app.use(errorBoundary().first);
console.log(JSON.stringify(await check(app)));
process.exit(0);
"""
    found = json.loads(run_snippets(CURRENT["express"], folder, program).splitlines()[-1])
    assert any("leaves as another error" in each for each in found), found


@pytest.mark.full
def test_the_self_test_of_fastify_names_a_missing_option(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Without `frameworkErrors` no boundary sees a path that cannot be decoded."""
    folder = tmp_path / "unwired"
    shutil.copytree(compiled(CURRENT["fastify"], tmp_path_factory), folder, symlinks=True)
    program = """
import fastify from "fastify";
import { check, install } from "./shop-errors/frameworks/fastify.js";
const app = fastify();
install(app);
console.log(JSON.stringify(await check(app)));
process.exit(0);
"""
    found = json.loads(run_snippets(CURRENT["fastify"], folder, program).splitlines()[-1])
    assert found == ["a path that cannot be decoded is answered by Fastify: pass `frameworkErrors`"]
