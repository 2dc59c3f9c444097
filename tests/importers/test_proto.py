"""Laws of the import of protos: reasons, statuses, routes, places, and no traceback."""

import contextlib
import hashlib
import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.cli.documents import Unreadable
from faultspec.cli.protos import read_protos
from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.importers import NotImportable
from faultspec.importers.descriptors import UnreadableDescriptors, read_descriptors
from faultspec.importers.proto import HTTP, read
from faultspec.importers.validate import drop_invalid
from faultspec.judge import judge
from faultspec.language.constructs.failures import GRPC
from importers.test_importers import taken_in
from paths import ROOT
from support.command_line import faultspec
from support.examples import examples

PROTOS = ROOT / "tests/fixtures/protos"
FILES = [str(PROTOS / f"acme/library/v1/{name}.proto") for name in ("library", "errors")]

#: Where googleapis-common-protos has the protos of google.
GOOGLE = Path(next(iter(getattr(find_spec("google.rpc"), "submodule_search_locations")))).parent  # noqa: B009  # a spec may be None


def imported(*files: str) -> dict[str, Any]:
    """The data of the taxonomy of sources."""
    protos = read_protos(files, ())
    return dict(drop_invalid(read(protos.descriptors.data, protos.named)).data)


def test_a_reason_has_the_status_that_the_proto_says() -> None:
    """An option, a comment, the name and the option of the enum give the status, in this order.
    Options of other names give none.
    """
    codes = imported(*FILES)["codes"]
    stated = {name: (code["http"], code.get("on", {}).get("grpc")) for name, code in codes.items()}
    assert stated == {
        "BOOK_NOT_FOUND": (404, "NOT_FOUND"),
        "BOOK_LENT": (400, "FAILED_PRECONDITION"),
        "SHELF_FULL": (507, None),
        "UNAVAILABLE": (503, "UNAVAILABLE"),
        "MYSTERY": (["4xx", "5xx"], None),
        "LOAN_LOST": (500, None),
        "LOAN_REFUSED": (403, None),
        "LOAN_BOOK_LENT": (500, None),
    }
    assert codes["BOOK_NOT_FOUND"]["summary"] == "The book does not exist."
    assert codes["BOOK_LENT"]["summary"] == "Somebody else has the book."
    assert codes["SHELF_FULL"]["lifecycle"] == "deprecated"


def test_a_method_is_matched_by_its_routes() -> None:
    """The route of gRPC, and those of google.api.http, of the named files only."""
    operations = imported(*FILES)["operations"]
    assert operations["GetBook"] == {
        "summary": "Gets a book.",
        "wire": "acme.library.v1.Library/GetBook",
        "match": {
            "routes": [
                "POST /acme.library.v1.Library/GetBook",
                "GET /v1/shelves/*/books/*",
                "POST /v1/books:get",
            ]
        },
        "idempotent": True,
    }
    assert operations["Watch"]["match"] == {"routes": ["POST /acme.library.v1.Library/Watch"]}
    assert list(imported(FILES[0])["codes"]) == list(imported(*FILES)["codes"])


INFO = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "BOOK_NOT_FOUND",
    "domain": "library.example.com",
    "metadata": {"book": "b1"},
}
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}


@pytest.mark.parametrize("details", [[INFO], [INFO, RETRY], [RETRY, INFO], [RETRY]])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda body: body,
        lambda body: {"error": {**body, "code": 404, "status": "NOT_FOUND"}},
    ],
    ids=["status", "error"],
)
def test_errors_of_the_service_are_judged(wrap: Any, details: list[Any]) -> None:
    """Both forms pass, with other details beside ErrorInfo in any order. A wrong status or an
    unknown reason is a finding, wherever ErrorInfo stands.
    """
    contract = build_contract(taken_in(read_taxonomy()))

    def findings(body: Any, status: int = 404) -> set[str]:
        headers = (("content-type", "application/json"),)
        answer = Response(status, headers, json.dumps(body).encode())
        request = Request("GET", "/v1/shelves/1/books/2")
        return {found.clause for found in judge(contract, Exchange(request, answer)).findings}

    good = wrap({"code": 5, "message": "No such book", "details": details})
    assert findings(good) == set()
    if INFO in details:
        assert "code/status" in findings(good, 409)
        changed = json.loads(json.dumps(good).replace("BOOK_NOT_FOUND", "BOOK_BURNT"))
        assert "code/declared" in findings(changed)
        wrong = json.loads(
            json.dumps(good).replace('"code": 5', '"code": 3').replace('"NOT_FOUND"', '"ABORTED"')
        )
        assert findings(wrong) == {"boundary/allowed"}


def read_taxonomy() -> Any:
    """The import of the library."""
    protos = read_protos(FILES, ())
    return read(protos.descriptors.data, protos.named)


def test_every_status_of_grpc_has_its_status_of_http() -> None:
    """google/rpc/code.proto has `HTTP Mapping` in the comment of every status; ours is the same."""
    text = (GOOGLE / "rpc/code.proto").read_text()
    stated = re.findall(r"HTTP Mapping: (\d+).*?\n *([A-Z_]+) = (\d+);", text, re.DOTALL)
    assert {name: int(http) for http, name, _ in stated if name != "OK"} == HTTP
    assert {name: int(number) for _, name, number in stated if name != "OK"} == GRPC
    codes = imported(str(GOOGLE / "rpc/code.proto"))["codes"]
    assert {name: code["http"] for name, code in codes.items()} == HTTP
    assert {code["on"]["grpc"] for code in codes.values()} == GRPC.keys()


def test_reasons_of_google_are_imported() -> None:
    """google/api/error_reason.proto, by its hash: every value but the unspecified one is a code."""
    file = GOOGLE / "api/error_reason.proto"
    content = file.read_bytes()
    assert hashlib.sha256(content).hexdigest().startswith("c69dbc781135d7ca"), "a new release"
    declared = re.findall(r"^  ([A-Z_]+) = \d+;", content.decode(), re.MULTILINE)
    codes = imported(str(file))["codes"]
    assert len(codes) == 43
    assert list(codes) == [name for name in declared if name != "ERROR_REASON_UNSPECIFIED"]
    assert codes["SERVICE_DISABLED"]["summary"] == (
        "The request is calling a disabled service for a consumer."
    )


def test_losses_have_the_place_in_their_file(tmp_path: Path) -> None:
    """A loss names the file, line and column of the value; the decisions of the team follow."""
    done = faultspec("import", "proto", *FILES, "--out", "library.yaml", cwd=tmp_path)
    assert done.returncode == 0
    at = next(
        number
        for number, line in enumerate(Path(FILES[1]).read_text().splitlines(), 1)
        if "MYSTERY" in line
    )
    assert f"{FILES[1]}:{at - 2}:3: not carried [status]" in done.stderr
    assert "`Book.FinishReason`" in done.stderr or "FinishReason` is not read" in done.stderr
    assert "for the team [deprecated-without-successor]: `SHELF_FULL`" in done.stderr
    report = json.loads(
        faultspec("import", "proto", *FILES, "--format", "json", cwd=tmp_path).stderr
    )
    losses = [loss for each in report for loss in each["losses"]]
    assert {"line", "column"} <= next(loss for loss in losses if "MYSTERY" in loss["reason"]).keys()


def compiled(folder: Path, *options: str) -> Path:
    """The descriptor set of the library, as protoc writes it."""
    from grpc_tools import protoc

    out = folder / "library.binpb"
    roots = [f"-I{PROTOS}", f"-I{GOOGLE.parent}", f"-I{Path(protoc.__file__).parent / '_proto'}"]
    assert protoc.main(["protoc", *roots, *options, f"--descriptor_set_out={out}", *FILES]) == 0
    return out


def test_a_descriptor_set_is_the_same_service(tmp_path: Path) -> None:
    """A set with imports and source info gives the taxonomy of the sources; one without imports
    lacks the options, and says so.
    """
    whole = compiled(tmp_path, "--include_imports", "--include_source_info")
    done = faultspec("import", "proto", str(whole), cwd=tmp_path)
    sources = faultspec("import", "proto", *reversed(FILES), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(sources.stdout.splitlines())
    bare = faultspec("import", "proto", str(compiled(tmp_path)), cwd=tmp_path)
    assert bare.returncode == 0, bare.stderr
    assert "include_imports" in bare.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('syntax = "proto3";\nenum ErrorReason { A = ; }\n', "bad.proto:2:24: error"),
        ('syntax = "proto3";\nimport "no/such.proto";\n', "bad.proto:2:1: error"),
        ('syntax = "proto3";\nmessage A { B b = 1; }\n', "bad.proto:2:13: error"),
        ('syntax = "proto3";\nmessage A {}\n', "[no-failures]"),
        ("\x00", "bad.proto"),
    ],
)
def test_a_bad_source_has_diagnostics(tmp_path: Path, text: str, message: str) -> None:
    """File, line and column of protoc; exit code 2, nothing written."""
    (tmp_path / "bad.proto").write_text(text)
    done = faultspec("import", "proto", "bad.proto", "--out", "out.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("bad.proto")  # not the copy that protoc reads
    assert not (tmp_path / "out.yaml").exists()


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without grpcio-tools the command says what to install."""
    import click

    monkeypatch.setitem(sys.modules, "grpc_tools", None)
    monkeypatch.setattr("faultspec.cli.protos.find_spec", lambda name: None)
    with pytest.raises(click.UsageError, match=r"faultspec\[proto\]"):
        read_protos(FILES, ())


@examples(100)
@given(st.binary(max_size=60))
def test_no_bytes_end_in_a_traceback(content: bytes) -> None:
    """Any bytes are a set, or are refused."""
    try:
        found = read_descriptors(content)
    except UnreadableDescriptors:
        return
    with contextlib.suppress(NotImportable):
        drop_invalid(read(found.data))


def record(number: int, content: bytes) -> bytes:
    """A field of bytes, of a number below 16."""
    size, length = b"", len(content)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + content


def descriptors(*parts: bytes) -> bytes:
    """A set with one file of parts."""
    return record(1, record(1, b"a.proto") + b"".join(parts))


@pytest.mark.parametrize("field", [4, 5, 6, 9])
def test_a_set_of_many_parts_is_refused(field: int) -> None:
    """More parts than the reader keeps are a diagnostic, before they take memory."""
    content = descriptors(bytes([field << 3 | 2, 0]) * 1_000_000)
    with pytest.raises(UnreadableDescriptors) as refused:
        read_descriptors(content)
    assert refused.value.code == "file-too-large"


def test_more_codes_than_a_taxonomy_has_are_refused() -> None:
    """A taxonomy beyond the size of the language is a diagnostic with what to do."""
    values = b"".join(record(2, record(1, b"R%d" % n)) for n in range(30_000))
    data = read_descriptors(descriptors(record(5, record(1, b"ErrorReason") + values))).data
    with pytest.raises(NotImportable) as refused:
        drop_invalid(read(data))
    assert refused.value.code == "file-too-large"
    assert "report" not in str(refused.value.hint)


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_an_import_that_is_not_a_file_is_refused(tmp_path: Path, kind: str) -> None:
    """A device and a pipe, behind a link or not, end before protoc opens them."""
    (tmp_path / "a.proto").write_text('import /* x */ public "b/x.proto";\nenum Error { A = 1; }')
    (tmp_path / "b").mkdir()
    if kind == "fifo":
        os.mkfifo(tmp_path / "b/x.proto")
    else:
        (tmp_path / "b/x.proto").symlink_to("/dev/zero")
    done = faultspec("import", "proto", "a.proto", cwd=tmp_path)
    assert done.returncode == 2
    assert "b/x.proto: error: this is a device, a pipe or a socket" in done.stderr


def test_the_folder_of_imports_stays_in_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package leads up to the repository or the current folder, and no further."""
    folder = tmp_path / "acme/v1"
    folder.mkdir(parents=True)
    (tmp_path / "x.proto").write_text('syntax = "proto3";')
    (folder / "a.proto").write_text(
        'syntax = "proto3"; package acme.v1;\nimport "x.proto"; enum Error { A = 0; }'.replace(
            "package", "\npackage"
        )
    )
    monkeypatch.chdir(folder)
    with pytest.raises(Unreadable):
        read_protos(["a.proto"], ())
    (tmp_path / ".git").mkdir()
    assert read_protos(["a.proto"], ()).named == ("acme/v1/a.proto",)


def test_an_altered_descriptor_proto_is_not_asked(tmp_path: Path) -> None:
    """The options of a set are read by the numbers of descriptor.proto, whatever it brings."""
    from google.protobuf import descriptor_pb2

    found = descriptor_pb2.FileDescriptorSet.FromString(
        compiled(tmp_path, "--include_imports").read_bytes()
    )
    for file in found.file:
        if file.name == "google/protobuf/descriptor.proto":
            del file.message_type[:]
    codes = read(read_descriptors(found.SerializeToString()).data).data["codes"]
    assert codes["BOOK_NOT_FOUND"]["on"] == {"grpc": "NOT_FOUND"}


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 600)
    | st.sampled_from(["NOT_FOUND", "A", "get", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "file",
                    "name",
                    "package",
                    "enum_type",
                    "value",
                    "options",
                    "service",
                    "method",
                    "message_type",
                    "[a.code]",
                    "[google.api.http]",
                    "get",
                    "source_code_info",
                    "location",
                    "path",
                    "span",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@examples(200)
@given(
    st.fixed_dictionaries(
        {
            "file": st.lists(
                st.fixed_dictionaries({"enum_type": anything, "service": anything}), max_size=2
            )
        }
    )
)
def test_no_data_ends_in_a_traceback(data: Any) -> None:
    """Data of any form is a taxonomy without errors, or is refused."""
    with contextlib.suppress(NotImportable):
        read(data)
