"""The one reader of OpenAPI documents: 3.0, 3.1 and Swagger 2.0.

A reader returns values, together with the list of what it could not read
(`reader.DocumentReader.losses`). The importer reports that list. The conformance suite ignores it,
and uses whatever could be read.
"""
