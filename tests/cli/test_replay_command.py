"""`faultspec replay`: a finding is sent again and judged, or the reason why not is given."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

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
    code, out, _ = faultspec(
        "replay", str(report), fingerprint(report)[:6], "--config", CONFIG, BASE_URL=broken
    )
    assert code == 1
    assert "error: headers/cache-control" in out
    assert out.endswith("reproduced\n")
    assert not any(value in out for name, value in ENVIRONMENT.items() if value.startswith("tok-"))


def test_a_mended_service_reproduces_nothing(report: Path) -> None:
    """The same requests to a service without the defect exit with 0."""
    with serving(sinning()) as base:
        code, out, err = faultspec(
            *("replay", str(report), fingerprint(report), "--config", CONFIG, "--base", base),
            BASE_URL=base,
        )
    assert code == 0, (out, err)
    assert "not reproduced: headers/cache-control holds" in out


def edited(report: Path, folder: Path, **members: object) -> str:
    """The path of a copy of the report, with other members in its first finding."""
    data = json.loads(report.read_text())
    data["findings"] = [{**data["findings"][0], **members}]
    clause = data["findings"][0]["clause"]
    if all(each["clause"] != clause for each in data["clauses"]):
        data["clauses"].append({**data["clauses"][0], "clause": clause})
    path = folder / "edited.json"
    path.write_text(json.dumps(data))
    return str(path)


def test_a_relation_is_shown_and_not_decided(report: Path, broken: str, tmp_path: Path) -> None:
    """A clause that compares answers exits with 2, after the answers beside the recorded ones."""
    path = edited(report, tmp_path, clause="tenancy/concealed")
    name = read_report(Path(path).read_text()).result.findings[0].finding.fingerprint
    code, out, _ = faultspec("replay", path, name, "--config", CONFIG, BASE_URL=broken)
    assert code == 2
    assert "recorded  404" in out
    assert "now       404" in out
    assert "undecided: `tenancy/concealed` compares answers" in out


def refusal(report: Path, folder: Path, base: str, **request: object) -> str:
    """The error of a replay of a finding whose request has other members."""
    data = json.loads(report.read_text())["findings"][0]["exchange"]
    data["request"] |= request
    path = edited(report, folder, exchange=data)
    code, _, err = faultspec("replay", path, fingerprint(report), "--config", CONFIG, BASE_URL=base)
    assert code == 2
    return err


def test_what_cannot_be_rebuilt_is_refused(report: Path, broken: str, tmp_path: Path) -> None:
    """A value without a name, an unknown variable, a long body and too many header fields are
    refused by name.
    """
    masked = refusal(report, tmp_path, broken, target="/x?key=***")
    assert "the address has a value that the report masks without a name" in masked
    unknown = refusal(report, tmp_path, broken, headers=[["X-Key", "${NOBODY_KNOWS}"]])
    assert "the header `X-Key` has a secret, `${NOBODY_KNOWS}`, that the configuration" in unknown
    long = refusal(report, tmp_path, broken, body="ab" * 8192, size=99_999)
    assert "only the first 16384 of 99999 bytes of the body" in long
    many = refusal(report, tmp_path, broken, headers=[["X-Key", str(n)] for n in range(2_001)])
    assert "a request has more than 2,000 header fields" in many


@pytest.mark.parametrize(
    "target", ["@127.0.0.2:81/x", ":81@127.0.0.2/x", "81/x", " @host/x", "\\\\x"]
)
def test_a_report_names_no_other_host(
    report: Path, broken: str, tmp_path: Path, target: str
) -> None:
    """A target that would move the address behind the configured one is not sent."""
    assert "the target of the request is not a path" in refusal(
        report, tmp_path, broken, target=target
    )


@pytest.mark.parametrize("name", ["CLOUD_KEY", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD"])
def test_a_report_reads_no_variable_of_the_environment(
    name: str, report: Path, broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that the configuration does not use is not sent, though the environment has it and
    reports mask it.
    """
    monkeypatch.setenv(name, "wJalrXUtnFEMIK7MDENG")
    error = refusal(report, tmp_path, broken, headers=[["X-Key", f"${{{name}}}"]])
    assert "that the configuration does not use" in error


@pytest.mark.parametrize("source", [CONFIG, "/etc/passwd", "elsewhere/conformance.yaml"])
def test_a_report_starts_no_configuration_by_itself(
    report: Path, tmp_path: Path, source: str
) -> None:
    """Only conformance.yaml of the folder, and those of faultspec.yaml, need no `--config`."""
    data = json.loads(report.read_text())
    data["run"]["source"] = source
    path = tmp_path / "named.json"
    path.write_text(json.dumps(data))
    code, out, err = faultspec("replay", str(path), fingerprint(report))
    assert (code, out) == (2, "")
    assert f"the report names the configuration {source}, which is read only by --config" in err
    assert "root:" not in err


@pytest.mark.parametrize("base", ["http://198.51.100.7", "http://127.0.0.1:99999", "http://[::1"])
def test_a_report_of_a_url_sends_no_header_elsewhere(
    report: Path, tmp_path: Path, base: str
) -> None:
    """Without a configuration only this machine is asked, at a port that exists; another address
    needs `--base`.
    """
    data = json.loads(report.read_text())
    data["run"]["source"], data["run"]["base"] = None, base
    path = tmp_path / "far.json"
    path.write_text(json.dumps(data))
    code, _, err = faultspec("replay", str(path), fingerprint(report), "--header", "X-Key: secret")
    assert code == 2
    assert "the report has no address on this machine" in err


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


LOGIN = {
    "taxonomy.yaml": """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  denied: {summary: Not you, http: 401, retriable: false}
  absent: {summary: Not there, http: 404, retriable: false}
privacy: {detectors: [canary, stack-trace]}
""",
    "conformance.yaml": """
taxonomy: taxonomy.yaml
target: {http: "${BASE_URL}", openapi: none}
identities:
  alice:
    headers: {Authorization: "Bearer ${token}"}
    login:
      request: POST /login
      body: {password: "${PASSWORD}"}
      save: {token: /access_token}
provoke:
  absent: {request: GET /things/1}
""",
}


class Shop:
    """A shop whose 404 is undeclared and returns the token. Each login yields a new token."""

    def __init__(self) -> None:
        self.logins = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        token = f"token-of-login-{self.logins}"
        status, body = 404, {"code": "gone", "token": token}
        if scope["path"] == "/login":
            self.logins += 1
            password = json.loads((await receive())["body"])["password"]
            status, body = 200, {"access_token": f"token-of-login-{self.logins}"}
            if password != "open-sesame-1":
                status, body = 401, {"code": "denied"}
        elif (b"authorization", f"Bearer {token}".encode()) not in scope["headers"]:
            status, body = 401, {"code": "denied"}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A shop that was judged with a login, and the folder of the report."""
    folder = tmp_path_factory.mktemp("shop")
    for name, text in LOGIN.items():
        (folder / name).write_text(text)
    with serving(Shop()) as base:
        environment = {"BASE_URL": base, "PASSWORD": "open-sesame-1"}
        report = f"json={folder / 'report.json'}"
        arguments = ("conform", str(folder / "conformance.yaml"), "--no-sweep", "--report", report)
        done = command_line.faultspec(*arguments, cwd=ROOT, environment=environment)
        assert done.returncode == 1, done.stderr
        yield base, folder


def named(folder: Path, clause: str) -> str:
    """The fingerprint of the finding of a clause."""
    findings = json.loads((folder / "report.json").read_text())["findings"]
    return str(next(each["fingerprint"] for each in findings if each["clause"] == clause))


@pytest.mark.parametrize("clause", ["code/declared", "leaks/canary"])
def test_a_replay_logs_in(shop: tuple[str, Path], clause: str) -> None:
    """An identity with a login gets new credentials; no output contains them."""
    base, folder = shop
    environment = {"BASE_URL": base, "PASSWORD": "open-sesame-1"}
    arguments = ("replay", str(folder / "report.json"), named(folder, clause))
    done = command_line.faultspec(*arguments, cwd=folder, environment=environment)
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith("reproduced\n")
    assert "token-of-login" not in done.stdout + done.stderr
    assert "open-sesame" not in done.stdout + done.stderr


def test_a_replay_without_credentials_gives_the_reason(shop: tuple[str, Path]) -> None:
    """If the login is refused, the replay exits with 2 and names the identity and the answer."""
    base, folder = shop
    environment = {"BASE_URL": base, "PASSWORD": "wrong-password"}
    arguments = ("replay", str(folder / "report.json"), named(folder, "code/declared"))
    done = command_line.faultspec(*arguments, cwd=folder, environment=environment)
    assert done.returncode == 2
    assert "alice could not log in: the service answered 401 denied to POST /login" in done.stderr


def test_a_report_that_cannot_be_written_stops_no_other(report: Path, tmp_path: Path) -> None:
    """A full disk is named with exit code 2. The other reports and the table are complete."""
    page = tmp_path / "report.html"
    code, out, err = faultspec(
        *("report", "merge", str(report)),
        *("--report", "json=/dev/full", "--report", f"html={page}"),
    )
    assert code == 2
    assert "[file-unwritable]: /dev/full: No space left on device" in err
    assert "headers/cache-control" in out
    assert page.read_text().endswith("</html>\n")


async def crashes(scope: Scope, receive: Receive, send: Send) -> None:
    """A service that crashes, and has no document."""
    status = 500 if scope["path"] == "/" else 404
    body = b'{"problem": "%d"}' % status
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body if scope["method"] != "HEAD" else b""})


def test_a_finding_of_a_run_without_a_taxonomy_is_reproduced(tmp_path: Path) -> None:
    """It is judged by what every service owes. What needs the learned form is undecided."""
    report = tmp_path / "report.json"
    with serving(crashes) as base:
        done = command_line.faultspec(
            "conform", base, "--path", "/", "--report", f"json={report}", cwd=tmp_path
        )
        assert done.returncode == 1, done.stdout + done.stderr
        findings = {each["clause"]: each for each in json.loads(report.read_text())["findings"]}
        name = findings["service/no-crash"]["fingerprint"]
        again = command_line.faultspec("replay", str(report), name, cwd=tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    assert again.stdout.endswith("reproduced\n")
