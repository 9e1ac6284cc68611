import { writeTreeFile, openLock, lockOption, type LockOptions, type OpenLock } from './open-lock.ts';
import { Command } from 'commander';
import { malformed } from '../../model/errors.ts';
import type { LockedContract } from '../../model/lock.ts';
import { complain, print, printJson, withProgressUnless } from '../output.ts';
import type { FileState } from './check-contracts.ts';

interface InstallOptions extends LockOptions {
  frozen?: boolean;
  report?: string;
}

interface Installed extends LockedContract {
  state: FileState | 'restored';
  detail: string | null;
}

/** `stele install`: restores missing files of a lock and checks all others. */
export function installCommand(): Command {
  return new Command('install')
    .description('Check every file of contracts.lock, and restore the missing ones.')
    .option('--frozen', 'change nothing, and fail if a file is missing or different: for CI')
    .option(
      '--report <consumer>',
      'tell the registry of STELE_REGISTRY what this consumer uses, with the key in STELE_KEY',
    )
    .addOption(lockOption)
    .action(async (_options: unknown, self: Command) => {
      const { frozen = false, json = false, report } = self.optsWithGlobals<InstallOptions>();
      const lock = await openLock(self);
      const installed = await withProgressUnless(json, 'Checking contracts', (say) => install(lock, frozen, say));
      const wrong = installed.filter(({ detail }) => detail !== null);
      if (wrong.length > 0) process.exitCode = 1;
      else if (report !== undefined) await reportTo(lock, report);
      if (json) return printJson({ contracts: installed });
      for (const { state, path } of installed) if (state === 'restored') print(`restored ${path}`);
      for (const { detail } of wrong) complain(detail!);
      const counted = `${installed.length} contract${installed.length === 1 ? '' : 's'}`;
      complain(wrong.length === 0 ? `${counted} checked` : `${counted} checked, ${wrong.length} wrong`);
    });
}

/** Everything is fetched before the first file is written. With `frozen`, nothing is. */
async function install(lock: OpenLock, frozen: boolean, say: (text: string) => void): Promise<Installed[]> {
  const [{ contractBytes, isCached, trustedRegistry }, { checkContracts, describeState, fileStateOf }, { mapAtOnce }] =
    await Promise.all([
      import('./contract-source.ts'),
      import('./check-contracts.ts'),
      import('../../scheduling/waiting.ts'),
    ]);
  const states: Installed[] = [];
  for (const entry of lock.contracts) {
    const state = await fileStateOf(lock, entry);
    const isRestored = state === 'missing' && !frozen;
    const detail = state === 'ok' || isRestored ? null : describeState(state, entry);
    states.push({ ...entry, state: isRestored ? 'restored' : state, detail });
  }
  const missing = states.filter(({ state }) => state === 'restored');
  const trusted = trustedRegistry();
  let done = 0;
  const here = new Set<string>();
  // Everything goes into the cache first, and is written from there.
  await mapAtOnce(missing, 8, async (entry) => {
    if (await isCached(entry)) here.add(entry.path);
    await contractBytes(entry, trusted);
    say(`Fetching contracts: ${++done} of ${missing.length}`);
  });
  const sound = states.filter(({ detail }) => detail === null);
  await checkContracts(lock.folder, sound, {
    trusted,
    isFetched: ({ path }) => missing.some((each) => each.path === path),
    isHere: ({ path }) => here.has(path),
  });
  for (const entry of missing) await writeTreeFile(lock.folder, entry.path, await contractBytes(entry, trusted));
  return states;
}

async function reportTo({ contracts }: OpenLock, consumer: string): Promise<void> {
  const [{ trustedRegistry }, { openRegistryAt }] = await Promise.all([
    import('./contract-source.ts'),
    import('../registry-client.ts'),
  ]);
  const registry = trustedRegistry()?.replace(/\/+$/, '');
  if (registry === undefined) throw malformed('Set STELE_REGISTRY to the registry that receives the report.');
  const used = contracts.filter((each) => each.registry === registry);
  const report = used.map(({ contract, range, version, digest }) => ({ contract, range, version, digest }));
  const client = await openRegistryAt(registry, null);
  await client.demand('PUT', `/v1/consumers/${encodeURIComponent(consumer)}`, { contracts: report });
}
