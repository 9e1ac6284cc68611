import { withoutRegistry } from '../../compile/reference.ts';
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import type { GivenRuleset, Compiler } from '../../compile/compile.ts';
import type { Config } from '../../config.ts';
import { digestOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { openFolder } from '../../source/folder.ts';
import { requireCoordinate, withRegistryToRead } from '../command-context.ts';
import { formatReport } from '../output.ts';
import { fetchDocument, isUrl, urlIn } from './fetch-document.ts';

type Find = (name: string) => Promise<GivenRuleset>;

/**
 * A ruleset by its coordinate, file or URL, with all that it extends. Coordinates are looked up in
 * the data folder, or in the registry at a URL. Throws `refused` for an invalid ruleset.
 */
export async function rulesetNamed(
  command: Command,
  compiler: Compiler,
  config: Config,
  name: string,
  registry: string | undefined,
): Promise<GivenRuleset> {
  const find: Find =
    registry === undefined
      ? (coordinate) => findHere(command, coordinate)
      : (coordinate) => read(compiler, config, urlIn(registry, coordinate), coordinate, registry);
  const isCoordinate = name.startsWith('@') && !existsSync(name);
  if (isCoordinate) requireCoordinate(name);
  const ruleset = isCoordinate ? await find(name) : await read(compiler, config, name, name, registry);
  const { resolveExtended } = await import('../../registry/gate/extended.ts');
  const extended = await resolveExtended(ruleset.name, ruleset.json, find);
  return { ...ruleset, ...(extended !== null && { extended }) };
}

/** A published ruleset of the data folder. */
async function findHere(command: Command, name: string): Promise<GivenRuleset> {
  const { coordinate } = requireCoordinate(name);
  const { findRuleset } = await import('../../registry/gate/ruleset-gate.ts');
  const same = (config: Config) => config;
  return withRegistryToRead(command, same, (registry) => findRuleset(registry, coordinate.org, name));
}

async function read(
  compiler: Compiler,
  { limits }: Config,
  place: string,
  name: string,
  registry: string | undefined,
): Promise<GivenRuleset> {
  const { snapshot, entry } = isUrl(place)
    ? await fetchDocument(place, limits.fileBytes, registry)
    : await openFolder(place, limits);
  const input = { type: 'rulesets', entry, validation: 'strict', ruleset: null, limits, code: { date: null } } as const;
  const { artifact, report } = await compiler.compile(input, withoutRegistry(snapshot));
  if (artifact === null) throw new RegistryError('refused', `${name} is not a valid ruleset:\n${formatReport(report)}`);
  const json = artifact.representations.find(({ format, coding }) => format === 'json' && coding === 'identity')!.bytes;
  return { digest: digestOf(json), name, json: Buffer.from(json).toString() };
}
