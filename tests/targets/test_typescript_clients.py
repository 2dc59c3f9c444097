"""Laws of the generated clients for `fetch` and axios, which are those of `test_generated_clients`:
they throw the typed error of an answer, and send again what its policy allows, on real connections.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from docs.test_clients_page import not_found
from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from faultspec.targets.typescript import names
from miniatures.serve import serving
from paths import ROOT
from support.command_line import faultspec
from support.npm import installed
from support.once import build_once
from targets.test_generated_clients import KEY, PATIENCE, UNKEYED, Service, packed
from targets.test_typescript import tsc

HARNESS = Path(__file__).parent / "typescript_clients_harness.mjs"
AXIOS = {"axios": "1.21.1"}

#: A program that takes the types of the real libraries.
TYPED = """\
import axios from "axios";
import { withRetries } from "./platform-errors/clients/fetch.js";
import { withRetries as withAxiosRetries } from "./platform-errors/clients/axios.js";
import { NotFound } from "./platform-errors/exceptions.js";
const send: typeof fetch = withRetries(fetch, { throws: false });
const client = axios.create();
client.defaults.adapter = withAxiosRetries(axios.getAdapter(client.defaults.adapter));
export async function read(id: string): Promise<string | null> {
  try {
    const answer = await send(new URL(`http://localhost/${id}`), { method: "GET" });
    const found = await client.get<string>(`http://localhost/${id}`);
    return (await answer.text()) + found.data;
  } catch (error) {
    if (error instanceof NotFound) return error.details.hint ?? null;
    throw error;
  }
}
"""

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]


class NodeClients(NamedTuple):
    """Compiled clients. ``packages``: the folder of each taxonomy."""

    folder: Path
    axios: Path

    def call(self, package: str, *calls: dict[str, Any]) -> list[Any]:
        """The results of calls, one after the other, in one process."""
        done = subprocess.run(
            ["node", str(HARNESS), str(self.folder), package, str(self.axios)],
            input=json.dumps(calls),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        found: list[Any] = json.loads(done.stdout)
        return found


def taxonomies() -> Iterator[Taxonomy]:
    """The flagship, and one without keys."""
    for loaded in (load(str(ROOT / "taxonomy.yaml")), read(UNKEYED, "t.yaml")):
        assert loaded.taxonomy is not None, loaded.diagnostics
        yield loaded.taxonomy


def compile_for_node(folder: Path, *files: str) -> None:
    """Compile files of a folder beside themselves; the libraries' own types are not checked."""
    options = ("--module", "nodenext", "--skipLibCheck", "--target", "es2022")
    done = tsc(folder, *options, "--lib", "es2022,dom", *files)
    assert done.returncode == 0, done.stdout


CLIENTS = ("fetch", "axios")
PLATFORM, SHELVES = "platform-errors", "shelves-errors"


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> NodeClients:
    """The packages, compiled with a program that uses the real types of the libraries."""
    modules = installed({**AXIOS, "@types/node": "22.20.5"}, "axios/package.json", "axios")

    def build(folder: Path) -> None:
        for taxonomy in taxonomies():
            write(render(taxonomy, [SHIPPED["typescript"]], "t.yaml"), folder, ["typescript"])
            package = names.folder(taxonomy.name)
            (folder / "typescript" / package).rename(folder / package)
        (folder / "node_modules").symlink_to(modules)
        (folder / "typed.ts").write_text(TYPED)
        modules_of_shelves = (f"shelves-errors/clients/{name}.ts" for name in CLIENTS)
        compile_for_node(folder, "typed.ts", *modules_of_shelves)

    folder = build_once(tmp_path_factory, "node-clients", build)
    return NodeClients(folder, modules / "axios/index.js")


def request(library: str, base: str, method: str = "GET", **others: Any) -> dict[str, Any]:
    """One call."""
    body = {} if method == "GET" else {"body": "{}"}
    headers = {"Content-Type": "application/json"}
    return {
        "library": library,
        "url": f"{base}/",
        "method": method,
        "headers": headers,
        **body,
        **others,
    }


@pytest.mark.parametrize("library", CLIENTS)
@pytest.mark.parametrize("zipped", [False, True])
def test_an_error_is_thrown_as_itself(library: str, zipped: bool, clients: NodeClients) -> None:
    """The exception of its code, with status and message; packed bodies too."""
    service = Service([404], code="not_found", zipped=zipped)
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base))
    assert sent["error"]["typed"]
    assert (sent["error"]["name"], sent["error"]["code"]) == ("NotFound", "not_found")
    assert (sent["error"]["status"], sent["error"]["message"]) == (404, "No")
    assert (len(service.seen), sent["waits"]) == (1, [])


@pytest.mark.parametrize("library", CLIENTS)
@pytest.mark.parametrize("name", ["NotFound", "UnknownError"])
def test_an_error_on_node_is_parsed_up_to_a_mebibyte(
    library: str, name: str, clients: NodeClients
) -> None:
    """A longer one is the unknown error."""
    service = Service([404], code="not_found", padding=1 << 20 if name == "UnknownError" else 1000)
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base))
    assert (sent["error"]["name"], sent["error"]["status"]) == (name, 404)


@pytest.mark.parametrize("coding", ["", "gzip", "br", "gzip, gzip"])
def test_fetch_reads_an_error_within_bounds(coding: str, clients: NodeClients) -> None:
    """A service that answers an error without an end, or one that unpacks to much, does not get
    the memory of its client.
    """
    with Service([]).served() as base:
        if coding:
            packed(coding)  # may take longer than the answer of a service
        url = f"{base}/long?coding={coding}"
        (sent,) = clients.call(PLATFORM, {**request("fetch", base), "url": url})
    assert (sent["error"]["name"], sent["error"]["status"]) == ("UnknownError", 404)
    assert sent["kilobytes"] < 150_000


def test_fetch_gives_up_an_error_that_unpacks_to_nothing(clients: NodeClients) -> None:
    """The bytes that come are not seen; their time is bounded."""
    with Service([]).served() as base:
        url = f"{base}/nothing"
        (sent,) = clients.call(PLATFORM, {**request("fetch", base), "url": url})
    assert (sent["error"]["name"], sent["error"]["status"]) == ("UnknownError", 404)
    assert sent["took"] < 1000 * (PATIENCE - 5)


ABORTED = """
import {{ throwForError, withRetries }} from "{folder}/{package}/clients/fetch.js";
const controller = new AbortController();
const url = process.argv[2];
const options = {{ signal: controller.signal }};
try {{
  {use}
}} catch (error) {{
  console.log(error.name);
}}
controller.abort();
await new Promise((done) => setTimeout(done, 500));
console.log("alive");
"""


@pytest.mark.parametrize(
    ("use", "printed"),
    [
        ("await throwForError(await fetch(url, options));", "UnknownError\nalive\n"),
        ("await withRetries(fetch)(url, options);", "UnknownError\nalive\n"),
        ("await withRetries(fetch, {throws: false})(url, options);", "alive\n"),
        (
            "const answer = await withRetries(fetch, {throws: false})(url, options);"
            "console.log(answer.status, answer.url === url, (await answer.text()).length);",
            f"404 true {1 << 25}\nalive\n",
        ),
    ],
)
def test_a_signal_may_be_aborted_after_a_long_error(
    use: str, printed: str, clients: NodeClients, tmp_path: Path
) -> None:
    """No rejection is left that ends Node, and an answer that is returned can be read."""
    folder = clients.folder.as_posix()
    program = tmp_path / "aborted.mjs"
    program.write_text(ABORTED.format(folder=folder, package=PLATFORM, use=use))
    with Service([]).served() as base:
        done = subprocess.run(
            ["node", str(program), f"{base}/long?coding="],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


@pytest.mark.parametrize("library", CLIENTS)
def test_a_read_is_sent_again_until_the_policy_ends(library: str, clients: NodeClients) -> None:
    """It goes on until it succeeds, at most as often as the policy allows."""
    healing = Service([503, 503])
    with healing.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base))
    assert (sent["status"], sent["text"].replace(" ", "")) == (200, '{"ok":true}')
    assert (len(sent["waits"]), len(healing.seen)) == (2, 3)
    broken = Service([503] * 50)
    with broken.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base))
    assert sent["error"]["name"] == "DependencyUnavailable"
    assert 1 < len(broken.seen) < 20


def test_a_request_object_is_sent_again(clients: NodeClients) -> None:
    """A `Request` of `fetch` keeps its body, and has one key in all tries."""
    service = Service([503, 503])
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request("fetch", base, "POST", asRequest=True))
    assert sent["status"] == 200
    assert [body for _, _, body in service.seen] == [b"{}"] * 3
    keys = {key for _, key, _ in service.seen}
    assert len(keys) == 1
    assert None not in keys


@pytest.mark.parametrize("library", CLIENTS)
def test_retry_after_is_kept_on_node(library: str, clients: NodeClients) -> None:
    """The wait is at least that of the header."""
    service = Service([429], headers={"Retry-After": "7"}, code="rate_limited")
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base))
    assert (sent["status"], len(sent["waits"])) == (200, 1)
    assert sent["waits"][0] >= 7


BLANKS = """
import {{ parse }} from "{folder}/{package}/_runtime/retry-after.js";
const read = (value) => parse(value, {{ now: 0, lenient: true }}).seconds;
const blanks = " \\t".repeat(200_000);
console.log(read(blanks + "7" + blanks), read("7" + blanks + "x"), read(blanks));
console.log(read(" 7\\t"), read("\\t7, 9 "), read("7"), read(""), read("7\\u00a0"));
console.log(performance.now() < 5_000);
"""


def test_blanks_around_a_retry_after_take_linear_time(clients: NodeClients, tmp_path: Path) -> None:
    """Spaces and tabs are dropped; other text makes the value none."""
    program = tmp_path / "blanks.mjs"
    program.write_text(BLANKS.format(folder=clients.folder.as_posix(), package=PLATFORM))
    done = subprocess.run(
        ["node", str(program)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == "7 null null\n7 9 7 null null\ntrue\n", done.stderr


@pytest.mark.parametrize("library", CLIENTS)
def test_the_clock_and_chance_can_be_given(library: str, clients: NodeClients) -> None:
    """The waits are those of the planner with the same clock and chance: Python's."""
    sys.path.insert(0, str(ROOT / "generated/python"))
    try:
        from platform_errors import errors, retrying  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(ROOT / "generated/python"))
    wanted = retrying.Retries(clock=lambda: 0.0, random=lambda: 0.25).begin()
    error = errors.bare(errors.DependencyUnavailable)
    delays = [wanted.fail(error, idempotent=True).delay for _ in range(2)]
    service = Service([503, 503])
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base, clock=0, random=0.25))
    assert sent["waits"] == pytest.approx(delays)


@pytest.mark.parametrize("library", CLIENTS)
def test_all_tries_of_a_write_have_one_key_on_node(library: str, clients: NodeClients) -> None:
    """A write gets a key, the same in all its tries; another write has another. A given key stays.
    The body is the same each time.
    """
    service = Service([503, 503])
    with service.served() as base:
        write_ = request(library, base, "POST")
        first, second = clients.call(PLATFORM, write_, write_)
        assert (first["status"], second["status"]) == (200, 200)
        keys = [key for _, key, _ in service.seen]
        assert len(keys) == 4
        assert None not in keys
        assert len(set(keys[:3])) == 1
        assert keys[3] not in keys[:3]
        assert {body for _, _, body in service.seen} == {b"{}"}
        service.script, service.seen = [503], []
        own = {"Content-Type": "application/json", KEY: "mine"}
        clients.call(PLATFORM, {**write_, "headers": own})
        assert [key for _, key, _ in service.seen] == ["mine", "mine"]


@pytest.mark.parametrize("library", CLIENTS)
def test_nothing_is_sent_twice_on_node_that_may_have_taken_effect(
    library: str, clients: NodeClients
) -> None:
    """A write without a key is sent again only if its failure had no effect; a read always is."""
    for method, code, status, tries in (
        ("POST", "busy", 503, 1),
        ("POST", "full", 507, 2),
        ("GET", "busy", 503, 2),
        ("PUT", "busy", 503, 2),
    ):
        service = Service([status], code=code)
        with service.served() as base:
            clients.call(SHELVES, request(library, base, method))
        assert len(service.seen) == tries, (method, code)


@pytest.mark.parametrize("library", CLIENTS)
def test_a_body_that_is_read_once_is_sent_once_on_node(library: str, clients: NodeClients) -> None:
    """A stream cannot be sent again, whatever the error says."""
    service = Service([503])
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base, "PUT", once=True))
    assert sent["error"]["name"] == "DependencyUnavailable", sent
    assert len(service.seen) == 1


@pytest.mark.parametrize("library", CLIENTS)
def test_calls_share_a_budget_on_node(library: str, clients: NodeClients) -> None:
    """Retries of all calls are paid from one bucket, and a success gives back."""
    service = Service([507] * 5, code="full")
    with service.served() as base:
        call = request(library, base, retries="shared")
        found = clients.call(SHELVES, call, call, call)
    assert [each.get("status") for each in found] == [None, None, 200]
    assert len(service.seen) == 4 + 1 + 1


@pytest.mark.parametrize("library", CLIENTS)
def test_a_member_marks_an_error_on_node(library: str, clients: NodeClients) -> None:
    """Where the taxonomy finds errors by a member of the body, so does the client."""

    async def answer(_: Request) -> Response:
        return Response(b'{"code": "full", "errors": []}', media_type="application/json")

    with serving(Starlette(routes=[Route("/", answer)])) as base:
        (sent,) = clients.call(SHELVES, request(library, base))
    assert sent["error"]["code"] == "full"


@pytest.mark.parametrize("library", CLIENTS)
def test_an_aborted_signal_ends_the_wait(library: str, clients: NodeClients) -> None:
    """The call rejects at once, and nothing more is sent."""
    service = Service([429], headers={"Retry-After": "30"}, code="rate_limited")
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(library, base, abortAfter=300))
    assert sent["error"]["name"] == {"fetch": "AbortError", "axios": "CanceledError"}[library]
    assert sent["took"] < 10_000
    assert len(service.seen) == 1


EXAMPLES = re.findall(
    r"^## (.*?)\n\n```ts\n(.*?)```",
    (ROOT / "docs/how-to/clients.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize(("title", "example"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_each_example_in_typescript_catches_its_error(
    title: str, example: str, clients: NodeClients, tmp_path: Path
) -> None:
    """The page compiles as it stands, and prints the typed error of the answer."""
    assert len(EXAMPLES) == 2
    folder = tmp_path / "page"
    shutil.copytree(clients.folder, folder, symlinks=True)
    with serving(Starlette(routes=[Route("/orders/7", not_found)])) as base:
        (folder / "page.ts").write_text(example.replace("http://localhost:8000", base))
        compile_for_node(folder, "page.ts")
        done = subprocess.run(
            ["node", "page.js"], cwd=folder, capture_output=True, text=True, check=False
        )
    assert (done.stdout, done.returncode) == ("not_found order-seven-id\n", 0), done.stderr


GENERATED = ROOT / "docs/generated/typescript.md"


def test_the_page_of_generated_typescript_compiles_and_runs(
    clients: NodeClients, tmp_path: Path
) -> None:
    """Its snippets, one after the other, are a program that prints what the page says."""
    snippets = re.findall(
        r"^```ts\n(.*?)```", GENERATED.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(snippets) == 5
    folder = tmp_path / "page"
    shutil.copytree(clients.folder, folder, symlinks=True)
    (folder / "page.ts").write_text("".join(snippets))
    compile_for_node(folder, "page.ts")
    done = subprocess.run(
        ["node", "page.js"], cwd=folder, capture_output=True, text=True, check=False
    )
    printed = "409\n429 409\nit exists as order-1\nfalse not_retriable false\n"
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


CLIENT = """
import {{ withRetries }} from "{folder}/{package}/clients/fetch.js";
import {{ Retries }} from "{folder}/{package}/retrying.js";
const send = withRetries(fetch, {{ retries: new Retries({{ scale: {scale} }}) }});
const body = "{{}}";
try {{
  await send(process.env.CALL_URL + "/", {{ method: "POST", body }});
}} catch {{
  process.exit(0);
}}
"""


def test_the_suite_finds_nothing_in_the_client(clients: NodeClients, tmp_path: Path) -> None:
    """`faultspec conform --client` passes without a line of its own."""
    text = CLIENT.format(folder=clients.folder.as_posix(), package=PLATFORM, scale=0.05)
    (tmp_path / "client.mjs").write_text(text)
    (tmp_path / "conformance.yaml").write_text(
        f"""
taxonomy: {ROOT / "taxonomy.yaml"}
client:
  command: [node, client.mjs]
  env: CALL_URL
  request: POST /
  scale: 0.05
  seconds: 20
limits: {{seconds: 240}}
"""
    )
    done = faultspec("conform", "--client", "conformance.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
