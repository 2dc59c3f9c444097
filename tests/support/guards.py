"""Sessions that refuse every change by a probe, whatever way it takes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from faultspec_conformance.session.base import Session
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.knowledge import Knowledge, UnitKnowledge
from faultspec_conformance.session.observations import Observations, PartRecord

RECORDS = (Knowledge, UnitKnowledge, Observations, PartRecord)

#: Modules that change a record for their caller.
_CARRIERS = (
    "collections",
    "support.guards",
    "faultspec_conformance.session.knowledge",
    "faultspec_conformance.session.observations",
)

_MUTATORS = (
    *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
    *("add", "discard", "update", "setdefault", "popitem", "difference_update"),
    *("__setitem__", "__delitem__", "__iadd__", "__ior__", "__iand__", "__isub__"),
)


class ProbeChange(AssertionError):
    """A probe has changed a record of the session."""


def refuse_probes() -> None:
    """Raise ProbeChange if a probe is the one that changes a record, directly or through it."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] in _CARRIERS and frame.f_back is not None:
        frame = frame.f_back
    if frame.f_globals["__name__"].startswith("faultspec_conformance.probes"):
        raise ProbeChange(f"{frame.f_globals['__name__']}:{frame.f_lineno}")


def _guarded(base: type) -> type:
    def wrap(name: str) -> Any:
        def change(self: Any, *arguments: Any, **named: Any) -> Any:
            refuse_probes()
            return getattr(base, name)(self, *arguments, **named)

        return change

    names = [name for name in _MUTATORS if hasattr(base, name)]
    return type(f"Guarded{base.__name__.title()}", (base,), {name: wrap(name) for name in names})


GUARDED = {base: _guarded(base) for base in (list, dict, set)}


@contextmanager
def guarded(session: Session) -> Iterator[None]:
    """Refuse changes of the records of a session by probes; the session itself may change them."""
    records: list[object] = [session.observations, *session.observations.parts]
    if isinstance(session, HttpSession):
        records += [session.knowledge, session.knowledge.common]
    for record in records:
        for name in type(record).__slots__:  # type: ignore[attr-defined]  # all have slots
            value = getattr(record, name)
            if type(value) in GUARDED:
                setattr(record, name, GUARDED[type(value)](value))

    def set_checked(record: object, name: str, value: object) -> None:
        refuse_probes()
        object.__setattr__(record, name, value)

    with pytest.MonkeyPatch.context() as patch:
        for kind in (*RECORDS, type(session)):
            patch.setattr(kind, "__setattr__", set_checked, raising=False)
        yield
