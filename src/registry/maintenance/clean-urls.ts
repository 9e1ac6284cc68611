import {
  repositoryId,
  repositoryRef,
  type Repository,
  credentialsIn,
  hasCredential,
  withoutCredential,
} from '../../model/connection.ts';
import { isItem, type Change, type SealedEntry } from '../../store/log/entry.ts';

/** Kinds of records that name a repository as `repository`; their other texts are people's own words. */
const naming = ['resources/', 'sites/', 'deployments/'];

/** The changes of an entry with a credential in the URL of a repository. */
export function changesWithCredential({ changes }: Pick<SealedEntry, 'changes'>): Change[] {
  return changes.filter((change) => withoutCredentials(change) !== change);
}

/** The change with every credential left out of the URLs of repositories; the same one where there is none. */
function withoutCredentials(change: Change): Change {
  const isRepository = change.name.startsWith('repositories/');
  if (!isRepository && !naming.some((kind) => change.name.startsWith(kind))) return change;
  const text = JSON.stringify(change);
  const next = JSON.parse(text, (key, value: unknown) =>
    typeof value === 'string' && (isRepository || key === 'repository') ? withoutCredential(value) : value,
  ) as Change;
  return JSON.stringify(next) === text ? change : next;
}

/** The credentials in a log, and how to write it without them. */
export interface Cleaning {
  /** The credentials, as they stand in URLs. */
  credentials: string[];
  /** The records that have one. */
  names: string[];
  clean: (changes: Change[]) => Change[];
}

/**
 * How the changes of a log are written without credentials. A followed repository is named by a
 * digest of its URL, which a password could be guessed from: it gets the name of its clean URL, or
 * is left out if that record exists. Null if the log has no credential.
 */
export async function cleaningOf(entries: AsyncIterable<SealedEntry>): Promise<Cleaning | null> {
  const all = new Set<string>();
  const dirty = new Map<string, string | null>();
  const credentials = new Set<string>();
  for await (const { changes } of entries)
    for (const change of changes) {
      const { name } = change;
      all.add(name);
      if (withoutCredentials(change) === change) continue;
      for (const credential of textsIn(change).flatMap(credentialsIn)) credentials.add(credential);
      const url = !isItem(change) && name.startsWith('repositories/') ? (change.value as Repository).url : null;
      dirty.set(
        name,
        url !== null && hasCredential(url) ? cleanName(change.value as Repository) : (dirty.get(name) ?? null),
      );
    }
  if (dirty.size === 0) return null;
  const recordNames = new Set(all);
  const renamed = new Map<string, string | null>();
  for (const [name, own] of dirty) {
    if (own === null) continue;
    renamed.set(name, recordNames.has(own) ? null : own);
    recordNames.add(own);
  }
  const clean = (changes: Change[]): Change[] => {
    const next = changes.flatMap((change): Change[] => {
      const name = renamed.get(change.name);
      if (name === null) return [];
      const changed = withoutCredentials(change);
      return name === undefined ? [changed] : [{ ...changed, name }];
    });
    return next.length === changes.length && next.every((each, index) => each === changes[index]) ? changes : next;
  };
  return { credentials: [...credentials], names: [...dirty.keys()], clean };
}

function cleanName({ org, url, branch }: Repository): string {
  return repositoryRef(org, repositoryId(withoutCredential(url), branch));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
