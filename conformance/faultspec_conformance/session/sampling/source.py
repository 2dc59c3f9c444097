"""Where sampled values come from."""

from dataclasses import dataclass, field
from random import Random

from faultspec.openapi.nodes import Json
from faultspec_conformance.session.sampling.tokens import Tokens, fresh_tokens


@dataclass(frozen=True, slots=True)
class ValueSource:
    """The document for references, a seeded generator, and the tokens that no earlier run used."""

    document: Json
    random: Random
    tokens: Tokens = field(default_factory=fresh_tokens)

    def token(self) -> str:
        """Ten characters that no earlier run used."""
        return self.tokens.hex(5)
