"""Settings of the environment that the HTTP library refuses are named, and not shown."""

from pathlib import Path

import pytest

from faultspec_conformance.config.addresses import find_environment_secrets
from faultspec_conformance.config.model import Limits
from faultspec_conformance.drivers.environment import UnusableEnvironment
from faultspec_conformance.drivers.http import HttpDriver, _tls_context
from faultspec_conformance.drivers.links import find_dead_links
from support.command_line import faultspec

ADDRESS = "https://service.invalid"

REFUSED = {
    "HTTPS_PROXY": "foo://user:Zx9Kq7tR3mN5@127.0.0.1:1",
    "ALL_PROXY": "socks5://user:Zx9Kq7tR3mN5@127.0.0.1:1",
    "HTTP_PROXY": "http://user:Zx9Kq7tR3mN5@proxy:port",
    "NO_PROXY": "[::1",
    "SSL_CERT_FILE": "/no/such/file",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_setting_that_cannot_be_used_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception names the variable, and has nothing of its value."""
    monkeypatch.setenv(name, REFUSED[name])
    _tls_context.cache_clear()
    with pytest.raises(UnusableEnvironment) as caught:
        HttpDriver(ADDRESS, Limits())
    assert name in str(caught.value.filename)
    assert "Zx9Kq7tR3mN5" not in str(caught.value)
    if not name.startswith("SSL"):
        with pytest.raises(UnusableEnvironment, match=name):
            find_dead_links([ADDRESS])
    HttpDriver("http://127.0.0.1:1", Limits()).close()  # it needs none of them
    _tls_context.cache_clear()


@pytest.mark.parametrize("name", REFUSED)
def test_a_command_names_the_setting(name: str, tmp_path: Path) -> None:
    """The run could not be done, and the program is not to blame."""
    _tls_context.cache_clear()
    done = faultspec("conform", ADDRESS, cwd=tmp_path, environment={name: REFUSED[name]})
    _tls_context.cache_clear()
    assert done.returncode == 2
    assert f"could not run: {name}" in done.stdout
    assert "please report" not in done.stdout + done.stderr
    assert "Zx9Kq7tR3mN5" not in done.stdout + done.stderr


def test_the_password_of_an_address_is_a_secret() -> None:
    """A proxy that refuses it may repeat it, and so may the driver of a database."""
    found = dict(find_environment_secrets({"https_proxy": "http://user:Zx9Kq7tR3mN5@proxy:3128"}))
    assert "Zx9Kq7tR3mN5" in found
    assert not dict(find_environment_secrets({"HTTP_PROXY": "http://proxy:3128"}))
    address = "postgres://postgres:Zx9Kq7tR3mN5@db:5432/orders?sslmode=require"
    assert "Zx9Kq7tR3mN5" in dict(find_environment_secrets({"DATABASE_URL": address}))
    plain = "postgres://postgres:postgres@db:5432/orders"
    assert not {"postgres", "orders"} & dict(find_environment_secrets({"X": plain})).keys()
