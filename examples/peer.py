"""What the scripts that judge services from elsewhere share: to install them apart, to run them,
and to leave nothing behind.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
BIN = "Scripts" if os.name == "nt" else "bin"

START_SECONDS = 60  # a cold import of a large framework on a busy two-core machine takes about ten
STOP_SECONDS = 10

LOOPBACK = urllib.request.build_opener(
    urllib.request.ProxyHandler({})
)  # whatever proxy the environment names


class Failure(Exception):
    """The service could not be installed, started or set up; the text says what to look at."""


def script(name: str, work: Callable[[], int]) -> int:
    """Run a script's work; the exit code: its own, 2 where the service is not to be had, 130 after
    Ctrl-C, 143 after SIGTERM.
    """
    for number in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, number):
            signal.signal(getattr(signal, number), lambda number, _: sys.exit(128 + number))
    try:
        return work()
    except Failure as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def cache(name: str) -> Path:
    """Where everything of a service is kept; below `.cache`, which `make clean` removes."""
    home = ROOT / ".cache" / name
    home.mkdir(parents=True, exist_ok=True)
    return home


def installed(name: str, requirements: Path) -> Path:
    """The directory of commands of a virtual environment that holds ``requirements``; made only
    when they changed.
    """
    wanted = requirements.read_text(encoding="utf-8")
    home = cache(name) / "venv"
    done = home / "installed.txt"
    commands = home / BIN
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return commands
    print(f"{name}: installing into {home.relative_to(ROOT)}", file=sys.stderr)
    shutil.rmtree(home, ignore_errors=True)
    venv.create(home, with_pip=True)
    pip = [
        str(commands / "python"),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
    ]
    if subprocess.run([*pip, "--requirement", str(requirements)], check=False).returncode:
        raise Failure(
            f"pip could not install what {requirements.relative_to(ROOT)} asks for (see above)"
        )
    done.write_text(wanted, encoding="utf-8")
    return commands


def npm_installed(name: str, packages: tuple[str, ...]) -> Path:
    """The directory of commands of packages of npm, such as `bash-language-server@5.4.3`; installed
    only when they changed. No script of a package runs.
    """
    home = cache(name) / "npm"
    done = home / "installed.txt"
    commands = home / "node_modules" / ".bin"
    if done.is_file() and done.read_text(encoding="utf-8") == " ".join(packages):
        return commands
    if shutil.which("npm") is None:
        raise Failure("npm is missing; it comes with Node.js")
    print(
        f"{name}: installing {', '.join(packages)} into {home.relative_to(ROOT)}", file=sys.stderr
    )
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    (home / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run([*command, *packages], cwd=home, check=False).returncode:
        raise Failure(f"npm could not install {' and '.join(packages)}")
    done.write_text(" ".join(packages), encoding="utf-8")
    return commands


def unpacked(name: str, packages: tuple[str, ...]) -> Path:
    """A directory into which packages of Debian are unpacked, not installed: nothing of the machine
    changes.
    """
    home = cache(name) / "root"
    done = home / "unpacked.txt"
    if done.is_file() and done.read_text(encoding="utf-8") == " ".join(packages):
        return home
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            raise Failure(f"{tool} is missing; this needs Debian, or a system made from it")
    print(f"{name}: unpacking {', '.join(packages)} into {home.relative_to(ROOT)}", file=sys.stderr)
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    fetch = ["apt-get", "-qq", "download", *packages]
    if subprocess.run(fetch, cwd=home, check=False, stderr=subprocess.DEVNULL).returncode:
        subprocess.run(
            ["apt-get", "-qq", "update"], check=False
        )  # a fresh machine has no list of packages yet
        if subprocess.run(fetch, cwd=home, check=False).returncode:
            raise Failure(f"apt-get could not download {' and '.join(packages)}")
    for each in sorted(home.glob("*.deb")):
        subprocess.run(["dpkg", "-x", each.name, "."], cwd=home, check=True)
    done.write_text(" ".join(packages), encoding="utf-8")
    return home


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    """Return once ``url`` answers anything. Raises ``Failure`` where the server ends or stays
    silent.
    """
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with LOOPBACK.open(url, timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    state = "is silent" if server.poll() is None else f"ended with {server.returncode}"
    last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
    raise Failure(f"the server {state}; the end of {log.relative_to(ROOT)}:\n{last}")


@contextlib.contextmanager
def running(
    command: list[str],
    *,
    env: dict[str, str],
    cwd: Path | None = None,
    stdout: IO[bytes] | None = None,
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that ends when the block does, with all that it started, first politely. What it
    says goes to ``stdout``.
    """
    stderr = subprocess.STDOUT if stdout else None
    # In a session of its own the signals of a terminal reach this script alone, and one signal
    # reaches the whole session.
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdout=stdout, stderr=stderr, start_new_session=True
    )
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


def judged(configuration: Path, environment: dict[str, str], arguments: list[str]) -> int:
    """Run ``faultspec conform`` and hand its exit code on."""
    faultspec = Path(sys.executable).with_name("faultspec")
    if not faultspec.exists():
        raise Failure(
            f"faultspec is not installed beside {sys.executable}; run this by `make real`"
        )
    command = [str(faultspec), "conform", str(configuration), *arguments]
    with running(command, env={**os.environ, **environment}) as suite:
        return suite.wait()


def judged_while_running(
    name: str,
    command: list[str],
    *,
    ready: str,
    configuration: Path,
    variables: dict[str, str],
    arguments: list[str],
    environment: dict[str, str] | None = None,
) -> int:
    """Start a server, judge it once it answers at ``ready``, and stop it; the suite's exit code.

    ``environment``: variables of the server; ``variables``: those of the configuration.
    """
    log = cache(name) / f"{name}.log"
    server_environment = {**os.environ, **(environment or {})}
    with (
        log.open("wb") as output,
        running(command, env=server_environment, stdout=output) as server,
    ):
        wait_for(ready, server, log)
        return judged(configuration, variables, arguments)
