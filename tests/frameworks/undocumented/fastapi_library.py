"""The library in FastAPI, with its document switched off."""

# A route says what its handler does.
# ruff: noqa: D103

import os
import sys
import traceback

import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

SOUND = os.environ.get("SOUND") == "1"
BOOKS = {1: "Emma", 2: "Persuasion"}
STOCK = {"tea": 3}
READ = ["GET", "HEAD"]
app = FastAPI(openapi_url=None)


def error(status, message, headers=None):
    return JSONResponse({"error": {"code": f"e{status}", "message": message}}, status, headers)


if os.environ.get("LINKS") == "1":

    @app.api_route("/", methods=READ)
    def read_root():
        return {"_links": {"books": {"href": "books"}, "orders": {"href": "/orders"}}} | {
            name: f"http://localhost:{sys.argv[1]}/{path}"
            for name, path in {
                "stock": "stock/tea",
                "account": "account",
                "search": "search{?q}",
                "reports": "reports?month=1",
            }.items()
        }


@app.api_route("/books", methods=READ)
def list_books():
    return [{"id": number, "title": title} for number, title in BOOKS.items()]


@app.api_route("/books/{number}", methods=READ)
def read_book(number: str):
    if SOUND and not (number.isascii() and number.isdigit() and len(number) < 10):
        return error(404, "There is no such book")
    if int(number) not in BOOKS:
        return error(404, "There is no such book")
    return {"id": int(number), "title": BOOKS[int(number)]}


@app.api_route("/stock/{sku}", methods=READ)
def read_stock(sku: str):
    if sku in STOCK:
        return {"sku": sku, "left": STOCK[sku]}
    return error(404, "There is no such item") if SOUND else {"error": "no such item"}


@app.api_route("/account", methods=READ)
def read_account():
    return error(401, "Log in", {"WWW-Authenticate": "Bearer"} if SOUND else None)


@app.api_route("/search", methods=READ)
def search(q: str = "tea"):
    if SOUND or q.isalpha():
        return {"found": []}
    return HTMLResponse(f"<h1>Cannot search {q}</h1>", 400)


@app.api_route("/reports", methods=READ)
def read_report(month: str = "1"):
    if month.isascii() and month.isdigit():
        return {"total": 1}
    if SOUND:
        return error(400, "The month is a number")
    leak = "cannot reach postgres://app:s3cretPassw0rd@10.0.0.3/prod"
    return JSONResponse({"code": "DB", "detail": leak}, 503)


@app.post("/orders")
def order():
    raise AssertionError("a first look wrote")


@app.exception_handler(HTTPException)
async def refuse(_, problem):
    headers = dict(problem.headers or {})
    if not SOUND:
        headers.pop("Allow", None)
    return error(problem.status_code, problem.detail, headers)


@app.exception_handler(Exception)
async def crash(_, problem):
    return error(500, "It failed" if SOUND else "".join(traceback.format_exception(problem)))


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
