"""Judge a real aria2 over JSON-RPC: unpack it from Debian, start it on a free loopback port, run
the suite against it, stop it.

    python examples/aria2/run.py [ARGUMENTS OF `faultspec conform`]

Exit code as that of `examples/kinto/run.py`. Nothing is left running, nothing is downloaded by it,
and nothing is written
outside ``.cache/aria2``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import cache, free_port, judged_while_running, script, unpacked

HERE = Path(__file__).resolve().parent

#: The program and those of its libraries that a machine is often without.
PACKAGES = ("aria2", "libaria2-0", "libc-ares2")


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    root = unpacked("aria2", PACKAGES)
    libraries = ":".join(sorted({str(each.parent) for each in root.rglob("*.so.*")}))
    port = free_port()
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
    url = f"http://127.0.0.1:{port}/jsonrpc"
    return judged_while_running(
        "aria2",
        command,
        ready=url,
        configuration=HERE / "conformance.yaml",
        variables={"ARIA2_URL": url},
        arguments=arguments,
        environment={"LD_LIBRARY_PATH": libraries},
    )


if __name__ == "__main__":
    sys.exit(script("aria2", lambda: main(sys.argv[1:])))
