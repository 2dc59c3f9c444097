"""Laws of circles in references, which are searched in one pass."""

from hypothesis import given
from hypothesis import strategies as st

from faultspec.lint.places import circle, names_in_circles
from support.examples import examples

_names = st.sampled_from("abcdef")


@examples(300)
@given(st.dictionaries(_names, st.none() | _names))
def test_a_name_is_in_a_circle_if_its_walk_comes_back(successors: dict[str, str | None]) -> None:
    """The names in circles are those whose walk ends where it began."""
    assert names_in_circles(successors) == {
        name for name, following in successors.items() if circle(name, following, successors)
    }


class Counted(dict[str, str | None]):
    """Successors that count how often they are asked."""

    asked = 0

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]  # one signature is enough
        """The successor."""
        self.asked += 1
        return super().get(key, default)


def test_a_long_chain_is_walked_once() -> None:
    """Each name of a chain is asked for its successor once."""
    chain = Counted({f"c{n}": f"c{n + 1}" for n in range(1_000)})
    assert names_in_circles(chain) == set()
    assert chain.asked <= 1_001
