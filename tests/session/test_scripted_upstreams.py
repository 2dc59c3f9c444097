"""Scripted upstreams: what they answer."""

import asyncio

import httpx
import pytest

from faultspec_conformance.config import UpstreamConfig, UpstreamFailure
from faultspec_conformance.session.upstreams import ScriptedUpstream


def statuses(upstream: ScriptedUpstream, number: int) -> list[int]:
    """Return the statuses of so many answers."""

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(upstream)
        async with httpx.AsyncClient(transport=transport, base_url="http://upstream") as client:
            return [(await client.post("/deposits")).status_code for _ in range(number)]

    return asyncio.run(ask())


@pytest.mark.parametrize("status", [200, 201])
def test_a_success_has_the_declared_status(status: int) -> None:
    """The status is that of successes alone; a body that cannot be used comes with a success."""
    upstream = ScriptedUpstream(UpstreamConfig("deposits", (), (), status=status))
    upstream.script(UpstreamFailure(503), times=1)
    assert statuses(upstream, 2) == [503, status]
    upstream.script(UpstreamFailure("html"), times=1)
    assert statuses(upstream, 1) == [status]
