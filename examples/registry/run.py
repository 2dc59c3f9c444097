"""Judge a real container registry: unpack it from Debian, start it on a free loopback port, run the
suite against it, stop it.

    python examples/registry/run.py [ARGUMENTS OF `faultspec conform`]

The exit code is that of `examples/kinto/run.py`. Nothing is left running, and nothing is written
outside ``.cache/registry``.
"""

import base64
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import cache, free_port, judged_while_running, script, unpacked

HERE = Path(__file__).resolve().parent
PACKAGES = ("docker-registry",)
ALICE = "alice:alices-password"  # `htpasswd` has its hash


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    root = unpacked("registry", PACKAGES)
    url, data = f"http://127.0.0.1:{free_port()}", cache("registry") / "data"
    shutil.rmtree(data, ignore_errors=True)
    environment = {
        "REGISTRY_HTTP_ADDR": url.removeprefix("http://"),
        "REGISTRY_STORAGE_FILESYSTEM_ROOTDIRECTORY": str(data),
        "REGISTRY_AUTH_HTPASSWD_PATH": str(HERE / "htpasswd"),
    }
    credentials = f"Basic {base64.b64encode(ALICE.encode()).decode()}"
    return judged_while_running(
        "registry",
        [str(root / "usr/bin/docker-registry"), "serve", str(HERE / "registry.yml")],
        ready=url,
        configuration=HERE / "conformance.yaml",
        variables={"REGISTRY_URL": url, "ALICE_AUTH": credentials},
        arguments=arguments,
        environment=environment,
    )


if __name__ == "__main__":
    sys.exit(script("registry", lambda: main(sys.argv[1:])))
