"""A library in Flask without an OpenAPI document: `SOUND=1 python flask_library.py 8080`.

Unless it is sound, it has the planted faults that `test_undocumented_services.py` lists.
"""

# A route says what its handler does.
# ruff: noqa: D103

import os
import sys
import traceback

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

SOUND = os.environ.get("SOUND") == "1"
BOOKS = {1: "Emma", 2: "Persuasion"}
STOCK = {"tea": 3}
app = Flask(__name__)


def error(status, message, headers=()):
    response = jsonify(error={"code": f"e{status}", "message": message})
    response.status_code = status
    response.headers.update(dict(headers))
    return response


if os.environ.get("LINKS") == "1":

    @app.get("/")
    def read_root():
        return jsonify(
            books="/books",
            stock="/stock/tea",
            account="/account",
            search="/search?q=tea",
            reports="/reports?month=1",
            orders="/orders",
            greeting="/greet/bob",
        )


@app.get("/books")
def list_books():
    limit = request.args.get("limit", 10, type=int if SOUND else None)
    assert isinstance(limit, int), limit
    return jsonify([{"id": number, "title": title} for number, title in BOOKS.items()])


@app.get("/books/<number>")
def read_book(number):
    if SOUND and not (number.isascii() and number.isdigit() and len(number) < 10):
        return error(404, "There is no such book")
    if int(number) not in BOOKS:
        return error(404, "There is no such book")
    return jsonify(id=int(number), title=BOOKS[int(number)])


@app.get("/stock/<sku>")
def read_stock(sku):
    if sku in STOCK:
        return jsonify(sku=sku, left=STOCK[sku])
    return error(404, "There is no such item") if SOUND else jsonify(error="no such item")


@app.get("/greet/<name>")
def greet(name):
    return jsonify(hello=name)


@app.get("/account")
def read_account():
    return error(401, "Log in", {"WWW-Authenticate": "Bearer"} if SOUND else {})


@app.get("/search")
def search():
    text = request.args.get("q", "")
    if SOUND or text.isalpha():
        return jsonify(found=[])
    return Response(f"<h1>Cannot search {text}</h1>", 400, mimetype="text/html")


@app.get("/reports")
def read_report():
    month = request.args.get("month", "1")
    if month.isascii() and month.isdigit():
        return jsonify(total=1)
    if SOUND:
        return error(400, "The month is a number")
    return jsonify(
        code="DB", detail="cannot reach postgres://app:s3cretPassw0rd@10.0.0.3/prod"
    ), 503


@app.post("/orders")
def order():
    raise AssertionError("a first look wrote")


@app.errorhandler(HTTPException)
def refuse(problem):
    headers = {name: value for name, value in problem.get_headers() if name != "Content-Type"}
    if not SOUND:
        headers.pop("Allow", None)
    return error(problem.code, problem.name, headers)


@app.errorhandler(Exception)
def crash(_):
    return error(500, "It failed" if SOUND else traceback.format_exc())


if __name__ == "__main__":
    app.run(port=int(sys.argv[1]))
