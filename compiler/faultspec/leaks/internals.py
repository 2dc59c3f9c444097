"""Patterns of the inside of a service: names of code, hosts, versions, environments and files."""

import re

from faultspec.leaks import evidence
from faultspec.leaks.pattern import pattern as _pattern

_I = re.IGNORECASE

_ROLES = r"(?:Service|Controller|Repository|Aggregate|Handler|Manager|Factory|Provider|Middleware|Validator|Mapper|Client|Helper|Worker|Impl|Dao|DAO|Entity|Processor|Interceptor|Resolver|Serializer|Dto|ViewModel|DbContext|Gateway|Adapter|UseCase|Consumer|Listener|Job|Task|Actor|Server|Exception)"
"""Last words of the names of classes, by the roles that patterns of design give them."""

_MODULES = r"(?:models|services?|views|tasks|handlers|controllers|repositor(?:y|ies)|utils|helpers|middlewares?|serializers|schemas|exceptions|domain|adapters|workers|jobs|managers|usecases|entities|daos?|core|infrastructure|internal|apps?|api)"
"""Names that programs give to their modules."""

_CRATES = r"(?:std|core|alloc|tokio|hyper|serde_json|serde|sqlx|diesel|actix_web|actix|axum|reqwest|tonic|anyhow|rocket|tower|futures|rayon|chrono|rustls|redis|lapin)"

_SERVERS = r"nginx|openresty|Apache|httpd|Apache-Coyote|Tomcat|Apache Tomcat|Jetty|WildFly|JBoss(?:-EAP)?|GlassFish(?: Server)?(?: Open Source Edition)?|WebLogic(?: Server)?|WebSphere|Undertow|Payara|gunicorn|uvicorn|hypercorn|daphne|Werkzeug|CherryPy|TornadoServer|Tornado|waitress|uWSGI|mod_\w{2,20}|Phusion Passenger|Puma|Unicorn|WEBrick|Thin|PHP|PHP-FPM|Laravel|Symfony|Django|Flask|FastAPI|Rails|Ruby|Microsoft-IIS|IIS|Kestrel|ASP\.NET|Express|Node\.js|Node|Java|JVM|Microsoft-HTTPAPI|NestJS|Spring Boot|Spring Framework|Spring|Hibernate|JDK|JRE|OpenJDK(?: Runtime Environment| 64-Bit Server VM)?|HotSpot|GraalVM|OpenSSL|LibreSSL|Varnish|HAProxy|Envoy|Traefik|Kong|Caddy|lighttpd|LiteSpeed|Squid|Cowboy|Phoenix|Elixir|Erlang/OTP|CPython|Python|Perl|Golang|Docker|Kubernetes|Consul|Vault|etcd|RabbitMQ|Kafka|Celery|Sidekiq|log4j|Logback|Jackson|Drupal|WordPress|Magento|Liferay|GitLab|Jenkins|Keycloak|Zope|Plone|Sanic|Starlette|Hapi|Koa|Next\.js|Nuxt|Strapi|glibc|Ubuntu|Debian|Alpine|CentOS|Linux"
"""Servers, runtimes and frameworks that put their version into banners."""

_HOST_WORDS = r"(?:db|pg|sql|mysql|postgres|redis|mongo|rabbit(?:mq)?|kafka|cache|mail|smtp|ldap|gateway|gw|lb|proxy|backend|svc|srv|es|elastic|queue|auth|vault|zk|etcd|nats|minio|prod|stg|staging|uat)"
"""Words in the names of machines."""

_PORTS = r"(?:80[0-9]{2}|81[0-9]{2}|8443|8500|8888|9[0-9]{3}|[3-7]000|3001|50051|50052|10250|15672|27017|2[37][0-9]{2}|3306|5432|6379|5672|11211|1433|1521|6443)"
"""Ports on which services listen behind a gateway."""

_VARIABLES = r"(?:NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|APP_KEY|APP_DEBUG|FLASK_ENV|FLASK_APP|DJANGO_SETTINGS_MODULE|SPRING_PROFILES_ACTIVE|SPRING_DATASOURCE_\w{2,30}|ASPNETCORE_\w{2,30}|DOTNET_\w{2,30}|JAVA_HOME|JAVA_OPTS|JAVA_TOOL_OPTIONS|CATALINA_\w{2,20}|PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|GOPATH|GOROOT|GEM_HOME|BUNDLE_\w{2,20}|LD_LIBRARY_PATH|LD_PRELOAD|HOSTNAME|PWD|OLDPWD|SHLVL|KUBERNETES_\w{2,40}|AWS_\w{2,40}|GOOGLE_APPLICATION_CREDENTIALS|AZURE_\w{2,40}|DATABASE_\w{2,20}|DB_(?:HOST|PORT|NAME|USER|USERNAME|PASS|PASSWORD|DATABASE|URL|CONNECTION)|PG(?:HOST|USER|PASSWORD|DATABASE|PORT)|POSTGRES_\w{2,20}|MYSQL_\w{2,20}|MONGO_\w{2,20}|REDIS_\w{2,20}|RABBITMQ_\w{2,20}|AMQP_URL|KAFKA_\w{2,20}|ELASTICSEARCH_\w{2,20}|SECRET_KEY(?:_BASE)?|DOCUMENT_ROOT|SCRIPT_FILENAME|SERVER_SOFTWARE|SERVER_ADMIN|CONTEXT_DOCUMENT_ROOT|VAULT_\w{2,20}|SENTRY_DSN)"
"""Names of the environment that runtimes, clouds and frameworks read."""

_DECLARED = r"[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8}"

_SERVER_NEEDLES = "nginx|openresty|apache|httpd|tomcat|jetty|wildfly|jboss|glassfish|weblogic|websphere|undertow|payara|gunicorn|uvicorn|hypercorn|daphne|werkzeug|cherrypy|tornado|waitress|uwsgi|mod_|passenger|puma|unicorn|webrick|thin|php|laravel|symfony|django|flask|fastapi|rails|ruby|iis|kestrel|asp.net|express|node|jvm|java|httpapi|nestjs|spring|hibernate|jdk|jre|hotspot|graalvm|openssl|libressl|varnish|haproxy|envoy|traefik|kong|caddy|lighttpd|litespeed|squid|cowboy|phoenix|elixir|erlang|python|perl|go/|golang|docker|kubernetes|consul|vault|etcd|rabbitmq|kafka|celery|sidekiq|log4j|logback|jackson|drupal|wordpress|magento|liferay|gitlab|jenkins|keycloak|zope|plone|sanic|starlette|hapi|koa|next.js|nuxt|strapi|glibc|ubuntu|debian|alpine|centos|linux"

_ROLE_NEEDLES = "service|controller|repository|aggregate|handler|manager|factory|provider|middleware|validator|mapper|client|helper|worker|impl|dao|entity|processor|interceptor|resolver|serializer|dto|viewmodel|dbcontext|gateway|adapter|usecase|consumer|listener|job|task|actor|server|exception"

_MODULE_NEEDLES = "models.|service.|services.|views.|tasks.|handlers.|controllers.|repository.|repositories.|utils.|helpers.|middleware.|middlewares.|serializers.|schemas.|exceptions.|domain.|adapters.|workers.|jobs.|managers.|usecases.|entities.|dao.|daos.|core.|infrastructure.|internal.|app.|apps.|api."

# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
CODE = (
    _pattern("a source line", ".java:|.kt:|.scala:|.groovy:|.clj:|.cpp:|.cxx:|.c:|.hpp:|.h:|.mm:|.vue:|.svelte:|.py:|.lua:|.nim:|.fs:|.vb:|.cs:|.js:|.ts:|.tsx:|.jsx:|.mjs:|.cjs:|.cls:|.abap:|.sql:|.pyx:|.kts:|.gs:|.r:", r"(?<![\w/.-])(?:[\w$-]{1,60}/){0,12}[\w$.-]{1,60}\.(?:java|kts?|scala|groovy|clj|cpp|cxx|c|hpp|h|mm|vue|svelte|pyx?|lua|nim|fs|vb|cs|[cm]?js|[jt]sx?|cls|abap|sql|gs|[Rr]):\d{1,6}\b(?!\.\d)"),
    _pattern("a Python frame", ", in ", r"\bline \d{1,6}, in \w"),
    _pattern("an exception's class", "exception: ", r"(?<![\w.])(?!(?:Resource|Not|Validation|Access|Throttl|Bad|Conflict|Forbidden|Unauthor|Invalid|Limit|Too|Service|Internal|Request|Missing|Duplicate|Already|Quota|Rate|Payment|Unsupported|Expired|Api|Http|Business|Entity)[a-z]{0,20}(?:[A-Z]|Exception))(?:[A-Z][a-z0-9]{1,30}){1,8}Exception: \S"),
    _pattern("an exception's class", "exception|exit", r"(?<![\w.@/\\-])(?!errors?\.|messages?\.|i18n\.|codes?\.)(?:[A-Za-z_]\w{0,60}\.){1,8}[A-Z]\w{0,60}(?:Exception|Exit)\b(?!\.\w)"),
    _pattern("an exception's class", "error|failure|fault|timeout|elapsed", r"(?<![\w.@/\\-])(?!errors?\.|messages?\.|i18n\.|codes?\.)[a-z_]\w{0,60}(?:\.[a-z_]\w{0,60}){0,8}\.[A-Z]\w{1,60}(?:Error|Failure|Fault|Timeout): \S"),
    _pattern("an exception's class", ".exceptions.|.exc.|.errors.", r"(?<![\w.@/-])[a-z_]\w{1,60}(?:\.[a-z_]\w{0,60}){0,6}\.(?:exceptions|exc)\.[A-Z]\w{2,80}"),
    _pattern("an exception's class", "error: ", r"\b(?:Axios|Fetch|JsonWebToken|TokenExpired|GraphQL|Apollo\w{0,20}|Mongo\w{0,20}|Bson\w{0,10}|Prisma\w{0,30}|TypeORM|EntityMetadataNotFound|QueryFailed|Abort|Aggregate|Assertion|Eval|URI|Internal|Webpack\w{0,20}|SvelteKit|Nuxt|TemplateSyntax|Undefined|TemplateNotFound|RelatedObjectDoesNotExist|Operational|Integrity|Interface|Programming|Database|Data|NotSupported|HTTPConnection|ReadTimeout|ConnectTimeout|ResponseValidation|WorkerLost|Unpickling|JSONDecode|Redis|Reply|Frozen|Load|Name|StandardError|ZeroDivision|SystemStack|SystemCall|Regexp|Fiber|Thread|Local|Stop|Script|Encoding)Error: \S"),
    _pattern("an exception's representation", "error(|exception(|warning(", r"(?<![\w.])(?:[A-Z][a-z0-9]{1,30}){1,8}(?:Error|Exception|Warning)\((?:b?['\"]|\d)"),
    _pattern("an exception's representation", "error at /|exception at /|doesnotexist at /", r"\b[A-Z]\w{1,60}(?:Error|Exception|DoesNotExist|MultiValueDictKeyError) at /"),
    _pattern("an exception's representation", "doesnotexist: ", r"\b\w{0,60}DoesNotExist: [A-Z]"),
    _pattern("an exception's representation", "domexception", r"\bDOMException\b"),
    _pattern("an object of the program", "<class '|<type '", r"<(?:class|type) '[\w.]{1,120}'>"),
    _pattern("an object of the program", "': none|': decimal(|': datetime.|': uuid(|': objectid(|': <", r"'\w{1,60}': (?:None|Decimal\(|datetime\.|UUID\(|ObjectId\(|<[\w.]{1,80}[ >])"),
    _pattern("an object of the program", "#<", r"#<[A-Z][\w:]{1,80}(?::0x[0-9a-f]{6,16}| [\w@]{1,40}[:=])"),
    _pattern("an object of the program", "hash(0x|array(0x|code(0x|scalar(0x|glob(0x", r"\b(?:HASH|ARRAY|CODE|SCALAR|GLOB)\(0x[0-9a-f]{3,16}\)"),
    _pattern("an object of the program", " }", r"\b(?:\w{1,60}Error|Some|Err|Ok)(?:\(\w{1,60})? ?\{ \w{1,60}: [A-Z\"\d][^\n{}]{0,200} \}"),
    _pattern("a Go method", "(*", r"\(\*[A-Za-z]\w{1,80}\)\.\w{1,80}"),
    _pattern("a Go frame", "(0x", r"\b[a-z]\w{0,60}(?:\.\w{1,60}){1,6}\(0x[0-9a-f]{2,16}[,) {]"),
    _pattern("a Go error", "\"http", r"(?<!\w)(?:Get|Post|Put|Delete|Head|Patch) \\?\"https?://[^\"\s]{1,300}\": (?:EOF|dial|context|net/|http|x509|read|write|unsupported|remote|lookup|tls|stopped|unexpected|proxyconnect)"),
    _pattern("a function of PHP", "(): ", r"\b[a-z]{2,20}(?:_[a-z0-9]{1,20}){1,5}\(\): [A-Z]"),
    _pattern("a path of Rust", "::", rf"(?<![\w:])(?:{_CRATES}(?:::\w{{1,60}}){{1,8}}|[a-z_]\w{{1,60}}(?:::[a-z_<]\w{{1,60}}>?){{2,8}}|[a-z_]\w{{1,60}}(?:::\w{{1,60}}){{0,6}}::Error\b)"),
    _pattern("a symbol of C++", "_zn|st1|st2|st3|st4|st5|st6|st7|st8|st9|st0", r"\b_ZN[A-Za-z0-9_]{5,200}|\bSt\d{2}[a-z_]{5,40}\b"),
    _pattern("a symbol of C++", "std::", r"\bstd::[a-z_]\w{1,60}"),
    _pattern("a frame of Perl", "called at", r"\b[A-Z]\w{1,60}(?:::\w{1,60}){1,8}\([^\n]{0,200}\) called at\b"),
    _pattern("a frame of the BEAM", "/", r"(?<![\w./-])(?:[A-Z]\w{1,60}\.){1,8}[a-z]\w{0,60}[?!]?/\d\b(?![/.\w])"),
    _pattern("the rest of a stack trace", "... ", r"(?<!\S)\.\.\. \d{1,4} (?:more|common frames omitted)\b(?= ?$| ?\n|[\"'<]| at | Caused)"),
    _pattern("an installed package", "gems/", r"\bgems/[\w-]{1,60}-\d{1,4}\.\d"),
    _pattern("a class of the program", _ROLE_NEEDLES, rf"(?<![\w./@\\-])(?:[A-Z][A-Za-z0-9]{{1,60}}\.){{2,8}}(?:[A-Z]\w{{0,60}})?{_ROLES}\b"),
    _pattern("a class of the program", _MODULE_NEEDLES, rf"(?<![\w./@-])(?:[a-z_]\w{{0,60}}\.){{1,8}}{_MODULES}\.(?:[a-z_]\w{{0,60}}\.){{0,6}}[A-Z][a-z]\w{{1,80}}(?![\w/])", accept=evidence.is_code_name),
    _pattern("a class of the program", _MODULE_NEEDLES, rf"(?<![\w./@-])(?:[a-z_]\w{{0,60}}\.){{0,8}}{_MODULES}\.(?:[a-z_]\w{{0,60}}\.){{1,6}}[A-Z][a-z]\w{{1,80}}(?![\w/])", accept=evidence.is_code_name),
    _pattern("a class of the program", _ROLE_NEEDLES, rf"(?<![\w./@-])(?:[a-z_]\w{{0,60}}\.){{2,8}}(?:[A-Z][a-z0-9]{{1,40}}){{1,6}}{_ROLES}\b", accept=evidence.is_code_name),
    _pattern("a task of the program", ".tasks.|.jobs.|.handlers.|.workers.|.views.", r"(?<![\w./@-])[a-z_]\w{1,60}(?:\.[a-z_]\w{0,60}){0,6}\.(?:tasks|jobs|handlers|workers|views)\.[a-z]\w{0,60}_\w{1,60}|(?<![\w./@-])[a-z]\w{1,60}_(?:api|app|service|svc|web|core)\.(?:tasks|jobs|handlers|workers|views)\.[a-z]\w{2,60}", accept=evidence.is_code_name),
    _pattern("a class of the program", "::", r"(?<![\w:])(?!AWS::|Alexa::|Custom::)[A-Z]\w{1,60}(?:::[A-Z]\w{1,60}){2,8}"),
    _pattern("a class of the program", "\\", r"(?<![\w:.])\\{1,2}[A-Z][a-z]\w{1,60}(?:\\{1,2}[A-Z]\w{1,80}){1,8}(?:::\w{1,80}|(?![\w\\]))"),
    _pattern("a class of the program", "impl|daoimpl|factorybean|controller", r"(?<![\w./-])(?:[A-Z][a-z0-9]{1,40}){1,6}(?:ServiceImpl|RepositoryImpl|DaoImpl|DAOImpl|ManagerImpl|ControllerImpl|HandlerImpl|FactoryBean|Controller[#@][a-z]\w{1,60}|Impl\.[a-z]\w{1,60})\b"),
    _pattern("a method of the program", "service.|repository.|controller.|handler.|manager.|dao.|mapper.|client.|worker.|processor.|middleware.|resolver.|factory.|helper.|provider.", r"(?<![\w./@-])(?:[A-Z][a-z0-9]{1,40}){1,6}(?:Service|Repository|Controller|Handler|Manager|Dao|Mapper|Client|Worker|Processor|Middleware|Resolver|Factory|Helper|Provider)\.[a-z][a-z0-9]{0,30}(?:[A-Z][a-z0-9]{1,30}){0,6}(?:Async)?(?:\(|\b(?!\.\w|[/@-]))", accept=evidence.is_code_name),
)

SCHEMA = (
    _pattern("a name of the schema", "idx_|ix_|fk_|uq_|uniq_|uk_|pk_|ck_|chk_", r"(?<![\w-])(?:idx|fk|uq|uniq)_[a-z]\w{1,60}\b|\b(?:constraint|index|key)s? [\"'`\\]{0,2}(?:ix|uk|pk|ck|chk|IX|UK|PK|CK|FK|UQ)_\w{2,60}"),
    _pattern("a name of the schema", "_id_seq|_pkey|_fkey|_key|_check|_excl", r"\b[a-z]\w{1,60}_id_seq\b|\bconstraint [\"'`\\]{0,2}[a-z]\w{1,60}_(?:pkey|fkey|key|check|excl)\b|\b[a-z]\w{1,60}_[pf]key\b"),
    _pattern("a name of the schema", "sp_|usp_|mv_|vw_|trg_", r"\b(?:procedure|trigger|view|exec(?:ute)?) [\"'`\\]{0,2}(?:usp|sp|mv|vw|trg)_\w{2,60}", flags=_I),
    _pattern("a SQLSTATE", "error: ", r"\bERROR: {1,3}[0-9A-Z]{5}: [a-z]"),
)

CONNECTIONS = (
    _pattern("an Oracle connect string", "(address", r"\(ADDRESS ?= ?\((?:PROTOCOL|HOST)", flags=_I),
    _pattern("a connection string", "catalog|trusted_connection|integrated security|database", r"\b(?:Server|Data Source) {0,2}= {0,2}[^;=\n]{1,200};[^\n]{0,200}?\b(?:Initial Catalog|Database|Integrated Security|Trusted_Connection) {0,2}=", flags=_I),
    _pattern("a connection string", "driver={", r"\bDriver={[^}\n]{3,80}}", flags=_I),
    _pattern("a URL of a database", "sqlite|duckdb", r"\b(?:sqlite3?|duckdb)(?:\+\w{1,20})?:/{2,4}[\w.~][\w./~-]{2,200}", accept=evidence.is_real, flags=_I),
    _pattern("the key of an error tracker", "@", r"https?://[0-9a-f]{32}(?::[0-9a-f]{32})?@[\w.-]{3,100}/\d{1,20}\b"),
    _pattern("addresses of brokers", "bootstrap.servers|bootstrap_servers|bootstrapservers", r"\bbootstrap[._]?servers[\"']?\s?[=:]\s?[\"'\[]{0,2}[\w.-]{1,100}:\d{2,5}", flags=_I),
)

HOSTS = (
    _pattern("an internal host", "://", r"\b(?:https?|wss?|grpcs?|tcp|amqps?|redis|kafka|nats|thrift|h2c?)://(?P<place>[a-z][a-z0-9_-]{1,62}(?::\d{2,5})?)(?=[/\s\"'`),;?\\]|\.?$)(?!\\?[{<*])", accept=evidence.is_internal_url, flags=_I),
    _pattern("an internal host", ":80|:81|:84|:85|:88|:90|:91|:92|:93|:94|:95|:96|:97|:98|:99|:3000|:4000|:5000|:6000|:7000|:3001|:500|:102|:156|:270|:2|:33|:54|:63|:56|:112|:14|:15|:64", rf"(?<![\w./@:-])(?:[a-z][a-z0-9]{{0,30}}-){{1,6}}(?:svc|service|services|api|worker|server|backend|proxy|gateway|grpc|rpc|db|cache|broker|auth|web|app|internal|primary|replica|headless|master|node|\d{{1,3}}):{_PORTS}\b(?![.\w-])"),
    _pattern("an internal host", "connect|reach|upstream|dial|resolv|proxy|backend|failed to call", r"\b(?:connect(?:ion|ing|ed)?|reach(?:ing)?|upstream|dial(?:ing)?|resolv(?:e|ing)|proxy(?:ing)?|backend|failed to (?:call|connect)|unreachable:?)\b[^\n:]{0,24}[ (\"'`](?P<place>[a-z][a-z0-9_-]{1,60}(?:\.[a-z][a-z0-9-]{1,30}(?<!\.com)(?<!\.net)(?<!\.org)(?<!\.io))?:\d{3,5})\b(?![.\w])", accept=evidence.is_internal_name, flags=_I),
    _pattern("an internal host", "unreachable|refused|unavailable|not reachable|timed out|connection |did not |closed the connection|is down|is offline", r"(?<![\w./@:-])(?P<place>[a-z][a-z0-9_.-]{1,60}:\d{4,5})\b[\"'`)]{0,2}:? (?:(?:is |was )?(?:unreachable|refused|unavailable|not reachable)|timed out|connection (?:refused|reset|timed)|did not (?:respond|answer)|closed the connection|is (?:down|offline))", accept=evidence.is_internal_name, flags=_I),
    _pattern("an internal host", ".consul|.arpa|.cluster|.localdomain|.docker|.priv|.private|.int.|.prod.|.stg.", r"(?<![\w@.-])(?:[a-z0-9_-]{1,63}\.){1,6}(?:(?:service|node|query)\.(?:[\w-]{1,30}\.)?consul|home\.arpa|localdomain|docker\.internal|cluster\.local)(?![\w-])", flags=_I),
    _pattern("a host of a cloud", ".amazonaws.com", r"(?<![\w@.-])[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}\.(?:rds|cache|es|redshift|docdb|compute|kafka|elb|neptune|memorydb)\.amazonaws\.com\b|\b[\w.-]{1,100}\.(?:rds|cache|elb|es|redshift)(?:\.[\w-]{1,30})?\.amazonaws\.com\b", flags=_I),
    _pattern("a host of a cloud", ".azure.com|.windows.net|.azure.net|.mongodb.net|.azmk8s.io|.neon.tech|.psdb.cloud|.upstash.io|.cosmos|.azurehdinsight|.aivencloud.com|.clickhouse.cloud|.elastic-cloud.com|.cloud.es.io|.confluent.cloud|.redislabs.com|.ondigitalocean.com", r"(?<![\w@.-])[\w-]{2,63}(?:\.[\w-]{1,63}){0,4}\.(?:(?:postgres|mysql|mariadb)\.database\.azure\.com|documents\.azure\.com|(?:database|redis\.cache|servicebus|vault|file|table|queue)\.(?:windows|azure|core\.windows)\.net|cache\.windows\.net|vault\.azure\.net|azmk8s\.io|mongodb\.net|neon\.tech|psdb\.cloud|upstash\.io|aivencloud\.com|clickhouse\.cloud|elastic-cloud\.com|cloud\.es\.io|confluent\.cloud|redislabs\.com|db\.ondigitalocean\.com)\b", flags=_I),
    _pattern("an internal host", ".internal.|.corp.|.intra.|.intranet.|.svc.|.lan.|.int.", r"://(?:[a-z0-9_-]{1,63}\.){1,5}(?:internal|corp|intra|intranet|svc|lan|int)\.(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,10}\b", flags=_I),
    _pattern("an address behind the service", "0.0.0.0:", r"(?<![\w.])0\.0\.0\.0:\d{2,5}\b"),
    _pattern("an internal host", "\\", r"\b(?:DESKTOP|WIN|LAPTOP|SRV|SQL|PROD|DEV|SERVER)-[A-Z0-9]{3,15}\\{1,2}\w{2,30}"),
    _pattern("an internal host", "host|server|node|instance|replica|broker|shard|connection to|machine", r"\b(?:host(?:name)?|server|instance|replica|broker|shard|machine|node|Connection to)(?: name)?[ =:\"'`\\(]{1,4}(?P<place>[a-z][a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){0,5})(?![\w.])[\"'`]?(?: \(?port\b| did not| is (?:down|un)|:\d| timed| refused| failed)", accept=evidence.is_machine, flags=_I),
    _pattern("an internal host", "prod-|stg-|staging-|uat-|dev-|-prod|-stg|-staging|-uat|-prd", rf"(?<![\w./@-])(?:[a-z]{{1,15}}-){{0,3}}(?:prod|stg|staging|uat|dev)-(?:[a-z0-9]{{1,15}}-){{0,3}}{_HOST_WORDS}-?\d{{1,3}}(?![\w.-])|(?<![\w./@-])(?:[a-z]{{1,15}}-){{1,3}}{_HOST_WORDS}-(?:prod|stg|staging|uat)(?:-\d{{1,3}})?(?![\w.-])|(?<![\w./@-])(?:web|app|api|worker|server|{_HOST_WORDS})-(?:prod|stg|staging|uat|prd)-?\d{{1,3}}(?![\w.-])", flags=_I),
    _pattern("a directory's name", "dc=", r"\b(?:cn|ou|uid)=[^,\n]{1,60},(?:[a-z]{1,4}=[^,\n]{1,60},){0,6}dc=\w{1,60}", flags=_I),
)

NAMES = (
    _pattern("a server with its version", _SERVER_NEEDLES, rf"(?<![\w./@-])(?:{_SERVERS}|Go)/v?\d{{1,3}}\.\d{{1,5}}(?:[._-]\w{{1,20}}){{0,4}}", accept=evidence.is_banner),
    _pattern("a server with its version", _SERVER_NEEDLES, rf"(?<![\w./@-])(?:{_SERVERS})(?: Version| version|:)? ?[:(]?(?://)? ?v?\d{{1,4}}\.\d{{1,5}}\.\d{{1,7}}(?:[._-]\w{{1,20}}){{0,3}}", accept=evidence.is_banner),
    _pattern("a server with its version", "x-powered-by|server: |x-aspnet", r"\bX-Powered-By: ?\w|\bX-AspNet(?:Mvc)?-Version: ?\d|\bServer: (?:Kestrel|nginx|Apache|Microsoft-IIS|gunicorn|uvicorn|openresty|Jetty|Cowboy|Werkzeug)\b", flags=_I),
    _pattern("a server with its version", ".net framework version|asp.net version", r"\b(?:\.NET Framework|ASP\.NET) Version: ?\d", flags=_I),
    _pattern("an archive of the program", ".jar|.war|.ear|.gem|.whl|.nupkg|-snapshot", r"(?<![\w-])[a-zA-Z][\w.-]{1,60}-\d{1,4}(?:\.\d{1,5}){1,3}(?:[.-][\w]{1,30})?\.(?:jar|war|ear|gem|whl|nupkg)\b|\b\d{1,4}(?:\.\d{1,5}){1,3}-SNAPSHOT\b"),
    _pattern("a package with its version", "@", r"(?<![\w./@-])(?:express|react|next|nuxt|lodash|axios|mongoose|sequelize|typeorm|prisma|knex|pg|mysql2?|redis|ioredis|fastify|koa|webpack|vite)@\d{1,3}\.\d{1,4}\.\d{1,4}\b"),
    _pattern("a system with its version", "linux|ubuntu|-generic|-aws|-azure|-gcp|-amd64|-cloud", r"\bLinux \S{1,60} \d\.\d{1,3}\.\d{1,3}\S{0,60}|\b\d{1,2}\.\d{1,3}\.\d{1,3}-\d{1,4}-(?:generic|aws|azure|gcp|amd64|cloud)\b|-\d?ubuntu\d[\d.]{1,20}", flags=_I),
    _pattern("a runtime's version", "java version|java/1.|z-snapshot", r"\bjava version [\"'\\]{0,2}\d|\bJava/1\.\d|\b\d\.\d\.z-SNAPSHOT\b"),
    _pattern("a runtime's version", "go1.", r"(?<![\w./-])go1\.\d{1,2}(?:\.\d{1,3})?(?![\w.])"),
    _pattern("a pod's name", "-", r"(?<![\w./:@-])(?P<name>[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,6})-(?P<replica>[0-9a-f]{8,10})-(?P<own>[a-z0-9]{5})(?![\w-]|\.\w)", accept=evidence.is_replica),
    _pattern("a pod's name", "-", r"(?<![\w./:@-])(?P<name>[a-z][a-z0-9]{1,30}(?:-[a-z]{2,30}){1,6})-(?P<replica>2[89]\d{6})-(?P<own>[a-z0-9]{5})(?![\w-]|\.\w)", accept=evidence.is_replica),
    _pattern("a member of a stateful set", "-0|-1|-2|-3|-4|-5|-6|-7|-8|-9", r"(?<![\w./:@-])(?:(?:redis|postgres|postgresql|mysql|mariadb|mongo|mongodb|kafka|rabbitmq|zookeeper|elasticsearch|opensearch|cassandra|etcd|consul|vault|nats|minio|clickhouse|pg)(?:-[a-z]{2,20}){0,3})-\d{1,2}(?![\w.-])"),
    _pattern("a node of a cluster", "gke-|aks-|eks-", r"(?<![\w./@-])(?:gke-[\w-]{4,60}-[0-9a-z]{4}|aks-[\w-]{4,60}-vmss\w{6}|eks-[\w-]{4,60})(?![\w-])"),
    _pattern("an image of a container", "@sha256:|gcr.io/|pkg.dev/|ghcr.io/|quay.io/", r"\b[\w./-]{3,120}@sha256:[0-9a-f]{12,64}\b|\b(?:[\w.-]{1,40}\.)?(?:gcr\.io|pkg\.dev|quay\.io|ghcr\.io)/[\w./-]{3,120}(?::[\w.-]{1,60})?"),
    _pattern("a variable of the environment", "=", rf"(?<![\w$&?{{-]){_VARIABLES}=(?![\s\"']?(?:<|\.\.\.|your|xxx))\S"),
    _pattern("a variable of the environment", "env", rf"\b(?:missing|undefined|unset|required|unknown|invalid|no) (?:required )?(?:env(?:ironment)?\.?(?: var(?:iable)?s?)?)[ :\"'`]{{1,4}}{_DECLARED}\b|\benv(?:ironment)?(?: var(?:iable)?)?s? (?:not found|missing|is missing|not set|undefined)[ :\"'`]{{1,4}}{_DECLARED}\b|\benv(?:ironment)?(?: var(?:iable)?)?s?[ :\"'`]{{1,3}}{_DECLARED}[\"'`]? (?:is |was |has |must )?(?:not |un|missing|empty|required|be set)", flags=0),
    _pattern("a variable of the environment", "env", rf"\b[Mm]issing (?:required )?(?:environment variable|env var|env)s?[ :\"'`]{{1,4}}{_DECLARED}\b|\b[Ee]nvironment variables? (?:not found|missing|not set)[ :\"'`]{{1,4}}{_DECLARED}\b"),
    _pattern("variables of the environment", "=", rf"(?<![\w&?]){_DECLARED}=\S{{1,100}}[ ,;\n]{{1,2}}{_DECLARED}=\S{{1,100}}[ ,;\n]{{1,2}}{_DECLARED}=\S"),
    _pattern("a variable of the environment", "node_env|rails_env|db_host|db_user|db_pass|database_url|document_root|script_filename|server_software|settings_module|wsgi.|aws_lambda|kubernetes_", r"(?<![^\x00\n\"'])(?:NODE_ENV|RAILS_ENV|RACK_ENV|DB_(?:HOST|USER|PASS|PASSWORD)|DATABASE_URL|DOCUMENT_ROOT|SCRIPT_FILENAME|SERVER_SOFTWARE|DJANGO_SETTINGS_MODULE|wsgi\.\w{4,20}|AWS_LAMBDA_\w{4,30}|KUBERNETES_\w{4,40})(?![^\x00\n\"'])|\b(?:DB_(?:USER|PASS|PASSWORD|HOST))[\"']?: ?[\"']?\w"),
    _pattern("a function of a cloud", "lambda function ", r"\b[Ll]ambda function [\"'`]?[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){1,6}"),
    _pattern("a bucket's name", "bucket", r"\b[Bb]ucket [\"'`]?[a-z][a-z0-9]{1,30}-(?:[a-z0-9]{1,30}-){0,4}(?:prod|production|staging|stg|dev|internal|backups?|uploads|private|invoices|exports|logs)(?:-[a-z0-9]{1,30}){0,3}\b"),
)

FILES = (
    _pattern("a file of a user", "~/|$home/|%appdata%|%localappdata%|%userprofile%|%temp%|%programdata%", r"(?<![\w/~.])~/\.?[\w-]{1,60}(?:/[\w.-]{1,100}){1,20}|\$HOME/[\w./-]{2,200}|%(?:APPDATA|LOCALAPPDATA|USERPROFILE|TEMP|PROGRAMDATA)%\\{1,2}\w", flags=_I),
    _pattern("a path of the server", ":/", r"(?<![\w])[A-Za-z]:/{1,2}(?:Program Files|Users|Windows|inetpub|xampp|wamp64|wamp|laragon|web|www|sites?|apps?|dev|src|projects?|temp|tmp|data|jenkins|builds?)(?: \(x86\))?/[\w ./-]{1,200}", flags=_I),
    _pattern("a path of the server", "/dev/shm|/sys/|/lib/|/lib64|/vercel/|/builds/|/bitnami|/snap/|/layers/|/cnb|/library/|/volume1|/cygdrive/|/www/wwwroot|/run/|/boot|/applications|/github/workspace|/bin|/sbin|/var/run|/docker-entrypoint|/entrypoint", r"(?<![\w/.:*}>-])(?:unix://)?/(?:dev/shm|sys/(?:fs|class|kernel)|lib/x86_64|lib/[\w-]{1,40}-linux-gnu|lib64|vercel/path\d|builds/[\w-]{1,40}|bitnami|snap/[\w-]{1,40}|layers/[\w.-]{1,40}|cnb|Library/[A-Z]\w{1,40}|volume1|cygdrive/[a-z]|www/wwwroot|run/(?:containerd|docker|user|lock|php|postgresql|redis)|boot|Applications|github/workspace|var/run|bin|sbin|docker-entrypoint[\w-]{0,20}|entrypoint)(?:/[\w.@+~-]{1,100}){0,40}(?:\.sh|/[\w.@+~-]{1,100})", accept=evidence.is_file_path),
    _pattern("a file of the server", ": line ", r"(?<![\w/.:])(?P<place>/[\w.@+~-]{1,60}(?:/[\w.@+~-]{1,60}){1,20}): line \d{1,6}\b"),
    _pattern("a file in an archive", "boot-inf/|web-inf/|meta-inf/|.jar!|.war!", r"\b(?:BOOT|WEB|META)-INF/[\w./!-]{1,200}|\.(?:jar|war)!/"),
    _pattern("a file of the program", "storage/logs/|storage/framework/|public_html|wp-content/|wp-includes/|target/classes|target/test-classes|htdocs|wwwroot", r"\bstorage/(?:logs|framework)/[\w./-]{1,200}|\bpublic_html/[\w./-]{1,200}|\bwp-(?:content|includes)/[\w./-]{1,200}|\btarget/(?:test-)?classes\b|\b(?:htdocs|wwwroot)/[\w./-]{1,200}"),
    _pattern("a source file of the program", ".js|.ts|.tsx|.jsx|.mjs|.cjs|.mts|.cts|.vue", r"(?<![\w/:.*}>@-])(?:\./)?(?:src|lib|dist|build|server|backend|internal|pkg|controllers|services|handlers|middlewares?|app)/(?:[\w.@-]{1,60}/){0,20}[\w.@-]{1,60}\.(?:[cm]?[jt]s|[jt]sx|vue)\b(?!\w)", accept=evidence.is_file_path),
    _pattern("a template of the program", ".erb|.twig|.blade.php|.jinja2|.j2|.haml|.cshtml|.ftl|.hbs|.ejs|.jsp|.pug|.mustache|.heex|.eex", r"(?<![\w:])(?:[\w.-]{1,60}/){0,12}[\w.-]{1,60}\.(?:html\.(?:erb|twig|heex|eex|haml|j2)|erb|twig|blade\.php|jinja2|cshtml|jsp|haml|heex)\b"),
    _pattern("a file that an error of the system names", "permission denied|no such file|cannot open|can't open|could not open|failed to open", r"(?<![\w/])(?:open|stat|read|write|exec|unlink|rename)? ?(?P<place>[\w-]{1,60}\.(?:ya?ml|ini|conf|cfg|toml|env|log|key|pem|properties|lock|sock|pid|sqlite3?)): (?:[Pp]ermission denied|[Nn]o such file)|\b(?:cannot|can't|could not|failed to) open (?:file )?['\"`](?P<other>[\w./-]{1,100}\.(?:ya?ml|ini|conf|cfg|toml|env|log|key|pem|properties|lock|sock|pid|sqlite3?|tmp))['\"`]"),
    _pattern("a file of the server", "/app|/code|/data|/build|/deploy|/workspace|/function|/storage", r"\b(?:[Ff]ailed to (?:read|write|open|load|create)|(?:cannot|can't|could not|unable to) (?:read|write(?: to)?|open|load|create|access)|[Nn]o space left on)\b[^\n/]{0,24}[ '\"`](?P<place>/(?:app|code|data|builds?|deploy|workspace|function|storage)/[\w.@+~/-]{1,200})|(?<![\w/.:*}>-])(?P<other>/(?:app|code|data|builds?|deploy|workspace|function|storage)/[\w.@+~/-]{1,200}) (?:could not be|cannot be|is not) (?:read|opened|written|writable|readable|loaded)", accept=evidence.is_file_path),
    _pattern("a path of the server", "/workspace/", r"(?<![\w/.:*}>-])/workspace/(?:go/)?src/[\w./-]{2,200}", accept=evidence.is_file_path),
)

CREDENTIALS = (
    _pattern("a token of a session", "sess|sid|csrf|xsrf|auth|remember_token", r"(?<![\w-])(?:[\w.-]{0,30}(?:sess(?:ion)?(?:[._-]?id)?|sess\w{0,6}id|\.sid|_sid|csrftoken|xsrf-token|auth|remember_token))=(?P<value>(?:s%3A)?[\w%.~+/-]{16,400})", accept=evidence.is_session, flags=_I),
    _pattern("a token", "token|session|secret|key|auth", r"\b(?:(?:refresh|access|id|session|auth|bearer|api|client|reset|invite|device|oauth|personal|deploy|service|signing|shared|encryption|hmac|webhook|private)[ _-]?(?:token|secret|key)|session|token|auth(?:orization)?: (?:token|digest|apikey|negotiate|hmac|aws4)|secret)\b(?: \w{2,12}){0,2}[ :=\"'`]{1,4}(?P<value>(?=[\w~.+/-]{0,60}\d)(?=[\w~.+/-]{0,60}[A-Za-z])[\w~.+/-]{20,400}={0,2})(?![\w-])", accept=evidence.is_token, flags=_I),
    _pattern("a password", "pass|pwd|credential|basic auth|login", r"(?<![A-Za-z0-9])(?:password|passwd|passphrase|pwd)\b(?: (?:is|was|of|for))?[ :=]{1,3}(?:[\"'`](?P<quoted>[^\s\"'`<>{}*]{6,100})[\"'`]|(?P<bare>(?=[^\s\"'`,;)]{0,60}\d)(?=[^\s\"'`,;)]{0,60}[!@#$%^&*?])[^\s\"'`,;)<>{}]{6,100}))|\b(?:credentials|basic auth(?:entication)?|login|user:pass(?:word)?)[ :=]{1,3}[\w.@-]{2,60}:(?P<pair>(?=\S{0,60}\d)[^\s\"'`,;)<>{}/]{6,100})(?=[\s\"'`,;)]|$)|\b(?:user(?:name)?|login|uid)\s?[=:]\s?[^\s,;&]{1,60}[ ,;&]{1,2}pass\s?[=:]\s?(?P<after>[^\s,;&<>{}*]{4,100})", accept=evidence.is_password, flags=_I),
    _pattern("the hash of a password", "$2|$argon2|pbkdf2|$6$|$5$|$1$|$y$|$scrypt|{ssha|{sha|scrypt:", r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{20,60}|\$argon2(?:id|i|d)\$[\w=,$+/.-]{20,300}|\bpbkdf2[_:][\w:]{3,20}\$\d{3,8}\$[\w+/=$]{20,300}|\$(?:1|5|6|y)\$[\w=./$]{20,300}|\{S?SHA(?:256|512)?\}[\w+/]{20,200}={0,2}|\bscrypt:\d{3,6}:\d:\d\$\S{20,300}", flags=_I),
    _pattern("a signature", "signature=|sig=|sharedaccesssignature|signature mismatch", r"\b(?:X-Amz-Signature|X-Goog-Signature|Signature)=[0-9a-f]{40,128}\b|[?&; ]sig=[\w%+/-]{30,120}(?:%3D|=)?|\bSharedAccessSignature\b\S{0,4} ?sr=|\bsignature mismatch\b[^\n]{0,30}?\b[0-9a-f]{32,128}\b", flags=_I),
    _pattern("a token that names its vendor", "q~", r"(?<![\w~])[\w.~-]{3}\dQ~[\w.~-]{24,40}(?![\w~])"),
    _pattern("a token that names its vendor", "gocspx-|1//0|ssws |access-production-|access-sandbox-|access-development-|access_token$|aqvn|flwseck-|key-|tok_|sk.eyj", r"\bGOCSPX-[\w-]{20,40}|(?<!\w)1//0[\w-]{30,200}|\bSSWS [\w-]{30,60}|\baccess-(?:production|sandbox|development)-[0-9a-f-]{36}\b|\baccess_token\$(?:production|sandbox)\$[0-9a-z]{10,20}\$[0-9a-f]{32}|\bAQVN[\w-]{30,50}\b|\bFLWSECK-[0-9a-zA-Z]{20,40}|(?<![\w-])key-[0-9a-f]{32}\b|\bsk\.eyJ[\w.-]{20,300}|\btok_[0-9A-Za-z]{20,60}\b"),
    _pattern("a bot's token", ".", r"(?<![\w.-])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,40}(?![\w.-])"),
    _pattern("a private key", "b3blbnnzac1rzxktdje|private_key_id", r"\bb3BlbnNzaC1rZXktdjE\w{10,200}|\bprivate_key_id[\"':= ]{1,5}[0-9a-f]{40}\b"),
    _pattern("a JSON Web Token", "eyj", r"\beyJ[A-Za-z0-9_-]{12,4000}\.eyJ[A-Za-z0-9_-]{4,4000}(?:\.{2,3}|…|\b)"),
    _pattern("a key or a one-time password", "hmac key|encryption key|signing key|cipher key|master key|shared key|digest username|otp|one-time|verification code|2fa", r"\b(?:HMAC|encryption|signing|cipher|master|shared) key[ :=\"'`]{1,4}[0-9a-f]{32,128}\b|\bDigest username=[^\n]{1,200}?response=|\b(?:OTP|one-time (?:code|password|passcode)|verification code|2FA code)(?: is|:|=)? ?[\"'`]?\d{6,8}\b(?! digits)", flags=_I),
)
# fmt: on
