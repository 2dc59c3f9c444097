"""Sentences that runtimes, frameworks, databases and platforms write: a table of templates.

In a template ``{}`` is a few characters of the same line, ``{w}`` a name, ``{n}`` a number, ``{c}``
a name with a capital, ``{k}`` the name of a class. All else is literal, with upper and lower case
as written. The longest literal part is the needle.
"""

import re
from collections.abc import Iterator

from faultspec.leaks.pattern import Pattern

_BLANKS = {
    "{}": r"[^\n\x00]{1,80}?",
    "{w}": r"[\w.$:\\/<>`\[\]-]{1,100}",
    "{n}": r"\d{1,12}",
    "{c}": r"[A-Z]\w{0,60}(?:[.:\\]{1,2}[A-Z]\w{0,60}){0,8}",
    "{k}": r"(?:(?:[A-Z][a-z0-9]{1,30}){2,6}|\w{1,60}(?:\\{1,2}\w{1,60}){1,8})",
}
_BLANK = re.compile(r"(\{[nwck]?\})")


def _expression(template: str) -> str:
    """The regular expression of a template; a word at its edge is a whole word."""
    body = "".join(_BLANKS.get(part) or re.escape(part) for part in _BLANK.split(template))
    first = r"(?<!\w)" if re.match(r"\w", template) else ""
    last = r"(?!\w)" if re.search(r"\w$", template) else ""
    return f"{first}{body}{last}"


def _needle(template: str) -> str:
    """The longest literal part of a template."""
    return max((part for part in _BLANK.split(template) if part not in _BLANKS), key=len)


_TOGETHER = 12
"""Templates of one pattern: a needle in the text costs a search for as many templates."""


def _patterns(table: dict[str, str]) -> Iterator[Pattern]:
    for what, lines in table.items():
        templates = [line.strip() for line in lines.strip().splitlines()]
        for start in range(0, len(templates), _TOGETHER):
            part = templates[start : start + _TOGETHER]
            needles = tuple(dict.fromkeys(_needle(template).lower() for template in part))
            expression = "|".join(map(_expression, part))
            yield Pattern(what, needles, expression, re.MULTILINE | re.ASCII)


RUNTIMES = tuple(
    _patterns(
        {
            "a sentence of the JVM": """
                lateinit property {w} has not been initialized
                Ask timed out on [Actor[
                cannot be cast to class
                ResultSet column
                No enum constant {w}.
                " because "this.
                because "<local
                common frames omitted
                Java heap space
                Could not execute JDBC
                because the return value of "
                GC overhead limit exceeded
                PKIX path building failed
                valid certification path to requested target
                No entity found for query
                Exception in thread {w}
                query did not return a unique result
                ThreadPoolTaskExecutor
                ThreadPoolExecutor
                Thread[main,
                java.base/
                Mapped Statements collection does not contain
                Did not observe any item or terminal signal
                (of class scala.
                (in unnamed module of loader
                lazy loading outside
                active EntityManager
                EntityManager is closed
                EntityManager
                PersistenceContext
                session is closed!
                Session is closed!
                could not initialize proxy
                No Hibernate Session
                LazyInitialization{w}
                Unknown named query
                identifier of an instance of
                a different object with the same identifier
                Found shared references to a collection
                A collection with cascade="all-delete-orphan"
                Batch update returned unexpected row count
                ids for this class must be manually assigned
                No identifier specified for entity
                could not determine type for
                Cannot create TypedQuery
                Not-null property references a null
                not-null property references
                was not in the identity map
                Could not commit JPA transaction
                Could not roll back JPA transaction
                JTA transaction
                UserTransaction
                Transaction silently rolled back
                marked as rollback-only
                Before start of result set
                After end of result set
                Exhausted Resultset
                ResultSet is closed
                ResultSet exhausted
                ResultSet
                PreparedStatement
                No suitable driver found for
                Cannot load JDBC driver
                Invalid lambda deserialization
                has been compiled by a more recent version
                because "{w}" is null
                because the return value of
                cannot access a member of class
                cannot access class {w} (
                module {w} does not "opens
                wrong name: {w}/{w}
                Could not find or load main class
                Invalid or corrupt jarfile
                unable to create native thread
                unable to create new native thread
                Metaspace
                Direct buffer memory
                Requested array size exceeds VM limit
                Comparison method violates its general contract
                For input string: "
                Unparseable date: "
                Index {n} out of bounds for length {n}
                Index: {n}, Size: {n}
                String index out of range: {n}
                begin {n}, end {n}, length {n}
                Premature EOF
                Unrecognized SSL message
                no cipher suites in common
                PKIX path validation failed
                handshake_failure
                javax.net.ssl
                Connection is not available, request timed out after
                Timeout waiting for connection from pool
                Cannot get a connection, pool error
                Unable to acquire JDBC
                Failed to obtain JDBC
                Circuit breaker{} is OPEN
                Bulkhead '{w}' is full
                RateLimiter '{w}' does not permit
                TimeLimiter '{w}' recorded
                HystrixRuntime{w}
                resilience4j
                does not permit further calls
                Missing URI template variable
                Optional int parameter '
                Required request body is missing: {w}
                Failed to instantiate [
                Failed to read candidate component
                BeanFactory
                ApplicationContext
                beanName
                BeanDefinition
                Injection of autowired dependencies
                Unsatisfied dependencies for type
                Ambiguous dependencies for type
                injection point [
                with qualifiers @
                @Inject
                @Autowired
                @Transactional
                @PostConstruct
                @Default
                No implementation for {w} was bound
                No bean of type [{w}]
                io.vertx
                org.http4s
                Could not decode JSON
                slick.{w}
                akka.{w}
                pekko.{w}
                Actor[{w}
                ActorSystem
                cats.effect
                FiberFailure
                scala.MatchError
                $anonfun
                $$anon
                $$Lambda
                $$EnhancerBy
                $$FastClassBy
                $Proxy{n}
                $Companion
                EnhancerBySpring
                by CGLIB
                ByteBuddy
                HibernateProxy
                Caused by: {w}
                OWB-{n}
                WELD-00{n}
                WFLY{w}{n}
                WFLYEJB{n}
                JBAS0{n}
                ARJUNA{n}
                ELY0{n}
                MSC0{n}
                TEIID{n}
                CWWK{w}:
                CWWJP{w}
                CNTR0{n}E
                DSRA{n}E
                J2CA{n}E
                WSVR{n}E
                WTRN{n}E
                SRVE{n}E
                EclipseLink-{n}
                Internal Exception: {w}
                openjpa-{n}
                OSB-{n}
                ADF_{w}
                JBO-{n}
                MULE_ERROR
                RouteNode
                CamelExecution{w}
                KotlinNullPointer{w}
                Parent job is Cancelling
                StandaloneCoroutine
                JobCancellation{w}
                kotlin.Unit
                kotlin.Result
                Serializer for class '
                Field '{w}' is required for type with serial name
                No cached resolution for
                groovy.lang
                No signature of method:
                Cannot invoke method {w}() on null object
                Cannot get property '{w}' on null object
                clojure.{w}
                Unable to resolve symbol: {w} in this context
                Don't know how to create ISeq
                Wrong number of args ({n}) passed to
                No implementation of method: :
                """,
            "a sentence of Spring": """
                No property '{w}' found for type '
                Could not resolve placeholder '
                Consider defining a bean of type
                CircuitBreaker '{}' is OPEN
                CircuitBreaker '{}' is HALF_OPEN
                I/O error on GET request for "
                I/O error on POST request for "
                I/O error on PUT request for "
                I/O error on DELETE request for "
                Load balancer does not contain an instance for the service
                handler registered for bean '
                required a bean named '
                required a bean of type '
                bean named '{w}'
                Ambiguous handler methods mapped for
                Neither BindingResult nor plain target object
                explicit mapping for /error
                Circular view path [
                class path resource [
                classpath:
                Failed to bind properties under '
                Failed to load property source
                """,
            "a sentence of Java EE": """
                MessageBodyReader of content-type
                MessageBodyWriter
                Could not find resource for full path
                The full stack trace of the root cause
                Type Exception Report
                WebGroup/Virtual Host to handle
                JBWEB0{n}
                RESTEASY{n}
                HV000{n}:
                SRVE0{n}E
                BEA-{n}
                """,
            "a sentence of Python": """
                During handling of the above exception
                The above exception was the direct cause
                {n} validation error for {c}
                {n} validation errors for {c}
                {n} validation errors: {'
                [type={w}, input_value=
                invalid literal for int() with base
                could not convert string to float: '
                maximum recursion depth exceeded
                <built-in {w}
                <bound method {w}
                Exception in ASGI application
                Error handling request /
                cannot pickle '
                offset-naive and offset-aware
                codec can't decode byte
                codec can't encode character
                expected string or bytes-like object
                No module named '
                cannot import name '
                partially initialized module '
                dictionary changed size during iteration
                dict_keys([
                dict_values([
                dict_items([
                defaultdict(<
                OrderedDict([(
                <QuerySet [
                Order object (
                object ({n}) has no
                get() returned more than one {w} -- it returned
                DoesNotExist: {w}
                indices must be integers or slices
                not supported between instances of '
                name '{w}' is not defined
                cannot be called from a running event loop
                greenlet_spawn has not been called
                Session's transaction has been rolled back
                is not bound to a Session
                QueuePool limit of size
                Working outside of application context
                Working outside of request context
                caught an exception in your WSGI
                powered traceback interpreter
                <Response [{n}]>
                Max retries exceeded with url
                exited prematurely: signal
                Event loop is closed
                Traceback Switch to copy-and-paste view
                Cannot connect to host {w}:{n} ssl:
                NewConnectionError(
                RemoteDisconnected('
                wsgi.multithread
                was never awaited
                generator didn't yield
                __init__
                __getitem__
                __setitem__
                __getattr__
                __enter__
                __exit__
                __main__
                __dict__
                __iter__
                __repr__
                __tablename__
                NoneType
                object is not callable
                object is not subscriptable
                can't be used in 'await' expression
                got Future <{w}
                attached to a different loop
                There is no current event loop
                Task was destroyed but it is pending
                coroutine {w} was never awaited
                Exception ignored in
                generator already executing
                generator raised StopIteration
                too many values to unpack
                not enough values to unpack
                cannot unpack non-iterable
                argument after ** must be a mapping
                missing {n} required positional
                missing {n} required keyword-only
                takes {n} positional argument
                takes from {n} to {n} positional
                property '{w}' of '{w}' object has no setter
                super-class __init__
                abstract class {w} with abstract method
                Can't instantiate abstract class
                is not an instance of {w} class
                issubclass() arg 1
                isinstance() arg 2
                must be a string, a bytes-like object or
                must be real number, not
                must be an iterable, not
                argument of type '{w}' is not iterable
                argument should be integer or
                not all arguments converted
                unsupported format character
                unsupported operand type
                bad operand type for unary
                list.remove(x): x not in list
                list index out of range
                tuple index out of range
                string index out of range
                pop from an empty {w}
                integer division or modulo by zero
                float division by zero
                Exceeds the limit ({n} digits) for integer string conversion
                time data '{}' does not match format
                unconverted data remains:
                badly formed hexadecimal UUID string
                I/O operation on closed file
                read of closed file
                unpack requires a buffer
                struct.error
                pickle data was truncated
                invalid load key, '
                object is not JSON serializable
                Out of range float values are not JSON
                Expecting value: line 1 column 1 (char 0)!
                [Errno {n}]
                [SSL: {w}]
                CERTIFICATE_VERIFY_FAILED
                WRONG_VERSION_NUMBER
                EOF occurred in violation of protocol
                _ssl.c:{n}
                HTTPConnectionPool
                HTTPSConnectionPool
                urllib3.{w}
                Read timed out. (read timeout=
                IncompleteRead(
                ChunkedEncodingError
                NameResolutionError(
                ProtocolError(
                httpx.{w}
                httpcore.{w}
                aiohttp.{w}
                ServerDisconnectedError
                ClientConnectorError
                Server disconnected without sending
                All connection attempts failed
                psycopg.{w}
                sqlalchemy.{w}
                StaleDataError
                DetachedInstanceError
                PendingRollbackError
                MultipleResultsFound
                Multiple rows were found when
                No row was found when one was required
                NoResultFound
                InvalidRequestError
                Can't reconnect until invalid
                Object '<{w} at 0x
                Parent instance <
                One or more mappers failed to initialize
                Could not locate a bind configured
                Mapper[{w}
                Table '{w}' is already defined for this MetaData
                (Background on this error at
                tortoise.{w}
                peewee.{w}
                {c} matching query does not exist
                matching query does not exist
                Field '{w}' expected a number but got
                needs to have a value for field
                You cannot call this from an async context
                can't execute queries until the end of the 'atomic' block
                atomic' block
                Apps aren't loaded yet
                SECRET_KEY setting must not be empty
                doesn't declare an explicit app_label
                AUTH_USER_MODEL
                CSRF verification failed. Request aborted.!
                ViewDoesNotExist
                didn't return an HttpResponse
                The view {w} didn't return
                RuntimeError('
                OSError(
                KeyError('
                TemplateSyntaxError
                jinja2
                Could not build url for endpoint
                View function {w} did not return
                RuntimeError: No active
                unhandled errors in a TaskGroup
                ExceptionGroup
                Input should be a valid {} [type=
                celery.{w}
                numpy.{w}
                pandas.{w}
                DataFrame
                KeyError: {w}
                None of [Index([
                operands could not be broadcast together
                CUDA out of memory
                CUDA error
                torch.{w}
                RuntimeError: {w}
                """,
            "a sentence of Node": """
                argument must be of type string. Received
                argument must be of type {}. Received {}
                buffering timed out after {n}ms
                No metadata for "{w}" was found
                {w} validation failed: {w}: Path `
                Path `{w}` is required
                Nest can't resolve dependencies
                [ExceptionsHandler]
                Cannot access '{w}' before initialization
                Cannot use 'in' operator to search for
                socket hang up
                at <anonymous>:{n}
                unhandled promise rejection
                Unhandled promise rejection
                unhandledRejection
                Unhandled Rejection at
                All promises were rejected
                TypeError: fetch failed
                Objects are not valid as a React child
                Hydration failed because
                Knex: Timeout acquiring a connection
                Require stack:
                IncomingMessage.onAborted
                at Object.<anonymous>
                EventEmitter memory leak detected
                unable to verify the first certificate
                self signed certificate in certificate chain
                self-signed certificate in certificate chain
                UNABLE_TO_VERIFY_LEAF_SIGNATURE
                DEPTH_ZERO_SELF_SIGNED_CERT
                read ECONNRESET
                write EPIPE
                Element type is invalid: expected a string
                Nuxt instance unavailable
                Uncaught (in promise)
                process.env.{w} is
                is not a constructor (
                is not a function. (In
                is not iterable (cannot read
                null is not an object
                undefined is not an object
                Cannot read properties of
                Cannot set properties of
                Cannot convert a Symbol
                Cannot convert a BigInt
                Cannot mix BigInt
                Do not know how to serialize a BigInt
                Assignment to constant variable
                Reduce of empty array with no initial value
                Class constructor {w} cannot be invoked
                Must call super constructor
                Cannot add property {w}, object is not extensible
                Cannot assign to read only property
                Method {w} called on incompatible receiver
                Right-hand side of 'instanceof'
                Private field '#
                Spread syntax requires
                Identifier '{w}' has already been declared
                Unexpected token 'export'
                Cannot use import statement outside
                await is only valid in
                require is not defined
                require() of ES Module
                Module not found: Error
                Module parse failed
                does not provide an export named
                Package subpath '
                Unhandled error. (
                ERR_{w}: {w}
                [ERR_{w}]
                code: 'E{w}'
                syscall: '{w}'
                getaddrinfo E{w}
                connect E{w} {w}
                EAI_AGAIN
                UND_ERR_{w}
                ERR_BAD_{w}
                HPE_{w}
                Parse Error: Expected HTTP/
                Headers Timeout Error
                Body Timeout Error
                other side closed
                stream.push() after EOF
                Cannot pipe, not readable
                Can't set headers after they are sent
                request entity too large at
                Error: {w} at {w} (
                Object.<anonymous>
                new Promise (<anonymous>)
                processTicksAndRejections
                node:internal
                node:{w}
                JavaScript heap out of memory
                <--- Last few GCs
                SequelizeUnique{w}
                SequelizeForeign{w}
                SequelizeConnection{w}
                SequelizeTimeout{w}
                SequelizeAccess{w}
                SequelizeEager{w}
                is not associated to {w}!
                Naming collision between attribute
                EntityMetadata
                RepositoryNotTreeError
                CustomRepository{w}
                QueryRunnerAlready{w}
                TransactionNotStarted{w}
                MissingPrimaryKeyError
                CannotExecute{w}
                DataSource is not
                Connection "default" was not found
                MikroORM
                Entity '{w}' was not discovered
                Using global EntityManager instance
                Invalid `{}` invocation
                in the Prisma schema
                DrizzleError
                Undefined binding(s) detected
                Unable to acquire a connection
                NestApplication
                Nest could not find
                UnknownDependencies{w}
                UnknownElement{w}
                Cannot return null for non-nullable field
                Cannot determine GraphQL
                Minified React error
                getServerSideProps
                getStaticProps
                `getServerSideProps`
                Error serializing `
                NEXT_{w}: {w}
                DYNAMIC_SERVER_USAGE
                TRPCError
                No "query"-procedure on path
                ZodError
                AssertionError [ERR
                AbortError:
                Deno.{w}
                Bun v{n}
                error: Uncaught
                ReferenceError
                """,
            "a sentence of Go": """
                interface conversion: interface
                interface conversion: {w} is
                assignment to entry in nil map
                strconv.{w}: parsing
                cannot parse "{}" as "
                executable file not found in $PATH
                errors.errorString
                fmt.wrapError
                %!{w}({w}=
                %!v(PANIC
                %!s(<nil>)
                %!d(<nil>)
                (MISSING)
                (BADINDEX)
                %!(EXTRA
                context deadline exceeded
                json: unsupported type:
                server gave HTTP response to HTTPS client
                first record does not look like a TLS handshake
                too many open files
                all goroutines are asleep
                fatal error: concurrent map
                reflect: call of reflect.
                read: connection reset by peer
                write: broken pipe
                tls: failed to verify certificate
                tls: handshake failure
                remote error: tls:
                client connection is closing
                Error while dialing
                use of closed network connection
                reflect.{w}: {w}
                json: cannot unmarshal
                json: Unmarshal(
                json: unknown field
                json: invalid use of
                invalid indirect of
                sql: no rows
                sql: transaction has already
                sql: database is closed
                sql: Scan error
                driver: bad connection
                unsupported Scan, storing driver.Value
                unsupported driver -> Scan pair
                converting driver.Value type
                converting NULL to
                gorm.{w}
                sqlx: {w}
                pgx: {w}
                pgconn.{w}
                no rows in result set
                missing destination name {w} in
                cannot find field {w} in returned row
                http: Server closed
                http: request body too large
                http: named cookie not present
                http: no such file
                http: superfluous response.WriteHeader
                http2: {w}
                net/http:
                net/url:
                first path segment in URL cannot contain colon
                x509: {w}
                x509:
                yaml: line
                html/template:
                can't evaluate field {w} in type
                nil data; no entry for key
                fork/exec
                os/exec
                bufio.{w}: token too long
                bufio.Scanner:
                bytes.Buffer: {w}
                io: read/write on closed pipe
                sync: negative WaitGroup counter
                sync: unlock of unlocked mutex
                send on closed channel
                close of closed channel
                close of nil channel
                makeslice: len out of range
                slice bounds out of range
                invalid memory address
                nil pointer dereference
                hash of unhashable type
                integer divide by zero
                negative shift amount
                is nil, not {w}
                map[string]interface
                map[string]any
                []interface {}
                []uint8
                %!w(
                %!f(
                %!x(
                %!q(
                %!t(
                %!(BAD
                (NOVERB)
                main.main()
                main.{w}(
                runtime.{w}(
                runtime.gopanic
                runtime.goexit
                runtime.main
                net/http.(
                net/http.HandlerFunc
                goroutine {n}
                [recovered]
                '{w}' expected type '{w}', got unconvertible
                decoding failed due to
                go-redis
                confluent-kafka-go
                grpc: {w}
                rpc error:
                desc = {w}
                k8s.io/{w}
                the object has been modified; please apply your changes
                no kind is registered for the type
                no matches for kind "
                admission webhook "
                in API group "
                at the cluster scope
                """,
            "a sentence of Rust": """
                Error { kind: {w}
                task {n} panicked
                Os { code: {n}, kind:
                Error { {w}: {w}
                while waiting for an open connection
                index out of bounds: the len is {n} but the index is
                attempt to subtract with overflow
                attempt to add with overflow
                attempt to multiply with overflow
                attempt to divide by zero
                RUST_BACKTRACE
                rust_begin_unwind
                rust_panic
                error[E{n}]
                error trying to connect:
                tcp connect error
                dns error: failed to lookup address information
                Error("{}", line: {n}, column: {n})
                error returned from database:
                already borrowed: BorrowMutError
                BorrowMutError
                byte index {n} is not a char boundary
                poisoned lock
                PoisonError
                Box<dyn
                Rc<RefCell<
                dyn std::
                called `Option::
                called `Result::
                not implemented: {w}::
                internal error: entered unreachable code
                entered unreachable code
                assertion `left == right` failed
                assertion failed: `(left
                slice index starts at
                range end index {n} out of range
                range start index {n} out of range
                index {n} out of range for slice
                byte index {n} is out of bounds
                attempt to calculate the remainder
                attempt to negate with overflow
                invalid utf-8 sequence of
                incomplete utf-8 byte sequence
                already mutably borrowed
                BorrowError
                RecvError
                SendError
                TryRecvError
                TryLockError
                JoinError
                AccessError
                Elapsed(())
                there is no reactor running
                Cannot start a runtime from within a runtime
                Cannot drop a runtime
                must be called from the context of a Tokio
                tokio-runtime-worker
                tokio::{w}
                hyper::{w}
                hyper_util
                axum::{w}
                actix_{w}
                actix-rt
                rocket::{w}
                tonic::{w}
                tower::{w}
                warp::{w}
                reqwest::{w}
                sea_orm::{w}
                SeaORM
                sqlx::{w}
                diesel::{w}
                rusqlite
                tokio_postgres
                bb8::{w}
                serde_json::{w}
                serde::{w}
                serde_{w}: {w}
                missing field `{w}` at line!
                error sending request for url (
                error decoding response body
                error following redirect for url
                connection closed before message completed
                error trying to connect
                invalid peer certificate
                UnknownIssuer
                CertExpired
                InvalidCertificate(
                Custom { kind:
                kind: UnexpectedEof
                kind: ConnectionRefused
                { kind: {w}
                source: Some(
                Database(
                Io(Custom
                Io(Kind
                Utf8Error
                FromUtf8Error
                TryFromIntError
                ParseFloatError
                ParseBoolError
                Backtrace [
                Location: {w}.rs
                memory allocation of {n} bytes failed
                """,
            "a sentence of Ruby": """
                can't convert nil into
                no implicit conversion of {w} into
                can't modify frozen
                stack level too deep
                cannot load such file --
                key not found: :
                comparison of {c} with {} failed
                can't be coerced into
                Puma caught this error
                Rails.root: /
                Full Trace
                Action Controller: Exception caught
                better_errors
                for an instance of {c}
                undefined local variable
                wrong number of arguments (
                missing keyword: :
                missing keywords: :
                unknown keyword: :
                unknown keywords: :
                protected method `
                superclass mismatch for class
                (NoMethodError)
                (NameError)
                (ArgumentError)
                (TypeError)
                (RuntimeError)
                (KeyError)
                (StandardError)
                (ZeroDivisionError)
                (IOError)
                (LoadError)
                (NotImplementedError)
                fiber called across threads
                deadlock; recursive locking
                No live threads left. Deadlock?
                invalid byte sequence in UTF-8
                incompatible character encodings
                from UTF-8 to ASCII-8BIT
                ASCII-8BIT
                Failed to open TCP connection to
                SSL_connect returned=
                SSL_connect SYSCALL
                getaddrinfo: {w}
                No such file or directory @ rb_
                Permission denied @ rb_
                @ rb_sysopen
                Net::{w}
                OpenSSL::{w}
                Errno::{w}
                ActiveRecord
                ActiveModel
                ActionView
                ActionController
                ActionDispatch
                ActiveSupport
                ActiveStorage
                ActiveJob
                Sequel::{w}
                Grape::{w}
                Rack::{w}
                Sidekiq::{w}
                CanCan
                Bundler::{w}
                Gem::{w}
                .rvm/
                /gems/
                app/controllers
                could not obtain a connection from the pool within
                Migrations are pending
                migrations are pending
                secret_key_base
                Missing `secret_key_base`
                credentials.yml.enc
                couldn't decrypt
                Validation failed: {w}::
                NilClass
                for nil:
                (eval at /
                dry-{w}
                Dry::{w}
                Psych::{w}
                """,
            "a sentence of PHP": """
                (): (HY000/
                Notice: Undefined
                Warning: Undefined
                Warning: {w}():
                PHP Warning:
                PHP Notice:
                PHP Deprecated:
                PHP Fatal
                Class "{k}" not found
                Class '{k}' not found
                syntax error, unexpected token
                syntax error, unexpected '
                Allowed memory size of {n} bytes exhausted
                (tried to allocate {n} bytes)
                Maximum execution time of {n}
                could not be converted to string
                Array to string conversion
                Undefined offset: {n}
                Call to a member function
                Typed property {c}
                Unsupported operand types:
                (): Argument #{n}
                foreach() argument must be
                argument supplied for foreach()
                headers already sent
                expects parameter {n} to be
                of non-object
                unserialize(): Error
                failed to open stream
                Failed opening required
                The MAC is invalid.
                application encryption key has been specified
                #{n} {main}
                #{n} [internal function]
                must not be accessed before initialization
                Attempt to read property "
                Cannot use object of type
                Uncaught {c}:
                Uncaught Exception
                Uncaught exception:
                Uncaught TypeError
                Serialization of '
                service or alias has been removed or inlined
                Cannot autowire service
                to fillable property to allow mass assignment
                (): Permission denied
                (): SSL operation failed
                A PHP Error was encountered
                An uncaught Exception was encountered
                Controller class {w} could not be found
                Missing Controller
                PHP Version {n}.
                mysqli_sql_exception
                PHP/{n}.
                looks like something went wrong. {n}/{n}
                stdClass
                Undefined array key
                Uninitialized string offset
                Illegal string offset
                Cannot access offset of type
                Cannot unset string offsets
                Cannot use string offset
                Cannot access parent::
                Cannot call abstract method
                Cannot declare class
                Cannot pass parameter {n} by reference
                Cannot assign {w} to property
                Cannot modify readonly property
                Only variables should be passed by reference
                Non-static method
                A non-numeric value encountered
                Division by zero in
                Modulo by zero
                Implicit conversion from float
                passed to {w}::{w}()
                passed to {w}() must be
                must be of type ?{w}
                must be an instance of {w}, {w} given
                Too few arguments to function
                Return value must be of type
                Object of class {w} could not be
                Call to undefined
                Call to private
                Call to protected
                Unhandled match case
                is not a valid backing value for enum
                Failed to open stream
                failed to open dir
                No such file or directory in
                in /{w}.php
                .php on line
                .php:{n}
                on line <b>
                Uncaught PDO{w}
                PDOException
                mysqli::{w}
                mysqli_{w}()
                PDO::{w}
                could not find driver
                General error: {n}
                Integrity constraint violation
                Base table or view not found
                cURL error {n}
                cURL error
                curl_exec()
                file_get_contents(
                file_put_contents(
                fopen(
                fsockopen(
                stream_socket_client
                SoapFault
                SoapClient
                SOAP-ERROR:
                simplexml_load_string
                DOMDocument::
                json_decode()
                preg_match():
                include_path=
                Illuminate\\
                QueryException
                MassAssignment{w}
                ModelNotFound{w}
                BindingResolution{w}
                Target [{w}] is not instantiable
                is not instantiable while building
                Unresolvable dependency resolving
                Route [{w}] not defined
                View [{w}] not found
                Method {w}::{w} does not exist
                Action {w}@{w} not defined
                Database connection [{w}] not configured
                Database hosts array is empty
                Unable to locate a class or view for component
                Attempt to assign property
                Attempt to read property
                Add [{w}] to fillable
                No application encryption key
                Unsupported cipher or incorrect key length
                Session store not set on request
                There is no existing directory at "
                The stream or file "
                could not be opened in append mode
                Symfony\\
                Doctrine\\
                Twig\\
                The EntityManager is closed
                A new entity was found through the relationship
                Class "{w}" is not a valid entity
                is not a valid entity or mapped super class
                Entity of type '{w}' for IDs
                was not found in the chain configured namespaces
                [Semantical Error]
                [Syntax Error] line
                You have requested a non-existent
                Circular reference detected for service
                Environment variable not found: "
                The controller must return a
                Neither the property "
                Zend\\
                Laminas\\
                yii\\
                CodeIgniter
                CakePHP
                Cake\\
                WordPress database error
                Error establishing a database connection
                There has been a critical error on this website
                Drupal\\
                Magento\\
                Composer\\
                phpinfo()
                $_SERVER[
                $_ENV[
                $_POST[
                $_GET[
                $_SESSION[
                $this->{w}
                Symfony Exception
                zend_mm_heap corrupted
                php-fpm
                """,
            "a sentence of .NET": """
                (Parameter '{w}')
                was not present in the dictionary
                Input string was not in a correct format
                outside the bounds of the array
                Unable to cast object of type
                ConnectionString property has not been initialized
                Cannot access a disposed object
                Cannot access a disposed context
                No service for type '
                The instance of entity type '
                Exception of type '
                Attempted to divide by zero
                Collection was modified; enumeration
                The timeout period elapsed prior to
                | LineNumber: {n}
                BytePositionInLine
                >d__{n}
                .MoveNext()
                A second operation was started on this context
                likely due to a transient failure
                The LINQ expression
                Execution Timeout Expired
                lambda_method(
                HRESULT
                It was not possible to connect to the redis
                The entity type '{c}'
                requires a primary key to be defined
                Unable to translate the given
                handler was not found for request of type
                Missing type map configuration
                Error converting value
                InvalidOperationException
                or its master was not found
                Microsoft VBScript runtime error
                ADODB.
                Run-time error '
                Object variable or With block
                Physical Path
                Source Error:
                Exception Details:
                IIS Web Core
                ExtensionlessUrlHandler
                An application error occurred on the server
                Struts Problem Report
                StatusCode="
                Error starting gRPC call
                HttpRequestException
                SocketException
                The SSL connection could not be established
                The remote certificate is invalid
                No connection could be made because the target machine
                An existing connection was forcibly closed
                A connection attempt failed because the connected party
                actively refused it
                Unable to read data from the transport connection
                The response ended prematurely
                The request was canceled due to the configured HttpClient.Timeout
                HttpClient.Timeout
                One or more errors occurred. (
                Object reference not set
                Specified argument was out of the range
                Specified cast is not valid
                Index was out of range. Must be
                Index and length must refer to a location
                Nullable object must have a value
                Operation is not valid due to the current state
                Object of type '{w}' cannot be converted
                Cannot implicitly convert
                Unable to cast object
                Could not load file or assembly
                The type initializer for
                Common Language Runtime
                Constructor on type '
                No parameterless constructor defined
                Cannot create an instance of
                Exception has been thrown by the target of an invocation
                Object synchronization method was called from
                Safe handle has been closed
                The process cannot access the file
                Could not find a part of the path
                Arithmetic operation resulted in an overflow
                Insufficient memory to continue
                Value was either too large or too small for
                An item with the same key has already been added
                The collection has been modified
                DbUpdate{w}
                DbContext
                DbSet
                EntityFramework
                Entity Framework
                Database operation expected to affect
                An error occurred while saving the entity changes
                cannot be tracked because
                There is already an open DataReader
                connection is broken and recovery is not possible
                Invalid attempt to call Read when reader is closed
                Invalid attempt to read when no data
                requires an open and available Connection
                The connection pool has been exhausted
                The timeout period elapsed prior to obtaining
                A transport-level error has occurred
                The configured execution strategy
                The property '{w}.{w}' could not be mapped
                The property '{w}' on entity type
                No suitable constructor was found for
                No database provider has been configured
                The LINQ expression '
                could not be translated. Either rewrite
                A tracking query is attempting
                Include has been used on non entity
                Cannot create a DbSet for
                Cannot resolve scoped service
                Some services are not able to be constructed
                Unable to resolve service
                No authenticationScheme was specified
                No authentication handler is registered
                The antiforgery token could not be decrypted
                The key {{} was not found in the key ring
                was not found in the key ring
                The request matched multiple endpoints
                AmbiguousMatch{w}
                AmbiguousAction{w}
                A possible object cycle was detected
                The JSON value could not be converted to
                Serialization and deserialization of '
                Self referencing loop detected
                Unexpected character encountered while parsing value:
                Cannot deserialize the current JSON
                Could not create an instance of type
                AutoMapper
                Missing type map
                MediatR
                MassTransit
                NServiceBus
                StackExchange.{w}
                No connection is active/available to service this operation
                Npgsql
                No row with the given identifier exists
                could not load an entity
                w3wp
                aspnet_{w}
                ASP.NET_{w}
                runtime error BC{n}
                error CS{n}
                Parser Error Message
                System.Web
                System.ServiceModel
                FaultException
                There was no endpoint listening at
                The maximum message size quota for incoming messages
                includeExceptionDetailInFaults
                IncludeExceptionDetailInFaults
                __ComObject
                COMException
                StackTrace:
                InnerException
                InnerException:
                ExceptionMessage
                ExceptionType
                >b__{n}
                <>c__{w}
                <>c.<{w}
                """,
            "a sentence of the BEAM": """
                request was dropped from queue after
                no function clause matching in
                no case clause matching
                expected at least one result but got none
                {:badmatch
                {:error, {w}
                {:noproc
                ** (Plug.
                no match of right hand side value
                %Ecto.
                #Ecto.
                #PID<{n}.{n}.{n}>
                #Reference<
                #Function<
                GenServer {w} terminating
                GenServer.call(
                gen_server,call
                %Plug.Conn{
                protocol {w} not implemented for
                is undefined (module {w} is not available)
                is undefined or private
                no route found for {w} {w} ({w})
                in function{}({w}.erl, line
                [{file,"
                REPORT====
                Reason for termination ==
                ** (exit)
                ({w}Error) {w}
                {noproc,
                {nocatch,
                {undef,[
                {timeout,{gen_
                {__struct__:
                __struct__
                %MapSet{
                #Ecto
                #Port<
                #{w}.Changeset<
                Ecto.{w}
                Phoenix.{w}
                Plug.{w}
                Postgrex
                Jason.{w}
                Poison.{w}
                GenServer
                GenStage
                (FunctionClauseError)
                (MatchError)
                (UndefinedFunctionError)
                (CaseClauseError)
                (WithClauseError)
                (Protocol.UndefinedError)
                (BadMapError)
                (ErlangError)
                (SystemLimitError)
                (stop) {w}
                (EXIT)
                (exit) exited in
                :gen_server
                :erlang.{w}
                :ets.{w}
                :timeout, {
                {:exit,
                {:shutdown,
                {:EXIT,
                {:nocatch,
                {:undef
                {:case_clause
                {:function_clause
                {:bad_return_value
                {:already_started
                {bad_return_value,
                {badkey,
                {badarity,
                {badfun,
                {badmap,
                {badrecord,
                {shutdown,
                {try_clause,
                {if_clause
                {error,{
                {exit,{
                {undef,
                bad return value:
                key {w} not found in: %{
                key :{w} not found
                cannot convert the given {w} to
                cannot encode association
                association {w} is not loaded
                Ecto.Association.NotLoaded
                association :{w} is not loaded
                expected struct to be
                attempting to cast or change association
                no process: the process is not alive
                the process is not alive
                no connection to {w}@
                erl_crash
                system_limit
                error_logger
                elixir_{w}
                errors were found at the given arguments
                the table identifier does not refer to an existing ETS table
                """,
            "a sentence of Perl": """
                Can't locate object method "
                in @INC
                Can't call method "
                DBD::{w}
                Use of uninitialized value
                Undefined subroutine &
                HASH(0x{w}
                ARRAY(0x{w}
                CODE(0x{w}
                Not an ARRAY reference
                Not a HASH reference
                Not a CODE reference
                requires explicit package name
                .pm line {n}
                .pl line {n}
                """,
            "a sentence of a script": """
                attempt to index a nil value
                attempt to index nil
                Lua script attempted
                attempt to index local
                attempt to index field
                attempt to index global
                attempt to call a nil value
                attempt to perform arithmetic on a nil value
                attempt to compare nil with
                attempt to concatenate a nil value
                attempt to concatenate local
                bad argument #{n} to '
                lua entry thread aborted
                : command not found
                sh: {n}: {w}: not found
                bin/sh:
                .sh: line {n}
                .ps1:{n}
                FullyQualifiedErrorId
                CategoryInfo
                Error in {w}({}) : object '
                .cr:{n}:{n} in
                .nim({n})
                coldfusion.
                CX_SY_{w}
                can't read "{w}": no such variable
                invoked from within
                """,
            "a sentence of a native program": """
                std::bad_alloc
                std::out_of_range
                std::runtime_error
                std::logic_error
                std::invalid_argument
                std::exception
                std::__{w}
                std::basic_{w}
                what():
                _M_range_check
                basic_string::
                Segmentation fault
                segmentation fault
                SIGSEGV
                SIGABRT
                SIGKILL
                killed by signal {n}
                signal: killed
                double free or corruption
                free(): invalid
                malloc():
                stack smashing detected
                Assertion `{}' failed
                AddressSanitizer
                ] Check failed:
                boost::
                undefined symbol: _{w}
                error while loading shared libraries
                __libc_start_main
                Access violation reading
                Access violation writing
                0xC0000005
                EXC_BAD_ACCESS
                [json.exception.
                nlohmann::
                pure virtual method called
                pure virtual function call
                R6025
                terminating with uncaught exception
                libc++abi
                libstdc++
                bad_alloc
                bad_cast
                bad_function_call
                bad_optional_access
                bad_variant_access
                bad_weak_ptr
                bad_any_cast
                bad optional access
                bad variant access
                length_error
                vector::reserve
                vector::at
                map::at
                deque::{w}
                stoi: no conversion
                basic_string: construction from null
                string_view::
                invalid stoi argument
                std::filesystem
                filesystem error:
                corrupted size vs. prev_size
                corrupted double-linked list
                munmap_chunk(): invalid pointer
                realloc(): invalid
                malloc_consolidate
                heap-buffer-overflow
                stack-buffer-overflow
                heap-use-after-free
                use-after-free
                ThreadSanitizer
                UndefinedBehaviorSanitizer
                LeakSanitizer
                runtime error: {w} overflow
                runtime error: load of
                buffer overflow detected
                Floating point exception
                signal {n} (SIG
                received signal {n}
                received signal SIG
                Aborted (core
                symbol lookup error
                version `{w}' not found
                GLIBC_{n}
                GLIBCXX_{n}
                cannot open shared object file
                undefined reference to
                .so.{n}(
                .so.{n}+0x
                .so+0x
                .so(
                .dll!{w}
                .exe!{w}
                .dll+0x
                .exe+0x
                __cxa_{w}
                __gnu_cxx
                __assert_fail
                __pthread
                __GI_{w}
                EXCEPTION_ACCESS_VIOLATION
                STATUS_ACCESS_VIOLATION
                Unhandled exception at 0x
                0xc0000{n}
                0xC0000{n}
                Debug Assertion Failed
                Assertion failed: (
                Backtrace:
                *** Aborted at {n}
                *** SIGSEGV
                *** Check failure stack trace
                rip=0x
                pc=0x
                PC: @
                si_code
                (gdb)
                Stack dump:
                folly::
                absl::
                google::protobuf
                grpc::
                grpc_core::
                boost.{w}
                boost::{w}
                QSql{w}
                Poco::
                cpp-netlib
                oatpp::
                drogon::
                crow::
                uncaught exception of type
                [libprotobuf
                Can't parse message of type
                """,
        }
    )
)
"""Messages of compilers, interpreters and frameworks about a mistake in the program."""

STORES = tuple(
    _patterns(
        {
            "a PostgreSQL error": """
                PL/pgSQL function
                cached plan must not change result type
                could not obtain lock on row
                server login has been failing
                out of shared memory
                could not extend file "
                tuple concurrently updated
                invalid byte sequence for encoding
                violates foreign key
                violates unique
                violates check
                violates not-null
                by a subquery used as an expression
                aggregate functions are not allowed in
                due to administrator command
                SSL connection has been closed unexpectedly
                the database system is
                integer out of range
                numeric field overflow
                No function matches the given name and argument types
                LINE 1: {w}
                execMain.c
                ERROR: {} does not exist
                FATAL: {} does not exist
                DETAIL:  {}
                sqlState
                pgbouncer
                missing chunk number {n} for toast
                pg_toast_{n}
                invalid page in block
                could not read block {n}
                could not write block {n}
                could not open file "base/
                could not open extension control file
                cache lookup failed for
                invalid memory alloc request size
                invalid input syntax for type {w}
                malformed array literal
                malformed record literal
                malformed range literal
                unterminated dollar-quoted string
                syntax error in tsquery
                " is out of range for type
                date/time field value out of range
                could not receive data from server
                could not send data to server
                could not fork new process for connection
                no PostgreSQL user name specified
                portal "{w}" does not exist
                bind message supplies {n} parameters
                could not determine data type of parameter $
                could not determine polymorphic type
                could not identify an equality operator
                could not choose a best candidate operator
                each UNION query must have the same number of columns
                set-returning functions are not allowed
                window functions are not allowed in
                aggregate function calls cannot be nested
                expressions must match initial ORDER BY
                ORDER BY expressions must appear
                subquery must return only one column
                subquery has too many columns
                command cannot affect row a second time
                unique or exclusion constraint matching
                no unique constraint matching given keys
                cannot truncate a table referenced in a foreign key
                cannot change name of input parameter
                cannot change return type of existing function
                table name "{w}" specified more than once
                defined as GENERATED ALWAYS
                cannot insert a non-DEFAULT value into column
                multiple commands into a prepared statement
                conflicting key value violates
                violates exclusion constraint
                violates partition constraint
                no partition of relation
                tuple to be updated was already
                tuple to be locked was already
                failed to find parent tuple
                index row size {n} exceeds
                index row requires {n} bytes
                row is too big: size
                target lists can have at most
                deleted while still in use
                could not access file "$libdir
                could not load library "
                could not resize shared memory segment
                could not create shared memory segment
                could not map anonymous shared memory
                Failed on request of size {n}
                max_locks_per_transaction
                max_prepared_transactions
                max_stack_depth
                statement_timeout
                lock_timeout
                idle_in_transaction
                idle-in-transaction timeout
                because of crash of another server process
                conflict with recovery
                requested WAL segment
                hot_standby
                CONTEXT:  {}
                HINT:  {}
                STATEMENT:  {}
                PostgresException
                PSQLException
                NpgsqlException
                PgDatabaseError
                PgError
                pg_query():
                pg_connect():
                pg_execute():
                Failing row contains (
                Key ({w})=({}) already exists
                Key ({w})=({}) is not present
                is not present in table "
                is still referenced from table "
                Process {n} waits for
                received invalid response to SSL negotiation
                unsupported frontend protocol
                invalid length of startup packet
                fe_sendauth
                has group or world access
                no more connections allowed (
                query_wait_timeout
                client_login_timeout
                cannot connect to server (server_login
                _hyper_{n}_{n}_chunk
                Serializable isolation violation
                stl_load_errors
                /Table/{n}/{n}
                ABORT_REASON_{w}
                RETRY_SERIALIZABLE
                RETRY_WRITE_TOO_OLD
                memory budget exceeded
                replica unavailable: (
                Restart read required
                could not find any shard placements
                could not connect to the primary server
                unexpected EOF on client connection
                unexpected chunk number
                unexpected message type 0x
                insufficient data left in message
                lost synchronization with server
                SCRAM authentication
                SASL authentication failed
                server does not support SSL
                unrecognized configuration parameter
                cannot run inside a transaction block
                there is no transaction in progress
                cannot be executed from a function
                query has no destination for result data
                control reached end of function
                RAISE EXCEPTION
                more than one owned sequence
                nextval: reached maximum value
                currval of sequence
                lastval is not yet defined
                of sequence "{w}" is not yet defined
                inconsistent types deduced for parameter
                operator is not unique
                cannot subscript type
                cannot cast type {w} to
                cannot extract elements from
                cannot call json{w} on
                cannot set path in scalar
                cannot get array length of a
                argument of WHERE must be type
                argument of AND must be type
                argument of LIMIT must
                LIMIT must not be negative
                OFFSET must not be negative
                could not create unique index
                could not implement foreign key
                is a partition key column
                references ambiguous table column
                while updating tuple
                while locking tuple
                while inserting index tuple
                while deleting tuple
                """,
            "a MySQL error": """
                clause is ambiguous
                Column count doesn't match value count
                Incorrect datetime value
                Incorrect string value
                Incorrect integer value
                Truncated incorrect
                Data truncated for column
                Packet for query is too large
                max_allowed_packet
                is not allowed to connect to this
                because of many connection errors
                Commands out of sync
                sql_mode
                only_full_group_by
                Illegal mix of collations
                Subquery returns more than
                is marked as crashed
                --read-only option
                (using password:
                from storage engine
                max_user_connections
                Unknown table '{w}.{w}'
                needs to be re-prepared
                try restarting transaction
                ER_DUP_ENTRY
                ER_NO_SUCH_TABLE
                ER_BAD_FIELD_ERROR
                ER_PARSE_ERROR
                ER_ACCESS_DENIED_ERROR
                ER_LOCK_DEADLOCK
                ER_LOCK_WAIT_TIMEOUT
                ER_CON_COUNT_ERROR
                ER_ROW_IS_REFERENCED
                ER_NO_REFERENCED_ROW
                ER_DATA_TOO_LONG
                right syntax to use near
                the manual that corresponds to your
                Incorrect {w} value: '' for column
                Incorrect {w} value: '{}' for column
                for column `{w}`.`
                Data too long for column
                Out of range value for column
                UNSIGNED value is out of range
                BIGINT value is out of range
                DOUBLE value is out of range
                Cannot add or update a child row
                Cannot delete or update a parent row
                Cannot add foreign key constraint
                Foreign key constraint is incorrectly formed
                Key column '{w}' doesn't exist
                Can't DROP '
                Can't create table `
                Can't create table '
                Can't create database '
                Can't find file: '
                Can't get hostname for your address
                Can't write; duplicate key in table
                Unknown storage engine
                Unknown thread id
                Unknown prepared statement handler
                Unknown collation: '
                Not unique table/alias
                derived table must have its own alias
                Operand should contain {n} column
                Invalid use of group function
                isn't in GROUP BY
                is not in GROUP BY
                Expression #{n} of SELECT list
                Expression #{n} of ORDER BY
                Specified key was too long
                max key length is {n} bytes
                Table storage engine for
                was not locked with LOCK TABLES
                maximum statement execution time exceeded
                reading communication packets
                writing communication packets
                Got error {n} {} from
                Errcode: {n}
                locks exceeds the lock table size
                Record has changed since last read
                XA_RB{w}
                XAER_{w}
                can't return a result set in the given context
                Incorrect number of arguments for PROCEDURE
                Incorrect number of arguments for FUNCTION
                in the call to native function
                Incorrect key file for table
                Incorrect column specifier
                Access denied; you need
                command denied to user
                has exceeded the 'max_
                Client does not support authentication protocol
                caching_sha2_password
                mysql_native_password
                Authentication plugin '
                Malformed communication packet
                MySQL server is running with
                Aborted connection {n} to db
                client was disconnected by the server because of inactivity
                innodb_{w}
                InnoDB:
                binlog_{w}
                group_replication
                super-read-only
                super_read_only
                secure-file-priv
                local_infile
                ONLY_FULL_GROUP_BY
                STRICT_TRANS_TABLES
                Invalid JSON text in argument
                Cannot create a JSON value from
                Conversion from collation
                is not valid for CHARACTER SET
                references invalid table(s)
                The user specified as a definer
                CHECK OPTION failed
                CONSTRAINT `
                FOREIGN KEY (`
                REFERENCES `
                for key 'PRIMARY'
                (errno {n}) (sqlstate
                mysqld
                vttablet
                vtgate
                ER_BAD_NULL_ERROR
                ER_BAD_DB_ERROR
                ER_NO_DEFAULT_FOR_FIELD
                ER_TRUNCATED_WRONG_VALUE
                ER_WARN_DATA_OUT_OF_RANGE
                ER_HOST_NOT_PRIVILEGED
                ER_DBACCESS_DENIED_ERROR
                ER_TABLEACCESS_DENIED_ERROR
                ER_NON_UNIQ_ERROR
                ER_WRONG_FIELD_WITH_GROUP
                ER_NOT_SUPPORTED_AUTH_MODE
                ER_QUERY_TIMEOUT
                ER_QUERY_INTERRUPTED
                ER_OPTION_PREVENTS_STATEMENT
                ER_CHECK_CONSTRAINT_VIOLATED
                ER_CANT_{w}
                PROTOCOL_CONNECTION_LOST
                PROTOCOL_ENQUEUE
                PROTOCOL_SEQUENCE_TIMEOUT
                """,
            "a SQL Server error": """
                Cannot insert duplicate key
                conflicted with the REFERENCE
                conflicted with the FOREIGN KEY
                Arithmetic overflow error
                Divide by zero error encountered
                deadlock victim
                deadlocked on lock
                Must declare the scalar variable
                The multi-part identifier
                supplied values does not match table definition
                expects parameter '@
                Could not find stored procedure
                Ambiguous column name
                Subquery returned more than
                Operand type clash
                permission was denied on the object
                There is already an object named
                The transaction log for database
                Provider: TCP Provider
                occurred during the login process
                during the pre-login handshake
                Named Pipes Provider
                Invalid length parameter passed to
                Cannot find either column "
                Cannot resolve the collation conflict
                Cannot open user default database
                Could not allocate space for object
                Could not allocate a new page for database
                conflicted with the CHECK
                statement conflicted with
                Conversion failed when converting
                Error converting data type
                Explicit conversion from data type
                Implicit conversion from data type
                Column '{w}' is invalid in the select list
                Each GROUP BY expression must
                The ORDER BY clause is invalid
                The conversion of a {w} data type
                is not a recognized built-in function name
                Lock request time out period exceeded
                Snapshot isolation transaction aborted
                Login timeout expired
                Cannot generate SSPI context
                The target principal name is incorrect
                Transaction count after EXECUTE
                XACT_ABORT
                The server principal "
                is not able to access the database
                EXECUTE permission was denied
                permission denied in database
                String or binary data would be
                The wait operation timed out
                The timeout period elapsed
                Resource ID : {n}. The
                has reached its size quota
                is not currently available. Please retry the connection later
                TCP Provider, error
                SQL Network Interfaces
                SQL Server Native Client
                @@TRANCOUNT
                sp_executesql
                xp_cmdshell
                [dbo].[
                IDENTITY_INSERT
                SET IDENTITY
                """,
            "an Oracle error": """
                PLS-0{n}
                TNS-1{n}
                TNS:
                DPI-10{n}
                DPY-{n}
                NJS-{n}
                ORA-{n}
                unique constraint ({w}) violated
                integrity constraint ({w}) violated
                OCI-{n}
                SP2-0{n}
                RMAN-0{n}
                OracleException
                cx_Oracle
                oracledb.
                value larger than specified precision
                table or view does not exist
                TNS-0{n}
                CONNECT_DATA
                SERVICE_NAME=
                """,
            "an SQLite error": """
                disk I/O error
                database or disk is full
                unrecognized token: "
                no such function:
                has no column named
                values for {n} columns
                ambiguous column name:
                file is not a database
                Incorrect number of bindings
                cannot start a transaction within a transaction
                SQL logic error
                too many SQL variables
                no such savepoint:
                no such trigger:
                no such collation sequence:
                table {w} may not be modified
                cannot commit - no transaction is active
                cannot rollback - no transaction is active
                bind or column index out of range
                wrong number of arguments to function {w}()
                misuse of aggregate
                parser stack overflow
                callback requested query abort
                Cannot operate on a closed database
                You can only execute one statement at a time
                SQLite objects created in a thread
                (code {n} SQLITE_
                libsql:
                cannot open file at line
                database schema has changed
                attempt to write a readonly database
                file is encrypted or is not a database
                SQLITE_CONSTRAINT
                too many terms in compound SELECT
                SELECTs to the left and right of
                unable to close due to unfinalized
                """,
            "an error of another database": """
                SQL0{n}N
                Dynamic SQL Error
                SQL error code
                Database Engine error
                Data type mismatch in criteria expression
                not found; SQL statement
                user lacks privilege or object not found
                SemanticException
                SQL compilation error
                does not exist or not authorized
                DB::Exception
                ' cannot be resolved
                [Teradata Database]
                was not found in location
                given input columns
                Neo.ClientError
                Neo.TransientError
                Neo.DatabaseError
                already exists with label
                WriteTooOldError
                TransactionRetry
                KeeperErrorCode
                etcdserver:
                error parsing query: found
                LdapErr
                LDAP: error code
                FirebaseError
                SMTPDataError
                rocksdb:
                SMTPRecipientsRefused
                AcceptSecurityContext
                SERVER_ERROR out of memory
                Vault is sealed
                No cluster leader
                Collection `{w}` doesn't exist
                The query requires an index
                com.couchbase
                type conflict: input field is type
                field type conflict
                retention policy not found
                max-values-per-tag limit
                max-series-per-database
                beyond retention policy
                error in building plan while starting program
                unauthorized access: cannot
                out of order sample
                duplicate sample for timestamp
                query processing would load too many samples
                found duplicate series for the match group
                vector cannot contain metrics
                many-to-many matching not allowed
                Code: {n}. DB::
                DB::NetException
                (UNKNOWN_IDENTIFIER)
                (UNKNOWN_TABLE)
                (MEMORY_LIMIT_EXCEEDED)
                (TOO_MANY_PARTS)
                (TIMEOUT_EXCEEDED)
                Memory limit (total) exceeded
                Memory limit (for query) exceeded
                Too many parts (
                while processing query: '
                MergeTree
                ReplicatedMergeTree
                Table is in readonly mode
                Numeric value '{}' is not recognized
                is not recognized SNOWFLAKE
                snowflake.connector
                No active warehouse selected
                Unrecognized name: {w} at [
                Access Denied: Table
                Access Denied: BigQuery
                bigquery.{w}
                jobUser
                GENERIC_INTERNAL_ERROR
                GENERIC_USER_ERROR
                HIVE_{w}
                EXCEEDED_LOCAL_MEMORY_LIMIT
                EXCEEDED_GLOBAL_MEMORY_LIMIT
                INSUFFICIENT_RESOURCES
                NO_NODES_AVAILABLE
                SYNTAX_ERROR: line
                Job aborted due to stage failure
                Lost task {n}.{n} in stage
                ExecutorLostFailure
                SparkException
                TABLE_OR_VIEW_NOT_FOUND
                [DELTA_{w}]
                == SQL ==
                'Project [
                == Physical Plan
                HiveSQLException
                HiveException
                execution.mr.MapRedTask
                Error while compiling statement
                Error while processing statement: FAILED
                RegionTooBusy{w}
                NotServingRegion{w}
                RegionServer
                Name node is in safe mode
                SafeModeException
                could only be written to {n} of
                could only be replicated to
                org.apache.{w}
                [LDAP: error
                LDAP error
                ldap_bind
                ldap_search
                ldap3.{w}
                Can't contact LDAP server
                Invalid credentials (49)
                data 52e
                DSID-0{w}
                DbErr::{w}
                SQL30{n}
                DSNT{n}
                DB2 SQL
                isc_{w}
                lock conflict on no wait transaction
                update conflicts with concurrent update
                violation of PRIMARY or UNIQUE KEY
                violation of FOREIGN KEY constraint
                SAP DBTech JDBC
                invalid table name: Could not find table/view
                gp_segment
                H2 JDBC
                JdbcSQL{w}
                ERROR 42{w}:
                Syntax error in SQL statement
                Unique index or primary key violation
                Referential integrity constraint violation
                NULL not allowed for column
                Column "{w}" not found; SQL
                DynamicQueryError
                ServiceUnavailable: WebSocket
                TransactionExecutionLimit
                Variable `{w}` not defined (line
                Unable to find a router
                Could not perform discovery
                No routing servers available
                ForsetiClient
                AQL:
                ArangoError
                unique constraint violated - in index
                AMBIGUOUS_TIMEOUT
                UNAMBIGUOUS_TIMEOUT
                N1QL
                "dispatched_to":
                No index available on keyspace
                rev_conflict
                AEROSPIKE_{w}
                HazelcastInstance{w}
                CacheStoppedException
                IgniteCheckedException
                ISPN0{n}
                SERVER_ERROR {w}
                CLIENT_ERROR {w}
                SERVER HAS FAILED AND IS DISABLED
                mvcc:
                rpc not supported for learner
                requested lease not found
                ConnectionLoss for /
                NoNode for /
                No known Consul servers
                rpc error making call
                rpc error getting client
                * permission denied
                Code: 403. Errors:
                no handler for route '
                SealedException
                core: barrier
                different vector dimensions
                leveldb:
                MDB_{w}
                DB_{w}: BDB
                PD server timeout
                Resolve lock timeout
                Write conflict, txnStartTS
                tikv:{n}
                [tikv:
                [kv:
                [types:{n}]
                [schema:{n}]
                [planner:{n}]
                [executor:{n}]
                [parser:{n}]
                RLMException
                CoreData
                NSPersistentStore
                NSCocoaErrorDomain
                NSURLErrorDomain
                NSPOSIXErrorDomain
                kCFErrorDomain
                UserInfo={
                """,
            "a MongoDB error": """
                Server selection timed out
                MongooseError:
                slaveOk
                WriteConflict
                unknown top level operator
                unknown operator: $
                command {w} requires authentication
                to execute command {
                PlanExecutor error
                Exceeded memory limit for $
                exceeded memory limit of
                dup key: {
                BSONObj size
                BSONTypeError
                BSONError
                connection pool for {w} was cleared
                replica set member or mongos
                No suitable servers found
                ObjectId("
                ObjectId('
                mongo: no documents
                topology was destroyed
                Topology is closed
                WriteError({
                WriteError
                BulkWriteError
                MongoBulkWriteError
                WriteConcernError
                Document failed validation
                stage failed: ns
                $lookup stage
                $group stage
                $merge stage
                $out stage
                $facet stage
                $sort stage
                pipeline=[{
                {$match:
                { $match:
                {"$match":
                {"$set":
                { $set:
                {$set:
                {$group:
                {$lookup:
                {"$or":
                {"$in":
                { "$in":
                {$in:
                "$oid"
                "errmsg"
                "codeName"
                operationTime: Timestamp(
                $clusterTime
                "$clusterTime"
                ns not found
                cursor id {n} not found
                CursorNotFound
                NotWritablePrimary
                NotPrimaryNoSecondaryOk
                NotMaster{w}
                node is recovering
                PrimarySteppedDown
                InterruptedDueToReplStateChange
                InterruptedAtShutdown
                StaleShardVersion
                StaleConfig
                ShardNotFound
                NamespaceNotFound
                NamespaceExists
                IndexOptionsConflict
                IndexKeySpecsConflict
                MaxTimeMSExpired
                TransactionTooLarge
                NoSuchTransaction
                TransientTransactionError
                UnknownTransactionCommitResult
                ExceededTimeLimit
                ImmutableField
                Performing an update on the path '
                would modify the immutable field '_id'
                The dollar ($) prefixed field
                The dotted field '
                must be an array but is of type
                Cannot apply ${w} to
                Cannot increment with non-numeric
                Unrecognized pipeline stage name
                Unrecognized expression '$
                FieldPath field names may not
                can't find any special indices
                unable to find index for $geoNear
                text index required for $text
                error processing query: ns=
                planner returned error
                No query solutions
                not authorized on {w} to execute
                AuthenticationFailed
                SCRAM-SHA-
                auth error: sasl conversation
                unable to authenticate using mechanism
                connection() error occurred during connection handshake
                server selection error
                server selection timeout
                server returned error on
                No primary available
                No replica set members
                ReplicaSetNoPrimary
                ReplicaSetWithPrimary
                TopologyDescription
                ServerDescription
                Timed out after {n} ms while waiting for a server
                Timed out while checking out a connection
                connection pool paused
                PoolClearedError
                MongoPoolCleared{w}
                MongoServerSelection
                wiredTiger
                WiredTiger
                bson.errors
                BSON field '
                BSON document
                cannot decode {w} into
                no decoder found for
                collection already exists. NS
                Cast to {w} failed
                OverwriteModelError
                VersionError: No matching document
                No matching document found for id
                StrictModeError
                MissingSchemaError
                Schema hasn't been registered for model
                must provide a replica set
                pymongo
                mongod
                mongos
                createIndexes failed
                update failed validation
                "nInserted"
                writeErrors
                writeConcern
                readConcern
                """,
            "a Redis error": """
                ERR unknown command
                ERR wrong number of arguments
                ERR max number of clients
                ERR value is not
                ERR syntax error
                ERR invalid password
                NOSCRIPT No
                BUSY Redis
                WRONGPASS
                NOPERM {w}
                EXECABORT
                CROSSSLOT
                ReplyError
                redis: nil
                redis: connection pool timeout
                MASTERDOWN
                ERR no such key
                ERR Client sent AUTH
                ERR AUTH
                ERR Protocol error
                ERR invalid expire time
                ERR index out of range
                ERR Error running script
                ERR Error compiling script
                ERR DB index
                ERR EXEC without MULTI
                ERR operation not permitted
                ERR This instance has cluster support
                ERR source and destination
                ERR bit offset
                ERR increment or decrement
                ERR Background save
                ERR command not allowed
                UNKILLABLE Sorry
                NOAUTH {w}
                READONLY You
                NOREPLICAS Not
                TRYAGAIN Multiple
                BUSYGROUP Consumer
                BUSYKEY Target
                NOGROUP No such
                UNBLOCKED the stream
                INPROG Failover
                max number of clients reached
                redis-cli
                Redis command timed out
                RedisCommandTimeout{w}
                RedisConnectionFailure{w}
                JedisConnection{w}
                JedisData{w}
                Could not get a resource from the pool
                Unable to connect to Redis
                ClusterAllFailedError
                MaxRetriesPerRequestError
                MovedError
                Reached the max retries per request limit
                Command queue state error
                Socket closed unexpectedly
                Unknown redis cluster
                Cluster isn't in stable
                hash slot not served
                """,
            "a Cassandra error": """
                [Invalid query]
                Error from server: code=
                unconfigured table
                Undefined column name
                NoHostAvailable
                host(s) tried for query failed
                Not enough replicas available for query
                Cannot achieve consistency level
                ALLOW FILTERING
                keyspace {w} does not exist
                Keyspace '{w}' does not exist
                OperationTimedOut
                Invalid STRING constant
                Invalid INTEGER constant
                Cannot execute this query as it might involve data filtering
                PRIMARY KEY column "{w}" cannot be restricted
                Missing mandatory PRIMARY KEY part
                Some partition key parts are missing
                Some clustering keys are missing
                Cassandra timeout during
                Cassandra failure during
                Operation timed out - received only {n} responses
                received only {n} responses
                replica{} responded
                required_replicas
                received_responses
                LOCAL_QUORUM
                EACH_QUORUM
                LOCAL_ONE
                SERIAL consistency
                TombstoneOverwhelming
                Scanned over {n} tombstones
                ReadTimeout: Error
                WriteTimeout: Error
                UnavailableException
                Keyspace {w} does not exist
                No keyspace has been specified
                Unprepared: Error
                is not in a schema agreement
                AlreadyExists: Keyspace
                line {n}:{n} no viable alternative at input
                line {n}:{n} mismatched input
                line {n}:{n} extraneous input
                gocql:
                """,
            "an Elasticsearch error": """
                index_not_found_exception
                no such index [
                all shards failed
                shard failures
                search_phase_execution_exception
                mapper_parsing_exception
                document_missing_exception
                illegal_argument_exception
                parsing_exception
                failed to parse field [
                Fielddata is disabled
                [parent] Data too large
                circuit_breaking_exception
                version_conflict_engine_exception
                cluster_block_exception
                es_rejected_execution_exception
                read-only / allow delete
                Result window is too large
                No Living connections
                NoLivingConnections
                No alive nodes
                _exception","reason"
                x_content_parse_exception
                query_shard_exception
                strict_dynamic_mapping_exception
                index_closed_exception
                security_exception
                action_request_validation_exception
                invalid_index_name_exception
                invalid_alias_name_exception
                script_exception
                no_shard_available_action_exception
                search_context_missing_exception
                too_many_buckets
                too_many_scroll_contexts
                master_not_discovered_exception
                process_cluster_event_timeout
                snapshot_restore_exception
                number_format_exception
                null_pointer_exception
                illegal_state_exception
                unavailable_shards_exception
                null_value_exception
                no mapping found for [
                No mapping found for [
                No search context found for id
                mapping set to strict
                Limit of total fields [{n}]
                object mapping for [
                mapper [{w}] cannot be changed from
                Can't merge a non object mapping
                Failed to derive xcontent
                failed to parse date field [
                no [query] registered for
                Trying to create too many
                rejected execution of
                queue capacity = {n}
                high disk watermark
                flood stage disk watermark
                flood-stage watermark
                FORBIDDEN/{n}/
                primary shard is not active
                [{w}][{n}] primary shard
                version conflict, required seqNo
                version conflict, current version [
                current document has version
                is not an OpenSearch
                The client noticed that the server is not Elasticsearch
                ElasticsearchException
                OpenSearchException
                ResponseException: method [
                method [{w}], host [
                TransportError(
                NotFoundError({n}, '
                RequestError({n}, '
                ConnectionError: N/A
                reindex: [
                org.apache.solr
                SolrException
                Cannot parse '{}': Encountered
                Document is missing mandatory uniqueKey
                """,
            "an error of AWS": """
                Requested resource not found: Table
                ProvisionedThroughputExceeded{w}
                ConditionalCheckFailed{w}
                parameter values were invalid: {w}
                provided key element does not match the schema
                Query condition missed key schema
                (Service: {}; Status Code:
                when calling the {w} operation
                is not authorized to perform: {w}
                Invalid UpdateExpression
                Invalid KeyConditionExpression
                Invalid FilterExpression
                Unable to locate credentials
                CredentialsProviderError
                Runtime exited with error
                Runtime.ImportModuleError
                Task timed out after {n}.
                ResourceInUseException
                TransactionCanceledException
                Transaction cancelled, please refer cancellation reasons
                ItemCollectionSizeLimit{w}
                MissingAuthenticationToken
                AmazonServiceException
                AmazonClientException
                AmazonS3Exception
                AmazonDynamoDB{w}
                SdkClientException
                SdkServiceException
                S3Exception
                DynamoDbException
                SqsException
                ProvisionedThroughput
                throughput for one or more global secondary indexes
                Item size to update has exceeded
                ExpressionAttributeValues
                ExpressionAttributeNames
                ExpressionAttribute{w}
                ProjectionExpression
                ConditionExpression
                UpdateExpression
                FilterExpression
                expression attribute value
                expression attribute name
                Attribute name is a reserved keyword
                document path provided in the update expression
                An operand in the update expression
                does not have the specified index
                Type mismatch for Index Key
                Cannot do operations on a non-existent table
                BucketAlreadyOwnedByYou
                PermanentRedirect: {w}
                AuthorizationHeaderMalformed
                InvalidAccessKeyId
                AWS Access Key Id you provided
                The security token included in the request
                HostId>
                Request ID: {w}; S3
                ; Request ID:
                ; Proxy: null)
                (Service: {w}
                Service: Amazon
                boto3
                aws-sdk
                @aws-sdk
                assumed-role/
                User: arn:
                no identity-based policy allows
                no resource-based policy allows
                because no {w} policy allows
                EC2MetadataError
                EC2 Metadata
                169.254.169.254
                Could not load credentials from any providers
                Could not load default credentials
                NoCredentialProviders
                NoCredentialsError
                NoRegionError
                CredentialRetrievalError
                ProfileNotFound
                ECS Container Credential
                QueueDoesNotExist
                AWS.SimpleQueueService
                ReceiptHandle
                KMSAccessDenied{w}
                KMSDisabled{w}
                kms:Decrypt
                Secrets Manager can't find the specified secret
                InvocationType
                Unhandled exception in Lambda
                EventSourceMapping
                ECS was unable to
                cannot assume role
                sts:AssumeRole
                is not authorized to perform sts
                StatesError
                States.TaskFailed
                States.Timeout
                Runtime.HandlerNotFound
                Runtime.UserCodeSyntaxError
                Runtime.ExitError
                Runtime.UnhandledPromiseRejection
                Extension.Crash
                Sandbox.Timedout
                """,
            "an error of another cloud": """
                google.api_core.exceptions
                google.auth
                GoogleJsonResponseException
                Could not automatically determine credentials
                Application Default Credentials
                gserviceaccount.com
                GOOGLE_APPLICATION_CREDENTIALS
                does not have storage.{w} access
                iam.serviceAccounts.{w}
                datastore.{w}
                too much contention on these documents
                /cloudsql/
                The request was aborted because there was no available instance
                AuthorizationPermissionMismatch
                AuthenticationFailedServer failed
                Server failed to authenticate the request
                CosmosException
                DocumentClientException
                Microsoft.Azure.{w}
                Azure.Identity
                Azure.Storage
                Azure.Messaging
                DefaultAzureCredential
                ManagedIdentityCredential
                EnvironmentCredential
                IMDS endpoint
                AADSTS{n}
                StorageException
                ServiceBusException
                EventHub
                Microsoft.Azure.Documents
                PartitionKey value must be supplied
                Owner resource does not exist
                KeyVaultErrorException
                KeyVault
                oci-python-sdk
                """,
            "an error of a broker": """
                LEADER_NOT_AVAILABLE
                NOT_LEADER{w}
                Broker: Unknown
                Broker: Not
                Broker: Leader
                Broker: Message
                Broker: Request
                KafkaJS{w}
                consumer group {w}-{w}
                Local: Message timed out
                Local: Broker
                NOT_FOUND - no
                PRECONDITION_FAILED - {w}
                ACCESS_REFUSED - {w}
                RESOURCE_LOCKED - {w}
                channel is already closed due to
                (reply-code={n}
                celery worker
                sidekiq worker
                gunicorn worker
                uWSGI worker
                Worker timeout (pid:{n}
                CHANNEL_ERROR - {w}
                in vhost '
                kafka: client
                DeadLetterQueue
                run out of available brokers
                UNKNOWN_TOPIC_OR_PARTITION
                COORDINATOR_NOT_AVAILABLE
                NOT_COORDINATOR
                REBALANCE_IN_PROGRESS
                ILLEGAL_GENERATION
                UNKNOWN_MEMBER_ID
                OFFSET_OUT_OF_RANGE
                TOPIC_AUTHORIZATION_FAILED
                GROUP_AUTHORIZATION_FAILED
                CLUSTER_AUTHORIZATION_FAILED
                SASL_AUTHENTICATION_FAILED
                NOT_ENOUGH_REPLICAS
                RECORD_LIST_TOO_LARGE
                INVALID_TXN_STATE
                PRODUCER_FENCED
                ProducerFenced{w}
                Batch containing {n} record(s) expired
                Expiring {n} record(s)
                record(s) for {w}-{n}
                Failed to update metadata after
                not present in metadata after
                Topic not present in metadata
                Failed to send data to Kafka
                CommitFailedException
                Commit cannot be completed since the group
                Attempt to heartbeat failed
                poll() was longer
                max.poll.interval.ms
                max.request.size
                max.message.bytes
                request.timeout.ms
                bootstrap.servers
                No resolvable bootstrap urls
                Failed to construct kafka
                Failed to deserialize key/value
                Error deserializing key/value
                for partition {w}-{n}
                partition {w}-{n}
                io.confluent
                kafka_{w}
                KafkaError{
                KafkaException
                KafkaTimeoutError
                KafkaConnectionError
                NoBrokersAvailable
                UnknownTopicOrPart{w}
                NOT_FOUND - {w}
                NOT_ALLOWED - {w}
                UNEXPECTED_FRAME
                FRAME_ERROR
                COMMAND_INVALID
                CONNECTION_FORCED
                INTERNAL_ERROR - {w}
                NOT_IMPLEMENTED - {w}
                RESOURCE_ERROR - {w}
                inequivalent arg '
                unknown delivery tag
                no queue '
                vhost '
                vhost /
                #method<{w}
                Connection closed: 320
                delivery acknowledgement on channel
                pika.{w}
                missed heartbeats from client
                nats-server
                PulsarClientException
                BrokerServiceException
                JMSException
                javax.jms
                MQRC_{w}
                MQJMS{n}
                WebSphere MQ
                JMSWMQ{n}
                JMSCMQ{n}
                ZeroMQ
                zmq.
                ZMQError
                Received unregistered task of type
                delayed_job
                BullMQ
                Missing lock for job
                Could not renew lock for job
                job stalled more than allowable limit
                WorkflowExecutionAlreadyStarted
                """,
            "an error of a pool": """
                onnection pool exhausted
                onnection pool is exhausted
                onnections in use
                could not acquire connection from pool
                Could not acquire connection
                Thread pool is exhausted
                Too many connections
                """,
        }
    )
)
"""Messages of databases, caches, search engines and brokers."""

NETWORK = tuple(
    _patterns(
        {
            "an address behind the service": """
                could not translate host name "
                Could not resolve host: {w}
                getaddrinfo failed
                getaddrinfo {w}
                UnknownHostException
                Name or service not known
                Temporary failure in name resolution
                while connecting to upstream
                response header from upstream
                upstream timed out
                no such host
                i/o timeout
                Could not connect to SMTP host
                failed to connect to all addresses
                Failed to connect to {w} port {n}
                Failed to connect to {w}/{n}.
                Connect call failed
                failed to connect to `host=
                rabbit@
                akka://
                ipv4:{n}.
                sentinel mymaster
                Last connection error
                No connection established
                has no server available
                connect to host {w} port {n}
                connect string {w}:{n}
                Zookeeper session 0x
                session 0x{w} expired
                session 0x{w} for server
                Connection refused ({w}:{n})
                Connection refused: {w}/{w}:{n}
                Connection refused: connect
                Connection refused ({w}.{w})
                connect timed out executing
                No route to host
                Name does not resolve
                Name resolution failed for target
                nodename nor servname provided
                lookup {w} on {w}:{n}
                recv() failed (
                connect() failed (
                connect() to {w}
                send() failed (
                SSL_do_handshake() failed
                SSL_read() failed
                no live upstreams while
                upstream: "
                upstream prematurely closed
                upstream request timeout
                upstream_reset
                delayed connect error
                transport failure reason
                disconnect/reset before headers
                no healthy upstream
                cluster_not_found
                NoHealthyUpstream
                remote_addr=
                backend fetch failed
                Guru Meditation
                Varnish cache server
                Backend fetch failed
                X-Cache: MISS from
                The Squid Software
                mod_jk
                mod_proxy
                proxy: error reading status line from remote server
                Error reading from remote server
                balancer://
                fastcgi://
                uwsgi://
                unix:/
                .sock failed
                .sock:
                /var/run
                SSL routines:
                SSL_ERROR_{w}
                SSL alert number {n}
                sslv3 alert
                tlsv1 alert
                certificate verify failed
                unable to get local issuer certificate
                unable to get issuer certificate
                hostname mismatch, certificate
                certificate is valid for {w}, not
                doesn't match any of the subject alternative names
                No subject alternative
                does not match certificate's altnames
                No name matching {w} found
                SMTP connect() failed
                SMTPAuthenticationError
                SMTPServerDisconnected
                SMTPException
                ldap://
                ldaps://
                krb5
                KRB5
                GSS initiate failed
                """,
            "a debug member of gRPC": """
                debug_error_string
                StatusCode.{w}
                _InactiveRpcError
                google.rpc.DebugInfo
                RST_STREAM
                UNAVAILABLE: io exception
                UNAVAILABLE: {w} connection
                Received message larger than max
                unknown service {w}.
                method {w}/{w} not implemented
                grpc-status-details-bin
                grpc-status: {n}
                grpc_status:
                grpc_message:
                StatusCode=
                Status(StatusCode
                io.grpc.{w}
                DEADLINE_EXCEEDED: deadline exceeded after
                [buffered_nanos=
                waiting_for_connection
                [closed=[
                [remote_addr=
                http2 error code:
                HTTP/2 error code:
                connection error: desc
                transport is closing
                stream terminated by RST_STREAM
                too_many_pings
                ENHANCE_YOUR_CALM
                pick_first
                xds:
                DNS resolution failed for
                C-ares status is not
                dns:///{w}
                ipv4:{w}
                ipv6:{w}
                UNIMPLEMENTED: Method not found
                Method not found: {w}/{w}
                unknown method {w} for service
                UNKNOWN: Application error processing RPC
                Application error processing RPC
                Exception was thrown by handler
                Exception calling application
                RESOURCE_EXHAUSTED: grpc
                trying to send message larger than max
                received message larger than max
                failed to unmarshal the received
                error unmarshalling request
                protobuf tag mismatch
                Protocol message tag had invalid
                While parsing a protocol message
                InvalidProtocolBuffer{w}
                type.googleapis.com/google.rpc.DebugInfo
                stack_entries
                stackEntries
                cannot parse invalid wire-format data
                """,
            "a debug member of GraphQL": """
                DOWNSTREAM_SERVICE_ERROR
                Couldn't load service definitions
                HTTP fetch failed from '
                Exception while fetching data (
                exception.stacktrace
                INTERNAL_SERVER_ERROR: {w}Error
                DataFetcher
                DataFetchingException
                DataLoader must be constructed
                UnhandledErrorException
                resolverName
                Subgraph errors redacted
                fetch failed from subgraph
                RESOLVER_{w}
                HotChocolate
                PostGraphile
                x-hasura
                """,
        }
    )
)
"""Messages of network clients about the address that they tried."""

PLATFORM = tuple(
    _patterns(
        {
            "a state of a container": """
                OOMKilled
                OOM killer
                CrashLoopBackOff
                ImagePullBackOff
                ErrImagePull
                Back-off restarting
                nodes are available: {n}
                Readiness probe failed
                Liveness probe failed
                Startup probe failed
                no endpoints available for service
                kube-system
                kubelet
                istio-proxy
                Error response from daemon
                Error from server ({w})
                OCI runtime
                deployments.apps "
                statefulsets.apps "
                replicasets.apps "
                configmaps "
                secrets "{w}" not found
                secrets "{w}" is forbidden
                persistentvolumeclaim
                statefulset {w}-
                cronjob {w}-{w}-
                failed calling webhook
                Essential container in task exited
                exited with code 1{n}
                dkr.ecr.
                nomad alloc {n}
                CannotPullContainerError
                CannotStartContainerError
                ResourceInitializationError
                TaskFailedToStart
                ContainerCannotRun
                CreateContainerConfigError
                CreateContainerError
                RunContainerError
                InvalidImageName
                ErrImageNeverPull
                FailedScheduling
                FailedMount
                FailedAttachVolume
                FailedCreatePodSandBox
                NodeNotReady
                NodeLost
                DeadlineExceeded: Job
                BackoffLimitExceeded
                node(s) had
                node(s) didn't
                had untolerated taint
                MountVolume.{w} failed
                Unable to attach or mount volumes
                The node was low on resource
                pods "{w}" not found
                services "{w}" not found
                namespaces "{w}" not found
                endpoints "{w}" not found
                configmap "{w}" not found
                secret "{w}" not found
                is forbidden: User "
                is forbidden: exceeded quota
                kube-apiserver
                kube-proxy
                kube-dns
                CoreDNS
                k8s_{w}
                /var/run/secrets/kubernetes.io
                svc.cluster.local
                container_linux.go
                oci runtime error
                docker: Error
                docker0
                Cannot connect to the Docker daemon
                docker.sock
                No such container:
                pull access denied for
                toomanyrequests: You have reached your pull
                exit code 137
                exit code 139
                exit code 143
                exited with code {n} (
                oom-kill
                oom_kill
                Out of memory: Killed process
                Memory cgroup out of memory
                .service: Main process exited
                .service: Failed
                Failed to start {w}.service
                code=exited, status=
                gave up: {w} entered FATAL state
                Worker (pid:{n}) was sent
                WORKER TIMEOUT
                worker process {n} exited
                DAMN ! worker
                At least one process has
                code=H{n} desc=
                dyno=web
                R14 - Memory
                FUNCTION_INVOCATION_{w}
                FUNCTION_{w}_TIMEOUT
                EDGE_FUNCTION_{w}
                Worker threw exception
                errorType": "Runtime
                ArgoCD
                l5d-
                consul-{w}
                """,
        }
    )
)
"""Messages of orchestrators of containers."""
