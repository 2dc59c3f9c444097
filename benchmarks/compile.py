"""What it costs to compile N codes, each with details of its own: all targets, beside two peers
in the same run.

The peers are TypeSpec's OpenAPI emitter (npm) and datamodel-code-generator (PyPI), which get the
same codes in their own input: for TypeSpec a model and a response for each code, for
datamodel-code-generator our JSON Schema of the envelope. What they make is less than what the
compiler makes, and not the same, so read orders of magnitude. They are installed into
`.cache/bench` where `--peers` asks for them. CPU seconds (user and system) and peak memory of
whole processes, each run in turn; a run that takes longer than the limit is reported as not
finished. The exponent is that of growth between two sizes after the smallest size's time is taken
off, which is what starting costs.

    python benchmarks/compile.py [--sizes 16,100,1000,10000] [--runs 3] [--peers]
"""

import argparse
import itertools
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FAULTSPEC = str(Path(sys.executable).with_name("faultspec"))
CACHE = ROOT / ".cache" / "bench"

LIMIT = 300.0
"""Seconds of wall time after which a run counts as not finished; ours takes a tenth of it at ten
thousand codes.
"""

PEER_LARGEST = 1000
"""Codes beyond which the peers are not tried: at ten thousand either had used two minutes of CPU
without an end.
"""

TYPESPEC = ("@typespec/compiler@1", "@typespec/http@1", "@typespec/openapi3@1")

_STATUSES = (400, 404, 409, 422, 429, 500, 503)


class Cost(NamedTuple):
    """CPU seconds and peak memory (MiB) of a process and its children."""

    seconds: float
    memory: float


def taxonomy(size: int) -> str:
    """A taxonomy of `size` codes, each with three details that no other has, an example, and every
    third with a policy.
    """
    out = [
        "faultspec: 1",
        "taxonomy: {name: big, version: 1.0.0, title: Big}",
        "domains: {work: What is worked on.}",
        "boundaries: {service: The service.}",
        "envelopes:",
        "  error:",
        "    shape: {code: $code, message: $message, request_id: $request_id, details?: $details}",
        "    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id}}",
        "retry_policies: {slow: {max_attempts: 3, backoff: {kind: exponential, base: 1s}}}",
        "codes:",
    ]
    for number in range(size):
        status = _STATUSES[number % len(_STATUSES)]
        again = "true, retry: slow" if status in (429, 503) else "false"
        out.append(
            f"  failure_{number}: {{summary: Failure {number} happened., message: 'Failed: ${{reason_{number}}}', domain: work,"
            f" boundary: service, http: {status}, retriable: {again}, effect: none,"
            f" details: {{reason_{number}: {{type: string, maxLength: 80}}, count_{number}?: {{type: integer, minimum: 0}},"
            f" kind_{number}?: {{type: string, enum: [a, b, c{number}]}}}},"
            f" example: {{details: {{reason_{number}: because}}}}}}"
        )
    return "\n".join(out) + "\n"


def typespec(size: int) -> str:
    """The same codes as TypeSpec models, and an operation that answers with any of them."""
    out = [
        'import "@typespec/http";',
        "using TypeSpec.Http;",
        '@service(#{title: "Big"}) namespace Big;',
    ]
    for number in range(size):
        out.append(
            f"model Details{number} {{ @maxLength(80) reason_{number}: string; @minValue(0) count_{number}?: int32;"
            f' kind_{number}?: "a" | "b" | "c{number}"; }}\n'
            f'@error model Failure{number} {{ @statusCode _: {_STATUSES[number % len(_STATUSES)]}; code: "failure_{number}";'
            f" message: string; request_id: string; details?: Details{number}; }}"
        )
    failures = " | ".join(f"Failure{number}" for number in range(size))
    return "\n".join([*out, f"@get op read(): {{@statusCode _: 200}} | {failures};"]) + "\n"


def cost(command: list[str], folder: Path) -> Cost | None:
    """Run to the end and say what it took; None where it took too long. Raises CalledProcessError
    where it fails.
    """
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    late = threading.Timer(LIMIT, process.kill)
    late.start()
    _, status, usage = os.wait4(
        process.pid, 0
    )  # the usage of this child alone, which `subprocess` does not tell
    process.returncode = os.waitstatus_to_exitcode(status)
    late.cancel()
    if process.returncode == -signal.SIGKILL:
        return None
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def ours(size: int, folder: Path) -> list[str]:
    """All targets of the compiler, into an empty folder."""
    (folder / "taxonomy.yaml").write_text(taxonomy(size), encoding="utf-8")
    return [FAULTSPEC, "compile", "taxonomy.yaml", "--out", "generated"]


def theirs_typespec(size: int, folder: Path) -> list[str]:
    """TypeSpec's compiler with its OpenAPI emitter; modules are found through a link to where they
    are installed.
    """
    (folder / "node_modules").symlink_to(CACHE / "node_modules")
    (folder / "main.tsp").write_text(typespec(size), encoding="utf-8")
    return [
        "node",
        "node_modules/@typespec/compiler/cmd/tsp.js",
        "compile",
        "main.tsp",
        "--emit",
        "@typespec/openapi3",
    ]


def theirs_datamodel(size: int, folder: Path) -> list[str]:
    """datamodel-code-generator on the JSON Schema that we make of the codes' envelope."""
    subprocess.run(
        [*ours(size, folder), "--target", "jsonschema"], cwd=folder, check=True, capture_output=True
    )
    schema = "generated/jsonschema/error.schema.json"
    options = ["--input-file-type", "jsonschema", "--output-model-type", "pydantic_v2.BaseModel"]
    return [
        str(CACHE / "python/bin/datamodel-codegen"),
        "--input",
        schema,
        "--output",
        "models.py",
        *options,
    ]


def install() -> None:
    """The peers, once."""
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (CACHE / "node_modules/@typespec/openapi3").is_dir():
        subprocess.run(
            ["npm", "install", "--no-save", "--silent", "--prefix", str(CACHE), *TYPESPEC],
            check=True,
        )
    if not (CACHE / "python/bin/datamodel-codegen").exists():
        venv.create(CACHE / "python", with_pip=True)
        pip = [
            str(CACHE / "python/bin/python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "datamodel-code-generator",
        ]
        subprocess.run(pip, check=True)


Tool = Callable[[int, Path], list[str]]


def main() -> None:
    """Measure every tool at every size and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="16,100,1000,10000")
    parser.add_argument("--runs", type=int, default=3, help="of each; the median counts")
    parser.add_argument(
        "--peers", action="store_true", help="TypeSpec and datamodel-code-generator too"
    )
    options = parser.parse_args()
    sizes = [int(each) for each in options.sizes.split(",")]
    tools: dict[str, Tool] = {"faultspec, all targets": ours}
    if options.peers:
        install()
        tools |= {
            "typespec, openapi3": theirs_typespec,
            "datamodel-code-generator": theirs_datamodel,
        }
    found: dict[str, dict[int, Cost]] = {tool: {} for tool in tools}
    for size in sizes:
        for tool, prepare in tools.items():
            if prepare is not ours and size > PEER_LARGEST:
                continue
            costs = []
            for _ in range(options.runs):
                with tempfile.TemporaryDirectory() as folder:
                    costs.append(cost(prepare(size, Path(folder)), Path(folder)))
            finished = [each for each in costs if each is not None]
            if not finished:
                print(f"{tool:26} {size:6} codes: not finished in {LIMIT:.0f} s", flush=True)
                continue
            seconds = statistics.median(each.seconds for each in finished)
            found[tool][size] = Cost(seconds, max(each.memory for each in finished))
            beside = found["faultspec, all targets"].get(size)
            ratio = (
                f"{seconds / beside.seconds:6.1f} times ours"
                if beside and prepare is not ours
                else ""
            )
            print(
                f"{tool:26} {size:6} codes {seconds:8.2f} s {found[tool][size].memory:7.0f} MiB {ratio}",
                flush=True,
            )
    print()
    for tool, costs_by_size in found.items():
        known = sorted(costs_by_size)
        base = costs_by_size[known[0]].seconds if known else 0.0
        for small, large in itertools.pairwise(known[1:]):
            before, after = costs_by_size[small].seconds - base, costs_by_size[large].seconds - base
            if min(before, after) <= 0:
                print(
                    f"{tool:26} from {small} to {large}: starting costs more than compiling, or the machine was busy"
                )
                continue
            exponent = math.log(after / before) / math.log(large / small)
            print(f"{tool:26} grows with exponent {exponent:.2f} from {small} to {large}")


if __name__ == "__main__":
    main()
