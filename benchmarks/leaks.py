"""Measure the leak detectors on a corpus: `python benchmarks/leaks.py FILE.jsonl [--show]`.

A line of the file is `{"kind": ..., "leak": true or false, "body": ...}`: the body of an answer of
status 500, which the judge reads with every detector that a taxonomy can switch on. A message
counts as reported if one of the clauses `leaks/*` fails. Printed are the share of the leaking
messages that are reported, the share of the harmless ones, and both by kind. `--show` prints the
messages that are judged wrongly.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from faultspec import language
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.leaks.detectors import DETECTORS
from faultspec.leaks.personal import missing_libraries

TAXONOMY = Path(__file__).resolve().parents[1] / "taxonomy.yaml"


def contract_with_all_detectors() -> Contract:
    """The contract of this repository's taxonomy with every detector switched on."""
    taxonomy = language.load(str(TAXONOMY)).taxonomy
    assert taxonomy is not None
    assert taxonomy.privacy is not None
    privacy = taxonomy.privacy._replace(detectors=(*DETECTORS,))
    return build_contract(taxonomy._replace(privacy=privacy))


def detectors_that_fire(contract: Contract, body: str) -> frozenset[str]:
    """The names of the detectors that report the body of an answer."""
    response = Response(500, (("content-type", "application/json"),), body.encode())
    exchange = Exchange(Request("GET", "/"), response)
    clauses = (finding.clause for finding in judge(contract, exchange).findings)
    return frozenset(
        clause.removeprefix("leaks/") for clause in clauses if clause.startswith("leaks/")
    )


def main() -> None:
    """Judge every line of the file and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what is judged wrongly")
    options = parser.parse_args()
    if missing_libraries():
        print(f"without {', '.join(missing_libraries())}: `personal-data` reports nothing")
    contract = contract_with_all_detectors()
    lines, reported = Counter[tuple[bool, str]](), Counter[tuple[bool, str]]()
    fired = Counter[str]()
    for line in options.file.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        leaks, body = bool(entry["leak"]), entry["body"]
        detectors = detectors_that_fire(
            contract, body if isinstance(body, str) else json.dumps(body)
        )
        lines[leaks, entry["kind"]] += 1
        if detectors:
            reported[leaks, entry["kind"]] += 1
        if leaks:
            fired.update(detectors)
        if options.show and leaks != bool(detectors):
            print("missed" if leaks else "false alarm", entry["kind"], *sorted(detectors), body)
    for leaks, title in ((True, "leaking"), (False, "harmless")):
        total = sum(count for (kind, _), count in lines.items() if kind is leaks)
        found = sum(count for (kind, _), count in reported.items() if kind is leaks)
        print(f"{title}: {found} of {total} reported ({found / max(total, 1):.2%})")
        for key, count in sorted(lines.items()):
            wrong = count - reported[key] if leaks else reported[key]
            if key[0] is leaks and wrong:
                print(f"    {key[1]:28} {wrong} of {count} {'missed' if leaks else 'reported'}")
    print("detectors that fired:", ", ".join(f"{name} {n}" for name, n in fired.most_common()))


if __name__ == "__main__":
    main()
