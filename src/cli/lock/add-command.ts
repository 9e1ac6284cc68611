import {
  openLock,
  pathInLock,
  saveLock,
  lockOption,
  type LockOptions,
  type OpenLock,
  removeTreeFile,
  entriesNamed,
} from './open-lock.ts';
import { Command } from 'commander';
import { readUserDefaults } from '../../config/load-config.ts';
import type { Selector } from '../../model/address.ts';
import { malformed, refused } from '../../model/errors.ts';
import { parseSemanticVersion } from '../../model/label.ts';
import { pathFault, type LockedContract } from '../../model/lock.ts';
import { nameOf } from '../../model/resource.ts';
import { requireCoordinate } from '../command-context.ts';
import { print, printJson, withProgressUnless } from '../output.ts';
import { requireRegistry } from '../registry-client.ts';

interface AddOptions extends LockOptions {
  as?: string;
  registry?: string;
}

/** `stele add COORDINATE`: makes a version of a contract a file of this repository. */
export function addCommand(): Command {
  return new Command('add')
    .description('Save a contract as a file of this repository, and record its version in contracts.lock.')
    .argument('<coordinate>', '@org/type/slug[@range]; without a range, ^ and the latest version')
    .option('--as <file>', 'the file to write, as JSON or YAML by its ending (default: contracts/<slug>.json)')
    .option('--registry <url>', 'the registry (default: STELE_REGISTRY, else the only one in contracts.lock)')
    .addOption(lockOption)
    .action(async (name: string, _options: unknown, self: Command) => {
      const options = self.optsWithGlobals<AddOptions>();
      const lock = await openLock(self, { creates: true });
      const entry = await withProgressUnless(options.json, `Adding ${name}`, () => add(lock, name, options));
      if (options.json) return printJson(entry);
      const { path, contract, version, range } = entry;
      const before = lock.contracts.find((each) => each.path === path) ?? entry;
      if (before.version === version && before.range === range)
        print(`added ${path}: ${contract}@${version} (${range})`);
      else print(`updated ${path}: ${contract} ${before.version} → ${version} (was ${before.range}, is ${range})`);
    });
}

async function add(lock: OpenLock, name: string, options: AddOptions): Promise<LockedContract> {
  const { coordinate, selector } = requireCoordinate(name);
  const contract = nameOf(coordinate);
  const registry = registryFor(lock, options.registry);
  const earlier = lock.contracts.filter((each) => each.contract === contract && each.registry === registry);
  if (options.as === undefined && earlier.length > 1)
    throw malformed(
      `${contract} is in contracts.lock more than once: ${earlier.map(({ path }) => path).join(', ')}. Name the file with --as.`,
    );
  const usual = earlier[0]?.path ?? `contracts/${coordinate.slug}.json`;
  const path = options.as === undefined ? usual : await pathInLock(lock, options.as);
  const fault = pathFault(path);
  if (fault !== null) throw malformed(`${path} ${fault}. Name another file with --as.`);
  const current = lock.contracts.find((each) => each.path === path);
  if (current !== undefined && current.contract !== contract)
    throw malformed(
      `${path} is ${current.contract}. Choose another file with --as, or run stele remove ${path} first.`,
    );
  const [{ contractBytes, openContractSource, sha256Of, trustedRegistry }, { assertReplaceable, checkContracts }] =
    await Promise.all([import('./contract-source.ts'), import('./check-contracts.ts')]);
  const trusted = trustedRegistry(options.registry);
  const { version, digest } = await openContractSource(registry, trusted).find(coordinate, selector);
  const named = { path, contract, range: rangeFor(selector, version), version, registry, digest };
  const sha256 = await sha256Of(named, trusted);
  const entry = { ...named, sha256 };
  const bytes = await contractBytes(entry, trusted);
  await checkContracts(lock.folder, [entry], { trusted, isFetched: () => true });
  await assertReplaceable(lock, path, current, sha256);
  await saveLock(lock, [...lock.contracts.filter((each) => each !== current), entry], [{ path, bytes }]);
  return entry;
}

function registryFor({ contracts }: OpenLock, given: string | undefined): string {
  const registries = new Set(contracts.map(({ registry }) => registry));
  const only = registries.size === 1 ? [...registries][0] : undefined;
  return requireRegistry(given ?? readUserDefaults().registry ?? only);
}

function rangeFor(selector: Selector, label: string): string {
  if (selector.kind === 'digest') return selector.digest;
  if (selector.kind === 'version') return selector.version;
  const version = parseSemanticVersion(label);
  return version === null || version.prerelease.length > 0 ? label : `^${version.core.join('.')}`;
}

/** `stele remove NAME`: deletes a contract's file and its entry. */
export function removeCommand(): Command {
  return new Command('remove')
    .description('Remove a contract from contracts.lock, and delete its file.')
    .argument('<name>', 'the file, or @org/type/slug')
    .option('--keep', 'keep the file')
    .addOption(lockOption)
    .action(async (name: string, _options: unknown, self: Command) => {
      const { json, keep = false } = self.optsWithGlobals<LockOptions & { keep?: boolean }>();
      const lock = await openLock(self);
      const named = await entriesNamed(lock, name);
      const { describeState, fileStateOf } = await import('./check-contracts.ts');
      for (const entry of keep ? [] : named) {
        const state = await fileStateOf(lock, entry);
        if (state === 'edited') throw refused(describeState(state, entry));
      }
      // The lock is last: if anything fails before, the same command again does the rest.
      for (const { path } of keep ? [] : named) await removeTreeFile(lock.folder, path);
      const left = lock.contracts.filter((each) => !named.includes(each));
      await saveLock(lock, left);
      if (json) printJson({ contracts: named });
      else for (const { path, contract, version } of named) print(`removed ${path}: ${contract}@${version}`);
    });
}
