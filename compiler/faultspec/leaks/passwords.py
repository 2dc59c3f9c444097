"""Patterns of passwords and keys: in sentences of many languages, in commands, in markup.

A word for a password proves nothing, so a match counts only if the value beside it has the form of
one: letters with digits or signs.
"""

import re

from faultspec.leaks.evidence import keys, passwords, statements
from faultspec.leaks.pattern import Pattern
from faultspec.leaks.pattern import pattern as _pattern

_I = re.IGNORECASE

# Lists of words and rows of patterns are on one line however long.
# ruff: noqa: E501
# fmt: off
_WORDS = (
    "password", "passwd", "passphrase", "pass phrase", "passcode", "passwort", "kennwort", "mot de passe", "contraseña", "contrasena", "clave de acceso", "senha", "palavra-passe",
    "hasło", "hasło", "hasla", "hasła", "hasłem", "haslo", "wachtwoord", "lösenord", "losenord", "adgangskode", "passord", "salasana", "parola", "parolă", "parole", "jelszó", "jelszo", "heslo", "lozinka", "zaporka",
    "şifre", "sifre", "пароль", "парола", "лозинка", "κωδικός", "密码", "密碼", "パスワード", "비밀번호", "kata sandi", "mật khẩu", "รหัสผ่าน", "סיסמה", "كلمة المرور",
)
"""Words for a password in the languages of many services."""

_WORD = "|".join(_WORDS)

_IN_CAPITALS = r"(?:PASS|PASSWD|PASSWORD|PASSPHRASE|PWD|PW|SECRET|TOKEN|KEY|CREDENTIALS?|HASLO|KENNWORT|PASSWORT|SENHA|CLAVE|HESLO)"
"""Last words of the names of settings that keep a secret."""

_ERROR_WORDS = r"(?:MISSING|UNKNOWN|INVALID|BAD|ERR|ERROR|EXPIRED|NO|DUPLICATE|LOC|I18N|MSG|WRONG|UNSUPPORTED|UNEXPECTED|REVOKED|MALFORMED|NOT)"
"""First words of the codes of errors and the keys of messages."""

PASSWORDS = (
    # "Passwort: Sommer#2024", "the password for user root is RrkS9sSZO", "密码：Abc@12345"
    Pattern("a password", _WORDS, rf"(?<![^\W_])(?:{_WORD})(?!\w{{0,3}}[ _-](?:policy|hash|length|rules?)\b)[^\n\x00:：=<>@/\"'`]{{0,60}}?(?:\s?[:：=]\s?|\s(?:is|was|to|ist|war|lautet|est|es|era|è|é|jest|to|är|er|on|je|—|-|–)\s)(?:[\"'`«„“](?P<quoted>[^\s\"'`<>{{}}»“”\x00]{{5,60}})[\"'`»“”]|(?P<value>[^\s\"'`<>{{}}(),;\x00]{{6,60}}))", _I, accept=passwords.is_strong_password),
    Pattern("a password", _WORDS, rf"(?<![^\W_])(?:{_WORD})\s(?:[\"'`«„“] ?(?P<quoted>[^\s\"'`<>{{}}»“”\x00]{{5,60}}) ?[\"'`»“”])", _I, accept=passwords.is_strong_password),
    Pattern("a password", _WORDS, rf"(?<![^\W_])(?:{_WORD})(?:[\"'`])? (?P<value>[^\s\"'`<>{{}}(),;:=@/\x00]{{6,60}})", _I, accept=passwords.is_mixed_password),
    # "login with sa / Passw0rd!", "default credentials admin/admin123"
    _pattern("a pair of credentials", "credential|login|log in|logon|log on|logged|sign|user/pass|zugangsdaten|identifiants|credenciales|authenticat|account", r"\b(?:credentials?|log(?:in|on)|log(?:ged)? (?:in|on)|sign(?:ed)? in|user/pass(?:word)?|zugangsdaten|identifiants|credenciales|authenticat(?:e|ed|ing|ion)|account)(?: (?:with|as|for|using|failed for|details|data))?[ :=(\"'`]{1,3}[A-Za-z][\w.@-]{1,40}(?: ?[/|] ?|:)(?P<value>[^\s\"'`,;()<>{}/]{6,60})", accept=passwords.is_strong_password, flags=_I),
    # "variable MYSQL_ROOT_PASSWORD resolved to "zKScVeQXRrs"", "PAYMENT_SECRET ("x7k2m9")"
    Pattern("the value of a variable", ("pass", "pwd", "pw", "secret", "token", "key", "credential", "haslo", "kennwort", "senha", "clave", "heslo"), rf"(?<![A-Za-z0-9_])(?!{_ERROR_WORDS}_)[A-Z][A-Z0-9]{{1,30}}_(?:[A-Z0-9]{{1,20}}_){{0,4}}{_IN_CAPITALS}(?:_[A-Z0-9]{{1,10}})?\b[^\n\x00\"'`(=:{{}}]{{0,40}}?[ (=:]{{1,3}}[\"'`](?P<value>[^\s\"'`<>{{}}\x00]{{6,200}})[\"'`]", accept=passwords.is_value_of_variable),
    Pattern("the value of a variable", ("pass", "pwd", "pw", "secret", "token", "key", "credential", "haslo", "kennwort", "senha", "clave", "heslo"), rf"(?<![A-Za-z0-9_])(?!{_ERROR_WORDS}_)[A-Z][A-Z0-9]{{1,30}}_(?:[A-Z0-9]{{1,20}}_){{0,4}}{_IN_CAPITALS}(?:_[A-Z0-9]{{1,10}})?(?: ?[:=] ?| \(| (?:is|was|has value|set to) )(?P<value>[^\s\"'`<>{{}}(),;\x00]{{10,200}})", accept=passwords.is_value_of_variable),
    # Markup and commands.
    _pattern("a password", "<", r"<(?:\w{1,30}:)?\w{0,30}(?:password|passwd|pwd|passphrase|secret|api[_-]?key|auth[_-]?token|access[_-]?token)>\s{0,4}(?P<value>[^\s<>{}\x00]{6,200})\s{0,4}</", accept=passwords.is_strong_password, flags=_I),
    _pattern("a password", "key=|name=", r"\b(?:key|name)=[\"'][\w.:-]{0,40}(?:password|passwd|pwd|secret|api[_-]?key|token|credential)[\w.:-]{0,20}[\"'] value=[\"'](?P<value>[^\s\"'<>{}\x00]{6,200})[\"']", accept=passwords.is_strong_password, flags=_I),
    _pattern("a password", "-pass|-pwd|-token|-secret|-api", r"(?<!\S)--?(?:[a-z]{1,20}-){0,2}(?:password|passwd|passphrase|pass|pwd|token|secret|api-?key)(?:=|[ \t]{1,2})[\"']?(?P<value>[^\s\"'<>{}$\x00-][^\s\"'<>{}\x00]{4,200})", accept=passwords.is_mixed_value, flags=_I),
    _pattern("a password", "mysql|mariadb|sshpass|redis-cli|plink|pscp|smbclient|wmic|psexec|ldap", r"\b(?:mysql\w{0,10}|mariadb\w{0,10}|plink|pscp|psexec|smbclient|wmic|sshpass|ldap\w{3,8})\b[^\n]{0,120}?\s-(?:pw ?|[pw] ?|U \S{1,40}%)[\"']?(?P<value>[^\s\"'<>{}$-][^\s\"'<>{}]{3,100})|\bredis-cli\b[^\n]{0,80}?\s-a [\"']?(?P<other>[^\s\"'<>{}$-][^\s\"'<>{}]{3,100})", accept=passwords.is_mixed_value, flags=_I),
    _pattern("a password", "sqlplus |connect |conn |exp |imp |expdp |impdp ", r"\b(?:sqlplus|[Cc]onnect|CONN(?:ECT)?|exp|imp|expdp|impdp) [\w$]{2,30}/(?P<value>[^\s/@\"']{4,60})@[/\w(]", accept=passwords.is_mixed_value),
    _pattern("a password", "pgpassword|mysql_pwd|rediscli_auth|sshpass", r"\b(?:PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH|SSHPASS)=[\"']?(?P<value>[^\s\"'<>{}$]{3,100})", accept=keys.is_value),
    _pattern("a header with a secret", "-h ", r"\s-H [\"'][\w-]{0,40}(?:auth|token|key|secret|cookie)[\w-]{0,20}: ?(?P<value>[^\s\"'<>{}]{10,400})", accept=keys.is_random, flags=_I),
    _pattern("a token of a session", "cookie", r"\b(?:set-)?cookie:? [\w.-]{2,40}=(?P<value>[\w%.~+/-]{8,400})", accept=keys.is_session, flags=_I),
    # What a comparison expected, which is the secret or lets a caller forge it.
    _pattern("a signature", "hmac|signature|csrf|xsrf|secret|state", r"\b(?:hmac|(?:request |webhook )?signature|csrf(?:[ _-]?token)?|xsrf(?:[ _-]?token)?|webhook secret|(?:shared |client )?secret|state(?: parameter)?)\b[^\n\x00.]{0,50}\b(?:expected|computed|calculated|should (?:be|have been)|ours|we (?:stored|have|expected|computed)|stored)(?: (?:over|from|for) \w{1,12})?(?: (?:is|was|begins|starts)(?: with)?)?[ :=\"'`]{1,4}(?P<value>[\w+/=-]{12,128})", accept=keys.is_unpredictable, flags=_I),
    _pattern("a signature", "hmac|signature", r"\b(?:hmac|signature) (?:computed|calculated|expected)\b[^\n\x00.]{0,30}\b(?:was|is|of) [\"'`]?(?P<value>[\w+/=-]{16,128})", accept=keys.is_unpredictable, flags=_I),
    _pattern("a signature", "expected", r"[\"'](?:csrf|xsrf|hmac|signature|token|state|nonce|otp)_?expected[\"']\s?:\s?[\"'](?P<value>[\w+/=.-]{12,200})[\"']|[\"']expected_?(?:csrf|xsrf|hmac|signature|token|state|otp)(?:_?token)?[\"']\s?:\s?[\"'](?P<other>[\w+/=.-]{12,200})[\"']", accept=keys.is_unpredictable, flags=_I),
    _pattern("the seed of one-time passwords", "otp|2fa|mfa|authenticator", r"\b(?:TOTP|HOTP|OTP|2FA|MFA|authenticator)[ _-](?:seed|secret|key)\b[ :=\"'`]{1,4}(?P<value>[A-Z2-7]{16,64})(?![\w-])", accept=keys.is_unpredictable, flags=_I),
    _pattern("a phrase that restores a key", "seed|mnemonic|recovery phrase|backup phrase", r"\b(?:seed|mnemonic|(?:recovery|backup) phrase)\b(?: phrase| words?)?[ :=\"'`]{1,4}(?:is )?(?P<value>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\b", accept=keys.is_mnemonic),
    _pattern("a key", "dek|kek|cek|pepper|salt", r"\b(?:dek|kek|cek|pepper|salt)\b(?: for [\w ]{1,20})?(?: is| was)?[ :=\"'`]{1,4}(?P<value>(?:[0-9a-f]{2}){4,64}|[\w+/]{16,128}={0,2})(?![\w-])", accept=keys.is_unpredictable, flags=_I),
    _pattern("a token of a session", "sess:|session:|sessions:", r"\b(?:sess|sessions?|PHPREDIS_SESSION|spring:session:sessions):(?P<value>[\w-]{20,128})(?![\w-])", accept=keys.is_session),
    _pattern("a personal identification number", "pin", r"\b(?:with|the|our|stored|correct) PIN(?: code)?(?: is|:)? \d{4,8}\b(?! ?(?:digits|to|characters|-|–))"),
    # Keys by the names that people give them.
    _pattern("a secret", "secret|key|token|pass", r"(?<![A-Za-z0-9])(?:(?:client|api|webhook|signing|shared|app|access|auth|bearer|session|refresh|encryption|decryption|jwt|hmac|master|private|license|device|deploy|personal|service|consumer|application)[ _-]?(?:secret|key|token)|secret)(?: (?:is|was|of|for)(?: [\w.-]{1,40})?)?:? [\"'`](?P<value>[\w.~+/@!#$%^&*=-]{10,400})[\"'`]", accept=keys.is_token, flags=_I),
    Pattern("a secret", ("api",), r"(?:\bAPI[- ]?(?:Schlüssels?|sleutel|nøkkel|nyckel|nøgle|kulcs|kľúč|klíč|密钥|密鑰|キー|키)|\b(?:cl[ée]|clave|chiave|chave|klucz\w{0,2}|ключ\w{0,2}|kľúč|klíč|cheia|klucza)(?: (?:d['’e]?|de|di|do|du|da|la|l['’]))? ?API)[^\n\x00\"'`\w]{0,3}(?:\w{2,5} )?[\"'`]?(?P<value>[\w.~+/-]{12,200})", _I, accept=keys.is_token),
    _pattern("a key", "key", r"\b(?:AES|3?DES|RSA|HMAC|encryption|decryption|master|signing|cipher|symmetric|root|wrapping|data)[ _-]?(?:\d{3}[ _-]?)?key\b[^\n\w]{0,4}(?:is |was |= ?)?(?:0x|b64:|base64:|hex:)?[\"'`]?(?P<value>(?:[0-9a-f]{2}){12,128}|(?<=64:)[\w+/]{20,400}={0,2})(?![\w-])", accept=keys.is_hexadecimal_key, flags=_I),
    _pattern("the hash of a password", "hash|digest|sha|md5", r"\b(?:password|passwd|pwd|credential|stored)[ _-]?(?:hash|digest|md5|sha\d{1,3})\b[ :=\"'`(]{1,4}(?:is |was )?[0-9a-f]{32,128}\b|\b(?:sha1|sha256|sha512|md5|pbkdf2_sha\d{1,3}|bcrypt_sha256)\$[^\s$]{1,40}\$[\w+/=$]{20,200}", flags=_I),
    _pattern("a one-time link", "reset|magic|verif|invit|confirm|activat|recover|unlock|onetime|one-time|passwordless", r"https?://[\w.-]{3,100}(?::\d{2,5})?/(?:[\w-]{1,40}/){0,5}(?:[\w-]{0,20}(?:reset|magic|verif(?:y|ication)|invit(?:e|ation)|confirm|activat(?:e|ion)|recover(?:y)?|unlock|one-?time|passwordless)[\w-]{0,20})(?:/[\w-]{1,20}){0,2}(?:/|\?(?:\w{1,20}=\w{1,40}&){0,3}\w{1,20}=)(?P<value>[\w.~-]{16,400})", accept=keys.is_token, flags=_I),
    _pattern("a token of a storage account", "sig=", r"\bsv=20\d\d-\d\d-\d\d&[^\s\"']{0,300}?sig=[\w%+/-]{16,120}", flags=_I),
    _pattern("a token in a URL", "code=|key=|token=|?k=|&k=", r"[?&](?:code|key|token|k)=(?P<value>[\w/+-]{24,120}={1,2}|[\w/+%-]{40,120}%3[dD])", accept=keys.is_random),
    _pattern("a token that names its vendor", "key-", r"(?<![\w-])key-(?P<value>(?=[a-z]{0,31}\d)(?=\d{0,31}[a-z])[0-9a-z]{32})(?![\w-])"),
    _pattern("a pair of credentials", "auth plain|auth login", r"\bAUTH (?:PLAIN|LOGIN) (?P<value>[A-Za-z0-9+/]{12,200}={0,2})"),
    _pattern("an account with its key", "ac0|ac1|ac2|ac3|ac4|ac5|ac6|ac7|ac8|ac9|aca|acb|acc|acd|ace|acf", r"\bAC[0-9a-f]{32}:[0-9a-f]{32}\b"),
    _pattern("a bot's token", ":aa", r"(?<!\d)\d{8,10}:AA[\w-]{30,36}(?![\w-])"),
    _pattern("a code that the service keeps", "expected |stored |correct |actual |valid |pin |otp |tan |passcode ", r"\b(?:expected|stored|correct|actual|valid) (?:PIN|OTP|TAN|passcode|code|answer)\b(?: code)?[ :=]{1,3}(?:is |was )?[\"'`]?\d{4,8}\b|\b(?:PIN|OTP|TAN|passcode) (?:code )?[\"'`]?\d{4,8}[\"'`]? (?:expected|does not match (?:the )?(?:stored|expected)|is (?:the )?(?:correct|valid|stored|expected))", flags=_I),
    # Secrets in sentences: "signing with secret hunter2-prod", "ours is a1b2c3d4e5f6".
    _pattern("a secret", "secret|password|passphrase|passcode|passwd|pwd|token|key|session|hmac|signature|cookie|sid|csrf|bearer|credential|nonce|state|hash|digest|ours|expected|stored", r"(?<![A-Za-z0-9])(?P<name>(?:[\w-]{1,20}[ _-])?(?:secrets?|passwords?|passphrase|passcode|passwd|pwd|tokens?|api[ _-]?keys?|(?:signing|private|encryption|access|master|admin|shared|webhook|service|auth|license|session|device|root|hmac|aes)[ _-]keys?|session(?:[ _-]id)?|hmac|signature|cookie|sid|csrf(?:[ _-]token)?|bearer|credentials?|state|hash|digest|ours))[\"'`]?[ :=(]{1,3}(?:(?:is|was|for|of|to|on|with|starts?|begins?|ending|expected|computed|stored|got|sent|value|sha\d{1,3}[=:]|now|set|currently|equals|user|account|not|but|a|the|used|in|by|as|hex|base64|we|have|had|reads?|says)[ :=]{1,2}){0,4}[\"'`(\[<]?(?:sha\d{1,3}[=:])?(?P<value>[A-Za-z0-9!@#$%^&*+/=_.~-]{8,400})", accept=keys.is_secret_in_sentence, flags=_I),
    _pattern("a secret", "computed|expected|ours|should be|should have been|stored|the actual hash|the actual key|the actual one|the actual secret|the actual token|the actual value|the correct hash|the correct key|the correct one|the correct secret|the correct token|the correct value|the real hash|the real key|the real one|the real secret|the real token|the real value|the right hash|the right key|the right one|the right secret|the right token|the right value|we expect|we have|we hold|we use", r"\b(?:but |and )?(?:ours|we (?:have|expect(?:ed)?|stored|computed|hold|use)|expected|computed|stored|the (?:right|correct|stored|real|actual) (?:one|value|key|token|secret|hash)|should (?:be|have been))(?: is| was| one| value| now)?[ :=]{1,2}[\"'`]?(?:sha\d{1,3}=)?(?P<value>(?=[A-Za-z+/=_-]{0,60}\d)[A-Za-z0-9+/=_-]{12,200})(?![\w-])", accept=keys.is_expected, flags=_I),
    _pattern("a secret", "pass|pin|pw|secret|token", r"[\"'](?P<name>\w{0,20}(?:pwd|passw(?:or)?d|pass|pw|pin|passphrase|secret|token))[\"'] ?(?::|=>|=|,) ?[\"'](?P<value>[^\"'\s*<>{}]{4,200})[\"']", accept=keys.is_value_of_member, flags=_I),
    _pattern("an answer to a security question", "challenge answer|challenge hint|challenge phrase|challenge question|challenge word|maiden name |maiden name:|maiden name=|recovery answer|recovery hint|recovery phrase|recovery question|recovery word|secret answer|secret hint|secret phrase|secret question|secret word|security answer|security hint|security phrase|security question|security word", r"\b(?:security|secret|recovery|challenge) (?:answer|question|word|phrase|hint)\b[^\n.]{0,40}(?:[:=]|\bis\b|\bwas\b|\bfile\b|\bexpected\b)[: ]{0,2}[\"'`]?(?!not|in|wrong|empty|required|missing|a\b|the\b|must|too|already|of\b|for\b|expired|incorrect|locked|disabled)\w[^\n]{1,60}|\b(?:mother'?s? )?maiden name(?: is| was|:| on file)?[ :=]{1,2}[\"'`]?(?-i:[A-Z][a-z])", accept=statements.is_no_rule, flags=_I),
    _pattern("a key in groups", "activation|backup code|key|licence|license|recovery code|serial|unlock code|voucher pin", r"\b(?:key|licen[cs]e(?: key)?|serial(?: number)?|activation(?: code| key)?|recovery (?:code|key)|backup code|unlock code|voucher pin)s?\b[^\n.]{0,20}?[ :=\"'`(]{1,3}(?P<value>(?=[A-Z0-9-]{0,30}\d)(?=[A-Z0-9-]{0,30}[A-Z])(?:[A-Z0-9]{4,6}-){2,7}[A-Z0-9]{4,6})(?![\w-])", accept=keys.is_grouped_key),
    _pattern("the claims of a token", "\"aud\" :|\"aud\":|\"aud' :|\"aud':|\"iss\" :|\"iss\":|\"iss' :|\"iss':|\"jti\" :|\"jti\":|\"jti' :|\"jti':|\"sub\" :|\"sub\":|\"sub' :|\"sub':|'aud\" :|'aud\":|'aud' :|'aud':|'iss\" :|'iss\":|'iss' :|'iss':|'jti\" :|'jti\":|'jti' :|'jti':|'sub\" :|'sub\":|'sub' :|'sub':|jwt body|jwt claims|jwt content|jwt decoded|jwt header|jwt payload|token body|token claims|token content|token decoded|token header|token payload", r"\b(?:jwt|JWT|token|id_token|access token) (?:payload|claims|body|header|contents?|decoded)\b[^\n{\[]{0,12}[{\[]|[\"'](?:sub|iss|aud|jti)[\"'] ?: ?[^{}\n]{1,160}[\"'](?:exp|iat|nbf|auth_time)[\"'] ?: ?\d{9,10}\b", accept=statements.is_no_rule),
    _pattern("a JSON Web Token", "eyjhbgci|eyj0exai|eyjrawqi", r"\beyJ(?:hbGci|0eXAi|raWQi)[\w-]{6,2000}"),
    _pattern("a private key", "mii", r"\bMII[A-Za-z0-9+/]{16,4000}={0,2}"),
    _pattern("a pair of credentials", " / | with password | with pw ", r"\b(?:log(?:in|on)|log(?:ged)? (?:in|on)|sign(?:ed)? in|use|try|auth(?:enticate[ds]?)?|connect(?:ed|ing)?|bind|as|user|account|creds?|credentials|root|admin|sa) (?:failed )?(?:with |as |for |using |user |to \w{2,20} (?:as|with) )?[A-Za-z][\w.@-]{1,30}(?: / | with password | with pw )(?P<value>[^\s\"'`,;()<>{}/]{6,60})", accept=passwords.is_strong_password, flags=_I),
    _pattern("a code that the service keeps", "2fa code|access code|cvc|cvv|door code|login code|one-time code|one-time password|otp|passcode|pin|security code|sms code|tan|unlock code|verification code", r"\b(?:the |this )?(?:PIN|CVV|CVC|CVV2|security code|passcode|OTP|one-time (?:code|password)|2FA code|SMS code|TAN|verification code|door code|access code|unlock code|login code)\b(?: [a-z]{2,10}){0,5}?(?: is| was| sent| are|:| =|=)[: ]{0,2}[\"'`]?(?!1234|0000)\d{3,8}\b(?! ?(?:digits?|characters|seconds|minutes|attempts|times|hours|to|and|or|-))", accept=statements.is_no_rule, flags=_I),
)
# fmt: on
