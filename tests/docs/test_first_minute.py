"""The page about the first minute shows what a run on its own service finds."""

import re
from pathlib import Path
from typing import Any

from miniatures.serve import serving
from paths import ROOT
from support.command_line import faultspec

PAGE = (ROOT / "docs/how-to/first-minute.md").read_text(encoding="utf-8")


def test_the_findings_of_the_page_are_found(tmp_path: Path) -> None:
    """Each line that the page and the README show is a line of any run, in any order."""
    module = re.search(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    shown = re.search(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert module is not None
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(
        r"^    \$ faultspec conform http.*\n((?:    [^…\n]*\n)+)", readme, re.MULTILINE
    )
    assert shown is not None
    assert first is not None
    names: dict[str, Any] = {}
    exec(module[1], names)  # the page is ours
    with serving(names["app"]) as url:
        done = faultspec("conform", url, cwd=tmp_path)
    lines = done.stdout.replace(url, "http://127.0.0.1:8000").splitlines()
    for line in (*shown[1].splitlines(), *(line[4:] for line in first[1].splitlines())):
        assert any(found.startswith(line) for found in lines), line
