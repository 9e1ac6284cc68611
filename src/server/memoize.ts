import { LRUCache } from 'lru-cache';

/**
 * Caches a pure function's results, least recently used out first. Clients choose the texts (header
 * values), so long ones are not cached.
 */
export function memoize<T>(answer: (text: string) => T, { capacity = 1000, length = 256 } = {}): (text: string) => T {
  const answers = new LRUCache<string, { answer: T }>({ max: capacity });
  return (text) => {
    const cached = answers.get(text);
    if (cached !== undefined) return cached.answer;
    const fresh = answer(text);
    if (text.length <= length) answers.set(text, { answer: fresh });
    return fresh;
  };
}
