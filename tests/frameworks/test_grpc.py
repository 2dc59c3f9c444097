"""Laws of the generated module for gRPC, over real servers with threads and with asyncio."""

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from frameworks.test_frameworks import packages

__all__ = ["packages"]

GIVEN = "01900000-0000-7000-8000-000000000001"


@pytest.fixture
def shop(packages: Path) -> Iterator[Any]:
    """The generated package, importable."""
    sys.path.insert(0, str(packages))
    yield importlib.import_module("shop_errors")
    sys.path.remove(str(packages))
    for name in [each for each in sys.modules if each.partition(".")[0] == "shop_errors"]:
        del sys.modules[name]


def failures_of(shop: Any) -> dict[str, Callable[[Any], None]]:
    """By the name of a method, the way it fails."""

    def raise_typed(context: Any) -> None:
        raise shop.OutOfStock(available=3)

    def crash(context: Any) -> None:
        raise RuntimeError("hunter2")

    def crash_again(context: Any) -> None:
        class Unreadable(Exception):
            @property
            def original_code(self) -> str:
                raise RuntimeError("hunter2")

        raise Unreadable

    def raise_long(context: Any) -> None:
        raise shop.OutOfStock(available=3, message="é" * 20_000)

    def raise_surrogate(context: Any) -> None:
        raise shop.OutOfStock(available=3, message="a \ud800")

    return {
        "typed": raise_typed,
        "crash": crash,
        "again": crash_again,
        "long": raise_long,
        "surrogate": raise_surrogate,
    }


def serve_with_threads(shop: Any) -> tuple[Any, Callable[[], object]]:
    """The port of a server, and the call that stops it."""
    module = importlib.import_module("shop_errors.frameworks.grpc")
    fails = failures_of(shop)

    def single(name: str) -> Any:
        def answer(request: bytes, context: Any) -> bytes:
            if name == "aborted":
                context.abort(grpc.StatusCode.OUT_OF_RANGE, "own")
            if name in fails:
                fails[name](context)
            return request

        return grpc.unary_unary_rpc_method_handler(answer)

    def many(request: bytes, context: Any) -> Iterator[bytes]:
        yield b"one"
        fails["typed"](context)

    handlers = {name: single(name) for name in ("fine", "aborted", *fails)}
    handlers["many"] = grpc.unary_stream_rpc_method_handler(many)
    server = grpc.server(ThreadPoolExecutor(2), interceptors=[module.ErrorInterceptor()])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Shop", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return port, lambda: server.stop(0).wait()


def serve_with_asyncio(shop: Any) -> tuple[Any, Callable[[], object]]:
    """The same with coroutines, in a thread with an event loop."""
    module = importlib.import_module("shop_errors.frameworks.grpc")
    fails = failures_of(shop)

    def single(name: str) -> Any:
        async def answer(request: bytes, context: Any) -> bytes:
            if name == "aborted":
                await context.abort(grpc.StatusCode.OUT_OF_RANGE, "own")
            if name in fails:
                fails[name](context)
            return request

        return grpc.unary_unary_rpc_method_handler(answer)

    async def many(request: bytes, context: Any) -> Any:
        yield b"one"
        fails["typed"](context)

    handlers = {name: single(name) for name in ("fine", "aborted", *fails)}
    handlers["many"] = grpc.unary_stream_rpc_method_handler(many)
    loop = asyncio.new_event_loop()
    thread = ThreadPoolExecutor(1)

    async def start() -> tuple[Any, int]:
        server = grpc.aio.server(interceptors=[module.AsyncErrorInterceptor()])
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Shop", handlers),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        return server, port

    thread.submit(loop.run_forever)
    server, port = asyncio.run_coroutine_threadsafe(start(), loop).result(20)

    def stop() -> None:
        asyncio.run_coroutine_threadsafe(server.stop(0), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.shutdown()
        loop.close()

    return port, stop


@pytest.fixture(params=[serve_with_threads, serve_with_asyncio], ids=["threads", "asyncio"])
def channel(request: pytest.FixtureRequest, shop: Any) -> Iterator[Any]:
    """A channel to a running server."""
    port, stop = request.param(shop)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as made:
        yield made
    stop()


def failed_call(channel: Any, method: str) -> Any:
    """The error that a client gets."""
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(f"/Shop/{method}")(b"x", metadata=[("x-request-id", GIVEN)], timeout=20)
    return caught.value


def info_of(error: Any) -> Any:
    """The ErrorInfo of an error."""
    metadata = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    assert (status.code, status.message) == (error.code().value[0], error.details())
    assert metadata["x-request-id"] == GIVEN
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return info


def test_a_raised_error_leaves_as_itself(channel: Any) -> None:
    """With its status, its code, its scalar details and the correlation id of the call."""
    error = failed_call(channel, "typed")
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert error.details() == "Only 3 in stock"
    info = info_of(error)
    assert (info.reason, info.domain) == ("out_of_stock", "shop")
    assert dict(info.metadata) == {"available": "3"}


def test_a_bug_is_the_internal_error(channel: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of it travels; the log has its trace."""
    error = failed_call(channel, "crash")
    assert error.code() is grpc.StatusCode.INTERNAL
    assert info_of(error).reason == "internal_error"
    assert "hunter2" not in str(error.details())
    assert "hunter2" in caplog.text


def test_a_call_that_the_service_ends_itself_stays(channel: Any) -> None:
    """An abort is not answered anew, and a success passes."""
    error = failed_call(channel, "aborted")
    assert (error.code(), error.details()) == (grpc.StatusCode.OUT_OF_RANGE, "own")
    assert channel.unary_unary("/Shop/fine")(b"x", timeout=20) == b"x"


def test_a_stream_ends_with_the_error(channel: Any) -> None:
    """The messages before the error have arrived."""
    call = channel.unary_stream("/Shop/many")(b"x", metadata=[("x-request-id", GIVEN)], timeout=20)
    assert next(call) == b"one"
    with pytest.raises(grpc.RpcError):
        next(call)
    assert info_of(call).reason == "out_of_stock"


def test_an_error_leaves_though_making_its_answer_fails(channel: Any) -> None:
    """gRPC answers with the text of what is raised while an answer is made, so nothing is."""
    error = failed_call(channel, "again")
    assert "hunter2" not in error.details()
    assert error.code() == failed_call(channel, "crash").code() == grpc.StatusCode.INTERNAL
    info_of(error)


def test_an_error_fits_into_the_metadata_that_clients_take(channel: Any) -> None:
    """With a longer message the call would end as exhausted, which clients may repeat."""
    error = failed_call(channel, "long")
    assert info_of(error).reason == info_of(failed_call(channel, "typed")).reason
    assert error.details() == "é" * 256 + "…"
    assert failed_call(channel, "surrogate").details() == "a ?"


def test_details_that_are_too_long_are_left_out(shop: Any) -> None:
    """The code and the other details stay."""
    module = importlib.import_module("shop_errors.frameworks.grpc")
    error = shop.OutOfStock(available=3)
    error._details = {"long": "x" * 3_000, "available": 3, "\ud800": "\ud800"}
    info = error_details_pb2.ErrorInfo()
    assert module.to_status(error).details[0].Unpack(info)
    assert dict(info.metadata) == {"available": "3", "?": "?"}
