"""Judge two published MCP servers over standard streams: install them apart, start each, run the
suite against it, end it.

    python examples/mcp/run.py [everything|filesystem] [ARGUMENTS OF `faultspec conform`]

Exit code: the highest of the suite's own; 2 where a server could not be installed. Nothing is left
running, and nothing is written outside ``.cache/mcp``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peer import judged, npm_installed, script

HERE = Path(__file__).resolve().parent

SERVERS = ("everything", "filesystem")

VERSION = "2026.8.31"


def main(arguments: list[str]) -> int:
    """Judge one server, or each; the result is the exit code."""
    chosen = [name for name in SERVERS if name in arguments[:1]]
    options = arguments[1:] if chosen else arguments
    packages = tuple(f"@modelcontextprotocol/server-{name}@{VERSION}" for name in SERVERS)
    commands = npm_installed("mcp", packages)
    return max(
        judged(
            HERE / name / "conformance.yaml",
            {"MCP_SERVER": str(commands / f"mcp-server-{name}")},
            options,
        )
        for name in chosen or SERVERS
    )


if __name__ == "__main__":
    sys.exit(script("mcp", lambda: main(sys.argv[1:])))
