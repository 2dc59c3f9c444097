"""What the judge costs: records a second over distinct recorded errors, beside `json.loads` and
PyPI's jsonschema on the same.

    python benchmarks/judge.py [RECORDS]        default 5000

A record is a line of a file that the benchmark writes first: an answer of the Core Platform with
its headers, each of another code, id, message and details than the one before, one in twenty
broken in one of a few ways. The judge has all clauses on, those that search for leaks among them,
and reads the body itself; jsonschema validates the parsed bodies, and nothing else, by the schema
that is generated from the same taxonomy. Rounds alternate, so that a machine that slows down slows
all of them; what is printed is the median of the ratios of each round. Then one run of the suite
over the orders service, and the share of its time that the judge takes.
"""

import gc
import json
import logging
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema

from faultspec import language
from faultspec.contract.model import Contract, build_contract, with_cache
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.runtime import ids
from faultspec_conformance.orders import demo
from faultspec_conformance.session import http

ROOT = Path(__file__).resolve().parents[1]
TAXONOMY = ROOT / "taxonomy.yaml"
ROUNDS = 7
TEXT = "the order was not accepted because its quantity is above what the tenant may ask for in one day"


def records(contract: Contract, count: int) -> Iterator[dict[str, object]]:
    """Answers as a log of exchanges has them."""
    chance = random.Random(7)
    codes = [each for each in contract.taxonomy.shared_live_codes() if each.http.statuses]
    for number in range(count):
        code = codes[number % len(codes)]
        own = ids.new("ulid")
        example = code.examples[0]
        body: dict[str, object] = {
            "code": code.wire,
            "message": " ".join(chance.sample(TEXT.split(), 9)).capitalize(),
            "correlation_id": own,
            "details": {
                **(example.details or {}),
                "hint": f"See order {chance.getrandbits(32):08x}",
            },
        }
        status = code.http.statuses[0].low
        headers = {
            "content-type": "application/json",
            "cache-control": "no-store",
            "x-correlation-id": own,
        }
        headers |= {
            "date": "Sun, 22 Nov 2026 06:07:17 GMT",
            "server": "uvicorn",
            "content-length": str(number),
        }
        headers |= {name.lower(): value for name, value in example.headers.items()}
        headers |= {"retry-after": str(1 + number % 60)} if status in (429, 503) else {}
        if number % 20 == 0:
            wrong = number // 20 % 4
            body["message"] = (
                'File "/srv/orders/app.py", line 88' if wrong == 0 else body["message"]
            )
            status = 500 if wrong == 1 else status
            body["details"] = [] if wrong == 2 else body["details"]
            headers.pop("cache-control" if wrong == 3 else "server")
        path = f"/orders/{chance.getrandbits(64):016x}"
        yield {
            "path": path,
            "status": status,
            "headers": list(headers.items()),
            "body": json.dumps(body),
        }


def exchange(record: dict[str, object]) -> Exchange:
    """A record as the judge takes it."""
    headers = tuple((str(name), str(value)) for name, value in record["headers"])  # type: ignore[attr-defined]
    status, body = int(str(record["status"])), str(record["body"]).encode()
    return Exchange(Request("GET", str(record["path"])), Response(status, headers, body))


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one round."""
    began = time.process_time()
    work()
    return time.process_time() - began


def share_of_a_run() -> tuple[float, float, int]:
    """Seconds of a run of the suite over the orders service, those in the judge, and the exchanges
    judged.
    """
    spent: list[float] = []

    def timed(contract: Contract, exchange: Exchange) -> Judgement:
        began = time.perf_counter()
        found = judge(contract, exchange)
        spent.append(time.perf_counter() - began)
        return found

    logging.disable(logging.CRITICAL)
    loaded = language.load(str(TAXONOMY))
    assert loaded.taxonomy is not None
    http.judge = timed
    try:
        began = time.perf_counter()
        demo.judge_orders(None, loaded.taxonomy, str(TAXONOMY), sweep=True)
        return time.perf_counter() - began, sum(spent), len(spent)
    finally:
        http.judge = judge


def main(count: int) -> None:
    """Print the ratios."""
    gc.set_threshold(100_000)  # as the command line does, here for all of them
    loaded = language.load(str(TAXONOMY))
    assert loaded.taxonomy is not None
    by = with_cache(build_contract(loaded.taxonomy))
    schema = json.loads(
        (ROOT / "generated/jsonschema/error.schema.json").read_text(encoding="utf-8")
    )
    validator = jsonschema.Draft202012Validator(schema)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.ndjson"
        path.write_text(
            "".join(json.dumps(each) + "\n" for each in records(by, count)), encoding="utf-8"
        )
        lines = path.read_text(encoding="utf-8").splitlines()
    exchanges = [exchange(json.loads(line)) for line in lines]
    bodies = [each.response.body for each in exchanges]
    parsed = [json.loads(each) for each in bodies]
    assert len(set(bodies)) == count
    broken = sum(
        # Codes of status 500 are among the records, and each of them is a crash.
        any(finding.clause != "service/no-crash" for finding in judge(by, each).findings)
        for each in exchanges
    )
    assert count * 0.04 <= broken <= count * 0.06, broken
    rounds = []
    for _ in range(ROUNDS):
        rounds.append(
            (
                seconds(lambda: [judge(by, each) for each in exchanges]),
                seconds(lambda: [json.loads(each) for each in bodies]),
                seconds(
                    lambda: [
                        list(validator.iter_errors(each))
                        for each in parsed[:: max(count // 500, 1)]
                    ]
                )
                * count
                / len(parsed[:: max(count // 500, 1)]),
            )
        )
    judged, loads, theirs = (statistics.median(each) for each in zip(*rounds, strict=True))
    print(
        f"{count} distinct errors, {sum(map(len, bodies)) / count:.0f} bytes each, {broken} broken, medians of {ROUNDS} rounds"
    )
    print("| | records a second | judge / this |\n|---|---|---|")
    print(f"| judge, all clauses | {count / judged:,.0f} | 1 |")
    print(
        f"| json.loads | {count / loads:,.0f} | {statistics.median(b / a for a, b, _ in rounds):.3f} |"
    )
    print(
        f"| jsonschema | {count / theirs:,.0f} | {statistics.median(c / a for a, _, c in rounds):.1f} |"
    )
    if count < 5000:
        return
    whole, own, times = share_of_a_run()
    print(
        f"a run over the orders service: {whole:.1f} s, of which {own:.2f} s ({own / whole:.1%}) judge {times} exchanges"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
