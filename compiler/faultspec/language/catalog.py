"""Every diagnostic code of the language, with its condition. Those of the text itself are `faultspec.source.CODES`."""

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # the grammar
    "unknown-key": "A key that the construct does not have.",
    "missing-key": "A key that the construct must have.",
    "wrong-type": "A value of another kind than the key takes, such as a list where a mapping must be.",
    "bad-value": "A value of the right kind that is not one of those allowed.",
    "bad-name": "A name that the author chose and that is not spelled as such a name must be.",
    "too-few": "A list with fewer items than make sense.",
    "duplicate-item": "A text or a number that stands in the same list already.",
    "duplicate-key": "A key that stands here already, perhaps with `?` or in another letter case.",
    # references
    "dangling-reference": "A name that nothing declares.",
    "ambiguous-wire": "Two codes that would look the same to a client.",
    "reserved-code": "An operation's code that is a shared code already, or a code with the form of imported ones.",
    "unknown-parameter": "A `${…}` that stands for nothing known in its place.",
    "unknown-method": "A method that is almost, and not quite, one of HTTP's.",
    "unknown-slot": "A `$slot` of a shape that nobody declared.",
    "unused-field": "A field for a slot that the shape does not have.",
    "bad-base": "A base that is not there, is broken, or extends itself.",
    "not-extensible": "Something of the base's that it does not allow to be touched.",
    # values
    "bad-duration": "Text that is no duration.",
    "bad-pattern": "Text that is no regular expression, or one that is found in every text.",
    "slow-pattern": "A regular expression that repeats a repetition: on some texts it would not end in a lifetime.",
    "bad-schema": "An imported JSON Schema that is none.",
    "bad-shape": "A picture of the wire that cannot be read.",
    "bad-status": "A range of statuses that is empty.",
    "bad-range": "A range of a protocol's numbers that is empty.",
    "bad-example": "An example that breaks the rules of its own code.",
    # constructs that say too little, or two things
    "no-code-slot": "A shape that has no place for the code.",
    "no-reason": "A surface without an envelope that does not say why.",
    "unmapped-code": "A code that says nothing of HTTP where a surface is HTTP.",
    "incomplete": "A publication of errors that does not say where a code stands.",
    "bad-rule": "A rule without its condition or its consequence, or one that is never reached.",
    "endless-phase": "A phase of a backoff that never ends, though another follows.",
    "misplaced-key": "A key that means nothing beside the others of its construct.",
    "contradiction": "Two keys of one construct that cannot both hold.",
}
