/** Languages of messages, by BCP 47 tag. */

/**
 * The known tag for a wanted one: the same, else the nearest shorter one (RFC 4647
 * section 3.4), so that `de-AT` finds `de`; null if there is none. Tags have no case.
 */
export function findLocale(
  wanted: string,
  known: readonly string[],
): string | null {
  const tags = new Map(known.map((tag) => [tag.toLowerCase(), tag]));
  const parts = wanted.toLowerCase().split("-");
  while (parts.length > 0) {
    const found = tags.get(parts.join("-"));
    if (found !== undefined) return found;
    parts.pop();
    if (parts[parts.length - 1]?.length === 1) parts.pop();
  }
  return null;
}
