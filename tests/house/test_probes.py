"""Probes read: no module of `probes/` assigns to a session or calls what changes one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultspec_conformance.session.base import Session
from faultspec_conformance.session.calls import CallSession, RpcSession, ToolSession
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.knowledge import Knowledge
from faultspec_conformance.session.observations import Observations
from paths import ROOT

PROBES = sorted((ROOT / "conformance" / "faultspec_conformance" / "probes").glob("*.py"))

#: Methods of sessions that send a request, read, or draw a new value.
CALLS = frozenset(
    {
        *("call", "try_call", "ask", "call_together", "notify", "batch", "send_raw", "resource"),
        *("stranger", "operation", "identity", "canary", "requested_wait", "is_from_server"),
        *("claims_errors", "waits", "throttled_error", "make_values", "repeat"),
        *("inbound", "new_id", "tools", "samples", "output_text"),
        *("key_rule", "with_new_key"),
        # The values that it makes up are searched in every answer, as canaries are.
        "renew_params",
        # They wait, or start a new session of the protocol, as a request does.
        *("linger", "reset", "wait", "restart", "open_session", "read_sinks"),
        *("take_step", "post_step", "post_call", "collect_step"),
    }
)

#: Methods of the records that only read.
READS = frozenset({"decided_clauses", "has_attempted", "tenants"})

#: Methods of lists, mappings and sets that only read.
CONTAINERS = frozenset({"get", "keys", "values", "items", "index", "count", "copy", "union"})


def chain(node: ast.AST) -> list[str]:
    """Return the names of an attribute chain, the root first; subscripts and calls are passed."""
    names: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.func if isinstance(node, ast.Call) else node.value
    return [*([node.id] if isinstance(node, ast.Name) else []), *reversed(names)]


def of_session(node: ast.AST) -> list[str]:
    """Return what follows `session` in an attribute chain; empty if it is not one of a session."""
    names = chain(node)
    return names[names.index("session") + 1 :] if "session" in names else []


def changes(tree: ast.AST) -> Iterator[str]:
    """Yield each assignment to a part of a session, and each call that may change one."""
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Subscript) and of_session(target):
                yield f"{node.lineno}: sets {ast.unparse(target)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names = of_session(node.func)
            in_record = len(names) > 1 and names[0] in ("observations", "knowledge")
            allowed = READS | CONTAINERS if in_record else CALLS if len(names) == 1 else names
            if names and names[-1] not in allowed:
                yield f"{node.lineno}: calls {ast.unparse(node.func)}"


@pytest.mark.parametrize("path", PROBES, ids=lambda path: path.name)
def test_a_probe_changes_no_session(path: Path) -> None:
    """A probe sends requests and yields results. The session, and the scheduler, record them."""
    assert list(changes(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_the_reading_methods_exist() -> None:
    """Every method that a probe may call belongs to a session or a record."""
    kinds = (Session, HttpSession, CallSession, RpcSession, ToolSession)
    assert all(any(hasattr(kind, name) for kind in kinds) for name in CALLS)
    assert all(any(hasattr(kind, name) for kind in (Knowledge, Observations)) for name in READS)


def test_the_check_sees_what_it_forbids() -> None:
    """Planted changes of a session are found, and reads are not."""
    sins = (
        "session.turn = ()",
        "self.session.knowledge.own.absent |= {1}",
        "del session.knowledge.created['a']",
        "session.knowledge.own.absent.add('GET /')",
        "self.session.knowledge.learn_shared(fact)",
        "session.observations.add([note])",
        "session.observations.current.outcomes.append(note)",
        "session.begin('a', 1)",
    )
    assert all(list(changes(ast.parse(sin))) for sin in sins)
    reads = "session.knowledge.created.get('a')\nfound = session.call(spec)\nx = session.turn[0]"
    assert list(changes(ast.parse(reads))) == []
