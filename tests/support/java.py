"""The Java of this machine, and jars of Maven Central, installed once for every test."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from paths import ROOT
from support.once import locked

#: Most classes run once: the second compiler of the machine would cost more than it saves.
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")


def compile_java(folder: Path, sources: Iterable[Path], *, jars: str = "") -> None:
    """Compile sources into ``classes`` of the folder, which is on their path.

    ``jars``: more of the path. Their own warnings are not ours.
    """
    classes = folder / "classes"
    classes.mkdir(exist_ok=True)
    options = ("-J-XX:TieredStopAtLevel=1", "-Xlint:all,-classfile,-processing", "-Werror")
    path = f"{classes}:{jars}" if jars else str(classes)
    done = subprocess.run(
        ["javac", *options, "-cp", path, "-d", str(classes), *map(str, sources)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def compile_package(folder: Path, package: str) -> None:
    """Compile a generated package below ``java/src`` of the folder, with its resource."""
    place = folder / "java" / "src" / package
    compile_java(folder, sorted(place.glob("*.java")))
    shutil.copy(place / "catalog.json", folder / "classes" / package)


_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>tests</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
  </dependency></dependencies>
</project>
"""


def maven_jars(group: str, artifact: str, version: str) -> str:
    """The path of a jar and what it depends on, ``…/jars/*``; skips if Maven cannot get them."""
    folder = ROOT / ".cache" / "java" / f"{artifact}-{version}"
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            maven = shutil.which("mvn")
            if maven is None:
                pytest.skip(f"mvn is not installed, and {artifact} is not in .cache")
            # beside its place, so that an interrupted download is not taken for a whole one
            with tempfile.TemporaryDirectory(dir=folder.parent) as staging:
                pom = _POM.format(group=group, artifact=artifact, version=version)
                (Path(staging) / "pom.xml").write_text(pom, encoding="utf-8")
                done = subprocess.run(
                    [
                        *(maven, "-q", "-B", f"-Dmaven.repo.local={ROOT}/.cache/java/repository"),
                        *("dependency:copy-dependencies", "-DoutputDirectory=jars"),
                    ],
                    cwd=staging,
                    capture_output=True,
                    check=False,
                )
                if done.returncode:
                    pytest.skip(f"{artifact} is not in .cache, and Maven cannot get it")
                (Path(staging) / "jars").rename(folder)
    return f"{folder}/*"
