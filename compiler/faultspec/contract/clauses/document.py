"""The service's own OpenAPI document: what its answers promise there.

schemathesis checks these clauses where the document is known. `document/sequences` is what it
concludes from several requests.
"""

from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause

_document = partial(Clause, transports=HTTP)

CLAUSES = (
    _document(
        address="document/agrees",
        title="The OpenAPI document and the taxonomy agree",
        why="Clients are generated from one of them, and meet errors of the other.",
        occasion="An OpenAPI document that describes an error of a status that the taxonomy has.",
        reads=("sequence",),
    ),
    _document(
        address="document/status",
        title="The status of an answer is documented",
        why="Generated clients have no type for an answer that the document leaves out.",
        occasion="An answer of a documented operation.",
        reads=("operation", "method", "status"),
    ),
    _document(
        address="document/media-type",
        title="The media type of an answer is documented",
        why="Generated clients choose the parser by the media type.",
        occasion="An answer with a documented status that has documented content.",
        reads=("operation", "method", "status", "header-values"),
    ),
    _document(
        address="document/headers",
        title="An answer has its documented headers",
        why="Generated clients read required headers without asking whether they are there.",
        occasion="An answer with a documented status that has documented headers.",
        reads=("operation", "method", "status", "header-values"),
    ),
    _document(
        address="document/schema",
        title="The body of an answer fits its documented schema",
        why="Generated clients fail to parse the answer, or lose a member of it.",
        occasion="An answer with a body whose status and media type have a documented schema.",
        reads=("operation", "method", "status", "header-values", "body"),
    ),
    _document(
        address="document/challenge",
        title="A 401 asks for credentials of a kind that the document declares",
        why="Clients choose the credentials by the challenge, and generated ones by the document.",
        occasion="A 401 with WWW-Authenticate, where the document declares HTTP schemes alone.",
        reads=("operation", "method", "status", "header-values"),
    ),
    _document(
        address="document/bounds",
        title="A value exactly at a documented bound is accepted",
        why="Clients check their input by the document, and are refused for what it allows.",
        occasion="A request with one value at a bound of the document, and the value next to it.",
        reads=("sequence", "request", "status"),
    ),
    _document(
        address="document/sequences",
        title="Schemathesis finds nothing wrong with a sequence of generated requests",
        why="A resource that is read after its deletion was not deleted.",
        occasion="Generated traffic that reaches the stateful phase of schemathesis.",
        reads=("sequence", "request", "status"),
    ),
)
