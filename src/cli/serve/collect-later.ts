import { setFlagsFromString } from 'node:v8';

/**
 * Lets V8 start full garbage collections when 20 % of the heap's room to grow is left, without
 * delay at 10 %. By default it starts when the rest cannot take a whole young generation. For a
 * heap of 40 MB that is half of it, and a large document's buffers use it up: one upload after the
 * other stopped all requests for a collection. Limits and their growth stay V8's.
 */
export function collectLater(): void {
  setFlagsFromString('--incremental-marking-soft-trigger=20');
  setFlagsFromString('--incremental-marking-hard-trigger=10');
}
