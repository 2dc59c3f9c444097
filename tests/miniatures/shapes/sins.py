"""The sins of the live wire shapes: each changes the answer on the wire, whatever made it."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.types import ASGIApp

from ..wire import Answer, Asked, Wrapper, rewriting
from .frameworks import fastapi

Change = Callable[[Answer], Answer]


@dataclass(frozen=True, slots=True)
class Sin:
    """A mistake in every error of a service, in a ``sentence``."""

    sentence: str
    wrap: Wrapper


def on_errors(change: Change) -> Wrapper:
    """Change every answer that has the status of an error."""

    def changed(asked: Asked, answer: Answer) -> Answer:
        return change(answer) if answer.status >= 400 else answer

    return rewriting(changed)


def on_answers(change: Change) -> Wrapper:
    """Change every answer."""
    return rewriting(lambda _, answer: change(answer))


def put(pointer: str, value: object) -> Change:
    """Write a member, where all above it is there."""
    return _edited(pointer, lambda parent, key: parent.__setitem__(key, value))


def drop(pointer: str) -> Change:
    """Remove a member, where it is there."""
    return _edited(pointer, lambda parent, key: parent.__delitem__(key))


def move(pointer: str, place: str) -> Change:
    """Give a member another name."""

    def moved(parent: Any, key: Any) -> None:
        parent[place] = parent.pop(key)

    return _edited(pointer, moved)


def append(pointer: str, value: object) -> Change:
    """Add an item to a list, where it is there."""
    return _edited(pointer, lambda parent, key: parent[key].append(value))


def _edited(pointer: str, edit: Callable[[Any, Any], None]) -> Change:
    keys = [int(key) if key.isdigit() else key for key in pointer.split("/")[1:]]

    def change(answer: Answer) -> Answer:
        body = answer.json()
        parent = body
        try:
            for key in keys[:-1]:
                parent = parent[key]
            edit(parent, keys[-1])
        except (KeyError, IndexError, TypeError, AttributeError):
            return answer
        return answer.with_json(body)

    return change


def text(pattern: str, replacement: str) -> Change:
    """Replace what a pattern matches in the body."""

    def change(answer: Answer) -> Answer:
        return replace(answer, body=re.sub(pattern, replacement, answer.body.decode()).encode())

    return change


def status(old: int, new: int) -> Change:
    """Send one status as another."""
    return lambda answer: replace(answer, status=new) if answer.status == old else answer


def media(media_type: str) -> Change:
    """Send the body under another media type."""
    return lambda answer: answer.with_header("content-type", media_type)


def header(name: str, value: str | None) -> Change:
    """Send another value of a header, or none, where the answer has it."""

    def change(answer: Answer) -> Answer:
        if answer.header(name) is None:
            return answer
        return answer.without_header(name) if value is None else answer.with_header(name, value)

    return change


def header_to_body(name: str, member: str) -> Change:
    """Send the value of a header as a member of the body."""

    def change(answer: Answer) -> Answer:
        value, body = answer.header(name), answer.json()
        if value is None or not isinstance(body, dict):
            return answer
        return answer.without_header(name).with_json({**body, member: value})

    return change


def cut(answer: Answer) -> Answer:
    """Send half of the body."""
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def page(answer: Answer) -> Answer:
    """Send a page of HTML."""
    return answer.with_text("text/html", f"<h1>{answer.status}</h1>")


def listed(answer: Answer) -> Answer:
    """Send the error in a list."""
    return answer.with_json([answer.json()])


def in_text(pointer: str) -> Change:
    """Send a value as its JSON text, where it is there."""

    def encoded(parent: Any, key: Any) -> None:
        parent[key] = json.dumps(parent[key])

    return _edited(pointer, encoded)


def _errors(**sins: tuple[str, Change]) -> Mapping[str, Sin]:
    return {
        _named(name): Sin(sentence, on_errors(change)) for name, (sentence, change) in sins.items()
    }


def _answers(**sins: tuple[str, Change]) -> Mapping[str, Sin]:
    return {
        _named(name): Sin(sentence, on_answers(change)) for name, (sentence, change) in sins.items()
    }


def _named(name: str) -> str:
    return name.replace("_", "-")


def _echoing(_: ASGIApp) -> ASGIApp:
    return fastapi(echo=True)


TOOL = "/result/structuredContent/agent_error"

#: The sins of each conformance file, by name.
SINS: Mapping[str, Mapping[str, Sin]] = {
    "agents-http": _errors(
        number_as_code=("the code is the number of JSON-RPC", put("/error/code", -32001)),
        other_code=("the code is none of the agent's", put("/error/code", "TASK_GONE")),
        other_status=("404 is sent as 400", status(404, 400)),
        no_message=("the message is missing", drop("/error/message")),
        more_members=("an error has a member that is not declared", put("/error/trace", "t1")),
        details_of_another_type=("the seconds are a text", put("/error/details/seconds", "3")),
    ),
    "agents-jsonrpc": _answers(
        text_as_code=("the code is the text of HTTP", put("/error/code", "TASK_NOT_FOUND")),
        other_code=("the number is none of the agent's", put("/error/code", -32044)),
        code_below_data=("the code is below `data`", move("/error/code", "data")),
        no_message=("the message is missing", drop("/error/message")),
        details_of_another_type=("the seconds are a text", put("/error/data/seconds", "3")),
        other_version=("the version of the protocol is 1.0", put("/jsonrpc", "1.0")),
    ),
    "agents-mcp": _answers(
        other_code=("the code is none of the agent's", put(f"{TOOL}/code", "TASK_GONE")),
        not_marked=("a result with an error is not marked", put("/result/isError", False)),
        no_message=("the message is missing", drop(f"{TOOL}/message")),
        details_of_another_type=("the seconds are a text", put(f"{TOOL}/details/seconds", "3")),
        code_elsewhere=("the code has another name", move(f"{TOOL}/code", "reason")),
    ),
    "aws_json": _errors(
        other_code=(
            "the code is none of the service's",
            put("/__type", "com.amazonaws.tables#Gone"),
        ),
        no_namespace=("the code lacks its namespace", put("/__type", "ValidationException")),
        code_elsewhere=("the code is in `code`", move("/__type", "code")),
        other_status=("400 is sent as 422", status(400, 422)),
        plain_json=("the media type is application/json", media("application/json")),
        details_of_another_type=("the reasons are a number", put("/Reasons", 7)),
        no_details=("the reasons are missing", drop("/Reasons")),
    ),
    "aws_query": _errors(
        other_code=("the code is none of the service's", text(r"<Code>\w+<", "<Code>Gone<")),
        other_root=("the root is that of EC2", text("ErrorResponse", "Response")),
        no_code=("the code is missing", text(r"<Code>\w+</Code>", "")),
        others_fault=(
            "the type blames the service",
            text("Sender", "Receiver"),
        ),
        more_members=(
            "an error has an element that is not declared",
            text("</Error>", "<Detail>x</Detail></Error>"),
        ),
        json=("the media type is application/json", media("application/json")),
        cut=("half of the body is sent", cut),
        other_status=("404 is sent as 400", status(404, 400)),
    ),
    "aws_rest_json": _errors(
        other_code=("the code is none of the service's", header("x-amzn-errortype", "Gone")),
        no_code=("the code is missing", header("x-amzn-errortype", None)),
        code_elsewhere=("the code is in `error`", header_to_body("x-amzn-errortype", "error")),
        other_status=("404 is sent as 500", status(404, 500)),
        number_as_message=("the message is a number", put("/Message", 7)),
        no_wait=("429 has no Retry-After", header("retry-after", None)),
    ),
    "aws_rest_xml": _errors(
        other_code=("the code is none of the service's", text(r"<Code>\w+<", "<Code>Gone<")),
        wrapped=(
            "the error is wrapped as in awsQuery",
            text(r"(<Error>.*</Error>)", r"<ErrorResponse>\1</ErrorResponse>"),
        ),
        no_key=("the key is missing", text(r"<Key>[^<]*</Key>", "")),
        size_in_words=(
            "the largest size is a word",
            text("<MaxSizeAllowed>64<", "<MaxSizeAllowed>small<"),
        ),
        more_members=(
            "an error has an element that is not declared",
            text("</Error>", "<Detail>x</Detail></Error>"),
        ),
        another_key=("the key is not the one that was asked for", text("<Key>none<", "<Key>some<")),
        no_allow=("405 has no Allow", header("allow", None)),
        cut=("half of the body is sent", cut),
    ),
    "credit": _errors(
        other_code=(
            "the type is none of the service's",
            put("/type", "https://example.com/probs/gone"),
        ),
        no_uri=("the type is the code alone", put("/type", "refused")),
        other_title=("the title is not that of the type", put("/title", "Sorry.")),
        other_number=("the number is not that of the type", put("/number", 99)),
        other_grpc=("the number of gRPC is not that of the code", put("/grpc/code", 2)),
        status_in_body=("the status in the body is not that of the answer", put("/status", 418)),
        plain_json=("the media type is application/json", media("application/json")),
        other_status=("402 of a payment is sent as 403", status(402, 403)),
        no_details=("the account is missing", drop("/account")),
    ),
    "django_rest": _errors(
        other_name=("`detail` has another name", move("/detail", "message")),
        number_as_detail=("`detail` is a number", put("/detail", 7)),
        text_for_a_list=("the errors of all fields are a text", put("/non_field_errors", "wrong")),
        other_status=("404 is sent as 429", status(404, 429)),
        no_challenge=("401 has no WWW-Authenticate", header("www-authenticate", None)),
        no_wait=("429 has no Retry-After", header("retry-after", None)),
        html=("errors are pages", page),
    ),
    "fastapi": {
        **_errors(
            other_name=("`detail` has another name", move("/detail", "error")),
            object_as_detail=("`detail` is an object", put("/detail", {"reason": "x"})),
            second_error_wrong=(
                "the second error of a list has no type",
                append("/detail", {"loc": ["body"], "msg": "x"}),
            ),
            text_as_location=("the location is a text", put("/detail/0/loc", "body.title")),
            other_status=("422 is sent as 400", status(422, 400)),
            more_members=("an error has a member that is not declared", put("/trace", "t1")),
        ),
        "echoed-input": Sin(
            "FastAPI's own handler returns the input, which it cannot always encode", _echoing
        ),
    },
    "github": _errors(
        no_message=("the message is missing", drop("/message")),
        number_as_message=("the message is a number", put("/message", 7)),
        text_as_errors=("the errors are a text", put("/errors", "missing_field")),
        status_in_body=("the status in the body is not that of the answer", put("/status", "418")),
        more_members=("an error has a member that is not declared", put("/trace", "t1")),
        other_status=("422 is sent as 404", status(422, 404)),
        no_wait=("429 has no Retry-After", header("retry-after", None)),
    ),
    "google_rpc": _errors(
        other_code=("the status is none of the service's", put("/error/status", "GONE")),
        code_elsewhere=("the name is in `code`", put("/error/code", "NOT_FOUND")),
        status_in_body=("the number in the body is not the status", put("/error/code", 418)),
        no_code=("the name is missing", drop("/error/status")),
        details_of_another_type=("the details are an object", put("/error/details", {"a": 1})),
        other_status=("404 is sent as 400", status(404, 400)),
        more_members=("an error has a member that is not declared", put("/error/trace", "t1")),
    ),
    "graphql": _answers(
        other_code=("the code is none of the service's", put("/errors/0/extensions/code", "GONE")),
        no_code=("the code is missing", drop("/errors/0/extensions/code")),
        code_elsewhere=(
            "the code is beside the message",
            put("/errors/0", {"message": "m", "code": "BAD_USER_INPUT"}),
        ),
        second_error_wrong=(
            "the second error of a list has an unknown code",
            append("/errors", {"message": "m", "extensions": {"code": "GONE"}}),
        ),
        number_as_message=("the message is a number", put("/errors/0/message", 7)),
        text_as_path=("the path is a text", put("/errors/0/path", "film")),
    ),
    "json_api": _errors(
        other_code=("the code is none of the service's", put("/errors/0/code", "gone")),
        second_error_wrong=(
            "the second error of a list has an unknown code",
            put("/errors/1/code", "gone"),
        ),
        second_pointer_missing=(
            "the second error of a list has no pointer",
            drop("/errors/1/source/pointer"),
        ),
        number_as_status=("the status in the body is a number", put("/errors/0/status", 404)),
        status_in_body=(
            "the status in the body is not that of the answer",
            put("/errors/0/status", "418"),
        ),
        plain_json=("the media type is application/json", media("application/json")),
        no_list=("an error is not in a list", put("/errors", {"code": "not_found"})),
        more_members=("an error has a member that is not declared", put("/errors/0/trace", "t1")),
    ),
    "rails": _errors(
        status_in_body=("the status in the body is not that of the answer", put("/status", 418)),
        no_status=("the status in the body is missing", drop("/status")),
        text_as_errors=("the errors of fields are a text", put("/errors", "wrong")),
        other_status=("422 is sent as 400", status(422, 400)),
        missing_as_bad=("404 is sent as 400", status(404, 400)),
        more_members=("an error has a member that is not declared", put("/trace", "t1")),
        html=("errors are pages", page),
    ),
    "scim": _errors(
        other_code=("the type is none of the service's", put("/scimType", "taken")),
        no_code=("the type is missing", drop("/scimType")),
        other_schema=("the schema is not that of errors", put("/schemas", ["urn:other"])),
        number_as_status=("the status in the body is a number", put("/status", 404)),
        status_in_body=("the status in the body is not that of the answer", put("/status", "418")),
        plain_json=("the media type is application/json", media("application/json")),
        other_status=("409 is sent as 400", status(409, 400)),
    ),
    "stripe": _errors(
        other_code=("the code is none of the service's", put("/error/code", "gone")),
        no_type=("the type is missing", drop("/error/type")),
        not_nested=("the error is a text", in_text("/error")),
        other_status=("402 is sent as 400", status(402, 400)),
        number_as_detail=("the parameter is a number", put("/error/param", 7)),
        more_details=("an error has a member that is not declared", put("/error/trace", "t1")),
        in_a_list=("the error is in a list", listed),
    ),
    "twirp": _errors(
        other_code=("the code is none of the service's", put("/code", "gone")),
        other_name=("the message is in `message`", move("/msg", "message")),
        text_as_meta=("`meta` is a text", put("/meta", "inches")),
        other_status=("400 is sent as 404", status(400, 404)),
        more_members=("an error has a member that is not declared", put("/trace", "t1")),
        code_elsewhere=("the code has another name", move("/code", "error")),
        html=("errors are pages", page),
    ),
}
