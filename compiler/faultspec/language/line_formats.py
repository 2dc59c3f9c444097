"""Formats of log lines that are text, by the names that a taxonomy gives them."""

import re
from collections.abc import Mapping

_QUOTED = r'"(?P<{}>(?:[^"\\]|\\.)*)"'

#: nginx's format `combined`, which is Apache's too, and the older `common`. More may follow.
_COMBINED = (
    r"(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]*)\] "
    + _QUOTED.format("request")
    + r" (?P<status>\d{3}) (?P<bytes>\d+|-)"
    + f"(?: {_QUOTED.format('referer')} {_QUOTED.format('agent')}(?P<rest>.*))?"
)

#: Envoy's default format. Istio's has the reason of the answer behind the flags.
_ENVOY = (
    r"\[(?P<time>[^\]]*)\] "
    + _QUOTED.format("request")
    + r' (?P<status>\d{1,3}) (?P<flags>\S+) (?:(?P<reason>[^\d\s]\S*) \S+ "[^"]*" )?'
    r"(?P<received>\d+) (?P<sent>\d+) (?P<milliseconds>\d+|-) (?P<upstream_milliseconds>\d+|-) "
    + " ".join(map(_QUOTED.format, ("forwarded", "agent", "request_id", "authority", "upstream")))
    + "(?P<rest>.*)"
)

LINE_FORMATS: Mapping[str, re.Pattern[str]] = {
    "combined": re.compile(_COMBINED),
    "envoy": re.compile(_ENVOY),
    "cri": re.compile(r"(?P<time>\S+) (?P<stream>stdout|stderr) (?P<tag>[FP]\S*) (?P<text>.*)"),
    "fluentd": re.compile(r"(?P<time>[^\t]*)\t(?P<tag>[^\t]*)\t(?P<text>.*)"),
    "prefixed": re.compile(r"(?P<prefix>[^{]*)(?P<text>\{.*)"),
}
"""Expressions of whole lines in time that is linear in their length, with a group for each part.
``combined``: nginx and Apache. ``cri``: containers of Kubernetes. ``prefixed``: anything before the
first `{`.
"""
