"""Laws of the generated Go package for servers, over real HTTP: the laws and the table of
`test_frameworks`.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from frameworks.shop import LAWS, Shop, failures, served
from frameworks.test_frameworks import ADOPT, HERE, keep_row, table_row
from paths import ROOT
from support.command_line import faultspec
from support.once import build_once
from targets.test_target_go import go, unformatted

pytestmark = [pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")]

#: The laws that net/http and `Handle` keep without a boundary.
KEPT_ALONE = {"streaming", "CORS", "cookies", "cancelled request"}
KEPT_ALONE |= {"typed error as itself", "validation", "crash", "body limit"}


#: Statuses that are none of an error, and headers that contradict a body, by their answers.
ODD = {
    **{f"/status/{status}": (404, "not_found") for status in (-1, 99, 204, 399, 600, 1234)},
    **{f"/bare/{status}": (500, "internal_error") for status in (0, 99, 1234)},
    **{f"/own/{header}": (404, "not_found") for header in (
        "Content-Length/4", "Content-Length/4000", "Content-Encoding/gzip", "Transfer-Encoding/gzip",
    )},
}  # fmt: skip


def build(folder: Path, source: str) -> None:
    """Compile a program beside the package of the shop's taxonomy."""
    done = faultspec(
        *("compile", "--target", "go", "--out", "."), str(HERE / "shop-taxonomy.yaml"), cwd=folder
    )
    assert done.returncode == 0, done.stderr
    (folder / "go/shoperrors").rename(folder / "shoperrors")
    (folder / "go.mod").write_text("module example.test/shop\n\ngo 1.23\n")
    (folder / "main.go").write_text(source)
    built = go(folder, "build", "-o", "shop", ".")
    assert built.returncode == 0, built.stderr


def source(wired: str) -> str:
    """The shop, whose handler is an expression over `shop`."""
    return (HERE / "go/shop.go.txt").read_text(encoding="utf-8").replace("WIRED", wired)


@pytest.fixture(scope="session")
def shop_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the shop, behind its boundary."""
    text = source("errs.Boundary(shop, errs.Options{})")
    return build_once(tmp_path_factory, "shop-go", lambda folder: build(folder, text))


@contextmanager
def running(folder: Path, log: Path) -> Iterator[Shop]:
    """The shop, until the end of the block."""
    with served([str(folder / "shop")], {}, log) as port:
        yield Shop(port, log, shows_paths=False)  # net/http answers such a path itself


def test_a_shop_in_go_keeps_every_law(shop_program: Path, tmp_path: Path) -> None:
    """Every law of `shop.py` holds. A panic is the internal error, or cuts an answer that has
    begun. A handler may take the connection over. The log says once that a bare 409 has no code of
    its own. The page has the row.
    """
    with running(shop_program, tmp_path / "log") as shop:
        broken = failures(shop)
        panicked = shop.ask("GET", "/panic")
        late = shop.ask("GET", "/late")
        taken_over = shop.ask("GET", "/taken-over")
        odd = {path: shop.ask("GET", path) for path in ODD}
        log = shop.log.read_text(encoding="utf-8")
    assert broken == {}
    assert {path: (each.status, each.code) for path, each in odd.items()} == ODD
    assert not [path for path, each in odd.items() if each.cut]
    assert (panicked.status, panicked.code) == (500, "internal_error")
    assert (late.status, late.body, late.cut) == (200, b"begin", True)
    assert (taken_over.status, taken_over.body) == (299, b"mine")
    assert "superfluous" not in log
    assert "hijacked" not in log
    assert log.count("a bare 409 is answered as bad_request") == 1, log
    keep_row(table_row("Go net/http", broken, by_hand=True))


def test_the_suite_finds_nothing_in_a_shop_in_go(shop_program: Path, tmp_path: Path) -> None:
    """`faultspec conform` has no finding."""
    with running(shop_program, tmp_path / "log") as shop:
        done = faultspec(
            *("conform", str(HERE / "shop.yaml"), "--seed", "1"),
            cwd=tmp_path,
            environment={"SHOP_URL": f"http://127.0.0.1:{shop.port}"},
        )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_law_is_broken_in_go_without_the_boundary(tmp_path: Path) -> None:
    """The self-test names a shop without its boundary. Such a shop breaks each law, but for those
    that are kept without one.
    """
    text = source("shop")
    build(tmp_path, text)
    refused = subprocess.run(
        [str(tmp_path / "shop"), "0"], capture_output=True, text=True, check=False, timeout=30
    )
    assert "the boundary is not installed" in refused.stderr
    (tmp_path / "main.go").write_text(text.replace("problems != nil", "problems == nil"))
    assert go(tmp_path, "build", "-o", "shop", ".").returncode == 0
    with running(tmp_path, tmp_path / "log") as shop:
        assert failures(shop).keys() >= LAWS.keys() - KEPT_ALONE


#: What the snippets of the pages import.
IMPORTS = """package shop

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"example.test/shop/shoperrors"
)

var _, _, _ = errors.Is, fmt.Sprint, http.StatusOK

"""


def snippets(page: Path) -> list[str]:
    """The functions of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^```go\n(func .*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(found) > 1
    return found


def test_the_pages_of_go_are_compiled_and_run(shop_program: Path, tmp_path: Path) -> None:
    """The page adopts in ten lines. All snippets compile as they stand, `gofmt` has nothing to
    change, and the self-test finds nothing; without the boundary it does.
    """
    adopting = snippets(ADOPT / "go.md")
    assert len(adopting[0].splitlines()) <= 10
    shutil.copytree(shop_program / "shoperrors", tmp_path / "shoperrors")
    shutil.copy(shop_program / "go.mod", tmp_path)
    text = IMPORTS + "\n".join([*adopting, *snippets(ROOT / "docs/generated/go.md")])
    for wired in (True, False):
        if not wired:
            text = text.replace("shoperrors.Boundary(mux, shoperrors.Options{})", "mux")
        (tmp_path / "page_test.go").write_text(text)
        assert "page_test.go" not in unformatted(tmp_path)
        done = go(tmp_path, "test", "-count=1", ".")
        assert (done.returncode == 0) == wired, done.stdout + done.stderr
    assert "the boundary is not installed" in done.stdout


#: A code with details and a slot of any value.
VALUES_TAXONOMY = """
faultspec: 1
taxonomy: {name: odd, version: 1.0.0, title: Odd, owner: nobody}
envelopes:
  error:
    shape: {code: $code, odd?: $odd, details?: $details}
    fields: {odd: {type: string}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
fallback: {4xx: {code: refused, reason: Refusals.}, 5xx: {code: failed, reason: Failures.}}
codes:
  refused: {summary: Refused, http: 400, retriable: false}
  failed: {summary: Failed, http: 500, retriable: false}
  taken:
    summary: Taken
    http: 409
    retriable: false
    details: {left: {type: integer}, share?: {type: number}, name?: {type: string}}
"""

VALUES_PROGRAM = """
package main

import (
	"math"
	"net/http"
	"net/http/httptest"
	"os"

	errs "example.test/odd/odderrors"
)

func main() {
	failing := errs.Handle(func(w http.ResponseWriter, r *http.Request) error {
		made := errs.New("taken", map[string]any{"left": 3, "share": math.NaN()})
		made.Details["name"] = make(chan int)
		made.Slots["odd"] = func() {}
		return made
	})
	sent := httptest.NewRecorder()
	request := httptest.NewRequest("GET", "/", nil)
	errs.Boundary(failing, errs.Options{}).ServeHTTP(sent, request)
	_, _ = os.Stdout.Write(sent.Body.Bytes())
}
"""


def test_a_value_that_is_not_json_is_left_out_alone(tmp_path: Path) -> None:
    """The other details of the error leave, and the log has the names of what did not."""
    (tmp_path / "taxonomy.yaml").write_text(VALUES_TAXONOMY)
    done = faultspec("compile", "--target", "go", "--out", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "go/go.mod").write_text("module example.test/odd\n\ngo 1.23\n")
    (tmp_path / "go/main.go").write_text(VALUES_PROGRAM)
    ran = go(tmp_path / "go", "run", ".")
    assert ran.stdout == '{"code":"taken","details":{"left":3}}', ran.stderr
    assert "left out" in ran.stderr
    assert 'names="[share name odd]"' in ran.stderr


@pytest.fixture(scope="session")
def writers(shop_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of handlers and middlewares with writers of their own."""

    def build_writers(folder: Path) -> None:
        shutil.copytree(shop_program / "shoperrors", folder / "shoperrors")
        shutil.copy(shop_program / "go.mod", folder)
        shutil.copy(HERE / "go/writers.go.txt", folder / "main.go")
        built = go(folder, "build", "-o", "writers", ".")
        assert built.returncode == 0, built.stderr

    return build_once(tmp_path_factory, "writers-go", build_writers) / "writers"


def part(writers: Path, name: str) -> Any:
    """A part of what the program prints."""
    ran = subprocess.run(
        [str(writers), name], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


TAKEN = (409, "sku_taken", "")
CRASHED = (500, "internal_error", "")

#: By the way to answer: the status, the code, and what is broken.
ANSWERS = {
    **dict.fromkeys(("timeout handler", "session", "gzip", "long"), TAKEN),
    **dict.fromkeys(("twice", "twice between"), TAKEN),
    **dict.fromkeys(("after another error", "after another error between"), TAKEN),
    "own status": (418, "sku_taken", ""),
    "replaced": (404, "not_found", ""),
    "timed out": (503, "internal_error", ""),
    "panic after it": CRASHED,
    "after the begin": (200, "", "cutno JSON"),
    "HEAD": (409, "", "no JSON"),
    **dict.fromkeys(("choose /nowhere", "choose /panic"), CRASHED),
    **dict.fromkeys(("complete /nowhere", "complete /panic", "complete /typed"), CRASHED),
    "choose /typed": TAKEN,
}


#: The ways to answer at which a function of the service panics.
HOOKS = {name for name in ANSWERS if name.startswith(("choose", "complete"))} - {"choose /typed"}


def test_an_answer_of_write_error_leaves_as_itself(writers: Path) -> None:
    """It takes the writer that it is given, of a middleware too: what is between may replace it,
    and add headers. The first whole answer stays, and the log has the second error. One that was
    packed leaves unpacked. If `Choose` or `Complete` panics, the answer is the internal error,
    without its text, which the log has.
    """
    found = part(writers, "answers")
    answers = {name: (each["Status"], each["Code"], each["Broken"]) for name, each in found.items()}
    assert answers == ANSWERS
    assert found["session"]["Header"]["Set-Cookie"] == ["session=1"]
    assert found["twice"]["Log"].count("not_found") == 1
    assert found["after the begin"]["Log"].count("sku_taken") == 1
    panicked = [each for name, each in found.items() if name in HOOKS]
    assert all("hunter2" in each["Log"] for each in panicked)
    assert {each["Length"] for each in panicked} == {found["complete /panic"]["Length"]}


def test_an_error_without_an_end_is_answered_at_its_limit(writers: Path) -> None:
    """A proxy passes it on. Then writes fail, as they do for a caller that has gone, so that no
    handler runs for ever.
    """
    answer = part(writers, "proxied")
    assert (answer["Status"], answer["Code"], answer["Broken"]) == CRASHED
    assert part(writers, "left") == [0, 0]


def test_requests_may_share_an_error(writers: Path) -> None:
    """An error in a variable answers many requests at the same time, each with its own id."""
    assert part(writers, "mixed") == 0
