import { objectOf } from '../../render/json-value.ts';
import { placeAt } from '../side.ts';
import { pairBy, type KeysOf, type Walk } from '../walk.ts';
import { operationsOf, shapeOf, type Operation } from './operations.ts';
import { serversOf } from './servers.ts';

/** The same operation in both documents. */
export interface OperationPair {
  before: Operation | null;
  after: Operation | null;
  kind: 'operation' | 'webhook' | 'callback';
  /** Whether the API sends the request, as it does in webhooks and callbacks, but not in a callback's callback. */
  isSent: boolean;
}

/**
 * The operations of both documents, in the order of the new one; then those that were removed. Paths in which nothing
 * changed are left out: they are most of two versions.
 */
export function pairOperations(walk: Walk): OperationPair[] {
  const sides = [walk.before, walk.after] as const;
  const passedOver = samePaths(walk);
  const [old, current] = sides.map((side) => operationsOf(side, placeAt(side, ['paths']), '', passedOver));
  const urls =
    (toPath: (path: string) => string): KeysOf<Operation> =>
    (side, operation) =>
      serversOf(side, operation).servers.map(({ url }) => `${operation.method} ${url}${toPath(operation.path)}`);
  const paths = pairBy(walk, old!, current!, [
    urls((path) => path),
    (_, { name }) => [name],
    urls(shapeOf),
    (_, { name }) => [shapeOf(name)],
  ]);
  const hooks = sides.map((side) => placeAt(side, ['webhooks']) ?? placeAt(side, ['x-webhooks']));
  const [sent, sends] = sides.map((side, at) => operationsOf(side, hooks[at]!, 'WEBHOOK '));
  const called = pairBy(walk, sent!, sends!, [(_, { name }) => [name]]);
  return [
    ...paths.map((pair) => ({ ...pair, kind: 'operation' as const, isSent: false })),
    ...called.map((pair) => ({ ...pair, kind: 'webhook' as const, isSent: true })),
  ];
}

/** The paths whose operations are the same in both documents, with all that they refer to or take from the root. */
function samePaths({ before, after, same }: Walk): ReadonlySet<string> {
  const isSame = (...keys: string[]) => same(placeAt(before, keys)?.value, placeAt(after, keys)?.value);
  // In OpenAPI 2.0, more of an operation stands at the root.
  const areRootsSame = isSame('servers') && isSame('security') && isSame('components', 'securitySchemes');
  if (before.dialect.name === '2.0' || !areRootsSame) return new Set();
  const [old, current] = [before, after].map(({ document }) => objectOf(document['paths']));
  const names = Object.keys(old!).filter((path) => Object.hasOwn(current!, path));
  return new Set(names.filter((path) => same(old![path], current![path])));
}
