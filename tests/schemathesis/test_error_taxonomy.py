"""The check for teams that run schemathesis: in `st run`, and in tests that call cases."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis as st
from schemathesis.core.failures import FailureGroup
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from docs.test_readme import check, transcripts
from faultspec_conformance import schemathesis as ours
from faultspec_conformance.schemathesis import BrokenClause, UnusableTaxonomy, error_taxonomy
from miniatures import lending
from miniatures.serve import serving
from paths import ROOT


@pytest.fixture(autouse=True)
def taxonomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge by the taxonomy of the library."""
    monkeypatch.setenv(ours.TAXONOMY, str(lending.TAXONOMY))


def case(**parts: Any) -> Any:
    """A case that reads one book."""
    schema = st.openapi.from_dict(lending.document(()))
    return schema["/books/{bookId}"]["GET"].Case(path_parameters={"bookId": 1}, **parts)


def answer(status: int, body: object) -> httpx.Response:
    """An answer to a request of a book."""
    client = TestClient(JSONResponse(body, status))
    return client.get("/api/books/1", headers={"Authorization": "Bearer x"})


def test_a_sound_answer_passes() -> None:
    """An error in its envelope passes the check, beside the checks of schemathesis."""
    sound = answer(404, {"code": "not_found", "message": "It does not exist"})
    case().validate_response(sound, additional_checks=[error_taxonomy])
    case().validate_response(sound, checks=[error_taxonomy])


def test_each_broken_clause_is_a_failure() -> None:
    """An answer that breaks several clauses has one failure for each; their places tell them
    apart.
    """
    broken = answer(404, {"code": "gone", "message": 7})
    with pytest.raises(FailureGroup) as caught:
        case().validate_response(broken, checks=[error_taxonomy])
    failures = [each for each in caught.value.exceptions if isinstance(each, BrokenClause)]
    assert {each.clause for each in failures} == {"code/declared", "envelope/types"}
    assert len({each._unique_key for each in failures}) == len(failures)
    assert {each.code for each in failures} == {"FS001"}
    for failure in failures:
        assert failure.operation == "GET /api/books/{bookId}"
        assert failure.clause in failure.title
        assert failure.asdict()["clause"] == failure.clause


def test_secrets_of_the_environment_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service with the same environment may answer with a secret of it; no failure shows it."""
    monkeypatch.setenv("SVC_TOKEN", "Zx9Kq7tR3mN5vB8wL2")
    broken = answer(404, {"code": "gone_Zx9Kq7tR3mN5vB8wL2", "message": "It is gone"})
    with pytest.raises(FailureGroup) as caught:
        case().validate_response(broken, checks=[error_taxonomy])
    shown = [str(each) for each in caught.value.exceptions if isinstance(each, BrokenClause)]
    assert any("gone_${SVC_TOKEN}" in text for text in shown)
    assert not any("Zx9Kq7tR3mN5vB8wL2" in text for text in shown)


def test_a_live_case_is_judged() -> None:
    """`case.call_and_validate` takes the check like any other."""
    with serving(lending.lending("title-crashes")) as url:
        schema = st.openapi.from_url(f"{url}/openapi.json")
        schema["/books"]["GET"].Case().call_and_validate(checks=[error_taxonomy])
        body: Mapping[str, object] = {"title": "Ü", "pages": 1}
        crash = schema["/books"]["POST"].Case(body=body, media_type="application/json")
        with pytest.raises(FailureGroup, match="service/no-crash"):
            crash.call_and_validate(checks=[error_taxonomy])


def test_without_a_taxonomy_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A taxonomy that cannot be read is an error of the run, which names the variable."""
    monkeypatch.setenv(ours.TAXONOMY, "no-such-file.yaml")
    with pytest.raises(UnusableTaxonomy, match=r"no-such-file.*FAULTSPEC_TAXONOMY"):
        case().validate_response(answer(404, {}), checks=[error_taxonomy])


@pytest.mark.full
def test_the_transcript_of_the_page_is_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands of docs/conformance.md about schemathesis print what stands below them."""
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    section = page.partition("## With schemathesis\n")[2].partition("\n## ")[0]
    commands = transcripts(section)
    assert len(commands) == 2
    (tmp_path / "taxonomy.yaml").write_bytes(lending.TAXONOMY.read_bytes())
    module = re.search(r"^```python\n# test_library.py\n(.*?)^```", section, re.M | re.S)
    assert module is not None
    (tmp_path / "test_library.py").write_text(module[1], encoding="utf-8")
    monkeypatch.delenv(ours.TAXONOMY)
    with serving(lending.lending("missing-book-in-other-words")) as url:
        monkeypatch.setenv("URL", url)
        check(commands, tmp_path)
