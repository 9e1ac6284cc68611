import { resourceKey } from '../../model/cache-key.ts';
import { parseSelector, type Selector } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { compareOutlines, type Changes } from '../../model/outline.ts';
import { neighbours } from '../../model/resource.ts';
import { outlineOf } from '../../registry/derived.ts';
import { grantVersion, type Granted, type GrantedVersion } from '../../registry/read.ts';
import { sharing } from './lifetime.ts';
import { explainAbsence } from '../nothing-here.ts';
import type { ReadRequest } from './read-request.ts';
import { sendJson } from './views.ts';

/**
 * Sends the differences between two versions, by name: `?from=` (default: the predecessor of the
 * other) and `?to=` (default: latest), written as after the `@` of a URL. `from` is null if there
 * is no earlier version. `changes` is null if there is nothing to compare with, or a document could
 * not be read within the limits.
 */
export async function sendDiff(read: ReadRequest, granted: Granted): Promise<void> {
  const { registry } = read.context;
  const { resource } = granted;
  const query = new URLSearchParams(read.query);
  const to = versionFor(granted, query, 'to') ?? grantSelected(granted, { kind: 'latest' });
  const before = neighbours(resource, to.version).predecessor;
  const from = versionFor(granted, query, 'from') ?? (before && { ...granted, version: before });
  const body = { from: from?.version.label ?? null, to: to.version.label, ...(await compare(read, from, to)) };
  await sendJson(
    read,
    body,
    sharing(registry.config, resource.visibility, 'latest', { keys: [resourceKey(resource)] }),
  );
}

async function compare(
  { context: { registry } }: ReadRequest,
  from: GrantedVersion | null,
  to: GrantedVersion,
): Promise<{ changes: Changes | null; truncated: boolean }> {
  if (from === null) return { changes: null, truncated: false };
  const [before, after] = await Promise.all([outlineOf(registry, from), outlineOf(registry, to)]);
  if (before === null || after === null) return { changes: null, truncated: false };
  return { changes: compareOutlines(before, after), truncated: before.truncated || after.truncated };
}

/**
 * The version in a parameter; null if the parameter is absent. Throws `malformed`, `not_found` or
 * `gone`.
 */
function versionFor(granted: Granted, query: URLSearchParams, name: 'from' | 'to'): GrantedVersion | null {
  // An unencoded plus sign arrives as a space, which no label contains.
  const [text, ...more] = query.getAll(name);
  if (text === undefined) return null;
  const selector = more.length > 0 ? null : parseSelector(text.replaceAll(' ', '+'));
  if (selector === null) throw new RegistryError('malformed', `The parameter ${name} must be a single version.`);
  return grantSelected(granted, selector);
}

function grantSelected(granted: Granted, selector: Selector): GrantedVersion {
  const selected = grantVersion(granted, selector);
  if (selected === null) throw new RegistryError('not_found', explainAbsence(granted.resource, selector));
  return selected.granted;
}
