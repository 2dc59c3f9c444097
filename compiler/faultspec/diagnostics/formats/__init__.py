"""Writers of JUnit, SARIF, workflow commands and Markdown, over small values.

`faultspec.diagnostics.printers` adapts diagnostics to these values, and the reports of the
conformance suite adapt their results. Each format is written in one place.
"""
