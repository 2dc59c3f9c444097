"""Long texts of a creation keep to the patterns of their members."""

from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes.long_texts import with_long_texts
from probes.test_accepted_writes import DOCUMENT, OK, SCHEMA, TAXONOMY
from support.scripted import answer, http_session

CODE = {"type": "string", "pattern": "^[A-Za-z0-9-]+$", "maxLength": 40}
NOTE = {"anyOf": [{"type": "string", "maxLength": 200}, {"type": "null"}]}


def test_a_member_whose_pattern_has_no_room_for_prose_stays_as_it_is() -> None:
    """A code without spaces is not made long, so that the note beside it is; a nullable note counts
    as a text.
    """
    schema = {**SCHEMA, "properties": {"code": CODE, "note": NOTE}}
    write = {**OK, "requestBody": {"content": {"application/json": {"schema": schema}}}}
    paths = {"/cars": {"get": OK, "post": write}, "/cars/{id}": {"get": OK}}
    config = ServiceConfig(limits=Limits(writes=True))
    session = http_session(
        lambda request: answer(200), TAXONOMY, config, {**DOCUMENT, "paths": paths}
    )
    [kind] = session.kinds
    body = with_long_texts(session, kind, {"code": "a-0"})
    assert isinstance(body, dict)
    assert body["code"] == "a-0"
    assert len(body["note"]) == 200
