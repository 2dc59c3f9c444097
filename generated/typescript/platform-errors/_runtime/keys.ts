// Copied from faultspec; do not edit
/** The place of the idempotency key in a request. */

/**
 * The part of a request that carries the key, and the name of the key there. `at`: the
 * name of a header, of a placeholder of the path or of a parameter of the query; in the
 * body the JSON Pointer of a member.
 */
export interface KeyPlace {
  readonly kind: "header" | "path" | "query" | "body";
  readonly at: string;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * A copy of the part of a request with the key at its place. `part`: the headers, the
 * values of the path or of the query, or the members of the body. Objects on the way to
 * a member are made, and what is not an object there is replaced. A header replaces
 * those of its name in any case.
 */
export function putKey(
  place: KeyPlace,
  part: Members,
  key: string,
): Record<string, unknown> {
  if (place.kind === "body") {
    const names = place.at
      .split("/")
      .slice(1)
      .map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"));
    return withMember(part, names, key);
  }
  const kept =
    place.kind === "header"
      ? Object.entries(part).filter(
          ([name]: [string, unknown]) =>
            name.toLowerCase() !== place.at.toLowerCase(),
        )
      : Object.entries(part);
  return Object.fromEntries([...kept, [place.at, key]]);
}

function withMember(
  members: Members,
  names: readonly string[],
  key: string,
): Record<string, unknown> {
  const [name = "", ...inner] = names;
  if (inner.length === 0) return setMember(members, name, key);
  const below = members[name];
  const inside =
    typeof below === "object" && below !== null && !Array.isArray(below)
      ? (below as Members)
      : {};
  return setMember(members, name, withMember(inside, inner, key));
}

/** `fromEntries`, because `__proto__` is an ordinary name in JSON. */
function setMember(
  members: Members,
  name: string,
  value: unknown,
): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(members), [name, value]]);
}
