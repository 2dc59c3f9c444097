"""Judge a real Kinto: install it apart, start it on a free loopback port, run the suite against it, stop it.

    python examples/kinto/run.py [ARGUMENTS OF `faultspec conform`]

Exit code: the suite's own (0 clean, 1 findings, 2 could not run), 2 where Kinto could not be installed or started,
130 after Ctrl-C, 143 after SIGTERM. Nothing is left running. Nothing is written outside ``.cache/kinto`` but what the arguments ask for.
"""

import base64
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "kinto"
BIN = "Scripts" if os.name == "nt" else "bin"

USERS = ("alice", "bob")
START_SECONDS = 60  # a cold import of Pyramid on a busy two-core machine takes about ten
STOP_SECONDS = 10

LOOPBACK = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy the environment names


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    try:
        kinto = installed(HERE / "requirements.txt", CACHE / "venv") / "kinto"
        with started(kinto, HERE / "kinto.ini", CACHE / "kinto.log") as url:
            return judged(url, {name: account(url, name) for name in USERS}, arguments)
    except Failure as failure:
        print(f"kinto: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


class Failure(Exception):
    """Kinto could not be installed, started or set up; the text says what to look at."""


def installed(requirements: Path, home: Path) -> Path:
    """The directory of commands of a virtual environment that holds ``requirements``; made only when they changed."""
    wanted = requirements.read_text(encoding="utf-8")
    done = home / "installed.txt"
    commands = home / BIN
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return commands
    print(f"kinto: installing into {home.relative_to(ROOT)}", file=sys.stderr)
    shutil.rmtree(home, ignore_errors=True)
    venv.create(home, with_pip=True)
    pip = [str(commands / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if subprocess.run([*pip, "--requirement", str(requirements)], check=False).returncode:
        raise Failure("pip could not install what examples/kinto/requirements.txt asks for (see above)")
    done.write_text(wanted, encoding="utf-8")
    return commands


@contextlib.contextmanager
def started(kinto: Path, settings: Path, log: Path) -> Iterator[str]:
    """A running Kinto; gives its URL, and stops it by process on every way out."""
    port = free_port()
    # Kinto reads KINTO_* of the environment before its file: a developer's own settings must not leak into the run.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KINTO_")}
    command = [str(kinto), "start", "--ini", str(settings), "--port", str(port)]
    with log.open("wb") as output, running(command, cwd=log.parent, env=environment, stdout=output) as server:
        url = f"http://127.0.0.1:{port}"
        wait_for(url, server, log)
        yield url


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    """Return once ``url`` answers. Raises ``Failure`` where the server ends or stays silent."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), LOOPBACK.open(f"{url}/v1/__lbheartbeat__", timeout=5):
            return
        time.sleep(0.1)
    state = "is silent" if server.poll() is None else f"ended with {server.returncode}"
    last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
    raise Failure(f"the server {state}; the end of {log.relative_to(ROOT)}:\n{last}")


@contextlib.contextmanager
def running(
    command: list[str], *, env: dict[str, str], cwd: Path | None = None, stdout: IO[bytes] | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that ends when the block does, with all that it started, first politely. What it says goes to ``stdout``."""
    stderr = subprocess.STDOUT if stdout else None
    # In a session of its own the signals of a terminal reach this script alone, and one signal reaches the whole session.
    process = subprocess.Popen(command, cwd=cwd, env=env, stdout=stdout, stderr=stderr, start_new_session=True)
    try:
        yield process
    finally:
        if os.name == "nt":
            process.kill()
        else:
            end(process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            end(process.pid, signal.SIGKILL)
        process.wait()


def end(session: int, number: int) -> None:
    """Send a signal to every process of a session that there still is."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, number)


def account(url: str, name: str) -> str:
    """Create an account with a password of this run; the value of its ``Authorization`` header."""
    password = secrets.token_urlsafe(16)
    body = json.dumps({"data": {"id": name, "password": password}}).encode()
    request = urllib.request.Request(f"{url}/v1/accounts", body, {"Content-Type": "application/json"}, method="POST")
    try:
        with LOOPBACK.open(request, timeout=30):
            pass
    except urllib.error.URLError as error:
        raise Failure(f"the account {name} could not be created: {error}") from error
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def judged(url: str, identities: dict[str, str], arguments: list[str]) -> int:
    """Run ``faultspec conform`` and hand its exit code on."""
    credentials = {f"{name.upper()}_AUTH": value for name, value in identities.items()}
    environment = {**os.environ, **credentials, "KINTO_URL": url}
    faultspec = Path(sys.executable).with_name("faultspec")
    if not faultspec.exists():
        raise Failure(f"faultspec is not installed beside {sys.executable}; run this by `make real`")
    command = [str(faultspec), "conform", str(HERE / "conformance.yaml"), "--require-coverage", "all", *arguments]
    with running(command, env=environment) as suite:
        return suite.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
