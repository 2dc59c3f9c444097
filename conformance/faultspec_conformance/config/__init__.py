"""`conformance.yaml` → what is judged and as whom: the service, identities, resources, recipes, calls, limits."""

from faultspec_conformance.config.form import CONFIGURATION, METHODS
from faultspec_conformance.config.model import (
    ABSENT,
    ANONYMOUS,
    CREDENTIALS,
    NOBODY,
    ClientConfig,
    ConfiguredCall,
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
from faultspec_conformance.config.reading import problems, read, understand

__all__ = [
    "ABSENT",
    "ANONYMOUS",
    "CONFIGURATION",
    "CREDENTIALS",
    "METHODS",
    "NOBODY",
    "ClientConfig",
    "ConfiguredCall",
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
    "problems",
    "read",
    "understand",
]
