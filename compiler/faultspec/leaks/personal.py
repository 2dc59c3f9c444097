"""Patterns of personal data: cards, bank accounts, telephone numbers, national ids.

A form alone proves nothing, so a match counts only if the number is valid: `python-stdnum` knows
the check digits, `phonenumbers` the numbering plans. Both come with `faultspec[personal-data]`.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from faultspec.leaks.pattern import Pattern
from faultspec.leaks.pattern import pattern as _pattern

LIBRARIES = {"stdnum": "python-stdnum", "phonenumbers": "phonenumbers"}
"""The libraries that the detector needs: module, and name on PyPI."""


@cache
def missing_libraries() -> tuple[str, ...]:
    """The libraries of the detector that are not installed, by their names on PyPI."""
    return tuple(name for module, name in LIBRARIES.items() if find_spec(module) is None)


_EXAMPLE = re.compile(
    r"\b(?:for instance|e\.g\.|eg|such as|like|formats?|formatted|examples?|pattern)\b",
    re.IGNORECASE,
)
"""Words before a number that explains a form."""

_OTHER_NUMBER = re.compile(
    r"\b(?:order|invoice|request|trace|span|transaction|txn|tracking|reference|ref|ticket|case|build|event|message|serial|timestamp|epoch|isbn|sku|version|offset|sequence|snowflake"
    r"|id|ids|nr|no|number|maximum|minimum|than|least|most|between|and|to|limit|length)[\"'`]?[ #:=.\"'`(\[]{1,4}$",
    re.IGNORECASE,
)
"""Words before numbers of other kinds."""

_HOTLINE = re.compile(
    r"\b(?:hot-?line|help-?line|support|service|customer care|call us(?: at| on)?|contact(?: us)?|reach us|kontakt|contact(?:ez|o|ar)?|llam[ae]\w*|rufen|appelez|ligue|atendimento|soporte|suporte|assistance|hilfe|help ?desk|office hours|sales)\b[^\n\d+]{0,30}$",
    re.IGNORECASE,
)
"""Words before the number of a company, which callers are asked to ring."""

_TEST = re.compile(r"\b(?:test|sandbox|demo|dummy|sample)[ _-](?:card|number|account|iban)\b", re.I)
"""Words before a number that its issuer publishes for tests."""

_BRANDS = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:6011|65\d\d|64[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}"
)
"""Ranges and lengths of the issuers of cards (ISO/IEC 7812)."""


def _is_valid(module: str, text: str) -> bool:
    return bool(import_module(f"stdnum.{module}").is_valid(text))


def _text_before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 40) : match.start()]


def _is_card(match: re.Match[str]) -> bool:
    """Whether it is the number of a card: of an issuer, with Luhn's check digit."""
    digits = re.sub(r"\D", "", match[0])
    if missing_libraries() or not _BRANDS.fullmatch(digits) or len(set(digits)) < 2:
        return False
    before = _text_before(match)
    if _TEST.search(before):
        return False
    named = re.search(r"\b(?:card|pan|visa|mastercard|amex|cc)\b", before, re.IGNORECASE)
    if not named and (_OTHER_NUMBER.search(before) or _EXAMPLE.search(before)):
        return False
    narrow = digits.startswith(("4", "5", "34", "37", "35", "6011"))
    if not named and digits == match[0] and not narrow:
        return False  # the other ranges are wide: one in a hundred numbers would be a card
    return _is_valid("luhn", digits)


def _is_iban(match: re.Match[str]) -> bool:
    if missing_libraries() or _EXAMPLE.search(_text_before(match)):
        return False
    # The check digits of ISO 7064 suffice: those of each country's own scheme are often made up.
    return bool(import_module("stdnum.iban").is_valid(match[0], check_country=False))


def _is_phone(match: re.Match[str]) -> bool:
    """Whether a number in international form is in the plan of its country, and not fictitious."""
    if missing_libraries() or _EXAMPLE.search(_text_before(match)):
        return False
    phonenumbers = import_module("phonenumbers")
    try:
        number = phonenumbers.parse(match[0], None)
    except phonenumbers.NumberParseException:
        return False
    fictitious = re.search(r"(?:555\D?01\d\d|5005550\d{3})$", match[0])
    if fictitious or _HOTLINE.search(_text_before(match)):
        return False
    kinds = phonenumbers.PhoneNumberType
    company = (kinds.TOLL_FREE, kinds.PREMIUM_RATE, kinds.SHARED_COST, kinds.UAN)
    return phonenumbers.is_valid_number(number) and phonenumbers.number_type(number) not in company


_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "BR", "IN", "AU", "NL")
"""Countries whose national form is tried for a number without a country's code."""


def _is_national_phone(match: re.Match[str]) -> bool:
    """Whether a number behind the word for a telephone is in the plan of a large country."""
    if (
        missing_libraries()
        or _EXAMPLE.search(_text_before(match))
        or _HOTLINE.search(_text_before(match))
    ):
        return False
    phonenumbers = import_module("phonenumbers")
    for region in _REGIONS:
        try:
            number = phonenumbers.parse(match["value"], region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return re.search(r"555\D?01\d\d$", match["value"]) is None
    return False


def _is_installed(match: re.Match[str]) -> bool:
    """Whether a number behind the word that names it counts: nothing else can be checked."""
    return not missing_libraries() and not _EXAMPLE.search(_text_before(match))


def _is_id(*modules: str) -> Callable[[re.Match[str]], bool]:
    """Accept numbers that are valid ids of one of the countries."""

    def accept(match: re.Match[str]) -> bool:
        number = match.groupdict().get("value") or match[0]
        bare = re.sub(r"[ .:-]", "", number)
        if missing_libraries() or _EXAMPLE.search(_text_before(match)):
            return False
        return any(_is_valid(module, form) for module in modules for form in (number, bare))

    return accept


_COUNTRIES = (
    *("us.ssn", "us.itin", "ca.sin", "gb.nhs", "in_.aadhaar", "pl.pesel", "nl.bsn", "de.idnr"),
    *("au.tfn", "cl.rut", "dk.cpr", "no.fodselsnummer", "bg.egn", "ro.cnp", "hr.oib", "br.cpf"),
    *("ch.ssn", "za.idnr", "tr.tckimlik", "kr.rrn", "my.nric", "lt.asmens", "ee.ik"),
)
"""Modules of `stdnum` whose ids count only behind a word that names them: digits and no more."""


def _is_bare_ssn(match: re.Match[str]) -> bool:
    """Whether a number in the form of a US social security number is valid and of no other kind."""
    before = _text_before(match)
    return (
        not missing_libraries()
        and not _OTHER_NUMBER.search(before)
        and not _EXAMPLE.search(before)
        and _is_valid("us.ssn", match[0])
    )


_NAMED = r"(?:national[ _-]?id(?:entity|entification)?|identity|personal|citizen|tax(?:payer)?|social[ _-]security|insurance|nhs|ssn|sin|tin|itin|nino|nin|tfn|aadhaa?r|pesel|bsn|cpf|rut|dni|nie|curp|steuer\w{0,20}|idnr|personnummer|fodselsnummer|cpr|oib|egn|cnp|my ?kad|nric)"

_NAMES = "national|identi|personal|citizen|tax|social|insurance|nhs|ssn|sin|tin|itin|nino|nin|tfn|aadha|pesel|bsn|cpf|rut|dni|nie|curp|steuer|idnr|fodsels|personnummer|cpr|oib|egn|cnp|my kad|mykad|nric"

_PERSON_NUMBER = r"(?i:national[ _-]?id(?:entity)?|identity|personal|tax ?id|social security|insurance|medicare|medicaid|nhs|ssn|sin|tin|nin|tfn|ird|pesel|nip|bsn|cpf|rut|dni|nie|nif|curp|steuer(?:-?id|nummer)|idnr|f[øo]dselsn(?:umme)?r|personn(?:umme)?r|henkil[öo]tunnus|hetu|kennitala|isikukood|asmens kodas|rodn[ée] [cč][ií]slo|cnp|jmbg|oib|egn|nir|insee|codice fiscale|niss|ahv|svnr|cpr|c[ée]dula|cuit|cuil|aadhaar|nric|nik)[ _-]?(?i:number|no|nr|id|f[øo]dselsnr)?"
"""Names of numbers of persons: beside a person's name, such a number counts without its check."""

_NAMES_WITH_PERSON = (
    "linked",
    "registered",
    "assigned",
    "issued",
    "belongs",
    "attached",
    "associated",
    "held",
    "used",
)

_PERSON = r"(?<![\w.])[^\W\d_a-z][\w'-]{1,25}(?: [^\W\d_a-z]\.)?(?: [^\W\d_a-z][\w'-]{1,25}){1,3}"
"""A first name and a last one."""

_COMPANY = re.compile(
    r"\b(?:service|services|support|customer|office|claims|returns|bank|team|department|dept|gmbh|ag|as|ab|oy|ltd|llc|inc|plc|corp|group|company|center|centre|court|authority|agency|university|hospital|clinic|hotel|store|shop|warehouse|terminal|headquarters|hq|embassy|ministry|station|airport|port|depot)\b"
    r"|\b(?:write|letter|post|postal|mail|send|return|invoice|registered office|imprint|impressum|address of)\b[^\n]{0,40}$",
    re.I,
)
"""Words of the address of a company, which an error may name."""


def _is_persons_address(match: re.Match[str]) -> bool:
    """Whether a postal address follows the name of a person, and explains no form."""
    name = match[0].partition(",")[0]
    before = _text_before(match)
    return not (
        missing_libraries()
        or _COMPANY.search(before)
        or _COMPANY.search(name)
        or _EXAMPLE.search(before)
    )


# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
PERSONAL = (
    Pattern("a national id", _NAMES_WITH_PERSON, rf"(?:{_PERSON_NUMBER})\.?[ :#]{{1,3}}(?P<value>[A-Z]{{0,2}}\d[\d .-]{{5,16}}[\dA-Z]) (?:is |was |has been )?(?:already )?(?:linked|registered|assigned|issued|belongs|attached|associated|held|used)[^\n]{{0,12}}? (?:to|with|by) [^\W\d_a-z]\w{{1,30}} [^\W\d_a-z]\w{{1,30}}", re.MULTILINE, accept=_is_installed),
    Pattern("a postal address", ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"), rf"{_PERSON}, (?:[^\W\d_a-z][\w'.-]{{2,30}}(?: [\w'.-]{{1,20}}){{0,3}} \d{{1,4}} ?[a-zA-Z]?, (?:[A-Z]{{1,2}}-)?\d{{2,5}}[ -]?\d{{0,3}} [^\W\d_a-z]\w{{1,30}}|\d{{1,5}},? (?:[^\W\d_a-z][\w'.-]{{1,25}} ){{1,3}}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Close|Way|Place|Square|Boulevard|Blvd|Terrace|Crescent|Gardens|Hill|Row|Mews|Quay)\b|\d{{1,4}}(?: bis| ter)?,? (?:rue|avenue|boulevard|place|all[eé]e|chemin|quai|impasse|via|viale|piazza|calle|avenida|plaza|rua) [\w' ]{{3,40}}, \d{{4,5}} [^\W\d_a-z]|(?:rue|via|viale|piazza|calle|avenida|plaza|rua|ul\.|ulica|ulice) [\w' ]{{3,40}} \d{{1,4}}\w?, \d{{2,5}}[ -]?\d{{0,3}} [^\W\d_a-z])", re.MULTILINE, accept=_is_persons_address),
    _pattern("the number of a payment card", "2|3|4|5|6", r"(?<![\w.+/-])[2-6]\d{3}(?:[ -]?\d{4}){2,3}(?:[ -]?\d{1,3})?(?![\w-]|\.\d)|(?<![\w.+/-])3[47]\d\d[ -]?\d{6}[ -]?\d{5}(?![\w-]|\.\d)", accept=_is_card),
    _pattern("the number of a bank account", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w-])", accept=_is_iban),
    _pattern("a telephone number", "+", r"(?<![\w+])\+[1-9]\d{0,2}[ .()/-]{0,2}\d(?:[ .()/-]{0,2}\d){5,12}(?![\w-]|\.\d)", accept=_is_phone),
    _pattern("a national id", ".", r"(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w-])", accept=_is_id("br.cpf")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z](?![\w-])", accept=_is_id("it.codicefiscale")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])(?:\d{8}|[XYZ]\d{7})-?[A-HJ-NP-TV-Z](?![\w-])", accept=_is_id("es.dni", "es.nie")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])\d{6}[-+ABCDEFYXWVU]\d{3}[0-9A-FHJ-NPR-Y](?![\w-])", accept=_is_id("fi.hetu")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])(?:19|20)?\d{6}[-+]\d{4}(?![\w-])", accept=_is_id("se.personnummer")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])[1-6]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])[0-3]\d\d{3}[0-9X](?![\w-])", accept=_is_id("cn.ric")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}(?![\w-])", accept=_is_id("be.nn")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])[12]\d{2}(?:0[1-9]|1[0-2])(?:\d{2}|2[AB])\d{6}\d{2}(?![\w-])", accept=_is_id("fr.nir")),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", r"(?<![\w-])[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d(?![\w-])", accept=_is_id("mx.curp")),
    _pattern("a national id", _NAMES, rf"\b{_NAMED}[ _-]?(?:number|no|nr|id|code)?\.?[\"'`]?[ :=#\"'`(]{{1,4}}(?:is |of )?(?P<value>[A-Z]{{0,2}}\d[\d .-]{{6,16}}[\dA-Z])(?![\w-])", accept=_is_id(*_COUNTRIES), flags=re.IGNORECASE),
    _pattern("a national id", _NAMES, rf"\b{_NAMED}[ _-]?(?:number|no)?[\"'`]?[ :=#\"'`(]{{1,4}}(?:is )?(?P<value>[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D])(?![\w-])", flags=re.IGNORECASE, accept=_is_installed),
    _pattern("a national id", "-", r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])", accept=_is_bare_ssn),
    _pattern("a telephone number", "phone|mobile|tel|cell|handy|sms", r"\b(?:(?:tele)?phone|mobile|cell|tel|handy|sms)(?:[ _-]?(?:number|no|nr))?\.?[\"'`]?[ :=#\"'`(]{1,4}(?:is |of |to )?(?P<value>\(?0?\d{2,5}\)?(?:[ ./-]?\d{2,8}){1,4})(?![\w-]|\.\d)", flags=re.IGNORECASE, accept=_is_national_phone),
    _pattern("a date of birth", "birth|dob|born|geb|naissance|nacimiento", r"\b(?:date[ _-]of[ _-]birth|birth[ _-]?da(?:te|y)|dob|born(?: on)?|geboren(?: am)?|geburtsdatum|date de naissance|fecha de nacimiento)[\"'`]?[ :=(\"'`]{1,4}(?:is |was )?(?:(?:19\d\d|200\d|201[0-5])-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:19\d\d|200\d|201[0-5]))\b", flags=re.IGNORECASE, accept=_is_installed),
    _pattern("the number of a document", "passport|licen|patient|mrn|insurance|ausweis", r"\b(?:passport|driv(?:er'?s?|ing) licen[cs]e|patient (?:mrn|id|record)|mrn|health insurance|personalausweis)(?:[ _-]?(?:number|no|nr|id))?\.?[\"'`]?[ :=#\"'`(]{1,4}(?:is |of )?(?P<value>(?=[A-Z0-9]{0,12}\d{2})[A-Z0-9]{6,18})(?![\w-])", flags=re.IGNORECASE, accept=_is_installed),
    _pattern("a place on earth", "lat", r"\blat(?:itude)?[\"'`]?[ :=]{1,3}-?\d{1,2}\.\d{4,10}[, ;&\"'`]{1,4}(?:lon|lng|long(?:itude)?)[\"'`]?[ :=]{1,3}-?\d{1,3}\.\d{4,10}[^\n]{0,20}\b(?:user|customer|driver|rider|patient|home)\b", flags=re.IGNORECASE, accept=_is_installed),
)
# fmt: on
