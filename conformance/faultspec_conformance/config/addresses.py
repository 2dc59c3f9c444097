"""The secrets in an address, also in one that is not an address."""

import re
from urllib.parse import unquote

_USER = re.compile(r"^([^/?#]*//)([^?#]*)@")
_QUERY = re.compile(r"\?([^#]*)")

SHORTEST_SECRET = 4
"""Characters of the shortest secret that is masked. Shorter values would mask half of every text
in which they occur by chance.
"""

_WORD = "***"
"""The replacement of a secret of an address in reports."""


def address_secrets(url: str, *, query: bool = False) -> list[tuple[str, str]]:
    """The user name and the password in an address, as they are written and decoded, each with its
    replacement in reports. ``query``: those of its query as well.
    """
    user, asked = _USER.search(url), _QUERY.search(url)
    found = [*user[2].partition(":")[::2]] if user else []
    if query and asked:
        found += [each.partition("=")[2] or each for each in re.split("[&;]", asked[1])]
    return [(text, _WORD) for each in found if each for text in {each: 0, unquote(each): 0}]


def plain_address(url: str) -> str:
    """An address without user name, password, query and fragment."""
    return re.split(r"[?#]", _USER.sub(r"\1", url))[0]
