"""The shop in Litestar, served by uvicorn."""

import asyncio
from dataclasses import dataclass

import uvicorn
from litestar import Litestar, get, post
from litestar.config.cors import CORSConfig
from litestar.exceptions import HTTPException
from litestar.response import Stream
from shop_errors import NotFound, OutOfStock, SkuTaken
from shop_errors.frameworks.litestar import install


@dataclass
class Order:
    """The body of a new item."""

    sku: str
    amount: int


@get("/items/{item:str}")
async def show(item: str) -> dict[str, str]:
    """One item."""
    if item != "1":
        raise NotFound
    return {"id": item}


@post("/items")
async def create(data: Order) -> dict[str, str]:
    """A new item."""
    if data.sku == "few":
        raise OutOfStock(available=3)
    return {"sku": data.sku}


@get("/typed")
async def typed() -> None:
    """An error of the taxonomy."""
    raise SkuTaken


@get("/bare")
async def bare() -> None:
    """A status without a code."""
    raise HTTPException(status_code=409)


@get("/crash")
async def crash() -> None:
    """A bug."""
    raise RuntimeError("hunter2")


@get("/stream")
async def stream() -> Stream:
    """A body that fails on its way."""

    async def parts():
        yield b"begin"
        raise RuntimeError("hunter2")

    return Stream(parts())


@get("/slow")
async def slow() -> dict[str, bool]:
    """An answer that takes longer than its client waits."""
    await asyncio.sleep(0.5)
    return {"done": True}


async def keep_session(message, scope) -> None:
    """Set a cookie, as sessions do."""
    if message["type"] == "http.response.start":
        message["headers"] = [*message["headers"], (b"set-cookie", b"session=1")]


app = Litestar(
    [show, create, typed, bare, crash, stream, slow],
    cors_config=CORSConfig(allow_origins=["http://shop.example"]),
    before_send=[keep_session],
)
install(app, body_limit=1000)


def serve(port):
    """Answer requests until the process ends."""
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
