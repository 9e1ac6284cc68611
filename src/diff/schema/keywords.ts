/** Keywords that are only for people. `xml` says how a value is written as XML. */
export const textKeywords = new Set(['title', 'description', 'example', 'examples', 'externalDocs', '$comment']);

/** Members that restrict no value where they stand: names, definitions, and what is read elsewhere. */
const unrestricting = new Set(
  'nullable discriminator readOnly writeOnly deprecated default xml $ref $dynamicRef $recursiveRef $id id $schema $anchor $dynamicAnchor $recursiveAnchor $defs definitions $vocabulary allOf anyOf oneOf'.split(' '), // prettier-ignore
);

/** Whether a keyword is only for people. */
export function isText(keyword: string): boolean {
  return textKeywords.has(keyword) || keyword.startsWith('x-');
}

/** Whether a keyword restricts values itself. */
export function isRestriction(keyword: string): boolean {
  return !isText(keyword) && !unrestricting.has(keyword);
}
