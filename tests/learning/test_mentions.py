"""The paths that answers mention."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.model import Response
from faultspec_conformance.learning.mentions import Mention, read_mentions, read_reference

HERE = "http://127.0.0.1:8000/shop/"


def mentions(body: str, media_type: str, *headers: tuple[str, str]) -> list[Mention]:
    """The mentions of an answer to HERE."""
    fields = (("Content-Type", media_type), *headers)
    return [*read_mentions(Response(200, fields, body.encode()), HERE)]


@pytest.mark.parametrize(
    ("body", "media_type", "found"),
    [
        ('{"books": "/books"}', "application/json", [Mention("/books")]),
        ('[{"next": "http://localhost:8000/b?p=2"}]', "text/json", [Mention("/b", (("p", "2"),))]),
        ('{"_links": {"self": {"href": "cart"}}}', "application/hal+json", [Mention("/shop/cart")]),
        ('{"name": "cart", "title": "a/b"}', "application/json", []),
        (
            '{"q": "/s{?q,page}"}',
            "application/json",
            [Mention("/s", (("q", None), ("page", None)))],
        ),
        ('{"user": "/users/{user}"}', "application/json", [Mention("/users/{user}")]),
        (
            '<a href="cart">c</a><a href="#top">',
            "text/html",
            [Mention("/shop/cart"), Mention("/shop/")],
        ),
        ('<link rel="stylesheet" href="/a"><a href="/x.png">', "text/html", []),
        (
            '<form action="/s"><input name="q" value="tea"><select name="n"></select></form>',
            "text/html",
            [Mention("/s", (("q", "tea"), ("n", None)))],
        ),
        (
            '<form method="post" action="/o"><input name="sku"></form>',
            "text/html",
            [Mention("/o", (), "POST")],
        ),
        ("<urlset><url><loc>/a</loc></url></urlset>", "application/xml", [Mention("/a")]),
        ("User-agent: *\nSitemap: /map.xml\nDisallow: /x", "text/plain", [Mention("/map.xml")]),
        ("<script>ui({url: '/v1/api.json'})</script>", "text/html", [Mention("/v1/api.json")]),
        (
            "Django tried these URL patterns <ol><li> <code> books/ </code>"
            "<code>&lt;int:pk&gt;/ [name='book']</code></li>"
            "<li><code>^carts/(?P&lt;pk&gt;[^/.]+)/$</code></li><li><code>^(a|b)$</code></li></ol>",
            "text/html",
            [Mention("/books/{pk}/"), Mention("/carts/{pk}/")],
        ),
    ],
)
def test_paths_of_an_answer_are_found(body: str, media_type: str, found: list[Mention]) -> None:
    """Links, forms, members that are paths, templates of URIs, lists of routes; nothing else."""
    assert mentions(body, media_type) == found


def test_headers_are_links() -> None:
    """`Link` and `Location` lead to routes, whatever the body is."""
    links = '<https://127.0.0.1:8000/no>; rel="a", </books?page=2>; rel="next"'
    found = mentions("", "text/plain", ("Link", links), ("Location", "new"))
    assert found == [Mention("/books", (("page", "2"),)), Mention("/shop/new")]


@pytest.mark.parametrize(
    "link",
    [
        *(
            "https://127.0.0.1:8000/a",
            "http://127.0.0.1:9/a",
            "http://example.com/a",
            "//example.com/a",
        ),
        *(
            "http://127.0.0.1:8000@example.com/a",
            "javascript:alert(1)",
            "mailto:a@b.c",
            "http://[/a",
        ),
    ],
)
def test_no_link_leaves_the_host(link: str) -> None:
    """Another scheme, port or host is another service."""
    assert read_reference(link, HERE) is None
    assert mentions(json.dumps({"href": link}), "application/json") == []
    assert mentions(f'<a href="{link}">', "text/html") == []


@given(st.binary(max_size=300), st.sampled_from(["text/html", "application/json", "text/plain"]))
def test_any_answer_can_be_read(body: bytes, media_type: str) -> None:
    """No answer raises, and every path begins with a slash and fits into a request line."""
    answer = Response(200, (("Content-Type", media_type), ("Link", body.decode("latin-1"))), body)
    for mention in read_mentions(answer, HERE):
        assert mention.path.startswith("/")
        assert mention.path.isascii()
        assert not set(mention.path) & set(" \r\n\t?#")
