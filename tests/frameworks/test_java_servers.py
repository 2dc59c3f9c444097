"""Laws of the generated Java classes for servers, over real HTTP: the laws and the table of
`test_frameworks`. The filter of servlets runs in Tomcat, from Maven Central.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from frameworks.shop import GIVEN, LAWS, Shop, failures, served, wait_until
from frameworks.test_frameworks import ADOPT, HERE, keep_row, table_row
from paths import ROOT
from support.command_line import faultspec
from support.java import JAVA, compile_java, compile_package, maven_jars, needs_javac
from support.once import build_once

pytestmark = [needs_javac]

SOURCES = HERE / "java"

#: The laws that a server keeps without a boundary.
KEPT_ALONE = {"streaming", "CORS", "cookies", "cancelled request"}


class JavaServer(NamedTuple):
    """A server: the class of its shop, its row, and for servlets the package and the jars."""

    shop: str
    title: str
    api: str = ""
    tomcat: str = ""


JDK = JavaServer("HttpShop", "Java HttpServer")
SERVLETS = {
    "11": JavaServer("ServletShop", "Java servlets, Tomcat 11", "jakarta", "11.0.2"),
    "9": JavaServer("ServletShop", "Java servlets, Tomcat 9", "javax", "9.0.98"),
}


def build(folder: Path, server: JavaServer, *, wired: bool = True) -> None:
    """Compile the classes of the shop's taxonomy, and the shop in a server."""
    done = faultspec(
        *("compile", "--target", "java", "--out", "."), str(HERE / "shop-taxonomy.yaml"), cwd=folder
    )
    assert done.returncode == 0, done.stderr
    compile_package(folder, "shoperrors")
    jars = jars_of(server)
    if server.api:
        compile_java(folder, (folder / "java" / server.api).rglob("*.java"), jars=jars)
    sources = []
    for name in ("Shop", server.shop):
        text = (SOURCES / f"{name}.java").read_text(encoding="utf-8")
        if not wired:
            text = text.replace("filters.add(new HttpServerBoundary(Shop.options()));", "")
        sources.append(folder / f"{name}.java")
        sources[-1].write_text(text.replace("jakarta.", f"{server.api}."), encoding="utf-8")
    compile_java(folder, sources, jars=jars)


def jars_of(server: JavaServer) -> str:
    """The path of the jars of a server, empty for that of the JDK."""
    if not server.tomcat:
        return ""
    return maven_jars("org.apache.tomcat.embed", "tomcat-embed-core", server.tomcat)


def shop_folder(server: JavaServer, factory: pytest.TempPathFactory) -> Path:
    """The folder with the shop in a server, behind its boundary."""
    name = f"shop-java-{server.shop}-{server.api}"
    return build_once(factory, name, lambda folder: build(folder, server))


@contextmanager
def running(server: JavaServer, folder: Path, log: Path, *options: str) -> Iterator[Shop]:
    """The shop, until the end of the block. ``options``: those of Java."""
    path = os.pathsep.join(filter(None, [str(folder / "classes"), jars_of(server)]))
    with served([*JAVA, *options, "-cp", path, server.shop], {}, log) as port:
        # The server of the JDK answers a path that it cannot decode by itself.
        yield Shop(port, log, shows_paths=server is not JDK)


def check_laws(server: JavaServer, folder: Path, log: Path) -> None:
    """Each law holds, the log says once that a bare 409 has no code of its own and is not forged by
    a path, an exception that fails to say its cause is the internal error, and the page has the
    row.
    """
    with running(server, folder, log) as shop:
        broken = failures(shop)
        causeless = shop.ask("GET", "/cause")
        shop.ask("GET", "/%0AINFO:%20forged%1B%E2%80%AE/choose")
        text = shop.log.read_text(encoding="utf-8")
    assert broken == {}
    assert (causeless.status, causeless.code) == (500, "internal_error")
    assert "the handler failed: GET /cause" in text
    # Servers with an API of their own hand the path over as it was sent, or refuse it.
    assert ("\\u000aINFO: forged\\u001b\\u202e/choose" in text) is (server is JDK)
    assert not re.search("^INFO: forged|[\x1b\u202e]", text, re.MULTILINE)
    assert text.count("a bare 409 is answered as bad_request") == 1, text
    keep_row(table_row(server.title, broken, by_hand=True))


def check_conformance(server: JavaServer, folder: Path, log: Path) -> None:
    """`faultspec conform` has no finding."""
    with running(server, folder, log) as shop:
        done = faultspec(
            *("conform", str(HERE / "shop.yaml"), "--seed", "1"),
            cwd=log.parent,
            environment={"SHOP_URL": f"http://127.0.0.1:{shop.port}"},
        )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_shop_in_java_keeps_every_law(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Every law of `shop.py` holds in the server of the JDK."""
    check_laws(JDK, shop_folder(JDK, tmp_path_factory), tmp_path / "log")


def test_the_suite_finds_nothing_in_a_shop_in_java(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """`faultspec conform` has no finding in the server of the JDK."""
    check_conformance(JDK, shop_folder(JDK, tmp_path_factory), tmp_path / "log")


def test_a_filter_around_the_boundary_reads_the_headers_of_an_error(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """By the names that the server gives them."""
    with running(JDK, shop_folder(JDK, tmp_path_factory), tmp_path / "log") as shop:
        shop.ask("GET", "/typed", X_Request_Id=GIVEN)
        wait_until(lambda: f"answered /typed {GIVEN}" in shop.log.read_text(encoding="utf-8"))


def check_large_message(server: JavaServer, folder: Path, log: Path) -> None:
    """An exception whose text takes more memory than there is leaves as the internal error, and the
    log names its class.
    """
    with running(server, folder, log, "-Xmx64m") as shop:
        answer = shop.ask("GET", "/large", X_Request_Id=GIVEN)
        text = shop.log.read_text(encoding="utf-8")
    assert (answer.status, answer.code) == (500, "internal_error")
    assert "(java.lang.IllegalStateException, which fails to print)" in text


def test_an_exception_that_no_log_can_hold_is_answered(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """The caller need not wait for a server of the JDK that runs out of memory in its log."""
    check_large_message(JDK, shop_folder(JDK, tmp_path_factory), tmp_path / "log")


def check_failing_answers(server: JavaServer, folder: Path, log: Path) -> None:
    """An error without an end is answered, and its writer ends. A status that is none, and
    functions of the service that throw at an error, are the internal error without a word of
    theirs.
    """
    with running(server, folder, log) as shop:
        for path in ("/endless", "/none", "/choose", "/complete"):
            answer = shop.ask("GET", path, X_Request_Id=GIVEN)
            assert (answer.status, answer.code) == (500, "internal_error"), path
            assert answer.error["request_id"] == GIVEN
            assert b"hunter2" not in answer.body
        wait_until(lambda: "the endless answer ended" in shop.log.read_text(encoding="utf-8"))
        text = shop.log.read_text(encoding="utf-8")
    for path in ("/choose", "/complete"):
        assert f"the error could not be answered: GET {path}" in text


def test_no_answer_in_java_fails_with_its_service(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """In the server of the JDK."""
    check_failing_answers(JDK, shop_folder(JDK, tmp_path_factory), tmp_path / "log")


@pytest.mark.full
@pytest.mark.parametrize("version", SERVLETS)
def test_no_answer_of_a_servlet_fails_with_its_service(
    version: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """In servlets of either API."""
    server = SERVLETS[version]
    check_failing_answers(server, shop_folder(server, tmp_path_factory), tmp_path / "log")


@pytest.mark.full
@pytest.mark.parametrize("version", SERVLETS)
def test_a_servlet_answers_as_its_container_lets_it(
    version: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """The answer of a forward leaves whole: an error in the envelope, another as it is. A body has
    a writer or a stream, and begins anew in the same writer.
    """
    server = SERVLETS[version]
    with running(server, shop_folder(server, tmp_path_factory), tmp_path / "log") as shop:
        for path, code in (
            ("/forward/refused", "not_found"),
            ("/forward/status", "not_found"),
            ("/forward/typed", "sku_taken"),
            ("/message", "not_found"),
            ("/both", "internal_error"),
        ):
            answer = shop.ask("GET", path, X_Request_Id=GIVEN)
            assert (answer.code, answer.error["request_id"]) == (code, GIVEN), path
        for path in ("/forward/fine", "/again"):
            fine = shop.ask("GET", path, X_Request_Id=GIVEN)
            assert (fine.status, fine.body, fine.headers["X-Request-Id"]) == (200, b"fine", GIVEN)


@pytest.mark.full
@pytest.mark.parametrize("version", SERVLETS)
def test_a_shop_in_servlets_keeps_every_law(
    version: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Every law of `shop.py` holds in servlets of either API, and the suite finds nothing."""
    server = SERVLETS[version]
    folder = shop_folder(server, tmp_path_factory)
    check_laws(server, folder, tmp_path / "log")
    check_conformance(server, folder, tmp_path / "log")
    check_large_message(server, folder, tmp_path / "large.log")


@pytest.mark.full
@pytest.mark.parametrize("version", SERVLETS)
def test_an_asynchronous_servlet_answers_in_the_envelope(
    version: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """From another thread, by the response of the context too, in a second dispatch, and when its
    time is up, whatever fails at it. A listener may dispatch it then.
    """
    server = SERVLETS[version]
    with running(server, shop_folder(server, tmp_path_factory), tmp_path / "log") as shop:
        for path, status, code in (
            ("status", 400, "bad_request"),
            ("given", 404, "not_found"),
            ("typed", 409, "sku_taken"),
            ("never", 503, "internal_error"),
            ("choose", 500, "internal_error"),
        ):
            answer = shop.ask("GET", f"/later/{path}", X_Request_Id=GIVEN)
            assert (answer.status, answer.code) == (status, code)
            assert answer.error["request_id"] == GIVEN
        for path in ("fine", "dispatched"):
            fine = shop.ask("GET", f"/later/{path}", X_Request_Id=GIVEN)
            assert (fine.status, fine.body) == (200, b"fine")
            assert fine.headers["X-Request-Id"] == GIVEN


@pytest.mark.full
def test_each_law_is_broken_in_java_without_the_boundary(tmp_path: Path) -> None:
    """A shop without its boundary breaks each law, but for those that are kept without one."""
    build(tmp_path, JDK, wired=False)
    with running(JDK, tmp_path, tmp_path / "log") as shop:
        assert failures(shop).keys() >= LAWS.keys() - KEPT_ALONE


#: What the snippets of the pages import beside the package.
IMPORTS = """
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.EnumSet;
import java.util.List;
import shoperrors.HttpServerBoundary;
import shoperrors.RetryingClient;
import shoperrors.SelfTest;
import shoperrors.ServletBoundary;
"""

#: Calls the snippets: the self-test finds nothing, and the error of an answer is read.
MAIN = """
    public static void main(String[] arguments) throws Exception {
        Page page = new Page();
        HttpServer server = page.serve(exchange -> page.reserve(9, 3));
        URI place = new URI("http://127.0.0.1:" + server.getAddress().getPort());
        page.errorsAreWired(place);
        HttpRequest request = HttpRequest.newBuilder(place).build();
        System.out.println(page.describe(HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofByteArray())));
        try {
            page.fetch(place);
        } catch (OutOfStockException few) {
            System.out.println(few.getMessage());
        }
        server.stop(0);
        server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.start();
        System.out.println(SelfTest.check(
                new URI("http://127.0.0.1:" + server.getAddress().getPort())).get(0));
        server.stop(0);
    }
"""


def snippets(page: Path) -> list[str]:
    """The Java of a page."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```java\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.full
def test_the_pages_of_java_compile_as_they_stand(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """The pages adopt in ten lines. All snippets compile, and do what the pages say; the self-test
    names a service without its boundary.
    """
    adopting = snippets(ADOPT / "java.md")
    assert all(len(each.splitlines()) <= 10 for each in adopting)
    imports, *others = snippets(ROOT / "docs/generated/java.md")
    server = SERVLETS["11"]
    folder = tmp_path / "page"
    shutil.copytree(shop_folder(server, tmp_path_factory), folder)
    members = "\n".join([*adopting, *others, MAIN])
    (folder / "Page.java").write_text(f"{IMPORTS}{imports}\nfinal class Page {{\n{members}}}\n")
    compile_java(folder, [folder / "Page.java"], jars=jars_of(server))
    done = subprocess.run(
        [*JAVA, "-cp", f"{folder / 'classes'}:{jars_of(server)}", "Page"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.splitlines() == [
        "only 3 are left",
        "Only 3 in stock",
        "an unknown route is answered with 404, not in the envelope: the boundary is not installed",
    ], done.stderr
