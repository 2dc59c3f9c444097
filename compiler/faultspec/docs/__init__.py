"""Pages that are generated from the language, the lint rules and the importers."""
