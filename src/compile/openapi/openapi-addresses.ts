import { parseDocumentUrl } from '../../model/address.ts';
import { joinPointer } from '../text/pointer.ts';
import type { ParsedFile } from '../text/parse.ts';
import { isMappingReference } from './openapi-paths.ts';
import { identifiedIn, severityOf } from './openapi-references.ts';

/** A text without this names no document of a registry, so its nodes need not be searched. Most texts lack it. */
const sign = /\/(?:@|%40)/;

/**
 * Returns the URLs of a registry's documents that an OpenAPI file references. Text in examples and
 * extensions that only looks like a reference does not count, nor do URLs that the file itself
 * declares.
 */
export function openapiAddresses(file: ParsedFile): Map<string, readonly string[]> {
  const urls = new Map<string, readonly string[]>();
  if (!sign.test(file.text)) return urls;
  const tokens: string[] = [];

  function add(reference: string, isMapped: boolean): void {
    const [url = ''] = reference.split('#');
    if (urls.has(url) || parseDocumentUrl(url) === null || identifiedIn(file).has(url)) return;
    if (isMapped || severityOf(joinPointer('', ...tokens), reference) === 'error') urls.set(url, []);
  }

  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const isMapping = tokens.at(-1) === 'mapping' || key === 'defaultMapping';
      if (typeof value !== 'string') {
        tokens.push(key);
        visit(value);
        tokens.pop();
      } else if (key === '$ref' || (isMapping && isMappingReference(value))) add(value, key !== '$ref');
    }
  }

  visit(file.value);
  return urls;
}
