"""The shop in Starlette, served by uvicorn."""

import asyncio

import uvicorn
from shop_errors import NotFound, OutOfStock, SkuTaken, ValidationFailed
from shop_errors.frameworks.starlette import install
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route


async def show(request):
    """One item."""
    if request.path_params["item"] != "1":
        raise NotFound
    return JSONResponse({"id": "1"})


async def create(request):
    """A new item."""
    try:
        order = await request.json()
    except ValueError:
        raise HTTPException(400) from None
    if not isinstance(order, dict) or not isinstance(order.get("amount"), int):
        raise ValidationFailed(field="amount")
    if order.get("sku") == "few":
        raise OutOfStock(available=3)
    return JSONResponse({"sku": order.get("sku")}, 201)


async def typed(request):
    """An error of the taxonomy."""
    raise SkuTaken


async def bare(request):
    """A status without a code."""
    raise HTTPException(409)


async def crash(request):
    """A bug."""
    raise RuntimeError("hunter2")


async def stream(request):
    """A body that fails on its way."""

    async def parts():
        yield b"begin"
        raise RuntimeError("hunter2")

    return StreamingResponse(parts())


async def slow(request):
    """An answer that takes longer than its client waits."""
    await asyncio.sleep(0.5)
    return JSONResponse({"done": True})


class Session:
    """Sets a cookie on every response, as sessions do."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        """Serve one connection."""

        async def send_with_cookie(message):
            if message["type"] == "http.response.start":
                message["headers"].append((b"set-cookie", b"session=1"))
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def dress(app):
    """Add the middleware of the shop, in the order that people find out last is outermost."""
    app.add_middleware(CORSMiddleware, allow_origins=["http://shop.example"])
    install(app, body_limit=1000)
    app.add_middleware(Session)
    return app


app = Starlette(
    routes=[
        Route("/items/{item}", show),
        Route("/items", create, methods=["POST"]),
        *(Route(f"/{each.__name__}", each) for each in (typed, bare, crash, stream, slow)),
    ]
)
dress(app)


def serve(port):
    """Answer requests until the process ends."""
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
