// Copied from faultspec; do not edit
/** Bodies of the Fetch standard, read within bounds. */

/** Bytes of the body of an error that are read. No envelope is longer. */
export const LARGEST_BODY = 1 << 20;

/**
 * Milliseconds in which the body of an error is read: packed bytes that unpack to nothing
 * are not seen.
 */
export const LONGEST_READING = 10_000;

/** The body of an answer. */
export interface BodyStream {
  getReader(): {
    read(): Promise<{
      readonly done: boolean;
      readonly value?: { readonly byteLength: number } | undefined;
    }>;
    cancel(): Promise<void>;
  };
}

/** A body that can be given up. */
export interface OwnStream {
  cancel(): Promise<void>;
}

declare class TextDecoder {
  decode(bytes?: object, options?: { readonly stream: boolean }): string;
}

declare function setTimeout(then: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

/**
 * The text of a body; null if it has more bytes than are read, or takes more than
 * `longest` milliseconds. The body is given up then. If it is a copy, lock or discard the
 * other half: Node ends where a signal aborts one that nobody holds.
 */
export async function readText(
  body: BodyStream,
  longest: number | null = LONGEST_READING,
): Promise<string | null> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  let isLate = false;
  const giveUp = (): void => {
    // This copy has ended when the other one has
    reader.cancel().catch(() => undefined);
  };
  const end = (): void => {
    isLate = true;
    giveUp(); // which ends the reading
  };
  const timer = longest === null ? null : setTimeout(end, longest);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) return null;
      if (done || value === undefined) return text + decoder.decode();
      size += value.byteLength;
      if (size > LARGEST_BODY) {
        giveUp();
        return null;
      }
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

/** Let the rest of a body go. One that somebody reads stays. */
export function discard(body: OwnStream | null | undefined): void {
  body?.cancel().catch(() => undefined);
}
