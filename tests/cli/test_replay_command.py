"""`faultspec replay`: a finding is sent again and judged, or the reason why not is given."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultspec_conformance.reports.reading import read_report
from miniatures.core_platform import ENVIRONMENT
from miniatures.serve import serving
from miniatures.sins import sinning
from paths import ROOT, TESTS
from support import command_line

CONFIG = str(TESTS / "miniatures" / "notebooks.yaml")


def faultspec(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the command line, with the callers of the notebooks."""
    done = command_line.faultspec(*arguments, cwd=ROOT, environment={**ENVIRONMENT, **environment})
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def broken() -> Iterator[str]:
    """The notebooks with a defect of headers."""
    with serving(sinning("no-store-missing-on-404")) as base:
        yield base


@pytest.fixture(scope="module")
def report(broken: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run over the defect."""
    path = tmp_path_factory.mktemp("replay") / "report.json"
    arguments = ("--no-sweep", "--only", "headers/cache-control", "--report", f"json={path}")
    assert faultspec("conform", CONFIG, *arguments, BASE_URL=broken)[0] == 1
    return path


def fingerprint(report: Path) -> str:
    """The fingerprint of the first finding."""
    found: str = json.loads(report.read_text())["findings"][0]["fingerprint"]
    return found


def test_a_defect_is_reproduced(report: Path, broken: str) -> None:
    """The finding is printed again with exit code 1, by the beginning of its fingerprint. The
    credentials come from the configuration, and none of them is printed.
    """
    code, out, _ = faultspec("replay", str(report), fingerprint(report)[:6], BASE_URL=broken)
    assert code == 1
    assert "error: headers/cache-control" in out
    assert out.endswith("reproduced\n")
    assert not any(value in out for name, value in ENVIRONMENT.items() if value.startswith("tok-"))


def test_a_mended_service_reproduces_nothing(report: Path) -> None:
    """The same requests to a service without the defect exit with 0."""
    with serving(sinning()) as base:
        code, out, err = faultspec(
            "replay", str(report), fingerprint(report), "--base", base, BASE_URL=base
        )
    assert code == 0, (out, err)
    assert "not reproduced: headers/cache-control holds" in out


def edited(report: Path, folder: Path, **members: object) -> str:
    """The path of a copy of the report, with other members in its first finding."""
    data = json.loads(report.read_text())
    data["findings"] = [{**data["findings"][0], **members}]
    path = folder / "edited.json"
    path.write_text(json.dumps(data))
    return str(path)


def test_a_relation_is_shown_and_not_decided(report: Path, broken: str, tmp_path: Path) -> None:
    """A clause that compares answers exits with 2, after the answers beside the recorded ones."""
    path = edited(report, tmp_path, clause="tenancy/concealed")
    name = read_report(Path(path).read_text()).result.findings[0].finding.fingerprint
    code, out, _ = faultspec("replay", path, name, BASE_URL=broken)
    assert code == 2
    assert "recorded  404" in out
    assert "now       404" in out
    assert "undecided: `tenancy/concealed` compares answers" in out


def refusal(report: Path, folder: Path, base: str, **request: object) -> str:
    """The error of a replay of a finding whose request has other members."""
    data = json.loads(report.read_text())["findings"][0]["exchange"]
    data["request"] |= request
    path = edited(report, folder, exchange=data)
    code, _, err = faultspec("replay", path, fingerprint(report), BASE_URL=base)
    assert code == 2
    return err


def test_what_cannot_be_rebuilt_is_refused(report: Path, broken: str, tmp_path: Path) -> None:
    """A value without a name, an unknown variable and a long body are refused by name."""
    masked = refusal(report, tmp_path, broken, target="/x?key=***")
    assert "the address has a value that the report masks without a name" in masked
    unknown = refusal(report, tmp_path, broken, headers=[["X-Key", "${NOBODY_KNOWS}"]])
    assert "the header `X-Key` has a secret, `${NOBODY_KNOWS}`, that neither" in unknown
    long = refusal(report, tmp_path, broken, body="ab" * 8192, size=99_999)
    assert "only the first 16384 of 99999 bytes of the body" in long


def test_a_replay_obeys_the_limit_of_writes(report: Path, broken: str, tmp_path: Path) -> None:
    """Without `limits: {writes: true}` no method is sent that may write."""
    data = json.loads(report.read_text())
    data["run"]["source"], data["run"]["base"] = None, broken
    exchange = data["findings"][0]["exchange"]
    exchange["request"] |= {"method": "POST", "headers": []}
    data["findings"] = [{**data["findings"][0], "before": [], "exchange": exchange}]
    path = tmp_path / "url.json"
    path.write_text(json.dumps(data))
    code, _, err = faultspec("replay", str(path), fingerprint(report))
    assert code == 2
    assert "POST is not sent without `limits: {writes: true}`" in err


def test_an_unknown_finding_is_refused(report: Path) -> None:
    """An id that no finding has, and an empty one, exit with 2."""
    for name in ("0" * 12, ""):
        code, _, err = faultspec("replay", str(report), name)
        assert code == 2
        assert "has no finding" in err or "begin with" in err
