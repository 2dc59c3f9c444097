"""The shop in Quart, served by hypercorn."""

import asyncio
import json

from hypercorn.asyncio import serve as run
from hypercorn.config import Config
from quart import Quart, abort, jsonify, request
from shop_errors import NotFound, OutOfStock, SkuTaken, ValidationFailed
from shop_errors.frameworks.quart import install

app = Quart(__name__)
install(app, body_limit=1000)


@app.after_request
async def dress(response):
    """Set a cookie, as sessions do, and let browsers of one origin read."""
    response.set_cookie("session", "1")
    response.headers["Access-Control-Allow-Origin"] = "http://shop.example"
    return response


@app.get("/items/<item>")
async def show(item):
    """One item."""
    if item != "1":
        raise NotFound
    return jsonify(id=item)


@app.post("/items")
async def create():
    """A new item."""
    if not request.is_json:
        abort(415)
    try:
        order = json.loads(await request.get_data())  # `get_json` fails on bytes that are not UTF-8
    except ValueError:
        abort(400)
    if not isinstance(order, dict) or not isinstance(order.get("amount"), int):
        raise ValidationFailed(field="amount")
    if order.get("sku") == "few":
        raise OutOfStock(available=3)
    return jsonify(sku=order.get("sku")), 201


@app.get("/typed")
async def typed():
    """An error of the taxonomy."""
    raise SkuTaken


@app.get("/bare")
async def bare():
    """A status without a code."""
    abort(409)


@app.get("/crash")
async def crash():
    """A bug."""
    raise RuntimeError("hunter2")


@app.get("/stream")
async def stream():
    """A body that fails on its way."""

    async def parts():
        yield b"begin"
        raise RuntimeError("hunter2")

    return parts()


@app.get("/slow")
async def slow():
    """An answer that takes longer than its client waits."""
    await asyncio.sleep(0.5)
    return jsonify(done=True)


def serve(port):
    """Answer requests until the process ends."""
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    asyncio.run(run(app, config))
