"""Judge a real Kinto: install it apart, start it on a free loopback port, run the suite against
it, stop it.

    python examples/kinto/run.py [ARGUMENTS OF `faultspec conform`]

Exit code: the suite's own (0 clean, 1 findings, 2 could not run), 2 where Kinto could not be
installed or started, 130 after Ctrl-C, 143 after SIGTERM. Nothing is left running. Nothing is
written outside ``.cache/kinto`` but what the arguments ask for.
"""

import base64
import contextlib
import json
import os
import secrets
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import LOOPBACK, Failure, cache, free_port, installed, judged, running, script, wait_for

HERE = Path(__file__).resolve().parent

USERS = ("alice", "bob")


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    kinto = installed("kinto", HERE / "requirements.txt") / "kinto"
    with started(kinto, HERE / "kinto.ini", cache("kinto") / "kinto.log") as url:
        environment = {f"{name.upper()}_AUTH": account(url, name) for name in USERS}
        environment["KINTO_URL"] = url
        return judged(
            HERE / "conformance.yaml", environment, ["--require-coverage", "all", *arguments]
        )


@contextlib.contextmanager
def started(kinto: Path, settings: Path, log: Path) -> Iterator[str]:
    """A running Kinto; gives its URL, and stops it by process on every way out."""
    port = free_port()
    # Kinto reads KINTO_* of the environment before its file: a developer's own settings must not
    # leak into the run.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KINTO_")}
    command = [str(kinto), "start", "--ini", str(settings), "--port", str(port)]
    with (
        log.open("wb") as output,
        running(command, cwd=log.parent, env=environment, stdout=output) as server,
    ):
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/v1/__lbheartbeat__", server, log)
        yield url


def account(url: str, name: str) -> str:
    """Create an account with a password of this run; the value of its ``Authorization`` header."""
    password = secrets.token_urlsafe(16)
    body = json.dumps({"data": {"id": name, "password": password}}).encode()
    request = urllib.request.Request(
        f"{url}/v1/accounts", body, {"Content-Type": "application/json"}, method="POST"
    )
    try:
        with LOOPBACK.open(request, timeout=30):
            pass
    except urllib.error.URLError as error:
        raise Failure(f"the account {name} could not be created: {error}") from error
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


if __name__ == "__main__":
    sys.exit(script("kinto", lambda: main(sys.argv[1:])))
