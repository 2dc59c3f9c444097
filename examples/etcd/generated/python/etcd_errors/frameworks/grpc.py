"""The errors of gRPC handlers leave as ``google.rpc.Status``, with ``ErrorInfo``.

    server = grpc.server(executor, interceptors=[ErrorInterceptor()])

A raised error of this package is answered as itself, any other exception as an internal
error. ``context.abort`` stays. It needs ``grpcio`` and ``googleapis-common-protos``.
"""

# Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec compile
# examples/etcd/taxonomy.yaml

# The libraries need not be installed, and have no types of their own.
# mypy: disable-error-code="import-not-found, import-untyped, misc, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

import functools
import inspect
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, NamedTuple

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from .._runtime import ids
from .._runtime.boundary import LONGEST_ID, Problem
from .._runtime.retry_after import CEILING
from ..boundary import (
    CORRELATION_FORMATS,
    CORRELATION_HEADER,
    Choose,
    ServiceError,
)
from ..codes import ErrorCode
from ..errors import undeclared

DOMAIN = "etcd"  # fmt: skip
"""The domain of ``ErrorInfo``."""

STATUSES: Mapping[ErrorCode, int] = {
    ErrorCode.CANCELLED: 1,
    ErrorCode.UNKNOWN: 2,
    ErrorCode.INVALID_ARGUMENT: 3,
    ErrorCode.DEADLINE_EXCEEDED: 4,
    ErrorCode.NOT_FOUND: 5,
    ErrorCode.ALREADY_EXISTS: 6,
    ErrorCode.PERMISSION_DENIED: 7,
    ErrorCode.RESOURCE_EXHAUSTED: 8,
    ErrorCode.FAILED_PRECONDITION: 9,
    ErrorCode.ABORTED: 10,
    ErrorCode.OUT_OF_RANGE: 11,
    ErrorCode.UNIMPLEMENTED: 12,
    ErrorCode.INTERNAL: 13,
    ErrorCode.UNAVAILABLE: 14,
    ErrorCode.DATA_LOSS: 15,
    ErrorCode.UNAUTHENTICATED: 16,
}
"""The numbers of ``google.rpc.Code``; any other code is UNKNOWN."""

_UNKNOWN = 2
# INTERNAL, UNKNOWN and DATA_LOSS are bugs, whose trace the log has
_FAULTS = (2, 13, 15)
# Seconds, of an error that may be repeated and does not say when
_WAIT = 1.0
# Bytes. Clients take 8 KiB of metadata, where the message stands twice, once with three
# bytes for one. The call would end without its error.
_LONGEST_MESSAGE = 512
_LARGEST_DETAILS = 2048

_logger = logging.getLogger(__name__)


def to_status(error: ServiceError) -> status_pb2.Status:
    """The ``google.rpc.Status`` of an error: ``ErrorInfo`` with the code and the scalar
    details, and ``RetryInfo`` if it may be repeated. A message is cut at 512 bytes;
    details are left out that do not fit into 2 KiB.
    """
    parts = [
        error_details_pb2.ErrorInfo(
            reason=str(error.facts.wire),
            domain=DOMAIN,
            metadata=_metadata(error.details),
        )
    ]
    if error.retriable:
        wait = duration_pb2.Duration()
        seconds = min(CEILING, error.retry_after or _WAIT)
        wait.FromNanoseconds(round(seconds * 1e9))
        parts.append(error_details_pb2.RetryInfo(retry_delay=wait))
    details = []
    for part in parts:
        packed = any_pb2.Any()
        packed.Pack(part)
        details.append(packed)
    number = STATUSES.get(error.code, _UNKNOWN)
    message = _sendable(error.message)
    if len(message.encode()) > _LONGEST_MESSAGE:
        message = message.encode()[:_LONGEST_MESSAGE].decode("utf-8", "ignore") + "…"
    return status_pb2.Status(code=number, message=message, details=details)


def _metadata(details: Mapping[str, object]) -> dict[str, str]:
    found, room = {}, _LARGEST_DETAILS
    for name, value in details.items():
        if isinstance(value, str | int | float):
            text = _sendable(value if isinstance(value, str) else json.dumps(value))
            size = len(_sendable(name).encode()) + len(text.encode())
            if size <= room:
                found[_sendable(name)] = text
                room -= size
    return found


def _sendable(text: str) -> str:
    """The text without lone surrogates, which have no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


class ErrorInterceptor(grpc.ServerInterceptor):
    """Answers the errors of a server with threads. ``choose`` chooses the answer to an
    exception that is not an error of this package.
    """

    def __init__(self, choose: Choose | None = None) -> None:
        self.choose = choose

    def intercept_service(
        self, continuation: Callable[[Any], Any], handler_call_details: Any
    ) -> Any:
        """The handler of a call, which answers its errors."""
        handler = continuation(handler_call_details)
        if handler is None:
            return None
        return _in_threads(
            handler, functools.partial(self.abort, handler_call_details.method)
        )

    def abort(self, method: str, exception: Exception, context: Any) -> None:
        """End a call with the error of an exception, unless it has been ended."""
        ending = _ending(method, exception, context, self.choose)
        if ending is not None:
            context.set_trailing_metadata(ending.metadata)
            context.abort(ending.code, ending.message)


class AsyncErrorInterceptor(grpc.aio.ServerInterceptor):
    """The same for a server of ``grpc.aio``. Handlers that are plain functions run in
    threads, as without it.
    """

    def __init__(self, choose: Choose | None = None) -> None:
        self.choose = choose

    async def intercept_service(
        self, continuation: Callable[[Any], Any], handler_call_details: Any
    ) -> Any:
        """The handler of a call, which answers its errors."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method, behaviour = handler_call_details.method, _behaviour(handler)
        is_many = inspect.isasyncgenfunction(behaviour)
        if not is_many and not inspect.iscoroutinefunction(behaviour):
            return _in_threads(handler, functools.partial(self._end, method))

        @functools.wraps(behaviour)
        async def answer(request: Any, context: Any) -> Any:
            try:
                return await behaviour(request, context)
            except Exception as exception:
                await self.abort(method, exception, context)
                raise

        @functools.wraps(behaviour)
        async def answer_many(request: Any, context: Any) -> AsyncIterator[Any]:
            try:
                async for response in behaviour(request, context):
                    yield response
            except Exception as exception:
                await self.abort(method, exception, context)
                raise

        return _handler(handler, answer_many if is_many else answer)

    async def abort(self, method: str, exception: Exception, context: Any) -> None:
        """End a call with the error of an exception, unless it has been ended."""
        ending = _ending(method, exception, context, self.choose)
        if ending is not None:
            context.set_trailing_metadata(ending.metadata)
            await context.abort(ending.code, ending.message)

    def _end(self, method: str, exception: Exception, context: Any) -> bool:
        """Whether the call of a plain function ends with the error of an exception. It
        is not aborted: messages before the error may still be on their way.
        """
        ending = _ending(method, exception, context, self.choose)
        if ending is not None:
            context.set_trailing_metadata(ending.metadata)
            context.set_code(ending.code)
            context.set_details(ending.message)
        return ending is not None


class _Ending(NamedTuple):
    code: Any
    message: str
    metadata: tuple[tuple[str, str | bytes], ...]


def _ending(
    method: str, exception: Exception, context: Any, choose: Choose | None
) -> _Ending | None:
    """The end of a call; None if the service has ended it. A code that the service set
    stays for an exception that is not an error of this package, without its text.
    """
    if _is_aborted(exception, context):
        return None
    name = CORRELATION_HEADER.lower()
    given = [value for key, value in context.invocation_metadata() if key == name]
    known = (
        len(given) == 1
        and len(given[0]) <= LONGEST_ID
        and ids.matches(CORRELATION_FORMATS, str(given[0]))
    )
    correlation_id = str(given[0]) if known else ids.new(CORRELATION_FORMATS[0])
    code, details = _own_code(context), _asked(context, "details") or ""
    own = tuple(tuple(each) for each in _asked(context, "trailing_metadata") or ())
    if code is not None and not issubclass(type(exception), ServiceError):
        _log(method, correlation_id, exception)
        text = details.decode() if isinstance(details, bytes) else details
        return _Ending(code, text, (*own, (name, correlation_id)))
    status = _status(method, exception, correlation_id, choose)
    _log(method, correlation_id, exception if status.code in _FAULTS else None)
    code = next(each for each in grpc.StatusCode if each.value[0] == status.code)
    metadata = (
        *own,
        ("grpc-status-details-bin", status.SerializeToString()),
        (name, correlation_id),
    )
    return _Ending(code, status.message, metadata)


def _status(
    method: str, exception: Exception, correlation_id: str, choose: Choose | None
) -> status_pb2.Status:
    try:
        error = exception if isinstance(exception, ServiceError) else None
        if error is None and choose is not None:
            error = choose(Problem(500, correlation_id, exception, ()))
        if error is None:
            error = undeclared(getattr(exception, "original_code", None))
        return to_status(error)
    except Exception:
        # gRPC would answer with the text of what is raised here
        _logger.exception(
            "%s could not be answered (correlation id %s)", method, correlation_id
        )
        return to_status(undeclared(None))


def _log(method: str, correlation_id: str, fault: Exception | None) -> None:
    _logger.log(
        logging.INFO if fault is None else logging.ERROR,
        "%s failed (correlation id %s)",
        method,
        correlation_id,
        exc_info=fault,
    )


def _is_aborted(exception: BaseException | None, context: Any) -> bool:
    """Whether ``context.abort`` ended the call. It raises an ``Exception`` of no text,
    and an ``AbortError`` in ``grpc.aio``; a handler may raise another in its place.
    """
    if _asked(context, "done"):
        return True
    has_code = _own_code(context) is not None
    seen: set[int] = set()
    while exception is not None and id(exception) not in seen:
        seen.add(id(exception))
        kind = type(exception)
        is_bare = kind is Exception and not exception.args
        if issubclass(kind, grpc.aio.AbortError) or (is_bare and has_code):
            return True
        exception = _before(exception)
    return False


def _before(exception: BaseException) -> Any:
    read = object.__getattribute__  # the class may have its own, which raises
    return read(exception, "__cause__") or read(exception, "__context__")


def _own_code(context: Any) -> Any:
    """The code of a failure that the service set, else None."""
    code = _asked(context, "code")
    return None if code in (grpc.StatusCode.OK, 0) else code


def _asked(context: Any, name: str) -> Any:
    """The value of a method of a context; None if it has no such method, as the context
    of plain functions in ``grpc.aio``.
    """
    ask = getattr(context, name, None)
    return None if ask is None else ask()


def _in_threads(handler: Any, end: Callable[[Exception, Any], bool | None]) -> Any:
    """The handler of threads which answers its errors; an exception that ``end`` does
    not end is raised. One that does not block gets the callback that sends a response.
    """
    behaviour = _behaviour(handler)

    @functools.wraps(behaviour)
    def answer(request: Any, context: Any, *callback: Any) -> Any:
        try:
            return behaviour(request, context, *callback)
        except Exception as exception:
            if not end(exception, context):
                raise
            return None

    @functools.wraps(behaviour)
    def answer_many(request: Any, context: Any) -> Iterator[Any]:
        try:
            yield from behaviour(request, context)
        except Exception as exception:
            if not end(exception, context):
                raise

    waits = not getattr(behaviour, "experimental_non_blocking", False)
    chosen = answer_many if handler.response_streaming and waits else answer
    for mark in ("experimental_non_blocking", "experimental_thread_pool"):
        if hasattr(behaviour, mark):
            setattr(chosen, mark, getattr(behaviour, mark))
    return _handler(handler, chosen)


def _behaviour(handler: Any) -> Any:
    ways = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
    return next(getattr(handler, way) for way in ways if getattr(handler, way))


def _handler(handler: Any, behaviour: Any) -> Any:
    incoming = "stream" if handler.request_streaming else "unary"
    outgoing = "stream" if handler.response_streaming else "unary"
    make = getattr(grpc, f"{incoming}_{outgoing}_rpc_method_handler")
    return make(behaviour, handler.request_deserializer, handler.response_serializer)
