"""Judge a real aria2 over JSON-RPC: unpack it from Debian, start it on a free loopback port, run
the suite against it, stop it.

    python examples/aria2/run.py [ARGUMENTS OF `faultspec conform`]

Exit code as that of `examples/kinto/run.py`. Nothing is left running, nothing is downloaded by it,
and nothing is written
outside ``.cache/aria2``.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import cache, free_port, judged, running, script, unpacked, wait_for

HERE = Path(__file__).resolve().parent

#: The program and those of its libraries that a machine is often without.
PACKAGES = ("aria2", "libaria2-0", "libc-ares2")


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    root = unpacked("aria2", PACKAGES)
    libraries = ":".join(sorted({str(each.parent) for each in root.rglob("*.so.*")}))
    port, log = free_port(), cache("aria2") / "aria2.log"
    command = [
        str(root / "usr" / "bin" / "aria2c"),
        "--no-conf",
        f"--dir={cache('aria2')}",
        "--enable-rpc",
        "--disable-ipv6",
    ]
    command += [
        f"--rpc-listen-port={port}",
        "--rpc-listen-all=false",
        "--enable-dht=false",
        "--enable-color=false",
    ]
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    with log.open("wb") as output, running(command, env=environment, stdout=output) as server:
        url = f"http://127.0.0.1:{port}/jsonrpc"
        wait_for(url, server, log)
        return judged(HERE / "conformance.yaml", {"ARIA2_URL": url}, arguments)


if __name__ == "__main__":
    sys.exit(script("aria2", lambda: main(sys.argv[1:])))
