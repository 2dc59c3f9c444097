"""Judge a real etcd over its JSON gateway: unpack it from Debian, start it on free loopback ports,
run the suite against it, stop it.

    python examples/etcd/run.py [ARGUMENTS OF `faultspec conform`]

The exit code is that of `examples/kinto/run.py`. Nothing is left running, and nothing is written
outside ``.cache/etcd``.
"""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import cache, free_port, judged_while_running, script, unpacked

HERE = Path(__file__).resolve().parent
PACKAGES = ("etcd-server",)


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    root = unpacked("etcd", PACKAGES)
    data = cache("etcd") / "data"
    shutil.rmtree(data, ignore_errors=True)
    url = f"http://127.0.0.1:{free_port()}"
    command = [
        str(root / "usr/bin/etcd"),
        f"--data-dir={data}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls=http://127.0.0.1:{free_port()}",
    ]
    return judged_while_running(
        "etcd",
        command,
        ready=f"{url}/health",
        configuration=HERE / "conformance.yaml",
        variables={"ETCD_URL": url},
        arguments=arguments,
    )


if __name__ == "__main__":
    sys.exit(script("etcd", lambda: main(sys.argv[1:])))
