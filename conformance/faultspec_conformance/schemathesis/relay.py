"""Hooks of the process that generates the requests of a sweep; `run.generation` starts it.

Each request names its phase to the gateway. Each answer names the findings of the suite. A new one
fails, so that schemathesis looks for the smallest request that brings it about.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import schemathesis
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks as builtin

#: The header of a request to the gateway: the phase, and the number of requests that the phase has
#: for the operation, 0 if it is unknown.
PHASE = "X-Faultspec-Phase"

#: The header of a request to the gateway: what sets it apart from an ordinary one, percent-encoded.
TRIGGER = "X-Faultspec-Trigger"

#: The header of an answer of the gateway: the fingerprints of its findings.
FINDINGS = "X-Faultspec-Findings"

#: The header of an answer that the gateway made up, since the request did not reach the service.
NOT_SENT = "X-Faultspec-Not-Sent"

#: The variable with the names of further checks, separated by commas; and the variable with the
#: path of the file that their failures are appended to, one JSON object a line.
CHECKS, FAILURES = "FAULTSPEC_CHECKS", "FAULTSPEC_FAILURES"

#: The variable with the port of the gateway on 127.0.0.1.
GATEWAY = "FAULTSPEC_GATEWAY"

#: The events of Python that precede traffic on the network, each with the position of the address.
_NETWORK = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.getaddrinfo": 0}

#: Bytes of data that the process may have: a schema that multiplies takes gigabytes, the
#: closed documents of `test_contacts` take 310 MB.
_MEMORY = 448 * 1024**2

_planned: Counter[str] = Counter()
_first_phase: dict[str, str] = {}


class Observed(Failure):
    """Findings of the suite; the message has their fingerprints. The suite reports them itself."""

    code = "FS002"
    kind_title = "Finding of faultspec"


def phase_of(case: Any) -> str:
    """The name of the phase that a case belongs to; empty if it is unknown."""
    # The meta data of a case are not documented.
    name = getattr(getattr(getattr(case, "meta", None), "phase", None), "name", "")
    return str(getattr(name, "value", name))


def trigger_of(case: Any) -> str:
    """The description of the data of a case, by schemathesis; empty if it has none."""
    # The meta data of a case are not documented.
    data = getattr(getattr(getattr(case, "meta", None), "phase", None), "data", None)
    texts = (getattr(data, name, None) for name in ("description", "parameter", "location"))
    words, parameter, location = (text if isinstance(text, str) else "" for text in texts)
    place = parameter or location
    return f"{words} (`{place}`)" if words and place else words


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Count the requests of the coverage phase, which exist before the first one is sent; without
    those that try other methods.
    """
    if phase_of(case) == "coverage" and case.method.upper() == case.operation.method.upper():
        _planned[case.operation.label] += 1
    return True


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Name the phase to the gateway."""
    value = f"{phase_of(case) or 'unknown'} {_planned[case.operation.label]}"
    case.headers = {
        **(case.headers or {}),
        PHASE: value,
        TRIGGER: quote(trigger_of(case), safe=" "),
    }


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Fail in the fuzzing phase on a finding that no earlier phase had. The command line of
    schemathesis shrinks what fails here, and does not shrink what fails a check.
    """
    phase = phase_of(case)
    found = {key for line in response.headers.get(FINDINGS.lower(), ()) for key in line.split()}
    new = {key for key in found if _first_phase.setdefault(key, phase) == phase}
    if new and phase == "fuzzing":
        raise Observed(operation=case.operation.label, message=" ".join(sorted(new)))


@schemathesis.check
def faultspec_gateway(ctx: Any, response: Any, case: Any) -> bool | None:
    """Run the further checks, and append their failures to the file for the suite."""
    if NOT_SENT.lower() in response.headers:
        return True
    for name in filter(None, os.environ.get(CHECKS, "").split(",")):
        for failure in _failures(getattr(builtin, name), ctx, response, case):
            _append(name, failure, case)
    return None


def _failures(check: Callable[..., Any], ctx: Any, response: Any, case: Any) -> Iterable[Failure]:
    try:
        check(ctx, response, case)
    except FailureGroup as group:
        return [error for error in group.exceptions if isinstance(error, Failure)]
    except Failure as failure:
        return [failure]
    return ()


def _allow_gateway_only(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise ConnectionRefusedError on traffic with anything but the gateway, such as the target of
    a redirect.
    """
    if event not in _NETWORK:
        return
    address = arguments[_NETWORK[event]]
    port = str(arguments[1]) if event == "socket.getaddrinfo" else ""
    if isinstance(address, tuple):
        address, port = address[0], str(address[1])
    if address not in ("127.0.0.1", b"127.0.0.1") or port != os.environ[GATEWAY]:
        raise ConnectionRefusedError(f"the generator may not contact {address}")


def _bound_memory() -> None:
    """Let the process fail to get more memory than ``_MEMORY``, where the system can say no."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        most = _MEMORY if most == resource.RLIM_INFINITY else min(_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


if GATEWAY in os.environ:
    sys.addaudithook(_allow_gateway_only)
    _bound_memory()


def _append(name: str, failure: Failure, case: Any) -> None:
    path = os.environ.get(FAILURES)
    if path is None:
        return
    related: Iterable[object] = getattr(failure, "related_case_ids", tuple)()
    entry = {
        "check": name,
        "title": failure.title,
        "message": failure.message,
        "cases": [*map(str, related), str(failure.case_id or case.id)],
    }
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
