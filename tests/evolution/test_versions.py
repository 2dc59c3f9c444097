"""Laws of the version that is due."""

import pytest

from faultspec.evolution.compare import Comparison
from faultspec.evolution.model import Bump


def judge(old: str, new: str, due: Bump) -> bool:
    """Whether the new version is enough for changes with this bump."""
    return Comparison((), (), due, None, old, new).is_version_enough


@pytest.mark.parametrize(
    ("old", "due", "enough", "low"),
    [
        ("1.2.3", "major", "2.0.0", "1.3.0"),
        ("1.2.3", "major", "2.0.0-rc.1", "1.9.9"),
        ("1.2.3", "minor", "1.3.0", "1.2.4"),
        ("1.2.3", "patch", "1.2.4", "1.2.3"),
        ("1.2.3", "none", "1.2.3", "1.2.2"),
        ("0.2.3", "major", "0.3.0", "0.2.4"),
        ("2.0.0-rc.1", "major", "2.0.0", "2.0.0-rc.1"),
        ("2.0.0-rc.2", "major", "2.0.0-rc.10", "2.0.0-rc.1"),
        ("2.0.0-rc.1", "minor", "2.0.0", "2.0.0-beta"),
        ("2.1.0-rc.1", "major", "3.0.0", "2.1.0"),
        ("2.1.1-rc.1", "minor", "2.2.0", "2.1.1"),
        ("2.0.0", "none", "2.0.0", "2.0.0-rc.1"),
        ("2.0.0+a", "patch", "2.0.1", "2.0.0+b"),
    ],
)
def test_versions_are_ordered_as_by_semver(old: str, due: Bump, enough: str, low: str) -> None:
    """A prerelease counts as the release that it prepares, and comes before it (SemVer 2.0.0, §9
    and §11). A version never goes down, whatever is due."""
    assert judge(old, enough, due)
    assert not judge(old, low, due)


@pytest.mark.parametrize("text", ["2026-11", "1.2", "1.2.3.4", "1.2.3x", "next"])
def test_other_versions_are_not_checked(text: str) -> None:
    """A version that is not of the form x.y.z is high enough, and none is due after it."""
    assert judge(text, "1.0.0", "major")
    assert judge("1.0.0", text, "major")
    assert Comparison((), (), "major", None, text, "1.0.0").due_version is None
