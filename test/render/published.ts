import type { Published } from '../../src/compile/compile.ts';

/** A value as a published document. Its kind is what it says it is: a ruleset without `given` is one of Redocly's. */
export function published(value: unknown): Published {
  const json = Buffer.from(JSON.stringify(value));
  const document = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if ('openapi' in document || 'swagger' in document) return { kind: 'openapi', json };
  if ('rules' in document || 'extends' in document) {
    const isSpectral = /"given":/.test(json.toString());
    return { kind: isSpectral ? 'spectral-ruleset' : 'redocly-ruleset', json };
  }
  return { kind: 'json-schema', json };
}
