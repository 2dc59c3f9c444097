"""Judge a real Theodosia over MCP: install it apart, serve `app.py` on a free loopback port, run
the suite against it, stop it.

    python examples/theodosia/real/run.py [ARGUMENTS OF `faultspec conform`]

Exit code as that of `examples/kinto/run.py`. Nothing is left running, and nothing is written
outside ``.cache/theodosia``.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from peer import cache, free_port, installed, judged, running, script, wait_for

HERE = Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    python = installed("theodosia", HERE / "requirements.txt") / "python"
    port, log = free_port(), cache("theodosia") / "theodosia.log"
    # Settings of a developer's own must not leak into the run, and what it records belongs into the
    # cache.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("THEODOSIA_")
    }
    environment["THEODOSIA_HOME"] = str(cache("theodosia") / "home")
    with log.open("wb") as output:
        command = [str(python), str(HERE / "app.py"), str(port)]
        with running(command, env=environment, cwd=log.parent, stdout=output) as server:
            url = f"http://127.0.0.1:{port}/mcp"
            wait_for(url, server, log)
            return judged(
                HERE / "conformance.yaml",
                {"MCP_URL": url},
                ["--require-coverage", "all", *arguments],
            )


if __name__ == "__main__":
    sys.exit(script("theodosia", lambda: main(sys.argv[1:])))
