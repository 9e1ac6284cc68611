import { comparedWith } from '../../model/versions/compared-with.ts';
import { resourceKey } from '../../model/cache-key.ts';
import { parseSelector, type Selector, type View } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { comparisonOf } from '../../registry/changes/compare-versions.ts';
import { grantVersion, type Granted, type GrantedVersion } from '../../registry/read.ts';
import { diffMarkdown, diffPage } from '../../site/pages/versions/diff-page.ts';
import { explainAbsence } from '../nothing-here.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';
import { sharing } from './lifetime.ts';
import { chooseType } from './negotiate.ts';
import type { ReadRequest } from './read-request.ts';
import { sendValue } from './views.ts';

/**
 * Sends what changed between two versions: `?from=` (default: the predecessor of the other) and
 * `?to=` (default: latest), written as after the `@` of a URL. `pinned`: the version in the path, which
 * takes the place of `to`. As JSON, as a page, or as Markdown. Without an earlier version, `from` and
 * `verdict` are null.
 */
export async function sendDiff(
  read: ReadRequest,
  granted: Granted,
  view: Extract<View, 'diff' | 'diff-json' | 'diff-markdown'>,
  pinned: GrantedVersion | null,
): Promise<void> {
  const { site, registry } = read.context;
  const { resource } = granted;
  const query = new URLSearchParams(read.query);
  if (pinned !== null && query.has('to'))
    throw new RegistryError('malformed', 'The path names the later version. Leave out the parameter to.');
  const to = pinned ?? versionFor(granted, query, 'to') ?? grantSelected(granted, { kind: 'latest' });
  const before = comparedWith(resource, to.version);
  const from = versionFor(granted, query, 'from') ?? (before && { ...granted, version: before });
  const comparison = from && (await comparisonOf(registry, from, to));
  const form = formOf(view, query.get('format'), read.request.headers.accept);
  const keys = [resourceKey(resource)];
  if (form === 'json') {
    const none = { verdict: null, counts: null, changes: null, truncated: false, reason: null };
    const body = { from: from?.version.label ?? null, to: to.version.label, ...(comparison ?? none) };
    return sendValue(read, body, sharing(registry.config, resource.visibility, 'latest', { keys }));
  }
  const headers = pageSharing(registry.config, { isPublic: resource.visibility === 'public', keys });
  if (form === 'markdown') {
    const text = diffMarkdown(site, from, to, comparison);
    return sendPage(read, registry, bytesOf(text), { headers, mediaType: 'text/markdown; charset=utf-8' });
  }
  return sendPage(read, registry, bytesOf(await diffPage(site, from, to, comparison)), { headers });
}

const forms: Readonly<Record<string, 'json' | 'markdown' | 'html'>> = {
  'application/json': 'json',
  'text/html': 'html',
  'text/markdown': 'markdown',
};

/** The form of the answer: a parameter wins over the suffix, and that over `Accept`. JSON first. */
function formOf(view: View, format: string | null, accept: string | undefined): 'json' | 'markdown' | 'html' {
  if (format === 'json' || format === 'html' || format === 'markdown') return format;
  if (format === 'md') return 'markdown';
  if (format === null && view !== 'diff') return view === 'diff-json' ? 'json' : 'markdown';
  const type =
    format !== null ? null : accept === undefined ? 'application/json' : chooseType(accept, Object.keys(forms));
  if (type !== null) return forms[type]!;
  const extra = { available: Object.keys(forms).map((mediaType) => ({ mediaType })) };
  throw new RegistryError('not_acceptable', `A comparison is available as ${Object.keys(forms).join(', ')}.`, {
    extra,
  });
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
