"""Operations that end the session of the caller are recognised by their names, and left out of
probes.
"""

import pytest

from faultspec.openapi import service
from faultspec_conformance.session.endings import without_endings


@pytest.mark.parametrize(
    ("method", "path", "ends"),
    [
        ("post", "/logout", True),
        ("get", "/auth/sign-out", True),
        ("delete", "/me", True),
        ("delete", "/sessions", True),
        ("put", "/users/me/password", True),
        ("post", "/tokens/rotate-key", True),
        ("post", "/oauth/revoke", True),
        ("get", "/me", False),
        ("put", "/profile", False),
        ("post", "/logouts-report", False),
        ("delete", "/orders/{id}", False),
        ("post", "/sessions", False),
    ],
)
def test_what_ends_a_session_is_left_out(method: str, path: str, ends: bool) -> None:
    """By the last segment and the method; what only resembles such a name stays."""
    document = {"openapi": "3.1.0", "paths": {path: {method: {"responses": {}}}, "/a": {"get": {}}}}
    description = service.read(document)
    kept, left_out = without_endings(description)
    assert (f"{method.upper()} {path}" in left_out) == ends
    assert len(kept.operations) + len(left_out) == len(description.operations)


@pytest.mark.parametrize(
    ("method", "path", "identifier", "ends"),
    [
        ("delete", "/accounts/{id}", "deleteAccount", False),
        ("post", "/accounts/{id}/close", "closeAccount", False),
        ("post", "/tenants/{tenant}/account/close", "closeAccount", True),
        ("delete", "/account", "deleteAccount", True),
        ("post", "/close", "close_my_account", True),
        ("put", "/users/{id}/password", "setPassword", True),
    ],
)
def test_an_item_that_is_named_is_not_the_caller(
    method: str, path: str, identifier: str, ends: bool
) -> None:
    """An operation on one of many accounts is probed, whatever its id is called."""
    operation = {"operationId": identifier, "responses": {}}
    description = service.read({"openapi": "3.1.0", "paths": {path: {method: operation}}})
    items = {"/accounts/{}", "/users/{}"}
    assert bool(without_endings(description, items)[1]) == ends
    assert without_endings(description)[1]  # the caller's own, as far as is known
