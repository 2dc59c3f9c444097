"""Build the website: the repository's own pages, with their links, and a list of them for programs.

    python website/build.py

Pages keep their places, so that links are the same in a checkout and on the website. What they link
to is copied as it is. The result stands in `.cache/website/site`; `mkdocs --strict` fails for a
link or an anchor that leads nowhere.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "website" / "mkdocs.yml"
PAGES = ROOT / ".cache" / "website" / "pages"
SITE = ROOT / ".cache" / "website" / "site"

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")

#: A page of https://llmstxt.org: the sections of the website, and the first sentence of each page.
LIST = "llms.txt"


def linked_files(starts: Iterable[str]) -> list[str]:
    """The pages and all files of the checkout that they link to, directly or not."""
    found: dict[str, None] = {}
    waiting = [*starts]
    while waiting:
        name = waiting.pop()
        path = ROOT / name
        if name in found or not path.is_file():
            continue  # mkdocs names a link that leads nowhere
        found[name] = None
        if path.suffix == ".md":
            for target in LINK.findall(path.read_text(encoding="utf-8")):
                linked = (path.parent / target).resolve()
                if linked.is_relative_to(ROOT):
                    waiting.append(linked.relative_to(ROOT).as_posix())
    return [*found]


def listed_pages(nav: list[Any], section: str = "") -> Iterator[tuple[str, str]]:
    """The pages of a navigation, each with its section."""
    for item in nav:
        if isinstance(item, str):
            yield section, item
        for title, below in item.items() if isinstance(item, dict) else ():
            if isinstance(below, str):
                yield section, below
            else:
                yield from listed_pages(below, section or title)


def first_words(text: str) -> tuple[str, str]:
    """The title of a page, and its first sentence."""
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    plain = [part for part in re.split(r"\n\s*\n", text) if re.match(r"[^\W_]|[`\[*]", part)]
    words = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain[0]).split()) if plain else ""
    return title[1] if title else "", re.split(r"(?<=[.:]) ", words)[0].rstrip(":")


def page_list(settings: dict[str, Any]) -> str:
    """The text of `llms.txt`."""
    lines = [f"# {settings['site_name']}", "", f"> {settings['site_description']}"]
    before = None
    for section, page in listed_pages(settings["nav"]):
        if section != before:
            lines += ["", f"## {section or 'Overview'}", ""]
            before = section
        title, sentence = first_words((ROOT / page).read_text(encoding="utf-8"))
        lines.append(f"- [{title}]({page}): {sentence}")
    return "\n".join([*lines, ""])


def main() -> int:
    """Build the website. Returns the exit code of mkdocs."""
    settings = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    shutil.rmtree(PAGES, ignore_errors=True)
    files = linked_files(page for _, page in listed_pages(settings["nav"]))
    for name in files:
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, PAGES / name)
    (PAGES / LIST).write_text(page_list(settings), encoding="utf-8")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    code = subprocess.run(
        [*command, "--config-file", str(SETTINGS)], env=environment, check=False
    ).returncode
    for name in files:
        if name.endswith(".md") and code == 0:  # the list names the texts, not the pages
            shutil.copyfile(ROOT / name, SITE / name)
    return code


if __name__ == "__main__":
    sys.exit(main())
