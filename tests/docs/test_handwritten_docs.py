"""Pages that people write by hand name everything there is to name."""

import pytest

from faultspec.language.grammar import Either, Key, Many, Named, Record, Type
from faultspec_conformance.config import CONFIGURATION
from faultspec_conformance.results.waivers import WAIVER
from paths import ROOT

PAGE = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")


def keys(type: Type) -> set[str]:
    """Every key that may stand anywhere in a grammar."""
    match type:
        case Record(_, own):
            return set(own) | {
                name
                for each in own.values()
                for name in keys(each.type if isinstance(each, Key) else each)
            }
        case Either(branches):
            return {name for each in branches for name in keys(each)}
        case Many(item, _):
            return keys(item)
        case Named(value, _, _):
            return keys(value)
        case _:
            return set()


@pytest.mark.parametrize("key", sorted(keys(CONFIGURATION) | keys(WAIVER)))
def test_the_page_on_the_suite_names_every_key(key: str) -> None:
    """A key of ``conformance.yaml`` or of a waiver that the page does not mention is one nobody
    finds.
    """
    assert f"`{key}`" in PAGE or f"`{key}:" in PAGE or f"{key}:" in PAGE
