-- Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml
--
-- Views of the table logs.errors, for postgres:
--
--   errors_exchanges     an exchange a row, and each clause but leaks: for counts
--   errors_classified    the same with leaks, and the names of the clauses
--   errors_combinations  the errors by surface, status, code, flag, shape and clauses
--   errors_odd           a few errors of each combination, for `faultspec audit`
--
-- SQL decides a clause exactly, or it over-selects: rows too that the judge clears. It selects each
-- row that breaks the clause. Where `faultspec_read` is false, the judge reads more than SQL can.
-- It adds the function `faultspec_json`. The tests run it on PostgreSQL 15.
--
-- surface/known                   exactly
-- service/no-crash                exactly
-- success/content                 cannot        It reads successes.
-- envelope/media-type             cannot        The records do not have what it reads.
-- envelope/json                   cannot        The records do not have what it reads.
-- envelope/shape                  cannot        It reads all of the body.
-- envelope/additional             cannot        It reads all of the body.
-- envelope/types                  cannot        It reads all of the body.
-- envelope/nested                 cannot        It reads all of the body.
-- envelope/absent-on-success      cannot        It reads successes.
-- ids/format                      exactly
-- code/declared                   exactly
-- code/status                     exactly
-- retriable/agrees                cannot        The records do not have what it reads.
-- details/schema                  cannot        It reads all of the body.
-- details/registered              cannot        It reads all of the body.
-- details/required                cannot        It reads all of the body.
-- details/validator               cannot        It reads all of the body.
-- http/head-body                  cannot        An answer without content is left to the judge.
-- document/status                 cannot        It reads the OpenAPI document of the service.
-- document/media-type             cannot        It reads the OpenAPI document of the service.
-- document/headers                cannot        It reads the OpenAPI document of the service.
-- document/schema                 cannot        It reads the OpenAPI document of the service.
-- document/challenge              cannot        It reads the OpenAPI document of the service.
-- correlation/header-equals-body  cannot        It compares the header with a member of the body.
-- batch/mixed-only                cannot        It reads each item of the batch.
-- batch/items                     cannot        It reads each item of the batch.
-- stream/offset                   cannot        It reads all of the body.
-- leaks/stack-trace               cannot        The records do not have what it reads.
-- leaks/sql                       cannot        The records do not have what it reads.
-- leaks/connection-string         cannot        The records do not have what it reads.
-- leaks/path                      cannot        The records do not have what it reads.
-- leaks/private-address           cannot        The records do not have what it reads.
-- leaks/secret                    cannot        The records do not have what it reads.
-- leaks/email                     cannot        The records do not have what it reads.
-- leaks/internal-name             cannot        The records do not have what it reads.
-- leaks/canary                    cannot        It needs to know what was planted in the request.
-- leaks/echoed-tenant             cannot        It needs to know the tenant of the caller.
-- headers/x-correlation-id        cannot        The records do not have what it reads.
-- headers/retry-after             cannot        The records do not have what it reads.
-- headers/cache-control           cannot        The records do not have what it reads.
-- headers/www-authenticate        cannot        The records do not have what it reads.
-- headers/allow                   cannot        The records do not have what it reads.
-- headers/etag                    cannot        The records do not have what it reads.
--
-- All errors of the surface batch are left to the judge: its answers have several errors.

CREATE OR REPLACE FUNCTION faultspec_json(body text) RETURNS json AS $$
BEGIN
  RETURN body::json;
EXCEPTION WHEN others THEN
  RETURN NULL;
END
$$ LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE;

DROP VIEW IF EXISTS "errors_odd";

DROP VIEW IF EXISTS "errors_combinations";

DROP VIEW IF EXISTS "errors_classified";

DROP VIEW IF EXISTS "errors_exchanges";

CREATE OR REPLACE VIEW "errors_exchanges" AS
WITH source_rows AS (
  SELECT
    "http_status",
    "endpoint",
    "code",
    "correlation_id",
    CASE
      WHEN FALSE
      THEN CAST(NULL AS INT)
      ELSE CAST(NULLIF((
        REGEXP_MATCH(CAST("http_status" AS TEXT), '^ ?([1-5][0-9][0-9])')
      )[1], '') AS INT)
    END AS faultspec_status,
    CAST("endpoint" AS TEXT) AS faultspec_url,
    CAST(NULL AS TEXT) AS faultspec_verb,
    CAST(NULL AS TEXT) AS faultspec_route,
    CAST(NULL AS TEXT) AS faultspec_service,
    CAST(NULL AS TEXT) AS faultspec_time,
    CAST(NULL AS TEXT) AS faultspec_headers,
    CAST(NULL AS TEXT) AS faultspec_body,
    CAST("code" AS TEXT) AS faultspec_slot_code,
    CAST("correlation_id" AS TEXT) AS faultspec_slot_correlation_id
  FROM "logs"."errors"
  WHERE
    (
      CASE
        WHEN FALSE
        THEN CAST(NULL AS INT) BETWEEN 100 AND 599
        ELSE (
          CAST("http_status" AS TEXT) ~ '^(?: ?(?:[1-5][0-9]{2,2})(?:\.0+)?(?: [^\u000a\u000d]{0,100})?)$'
        )
      END
    )
    AND (
      NOT CAST("endpoint" AS TEXT) IS NULL
    )
), read_rows AS (
  SELECT
    *,
    UPPER(
      CASE
        WHEN COALESCE(faultspec_verb, '') <> ''
        THEN faultspec_verb
        WHEN (
          faultspec_url ~ '^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) '
        )
        THEN NULLIF(
          (
            REGEXP_MATCH(faultspec_url, '^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) ')
          )[1],
          ''
        )
        ELSE faultspec_verb
      END
    ) AS faultspec_method,
    COALESCE(
      NULLIF(
        (
          REGEXP_MATCH(
            (
              CASE
                WHEN (
                  faultspec_url ~ '^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) '
                )
                THEN COALESCE(
                  NULLIF(
                    (
                      REGEXP_MATCH(faultspec_url, '^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) ([^ ]*)')
                    )[1],
                    ''
                  ),
                  ''
                )
                ELSE faultspec_url
              END
            ),
            '^(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?#]*)?([^?#]*)'
          )
        )[1],
        ''
      ),
      '/'
    ) AS faultspec_path,
    CAST(NULL AS TEXT) AS faultspec_json,
    CASE WHEN (
      faultspec_headers ~ '^[ \t\r\n]*\{'
    ) THEN faultspec_headers END AS faultspec_header_names
  FROM source_rows
), surface_rows AS (
  SELECT
    *,
    CASE
      WHEN CASE WHEN (
        (
          faultspec_status IN (207)
        )
      ) THEN TRUE ELSE FALSE END
      THEN 'batch'
      WHEN TRUE
      THEN 'api'
    END AS faultspec_surface
  FROM read_rows
), fact_rows AS (
  SELECT
    *,
    (
      faultspec_status BETWEEN 400 AND 599
    ) AS faultspec_error,
    CASE
      WHEN (
        CASE WHEN (
          faultspec_status IN (207)
        ) THEN TRUE ELSE FALSE END
      )
      THEN TRUE
      ELSE FALSE
    END AS faultspec_unrouted,
    CASE
      WHEN (
        (
          CASE WHEN (
            faultspec_status IN (207)
          ) THEN TRUE ELSE FALSE END
        )
      )
      OR (
        (
          CASE
            WHEN faultspec_method = 'HEAD'
            OR faultspec_status IN (204, 304)
            OR faultspec_status < 200
            THEN TRUE
            ELSE FALSE
          END
        )
      )
      THEN TRUE
      ELSE FALSE
    END AS faultspec_blind
  FROM surface_rows
), slot_rows AS (
  SELECT
    *,
    CASE
      WHEN (
        faultspec_status BETWEEN 100 AND 206
      )
      OR (
        faultspec_status BETWEEN 208 AND 599
      )
      THEN faultspec_slot_code
    END AS faultspec_code,
    CASE
      WHEN (
        faultspec_status BETWEEN 100 AND 206
      )
      OR (
        faultspec_status BETWEEN 208 AND 599
      )
      THEN faultspec_slot_correlation_id
    END AS faultspec_correlation_id,
    CASE
      WHEN (
        (
          SELECT
            COUNT(*) <> COUNT(DISTINCT name[1])
          FROM REGEXP_MATCHES(faultspec_body, '"[^"\\]*(?:\\.[^"\\]*)*"[ \t\r\n]*:', 'g') AS name
        )
      )
      OR (
        (
          faultspec_body ~ '"[^"\\]*(?:\\[^u][^"\\]*)*\\u[^"\\]*(?:\\.[^"\\]*)*"[ \t\r\n]*:'
        )
      )
      THEN TRUE
      ELSE FALSE
    END AS faultspec_repeats,
    CAST(NULL AS TEXT) AS faultspec_shape
  FROM fact_rows
), error_rows AS (
  SELECT
    *,
    CASE
      WHEN NOT faultspec_blind
      AND (
        (
          TRUE
        )
        OR NOT (
          (
            NOT faultspec_slot_code IS NULL
          )
          OR (
            NOT faultspec_slot_correlation_id IS NULL
          )
        )
      )
      THEN TRUE
      ELSE FALSE
    END AS faultspec_read,
    CAST(NULL AS TEXT) AS faultspec_flag
  FROM slot_rows
), clause_rows AS (
  SELECT
    *,
    (
      faultspec_error
    )
    AND (
      CASE
        WHEN (
          faultspec_surface IS NULL AND NOT faultspec_method IS NULL
        )
        OR (
          faultspec_unrouted
        )
        THEN TRUE
        ELSE FALSE
      END
    ) AS breaks_surface_known,
    (
      faultspec_error
    )
    AND (
      CASE
        WHEN (
          (
            (
              (
                faultspec_code IN ('internal_error')
              )
              AND (
                (
                  faultspec_status BETWEEN 100 AND 599
                )
              )
            )
          )
          OR (
            (
              (
                NOT faultspec_code IS NULL
                AND NOT (
                  faultspec_code IN (
                    'invalid_request',
                    'validation_failed',
                    'unsupported_media_type',
                    'unauthenticated',
                    'forbidden',
                    'scope_insufficient',
                    'not_found',
                    'conflict',
                    'already_exists',
                    'rate_limited',
                    'timeout',
                    'dependency_unavailable',
                    'internal_error',
                    'constraint_violation',
                    'serialization_failure',
                    'stale_read'
                  )
                )
              )
              OR (
                faultspec_code IS NULL AND (
                  FALSE
                )
              )
            )
            AND (
              (
                faultspec_status IN (500)
              ) OR (
                faultspec_status BETWEEN 506 AND 599
              )
            )
          )
          OR (
            (
              (
                faultspec_status BETWEEN 100 AND 206
              )
              OR (
                faultspec_status BETWEEN 208 AND 599
              )
            )
            AND (
              faultspec_slot_code IS NULL
            )
            AND (
              (
                faultspec_status BETWEEN 500 AND 501
              )
              OR (
                faultspec_status BETWEEN 505 AND 599
              )
            )
          )
        )
        OR (
          (
            (
              faultspec_unrouted
            )
          )
          OR (
            (
              (
                (
                  faultspec_status IN (500)
                ) OR (
                  faultspec_status BETWEEN 506 AND 599
                )
              )
              OR (
                (
                  faultspec_status BETWEEN 500 AND 501
                )
                OR (
                  faultspec_status BETWEEN 505 AND 599
                )
              )
            )
            AND (
              (
                (
                  CASE
                    WHEN faultspec_method = 'HEAD'
                    OR faultspec_status IN (204, 304)
                    OR faultspec_status < 200
                    THEN TRUE
                    ELSE FALSE
                  END
                )
              )
            )
          )
        )
        THEN TRUE
        ELSE FALSE
      END
    ) AS breaks_service_no_crash,
    (
      faultspec_error
    )
    AND (
      CASE
        WHEN (
          (
            (
              (
                faultspec_status BETWEEN 100 AND 206
              )
              OR (
                faultspec_status BETWEEN 208 AND 599
              )
            )
            AND (
              NOT faultspec_correlation_id IS NULL
            )
            AND (
              NOT (
                (
                  (
                    (
                      faultspec_correlation_id ~ '^(?:[0-9A-Fa-f]{8,8}\-[0-9A-Fa-f]{4,4}\-7[0-9A-Fa-f]{3,3}\-[8-9A-Ba-b][0-9A-Fa-f]{3,3}\-[0-9A-Fa-f]{12,12})$'
                    )
                  )
                  OR (
                    (
                      faultspec_correlation_id ~ '^(?:[0-7][0-9A-HJ-KM-NP-TV-Za-hj-km-np-tv-z]{25,25})$'
                    )
                  )
                )
              )
            )
          )
        )
        OR (
          (
            faultspec_unrouted
          )
        )
        THEN TRUE
        ELSE FALSE
      END
    ) AS breaks_ids_format,
    (
      faultspec_error
    )
    AND (
      CASE
        WHEN (
          (
            (
              faultspec_status BETWEEN 100 AND 206
            )
            OR (
              faultspec_status BETWEEN 208 AND 599
            )
          )
          AND (
            COALESCE(
              NOT (
                faultspec_code IN (
                  'invalid_request',
                  'validation_failed',
                  'unsupported_media_type',
                  'unauthenticated',
                  'forbidden',
                  'scope_insufficient',
                  'not_found',
                  'conflict',
                  'already_exists',
                  'rate_limited',
                  'timeout',
                  'dependency_unavailable',
                  'internal_error',
                  'constraint_violation',
                  'serialization_failure',
                  'stale_read'
                )
              ),
              FALSE
            )
          )
        )
        OR (
          faultspec_unrouted
        )
        THEN TRUE
        ELSE FALSE
      END
    ) AS breaks_code_declared,
    (
      faultspec_error
    )
    AND (
      CASE
        WHEN (
          (
            (
              (
                faultspec_status BETWEEN 100 AND 206
              )
              OR (
                faultspec_status BETWEEN 208 AND 599
              )
            )
            AND (
              COALESCE(
                CASE
                  WHEN CASE
                    WHEN (
                      faultspec_status IN (400)
                    )
                    THEN faultspec_code IN ('invalid_request', 'validation_failed')
                    WHEN (
                      faultspec_status IN (401)
                    )
                    THEN faultspec_code IN ('unauthenticated')
                    WHEN (
                      faultspec_status IN (402)
                    )
                    OR (
                      faultspec_status BETWEEN 405 AND 408
                    )
                    OR (
                      faultspec_status BETWEEN 410 AND 411
                    )
                    OR (
                      faultspec_status BETWEEN 413 AND 414
                    )
                    OR (
                      faultspec_status BETWEEN 416 AND 421
                    )
                    OR (
                      faultspec_status BETWEEN 423 AND 428
                    )
                    OR (
                      faultspec_status BETWEEN 430 AND 499
                    )
                    THEN faultspec_code IN ('invalid_request')
                    WHEN (
                      faultspec_status IN (403)
                    )
                    THEN faultspec_code IN ('forbidden', 'scope_insufficient')
                    WHEN (
                      faultspec_status IN (404)
                    )
                    THEN faultspec_code IN ('not_found')
                    WHEN (
                      faultspec_status IN (409)
                    )
                    THEN faultspec_code IN ('conflict', 'already_exists')
                    WHEN (
                      faultspec_status IN (412)
                    )
                    THEN faultspec_code IN ('stale_read')
                    WHEN (
                      faultspec_status IN (415)
                    )
                    THEN faultspec_code IN ('unsupported_media_type')
                    WHEN (
                      faultspec_status IN (422)
                    )
                    THEN faultspec_code IN ('constraint_violation')
                    WHEN (
                      faultspec_status IN (429)
                    )
                    THEN faultspec_code IN ('rate_limited')
                    WHEN (
                      faultspec_status BETWEEN 500 AND 501
                    )
                    OR (
                      faultspec_status BETWEEN 505 AND 599
                    )
                    THEN faultspec_code IN ('internal_error')
                    WHEN (
                      faultspec_status IN (502, 504)
                    )
                    THEN faultspec_code IN ('timeout', 'dependency_unavailable')
                    WHEN (
                      faultspec_status IN (503)
                    )
                    THEN faultspec_code IN ('timeout', 'dependency_unavailable', 'serialization_failure')
                  END
                  THEN FALSE
                  ELSE faultspec_code IN (
                    'invalid_request',
                    'validation_failed',
                    'unsupported_media_type',
                    'unauthenticated',
                    'forbidden',
                    'scope_insufficient',
                    'not_found',
                    'conflict',
                    'already_exists',
                    'rate_limited',
                    'timeout',
                    'dependency_unavailable',
                    'internal_error',
                    'constraint_violation',
                    'serialization_failure',
                    'stale_read'
                  )
                END,
                FALSE
              )
            )
          )
          OR (
            (
              (
                faultspec_status BETWEEN 100 AND 206
              )
              OR (
                faultspec_status BETWEEN 208 AND 599
              )
            )
            AND (
              (
                faultspec_status BETWEEN 100 AND 399
              )
            )
            AND (
              (
                faultspec_slot_code IS NULL
              )
              OR (
                (
                  CASE
                    WHEN faultspec_method = 'HEAD'
                    OR faultspec_status IN (204, 304)
                    OR faultspec_status < 200
                    THEN TRUE
                    ELSE FALSE
                  END
                )
              )
            )
          )
        )
        OR (
          faultspec_unrouted
        )
        THEN TRUE
        ELSE FALSE
      END
    ) AS breaks_code_status
  FROM error_rows
)
SELECT
  "http_status",
  "endpoint",
  "code",
  "correlation_id",
  faultspec_service,
  faultspec_time,
  faultspec_surface,
  faultspec_method,
  faultspec_path,
  faultspec_status,
  faultspec_code,
  faultspec_flag,
  faultspec_shape,
  faultspec_error,
  faultspec_read,
  breaks_surface_known,
  breaks_service_no_crash,
  breaks_ids_format,
  breaks_code_declared,
  breaks_code_status
FROM clause_rows;

CREATE OR REPLACE VIEW "errors_classified" AS
WITH leak_rows AS (
  SELECT
    *
  FROM "errors_exchanges"
), named_rows AS (
  SELECT
    *,
    TRIM(
      CASE WHEN breaks_surface_known THEN 'surface/known ' ELSE '' END || CASE WHEN breaks_service_no_crash THEN 'service/no-crash ' ELSE '' END || CASE WHEN breaks_ids_format THEN 'ids/format ' ELSE '' END || CASE WHEN breaks_code_declared THEN 'code/declared ' ELSE '' END || CASE WHEN breaks_code_status THEN 'code/status ' ELSE '' END
    ) AS faultspec_clauses
  FROM leak_rows
)
SELECT
  "http_status",
  "endpoint",
  "code",
  "correlation_id",
  faultspec_service,
  faultspec_time,
  faultspec_surface,
  faultspec_method,
  faultspec_path,
  faultspec_status,
  faultspec_code,
  faultspec_flag,
  faultspec_shape,
  faultspec_error,
  faultspec_read,
  breaks_surface_known,
  breaks_service_no_crash,
  breaks_ids_format,
  breaks_code_declared,
  breaks_code_status,
  faultspec_clauses
FROM named_rows;

CREATE OR REPLACE VIEW "errors_combinations" AS
SELECT
  faultspec_surface,
  faultspec_method,
  faultspec_status,
  faultspec_code,
  faultspec_flag,
  faultspec_shape,
  faultspec_read,
  faultspec_clauses,
  COUNT(*) AS exchanges
FROM "errors_classified"
WHERE
  faultspec_error
GROUP BY
  faultspec_surface,
  faultspec_method,
  faultspec_status,
  faultspec_code,
  faultspec_flag,
  faultspec_shape,
  faultspec_read,
  faultspec_clauses;

CREATE OR REPLACE VIEW "errors_odd" AS
SELECT
  *
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY faultspec_surface, faultspec_method, faultspec_status, faultspec_code, faultspec_flag, faultspec_shape, faultspec_read, faultspec_clauses
      ORDER BY faultspec_path
    ) AS faultspec_number
  FROM "errors_classified"
  WHERE
    faultspec_error
) AS numbered
WHERE
  faultspec_number <= 5;
