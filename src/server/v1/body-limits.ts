import type { Config } from '../../config.ts';
import type { BodyLimits } from '../body/json-body.ts';
import type { Operation } from './api-description.ts';

/** Largest body without a document, in bytes. */
export const plainBodyBytes = 1024 * 1024;

/** The most bytes beside a document: the files that it refers to. */
const besideDocumentBytes = 8 * 1024 * 1024;

/** Most values and names in such a body. */
const plainBodyNodes = 50_000;

/**
 * Largest body with a document, in bytes. The document may be a JSON string, whose escapes can
 * double its size.
 */
export function documentBodyBytes({ limits }: Pick<Config, 'limits'>): number {
  return 2 * limits.fileBytes + 65_536;
}

/** Whether the operation's body contains a document. */
export function takesDocument({ id }: Operation): boolean {
  return /^(?:publish|compare|replay|check)/.test(id);
}

/**
 * Limits of the operation's body. A document may be as deep as the configuration allows, inside the
 * object around it.
 */
export function bodyLimits(config: Config, operation: Operation): BodyLimits {
  const plain = { depth: 20, nodes: plainBodyNodes };
  if (!takesDocument(operation)) return { ...plain, bytes: plainBodyBytes };
  const { depth, nodes } = config.limits;
  // A node of a document is a value and perhaps its name.
  return {
    ...plain,
    bytes: documentBodyBytes(config),
    document: { depth: depth + 1, nodes: 2 * nodes + 100, rest: besideDocumentBytes },
  };
}
