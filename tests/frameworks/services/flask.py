"""The shop in Flask, served by waitress."""

import time

import waitress
from flask import Flask, Response, abort, jsonify, request
from flask_cors import CORS
from shop_errors import NotFound, OutOfStock, SkuTaken, ValidationFailed
from shop_errors.frameworks.flask import install

app = Flask(__name__)
CORS(app, origins=["http://shop.example"])
install(app, body_limit=1000)


@app.after_request
def keep_session(response):
    """Set a cookie, as sessions do."""
    response.set_cookie("session", "1")
    return response


@app.get("/items/<item>")
def show(item):
    """One item."""
    if item != "1":
        raise NotFound
    return jsonify(id=item)


@app.post("/items")
def create():
    """A new item."""
    order = request.get_json()
    if not isinstance(order, dict) or not isinstance(order.get("amount"), int):
        raise ValidationFailed(field="amount")
    if order.get("sku") == "few":
        raise OutOfStock(available=3)
    return jsonify(sku=order.get("sku")), 201


@app.get("/typed")
def typed():
    """An error of the taxonomy."""
    raise SkuTaken


@app.get("/bare")
def bare():
    """A status without a code."""
    abort(409)


@app.get("/crash")
def crash():
    """A bug."""
    raise RuntimeError("hunter2")


@app.get("/stream")
def stream():
    """A body that fails on its way."""

    def parts():
        yield b"begin" * 4000
        raise RuntimeError("hunter2")

    return Response(parts())


@app.get("/slow")
def slow():
    """An answer that takes longer than its client waits."""
    time.sleep(0.5)
    return jsonify(done=True)


def serve(port):
    """Answer requests until the process ends."""
    waitress.serve(app, host="127.0.0.1", port=port, send_bytes=1, threads=8)
