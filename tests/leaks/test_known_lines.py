"""Lines that were searched for leaks are not searched again, and their leaks are found again."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.leaks import Leak, detect
from faultspec.leaks.known_lines import LEAST, KnownLines
from support.examples import examples

KINDS = ("stack-trace", "sql", "path", "secret", "email", "private-address", "internal-name")

#: Lines of pages: plain ones, and some that are a leak alone or together.
LINES = [
    *(f"the plain line {number} of a page that says nothing" for number in range(30)),
    "Traceback (most recent call last):",
    '  File "/srv/app/views.py", line 3, in price',
    "    return PRICES[sku]",
    "KeyError: 'tea'",
    "psycopg2.errors.UniqueViolation: duplicate key value violates unique constraint",
    "upstream http://10.20.30.40:8080/prices did not answer",
    "write to jane.doe@customer-mail.com",
    "password=Zx9Kq7tR3mN5vB8wL2",
]

PAGES = st.lists(st.sampled_from(LINES), min_size=150, max_size=200).map("\n".join)


def search(text: str) -> Sequence[Leak]:
    """Every leak of a text."""
    return detect(text, KINDS)


@given(st.lists(PAGES, min_size=1, max_size=4))
@examples(20)
def test_a_page_that_comes_again_has_the_same_leaks(pages: list[str]) -> None:
    """Whatever was searched between, a page has the leaks that it had, at their places."""
    known = KnownLines()
    first = [known.detect(page, search) for page in pages]
    for page, leaks in zip(pages, first, strict=True):
        assert {(leak.kind, leak.start) for leak in known.detect(page, search)} >= {
            (leak.kind, leak.start) for leak in leaks
        }


@given(PAGES, st.integers(0, 149), st.sampled_from(LINES[30:]))
@examples(40)
def test_a_new_line_is_searched(page: str, at: int, line: str) -> None:
    """A page with another line has every kind of leak that a search of all of it finds."""
    known = KnownLines()
    known.detect(page, search)
    lines = page.split("\n")
    lines[at] = f"{line} {at}"
    changed = "\n".join(lines)
    found = {leak.kind for leak in known.detect(changed, search)}
    assert found >= {leak.kind for leak in search(changed)}


def test_known_lines_are_not_searched() -> None:
    """Of a page with one new line, that line is searched, and those around it."""
    searched: list[int] = []

    def count(text: str) -> Sequence[Leak]:
        searched.append(len(text))
        return search(text)

    known = KnownLines()
    lines = [f"{LINES[number % len(LINES)]} {number}" for number in range(400)]
    known.detect("\n".join(lines), count)
    lines[200] = "another line of the page"
    known.detect("\n".join(lines), count)
    assert searched[0] > LEAST
    assert searched[1] < searched[0] / 4


@pytest.mark.parametrize("changed", [0, 3, 399])
def test_a_leak_is_found_where_it_stands(changed: int) -> None:
    """The places of leaks, in known lines and in new ones, are those of the page."""
    known = KnownLines()
    lines = [f"plain line {number}, which says nothing" for number in range(400)]
    lines[100:104] = LINES[30:34]
    known.detect("\n".join(lines), search)
    lines[changed] = "write to jane.doe@customer-mail.com, in a line that is longer"
    page = "\n".join(lines)
    found = known.detect(page, search)
    assert {leak.kind for leak in found} == {"stack-trace", "email"}
    assert [(leak.kind, leak.start, leak.end) for leak in found] == [
        (leak.kind, leak.start, leak.end) for leak in search(page)
    ]


def test_an_address_that_was_sent_is_not_a_leak() -> None:
    """The leaks of known lines have the place that is compared with the request."""
    page = "\n".join([*LINES[:30] * 5, "upstream http://10.20.30.40:8080/prices did not answer"])
    known = KnownLines()
    for _ in range(2):
        (leak,) = known.detect(page, search)
        assert leak.kind == "private-address"
        assert leak.is_sent("GET /proxy?to=http://10.20.30.40:8080/prices")
        assert not leak.is_sent("GET /prices")


@pytest.mark.parametrize("line", ["Your program crashed in exercise 4.", "The request failed."])
def test_words_around_a_leak_decide_about_it(line: str) -> None:
    """The crash of a caller's program is not a leak. The words that say so may be lines away, and
    known lines that stand below other words are searched again.
    """
    known = KnownLines()

    def page(words: str, number: int) -> str:
        trace = [
            "Traceback (most recent call last):",
            f'  File "main.py", line {number}, in <module>',
        ]
        trace += [f"    print(total({number}))", "ZeroDivisionError: division by zero"]
        return "\n".join([*LINES[:30] * 4, words, "Input:", *"123456", "Output:", *trace])

    pages = [page(line, 3), page("Your program crashed in exercise 4.", 7), page(line, 9)]
    pages += [page("The request failed.", 3), page("Your program crashed in exercise 4.", 3)]
    for each in pages:
        assert kinds_of(known.detect(each, search)) == kinds_of(search(each)), each


def test_a_secret_of_many_lines_is_whole() -> None:
    """A key with another line is found from its first line to its last."""
    known = KnownLines()
    for size in (10, 11, 10):
        lines = [f"MIIEowIBAAKCAQEA{str(number) * 48}" for number in range(size)]
        key = ["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"]
        page = "\n".join([*LINES[:30] * 4, *key, *LINES[:30]])
        assert [(leak.start, leak.end) for leak in known.detect(page, search)] == [
            (leak.start, leak.end) for leak in search(page)
        ]


def test_a_page_of_equal_lines_has_few_leaks() -> None:
    """A leak that stands in each line is found as often as a search finds it."""
    page = "\n".join(["write to jane.doe@customer-mail.com"] * 5_000)
    known = KnownLines()
    began = time.process_time()
    assert [len(known.detect(page, search)) for _ in range(3)] == [20, 20, 20]
    assert time.process_time() - began < 3


def kinds_of(leaks: Sequence[Leak]) -> set[str]:
    """The kinds of leaks."""
    return {leak.kind for leak in leaks}


def test_the_time_for_a_page_does_not_grow() -> None:
    """One line with a leak between lines that change stands in another text each time."""
    known = KnownLines()
    took = []
    for number in range(12):
        lines = [
            each
            for at in range(1_200)
            for each in (f"line {at * number} of the page", "write to jane.doe@customer-mail.com")
        ]
        began = time.process_time()
        known.detect("\n".join(lines), search)
        took.append(time.process_time() - began)
    assert max(took[6:]) < 5 * max(took[:3])
