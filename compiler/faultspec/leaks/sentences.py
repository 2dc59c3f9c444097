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


def _patterns(table: dict[str, str]) -> Iterator[Pattern]:
    for what, lines in table.items():
        templates = [line.strip() for line in lines.strip().splitlines()]
        needles = tuple(dict.fromkeys(_needle(template).lower() for template in templates))
        expression = "|".join(map(_expression, templates))
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
                """,
            "a debug member of GraphQL": """
                DOWNSTREAM_SERVICE_ERROR
                Couldn't load service definitions
                HTTP fetch failed from '
                Exception while fetching data (
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
                """,
        }
    )
)
"""Messages of orchestrators of containers."""
