import { digestOf } from '../../model/digest.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import { draftRef, type Draft, type DraftFile, type SiteName } from '../model/documentation-site.ts';
import { isPagePath } from '../model/page-path.ts';
import { withRoom } from '../../registry/maintenance/quotas.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import { watchPurges } from '../../registry/purge.ts';
import { bundle } from './bundles.ts';
import { draftOf, findEditable, listDrafts } from './drafts.ts';
import { kindOfFile } from './file-kind.ts';

/** A file with its bytes. */
export interface NewFile {
  path: string;
  bytes: Uint8Array;
}

/** The result of replacing all files of a site. */
export interface Replaced {
  /** The files that the site has now. */
  files: ReadonlyMap<string, DraftFile>;
  /** How many were stored and removed. The others were there already. */
  stored: number;
  removed: number;
  /** Files that a site cannot have, with the reason. They are left out. */
  problems: Problem[];
}

/** Records that are written at once: the log joins them into a few entries. */
const atOnce = 200;

/** The files that sites can have, and what is wrong with the others. */
export function sortFiles(
  files: readonly NewFile[],
  maxBytes: number,
): { accepted: (NewFile & { mediaType: string })[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const accepted = files.flatMap((file) => {
    const { path, bytes } = file;
    const kind = kindOfFile(path, bytes);
    const fault =
      bytes.byteLength > maxBytes
        ? `The file has ${bytes.byteLength} bytes; the limit is ${maxBytes}.`
        : 'fault' in kind
          ? kind.fault
          : null;
    if (fault !== null || 'fault' in kind) {
      problems.push(problemAtFile('site-file', path, fault!, 'warning'));
      return [];
    }
    return [{ ...file, mediaType: kind.mediaType }];
  });
  return { accepted, problems };
}

/**
 * Makes these all the files of a site, to be published with the next deployment. Files that did not
 * change are not written. A crash leaves some of them; the same call again does the rest. Throws
 * `conflict` if the site's files come from a repository.
 */
export async function replaceDrafts(
  registry: Registry,
  site: SiteName,
  given: readonly NewFile[],
  author: Author,
): Promise<Replaced> {
  const { value: record } = await findEditable(registry, site);
  const { accepted, problems } = sortFiles(given, registry.config.limits.fileBytes);
  const before = new Map((await listDrafts(registry, site)).map(({ path, file }) => [path, file]));
  const digests = accepted.map(({ bytes }) => digestOf(bytes));
  const isKnown = (index: number) => before.get(accepted[index]!.path)?.digest === digests[index];
  const fresh = accepted.flatMap((file, index) => (isKnown(index) ? [] : [{ ...file, digest: digests[index]! }]));
  registry.compiler.expectPages?.(
    fresh.filter(({ path }) => isPagePath(path)),
    registry.config.limits,
  );
  return withRoom(registry, site.org, async (take) => {
    const sizeOf = (files: Iterable<{ size: number }>) => [...files].reduce((sum, { size }) => sum + size, 0);
    const more = sizeOf(accepted.map(({ bytes }) => ({ size: bytes.byteLength }))) - sizeOf(before.values());
    take({ drafts: Math.max(0, accepted.length - before.size), bytes: Math.max(0, more) });
    const { places, objects } = bundle(fresh.map(({ bytes }) => bytes));
    const store = async () => void (await Promise.all(objects.map(registry.objects.put)));
    const mendPurged = await watchPurges(registry);
    await store();
    const files = new Map(accepted.flatMap(({ path }, index) => (isKnown(index) ? [[path, before.get(path)!]] : [])));
    const writes: [path: string, file: DraftFile | null][] = fresh.map(({ path, digest, mediaType }, index) => [
      path,
      { ...places[index]!, digest, mediaType, page: null },
    ]);
    const names = new Set(accepted.map(({ path }) => path));
    const gone = [...before.keys()].filter((path) => !names.has(path));
    for (const path of gone) writes.push([path, null]);
    for (let start = 0; start < writes.length; start += atOnce) {
      await Promise.all(
        writes.slice(start, start + atOnce).map(async ([path, file]) => {
          const action = `${file === null ? 'delete' : 'save'} ${path}`;
          await registry.refs.update<Draft>(draftRef(site, path), () => ({
            value: draftOf(record, file),
            change: { ...author, action },
          }));
          if (file !== null) files.set(path, file);
        }),
      );
    }
    await mendPurged(store);
    return { files, stored: fresh.length, removed: gone.length, problems };
  });
}
