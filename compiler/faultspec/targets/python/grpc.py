"""The rows of the module for gRPC: the status of each code that has one."""

from collections.abc import Mapping
from typing import NamedTuple

from faultspec.language.constructs.failures import GRPC
from faultspec.language.model import Taxonomy
from faultspec.targets.literals import Verbatim


class GrpcRows(NamedTuple):
    """The module. ``domain``: of its ``ErrorInfo``. ``statuses``: numbers of ``google.rpc.Code``
    by member of ``ErrorCode``.
    """

    package: str
    domain: str
    statuses: Mapping[Verbatim, int]


def grpc_rows(
    taxonomy: Taxonomy, members: Mapping[str, Verbatim], package: str
) -> tuple[GrpcRows, ...]:
    """The one module, or none if no code is on gRPC."""
    statuses = {
        members[code.name]: GRPC[code.grpc]
        for code in taxonomy.shared_live_codes()
        if code.grpc is not None
    }
    return (GrpcRows(package, taxonomy.name, statuses),) if statuses else ()
