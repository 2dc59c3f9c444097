"""Tokens that name their vendor by a prefix: what the documentation of each vendor shows."""

import re

from faultspec.leaks.evidence import keys
from faultspec.leaks.pattern import pattern as _pattern

# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
_VENDORS = (
    ("sk-or-", r"sk-or-v1-[0-9a-f]{48,64}"), ("pcsk_", r"pcsk_\w{40,90}"), ("pat-", r"pat-(?:na|eu)\d-[0-9a-f-]{36}"), ("sdk-|mob-", r"(?:sdk|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), ("jsn", r"[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{6}jsn[0-9a-f]{12}"),
    ("akid", r"AKID[A-Za-z0-9]{32}"), ("altak-", r"(?:bce-v3/)?ALTAK-[A-Za-z0-9]{20,30}(?:/[0-9a-f]{40})?"), ("t1.|y0_|ycaje|ycp|ycm|ycn", r"t1\.[\w-]{80,300}|y0_[\w-]{40,80}|YCAJE[\w-]{20}|YC[PMN][\w-]{36}"), ("scw", r"SCW[A-Z0-9]{17}"), ("exo", r"EXO[0-9a-f]{24}"), ("k00", r"K00\d[A-Za-z0-9/+]{27}"),
    ("fwogzxiv|iqojb3jp|fqogzxiv", r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[\w+/=]{20,2000}"), ("amzn.mws.", r"amzn\.mws\.[0-9a-f-]{36}"), ("cmvmdgtu", r"cmVmdGtuOj[A-Za-z0-9]{20,80}"), ("cio", r"cio[A-Za-z0-9]{32}"), ("s.", r"s\.[A-Za-z0-9]{24}"), ("napi_", r"napi_[a-z0-9]{50,80}"),
    ("sk-lf-", r"sk-lf-[0-9a-f-]{36}"), ("secret-live-|secret-test-", r"secret-(?:live|test)-[\w-]{30,60}=?"), ("md-", r"md-[\w-]{22}"), ("os_v2_", r"os_v2_(?:app|org)_[a-z2-7]{40,110}"), ("exponentpushtoken", r"ExponentPushToken\[[\w-]{20,30}\]"), ("hbp_", r"hbp_[A-Za-z0-9]{36}"), ("atta", r"ATTA[0-9a-zA-Z]{60,80}"),
    ("azdo", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{10}AZDO[A-Za-z0-9]{4}"), ("jqqj99|aaaaac", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{18}"), ("igq", r"IGQV[A-Za-z0-9_-]{60,250}"), ("aaaaaaaaaaaaaaaaaaa", r"A{19,24}[\w%]{60,120}"), ("atza|atzr", r"At(?:za|zr)\|[\w-]{60,400}"), ("v^1.1#", r"v\^1\.1#[\w#^+/=]{40,3000}"),
    ("mid-server-", r"(?:SB-)?Mid-server-[\w-]{20,40}"), ("xnd_", r"xnd_(?:production|development)_[A-Za-z0-9]{40,80}"), ("app_usr-", r"APP_USR-\d{13,20}-\d{6}-[0-9a-f]{32}-\d{6,12}"), ("live_sk_|test_sk_|live_gsk_|test_gsk_", r"(?:live|test)_g?sk_[A-Za-z0-9]{20,40}"), ("sk_sbox_", r"sk_sbox_[a-z0-9]{20,40}"), ("live_|test_", r"(?:live|test)_[A-Za-z0-9]{25,40}"),
    ("pk_", r"pk_\d{6,9}_[A-Z0-9]{32}"), ("aqe", r"AQE[a-z]h[\w+/]{30,200}"), ("1/", r"1/1\d{15}:[0-9a-f]{32}"), ("v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"), ("apikey-", r"apikey-[A-Za-z0-9]{30,60}"), ("whsec|svix", r"(?:whsec|svix)_[\w+/=]{20,80}"),
    ("ocid1.", r"ocid1\.[a-z]{4,30}\.oc1\.[\w.-]{0,40}\.[a-z0-9]{40,80}"), ("u+", r"u\+[A-Za-z0-9_-]{18}"), ("cf", r"CFPAT-[\w-]{43}|cfut_[A-Za-z0-9]{40,60}"), ("eyjpchro|eyjhbgc", r"eyJhbGciO[\w-]{20,400}\.[\w-]{20,400}"), ("snyk|snyk_", r"snyk_(?:uat|sat)\.[0-9a-f]{8}\.[\w.-]{40,120}"), ("sntrys_|sntryu_|sntry", r"sntry[su]_[\w+/=]{30,300}"),
    ("glc_|glsa_", r"glsa_\w{30,60}|glc_[\w+/=]{30,200}"), ("ddp|dda", r"dd(?:p|a)_[A-Za-z0-9]{30,60}"), ("nb-|neon", r"neon_[A-Za-z0-9]{30,60}"), ("rk_|sk_", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,200}"), ("ghs_|ghu_", r"gh[su]_[A-Za-z0-9]{30,255}"), ("lk_|gsk_", r"gsk_[A-Za-z0-9]{40,60}"), ("rpa_", r"rpa_[A-Z0-9]{40,50}\w{0,6}"), ("co_|coh", r"co_[A-Za-z0-9]{38,42}"),
    ("sha512$|otpauth", r"otpauth://[ht]otp/\S{10,300}"), ("sk.ey|tk.ey", r"[st]k\.eyJ[\w-]{20,200}\.[\w-]{20,40}"), ("fastly|zapier", r"fastly_[A-Za-z0-9_-]{30,40}"), ("xkeysib|xsmtpsib", r"x(?:key|smtp)sib-[0-9a-f]{64}-\w{16}"),
    ("tvly-", r"tvly-[A-Za-z0-9-]{20,80}"), ("sgp_|slk_", r"sgp_(?:[A-Za-z0-9]{16}_)?[0-9A-Fa-f]{40}|slk_[0-9a-f]{64}"), ("jina_", r"jina_[A-Za-z0-9_-]{40,80}"),
    ("dp.", r"dp\.(?:ct|st|sa|scim|audit|said|pt)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,50}"), ("odt_", r"odt_[A-Za-z0-9_]{30,80}"), ("nrak|nrra|nrii|nriq|nrsp|nraa|nrbr|nrjs", r"NR(?:AK|RA|II|IQ|SP|AA|BR|JS)-[A-Za-z0-9-]{20,60}"),
("nral", r"[a-z0-9]{36}NRAL"), ("tskey-", r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{20,60}"), ("shp", r"shp(?:ss|at|ca|pa|ua)_[A-Za-z0-9]{32,64}"), ("aio_", r"aio_[A-Za-z0-9]{28}"), ("sqp_|squ_|sqa_", r"sq[pua]_[0-9a-f]{40}"), ("secret_", r"secret_[A-Za-z0-9]{43}"), ("shltm_", r"shltm_[\w-]{40}"), ("ion_", r"ion_[A-Za-z0-9]{42}"), ("00d", r"00D[A-Za-z0-9]{12,15}![\w.]{60,200}"), ("key0", r"KEY0[A-F0-9]{28,40}_\w{20,30}"),
        ("oy2", r"oy2[a-z0-9]{43}"), ("xai-", r"xai-\w{40,100}"), ("pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"), ("r8_", r"r8_[A-Za-z0-9]{37}"), ("nvapi-", r"nvapi-[\w-]{60,80}"),
    ("lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"), ("phx_|phc_", r"ph[xc]_[A-Za-z0-9_]{40,60}"), ("sbp_|sb_secret_", r"sbp_(?:[a-z0-9]{1,20}_)?[0-9a-f]{40}|sb_secret_[\w-]{20,60}"), ("dckr_", r"dckr_(?:pat|oat)_[\w-]{24,60}"),
    ("fig", r"fig(?:d|u|ur|o|or|uh|orh)_[\w-]{40,60}"), ("flyv1|fo1_", r"(?:FlyV1 fm\d_|fo1_)[\w+/=-]{40,900}"), ("atatt3|atctt3|atbb", r"(?:ATATT3|ATCTT3)[\w=-]{60,250}|ATBB[A-Za-z0-9]{28}"), ("rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14}"),
    ("lin_oauth_", r"lin_oauth_[0-9a-f]{64}"), ("tfp_", r"tfp_[\w-]{40,60}"), ("swmtkn-", r"SWMTKN-1-[0-9a-z]{40,60}-[0-9a-z]{20,30}"), ("sl.", r"sl\.[A-Za-z0-9_-]{130,160}"), ("waka_", r"waka_[0-9a-f-]{36}"), ("astracs:", r"AstraCS:[A-Za-z]{24}:[0-9a-f]{64}"),
    ("re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,40}"), ("live_", r"live_\d{6,12}_[A-Za-z0-9]{30}"), ("eaa", r"EAA[A-Z][A-Za-z0-9]{60,250}"), ("sk_", r"sk_[0-9a-f]{48}"), ("fw_", r"fw_[A-Za-z0-9]{22,40}"), ("bkua_", r"bkua_[0-9a-f]{40}"),
    ("cfp", r"CFPAT-[\w-]{43}"), ("ccipat_", r"CCIPAT_[A-Za-z0-9]{20,30}_[0-9a-f]{40}"), ("glrtr-|glagent-|gloas-", r"gl(?:rtr|agent|oas)-[\w-]{20,100}"), ("vercel_|vck_", r"(?:vercel_[a-z]{1,10}_|vck_)[A-Za-z0-9]{24,60}"), ("nfp_|nfc_|nfo_|nfb_|nfu_", r"nf[pcobu]_[A-Za-z0-9]{36}"),
    ("webhook/", r"https://[\w.-]{1,80}/webhook(?:b2)?/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}"), ("discord", r"https://(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,80}"),
    ("eyj0exaioiai", r"eyJ0eXAiOiAiVENWMiJ9\.[\w-]{20,60}\.[\w-]{40,60}"), ("api-", r"api-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}-[a-f0-9]{8,40}"), (":aa", r"\d{8,10}:AA[\w-]{32,36}"),
)


def _whole_word(expression: str) -> str:
    """The expression of a whole word. A literal comes first if it begins with one: that is fast."""
    literal = re.match(r"[\w-]{2,20}(?![?*+{])(?=[^|]*$)", expression)
    if literal is None:
        return rf"(?<![A-Za-z0-9/])(?:{expression})(?![A-Za-z0-9_-])"
    first, rest = literal[0], expression[literal.end() :]
    return rf"{first}(?<![A-Za-z0-9/]{first}){rest}(?![A-Za-z0-9_-])"


PREFIXES = tuple(
    _pattern("a token that names its vendor", needles, _whole_word(expression), accept=keys.is_mixed)
    for needles, expression in _VENDORS
)
# fmt: on
