"""Lint rules about the formats of bodies, which the media types of envelopes name."""

from collections.abc import Iterator, Mapping

from faultspec.lint.rule import Remark, Subject, rule
from faultspec.runtime.codecs import CodecName, find_codec
from faultspec.runtime.nodes import Array, Node, Object, walk
from faultspec.runtime.xml_codec import is_xml_name


@rule("unread-media-type", severity="warning")
def unread_media_type(subject: Subject) -> Iterator[Remark]:
    """The media type of an envelope is one that can be read: of JSON, JSON lines, XML, CBOR, a form
    or plain text. Others are not judged, and bindings do not parse them.

    Bad::

        envelopes:
          error:
            media_type: application/x-protobuf
            shape: {code: $code, message: $message}
        codes:
          absent: {summary: It is not there., http: 404}

    Good::

        envelopes:
          error:
            media_type: application/cbor
            shape: {code: $code, message: $message}
        codes:
          absent: {summary: It is not there., http: 404}
    """
    for name, envelope in subject.taxonomy.envelopes.items():
        for media_type in envelope.media_types:
            if find_codec(media_type) is None:
                message = (
                    f"bodies of `{media_type}` are not read, so `{name}` is not judged in them"
                )
                hint = "name the media type of JSON, JSON lines, XML, CBOR, a form or plain text"
                yield Remark(("envelopes", name, "media_type"), message, hint, on_key=False)


@rule("unsayable-shape", severity="error")
def unsayable_shape(subject: Subject) -> Iterator[Remark]:
    """The format of an envelope can write its shape: XML has one root element, a form is one flat
    object, and plain text is one string.

    Bad::

        envelopes:
          error:
            media_type: application/xml
            shape: {code: $code, message: $message}
        codes:
          absent: {summary: It is not there., http: 404}

    Good::

        envelopes:
          error:
            media_type: application/xml
            shape: {error: {code: $code, message: $message}}
        codes:
          absent: {summary: It is not there., http: 404}
    """
    for name, envelope in subject.taxonomy.envelopes.items():
        for codec in envelope.codecs:
            problem = _shape_problem(codec.name, envelope.shape)
            if problem is not None:
                yield Remark(("envelopes", name, "shape"), problem, _HINTS[codec.name], on_key=True)


_HINTS: Mapping[str, str] = {
    "XML": "draw the root element as the one member, such as `{Error: {Code: $code}}`",
    "form": "draw one object of slots, such as `{error: $code}`",
    "text": 'draw a string, such as `"${code}: ${message}"`',
}


def _shape_problem(format_: CodecName, shape: Node) -> str | None:
    match format_:
        case "XML":
            return _xml_problem(shape)
        case "form":
            flat = isinstance(shape, Object) and not any(
                isinstance(member.node, Object | Array) for member in shape.members
            )
            return None if flat else "a form is one object of texts"
        case "text" if isinstance(shape, Object | Array):
            return "plain text is one string"
    return None


def _xml_problem(shape: Node) -> str | None:
    if not isinstance(shape, Object) or shape.spread is not None or len(shape.members) != 1:
        return "an XML document has one root element"
    root = shape.members[0]
    if root.optional or isinstance(root.node, Array):
        return f"the root element `{root.name}` of an XML document is there once"
    for place in walk(shape):
        for member in place.node.members if isinstance(place.node, Object) else ():
            name = member.name.removeprefix("@")
            if not is_xml_name(name) and name != "#text":
                return f"`{member.name}` is not the name of an XML element or attribute"
    return None
