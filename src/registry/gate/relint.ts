import { sourceLayers, type ArtifactConfig, storedEntry } from '../../model/artifact.ts';
import { problemAtFile, type Exemption, type Report } from '../../model/problem.ts';
import type { Resource, Version } from '../../model/resource.ts';
import type { CompileGate, GivenRuleset, Load, Turn } from '../../compile/compile.ts';
import type { Registry } from '../registry.ts';
import { codeFor } from './ruleset-code.ts';
import { readJson, readManifestOf, readObject } from '../stored.ts';

/**
 * Checks a published version again, from the files that are stored with it, against a ruleset.
 * Writes nothing.
 */
export async function relint(
  registry: Registry,
  { org, type }: Pick<Resource, 'org' | 'type'>,
  { manifest: digest }: Pick<Version, 'manifest'>,
  ruleset: GivenRuleset,
  gate: CompileGate,
  turn: Turn = {},
): Promise<Report> {
  const manifest = await readManifestOf(registry, { manifest: digest });
  const config = await readJson<ArtifactConfig>(registry, manifest.config.digest, digest);
  const { validation } = config;
  const sources = sourceLayers(manifest);
  const load: Load = (paths) =>
    Promise.all(
      paths.map(async (path) => {
        const layer = sources.get(path);
        if (layer === undefined)
          return {
            path,
            found: false,
            problem: problemAtFile('file-missing', path, 'There is no such file.'),
          } as const;
        return { path, found: true, bytes: await readObject(registry, layer.digest, digest), blob: null } as const;
      }),
    );
  const { limits } = registry.config;
  // Of the commit nothing is known but its files: the day of the gate counts.
  const code = codeFor(registry, { org, type }, ruleset, null);
  const input = { type, entry: storedEntry(config), validation, ruleset, gate, limits, reportOnly: true, ...code };
  return (await registry.compiler.compile(input, load, { org, ...turn })).report;
}

/**
 * Keys of the findings that a ruleset has for a published version: those that a ratchet lets pass.
 * Exempted findings are not among them: they count again when the exemption ends.
 */
export async function knownFindings(
  registry: Registry,
  resource: Pick<Resource, 'org' | 'type'>,
  version: Pick<Version, 'manifest'>,
  ruleset: GivenRuleset,
  turn: Turn = {},
): Promise<string[]> {
  const exemptions = await exemptionsOf(registry, version);
  const gate: CompileGate = { blockOn: 'none', exemptions, today: '', known: null, listsKnown: true };
  const { known = [] } = await relint(registry, resource, version, ruleset, gate, turn);
  return known;
}

/** The exemptions that a version was published with. */
export async function exemptionsOf(registry: Registry, version: Pick<Version, 'manifest'>): Promise<Exemption[]> {
  return exemptionsIn(await storedReport(registry, version));
}

export function exemptionsIn({ gate }: Pick<Report, 'gate'>): Exemption[] {
  return gate?.exemptions ?? [];
}

/** The report of a version, as it was published. */
export async function storedReport(registry: Registry, version: Pick<Version, 'manifest'>): Promise<Report> {
  const { config } = await readManifestOf(registry, version);
  const { report } = await readJson<ArtifactConfig>(registry, config.digest, version.manifest);
  return readJson<Report>(registry, report, version.manifest);
}
