"""The broker: a service that passes payments on to a bank, and says in its own codes what the bank
said; or sins.

It knows its document (the docstring of ``make_app``) and nothing of ours.
"""

from collections.abc import Mapping

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SINS: Mapping[str, str] = {
    "one-code-for-all": "answers every failure of the bank with the same code",
    "ignores-the-banks-code": "looks at the status of the bank alone",
    "blames-the-caller": "answers a failure of the bank as a refusal of the payment",
    "passes-the-code-on": "answers with the code of the bank",
}

_OURS: Mapping[str, int] = {"refused": 402, "busy": 503, "bank_down": 502, "failed": 500}


def make_app(bank: str, sin: str | None = None) -> Starlette:
    """The service, calling the bank at that address.

    A 402 of the bank with the code ``declined`` is ``refused``; 429 is ``busy``; 5xx, or no answer,
    is ``bank_down``; the rest is ``failed``.
    """
    client = httpx.AsyncClient(base_url=bank, trust_env=False)

    def error(code: str, status: int | None = None) -> Response:
        body = {"error": {"code": code, "message": "The payment was not made"}}
        return JSONResponse(body, status or _OURS[code])

    def ours(status: int | None, code: str | None) -> str:
        if sin == "one-code-for-all":
            return "failed"
        if status == 402 and (code == "declined" or sin == "ignores-the-banks-code"):
            return "refused"
        if status == 429:
            return "busy"
        if status is None or status >= 500:
            return "refused" if sin == "blames-the-caller" else "bank_down"
        return "failed"

    async def pay(request: Request) -> Response:
        try:
            answer = await client.post("/charges", json=await request.json())
        except httpx.TransportError:
            return error(ours(None, None))
        if answer.is_success:
            return JSONResponse({"id": "1"}, 201)
        body = answer.json()
        code = body.get("reason") if isinstance(body, dict) else None
        if code is not None and sin == "passes-the-code-on":
            return error(code, 402)
        return error(ours(answer.status_code, code))

    return Starlette(routes=[Route("/payments", pay, methods=["POST"])])
