import { isObject } from '../../../model/json.ts';
import type { Context } from './core-function.ts';

const methods = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace']);

/** The operations below `paths`, behind references. */
export function* operationsIn(
  paths: unknown,
  { graph }: Pick<Context, 'graph'>,
): Generator<{ path: string; method: string; operation: Record<string, unknown> }> {
  for (const [path, written] of isObject(paths) ? Object.entries(paths) : []) {
    const item = graph.follow(written);
    for (const [method, member] of isObject(item) ? Object.entries(item) : []) {
      const operation = methods.has(method) ? graph.follow(member) : null;
      if (isObject(operation)) yield { path, method, operation };
    }
  }
}
