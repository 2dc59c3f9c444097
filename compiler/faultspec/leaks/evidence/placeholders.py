"""Values, hosts and domains that documentation uses in place of real ones."""

import re

from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

DOCUMENTATION_DOMAIN = Expression(
    r"^(?:.*\.)?(?:example|test|invalid|localhost)$|^(?:example|company|domain|yourdomain|your-domain|yourcompany|your-company|email)\.(?:com|org|net|edu)$|\.tld$",
    re.I,
)
"""Domains reserved for documentation (RFC 2606, RFC 6761). Test data uses them too, so an address
there is an example only with a placeholder before the @."""

PLACEHOLDER = Expression(
    r"^[*•<\[{$%]|^[xX]{3}|^\.{3}|^(?:null|none|undefined|true|false|required|missing|invalid|redacted|filtered|masked|hidden|change_?me)(?!\S)"
    r"|^(?:your|my|insert|replace|enter|example|sample|dummy|placeholder|some|the)[._-]|(?-i:^[A-Z]{2,}(?:[_-][A-Z]{2,}){1,8}\d{0,6}$)"
    r"|^(.)\1{5}|[*•]{3}|[xX]{6}|\.{3}$|^os\.(?:getenv|environ)|^process\.env",
    re.I,
)
"""Values that stand for a secret."""

PLACEHOLDER_WORD = Expression(
    r"<?[{$]{0,2}(?:db|my|your|the|some)?[_-]?(?:user|username|login|name|admin|pass|password|passwd|pwd|pw|secret|token|apikey|api[_-]key|x+|foo|bar|_)[}>]{0,2}",
    re.I,
)

PLACEHOLDER_HOST = Expression(
    r"<?[{$]{0,2}(?:(?:db|database|your|my|the|some)[_-]?)?(?:host|hostname|server|localhost|127\.0\.0\.1|address|ip|domain|your-[\w-]{1,60}|(?:[\w-]{1,60}\.)*(?:example|test|invalid)(?:\.(?:com|net|org|edu))?)[}>]{0,2}",
    re.I,
)

FORM = Expression(
    r"(?:\b(?:for example|for instance|e\.g\.|eg|such as|like|format|form|sample|example)[ ,:=\"'`(\[]{0,5}|\bmailto:)$",
    re.I,
)
"""Words before an address that explains the form of one."""
