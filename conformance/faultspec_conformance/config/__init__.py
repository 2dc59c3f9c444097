"""`conformance.yaml`: which service is judged, and as which callers. Identities, resources,
recipes, limits.
"""

from faultspec_conformance.config.form import CONFIGURATION, METHODS
from faultspec_conformance.config.model import (
    ABSENT,
    ANONYMOUS,
    CREDENTIALS,
    NOBODY,
    ClientConfig,
    ConfiguredCall,
    Expectation,
    FaultSwitchConfig,
    Identity,
    LoadedConfig,
    Recipe,
    ResourceConfig,
    SampleCall,
    ServiceConfig,
    Step,
    Transport,
    UpstreamCall,
    UpstreamConfig,
)
from faultspec_conformance.config.reading import check_config, parse_config, read_config

__all__ = [
    "ABSENT",
    "ANONYMOUS",
    "CONFIGURATION",
    "CREDENTIALS",
    "METHODS",
    "NOBODY",
    "ClientConfig",
    "ConfiguredCall",
    "Expectation",
    "FaultSwitchConfig",
    "Identity",
    "LoadedConfig",
    "Recipe",
    "ResourceConfig",
    "SampleCall",
    "ServiceConfig",
    "Step",
    "Transport",
    "UpstreamCall",
    "UpstreamConfig",
    "check_config",
    "parse_config",
    "read_config",
]
