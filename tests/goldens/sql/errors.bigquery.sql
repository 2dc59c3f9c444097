-- Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml
--
-- Views of the table logs.errors, for bigquery:
--
--   errors_classified    an exchange of the table a row, with a column for each clause
--   errors_combinations  the errors by surface, status, code, flag, shape and clauses
--   errors_odd           a few errors of each combination, for `faultspec audit`
--
-- SQL decides a clause exactly, or it over-selects: rows too that the judge clears. It selects each
-- row that breaks the clause. Where `faultspec_read` is false, the judge reads more than SQL can.
-- It is parsed and translated, but no test of faultspec runs it on BigQuery.
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

CREATE OR REPLACE VIEW `errors_classified` AS
WITH source_rows AS (
  SELECT
    `http_status`,
    `endpoint`,
    `code`,
    `correlation_id`,
    CAST(`http_status` AS STRING) AS faultspec_status_text,
    CAST(`endpoint` AS STRING) AS faultspec_url,
    CAST(NULL AS STRING) AS faultspec_verb,
    CAST(NULL AS STRING) AS faultspec_route,
    CAST(NULL AS STRING) AS faultspec_service,
    CAST(NULL AS STRING) AS faultspec_time,
    CAST(NULL AS STRING) AS faultspec_headers,
    CAST(NULL AS STRING) AS faultspec_body,
    CAST(`code` AS STRING) AS faultspec_slot_code,
    CAST(`correlation_id` AS STRING) AS faultspec_slot_correlation_id
  FROM `logs`.`errors`
  WHERE
    (
      REGEXP_CONTAINS(
        CAST(`http_status` AS STRING),
        '^(?: ?(?:[1-5][0-9]{2,2})(?:\\.0+)?(?: [^\\x{a}\\x{d}]{0,100})?)$'
      )
    )
    AND (
      NOT CAST(`endpoint` AS STRING) IS NULL
    )
), read_rows AS (
  SELECT
    *,
    CAST(NULLIF(REGEXP_EXTRACT(faultspec_status_text, '^ ?([1-5][0-9][0-9])'), '') AS INT64) AS faultspec_status,
    UPPER(
      CASE
        WHEN COALESCE(faultspec_verb, '') <> ''
        THEN faultspec_verb
        WHEN REGEXP_CONTAINS(faultspec_url, '^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) ')
        THEN NULLIF(
          REGEXP_EXTRACT(faultspec_url, '^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) '),
          ''
        )
        ELSE faultspec_verb
      END
    ) AS faultspec_method,
    COALESCE(
      NULLIF(
        REGEXP_EXTRACT(
          (
            CASE
              WHEN REGEXP_CONTAINS(faultspec_url, '^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) ')
              THEN COALESCE(
                NULLIF(
                  REGEXP_EXTRACT(faultspec_url, '^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) ([^ ]*)'),
                  ''
                ),
                ''
              )
              ELSE faultspec_url
            END
          ),
          '^(?:[A-Za-z][A-Za-z0-9+.\\-]*://[^/?#]*)?([^?#]*)'
        ),
        ''
      ),
      '/'
    ) AS faultspec_path,
    CAST(NULL AS STRING) AS faultspec_json,
    CASE
      WHEN REGEXP_CONTAINS(faultspec_headers, '^[ \\t\\r\\n]*\\{')
      THEN faultspec_headers
    END AS faultspec_header_names
  FROM source_rows
), surface_rows AS (
  SELECT
    *,
    CASE
      WHEN COALESCE((
        (
          faultspec_status IN (207)
        )
      ), FALSE)
      THEN 'batch'
      WHEN TRUE
      THEN 'api'
    END AS faultspec_surface,
    COALESCE(
      (
        COALESCE(
          (
            CASE
              WHEN COALESCE((
                (
                  faultspec_status IN (207)
                )
              ), FALSE)
              THEN 'batch'
              WHEN TRUE
              THEN 'api'
            END
          ) = '',
          FALSE
        )
      )
      OR (
        COALESCE(
          (
            CASE
              WHEN COALESCE((
                (
                  faultspec_status IN (207)
                )
              ), FALSE)
              THEN 'batch'
              WHEN TRUE
              THEN 'api'
            END
          ) IN ('batch'),
          FALSE
        )
      )
      OR (
        COALESCE(
          faultspec_method = 'HEAD'
          OR faultspec_status IN (204, 304)
          OR faultspec_status < 200,
          FALSE
        )
      ),
      FALSE
    ) AS faultspec_blind
  FROM read_rows
), slot_rows AS (
  SELECT
    *,
    CASE WHEN faultspec_surface = 'api' THEN faultspec_slot_code END AS faultspec_code,
    CASE WHEN faultspec_surface = 'api' THEN faultspec_slot_correlation_id END AS faultspec_correlation_id,
    COALESCE(
      (
        SELECT
          COUNT(*) <> COUNT(DISTINCT name)
        FROM UNNEST(REGEXP_EXTRACT_ALL(faultspec_body, '"(?:[^"\\\\]|\\\\.)*"[ \\t\\r\\n]*:')) AS name
      ),
      FALSE
    ) AS faultspec_repeats,
    CAST(NULL AS STRING) AS faultspec_shape
  FROM surface_rows
), error_rows AS (
  SELECT
    *,
    COALESCE(
      (
        COALESCE(
          faultspec_surface = 'api'
          AND (
            (
              faultspec_status BETWEEN 400 AND 599
            )
          ),
          FALSE
        )
      )
      OR (
        faultspec_surface IS NULL AND faultspec_status >= 400
      )
      OR (
        faultspec_blind
      ),
      FALSE
    ) AS faultspec_error,
    COALESCE(
      NOT faultspec_blind
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
      ),
      FALSE
    ) AS faultspec_read,
    CAST(NULL AS STRING) AS faultspec_flag
  FROM slot_rows
), clause_rows AS (
  SELECT
    *,
    COALESCE(
      (
        faultspec_error
      )
      AND (
        (
          faultspec_blind
        )
        OR (
          COALESCE(faultspec_surface IS NULL AND NOT faultspec_method IS NULL, FALSE)
        )
      ),
      FALSE
    ) AS breaks_surface_known,
    COALESCE(
      (
        faultspec_error
      )
      AND (
        (
          faultspec_blind
        )
        OR (
          COALESCE(
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
                faultspec_surface = 'api'
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
            ),
            FALSE
          )
        )
      ),
      FALSE
    ) AS breaks_service_no_crash,
    COALESCE(
      (
        faultspec_error
      )
      AND (
        (
          faultspec_blind
        )
        OR (
          COALESCE(
            (
              (
                faultspec_surface = 'api'
              )
              AND (
                NOT faultspec_correlation_id IS NULL
              )
              AND (
                NOT (
                  (
                    (
                      REGEXP_CONTAINS(
                        faultspec_correlation_id,
                        '^(?:[0-9A-Fa-f]{8,8}\\-[0-9A-Fa-f]{4,4}\\-7[0-9A-Fa-f]{3,3}\\-[8-9A-Ba-b][0-9A-Fa-f]{3,3}\\-[0-9A-Fa-f]{12,12})$'
                      )
                    )
                    OR (
                      REGEXP_CONTAINS(faultspec_correlation_id, '^(?:[0-7][0-9A-HJ-KM-NP-TV-Za-hj-km-np-tv-z]{25,25})$')
                    )
                  )
                )
              )
            ),
            FALSE
          )
        )
      ),
      FALSE
    ) AS breaks_ids_format,
    COALESCE(
      (
        faultspec_error
      )
      AND (
        (
          faultspec_blind
        )
        OR (
          COALESCE(
            (
              faultspec_surface IN ('api')
            )
            AND (
              NOT faultspec_code IS NULL
            )
            AND (
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
              )
            ),
            FALSE
          )
        )
      ),
      FALSE
    ) AS breaks_code_declared,
    COALESCE(
      (
        faultspec_error
      )
      AND (
        (
          faultspec_blind
        )
        OR (
          COALESCE(
            (
              (
                faultspec_surface = 'api'
              )
              AND (
                (
                  (
                    faultspec_code IN ('invalid_request')
                  )
                  AND (
                    (
                      faultspec_status IN (401, 409, 412, 415, 422, 429)
                    )
                    OR (
                      faultspec_status BETWEEN 100 AND 399
                    )
                    OR (
                      faultspec_status BETWEEN 403 AND 404
                    )
                    OR (
                      faultspec_status BETWEEN 500 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('validation_failed')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 399
                    )
                    OR (
                      faultspec_status BETWEEN 401 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('unsupported_media_type')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 414
                    )
                    OR (
                      faultspec_status BETWEEN 416 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('unauthenticated')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 400
                    )
                    OR (
                      faultspec_status BETWEEN 402 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('forbidden', 'scope_insufficient')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 402
                    )
                    OR (
                      faultspec_status BETWEEN 404 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('not_found')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 403
                    )
                    OR (
                      faultspec_status BETWEEN 405 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('conflict', 'already_exists')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 408
                    )
                    OR (
                      faultspec_status BETWEEN 410 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('rate_limited')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 428
                    )
                    OR (
                      faultspec_status BETWEEN 430 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('timeout', 'dependency_unavailable')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 501
                    )
                    OR (
                      faultspec_status BETWEEN 505 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('internal_error')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 499
                    )
                    OR (
                      faultspec_status BETWEEN 502 AND 504
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('constraint_violation')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 421
                    )
                    OR (
                      faultspec_status BETWEEN 423 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('serialization_failure')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 502
                    )
                    OR (
                      faultspec_status BETWEEN 504 AND 599
                    )
                  )
                )
                OR (
                  (
                    faultspec_code IN ('stale_read')
                  )
                  AND (
                    (
                      faultspec_status BETWEEN 100 AND 411
                    )
                    OR (
                      faultspec_status BETWEEN 413 AND 599
                    )
                  )
                )
              )
            )
            OR (
              (
                faultspec_surface = 'api'
              )
              AND (
                faultspec_slot_code IS NULL
              )
              AND (
                (
                  faultspec_status BETWEEN 100 AND 399
                )
              )
            ),
            FALSE
          )
        )
      ),
      FALSE
    ) AS breaks_code_status
  FROM error_rows
), named_rows AS (
  SELECT
    *,
    TRIM(
      CASE WHEN breaks_surface_known THEN 'surface/known ' ELSE '' END || CASE WHEN breaks_service_no_crash THEN 'service/no-crash ' ELSE '' END || CASE WHEN breaks_ids_format THEN 'ids/format ' ELSE '' END || CASE WHEN breaks_code_declared THEN 'code/declared ' ELSE '' END || CASE WHEN breaks_code_status THEN 'code/status ' ELSE '' END
    ) AS faultspec_clauses
  FROM clause_rows
)
SELECT
  `http_status`,
  `endpoint`,
  `code`,
  `correlation_id`,
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

CREATE OR REPLACE VIEW `errors_combinations` AS
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
FROM `errors_classified`
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

CREATE OR REPLACE VIEW `errors_odd` AS
SELECT
  *
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY faultspec_surface, faultspec_method, faultspec_status, faultspec_code, faultspec_flag, faultspec_shape, faultspec_read, faultspec_clauses
      ORDER BY faultspec_path NULLS LAST
    ) AS faultspec_number
  FROM `errors_classified`
  WHERE
    faultspec_error
) AS numbered
WHERE
  faultspec_number <= 5;
