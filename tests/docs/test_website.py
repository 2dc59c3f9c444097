"""The website is built from the pages of the repository, and every page that shows a run is run."""

import importlib.util
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.test_readme import desk_environment, run, shows
from paths import ROOT
from reports.test_report_page import CHROMIUM, TOOLS
from support.npm import installed

HARNESS = Path(__file__).parent / "website_harness.mjs"

#: Pages whose blocks are written to files, if their first line names one, and run from top to
#: bottom.
PAGES = ("docs/start.md", "docs/how-to/rfc9457.md", "docs/generated/python.md")

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# (\S+\.\w+)\n")


def load_builder() -> Any:
    """The program that builds the website, which is not in a package."""
    spec = importlib.util.spec_from_file_location("website_build", ROOT / "website" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site() -> Path:
    """The built website. A link or an anchor that leads nowhere fails."""
    done = subprocess.run(
        [sys.executable, "website/build.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return ROOT / ".cache" / "website" / "site"


@pytest.mark.full
def test_every_page_of_the_repository_is_on_the_website(site: Path) -> None:
    """No page of `docs` is left out, and the list for programs names every page of the
    navigation, whose text is there.
    """
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT)).is_file(), page
    listed = re.findall(r"^- \[.+?\]\((.+?)\): .", (site / "llms.txt").read_text(), re.MULTILINE)
    settings = yaml.safe_load((ROOT / "website" / "mkdocs.yml").read_text())
    assert listed == [page for _, page in load_builder().listed_pages(settings["nav"])]
    assert all((site / page).is_file() for page in listed)


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_pages_are_readable_on_a_telephone_and_on_a_desk(site: Path) -> None:
    """At 360 and 1440 pixels no page scrolls sideways, none asks another host, and none logs an
    error.
    """
    modules = installed(TOOLS, "puppeteer-core")
    pages = sorted(path.as_posix() for path in site.rglob("*.html") if path.name != "404.html")
    with tempfile.TemporaryDirectory(prefix="faultspec-site-") as folder:
        (Path(folder) / "pages.json").write_text(json.dumps(pages))
        done = subprocess.run(
            [
                "node",
                str(HARNESS),
                str(modules),
                CHROMIUM or "",
                f"{folder}/pages.json",
                f"{folder}/profile",
            ],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    assert len(seen) == 2 * len(pages)
    for view in seen:
        assert not view["scrolls"], view
        assert view["foreign"] == [], view
        assert view["complaints"] == [], view


def test_a_link_that_leads_nowhere_is_copied_nowhere() -> None:
    """The builder copies what pages link to, and leaves what is missing to mkdocs, which fails."""
    files = load_builder().linked_files(["README.md", "no/such.md"])
    assert {"README.md", "docs/language.md", "taxonomy.yaml"} <= {*files}
    assert "no/such.md" not in files
    assert all((ROOT / name).is_file() for name in files)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_does_what_it_shows(name: str, tmp_path: Path) -> None:
    """Every named file of the page, and every command in its order, with the output below it.

    The server of a page is started anew after each file, in place of ``--reload``: uvicorn's own
    reloader ends in silence if a folder vanishes while it looks.
    """
    page = (ROOT / name).read_text(encoding="utf-8")
    port = str(free_port())
    program = ""
    started: dict[str, subprocess.Popen[bytes]] = {}
    (tmp_path / "generated").mkdir()
    shutil.copytree(ROOT / "generated" / "python", tmp_path / "generated" / "python")
    try:
        for language, block in BLOCK.findall(page):
            named = NAMED.match(block)
            if language == "console":
                for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                    command, _, expected = part.partition("\n")
                    command = command.replace("8000", port)
                    if command.endswith("&"):
                        command = command[:-1].replace("--reload", f"--port {port}")
                        started[command] = start(command, tmp_path)
                        await_port(int(port))
                    else:
                        shown = run(command, tmp_path)
                        assert shows(expected, shown), f"$ {command}\n{shown}"
            elif named is not None:
                (tmp_path / named[1]).write_text(block[named.end() :], encoding="utf-8")
                for command, process in started.items():
                    end(process)
                    started[command] = start(command, tmp_path)
                    await_port(int(port))
            if language == "python":
                program += block
        if name.startswith("docs/generated/"):
            (tmp_path / "page.py").write_text(program, encoding="utf-8")
            shown = run("python page.py", tmp_path)
            assert "Traceback" not in shown, shown
    finally:
        for process in started.values():
            end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a server of a page, and wait until its port is free."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start(command: str, cwd: Path) -> "subprocess.Popen[bytes]":
    """Start a server of a page."""
    return subprocess.Popen(
        command.split(),
        cwd=cwd,
        env=desk_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def await_port(port: int) -> None:
    """Return when somebody listens on a port of this machine."""
    for _ in range(200):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"nobody listens on {port}")
