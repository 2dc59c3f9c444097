# Copied from faultspec; do not edit
# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""JSON Pointers (RFC 6901)."""


def steps(pointer: str) -> list[str]:
    """The keys of a JSON Pointer, from the outside; empty for the pointer to the
    whole.
    """
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def resolve(body: object, pointer: str) -> tuple[bool, object]:
    """Follow a JSON Pointer: whether it resolves, and the value there."""
    value = body
    for key in steps(pointer):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif (
            isinstance(value, list)
            and key.isascii()
            and key.isdigit()
            and len(key) < 10
            and int(key) < len(value)
        ):
            value = value[int(key)]
        else:
            return False, None
    return True, value
