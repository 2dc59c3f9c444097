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
        """Ten hexadecimal digits that no earlier run used. A letter is among them: without one they
        look like a number, and a part of one stands in answers by chance.
        """
        tokens = iter(lambda: self.tokens.hex(5), None)
        return next(token for token in tokens if not token.isdigit())
