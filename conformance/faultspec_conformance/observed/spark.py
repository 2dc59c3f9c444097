"""Sharing an audit among the workers of Apache Spark: a cluster's, or processes on this machine.

Spark runs our judge over pieces of work (`mapInArrow`), one a task, and starts lost tasks again.
Workers read the files themselves, by the same paths. Only the parts come back, which are added up
in order. So the report is that of one process.
"""

import os
import pickle
import re
import shutil
import signal
import sys
import tempfile
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from typing import IO, Any

from faultspec.language.model import Taxonomy
from faultspec_conformance.observed.jobs import Judge, Lost, Piece, register_key_pickling

LOCAL = "local[*]"
"""The master that is this machine, with a worker for each core."""

#: What binds Spark to this machine alone.
_LOOPBACK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}

#: Jobs that run at the same time: while the last tasks of one run, those of the next begin.
_JOBS = 2

#: Characters of a reason that are shown.
_REASON = 200

#: A line of a traceback that names an exception.
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?::|\Z)")

#: Errors of workers whose texts are about their programs, and not about records.
_ABOUT_PROGRAMS = ("ModuleNotFoundError", "ImportError", "PySparkImportError", "OtherVersion")


class SparkTrouble(Exception):
    """Spark cannot judge. The text is a sentence about it."""


class OtherVersion(Exception):
    """A worker has another version of this program."""


@contextmanager
def open_spark(master: str | None) -> Iterator[Any]:
    """A session of Spark, which ends with the context. ``master``: None is this machine.

    Raises SparkTrouble if Spark or Java is missing or does not start.
    """
    with warnings.catch_warnings(), tempfile.TemporaryFile() as log:
        warnings.simplefilter("ignore", FutureWarning)  # of pandas, which Spark imports
        try:
            sql, gateways = import_module("pyspark.sql"), import_module("pyspark.java_gateway")
            for needed in ("pandas", "pyarrow"):  # `mapInArrow` looks for both
                import_module(needed)
        except ImportError as error:
            missing = f"{error.name} is not installed: pip install 'faultspec[spark]'"
            raise SparkTrouble(missing) from error
        _check_java()
        master = master or LOCAL
        is_local = master == "local" or master.startswith("local[")
        before = signal.getsignal(signal.SIGINT)
        session = _start(sql, gateways, master, log if is_local else None)
        try:
            yield session
        finally:
            session.stop()
            with suppress(ValueError):  # another thread than the first, which Spark left alone
                signal.signal(signal.SIGINT, before)


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java" if home is None else os.path.join(home, "bin", "java")) is None:
        raise SparkTrouble("Spark needs Java, which was not found (JAVA_HOME, PATH)")


def _start(sql: Any, gateways: Any, master: str, log: IO[bytes] | None) -> Any:
    """A new session. ``log``: where Spark of this machine writes what it has to say."""
    conf = import_module("pyspark").SparkConf()
    conf.setMaster(master).setAppName("faultspec audit")
    for name, value in _QUIET.items():
        conf.set(name, value)
    added = {}
    if log is not None:
        for name, value in _LOOPBACK.items():
            conf.set(name, value)
        added = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    kept = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        gateway = gateways.launch_gateway(
            conf, {} if log is None else {"stderr": log, "stdout": log}
        )
        context = import_module("pyspark").SparkContext(gateway=gateway, conf=conf)
        return sql.SparkSession(context)
    except Exception as error:
        raise SparkTrouble(f"Spark did not start at {master}: {_last_line(log, error)}") from error
    finally:
        for name, text in kept.items():
            if text is None:
                del os.environ[name]
            else:
                os.environ[name] = text


def _last_line(log: IO[bytes] | None, error: Exception) -> str:
    text = ""
    if log is not None:
        log.seek(0)
        text = log.read().decode("utf-8", "replace")
    lines = [line.strip() for line in (str(error) + "\n" + text).splitlines() if line.strip()]
    found = [line for line in lines if "Exception" in line or "Error" in line]
    return (found or lines or [type(error).__name__])[0][:_REASON]


def share_by_spark(
    session: Any, pieces: Iterator[Piece], taxonomy: Taxonomy, create: Callable[[Taxonomy], Judge]
) -> Generator[tuple[Piece, Any], None, None]:
    """The pieces and what the workers make of them, in order. ``create`` is a function of a module,
    or a partial of one.

    Raises SparkTrouble if the workers cannot run it.
    """
    register_key_pickling()
    content = (os.getcwd(), taxonomy, create)
    setup = pickle.dumps((version("faultspec"), zlib.compress(pickle.dumps(content))))
    size = max(session.sparkContext.defaultParallelism, 1)
    running: deque[tuple[list[Piece], Future[list[Any]]]] = deque()
    threads = ThreadPoolExecutor(_JOBS)
    try:
        while True:
            while len(running) < _JOBS and (given := list(islice(pieces, size))):
                running.append((given, threads.submit(_run, session, setup, given)))
            if not running:
                return
            done, future = running.popleft()
            yield from zip(done, future.result(), strict=True)
    finally:
        session.sparkContext.cancelAllJobs()
        threads.shutdown(cancel_futures=True)


def _run(session: Any, setup: bytes, pieces: list[Piece]) -> list[Any]:
    """Run a job. If it fails, each piece has one of its own: it may be one that ends a worker."""
    try:
        frame = session.range(0, len(pieces), 1, len(pieces))
        judged = frame.mapInArrow(
            lambda batches: _judge_batches(setup, pieces, batches), "number BIGINT, judged BINARY"
        )
        found = {row.number: bytes(row.judged) for row in judged.collect()}
    except Exception as error:
        if type(error).__name__ == "PythonException":
            lines = [line for line in str(error).splitlines() if _RAISED.match(line)]
            raise SparkTrouble(_describe_failure(lines)) from error
        if len(pieces) == 1:
            return [Lost(pieces[0])]
        return [judged for piece in pieces for judged in _run(session, setup, [piece])]
    return [pickle.loads(zlib.decompress(found[number])) for number in range(len(pieces))]


def _describe_failure(lines: list[str]) -> str:
    """Why workers fail, by the last lines of their traceback."""
    last = lines[-1].strip() if lines else "an exception"
    name = last.partition(":")[0].rpartition(".")[2]
    # The texts of others may quote records.
    reason = last[:_REASON] if name in _ABOUT_PROGRAMS else name
    return (
        f"the workers of Spark cannot judge: {reason}; "
        "they need the same faultspec[spark], in the Python that PYSPARK_PYTHON names"
    )


def _judge_batches(setup: bytes, pieces: list[Piece], batches: Iterator[Any]) -> Iterator[Any]:
    """Judge the pieces with the numbers in the batches; runs in a worker."""
    with suppress(ValueError):  # another thread than the first
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # left to the first process
    build: Any = import_module("pyarrow").RecordBatch.from_pydict
    judge = _create_judge(setup)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            judged = zlib.compress(pickle.dumps(judge(pieces[number])), 1)
            yield build({"number": [number], "judged": [judged]})


@lru_cache(maxsize=1)  # a worker judges many pieces of one audit
def _create_judge(setup: bytes) -> Judge:
    wanted, packed = pickle.loads(setup)
    if wanted != version("faultspec"):
        own = version("faultspec")
        raise OtherVersion(f"they have faultspec {own}, and this program is {wanted}")
    folder, taxonomy, create = pickle.loads(zlib.decompress(packed))
    with suppress(OSError):  # paths that begin elsewhere are found without it
        os.chdir(folder)
    judge: Judge = create(taxonomy)
    return judge
