import { slugFrom } from '../model/address.ts';

// Words that say that a document is a document. Generators write them when nobody gave a title.
const words = new Set(
  [
    'api apis app application http json my new rest restful service the untitled web',
    'contract contracts definition definitions description doc docs document documentation generated',
    'index interface main openapi reference root schema schemas spec specification specs swagger title',
  ].flatMap((line) => line.split(' ')),
);

/** Whether a title names no API in particular: `OpenAPI definition`, `API v1`. */
export function isGenericTitle(title: string): boolean {
  return isGeneric(slugFrom(title) ?? '');
}

/** Whether a slug is made of such words, versions and numbers alone. */
export function isGeneric(slug: string): boolean {
  return slug.split('-').every((word) => words.has(word) || /^v?\d*$/.test(word));
}
