import type { OutlineOperation } from './outline.ts';

/**
 * Names the parts of one document's page: what stands behind the `#` of a deep link. Asked for each part once, in the order of the document, it
 * always gives the same names, so that the page and whatever links to it agree without knowing of each other. A name depends on nothing
 * but the part's own, except that the second of two parts that would be called the same gets `-2`.
 */
export interface Anchors {
  /** `operation/listPets`; without an operationId `operation/get-pets-petId`. */
  operation(operation: Pick<OutlineOperation, 'method' | 'path' | 'id'>): string;
  /** `schema/Pet`; the schema document itself is `schema`. */
  schema(name: string): string;
  /** `rule/no-empty-servers` */
  rule(name: string): string;
  /** `tag/pets` */
  tag(name: string): string;
}

/** The anchors of one document. They are of `[A-Za-z0-9._/-]`: safe in HTML, in Markdown and in a URL as they are. */
export function createAnchors(): Anchors {
  const next = new Map<string, number>();

  function unique(wanted: string): string {
    if (!next.has(wanted)) {
      next.set(wanted, 2);
      return wanted;
    }
    for (let number = next.get(wanted)!; ; number++) {
      const anchor = `${wanted}-${number}`;
      if (next.has(anchor)) continue;
      next.set(wanted, number + 1).set(anchor, 2);
      return anchor;
    }
  }

  return {
    operation: ({ method, path, id }) => unique(`operation/${nameFor(id || `${method.toLowerCase()} ${path}`)}`),
    schema: (name) => unique(name === '' ? 'schema' : `schema/${nameFor(name)}`),
    rule: (name) => unique(`rule/${nameFor(name)}`),
    tag: (name) => unique(`tag/${nameFor(name)}`),
  };
}

function nameFor(text: string): string {
  const name = text
    .slice(0, 200)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 100)
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'x' : name;
}
