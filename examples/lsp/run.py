"""Judge three published language servers over standard streams: install them apart, start each,
run the suite against it, end it.

    python examples/lsp/run.py [pylsp|json|yaml] [ARGUMENTS OF `faultspec conform`]

Exit code: the highest of the suite's own; 2 where a server could not be installed. Nothing is left
running, and nothing is written outside ``.cache/lsp``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import installed, judged, npm_installed, script

HERE = Path(__file__).resolve().parent

#: The language servers of VS Code for JSON, CSS and HTML, and that of Red Hat for YAML.
PACKAGES = ("vscode-langservers-extracted@4.10.0", "yaml-language-server@1.25.0")

SERVERS = {
    "pylsp": "pylsp",
    "json": "vscode-json-language-server",
    "yaml": "yaml-language-server",
}


def main(arguments: list[str]) -> int:
    """Judge one server, or each; the result is the exit code."""
    chosen = [name for name in SERVERS if name in arguments[:1]]
    options = arguments[1:] if chosen else arguments
    return max(judged_server(name, options) for name in chosen or SERVERS)


def judged_server(name: str, options: list[str]) -> int:
    """Judge one server."""
    if name == "pylsp":
        commands = installed("lsp", HERE / "requirements.txt")
    else:
        commands = npm_installed("lsp", PACKAGES)
    variables = {"LSP_SERVER": str(commands / SERVERS[name])}
    return judged(HERE / name / "conformance.yaml", variables, options)


if __name__ == "__main__":
    sys.exit(script("lsp", lambda: main(sys.argv[1:])))
