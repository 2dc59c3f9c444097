"""What the generated Python costs a service or a client, beside peers in the same run: the import
of a package of 100 codes, `is_retryable`, `parse` and `render`.

The peers are a look-up in a dict by the same key, `json.loads` and `json.dumps` of the same body,
and a model of the envelope in pydantic and in msgspec, which read and write the body but know
nothing of codes, headers or retries. Microseconds of processor time, each the least of several
rounds; imports in processes of their own, with bytecode, after the standard library's modules.

    python benchmarks/bindings.py
"""

import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import msgspec
import pydantic
from compile import taxonomy

from faultspec.language import read
from faultspec.render import render, write
from faultspec.targets import SHIPPED

_CODES = 100
_CALLS = 5_000
_ROUNDS = 7

_IMPORT = """
import sys, time
import collections.abc, contextlib, enum, functools, json, math, os, random, re, typing
sys.path.insert(0, sys.argv[1])
started = time.process_time()
import {package}
print(time.process_time() - started)
"""


class PydanticEnvelope(pydantic.BaseModel):
    """The envelope as a model of pydantic."""

    code: str
    message: str
    request_id: str
    details: dict[str, object] | None = None


class MsgspecEnvelope(msgspec.Struct, omit_defaults=True):
    """The envelope as a structure of msgspec."""

    code: str
    message: str
    request_id: str
    details: dict[str, object] | None = None


def microseconds(call: Callable[[], object]) -> float:
    """The time of one call."""
    spent: list[float] = []
    for _ in range(_ROUNDS):
        started = process_time()
        for _ in range(_CALLS):
            call()
        spent.append(process_time() - started)
    return min(spent) / _CALLS * 1e6


def import_milliseconds(folder: Path, package: str) -> float:
    """The time of an import; the first one writes the bytecode."""
    program = [sys.executable, "-c", _IMPORT.format(package=package), str(folder)]
    environment = {"PATH": ""}
    runs = [
        subprocess.run(program, env=environment, check=True, capture_output=True, text=True)
        for _ in range(_ROUNDS)
    ]
    return min(float(run.stdout) for run in runs[1:]) * 1e3


def main() -> None:
    """Print the table."""
    loaded = read(taxonomy(_CODES), "big.yaml").taxonomy
    assert loaded is not None
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(render(loaded, [SHIPPED["python"]], "big.yaml"), home, ["python"])
        sys.path.insert(0, str(home / "python"))
        errors = importlib.import_module("big_errors")
        milliseconds = import_milliseconds(home / "python", "big_errors")
    error = errors.Failure4(reason_4="because")
    sent = errors.render(error)
    content = json.loads(sent.body)
    wires, code = dict.fromkeys(errors.ErrorCode, True), errors.ErrorCode.FAILURE_4
    by_pydantic = PydanticEnvelope.model_validate_json(sent.body)
    by_msgspec = msgspec.json.decode(sent.body, type=MsgspecEnvelope)
    decoder = msgspec.json.Decoder(MsgspecEnvelope)
    rows: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("is_retryable", lambda: errors.is_retryable(code), lambda: wires[code]),
        (
            "parse, beside json.loads",
            lambda: errors.parse(sent.body, status=429, headers=sent.headers),
            lambda: json.loads(sent.body),
        ),
        (
            "pydantic's model_validate_json, beside json.loads",
            lambda: PydanticEnvelope.model_validate_json(sent.body),
            lambda: json.loads(sent.body),
        ),
        (
            "msgspec's decode, beside json.loads",
            lambda: decoder.decode(sent.body),
            lambda: json.loads(sent.body),
        ),
        (
            "render, beside json.dumps",
            lambda: errors.render(error),
            lambda: json.dumps(content),
        ),
        (
            "pydantic's model_dump_json, beside json.dumps",
            lambda: by_pydantic.model_dump_json(),
            lambda: json.dumps(content),
        ),
        (
            "msgspec's encode, beside json.dumps",
            lambda: msgspec.json.encode(by_msgspec),
            lambda: json.dumps(content),
        ),
        (
            "a new error, beside json.dumps",
            lambda: errors.Failure4(reason_4="because"),
            lambda: json.dumps(content),
        ),
    ]
    print(f"import of {_CODES} codes: {milliseconds:.1f} ms")
    print("| | µs | peer, µs | ratio |\n|---|---|---|---|")
    for name, ours, peer in rows:
        own, other = microseconds(ours), microseconds(peer)
        print(f"| {name} | {own:.2f} | {other:.2f} | {own / other:.1f} |")


if __name__ == "__main__":
    main()
