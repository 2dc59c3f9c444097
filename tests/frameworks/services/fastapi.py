"""The shop in FastAPI, served by uvicorn."""

import asyncio

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from shop_errors import NotFound, OutOfStock, SkuTaken
from shop_errors.frameworks.fastapi import install, responses

app = FastAPI()
install(app, body_limit=1000)


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


app.add_middleware(Session)
app.add_middleware(CORSMiddleware, allow_origins=["http://shop.example"])


class Order(BaseModel):
    """The body of a new item."""

    sku: str
    amount: int


@app.get("/items/{item}", responses=responses(NotFound))
async def show(item: str):
    """One item."""
    if item != "1":
        raise NotFound
    return {"id": item}


@app.post("/items", status_code=201, responses=responses(SkuTaken, OutOfStock))
async def create(order: Order):
    """A new item."""
    if order.sku == "few":
        raise OutOfStock(available=3)
    return {"sku": order.sku}


@app.get("/typed")
def typed():
    """An error of the taxonomy."""
    raise SkuTaken


@app.get("/bare")
async def bare():
    """A status without a code."""
    raise HTTPException(409)


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

    return StreamingResponse(parts())


@app.get("/slow")
async def slow():
    """An answer that takes longer than its client waits."""
    await asyncio.sleep(0.5)
    return {"done": True}


def serve(port):
    """Answer requests until the process ends."""
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
