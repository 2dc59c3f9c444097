"""Patterns of the products that a service is built from, where the service calls them its own."""

from faultspec.leaks.evidence import callers
from faultspec.leaks.pattern import Pattern
from faultspec.leaks.pattern import pattern as _pattern

_STORES = "PostgreSQL|Postgres|MySQL|MariaDB|Oracle|SQL Server|SQLite|MongoDB|Mongo|Redis|Valkey|memcached|RabbitMQ|Kafka|Elasticsearch|OpenSearch|Solr|Cassandra|ScyllaDB|CouchDB|DynamoDB|ClickHouse|Snowflake|BigQuery|etcd|ZooKeeper|NATS|ActiveMQ|Pulsar|Neo4j|InfluxDB|Consul|HashiCorp Vault|MinIO|Celery|Sidekiq|Hazelcast|Couchbase"
"""Stores, brokers and caches, as in the list of DB-Engines and the CNCF landscape."""

_LIBRARIES = "Gson|Jackson|Hibernate|HikariCP|Hikari|SQLAlchemy|Xerces|Sequelize|Prisma|TypeORM|Dapper|Entity Framework|Netty|Feign|Resilience4j|Hystrix|Nginx|HAProxy|Envoy|Traefik|Istio|Varnish|Tomcat|Jetty|gunicorn|uvicorn|Puma|ImageMagick|Ghostscript|FFmpeg|LibreOffice|wkhtmltopdf|Kubernetes|Nomad|Airflow|Keycloak"
"""Libraries, proxies and servers of applications."""

_RUNTIMES = r"Java|JDK|JVM|Python|PHP|Ruby|Node(?:\.js)?|\.NET(?: Core| Framework)?|Go|Rails|Django|Laravel|Spring Boot|Debian|Ubuntu|CentOS|Windows Server"
"""Runtimes, frameworks and systems. They count only with a version: callers use them too."""

_OFFER = r"(?! (?:SDKs?|clients?|connectors?|docs|documentation|guides?|tutorials?|plans?|offering|integrations?|librar(?:y|ies)|drivers?|APIs?|operators?|images?|plugins?|add-ons?|adapters?|packages?|modules?|examples?|support|courses?|hosting|products?|templates?|interfaces?|providers?|tier|pricing|compatible)\b|-compatible)"
"""Words after the name of a product that the service offers to its callers."""

_PARTS = (
    r"(?:node|shard|broker|replica|primary|standby|partition|master|slave|sentinel|coordinator)"
)
"""Parts of a store that runs on several machines."""

# A row is one pattern, on one line however long: what it finds, its needles, the expression.
# ruff: noqa: E501
# fmt: off
TECHNOLOGIES: tuple[Pattern, ...] = (
    _pattern("a product behind the service", "our ", rf"\b(?:[Oo]ur|where our|on our) (?:\w{{2,12}} )?(?i:{_STORES}|{_LIBRARIES})(?![\w-]){_OFFER}"),
    _pattern("a product behind the service", "we |we're ", rf"\b[Ww]e(?: are|'re)? (?:still )?(?:run(?:ning)?|use|using|leave|left|on|switched to|migrat\w{{2,5}} (?:to|from))(?: on)? (?:\w{{2,12}} )?(?:(?:{_STORES}|{_LIBRARIES})(?![\w-]){_OFFER}|(?:{_RUNTIMES}) \d)"),
    _pattern("a product behind the service", "our ", rf"\b[Oo]ur (?:\w{{2,12}} )?(?:{_RUNTIMES}) v?\d{{1,4}}(?:\.\d{{1,3}})?(?![\w-]){_OFFER}"),
    _pattern("a product behind the service", "postgres|mysql|mariadb|mongo|redis|memcached|rabbitmq|elastic|opensearch|cassandra|clickhouse|etcd|zookeeper|kafka|valkey", rf"\b(?:Postgres(?:QL)?|MySQL|MariaDB|MongoDB|Redis|Valkey|[Mm]emcached|RabbitMQ|Elasticsearch|OpenSearch|Cassandra|ClickHouse|etcd|ZooKeeper|Kafka) {_PARTS} (?:\d|[\"'`]|is |was |has |lost|keeps|did |does )", accept=callers.is_of_service),
    _pattern("a product behind the service", "lucene_version|you know, for search", r"\blucene_version\b|\bYou Know, for Search\b"),
    _pattern("a library of the service", "xerces|gson|hikari|hibernate|jackson", r"\b(?:in|by|of|from|our) (?:Xerces|Gson|HikariCP|Hikari|Hibernate|Jackson)\b(?! (?:Hole|Avenue|Street|Square|Park))", accept=callers.is_code_of_service),
    _pattern("a build of the service", "build ", r"\b(?:[Rr]oll(?:ing|ed)?[ -]?back|[Rr]ollback|[Dd]eploy(?:ed|ing|ment)?|[Rr]oll(?:ing|ed)? out|[Rr]eleas(?:ed|ing))\b[^\n.]{0,24}\bbuild v?\d[\w.-]{3,40}", accept=callers.is_of_service),
)
# fmt: on
