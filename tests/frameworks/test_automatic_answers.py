"""Answers that a framework makes by itself stay behind the boundary, in the real frameworks: the
methods of a path, HEAD of what GET answers, redirects, answers to conditions.
"""

import re
import shutil
from pathlib import Path

import pytest

from frameworks.shop import Shop, ShopAnswer
from frameworks.shop import running as running_python
from frameworks.test_frameworks import SHOPS, packages
from frameworks.test_typescript_frameworks import (
    CURRENT,
    PREVIOUS,
    NodeFramework,
    compiled,
    running,
)

__all__ = ["packages"]

#: Paths of the shop: one with GET, one with POST, one that is not there, and with a slash more.
PATHS = ("/items/1", "/items", "/no/such", "/items/1/", "/items/")

METHODS = ("OPTIONS", "HEAD", "GET", "DELETE")

#: Headers of these answers that matter.
NAMED = ("Allow", "Location", "ETag")

#: The line of a shop on Node that adds CORS.
CORS = re.compile(
    r"^(?:await )?app\.(?:use|register|enableCors)\(.*\bshop\.example.*\n", re.MULTILINE
)

#: A boundary on Node that answers nothing.
NO_BOUNDARY = """
const pass = (request, response, next) => next();
export const errorBoundary = () => ({ first: pass, last: [pass] });
export const install = () => undefined;
export const refuse = () => new Error();
export const frameworkErrors = () => undefined;
"""


def sent(answer: ShopAnswer) -> tuple[object, ...]:
    """The status of an answer, and what its headers name; methods in any order."""
    named = [answer.headers.get(name) for name in NAMED]
    place = re.sub(r":\d+/", "/", named[1] or "")
    return answer.status, sorted((named[0] or "").split(", ")), place, named[2]


def automatic(shop: Shop) -> dict[str, tuple[object, ...]]:
    """The answers of a shop to each method of each path, and to a condition that holds."""
    found = {f"{method} {path}": shop.ask(method, path) for method in METHODS for path in PATHS}
    tag = found["GET /items/1"].headers.get("ETag", '"none"')
    found["condition"] = shop.ask("GET", "/items/1", If_None_Match=tag)
    return {name: sent(answer) for name, answer in found.items()}


def check(alone: dict[str, tuple[object, ...]], behind: dict[str, tuple[object, ...]]) -> None:
    """Answers below 400, and the methods of a path, are those of the framework alone."""
    kept = {
        name: each for name, each in alone.items() if int(str(each[0])) < 400 or each[1] != [""]
    }
    assert {name: behind[name] for name in kept} == kept


@pytest.mark.parametrize("framework", SHOPS)
def test_answers_of_a_framework_stay(framework: str, packages: Path, tmp_path: Path) -> None:
    """Behind the boundary as in front of a boundary that holds no answer."""
    shutil.copytree(packages, tmp_path / "open")
    place = tmp_path / "open/shop_errors/_runtime/boundary.py"
    text = place.read_text(encoding="utf-8")
    held = "return (status >= 400 and self.is_enveloped(status)) or self.too_large"
    assert held in text
    place.write_text(text.replace(held, "return False"), encoding="utf-8")
    with running_python(framework, [tmp_path / "open"], tmp_path / "open.log") as shop:
        alone = automatic(shop)
    with running_python(framework, [packages], tmp_path / "log") as shop:
        check(alone, automatic(shop))
        assert shop.ask("OPTIONS", "/no/such").code == "not_found"


@pytest.mark.full
@pytest.mark.parametrize(
    "framework", [*CURRENT.values(), PREVIOUS["express"]], ids=[*CURRENT, "express 4"]
)
def test_answers_of_a_framework_on_node_stay(
    framework: NodeFramework, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Behind the boundary as without it. The shop has no CORS here, which answers every OPTIONS."""
    folder = tmp_path / "shop"
    shutil.copytree(compiled(framework, tmp_path_factory), folder, symlinks=True)
    program = folder / f"{framework.shop}.js"
    text, changed = CORS.subn("", program.read_text(encoding="utf-8"))
    assert changed == 1
    program.write_text(text, encoding="utf-8")
    shutil.copytree(folder, tmp_path / "open", symlinks=True)
    module = tmp_path / f"open/shop-errors/frameworks/{framework.shop}.js"
    module.write_text(NO_BOUNDARY, encoding="utf-8")
    with running(framework, tmp_path / "open", tmp_path / "open.log") as shop:
        alone = automatic(shop)
    with running(framework, folder, tmp_path / "log") as shop:
        check(alone, automatic(shop))
        assert shop.ask("OPTIONS", "/no/such").code == "not_found"
