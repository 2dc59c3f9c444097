"""Laws of the generated module for gRPC, over real servers with threads and with asyncio."""

import asyncio
import importlib
import sys
import threading
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

    def crash_with_code(context: Any) -> None:
        context.set_code(grpc.StatusCode.NOT_FOUND)
        raise RuntimeError("hunter2")

    def crash_with_details(context: Any) -> None:
        context.set_details("mine")
        crash_with_code(context)

    def raise_with_code(context: Any) -> None:
        context.set_code(grpc.StatusCode.NOT_FOUND)
        raise_typed(context)

    def raise_though_fine(context: Any) -> None:
        context.set_code(grpc.StatusCode.OK)
        raise_typed(context)

    return {
        "with code": crash_with_code,
        "with details": crash_with_details,
        "typed with code": raise_with_code,
        "typed though fine": raise_though_fine,
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


def test_a_code_that_the_service_set_stays_without_the_text_of_a_bug(channel: Any) -> None:
    """With the details that it set. An error of the package leaves as itself nevertheless."""
    for method, details in (("with code", ""), ("with details", "mine")):
        error = failed_call(channel, method)
        assert (error.code(), error.details()) == (grpc.StatusCode.NOT_FOUND, details)
    for method in ("typed with code", "typed though fine"):
        assert info_of(failed_call(channel, method)).reason == "out_of_stock"


class Watching:
    """A service with a handler that does not block, as the one of grpc_health."""

    def __init__(self, shop: Any) -> None:
        self.shop = shop

    def watch(self, request: bytes, context: Any, send: Callable[[Any], None]) -> None:
        """Sends a message, and keeps the call open."""
        if request == b"fail":
            raise self.shop.OutOfStock(available=3)
        send(b"serving")

    watch.experimental_non_blocking = True  # type: ignore[attr-defined]


class Elsewhere:
    """A handler with threads of its own."""

    experimental_thread_pool = ThreadPoolExecutor(1, "elsewhere")

    def __call__(self, request: bytes, context: Any) -> bytes:
        """The name of its thread."""
        return threading.current_thread().name.encode()


def test_a_handler_keeps_its_threads(shop: Any) -> None:
    """One that does not block takes no thread, so calls that watch hold none; its errors leave as
    themselves. One with threads of its own runs there.
    """
    module = importlib.import_module("shop_errors.frameworks.grpc")
    handlers = {
        "watch": grpc.unary_stream_rpc_method_handler(Watching(shop).watch),
        "elsewhere": grpc.unary_unary_rpc_method_handler(Elsewhere()),
        "fine": grpc.unary_unary_rpc_method_handler(lambda request, context: request),
    }
    server = grpc.server(ThreadPoolExecutor(1), interceptors=[module.ErrorInterceptor()])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Shop", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        watch = channel.unary_stream("/Shop/watch")
        watching = [watch(b"x", timeout=20) for _ in range(3)]
        assert [next(each) for each in watching] == [b"serving"] * 3
        assert channel.unary_unary("/Shop/fine")(b"x", timeout=20) == b"x"
        assert channel.unary_unary("/Shop/elsewhere")(b"x", timeout=20).startswith(b"elsewhere")
        failing = watch(b"fail", metadata=[("x-request-id", GIVEN)], timeout=20)
        with pytest.raises(grpc.RpcError):
            next(failing)
        assert info_of(failing).reason == "out_of_stock"
        for each in watching:
            each.cancel()
    server.stop(0).wait()


def test_plain_functions_run_in_threads_of_an_asyncio_server(shop: Any) -> None:
    """As they do without the interceptor: unary and streaming ones. Their errors leave as
    themselves, and what they abort stays.
    """
    module = importlib.import_module("shop_errors.frameworks.grpc")

    def plain(request: bytes, context: Any) -> bytes:
        if request == b"abort":
            context.abort(grpc.StatusCode.OUT_OF_RANGE, "own")
        if request == b"fail":
            raise shop.OutOfStock(available=3)
        return threading.current_thread().name.encode()

    def many(request: bytes, context: Any) -> Iterator[bytes]:
        yield plain(b"x", context)
        if request != b"abort":  # gRPC itself loses the status of an abort after a message
            yield plain(request, context)

    async def answers() -> list[Any]:
        pool = ThreadPoolExecutor(1, "plain")
        server = grpc.aio.server(pool, interceptors=[module.AsyncErrorInterceptor()])
        handlers = {
            "plain": grpc.unary_unary_rpc_method_handler(plain),
            "many": grpc.unary_stream_rpc_method_handler(many),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Shop", handlers),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        found: list[Any] = []
        given = [("x-request-id", GIVEN)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            for request in (b"x", b"fail", b"abort"):
                try:
                    call = channel.unary_unary("/Shop/plain")
                    found.append(await call(request, metadata=given, timeout=20))
                except grpc.RpcError as error:
                    found.append(error)
                try:
                    stream = channel.unary_stream("/Shop/many")
                    async for each in stream(request, metadata=given, timeout=20):
                        found.append(each)
                except grpc.RpcError as error:
                    found.append(error)
        await server.stop(0)
        return found

    found = asyncio.run(answers())
    thread = b"plain_0"
    assert [each for each in found if isinstance(each, bytes)] == [thread] * 5
    failed, cut, aborted = (each for each in found if not isinstance(each, bytes))
    assert info_of(failed).reason == info_of(cut).reason == "out_of_stock"
    assert (aborted.code(), aborted.details()) == (grpc.StatusCode.OUT_OF_RANGE, "own")
