"""The state of one run against one service, over HTTP, JSON-RPC or MCP."""
