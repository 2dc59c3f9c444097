"""The shop in aiohttp, served by itself."""

import asyncio

from aiohttp import web
from shop_errors import NotFound, OutOfStock, SkuTaken, ValidationFailed
from shop_errors.frameworks.aiohttp import install

routes = web.RouteTableDef()
app = web.Application()
install(app, body_limit=1000)


async def dress(request, response):
    """Set a cookie, as sessions do, and let browsers of one origin read."""
    response.headers.add("Set-Cookie", "session=1")
    response.headers["Access-Control-Allow-Origin"] = "http://shop.example"


app.on_response_prepare.append(dress)


@routes.get("/items/{item}")
async def show(request):
    """One item."""
    if request.match_info["item"] != "1":
        raise NotFound
    return web.json_response({"id": "1"})


@routes.post("/items")
async def create(request):
    """A new item."""
    try:
        order = await request.json()
    except ValueError:
        raise web.HTTPBadRequest from None
    if not isinstance(order, dict) or not isinstance(order.get("amount"), int):
        raise ValidationFailed(field="amount")
    if order.get("sku") == "few":
        raise OutOfStock(available=3)
    return web.json_response({"sku": order.get("sku")}, status=201)


@routes.get("/typed")
async def typed(request):
    """An error of the taxonomy."""
    raise SkuTaken


@routes.get("/bare")
async def bare(request):
    """A status without a code."""
    raise web.HTTPConflict


@routes.get("/crash")
async def crash(request):
    """A bug."""
    raise RuntimeError("hunter2")


@routes.get("/stream")
async def stream(request):
    """A body that fails on its way."""
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(b"begin")
    raise RuntimeError("hunter2")


@routes.get("/slow")
async def slow(request):
    """An answer that takes longer than its client waits."""
    await asyncio.sleep(0.5)
    return web.json_response({"done": True})


app.add_routes(routes)


async def run(port):
    """Serve with a longer request line than the 8190 bytes of aiohttp, which answers longer ones
    without asking the application.
    """
    runner = web.AppRunner(app, max_line_size=65536, max_field_size=65536)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


def serve(port):
    """Answer requests until the process ends."""
    asyncio.run(run(port))
