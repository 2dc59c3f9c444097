// Copied from faultspec; do not edit
/** The whole numbers from `low` to `high`, both included. */
export function range(low: number, high: number): readonly number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => low + index);
}
