"""Audits on Apache Spark: its workers on this machine give the report of this program alone."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

from cli.test_conform_command import faultspec
from faultspec.language.model import Taxonomy
from faultspec_conformance.observed import audit as observed_audit
from faultspec_conformance.observed import jobs, spark
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.observed.jobs import Judge, Piece
from faultspec_conformance.observed.spark import SparkTrouble
from observed.test_audit import KINDS, log, platform
from observed.test_engines import CONTRACTS, ODD, WAIVERS, mixed, report
from results.test_recorded_parts import record

Workers = Callable[[str | None], Any]


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """A function that opens the one session of this module: a machine of Java starts slowly."""
    tests = Path(__file__).parents[1]
    path = os.pathsep.join(map(str, (tests, tests / "observed")))  # of `create_mortal`
    with mock.patch.dict(os.environ, PYTHONPATH=path), spark.open_spark("local[2]") as session:

        @contextmanager
        def opened(_: str | None) -> Iterator[Any]:
            yield session

        yield opened


@pytest.fixture
def corpus(tmp_path: Path) -> list[str]:
    """Recordings of several formats: with ids that come again in other ranges, lines that cannot be
    read, equal rows, and no lines at all; one is missing.
    """
    lines = [record(number % 7, 404 + number % 2 * 96, "not_found", 0, 0) for number in range(60)]
    log(tmp_path / "ids.ndjson", *lines)
    (tmp_path / "odd.log").write_bytes("\r\n".join(mixed(ODD, 2)).encode("utf-8", "surrogatepass"))
    (tmp_path / "packed.log.gz").write_bytes(gzip.compress((tmp_path / "ids.ndjson").read_bytes()))
    (tmp_path / "empty.log").touch()
    name = tmp_path / "rows.parquet"
    duckdb.execute(
        "COPY (SELECT 'slots' AS kind, '/orders/' || i AS url, 500 - 300 * (i % 3) AS status, "
        f"CASE WHEN i % 3 = 0 THEN 'not_found' END AS code FROM range(99) t(i)) TO '{name}'"
    )
    return [str(tmp_path), str(tmp_path / "missing.log")]


@pytest.mark.full
@pytest.mark.parametrize("contract", ["platform", "quiet"])
def test_workers_give_the_same_report(
    workers: Workers, corpus: list[str], contract: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings, counts, places, first and last ones, notes, and what could not run."""
    monkeypatch.setattr(jobs, "RANGE", 4_000)
    monkeypatch.setattr(observed_audit, "open_spark", workers)
    options = AuditOptions(waivers=WAIVERS, engine="plain")
    alone = report(corpus, CONTRACTS[contract], options)
    assert report(corpus, CONTRACTS[contract], replace(options, engine="spark")) == alone
    sampled = replace(options, sample=0.5)
    assert report(corpus, CONTRACTS[contract], replace(sampled, engine="spark")) == report(
        corpus, CONTRACTS[contract], sampled
    )


def create_mortal(options: AuditOptions, taxonomy: Taxonomy) -> Judge:
    """A judge whose process ends at one file."""
    judge = observed_audit._PieceJudge(platform(KINDS), options)

    def judge_or_end(piece: Piece) -> Any:
        if piece.paths[-1].endswith("deadly.log"):
            os._exit(9)
        return judge(piece)

    return judge_or_end


@pytest.mark.full
def test_a_piece_that_ends_its_worker_could_not_run(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are judged all the same, by workers that are started anew."""
    monkeypatch.setattr(jobs, "_FILES", 1)
    monkeypatch.setattr(observed_audit, "open_spark", workers)
    names = [str(tmp_path / name) for name in ("a.log", "deadly.log", "z.log")]
    for name in names:
        log(Path(name), record(1, 500, "not_found", 0, 0))
    monkeypatch.setattr(observed_audit, "_create_judge", create_mortal)
    result = audit(names, platform(KINDS), AuditOptions(engine="spark")).result
    assert result.not_run == (f"{names[1]}: the process that judged it ended",)
    assert result.requests == 2


@pytest.mark.full
def test_workers_of_another_version_are_refused(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their verdicts could differ. The trouble names both versions and what to do."""
    path = log(tmp_path / "a.log", record(1, 500, "not_found", 0, 0))
    monkeypatch.setattr(observed_audit, "open_spark", workers)
    monkeypatch.setattr(spark, "version", lambda _: "0.0.1")
    with pytest.raises(SparkTrouble, match=r"this program is 0\.0\.1.*PYSPARK_PYTHON"):
        audit([str(path)], platform(KINDS), AuditOptions(engine="spark"))


def wait_for_workers(group: int) -> list[str]:
    """The addresses on which processes of a group listen, as soon as there are workers."""
    for _ in range(600):
        found = subprocess.run(
            ("ps", "-eo", "pid=,pgid=,args="), capture_output=True, text=True, check=True
        ).stdout
        own = [line for line in found.splitlines() if line.split()[1] == str(group)]
        if any("pyspark.daemon" in line for line in own):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("no worker began")
    sockets = subprocess.run(("ss", "-ltnpH"), capture_output=True, text=True, check=True).stdout
    ids = [f"pid={line.split()[0]}," for line in own]
    return [line.split()[3] for line in sockets.splitlines() if any(each in line for each in ids)]


def has_ended(group: int) -> bool:
    """Whether a group of processes ends: Java does when it reads the end of its input."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.full
def test_the_command_is_quiet_and_ends_with_its_report(tmp_path: Path) -> None:
    """`--engine spark` says nothing but its report, listens on this machine only, and leaves no
    process. Ctrl-C ends it with the report of what was done.
    """
    for number in range(400):
        log(tmp_path / f"{number:03}.ndjson", *[record(1, 500, "not_found", 0, 0)] * 400)
    command = [
        *(sys.executable, "-m", "faultspec", "audit", str(tmp_path), "--engine", "spark"),
        *("--master", "local[2]", "--format", "json"),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        listeners = wait_for_workers(process.pid)
        assert all(
            address.startswith(("127.0.0.1:", "[::ffff:127.0.0.1]:")) for address in listeners
        )
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert "the audit was interrupted in" in out, err
    assert err == ""
    assert has_ended(process.pid)


def test_without_java_or_spark_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that names what is missing, exit code 2; options that contradict it are refused."""
    path = str(log(tmp_path / "a.log", {"endpoint": "GET /orders", "http_status": 200}))
    done = faultspec("audit", path, "--engine", "spark", JAVA_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Spark needs Java, which was not found" in done.stderr
    for options, message in (
        (("--engine", "spark", "--jobs", "2"), "--jobs"),
        (("--master", "local"), "--engine spark"),
        (("--engine", "spark", "-"), "standard input"),
    ):
        done = faultspec("audit", path, *options)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    missing = mock.Mock(side_effect=ModuleNotFoundError("no", name="pyspark"))
    monkeypatch.setattr(spark, "import_module", missing)
    with pytest.raises(SparkTrouble, match=r"pyspark is not installed: pip install"):
        audit([path], platform(), AuditOptions(engine="spark"))
