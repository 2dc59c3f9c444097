/**
 * The types of the details of each code of KeenBench errors, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/keenbench/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

export type PhaseSlot = keyof {
  workbench: never;
  workshop: never;
  review: never;
  publish: never;
  restore: never;
  settings: never;
};

export type SubphaseSlot = keyof {
  stream: never;
  proposal: never;
  apply: never;
  add_files: never;
};

/** Details of `EgressConsentRequired`. */
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
