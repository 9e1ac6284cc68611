/**
 * The pure function, with its answers to short texts kept: at most `capacity` of them, all forgotten when full. Clients choose the texts
 * (header values), so long ones are answered and not kept.
 */
export function memoize<T>(answer: (text: string) => T, { capacity = 1000, length = 256 } = {}): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const kept = known.get(text);
    if (kept !== undefined) return kept;
    const made = answer(text);
    if (text.length <= length) {
      if (known.size >= capacity) known.clear();
      known.set(text, made);
    }
    return made;
  };
}
