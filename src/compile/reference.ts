import { parseCoordinate } from '../model/address.ts';

/** Where a reference leads: a file of the tree and a fragment in it, or nowhere, and why. */
export type ResolvedReference =
  | {
      ok: true;
      /** Path in the tree; the referring file's own for `#…`. */ path: string;
      /** After `#`, decoded; null without `#`. */ fragment: string | null;
    }
  | {
      ok: false;
      rule: 'ref-remote' | 'ref-scheme' | 'ref-registry' | 'ref-outside-tree' | 'ref-syntax';
      message: string;
    };

/**
 * Resolves a `$ref`'s text against the file that holds it (RFC 3986 §5, on the paths of one tree). Nothing but a plain relative path inside the
 * tree is let through: no scheme, host, query, absolute path, backslash, NUL, and no percent-encoded separator or dot.
 */
export function resolveReference(from: string, reference: string): ResolvedReference {
  const hash = reference.indexOf('#');
  const target = hash < 0 ? reference : reference.slice(0, hash);
  const fragment = hash < 0 ? null : decode(reference.slice(hash + 1));
  const shown = JSON.stringify(reference.length > 200 ? `${reference.slice(0, 200)}…` : reference);
  const refuse = (rule: Extract<ResolvedReference, { ok: false }>['rule'], why: string): ResolvedReference => ({
    ok: false,
    rule,
    message: `The reference ${shown} ${why}`,
  });
  if (hash >= 0 && fragment === null) return refuse('ref-syntax', 'has a percent-encoding that is no UTF-8.');
  if (target === '') return { ok: true, path: from, fragment };
  if (parseCoordinate(target.replace(/^\{registry\}\//, '')) !== null)
    return refuse(
      'ref-registry',
      'names a document of the registry; put a copy of it in the repository and refer to that.',
    );
  if (/^https?:/i.test(target) || target.startsWith('//'))
    return refuse(
      'ref-remote',
      'leads to the network; put the file in the repository and refer to it by a relative path.',
    );
  if (/^[a-z][a-z0-9+.-]*:/i.test(target))
    return refuse('ref-scheme', 'has a scheme; only relative paths are followed.');
  if (target.startsWith('/'))
    return refuse('ref-outside-tree', 'is an absolute path; only relative paths are followed.');
  if (target.includes('\\')) return refuse('ref-syntax', 'has a backslash; paths are written with "/".');
  if (target.includes('?')) return refuse('ref-syntax', 'has a query; only relative paths are followed.');
  if (/%(?:2e|2f|5c|00)/i.test(target))
    return refuse('ref-syntax', 'hides a ".", "/", "\\" or NUL in a percent-encoding.');
  const decoded = decode(target);
  if (decoded === null || decoded.includes('\0')) return refuse('ref-syntax', 'is no path.');
  const segments = from.split('/').slice(0, -1);
  for (const segment of decoded.split('/')) {
    if (segment === '..') {
      if (segments.pop() === undefined) return refuse('ref-outside-tree', 'leads out of the tree.');
    } else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  if (segments.length === 0) return refuse('ref-syntax', 'names a folder, not a file.');
  return { ok: true, path: segments.join('/'), fragment };
}

function decode(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
