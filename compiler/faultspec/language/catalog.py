"""Every diagnostic code of the language, with its condition.

The codes for YAML texts are `faultspec.source.CODES`.
"""

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # the grammar
    "unknown-key": "The construct has no such key.",
    "missing-key": "A required key is missing.",
    "wrong-type": "A value of the wrong kind, such as a list in place of a mapping.",
    "bad-value": "A value of the right kind that is not allowed.",
    "bad-name": "A name with characters that such a name must not have.",
    "too-few": "A list or a mapping with too few entries.",
    "duplicate-item": "A text or a number that is in the same list already.",
    "duplicate-key": "A key that is here already, perhaps with `?` or in another letter case.",
    # references
    "dangling-reference": "A name that is not declared.",
    "ambiguous-wire": "Two codes that a client cannot tell apart.",
    "reserved-code": "An operation's code that is also shared, or has the form of imported codes.",
    "unknown-parameter": "A `${…}` without a value in its place.",
    "unknown-method": "A misspelled HTTP method.",
    "unknown-slot": "A `$slot` in a shape that is not declared.",
    "unused-field": "A field for a slot that the shape does not have.",
    "bad-base": "A base that is missing, has errors, extends itself, or leaves the repository.",
    "not-extensible": "A change of the base that the base does not allow.",
    # values
    "bad-duration": "A text that is not a duration.",
    "bad-pattern": "An invalid regular expression, or one that matches every string.",
    "slow-pattern": "An expression that takes more than cubic time on some texts.",
    "bad-schema": "An imported JSON Schema that is invalid.",
    "bad-shape": "A shape that is invalid.",
    "bad-key-place": "A key of idempotency that is in no place, or in several.",
    "bad-place": "A place of a slot that its shape does not have, or that no other slot may have.",
    "bad-status": "A range of statuses that is empty.",
    "bad-range": "A range of a protocol's numbers that is empty.",
    "bad-example": "An example that breaks the rules of its own code.",
    # incomplete or contradictory constructs
    "no-code-slot": "A shape without a slot for the code.",
    "no-reason": "A surface without an envelope and without a reason.",
    "unmapped-code": "A code without `http`, although a surface is on HTTP.",
    "incomplete": "A publication of errors without the place of a code.",
    "bad-rule": "A rule without a condition or a consequence, or a rule that is never reached.",
    "endless-phase": "A phase of a backoff without an end, followed by another one.",
    "no-fallback": "A table of codes for failures upstream whose last row does not fit all.",
    "misplaced-key": "A key that has no effect with the other keys of its construct.",
    "contradiction": "Two keys of one construct that cannot both hold.",
}
