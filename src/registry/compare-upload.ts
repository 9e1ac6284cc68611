import type { Turn } from '../compile/compile.ts';
import { parseSelector } from '../model/address.ts';
import type { Comparison } from '../model/comparison.ts';
import { refusedBy, malformed, notFound } from '../model/errors.ts';
import { nameOf, selectVersion, type Resource } from '../model/resource.ts';
import type { CompileRequest } from './gate/compile-document.ts';
import { openReferences } from './graph/references.ts';
import type { Registry } from './registry.ts';
import { compareWith, publishedAs } from './compare-versions.ts';

/**
 * Compares a version with a document that is not published. `from`: as after the `@` of a URL;
 * default: latest. The document need not be valid, but must be readable. Writes nothing. Throws
 * `malformed`, `not_found`, or `refused` with the document's report.
 */
export async function compareUpload(
  registry: Registry,
  resource: Resource,
  from: string,
  { snapshot, entry, reader }: Pick<CompileRequest, 'snapshot' | 'entry' | 'reader'>,
  turn: Turn,
): Promise<{ label: string; comparison: Comparison }> {
  const { compiler, config } = registry;
  const { org, type } = resource;
  const selector = parseSelector(from);
  if (selector === null) throw malformed('`from` must be a version, a range or `latest`.');
  const version = selectVersion(resource, selector)?.version;
  if (version === undefined) throw notFound(`${nameOf(resource)} has no version ${from}.`);
  if (version.status.state === 'withdrawn') throw notFound(`${nameOf(resource)}@${version.label} was withdrawn.`);
  const input = { type, entry, validation: 'lenient', ruleset: null, limits: config.limits } as const;
  const { load } = openReferences(registry, resource, (paths) => snapshot.read(paths), reader);
  const { artifact, report } = await compiler.compile(input, load, { org, ...turn });
  if (artifact === null) throw refusedBy(report);
  const comparison = await compareWith(registry, resource, version, publishedAs(artifact), turn);
  return { label: version.label, comparison };
}
