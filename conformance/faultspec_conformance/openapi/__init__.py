"""The service's own OpenAPI document, and values that its schemas allow."""
