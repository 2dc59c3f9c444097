"""The language of a message: that of the declared messages which `Content-Language` names."""

from collections.abc import Mapping

from faultspec.judge.collector import FindingCollector
from faultspec.judge.match_envelope import ErrorReading
from faultspec.language.model import Code
from faultspec.language.pictures import fill_message
from faultspec.runtime.locales import find_locale


def answer_locale(findings: FindingCollector, code: Code) -> str | None:
    """The declared language of the messages of a code that an answer names; None for none."""
    tags = [tag.strip() for line in findings.lines("content-language") for tag in line.split(",")]
    return find_locale(tags[0], code.messages) if code.messages and len(tags) == 1 else None


def judge_language(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    """Check that a declared message is not that of another language than `Content-Language` names
    (RFC 9110 section 8.5). A message in words of the service is not a finding.
    """
    message, locale = error.slots.get("message"), answer_locale(findings, code)
    if not isinstance(message, str) or locale is None:
        return
    findings.exercise("code/language")
    details = error.value("details")
    known = details if isinstance(details, Mapping) else {}
    if fill_message(code.messages[locale], known) == message:
        return
    others = {"default": code.message, **code.messages}
    for name, text in others.items():
        if text is not None and fill_message(text, known) == message:
            whose = "the default message" if name == "default" else f"the message in `{name}`"
            shown = findings.show(message, error.where.get("message", ""))
            findings.add(
                "code/language",
                f"the message is {shown}, {whose} of `{code.name}`; expected that in "
                f"`{locale}`, as `Content-Language: {findings.lines('content-language')[0]}` says",
                pointer=error.where.get("message"),
                source=code.source,
            )
            return
