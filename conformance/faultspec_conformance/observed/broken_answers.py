"""An answer that an ASGI application does not bring to its end, because it raises or leaves: the
crash that it is to a client.
"""

from dataclasses import replace

from faultspec.exchange.model import Exchange, Response
from faultspec_conformance.observed.middleware import (
    Application,
    Message,
    Receive,
    Scope,
    See,
    Send,
    asgi_exchange,
)

#: What uvicorn answers for an application that raises. Once an answer has begun, it can only close
#: the connection, which helps a client as little.
_OF_SERVERS = Response(
    500, (("content-type", "text/plain; charset=utf-8"),), b"Internal Server Error"
)

#: Messages after which an answer has no more of a body.
_ENDS = frozenset({"http.response.body", "http.response.pathsend"})

#: Statuses whose answers have no body (RFC 9110 section 6.4.1). Some servers refuse to send one.
_BODILESS = frozenset({204, 304})


class BrokenAnswers:
    """An ASGI application around ``app``. Answers that have no end go to ``see`` as the error that
    a server answers for a crash.

    Exceptions pass. No client notices one after a whole answer, as of background tasks, or one
    after it has left.
    """

    def __init__(self, app: Application, see: See) -> None:
        self.app = app
        self.see = see

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass all messages on, and call ``see`` if the answer does not end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message = {}
        over = False

        async def receive_and_watch() -> Message:
            nonlocal over
            message = await receive()
            over = over or message["type"] == "http.disconnect"
            return message

        async def send_and_watch(message: Message) -> None:
            nonlocal over
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ())]}
                start.update(message)
            try:
                await send(message)
            except Exception as error:
                # The client has left (ASGI, "Disconnected Client"), or has the whole answer.
                over = over or isinstance(error, OSError) or start.get("status") in _BODILESS
                raise
            over = over or (message["type"] in _ENDS and not message.get("more_body", False))

        try:
            await self.app(scope, receive_and_watch, send_and_watch)
        except Exception as error:
            if not over:
                self.see(_crash(scope, start, f"the application raises {type(error).__name__}"))
            raise
        if not over:
            self.see(_crash(scope, start, "the application returns too early"))


def _crash(scope: Scope, start: Message, what: str) -> Exchange:
    """The exchange of an answer of which only the beginning was sent, or nothing."""
    begun = f", and its answer of {start['status']} had begun" if start else ""
    return replace(asgi_exchange(scope, b"", _OF_SERVERS), trigger=f"{what}{begun}")
