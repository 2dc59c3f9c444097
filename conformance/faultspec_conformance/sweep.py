"""Generated traffic, judged by the same judge. The only module that knows schemathesis."""

from faultspec_conformance.world import World


def sweep(world: World, *, seed: int) -> tuple[str, ...]:
    """Not written yet."""
    return ()
