"""Fuzzes one target with coverage, by atheris (libFuzzer).

    python -m fuzz TARGET CORPUS SECONDS

It begins with the inputs of `fuzz/corpus/TARGET.tar.xz`, which reach all code that earlier hours
of fuzzing reached (`tar -cJf fuzz/corpus/TARGET.tar.xz -C CORPUS .` keeps those of a new one). New
inputs that reach new code go to CORPUS. A failing input is written beside it, and the exit code
is not 0. Copy it, made small, to `fuzz/corpus/TARGET`, where `make test` runs it from then on.
"""

import hashlib
import os
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["faultspec", "faultspec_conformance"]):
    from fuzz.targets import TARGETS, kept_inputs


def main() -> None:
    """Fuzz until the time is over, or until an input fails."""
    name, folder, seconds = sys.argv[1:]
    target = TARGETS[name]
    corpus = Path(folder)
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds():
        (corpus / hashlib.sha1(seed, usedforsecurity=False).hexdigest()).write_bytes(seed)
    for kept in kept_inputs(name):
        (corpus / hashlib.sha1(kept, usedforsecurity=False).hexdigest()).write_bytes(kept)
    known = Path(__file__).parent / "corpus" / name
    arguments = [
        sys.argv[0],
        f"-max_total_time={seconds}",
        "-max_len=65536",
        "-timeout=20",  # seconds for one input
        "-rss_limit_mb=2048",
        f"-artifact_prefix={corpus.parent}{os.sep}",
        "-print_final_stats=1",
        str(corpus),
        *([str(known)] if known.is_dir() else []),
    ]
    atheris.Setup(arguments, target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
