"""Judge moto, which imitates services of AWS: install it, import the taxonomy of DynamoDB from the
model of botocore, start moto on a free loopback port, run the suite against it, stop it.

    python examples/moto/run.py [ARGUMENTS OF `faultspec conform`]

The exit code is that of `examples/kinto/run.py`. Nothing is left running, and nothing is written
outside ``.cache/moto``.
"""

import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import Failure, cache, free_port, installed, judged_while_running, script

HERE = Path(__file__).resolve().parent
MODEL = "lib/python*/site-packages/botocore/data/dynamodb/2012-08-10/service-2.json.gz"


def main(arguments: list[str]) -> int:
    """Run the whole of it; the result is the exit code."""
    commands = installed("moto", HERE / "requirements.txt")
    work = cache("moto") / "run"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for name in ("conformance.yaml", "waivers.yaml"):
        shutil.copy(HERE / name, work)
    write_taxonomy(next(commands.parent.glob(MODEL)), work / "taxonomy.yaml")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    return judged_while_running(
        "moto",
        [str(commands / "moto_server"), "-H", "127.0.0.1", "-p", str(port)],
        ready=f"{url}/moto-api/",
        configuration=work / "conformance.yaml",
        variables={"MOTO_URL": url},
        arguments=arguments,
    )


def write_taxonomy(model: Path, taxonomy: Path) -> None:
    """Import the errors of a model of botocore."""
    faultspec = Path(sys.executable).with_name("faultspec")
    command = [str(faultspec), "import", "botocore", str(model), "--out", str(taxonomy)]
    if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
        raise Failure(f"{model} could not be imported")


if __name__ == "__main__":
    sys.exit(script("moto", lambda: main(sys.argv[1:])))
