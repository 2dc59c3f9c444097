// Copied from faultspec; do not edit
/** Bodies of the Fetch standard, read within bounds. */

/** Bytes of the body of an error that are read. No envelope is longer. */
export const LARGEST_BODY = 1 << 20;

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

/** The text of a body; null if it has more bytes than are read. */
export async function readText(body: BodyStream): Promise<string | null> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return text + decoder.decode();
    size += value.byteLength;
    if (size > LARGEST_BODY) {
      // This copy has ended when the other one has
      reader.cancel().catch(() => undefined);
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Let the rest of a body go. One that somebody reads stays. */
export function discard(body: OwnStream | null | undefined): void {
  body?.cancel().catch(() => undefined);
}
