"""A miniature on a real connection: `with serving(app) as base_url`, or `python -m miniatures.serve
--sin NAME`.
"""

import argparse
import asyncio
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .sins import SINS, sinning
from .wire import RAW_WRITE

HEADER_BYTES = 256 * 1024
"""uvicorn answers longer heads by itself, in plain text; the services' own limit lies well below.
"""
START_SECONDS = 5.0
"""Starting takes a few hundredths of a second; a machine under load may need more."""


class WireProtocol(H11Protocol):
    """HTTP/1.1 that lets an application write past it: some sins are forbidden by every HTTP
    library.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        inner = self.app

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {})[RAW_WRITE] = self.transport.write
            await inner(scope, receive, send)

        self.app = app


@contextmanager
def serving(
    app: ASGIApp, port: int = 0, *, lifespan: Literal["on", "off"] = "off"
) -> Iterator[str]:
    """Serve an application on 127.0.0.1 in a thread and yield its base URL; port 0 takes a free
    one.

    Raises RuntimeError and OSError as `serving_on` does.
    """
    with serving_on(app, port, lifespan=lifespan) as (base, _):
        yield base


@contextmanager
def serving_on(
    app: ASGIApp, port: int = 0, *, lifespan: Literal["on", "off"] = "off"
) -> Iterator[tuple[str, asyncio.AbstractEventLoop]]:
    """Serve an application as `serving` does, and yield the event loop too, on which others may
    call it.

    Raises RuntimeError when it hasn't started after `START_SECONDS`, OSError when the port is
    taken.
    """
    # With the protocol named, asyncio turns Nagle's algorithm off; else every answer in two parts
    # waits 40 ms for the second.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=WireProtocol,
            loop="asyncio",
            lifespan=lifespan,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=HEADER_BYTES,
            timeout_graceful_shutdown=0,
        )
    )
    loop = asyncio.new_event_loop()

    def serve() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(server.serve(sockets=[listening]))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + START_SECONDS
        while not server.started:
            if time.monotonic() > deadline or not thread.is_alive():
                raise RuntimeError("the miniature did not start")
            time.sleep(0.002)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", loop
    finally:
        server.should_exit = True
        thread.join(START_SECONDS)
        listening.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m miniatures.serve", description="Serve the notebooks."
    )
    parser.add_argument("--sin", action="append", default=[], choices=sorted(SINS), metavar="NAME")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print the sins and stop")
    chosen = parser.parse_args(arguments)
    if chosen.list:
        for sin in SINS.values():
            print(f"{sin.name}: {sin.sentence} ({' '.join(sin.statements)})")
        return
    with serving(sinning(*chosen.sin), chosen.port) as base_url:
        print(base_url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
