"""Scripted upstreams: what they answer."""

import asyncio

import httpx
import pytest

from faultspec_conformance.config import UpstreamConfig, UpstreamFailure
from faultspec_conformance.drivers.serving import KEPT_BYTES
from faultspec_conformance.session.upstreams import ScriptedUpstream


def statuses(upstream: ScriptedUpstream, number: int, body: bytes = b"") -> list[int]:
    """Return the statuses of so many answers."""

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(upstream)
        async with httpx.AsyncClient(transport=transport, base_url="http://upstream") as client:
            return [
                (await client.post("/deposits", content=body)).status_code for _ in range(number)
            ]

    return asyncio.run(ask())


@pytest.mark.parametrize("status", [200, 201])
def test_a_success_has_the_declared_status(status: int) -> None:
    """The status is that of successes alone; a body that cannot be used comes with a success."""
    upstream = ScriptedUpstream(UpstreamConfig("deposits", (), (), status=status))
    upstream.script(UpstreamFailure(503), times=1)
    assert statuses(upstream, 2) == [503, status]
    upstream.script(UpstreamFailure("html"), times=1)
    assert statuses(upstream, 1) == [status]


def test_requests_are_kept_within_bounds() -> None:
    """The requests of a service for one of ours are counted, and kept as far as its bytes go; the
    next script keeps again.
    """
    upstream = ScriptedUpstream(UpstreamConfig("deposits", (), ()))
    upstream.script(UpstreamFailure(503))
    statuses(upstream, 600, b"x" * 2 * KEPT_BYTES)
    assert upstream.received == 600
    assert sum(len(call.request.body) for call in upstream.calls) < 32 * 1024 * 1024
    assert len(upstream.calls) > 400
    assert upstream.dropped == 600 - len(upstream.calls)
    upstream.script(UpstreamFailure(503))
    statuses(upstream, 1)
    assert (len(upstream.calls), upstream.dropped) == (1, 0)
