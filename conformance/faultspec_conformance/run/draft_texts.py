"""Texts of documents in a draft: none of them is a placeholder of the configuration."""

from dataclasses import replace

from faultspec.openapi.service import Description, read

#: How a placeholder of the configuration begins, and what stands in its place.
_BEGINNING, _HARMLESS = "${", "$ {"


def without_placeholders(description: Description) -> Description:
    """The description without texts such as `${AWS_SECRET_ACCESS_KEY}`, which a run would fill in
    and send to the service: the author of the document must not choose what it gets.
    """
    document = _neutralize(description.document)
    assert isinstance(document, dict)
    if document == description.document:
        return description
    # The paths of a learned document have the base already.
    base = "" if description.learned else description.base
    return replace(
        read(document, base=base, address=description.address),
        base=description.base,
        cuts=description.cuts,
        learned=description.learned,
    )


def _neutralize(value: object) -> object:
    match value:
        case str():
            return value.replace(_BEGINNING, _HARMLESS)
        case dict():
            return {_neutralize(key): _neutralize(member) for key, member in value.items()}
        case list():
            return [*map(_neutralize, value)]
    return value
