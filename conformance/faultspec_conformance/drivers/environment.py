"""The settings of the environment that the HTTP library reads: proxies and certificates."""

import errno
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class UnusableEnvironment(OSError):
    """A variable of the environment cannot be used. Its file name is the name of the variable."""


@contextmanager
def usable_environment() -> Iterator[None]:
    """Raise UnusableEnvironment where the library refuses a setting of the environment. The text
    has nothing of an address, which may have a password.
    """
    try:
        yield
    except ImportError as error:
        needed = "a proxy of SOCKS needs the package socksio"
        raise UnusableEnvironment(errno.EINVAL, needed, _set_names(_PROXIES)) from error
    except (ValueError, httpx.InvalidURL) as error:
        wanted = "the address of a proxy is http://HOST:PORT, https://… or socks5://…"
        raise UnusableEnvironment(errno.EINVAL, wanted, _set_names(_PROXIES)) from error
    except ssl.SSLError as error:
        reason = "the certificates cannot be read"
        raise UnusableEnvironment(errno.EINVAL, reason, _set_names(_CERTIFICATES)) from error
    except OSError as error:
        reason = f"the certificates cannot be read: {error.strerror}"
        raise UnusableEnvironment(errno.EINVAL, reason, _set_names(_CERTIFICATES)) from error


def _set_names(names: tuple[str, ...]) -> str:
    found = [each for name in names for each in (name, name.lower()) if os.environ.get(each)]
    return ", ".join(found) or names[0]
