"""Patterns of personal data: cards, bank accounts, telephone numbers, national ids.

A form alone proves nothing, so a match counts only if the number is valid: `python-stdnum` knows
the check digits, `phonenumbers` the numbering plans. Both come with `faultspec[personal-data]`.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from faultspec.leaks.evidence import persons, statements
from faultspec.leaks.pattern import Expression, Pattern
from faultspec.leaks.pattern import pattern as _pattern

LIBRARIES = {"stdnum": "python-stdnum", "phonenumbers": "phonenumbers"}
"""The libraries that the detector needs: module, and name on PyPI."""


@cache
def missing_libraries() -> tuple[str, ...]:
    """The libraries of the detector that are not installed, by their names on PyPI."""
    return tuple(name for module, name in LIBRARIES.items() if find_spec(module) is None)


_EXAMPLE = Expression(
    r"\b(?:for instance|e\.g\.|eg|such as|like|formats?|formatted|examples?|pattern)\b",
    re.IGNORECASE,
)
"""Words before a number that explains a form."""

_OTHER_NUMBER = Expression(
    r"\b(?:order|invoice|request|trace|span|transaction|txn|tracking|reference|ref|ticket|case|build|event|message|serial|timestamp|epoch|isbn|sku|version|offset|sequence|snowflake"
    r"|id|ids|nr|no|number|maximum|minimum|than|least|most|between|and|to|limit|length)[\"'`]?[ #:=.\"'`(\[]{1,4}$",
    re.IGNORECASE,
)
"""Words before numbers of other kinds."""

_HOTLINE = Expression(
    r"\b(?:zadzwoń|dzwoń|anrufen|infolinia|infoline|emergency|hot-?line|help-?line|support|service|customer care|call us(?: at| on)?|contact(?: us)?|reach us|kontakt|contact(?:ez|o|ar)?|llam[ae]\w*|rufen|appelez|ligue|atendimento|soporte|suporte|assistance|hilfe|help ?desk|office hours|sales)\b[^\n\d+]{0,30}$"
    r"|(?:[?!] {1,2}|\bplease )(?:call|ring|dial|text)\b[^\n\d+]{0,30}$|(?-i:\b(?:Call|Ring|Dial|Text))\b[^\n\d+]{0,30}$",
    re.IGNORECASE,
)
"""Words before the number of a company, which callers are asked to ring."""

_TEST = Expression(r"\b(?:test|sandbox|demo|dummy|sample)[ _-](?:card|number|account|iban)\b", re.I)
"""Words before a number that its issuer publishes for tests."""

_FICTITIOUS = Expression(
    r"(?:55501\d\d|5005550\d{3}|^44(?:(?:113|114|115|116|117|118|121|131|141|151|161)4960|2079460|1632960|7700900|8081570|9098790|3069990)\d{3}|^61(?:[2378]5550|[2378]7010|491570|491571|491572)\d{3,4}|^33(?:1990[0-9]|26191|35301|46571|53649|63998)\d{4})$"
)
"""Numbers that regulators keep for films: of North America, Great Britain, Australia and France."""

_BRANDS = Expression(
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
    if not named and len(digits) == 13:
        return False  # an article number; cards of thirteen digits are no longer issued
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
    if _FICTITIOUS.search(re.sub(r"\D", "", match[0])) or _HOTLINE.search(_text_before(match)):
        return False
    kinds = phonenumbers.PhoneNumberType
    company = (kinds.TOLL_FREE, kinds.PREMIUM_RATE, kinds.SHARED_COST, kinds.UAN)
    return phonenumbers.is_valid_number(number) and phonenumbers.number_type(number) not in company


_REGIONS = (
    *("US", "GB", "DE", "FR", "ES", "IT", "BR", "IN", "AU", "NL"),
    *("PL", "CZ", "SE", "NO", "DK", "FI", "PT", "CH", "AT", "BE", "RU", "CN", "JP", "TR"),
)
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
    digits = match["value"] or match["other"]
    for region in _REGIONS:
        try:
            number = phonenumbers.parse(digits, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return _FICTITIOUS.search(re.sub(r"\D", "", digits)) is None
    return False


def _is_installed(match: re.Match[str]) -> bool:
    """Whether a number behind the word that names it counts: nothing else can be checked."""
    return not missing_libraries() and not _EXAMPLE.search(_text_before(match))


def _is_id(*modules: str) -> Callable[[re.Match[str]], bool]:
    """Accept numbers that are valid ids of one of the countries."""

    def accept(match: re.Match[str]) -> bool:
        number = match.groupdict().get("value") or match[0]
        bare = re.sub(r"[ .:-]", "", number)
        if len(set(re.sub(r"\D", "", number))) < 2:
            return False
        if missing_libraries() or _EXAMPLE.search(_text_before(match)):
            return False
        return persons.is_issued(match) and any(
            _is_valid(module, form) for module in modules for form in (number, bare)
        )

    return accept


def _is_of_person(match: re.Match[str]) -> bool:
    """Whether a number behind the name of one country's ids counts, whatever its check digit."""
    value = match.groupdict().get("value") or match[0]
    return (
        not missing_libraries()
        and not _EXAMPLE.search(_text_before(match))
        and persons.is_issued(match)
        and len(set(re.sub(r"\D", "", value))) > 2
    )


def _is_person_with_fact(match: re.Match[str]) -> bool:
    """Whether a person's name stands beside something private about them."""
    return (
        not missing_libraries()
        and not _EXAMPLE.search(_text_before(match))
        and persons.is_name_of_person(match)
    )


def _is_private(match: re.Match[str]) -> bool:
    """Whether a fact is one of a person, in a sentence that states no rule."""
    return not missing_libraries() and statements.is_report(match)


_FORMS = (
    (r"\d{2}\.\d{3}\.\d{3}-\d{2}", ("br.cpf",)),
    (r"[A-Z]{5}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", ("it.codicefiscale",)),
    (r"\d{7}-?[A-HJ-NP-TV-Z]", ("es.dni", "es.nie")),
    (r"\d{5}[-+ABCDEFYXWVU]\d{3}[0-9A-FHJ-NPR-Y]", ("fi.hetu",)),
    (r"\d{5}(?:\d\d)?[-+]\d{4}", ("se.personnummer",)),
    (r"\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])[0-3]\d\d{3}[0-9X]", ("cn.ric",)),
    (r"\d\.\d{2}\.\d{2}-\d{3}\.\d{2}", ("be.nn",)),
    (r"\d{2}(?:0[1-9]|1[0-2])(?:\d{2}|2[AB])\d{6}\d{2}", ("fr.nir",)),
    (r"[A-Z]{3}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", ("mx.curp",)),
)
"""Forms of national ids that no other number has, without the first character, and the modules of
`stdnum` that check them.
"""


def _is_formed_id(match: re.Match[str]) -> bool:
    """Whether a number is valid in one of the countries whose form it has."""
    return any(
        re.fullmatch(form, match[0][1:]) and _is_id(*modules)(match) for form, modules in _FORMS
    )


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
        and persons.is_issued(match)
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

_SURE_IDS = {
    "pesel": r"\d{11}",
    "codice fiscale|cod. fiscale|c.f.": r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]",
    "ssn|social security": r"\d{3}-?\d{2}-?\d{4}",
    "cpf": r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}",
    "bsn|burgerservicenummer": r"\d{9}",
    "nir|sécurité sociale|securite sociale|insee": r"[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3}(?: ?\d\d)?",
    "ahv|avs": r"756\.?\d{4}\.?\d{4}\.?\d{2}",
    "personnummer|samordningsnummer": r"(?:19|20)?\d{6}[-+ ]?\d{4}",
    "fødselsnummer|fodselsnummer|fødselsnr": r"\d{6} ?\d{5}",
    "cpr": r"[0-3]\d[01]\d\d\d-?\d{4}",
    "hetu|henkilötunnus": r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]",
    "aadhaar|aadhar": r"[2-9]\d{3} ?\d{4} ?\d{4}",
    "pan": r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]",
    "nhs": r"\d{3} ?\d{3} ?\d{4}",
    "nino|national insurance|ni number": r"[A-CEGHJ-PRSTW-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]",
    "steuer-id|steuer-idnr|steueridentifikationsnummer|identifikationsnummer|idnr": r"\d{2} ?\d{3} ?\d{3} ?\d{3}",
    "sozialversicherungsnummer|rentenversicherungsnummer|sv-nummer|svnr": r"\d{2} ?\d{6} ?[A-Z] ?\d{3}|\d{4} ?\d{6}",
    "kimlik|tckn": r"[1-9]\d{10}",
    "身份证": r"\d{17}[\dX]",
    "dni|nie": r"[XYZ\d]\d{7}-?[A-Z]",
    "rut": r"\d{1,2}\.?\d{3}\.?\d{3}-[\dK]",
    "cuil|cuit": r"\d{2}-?\d{8}-?\d",
    "curp": r"[A-Z]{4}\d{6}[A-Z]{6}[A-Z0-9]\d",
    "cédula|cedula": r"\d{1,2}\.?\d{3}\.?\d{3}(?:-\d)?|\d{10}",
    "rodné číslo|rodne cislo|rodného čísla|rodným číslem": r"\d{6}/\d{3,4}",
    "cnp": r"[1-9]\d{12}",
    "egn|егн": r"\d{10}",
    "oib": r"\d{11}",
    "jmbg|emšo": r"\d{13}",
    "амка|αμκα|amka": r"\d{11}",
    "снилс|snils": r"\d{3}-\d{3}-\d{3} ?\d\d",
    "инн": r"\d{12}",
    "ppsn|pps number": r"\d{7}[A-W][A-IW]?",
    "niss|rijksregisternummer": r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}\.?\d{2}",
    "nric|fin": r"[STFGM]\d{7}[A-Z]",
    "medicare": r"\d{4} ?\d{5} ?\d|[1-9][A-Z][A-Z0-9]\d-?[A-Z][A-Z0-9]\d-?[A-Z]{2}\d\d",
    "tfn|tax file number": r"\d{3} ?\d{3} ?\d{2,3}",
    "sin": r"\d{3}[ -]\d{3}[ -]\d{3}",
    "mynumber|my number|マイナンバー": r"\d{4} ?\d{4} ?\d{4}",
    "주민등록번호": r"\d{6}-\d{7}",
    "nationalid|national_id|national id|national number|nationalidentitynumber|personalid|personal id|personal_id|personalnumber|identity number|identity card|id card": r"[A-Z]{0,3}\d[\d.-]{5,14}[\dA-Z]",
}
"""Names of the ids of persons, and the form that belongs to them."""


def _sure_id(names: str, form: str) -> Pattern:
    """The pattern of a national id by its name and form."""
    words = tuple(names.split("|"))
    # A short name is a part of many words.
    needles = tuple(
        f"{word}{sign}"
        for word in words
        for sign in (" _-:：=#.)(\"'`" if len(word) < 5 and word.isascii() else [""])
    )
    one = "|".join(map(re.escape, words))
    return Pattern(
        "a national id",
        needles,
        rf"(?<![^\W_])(?:{one})(?:(?:[ _-]|(?<=[^\x00-\x7f]))(?:number|numero|número|numer|nummer|no|nr|id|n°|№|号码?))?\.?[\"'`)]?"
        rf"[ :：=#\"'`(]{{1,4}}(?:is |of |ist |est |es |è |to )?(?-i:(?P<value>{form}))(?![\w-]|\.\d)",
        re.IGNORECASE,
        accept=_is_of_person,
    )


_NAME = r"[^\W\d_a-z](?:[''’][^\W\d_a-z])?[^\W\d_A-Z]{1,20}(?:-[^\W\d_a-z][^\W\d_A-Z]{1,20})?"
"""A word that may be a name: Anna, O'Brien, Müller-Weiß."""

_NAME_OF_PERSON = rf"(?P<person>{_NAME}(?: [^\W\d_a-z]\.)?(?: (?:van|von|de|da|di|del|der|den|bin|al|el|la|le|dos|zu))? (?:O['’]|Mc|Mac|D['’])?{_NAME}|[^\W\d_a-z]\. {_NAME})(?! [^\W\d_a-z][^\W\d_A-Z])"
"""A first name or its letter, and a last name."""

_ROLES = r"(?:employees?|patients?|customers?|clients?|students?|pupils?|tenants?|passengers?|guests?|drivers?|couriers?|residents?|applicants?|candidates?|policy ?holders?|account ?holders?|card ?holders?|holder|owners?|insured|debtors?|borrowers?|beneficiary|subscribers?|doctors?|nurses?|teachers?|citizens?|workers?|colleagues?|members?|payees?|recipients?|witness|victim|defendant|pacjent\w{0,3}|pracownik\w{0,3}|klient\w{0,3}|uczeń|ucznia|kunde|kundin|kunden|patientin|mitarbeiter(?:in|s)?|versicherte[rn]?|schüler(?:in)?|mieter(?:in)?|paciente|cliente|empleado|empleada|alumno|patiente|salariée?|locataire|élève|dipendente|paziente|medewerker|patiënt|klant|ansatt|anställd)"

_FACTS = r"(?:[A-TV-Z]\d\d\.\d{1,2}\b|diagnos\w{1,4}|sick leave|maternity|parental leave|krankgeschrieben|salar(?:y|ies)|earns|wages?|gehalt|pensja|wynagrodzen\w{1,4}|HIV|cancer|diabet\w{1,3}|pregnan\w{1,3}|schwanger|allerg\w{1,3}|convict\w{1,3}|bankrupt\w{0,2}|arrears|owes|debts?|unpaid|overdue|blood (?:type|group)|disabilit\w{1,3}|depress\w{1,3}|therapy|surgery|chemo\w{0,8}|medication|prescri\w{2,6}|failed (?:the )?(?:maths?|exam|course|drug|test\b)|rent\b|dismiss\w{1,3}|medical|test result|born|geboren|geb\.|né[e]? le|nato il|nata il|ur\.|weighs|home address|lives (?:at|in)|wohnhaft|zamieszka\w{1,3}|license plate|licence plate|number plate|VIN|(?:EUR|USD|GBP|PLN|CHF|€|\$|£) ?\d)"
"""Private facts: of health, work, money and home."""

_FACT_NEEDLES = (
    *("diagnos", "leave", "maternity", "krankgeschrieben", "salar", "earns", "wage", "gehalt"),
    *("pensja", "wynagrodzen", "hiv", "cancer", "diabet", "pregnan", "schwanger", "allerg"),
    *("convict", "bankrupt", "arrears", "owes", "debt", "unpaid", "overdue", "blood ", "disabilit"),
    *("depress", "therapy", "surgery", "chemo", "medication", "prescri", "failed", "rent"),
    *("dismiss", "medical", "test result", "born", "geb", "né", "nat", "ur.", "weighs", "address"),
    *("lives", "wohnhaft", "zamieszka", "plate", "vin", "eur", "usd", "gbp", "pln", "chf", "€"),
    *("$", "£", ".0", ".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9"),
)

_COMPANY = Expression(
    r"\b(?:service|services|support|customer (?:service|support|care)|office|claims|returns|bank|team|department|dept|gmbh|ag|as|ab|oy|ltd|llc|inc|plc|corp|group|company|center|centre|court|authority|agency|university|hospital|clinic|hotel|store|shop|warehouse|terminal|headquarters|hq|embassy|ministry|station|airport|port|depot)\b"
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
    Pattern("a postal address", (", ",), rf"{_PERSON}, (?:[^\W\d_a-z][\w'.-]{{2,30}}(?: [\w'.-]{{1,20}}){{0,3}} \d{{1,4}} ?[a-zA-Z]?, (?:[A-Z]{{1,2}}-)?\d{{2,5}}[ -]?\d{{0,3}} [^\W\d_a-z]\w{{1,30}}|\d{{1,5}},? (?:[^\W\d_a-z][\w'.-]{{1,25}} ){{1,3}}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Close|Way|Place|Square|Boulevard|Blvd|Terrace|Crescent|Gardens|Hill|Row|Mews|Quay)\b|\d{{1,4}}(?: bis| ter)?,? (?:rue|avenue|boulevard|place|all[eé]e|chemin|quai|impasse|via|viale|piazza|calle|avenida|plaza|rua) [\w' ]{{3,40}}, \d{{4,5}} [^\W\d_a-z]|(?:rue|via|viale|piazza|calle|avenida|plaza|rua|ul\.|ulica|ulice) [\w' ]{{3,40}} \d{{1,4}}\w?, \d{{2,5}}[ -]?\d{{0,3}} [^\W\d_a-z])", re.MULTILINE, accept=_is_persons_address),
    _pattern("the number of a payment card", "2|3|4|5|6", r"[2-6](?<![\w.+/-][2-6])\d{3}(?:[ -]?\d{4}){2,3}(?:[ -]?\d{1,3})?(?![\w-]|\.\d)|3(?<![\w.+/-]3)[47]\d\d[ -]?\d{6}[ -]?\d{5}(?![\w-]|\.\d)", accept=_is_card),
    _pattern("the number of a bank account", "0|1|2|3|4|5|6|7|8|9", r"[A-Z](?<![\w-][A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w-])", accept=_is_iban),
    _pattern("a telephone number", "+", r"(?<![\w+])\+[1-9]\d{0,2}[ .()/-]{0,2}\d(?:[ .()/-]{0,2}\d){5,12}(?![\w-]|\.\d)", accept=_is_phone),
    _pattern("a national id", "0|1|2|3|4|5|6|7|8|9", rf"[0-9A-Z](?<![\w-][0-9A-Z])(?:{'|'.join(form[0] for form in _FORMS)})(?![\w-])", accept=_is_formed_id),
    _pattern("a national id", _NAMES, rf"\b{_NAMED}[ _-]?(?:number|no|nr|id|code)?\.?[\"'`]?[ :=#\"'`(]{{1,4}}(?:is |of )?(?P<value>[A-Z]{{0,2}}\d[\d .-]{{6,16}}[\dA-Z])(?![\w-])", accept=_is_id(*_COUNTRIES), flags=re.IGNORECASE),
    _pattern("a national id", _NAMES, rf"\b{_NAMED}[ _-]?(?:number|no)?[\"'`]?[ :=#\"'`(]{{1,4}}(?:is )?(?P<value>[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D])(?![\w-])", flags=re.IGNORECASE, accept=_is_installed),
    *(_sure_id(names, form) for names, form in _SURE_IDS.items()),
    Pattern("a fact of a person", _FACT_NEEDLES, rf"(?<![^\W_])(?i:{_ROLES}):? (?:(?:no\. ?|#)?\d{{2,10}},? )?\(?{_NAME_OF_PERSON}(?!\w)[^\n\x00]{{0,60}}?(?<![^\W_])(?i:{_FACTS})", accept=_is_person_with_fact),
    Pattern("a fact of a person", _FACT_NEEDLES, rf"(?<![^\W_])(?i:{_FACTS})[^\n\x00]{{0,40}}? (?i:{_ROLES}|of|for|to|by|owner):? (?:(?:no\. ?|#)?\d{{2,10}},? )?\(?{_NAME_OF_PERSON}(?!\w)", accept=_is_person_with_fact),
    _pattern("a diagnosis", "diagno|icd", r"\b(?:diagnos(?:is|es|e|tico)|diagnoza|ICD-?10)[\"'`]?[ :=(\"'`]{1,4}[A-TV-Z]\d\d\.\d{1,2}(?![\w.-])", flags=re.IGNORECASE, accept=_is_of_person),
    Pattern("a person", ("holder",), rf"(?<![^\W_])(?i:(?:account|card|policy|licen[cs]e|contract)[ _-]?holder(?:[ _-]?name)?)[\"'`]?[:=] ?[\"'`]?{_NAME_OF_PERSON}(?!\w)", accept=_is_person_with_fact),
    Pattern("a person", ("mr", "ms", "mme", "mlle", "herr", "frau", "signor", "señor", "sra.", "dhr", "mevr", "pani "), rf"(?<![^\W_])(?:Mrs?\.?|Ms\.?|Mme|Mlle|Herrn?|Frau|Signora?|Señora?|Sra\.|Dhr\.|Mevr\.|Pani) {_NAME_OF_PERSON}(?!\w)", accept=_is_person_with_fact),
    _pattern("a national id", "-", r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])", accept=_is_bare_ssn),
    Pattern("a telephone number", ("telefon", "telephon", "teléfon", "telefoon", "téléphon", "teléphon", "télephon", "movil", "puhelin", "телефон", "手机", "电话", "電話", "handynummer", "komórk", "móvil", "celular"), r"(?<![^\W_])(?:telefon\w{0,8}|tel[ée]fono|t[ée]l[ée]phone|telefone|telefoon\w{0,6}|puhelin\w{0,6}|телефон\w{0,3}|handynummer|komórk\w{1,3}|m[óo]vil|celular)\.?[\"'`]?[ :=#\"'`(]{1,4}(?P<value>\(?0?\d{2,5}\)?(?:[ ./-]?\d{2,8}){1,4})(?![\w-]|\.\d)|(?:手机|电话|電話)\w{0,2}[ :：]{0,2}(?P<other>\d[\d -]{8,13}\d)", re.IGNORECASE, accept=_is_national_phone),
    _pattern("a telephone number", "phone|mobile|tel|cell|handy|sms", r"\b(?:(?:tele)?phone|mobile|cell|tel|handy|sms)(?:[ _-]?(?:number|no|nr))?\.?[\"'`]?[ :=#\"'`(]{1,4}(?:is |of |to )?(?P<other>\(?0?\d{2,5}\)?(?:[ ./-]?\d{2,8}){1,4})(?P<value>)(?![\w-]|\.\d)", flags=re.IGNORECASE, accept=_is_national_phone),
    _pattern("a date of birth", "birth|dob|born|geb|naissance|nacimiento", r"\b(?:date[ _-]of[ _-]birth|birth[ _-]?da(?:te|y)|dob|born(?: on)?|geboren(?: am)?|geburtsdatum|date de naissance|fecha de nacimiento)[\"'`]?[ :=(\"'`]{1,4}(?:is |was )?(?:(?:19\d\d|200\d|201[0-5])-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:19\d\d|200\d|201[0-5]))\b", flags=re.IGNORECASE, accept=_is_installed),
    _pattern("the number of a document", "passport|licen|patient|mrn|insurance|ausweis", r"\b(?:passport|driv(?:er'?s?|ing) licen[cs]e|patient (?:mrn|id|record)|mrn|health insurance|personalausweis)(?:[ _-]?(?:number|no|nr|id))?\.?[\"'`]?[ :=#\"'`(]{1,4}(?:is |of )?(?P<value>(?=[A-Z0-9]{0,12}\d{2})[A-Z0-9]{6,18})(?![\w-])", flags=re.IGNORECASE, accept=_is_installed),
    _pattern("a place on earth", "lat:|lat=|lat |lat\"|lat'|lat`|latitude", r"\blat(?:itude)?[\"'`]?[ :=]{1,3}-?\d{1,2}\.\d{4,10}[, ;&\"'`]{1,4}(?:lon|lng|long(?:itude)?)[\"'`]?[ :=]{1,3}-?\d{1,3}\.\d{4,10}[^\n]{0,20}\b(?:user|customer|driver|rider|patient|home)\b", flags=re.IGNORECASE, accept=_is_installed),
    _pattern("a place on earth", ".", r"\b(?:gps|locat(?:ion|ed)|position|coordinates?|coords|last seen|last known|home|lives|is at|currently at|near|tracked)\b[^\n]{0,40}?(?<![\d.])-?\d{1,2}\.\d{4,10}°? ?[NS]?[,; ]{1,3}-?\d{1,3}\.\d{4,10}(?!\d)|(?<![\d.])\d{1,2}\.\d{4,10}°? ?[NS],? \d{1,3}\.\d{4,10}°? ?[EW]\b", flags=re.IGNORECASE, accept=_is_private),
    _pattern("a fact of a person", "admitted|allergic to |blood group|blood type|confirmed|detected|diagnos|disabled since|hospitalised|hospitalized|in chemotherapy|in psychotherapy|in therapy|on maternity leave|on medical leave|on parental leave|on sick leave|positive|pregnant|prescribed|treated|undergoing ", r"\b(?:HIV|hepatitis|cancer|pregnancy|drug|alcohol|covid|STD|STI|syphilis|tuberculosis|paternity|genetic|biopsy)\b[^\n.]{0,24}\b(?:positive|diagnos\w{1,3}|confirmed|detected)\b|\bdiagnosed with\b|\bblood (?:type|group)[ :=]{1,3}(?:A|B|AB|0|O)(?: ?[+-]| (?:pos|neg)|\b)|\ballergic to [a-z]{4,30}|\b(?:is|was|has been) (?:on (?:sick|maternity|parental|medical) leave|pregnant|hospitali[sz]ed|disabled since|in (?:chemo|psycho)?therapy|undergoing \w{4,20})\b|\b(?:admitted|treated|prescribed|hospitali[sz]ed)\b[^\n.]{0,40}\b(?:for|with) (?:chest pain|depression|cancer|stroke|anxiety|overdose|[a-z]{4,20}(?:itis|osis|emia|pathy|oma|mg)\b)", flags=re.IGNORECASE, accept=_is_private),
    _pattern("a fact of a person", "criminal record is|criminal record\" is|criminal record\":|criminal record\"=|criminal record' is|criminal record':|criminal record'=|criminal record:|criminal record=|criminal record` is|criminal record`:|criminal record`=|ethnic group is|ethnic group\" is|ethnic group\":|ethnic group\"=|ethnic group' is|ethnic group':|ethnic group'=|ethnic group:|ethnic group=|ethnic group` is|ethnic group`:|ethnic group`=|ethnic origin is|ethnic origin\" is|ethnic origin\":|ethnic origin\"=|ethnic origin' is|ethnic origin':|ethnic origin'=|ethnic origin:|ethnic origin=|ethnic origin` is|ethnic origin`:|ethnic origin`=|ethnicity is|ethnicity\" is|ethnicity\":|ethnicity\"=|ethnicity' is|ethnicity':|ethnicity'=|ethnicity:|ethnicity=|ethnicity` is|ethnicity`:|ethnicity`=|immigration status is|immigration status\" is|immigration status\":|immigration status\"=|immigration status' is|immigration status':|immigration status'=|immigration status:|immigration status=|immigration status` is|immigration status`:|immigration status`=|income|licence plate |license plate |maiden name |maiden name: |marital status is|marital status\" is|marital status\":|marital status\"=|marital status' is|marital status':|marital status'=|marital status:|marital status=|marital status` is|marital status`:|marital status`=|nationality is|nationality\" is|nationality\":|nationality\"=|nationality' is|nationality':|nationality'=|nationality:|nationality=|nationality` is|nationality`:|nationality`=|net worth|number plate |pay|pension|political opinion is|political opinion\" is|political opinion\":|political opinion\"=|political opinion' is|political opinion':|political opinion'=|political opinion:|political opinion=|political opinion` is|political opinion`:|political opinion`=|political opinions is|political opinions\" is|political opinions\":|political opinions\"=|political opinions' is|political opinions':|political opinions'=|political opinions:|political opinions=|political opinions` is|political opinions`:|political opinions`=|political party is|political party\" is|political party\":|political party\"=|political party' is|political party':|political party'=|political party:|political party=|political party` is|political party`:|political party`=|political partys is|political partys\" is|political partys\":|political partys\"=|political partys' is|political partys':|political partys'=|political partys:|political partys=|political partys` is|political partys`:|political partys`=|political view is|political view\" is|political view\":|political view\"=|political view' is|political view':|political view'=|political view:|political view=|political view` is|political view`:|political view`=|political views is|political views\" is|political views\":|political views\"=|political views' is|political views':|political views'=|political views:|political views=|political views` is|political views`:|political views`=|race is|race\" is|race\":|race\"=|race' is|race':|race'=|race:|race=|race` is|race`:|race`=|registration plate |religion is|religion\" is|religion\":|religion\"=|religion' is|religion':|religion'=|religion:|religion=|religion` is|religion`:|religion`=|salary|sexual orientation is|sexual orientation\" is|sexual orientation\":|sexual orientation\"=|sexual orientation' is|sexual orientation':|sexual orientation'=|sexual orientation:|sexual orientation=|sexual orientation` is|sexual orientation`:|sexual orientation`=|trade union is|trade union\" is|trade union\":|trade union\"=|trade union' is|trade union':|trade union'=|trade union:|trade union=|trade union` is|trade union`:|trade union`=|union member is|union member\" is|union member\":|union member\"=|union member' is|union member':|union member'=|union member:|union member=|union member` is|union member`:|union member`=|union membership is|union membership\" is|union membership\":|union membership\"=|union membership' is|union membership':|union membership'=|union membership:|union membership=|union membership` is|union membership`:|union membership`=|wage", r"\b(?:religion|ethnicity|ethnic (?:origin|group)|race|sexual orientation|political (?:party|opinion|view)s?|trade union|union member(?:ship)?|marital status|criminal record|nationality|immigration status)[\"'`]?(?: is|:|=)[ \"'`:]{1,3}(?!required|invalid|not|must|a\b|one\b|an\b|null|the\b|missing|unknown|empty|too)\w|\b(?:(?:employee|applicant|annual|monthly|gross|net|base|declared|current|their|staff)[ _'s]{1,3}(?:salary|wage|income|pay|pension|net worth)|salary|wages?)\b[^\n.]{0,16}(?:[$€£] ?\d|\d[\d.,]{2,9} ?(?:k\b|EUR|USD|GBP|PLN|CHF|SEK|NOK|DKK|INR|€|\$|per|a year|p\.a\.))|\bmaiden name(?: is| was|:)? (?-i:[A-Z][a-z])|\b(?:licen[cs]e|number|registration) plate [\"'`]?(?-i:[A-Z]{1,3}[ -]?[A-Z0-9]{2,5}[ -]?[A-Z0-9]{0,4})\b[^\n.]{0,16}\b(?:registered|belongs|of|owned|seen)", flags=re.IGNORECASE, accept=_is_private),
    Pattern("a fact of a person", (" (* 0", " (* 1", " (* 2", " (* 3", " (* 4", " (* 5", " (* 6", " (* 7", " (* 8", " (* 9", " (*0", " (*1", " (*2", " (*3", " (*4", " (*5", " (*6", " (*7", " (*8", " (*9", " (aged 0", " (aged 1", " (aged 2", " (aged 3", " (aged 4", " (aged 5", " (aged 6", " (aged 7", " (aged 8", " (aged 9", " (born", " (geb.", " (geboren", " (lives", " (living", " (né", " (of 0", " (of 1", " (of 2", " (of 3", " (of 4", " (of 5", " (of 6", " (of 7", " (of 8", " (of 9", " (resides", " (residing", " * 0", " * 1", " * 2", " * 3", " * 4", " * 5", " * 6", " * 7", " * 8", " * 9", " *0", " *1", " *2", " *3", " *4", " *5", " *6", " *7", " *8", " *9", " address", " aged 0", " aged 1", " aged 2", " aged 3", " aged 4", " aged 5", " aged 6", " aged 7", " aged 8", " aged 9", " born", " geb.", " geboren", " lives", " living", " né", " of 0", " of 1", " of 2", " of 3", " of 4", " of 5", " of 6", " of 7", " of 8", " of 9", " resides", " residing",), rf"{_NAME_OF_PERSON},? (?:\(?(?:(?:who )?(?:was |is )?born|geb\.|geboren|né[e]?|\* ?\d|lives|living|resides|residing|aged \d|of \d)|(?:home )?address)[^\n]{{0,20}}", re.MULTILINE, accept=_is_person_with_fact),
    _pattern("a postal address", "address on file|billing address|delivered|delivery address|home address|lives|living|private address|residential address|resides|residing|shipped|shipping address", r"\b(?:[Ll]ives|living|[Rr]esides|residing|(?:[Hh]ome|home|private|residential|billing|shipping|delivery) address(?: of [^\n:,]{2,40})?|address on file|delivered|shipped)(?: at| is| in| to|:)?[ :]{1,2}(?:\d{1,5}[a-z]?,? (?:[^\W\d_a-z][\w'.-]{1,25} ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Close|Way|Place|Square|Boulevard|Blvd|Terrace|Crescent)\b|(?:ul\. )?[^\W\d_a-z][\w'.-]{2,25}(?:stra(?:ß|ss)e|str\.?|gasse|weg|gata|vej|laan|straat|utca|platz)? \d{1,4}[a-z]?(?:/\d{1,4})?[, ])", accept=_is_private),
    _pattern("a person", "account holder is|account holder,|account holder:|account holder=|card holder is|card holder name is|card holder name,|card holder name:|card holder name=|card holder,|card holder:|card holder=|cardholder is|cardholder name is|cardholder name,|cardholder name:|cardholder name=|cardholder,|cardholder:|cardholder=|name on card is|name on card,|name on card:|name on card=|name on file is|name on file,|name on file:|name on file=|name on the card is|name on the card,|name on the card:|name on the card=", r"\b(?:name on (?:the )?card|card ?holder(?: name)?|account holder|name on file)(?: is|:|=|,)[: \"'`]{1,3}(?P<person>[A-Z][A-Za-z'-]{1,20}(?: [A-Z]\.?)? [A-Z][A-Za-z'-]{1,25})(?!\w)", accept=_is_person_with_fact),
)
# fmt: on
