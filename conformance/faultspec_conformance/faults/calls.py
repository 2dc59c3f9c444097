"""Answers to calls by name: JSON-RPC 2.0, and MCP, which consists of such messages.

MCP is answered with messages of our own and not through its library, because malformed answers need
the bytes. MCP 2025-11-25 is offered, and any earlier revision that a client asks for.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from faultspec.contract.model import Claim, Contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language.carriers import listed_number, reaches, uses_envelope
from faultspec.language.model import Code, Envelope, Example
from faultspec.language.routes import compile_name
from faultspec.language.values import shorten
from faultspec.runtime import shape as shapes
from faultspec.runtime.nodes import slot_places
from faultspec.runtime.pointers import steps
from faultspec.targets import openapi as samples
from faultspec_conformance.drivers.framing import parse_message
from faultspec_conformance.faults.replies import Unanswerable, is_allowed
from faultspec_conformance.faults.script import (
    BY_NAME,
    FAULT_HEADER,
    FAULT_SEGMENT,
    Fault,
    Schedule,
    check_fault,
    parse_fault,
)

#: The numbers of the protocol (JSON-RPC 2.0, 5.1).
_NO_JSON, _NO_REQUEST, _NO_METHOD = -32700, -32600, -32601

#: The number of a refusal to play a fault: of the range that JSON-RPC leaves to servers, and of no
#: known contract.
REFUSED = -32055

#: Requests of a batch that are answered. Clients send tens of them.
_BATCH = 1000

#: The revision of MCP that is offered to a client that asks for a later one, and the form of all.
_REVISION = "2025-11-25"

_NAME = 100
"""Characters of a name in a refusal."""

#: The member of params that asks for a fault, and the members of them that may have it: what MCP
#: leaves to extensions, and the arguments of a tool.
_MEMBER, _INSIDE = FAULT_HEADER.lower(), ("_meta", "arguments")


class Called(NamedTuple):
    """A call and its answer. ``body`` None: a notification, which has none. ``fault``: the fault of
    the answer. ``refused``: why it could not be played.
    """

    name: str
    body: object
    fault: Fault | None = None
    refused: str | None = None

    def __str__(self) -> str:
        cause = self.refused or (str(self.fault) if self.fault is not None else "as usual")
        return f"{shorten(self.name, _NAME)} -> {cause}"


class MessageAnswer(NamedTuple):
    """The answer to a message. ``body`` None: there is none. ``calls``: those in the message."""

    body: bytes | None
    calls: tuple[Called, ...]
    fault: Fault | None


class CallServer:
    """Answers messages by a script. Calls ask for faults by the member ``x-fault`` of params, or of
    `_meta` or `arguments` in them, or by a method or tool that begins with `~CODE/`.

    ``results``: those of good answers, by method or tool.
    """

    def __init__(
        self,
        contract: Contract,
        schedule: Schedule,
        results: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self._contract = contract
        self._schedule = schedule
        self._results = results
        self.serves_mcp = any(each.surface.transport == "mcp" for each in contract.claims)

    def answer(self, message: bytes, asked: str | None = None) -> MessageAnswer:
        """The answer to a message. ``asked``: the fault that its HTTP request asks for."""
        value = parse_message(message)
        if isinstance(value, list) and 0 < len(value) <= _BATCH:
            calls = tuple(self._answer_one(item, asked) for item in value)
            bodies = [body for called in calls for body in _bodies_of(called)]
            return MessageAnswer(_write(bodies) if bodies else None, calls, _fault_of_batch(calls))
        if value is None:
            return MessageAnswer(_write(_error(None, _NO_JSON, "Parse error")), (), None)
        called = self._answer_one(value, asked)
        if called.body is None:
            return MessageAnswer(None, (called,), None)
        return MessageAnswer(_write(_malform(called)), (called,), called.fault)

    def _answer_one(self, message: object, asked: str | None) -> Called:
        is_call = isinstance(message, dict) and isinstance(message.get("method"), str)
        if not isinstance(message, dict) or not is_call:
            is_answer = isinstance(message, dict) and ("result" in message or "error" in message)
            return Called("", None if is_answer else _error(None, _NO_REQUEST, "Invalid Request"))
        method, params = message["method"], message.get("params")
        if "id" not in message:
            return Called(method, None)
        number = message["id"]
        is_id = isinstance(number, str | int | float | None) and not isinstance(number, bool)
        if not is_id or (isinstance(number, float) and not math.isfinite(number)):
            return Called(method, _error(None, _NO_REQUEST, "Invalid Request"))
        tool = _tool_of(method, params) if self.serves_mcp else None
        written, name = _requested_fault(tool or method, params)
        names = {name, method}
        fault: Fault | None
        try:
            if asked is not None or written is not None:
                fault = self._parse(asked or written or "")
            elif method in _HANDSHAKE and self.serves_mcp:
                fault = self._schedule.next(lambda on: on == method, general=False)
            else:
                fault = self._schedule.next(lambda on: any(map(compile_name(on).fullmatch, names)))
            if fault is not None and fault.code:
                transport: Literal["jsonrpc", "mcp"] = "mcp" if tool is not None else "jsonrpc"
                return Called(name, self._fail(name, number, fault, transport=transport), fault)
        except Unanswerable as error:
            return Called(
                name, _error(number, REFUSED, f"faultspec serve: {error}"), None, str(error)
            )
        if tool is None and self._lacks(method):
            body = _error(number, _NO_METHOD, "Method not found")
            return Called(name, body, fault, "Method not found")
        result = self._result_of(method, params)
        return Called(name, {"jsonrpc": "2.0", "id": number, "result": result}, fault)

    def _parse(self, written: str) -> Fault:
        try:
            fault = parse_fault(written)
        except ValueError as error:
            raise Unanswerable(str(error)) from None
        unknown = check_fault(fault, self._contract.taxonomy)
        if unknown is not None:
            raise Unanswerable(unknown)
        return fault

    def _lacks(self, method: str) -> bool:
        """Whether a server of MCP does not have a method."""
        return self.serves_mcp and method not in {*self._results, *_METHODS}

    def _result_of(self, method: str, params: object) -> object:
        """The result of a good answer."""
        name = _tool_of(method, params) or method
        if name in self._results:
            return self._results[name]
        return self._mcp_result(method, params) if self.serves_mcp else {"id": "1"}

    def _mcp_result(self, method: str, params: object) -> object:
        """The result of a method of MCP 2025-11-25."""
        if method == "initialize":
            wanted = params.get("protocolVersion") if isinstance(params, dict) else None
            offered = wanted if isinstance(wanted, str) and wanted <= _REVISION else _REVISION
            return {
                "protocolVersion": offered,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "faultspec", "version": self._contract.taxonomy.version},
            }
        if method == "tools/list":
            return {
                "tools": [
                    {"name": name, "inputSchema": {"type": "object"}} for name in self._tools()
                ]
            }
        if method == "tools/call":
            return self._tool_success(_tool_of(method, params) or "")
        return {}  # of `ping`

    def _tool_success(self, name: str) -> object:
        result: dict[str, object] = {"content": [{"type": "text", "text": "{}"}]}
        asked = Exchange(Request("POST", name), Response(None), "mcp")
        claim = self._contract.claim(asked)
        for pointer, member in claim.surface.success.items() if claim is not None else ():
            value = samples.sample_error(member.schema, self._contract.taxonomy)
            _put(result, pointer, value)
        if "structuredContent" in result:
            result["content"] = [_text(json.dumps(result["structuredContent"]))]
        return result

    def _tools(self) -> tuple[str, ...]:
        """The names of tools that the taxonomy has."""
        surfaces = (each.surface for each in self._contract.claims)
        matched = [
            name for each in surfaces if each.transport == "mcp" for name in each.match.tools
        ]
        operations = [operation.wire for operation in self._contract.taxonomy.operations.values()]
        names = dict.fromkeys(name for name in (*matched, *operations) if _is_plain(name))
        return tuple(names) or ("call",)

    def _fail(
        self, name: str, number: object, fault: Fault, *, transport: Literal["jsonrpc", "mcp"]
    ) -> object:
        taxonomy = self._contract.taxonomy
        ignored = [name for name, value in _OVER_HTTP.items() if getattr(fault, value)]
        if ignored:
            raise Unanswerable(f"`{ignored[0]}=` is for answers over HTTP, and {name} is a call")
        listed = listed_number(taxonomy, fault.code)
        if listed is not None:
            return _error(number, *listed)
        # A tool call that its surface does not fail, the protocol may.
        for each in dict.fromkeys((transport, "jsonrpc")):
            exchange = Exchange(Request("POST", name), Response(None), each)
            operation = self._contract.operation(exchange)
            code, claim = taxonomy.code_of(operation, fault.code), self._contract.claim(exchange)
            if code is None or claim is None or not is_allowed(code, operation):
                continue
            is_own = operation is not None and code.name in operation.errors
            if not reaches(claim.surface, code, of_operation=is_own):
                continue
            if each == "mcp":
                return {"jsonrpc": "2.0", "id": number, "result": self._tool_error(claim, code)}
            for body in self._bodies(claim, code, number):
                if isinstance(body, dict):
                    return _as_error(body, number, code)
            raise Unanswerable(f"`{code.name}` cannot be generated: give it an example")
        where = [
            claim.surface.name
            for claim in self._contract.claims
            if claim.surface.transport in BY_NAME
        ]
        raise Unanswerable(
            f"`{fault}` cannot occur on {shorten(name, _NAME)}; the surfaces of calls by name are "
            f"{', '.join(where)}"
        )

    def _tool_error(self, claim: Claim, code: Code) -> object:
        """The result of a tool that fails."""
        if not claim.envelopes:
            message = next((each.message for each in code.examples if each.message), code.summary)
            return {"content": [_text(message)], "isError": True}
        for body in self._bodies(claim, code, None):
            if not isinstance(body, dict):
                continue
            structured = body.get("structuredContent")
            text = (
                json.dumps(structured, ensure_ascii=False)
                if structured is not None
                else code.summary
            )
            marked = code.mcp.is_error if code.mcp is not None else True
            return {"content": [_text(text)], "isError": marked} | body
        raise Unanswerable(f"`{code.name}` cannot be generated: give it an example")

    def _bodies(self, claim: Claim, code: Code, number: object) -> Iterator[object]:
        """The answers of a code on a surface, from its examples, then a generated one."""
        taxonomy = self._contract.taxonomy
        for envelope in claim.envelopes:
            if not uses_envelope(code, envelope):
                continue
            for example in _examples(code, self._contract):
                try:
                    slots = samples.slots(envelope, code, example, taxonomy)
                    slots |= _own_ids(envelope, slots, number)
                    body = shapes.render(envelope.sent, slots)
                except (KeyError, ValueError):
                    continue  # the example is for another envelope, or a value cannot be generated
                for step in reversed(steps(claim.surface.at)):
                    body = {step: body}
                for pointer, value in claim.surface.error_equals.items():
                    if isinstance(body, dict):
                        _put(body, pointer, value)
                yield body


#: The settings of a fault that calls by name have no place for, by their names in it.
_OVER_HTTP = {"status": "status", "retry-after": "retry_after", "with": "others"}

#: What is malformed in the answer of one call of a batch. Other kinds spoil the whole message.
_OF_ONE_CALL = frozenset({"type", "id", "never", "twice"})

#: Methods of MCP that a script fails only if it names them: without them there is no session.
_HANDSHAKE = frozenset({"initialize", "ping", "tools/list", "server/discover"})

#: Methods of MCP that have results. Others are not found.
_METHODS = frozenset({"initialize", "ping", "tools/list", "tools/call"})


def _examples(code: Code, contract: Contract) -> Iterator[Example]:
    yield from code.examples
    try:
        yield Example(details=samples.sample_details(code, contract.taxonomy) or None)
    except ValueError:
        return


def _own_ids(envelope: Envelope, slots: Mapping[str, object], number: object) -> dict[str, object]:
    """The id of the request, in the slot that stands at `/id`."""
    places = slot_places(envelope.shape)
    return {
        slot: number for slot in slots if any(place.path == "/id" for place in places.get(slot, ()))
    }


def _as_error(body: dict[str, object], number: object, code: Code) -> dict[str, object]:
    """The whole response: an envelope may be only a part of it, such as the data of the error."""
    error = body.get("error")
    if isinstance(error, dict):
        body = body | {"error": {"code": -32000, "message": code.summary} | error}
    return {"jsonrpc": "2.0"} | body | {"id": number}


def _put(target: dict[str, object], pointer: str, value: object) -> None:
    """Set the value at a pointer, with the objects above it."""
    *above, last = steps(pointer)
    node: dict[str, object] = target
    for step in above:
        inner = node.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        node = inner
    node[last] = value


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _is_plain(name: str) -> bool:
    return bool(name) and "*" not in name and "/" not in name and " " not in name


def _tool_of(method: str, params: object) -> str | None:
    """The tool that a message of MCP calls."""
    name = params.get("name") if isinstance(params, dict) and method == "tools/call" else None
    return name if isinstance(name, str) else None


def _requested_fault(name: str, params: object) -> tuple[str | None, str]:
    """The fault that a call asks for, and its name without that part."""
    if name.startswith(FAULT_SEGMENT) and "/" in name:
        segment, _, rest = name.partition("/")
        return segment.removeprefix(FAULT_SEGMENT), rest
    inner = [params.get(key) for key in _INSIDE] if isinstance(params, dict) else []
    for place in (params, *inner):
        written = place.get(_MEMBER) if isinstance(place, dict) else None
        if isinstance(written, str):
            return written, name
    return None, name


def _error(number: object, code: int, message: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _write(body: object) -> bytes:
    # Lone surrogates of a name or an id cannot be written as UTF-8.
    return json.dumps(body, ensure_ascii=True).encode()


def _malform(called: Called) -> object:
    """The answer of a call, with the wrong type or id that its fault asks for."""
    malformed = called.fault.malformed if called.fault is not None else None
    if malformed == "type":
        return _with_wrong_type(called.body)
    return _with_other_id(called.body) if malformed == "id" else called.body


def _bodies_of(called: Called) -> list[object]:
    """The answers of a call in that of its batch: none of a notification."""
    malformed = called.fault.malformed if called.fault is not None else None
    if called.body is None or malformed == "never":
        return []
    return [_malform(called)] * (2 if malformed == "twice" else 1)


def _fault_of_batch(calls: Iterable[Called]) -> Fault | None:
    """The fault of the answer to a batch: what is malformed in one call spoils no other, unless it
    is the message itself. The answer waits for the latest.
    """
    answered = [called for called in calls if called.body is not None]
    faults = [called.fault for called in answered if called.fault is not None]
    if not faults:
        return None
    if len(faults) == len(answered) and all(fault.malformed == "never" for fault in faults):
        return faults[0]
    spoiled = [fault for fault in faults if fault.malformed not in {None, *_OF_ONE_CALL}]
    fault = spoiled[0] if spoiled else faults[0]._replace(malformed=None)
    return fault._replace(delay=max(other.delay for other in faults))


def _with_wrong_type(body: object) -> object:
    """The answer with a text in the place of its error."""
    kept = {key: value for key, value in _members(body).items() if key != "result"}
    return kept | {"error": "no object"}


def _with_other_id(body: object) -> object:
    number = _members(body).get("id")
    other = -1 - number if isinstance(number, int) else f"other than {number}"
    return _members(body) | {"id": other}


def _members(body: object) -> dict[str, object]:
    return body if isinstance(body, dict) else {}
