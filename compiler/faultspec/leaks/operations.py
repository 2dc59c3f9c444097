"""Patterns of what operators know: their tools, tickets, feature flags and settings of servers."""

import re

from faultspec.leaks.evidence import callers, programs
from faultspec.leaks.pattern import Pattern
from faultspec.leaks.pattern import pattern as _pattern

_I = re.IGNORECASE

_STANDARDS = r"(?:UTF|SHA|RFC|ISO|IEC|HTTP|TLS|CVE|AES|RSA|PEP|BCP|ISBN|DIN|EN|ECMA|CWE)"
"""Names of standards, which have the form of a ticket's key."""

_CHANNELS = r"(?:oncall|on-call|incidents?|sre|ops|devops|infra|platform|alerts?|eng|engineering|backend|dba|noc)"
"""Words in the names of channels of those who run a service."""

# Keys from the reference manuals of Spring Boot, Hibernate, Quarkus, Micronaut and Eureka.
_KEYS = r"(?:spring\.(?:datasource|jpa|data|redis|kafka|rabbitmq|security|cloud|mail|jackson|profiles|flyway|liquibase|servlet|mvc|main|config|batch|quartz|session|cache)|server\.(?:tomcat|servlet|ssl|undertow|jetty)|management\.(?:endpoints?|server|metrics|health)|hibernate\.(?:connection|dialect|jdbc|hbm2ddl|cache|query|c3p0)|quarkus\.[a-z-]{3,30}|micronaut\.[a-z-]{3,30}|logging\.level|eureka\.client|(?:javax|jakarta)\.persistence)"

# Settings from the manuals of PostgreSQL, MySQL, PHP, nginx, Apache, Tomcat, IIS, Redis, Kafka and
# Elasticsearch.
_SETTINGS = r"(?:superuser_reserved_connections|shared_buffers|work_mem|maintenance_work_mem|max_prepared_transactions|max_locks_per_transaction|idle_in_transaction_session_timeout|max_wal_senders|wal_level|innodb_[a-z_]{3,40}|max_allowed_packet|max_user_connections|group_concat_max_len|sql_mode|tmp_table_size|upload_max_filesize|post_max_size|max_input_vars|open_basedir|disable_functions|allow_url_(?:fopen|include)|client_max_body_size|client_body_buffer_size|proxy_(?:read|connect|send)_timeout|proxy_buffer_size|fastcgi_(?:read_timeout|pass)|large_client_header_buffers|worker_connections|LimitRequest(?:Body|FieldSize|Line)|maxHttpHeaderSize|maxAllowedContentLength|maxRequestLength|maxmemory-policy|min\.insync\.replicas|index\.max_result_window|indices\.breaker\.[\w.]{3,60}|search\.max_buckets|cluster\.max_shards_per_node)"
_SETTING_NEEDLES = "superuser_res|shared_buffers|work_mem|max_prepared|max_locks|idle_in_tr|max_wal|wal_level|innodb_|max_allowed_packet|max_user_conn|group_concat|sql_mode|tmp_table_size|upload_max|post_max|max_input|open_basedir|disable_func|allow_url_|client_max|client_body|proxy_|fastcgi_|large_client|worker_conn|limitrequest|maxhttph|maxallowedc|maxrequestl|maxmemory-|min.insync|index.max|indices.b|search.max|cluster.max"

_FLAG_TOOLS = (
    r"(?:LaunchDarkly|Unleash|Flagsmith|ConfigCat|GrowthBook|Statsig|Optimizely|Flipt|PostHog)"
)

# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
OPERATIONS: tuple[Pattern, ...] = (
    _pattern("a page of an internal tool", ".atlassian.net/|.slack.com/archives|.service-now.com/|.grafana.net/|.splunkcloud.com/|.pagerduty.com/|.opsgenie.com/|.visualstudio.com/|sentry.io/|datadoghq.|one.newrelic.com/|ui.honeycomb.io/|app.launchdarkly.com/|app.bugsnag.com/|app.rollbar.com/|rollbar.com/|linear.app/|app.asana.com/|app.circleci.com/|app.clickup.com/|app.shortcut.com/", r"\b[\w-]{1,60}\.(?:atlassian\.net/(?:browse|wiki|jira|secure)|slack\.com/archives/|service-now\.com/\w|grafana\.net/(?:d|explore|a)/|splunkcloud\.com/\w|pagerduty\.com/(?:incidents|alerts|services)/|opsgenie\.com/alert|visualstudio\.com/\w|sentry\.io/issues/)|\b(?:sentry\.io/organizations/\w|app\.datadoghq\.(?:com|eu)/\w|one\.newrelic\.com/\w|ui\.honeycomb\.io/\w|app\.launchdarkly\.com/\w|app\.bugsnag\.com/\w|(?:app\.)?rollbar\.com/[\w-]{1,40}/[\w-]{1,40}/items|linear\.app/[\w-]{1,40}/issue/|app\.asana\.com/0/\d|app\.circleci\.com/pipelines/|app\.clickup\.com/t/|app\.shortcut\.com/[\w-]{1,40}/story/)", accept=callers.is_of_service),
    _pattern("a source line", "#l", r"\b(?:github\.com|gitlab\.com|bitbucket\.org)/(?:[\w.-]{1,60}/){2,4}(?:-/)?(?:blob|src|blame)/[\w./-]{3,200}#L\d{1,6}\b"),
    _pattern("a ticket of the service's team", "known |our |internal |jira", r"\b(?:(?i:known|our|internal) (?:problem|issue|bug|defect|regression|incident|outage|ticket|story|epic)|JIRA(?: ticket| issue)?)\b[^\n.]{0,40}?[ (:#]" rf"(?!{_STANDARDS}-)" r"[A-Z]{2,10}-\d{1,6}\b(?!-)", accept=callers.is_of_service, flags=0),
    _pattern("a ticket of the service's team", "chg0|prb0|ctask0|ptask0", r"\b(?:CHG|PRB|CTASK|PTASK)0\d{6}\b"),
    _pattern("a merge request of the service's team", "fix|regression|revert|patch|introduced|deployed", r"\b(?:fix|patch|regression)\b[^\n.]{0,40}(?:\(!\d{2,6}\)|\bMR !\d{2,6}|\bPR #\d{2,6})|\b(?:introduced|regression|reverted|deployed|broken)\b[^\n.]{0,24}\bcommit [0-9a-f]{7,40}\b", accept=callers.is_of_service, flags=_I),
    _pattern("a channel of the service's team", "#", rf"\b(?:[Aa]sk|[Pp]ing|[Pp]oke|[Nn]otify|[Pp]age|[Tt]ell|[Ss]lack(?: channel)?|[Pp]ost(?:ed)? (?:in|to)|[Aa]lert(?:ed)?(?: in)?|[Ss]ee|[Cc]ontact|in|on) #(?:[a-z0-9]{{1,20}}[-_]){{0,4}}{_CHANNELS}(?:[-_][a-z0-9]{{1,20}}){{0,4}}\b", accept=callers.is_of_service),
    _pattern("a link inside the company", "go/", r"(?<![\w./@-])(?<!branch )(?<!package )(?<!module )go/(?!no-go)[a-z0-9]{2,20}(?:-[a-z0-9]{2,20}){1,4}(?![\w/.-])"),
    _pattern("an alarm of the service's team", "pagerduty|opsgenie|victorops|on-call|oncall", r"\b(?:PagerDuty|Opsgenie|VictorOps) (?:incident|alert|policy|schedule|escalation)\b|\b(?:paged|paging|woke|waking|alerted|alerting) (?:up )?(?:the |our )?on-?call\b", accept=callers.is_of_service, flags=_I),
    _pattern("a feature flag of the service", "flag|toggle|gate", r"\b(?:feature|release|rollout|ops)[ _-]?(?:flag|toggle|gate)s?:? ?[\"'`]?(?=[\w.-]{0,60}[_.-])[a-z][\w.-]{2,60}[\"'`]? (?:is|was) (?:currently )?(?:off|on|disabled|enabled|not enabled)\b", accept=callers.is_of_service, flags=_I),
    _pattern("a feature flag of the service", "launchdarkly|unleash|flagsmith|configcat|growthbook|statsig|optimizely|flipt|posthog", rf"\b{_FLAG_TOOLS}(?: SDK| client)?(?:: \w| (?:flag|variation|gate|toggle)\b)", accept=callers.is_of_service),
    _pattern("a feature flag of the service", "kill switch|kill-switch|killswitch|launched|launching|shadow traffic|shadow mode|canary |break-glass|break glass|break_glass|breakglass|treatment group|control group", r"\bkill[- ]?switch\b|\b(?:dark|soft|shadow)[- ]launch(?:ed|ing)\b|\bshadow (?:traffic|mode)\b|\bcanary (?:release|deploy\w{0,10}|instance|pod|host|build|rollout|fleet|version)\b|\bbreak[-_ ]?glass\b|\byou are in the (?:control|treatment) group\b", accept=callers.is_of_service, flags=_I),
    _pattern("a way around a check", "bypass|skip_|disable_|ignore_", r"\bbypass[-_]?(?:header|token|key|check|auth|secret)\w{0,20}|\b(?:skip|bypass|disable|ignore)_(?:acl|authn?|authz|mfa|2fa|3ds|csrf|signatures?|permissions?|kyc|fraud|captcha)(?:_\w{1,20})?\b|(?-i:\.Bypass[A-Z]\w{2,40})\b", flags=_I),
    _pattern("a way around a check", "x-", r"\b(?:admins?|staff|employees|operators|internal (?:users|callers|services))\b[^\n.]{0,40}\b(?:skip|bypass|override|avoid|disable)\b[^\n.]{0,60}\bX-[A-Z]\w{1,40}", flags=_I),
    _pattern("an internal route", "secret |hidden |undocumented |internal ", r"\b(?:secret|hidden|undocumented|internal) (?:endpoint|route|API|URL|path)\b[^\n.]{0,40} [\"'`]?/\w[\w/.-]{2,100}", accept=callers.is_of_service),
    _pattern("a setting of the server", "spring.|server.|management.|hibernate.|quarkus.|micronaut.|logging.level|eureka.client|.persistence.", rf"(?<![\w./@-]){_KEYS}(?:\.[A-Za-z][\w-]{{0,60}}){{1,8}}(?![\w@/])", accept=programs.is_code_name),
    _pattern("a setting of the server", _SETTING_NEEDLES, rf"(?<![\w./@-]){_SETTINGS}(?![\w-])", accept=callers.is_of_service),
    _pattern("a setting of the server", "config|setting", r"\b(?:config(?:uration)?|settings?) (?:key|property|option|entry|value) [\"'`]?(?:[a-z][\w-]{0,40}\.){0,5}(?:ldap|db|database|datasource|smtp|redis|kafka|auth|jwt|secret|broker|queue|s3|pool|vault|upstream)(?:\.[\w-]{1,40}){1,5}", accept=callers.is_of_service, flags=_I),
    _pattern("a setting of the server", "settings.", r"(?<![\w.])Settings(?:\.[A-Z][a-z]\w{1,40}){2,6}\b"),
    _pattern("a setting of the server", "-x", r"(?<![\w-])(?:-X(?:mx|ms|ss|mn)\d{1,6}[kmgKMG]\b|-XX:[+-]?[A-Z]\w{3,60})"),
    _pattern("a variable of the environment", "${", r"\$\{[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){0,6}\} (?:resolved|is|was|could|did) (?:to|not set|unset|empty|missing|undefined|not be|not resolve)", accept=callers.is_of_service),
    _pattern("a variable of the environment", "missing required ", r"\b[Mm]issing required (?:setting|config(?:uration)?)s?[ :\"'`]{1,4}[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8}\b", accept=callers.is_of_service),
    _pattern("the tenant of a cloud", ".onmicrosoft.com", r"\b(?!contoso|fabrikam|example|your|tenant|<)[\w-]{2,60}\.onmicrosoft\.com\b", accept=callers.is_of_service, flags=_I),
    _pattern("a zone of a cloud", "-az", r"(?<![\w-])(?:us|eu|ap|ca|sa|me|af|il|mx|usg)(?:[nsewc]|[ns][ew])\d-az\d\b"),
    _pattern("a key of a cloud", "alias/", r"\b(?:key|kms|cmk|wrapped|encrypt\w{0,5})\b[^\n.]{0,40}(?<![\w/.])alias/(?!aws/|my-|your-|example)[\w/-]{2,100}", accept=callers.is_of_service, flags=_I),
    _pattern("an account of a warehouse", ".snowflakecomputing.com|snowflake", r"(?<![\w.])[a-z][\w-]{2,60}(?:\.[a-z]{2}-[a-z]{2,12}-\d)?(?:\.(?:aws|azure|gcp))?\.snowflakecomputing\.com\b|\bsnowflake account[ :=\"'`]{1,3}[a-z]{2}\d{5}\b", flags=_I),
    _pattern("a cluster of a cloud", "gke_", r"\bgke_[a-z][\w-]{2,60}_[a-z]{2,20}-[a-z]{2,20}\d{1,2}(?:-[a-z])?_[\w-]{1,60}"),
    _pattern("a project of a cloud", "consumer '", r"\bconsumer '(?:projects/|project_number:)\d{6,14}'"),
    _pattern("a machine of the service", "process|render|served|handled|running|hosted|scheduled|generated|executed|stuck|pinned|routed|handshake", r"\b(?:process(?:ed|ing)|render(?:ed|ing)?|served|handled|running|hosted|scheduled|generated|executed|stuck|pinned|routed|handshake)\b(?:[^\n.]|\.\d){0,24} (?:on|by|to|with|via) [\"'`]?(?:[a-z]{2,15}-){0,3}(?:bastion|jumpbox|jumphost|box|vm|host|srv|server|app|web|worker|runner|edge|render|batch|cron)(?:-?[a-z]{2,3})?-?\d{1,3}(?![\w-]|\.\w)", accept=callers.is_of_service),
    _pattern("a port behind the service", "port ", r"\b(?:reach|connect(?:ing|ed)?(?: to)?|contact|dial|handshake)\b(?:(?!\byour\b)[^\n.]){0,60}(?: at| on| over|\() ?port \d{2,5}\b", accept=callers.is_of_service, flags=_I),
)
# fmt: on
