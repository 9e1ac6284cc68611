import type { Config } from '../../config.ts';
import type { BodyLimits } from '../body/read-body.ts';
import type { Operation } from './api-description.ts';

/** Bytes of a body that holds no document. */
export const plainBodyBytes = 1024 * 1024;

/** Values and names in such a body. */
const plainBodyNodes = 50_000;

/** Bytes of a body that holds a document as a JSON string, whose escapes may take as much room again. */
export function documentBodyBytes({ limits }: Pick<Config, 'limits'>): number {
  return 2 * limits.fileBytes + 65_536;
}

/** Whether the operation's body holds a document. */
export function takesDocument({ id }: Operation): boolean {
  return id.startsWith('publish');
}

/** What the body of this operation may be. A document may be as deep as any, within the object that holds it. */
export function bodyLimits(config: Config, operation: Operation): BodyLimits {
  const plain = { rest: plainBodyBytes, depth: 20, nodes: plainBodyNodes };
  if (!takesDocument(operation)) return { ...plain, bytes: plainBodyBytes };
  const { depth, nodes } = config.limits;
  // A node of a document is a value and perhaps its name.
  return { ...plain, bytes: documentBodyBytes(config), document: { depth: depth + 1, nodes: 2 * nodes + 100 } };
}
