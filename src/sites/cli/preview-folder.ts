import type { Command } from 'commander';
import { digestOf } from '../../model/digest.ts';
import type { Report } from '../../model/problem.ts';
import type { SiteName } from '../model/documentation-site.ts';
import { readConfig, withRegistry } from '../../cli/command-context.ts';
import { withProgress } from '../../cli/output.ts';
import { openRegistryAt } from '../../cli/registry-client.ts';
import { reader, sendFolder, withProblems } from './publish-folder.ts';
import { readFolder } from './read-folder.ts';

/** The result of `stele sites preview`, as `--json` prints it. */
export interface PreviewedFolder {
  /** Only a path if the configuration does not say where the registry is. */
  url: string;
  /** ISO 8601, UTC. */
  expiresAt: string;
  rendered: number;
  report: Report;
}

/**
 * Previews a site: with the files of a folder, or (null) those that were sent. A running registry
 * keeps the folder's files as what is published next.
 */
export async function previewFolder(
  command: Command,
  site: SiteName,
  folder: string | undefined,
  there: string | undefined,
): Promise<PreviewedFolder> {
  const { limits } = await readConfig(command);
  const read = folder === undefined ? null : readFolder(folder, limits.fileBytes);
  const unread = read?.problems ?? [];
  if (there !== undefined) {
    const registry = await openRegistryAt(there, site.org);
    return withProgress('Rendering', async () => {
      const sent = read && (await sendFolder(registry, site, read.files, {}));
      const preview = (await registry.demand('POST', `/v1/sites/${site.slug}/previews`)) as unknown as PreviewedFolder;
      return { ...preview, report: withProblems(preview.report, [...unread, ...(sent?.problems ?? [])]) };
    });
  }
  return withRegistry(command, (registry) =>
    withProgress('Rendering', async () => {
      const { previewDrafts, previewSite } = await import('../registry/site-preview.ts');
      const { sortFiles } = await import('../registry/replace-drafts.ts');
      const { accepted, problems } = sortFiles(read?.files ?? [], limits.fileBytes);
      const bytes = new Map(accepted.map((file) => [file.path, file.bytes]));
      const request = { site, reader, by: 'operator:cli' };
      const { token, expiresAt, rendered, report } = await (read === null
        ? previewDrafts(registry, request)
        : previewSite(registry, {
            ...request,
            files: accepted.map((file) => ({ path: file.path, source: digestOf(file.bytes) })),
            read: async (paths) => paths.map((path) => bytes.get(path)!),
            origin: null,
          }));
      const url = `${registry.config.url ?? ''}/previews/${token}/`;
      return { url, expiresAt, rendered, report: withProblems(report, [...unread, ...problems]) };
    }),
  );
}
