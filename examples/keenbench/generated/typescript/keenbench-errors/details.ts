/**
 * The types of the details of each code of KeenBench errors, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/keenbench/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

// prettier-ignore
export type PhaseSlot =
  | "workbench"
  | "workshop"
  | "review"
  | "publish"
  | "restore"
  | "settings";

// prettier-ignore
export type SubphaseSlot =
  | "stream"
  | "proposal"
  | "apply"
  | "add_files";

/** Details of `EgressConsentRequired`. */
// prettier-ignore
export interface EgressConsentRequiredDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `EgressBlockedByPolicy`. */
// prettier-ignore
export interface EgressBlockedByPolicyDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `ProviderNotConfigured`. */
// prettier-ignore
export interface ProviderNotConfiguredDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `ProviderAuthFailed`. */
// prettier-ignore
export interface ProviderAuthFailedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `ProviderRateLimited`. */
// prettier-ignore
export interface ProviderRateLimitedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `ProviderUnavailable`. */
// prettier-ignore
export interface ProviderUnavailableDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `NetworkUnavailable`. */
// prettier-ignore
export interface NetworkUnavailableDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `SandboxViolation`. */
// prettier-ignore
export interface SandboxViolationDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `ValidationFailed`. */
// prettier-ignore
export interface ValidationFailedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `ContextExhausted`. */
// prettier-ignore
export interface ContextExhaustedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `DiskFull`. */
// prettier-ignore
export interface DiskFullDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `FileReadFailed`. */
// prettier-ignore
export interface FileReadFailedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `FileWriteFailed`. */
// prettier-ignore
export interface FileWriteFailedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `CheckpointCreateFailed`. */
// prettier-ignore
export interface CheckpointCreateFailedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `CheckpointRestoreFailed`. */
// prettier-ignore
export interface CheckpointRestoreFailedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `BudgetCapReached`. */
// prettier-ignore
export interface BudgetCapReachedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `ConflictPublishedChanged`. */
// prettier-ignore
export interface ConflictPublishedChangedDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}

/** Details of `UserCanceled`. */
// prettier-ignore
export interface UserCanceledDetails {
  /** The provider, where one is involved. */
  readonly provider_id?: string;
  /** The model, where one is involved. */
  readonly model_id?: string;
  /** The job. */
  readonly job_id?: string;
  /** The workbench. */
  readonly workbench_id?: string;
  /** Short extra context without the contents of files. */
  readonly detail?: string;
  /** The path of a local file with structured details. */
  readonly detail_ref?: string;
}
