import { setFlagsFromString } from 'node:v8';

/**
 * Lets V8 begin to collect all garbage when 20 % of what its heap may grow are left, at once at
 * 10 %. By itself it begins when the rest has no place for a whole young generation. For a heap of
 * 40 MB that is half of it, and a large document's buffers use it up: one upload after the other
 * stopped all requests for a collection. Limits and their growth stay V8's.
 */
export function collectLater(): void {
  setFlagsFromString('--incremental-marking-soft-trigger=20');
  setFlagsFromString('--incremental-marking-hard-trigger=10');
}
