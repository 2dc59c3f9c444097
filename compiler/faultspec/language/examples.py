"""An example of every top-level construct, for the reference page."""

import re
from collections.abc import Mapping
from importlib.resources import files

_TEXT = (files("faultspec.language") / "examples.yaml").read_text(encoding="utf-8")

#: The sections of the file by their key; that of `extends` is a comment.
EXAMPLES: Mapping[str, str] = {
    match[1]: match[0].rstrip() + "\n"
    for match in re.finditer(r"^(?:# )?(\w+):(?:.|\n(?!\n))*", _TEXT, re.MULTILINE)
}
