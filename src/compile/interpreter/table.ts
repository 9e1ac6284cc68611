/**
 * Creates a list of objects and arrays on their way into an interpreter, in which `[3]` stands for the one at 3, so that shared parts
 * are written once and cycles end.
 */
export function createTable() {
  const places = new Map<object, number>();
  const order: object[] = [];
  const nodes: unknown[] = [];
  /** What stands for a value: itself, `[3]` for the object or array at 3, or `[]` if there is none. */
  const refer = (value: unknown): unknown => {
    if (value === undefined) return [];
    if (typeof value !== 'object' || value === null) return value;
    const at = places.getOrInsertComputed(value, () => order.push(value) - 1);
    return [at];
  };
  return {
    refer,
    /** The objects and arrays that were referred to, with all that is in them. Reads each once. */
    nodes(): unknown[] {
      for (let at = nodes.length; at < order.length; at++) {
        const value = order[at]!;
        nodes.push(
          Array.isArray(value)
            ? value.map(refer)
            : Object.fromEntries(Object.entries(value).map(([key, child]) => [key, refer(child)])),
        );
      }
      return nodes;
    },
  };
}
