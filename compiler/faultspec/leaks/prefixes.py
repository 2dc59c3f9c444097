"""Tokens that name their vendor by a prefix: what the documentation of each vendor shows."""

from faultspec.leaks import evidence
from faultspec.leaks.pattern import pattern as _pattern

# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
_VENDORS = (
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
PREFIXES = tuple(
    _pattern("a token that names its vendor", needles, rf"(?<![A-Za-z0-9/])(?:{expression})(?![A-Za-z0-9_-])", accept=evidence.is_mixed)
    for needles, expression in _VENDORS
)
# fmt: on
