/** Masks for sensitive details in texts that are not for the caller: logs, traces. */

/** The replacement of a sensitive value. */
export const MASK = "***";

/** The names of members from the outside in; `*` stands for the items of a list. */
export type SensitivePlace = readonly string[];

/** The value with a mask at each place that it has. */
export function mask(
  value: unknown,
  places: readonly SensitivePlace[],
): unknown {
  if (places.some((place) => place.length === 0)) {
    return value === null || value === undefined ? value : MASK;
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown) => mask(item, inside(places, "*")));
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]: [string, unknown]) => [
        name,
        mask(member, inside(places, name)),
      ]),
    );
  }
  return value;
}

/** The text without the values at these places, as far as it quotes them. */
export function maskText(
  text: string,
  value: unknown,
  places: readonly SensitivePlace[],
): string {
  return textsAt(value, places)
    .sort((one, other) => other.length - one.length)
    .reduce((masked, secret) => masked.split(secret).join(MASK), text);
}

function inside(
  places: readonly SensitivePlace[],
  name: string,
): readonly SensitivePlace[] {
  return places
    .filter((place) => place[0] === name)
    .map((place) => place.slice(1));
}

function textsAt(value: unknown, places: readonly SensitivePlace[]): string[] {
  if (places.some((place) => place.length === 0)) return leaves(value);
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => textsAt(item, inside(places, "*")));
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
      textsAt(member, inside(places, name)),
    );
  }
  return [];
}

function leaves(value: unknown): string[] {
  if (value === null || value === undefined || value === "") return [];
  if (typeof value === "object") return Object.values(value).flatMap(leaves);
  return [typeof value === "string" ? value : JSON.stringify(value)];
}
