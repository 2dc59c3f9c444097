"""Laws of the memory of the orders service."""

from faultspec_conformance.orders.store import CAPACITY, Store, StoredAnswer


def test_the_store_keeps_the_newest_orders_and_answers() -> None:
    """The oldest order and answer make room; the newest ones are found."""
    store = Store()
    orders = [store.add("a", f"r-{number}", "s", 1) for number in range(CAPACITY + 5)]
    for number in range(CAPACITY + 5):
        store.keep("a", f"k-{number}", StoredAnswer("f", 201, {}, b""))
    assert len(store.orders) == len(store.answers) == CAPACITY
    assert store.find("a", orders[0].id) is None
    assert store.find("a", orders[-1].id) == orders[-1]
    assert ("a", "orders", "k-0") not in store.answers
    assert ("a", "orders", f"k-{CAPACITY + 4}") in store.answers
