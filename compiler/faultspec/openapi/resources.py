"""The resources that the paths of a service form."""

import re
from dataclasses import dataclass, replace

from faultspec.openapi.service import Description, ServiceOperation


@dataclass(frozen=True, slots=True)
class DocumentedResource:
    """A collection to create in, and an item to read and change.

    Each operation may be missing (None).
    """

    name: str
    create: ServiceOperation | None = None
    read: ServiceOperation | None = None
    update: ServiceOperation | None = None
    delete: ServiceOperation | None = None
    list: ServiceOperation | None = None

    @property
    def item(self) -> str | None:
        """The template of an item's path."""
        operation = self.read or self.update or self.delete
        return None if operation is None else operation.template


def resources(description: Description) -> tuple[DocumentedResource, ...]:
    """Collections and items by the shape of their paths, as in POST /orders and GET /orders/{id}.

    A collection under another item counts as well. Items without an operation that creates them
    come last.
    """
    found = [
        resource
        for template in description.paths
        for resource in _resources_at(description, template)
    ]
    found.sort(key=lambda resource: (resource.create is None, (resource.item or "").count("{")))
    unique: dict[str, DocumentedResource] = {}
    for resource in found:
        name = resource.name or "resource"
        while name in unique:
            name += "_"
        unique[name] = replace(resource, name=name)
    return tuple(unique.values())


def _resources_at(description: Description, template: str) -> list[DocumentedResource]:
    """The resource whose items have the path template; None if no resource has it."""
    collection, slash, last = template.rpartition("/")
    if not slash or not re.fullmatch(r"{[^{}]+}", last) or not collection:
        return []
    put = description.find("PUT", template)
    creating_put = put if put is not None and "201" in put.responses else None
    resource = DocumentedResource(
        name=_singular(re.sub(r"{[^{}]*}", "", collection).rstrip("/").rpartition("/")[2]),
        create=description.find("POST", collection) or creating_put,
        read=description.find("GET", template),
        update=put or description.find("PATCH", template),
        delete=description.find("DELETE", template),
        list=description.find("GET", collection),
    )
    return [resource] if resource.item is not None else []


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word
