import { digestOf, hexOf } from '../../model/digest.ts';
import { isRegistryError, malformed, refused } from '../../model/errors.ts';
import { placeOfLabel } from '../../model/label.ts';
import { type LockedContract, lockName } from '../../model/lock.ts';
import { parseProof, parsePolicy, type WitnessPolicy } from '../../model/transparency/checkpoint.ts';
import { openCheckedLog, verifyProof, type CheckedPublicLog, keysOfLog, readLogState } from '../log/check-log.ts';
import {
  openCache,
  sha256Of,
  coordinateIn,
  openContractSource,
  type ContractSource,
  maxDocumentBytes,
} from './contract-source.ts';
import type { Command } from 'commander';
import type { Status } from '../../model/resource.ts';
import { countsInWords, usualRules, type Comparison } from '../../model/comparison.ts';
import { withCompiler } from '../command-context.ts';
import { type OpenLock, readTreeFile } from './open-lock.ts';

/** Beside `contracts.lock`: which logs and witnesses its contracts must have. */
const policyName = 'contracts.policy';
const maxPolicyBytes = 2 ** 20;

interface CheckOptions {
  /** The registry that gets the key. */
  trusted: string | undefined;
  /** Whether a contract came from the registry just now. For the others nothing is asked, unless there is a `contracts.policy`. */
  isFetched: (contract: LockedContract) => boolean;
  /** Whether its bytes were here before: then a registry that does not answer is no fault. */
  isHere?: (contract: LockedContract) => boolean;
}

/**
 * Checks that contracts are in the public logs of their registries with the digests that the lock has, and that their bytes
 * are those that the manifest with that digest names: by what was kept, which needs no network, else by what the registry
 * sends. Rejects with `refused` for what does not hold, and for a public contract that is not in the log of a registry that
 * has one. Private contracts are in no log, so a policy refuses them.
 */
export async function checkContracts(
  folder: string,
  contracts: readonly LockedContract[],
  { trusted, isFetched, isHere = () => false }: CheckOptions,
): Promise<void> {
  const policy = await readPolicy(folder);
  const cache = openCache();
  for (const [registry, some] of Map.groupBy(contracts, (each) => each.registry)) {
    const seen = readLogState(registry);
    const keys = seen && keysOfLog(seen);
    const source = openContractSource(registry, trusted);
    let log: ReturnType<typeof openCheckedLog> | null = null;
    for (const contract of some) {
      const place = `proofs/${hexOf(digestOf(`${registry}/${contract.contract}@${contract.version}`))}`;
      const kept = keys && (await cache.get(place).catch(() => null));
      if (kept && parseProof(String(kept)) !== null) {
        verifyProof({ registry, keys, policy }, contract, String(kept));
        if (isFetched(contract)) await checkBytes(contract, trusted);
        continue;
      }
      if (policy === null && !isFetched(contract)) continue;
      try {
        log ??= openCheckedLog(registry, (path) => source.file(path), policy);
        const opened = await log;
        if (opened === null) break;
        await checkBytes(contract, trusted);
        const proof = await prove(opened, source, contract);
        if (proof !== null) await cache.put(place, Buffer.from(proof)).catch(() => undefined);
        else if (policy !== null)
          throw refused(`${registry} has no proof that ${contract.contract}@${contract.version} is in its public log, and ${policyName} asks for one.`); // prettier-ignore
      } catch (error) {
        // The bytes came out of the cache, and are those of the lock.
        if (policy === null && isHere(contract) && isRegistryError(error, 'unreachable')) break;
        throw error;
      }
    }
  }
}

/**
 * The status by which a registry took a version back, if its public log says the same; null: it did not. Private versions are
 * in no log.
 */
export async function statusTakenBack(
  folder: string,
  contract: LockedContract,
  trusted: string | undefined,
): Promise<(Status & { reason: string }) | null> {
  const source = openContractSource(contract.registry, trusted);
  const { versions } = await source.history(coordinateIn(contract));
  const status = versions[placeOfLabel(versions, contract.version)]?.status;
  if (status?.state !== 'yanked' && status?.state !== 'withdrawn') return null;
  const log = await openCheckedLog(contract.registry, (path) => source.file(path), await readPolicy(folder));
  if (log === null) return status;
  const { readFacts } = await import('../log/verify-log.ts');
  const { states } = readFacts(await log.leaves(await log.head()));
  const state = states.get(`${contract.contract}@${contract.version}`);
  return state === undefined || state === status.state ? status : null;
}

async function checkBytes(contract: LockedContract, trusted: string | undefined): Promise<void> {
  const sha256 = await sha256Of(contract, trusted);
  if (sha256 === contract.sha256) return;
  const { path, version, registry } = contract;
  throw refused(`contracts.lock says that ${path} is sha256:${contract.sha256}, and ${contract.contract}@${version} at ${registry} is sha256:${sha256}. Add it again, and find out who wrote the lock.`); // prettier-ignore
}

/**
 * The proof that a contract is in a log, as text. A host that serves files has none: the leaves themselves are read then.
 * Null for a private contract.
 */
async function prove(log: CheckedPublicLog, source: ContractSource, contract: LockedContract): Promise<string | null> {
  const { version, registry } = contract;
  const name = `${contract.contract}@${version}`;
  const sent = String((await source.file(`/${name}?proof`)) ?? '');
  // A host that serves files answers with the document.
  if (parseProof(sent) !== null) {
    await log.check(contract, sent);
    return sent;
  }
  if (!(await source.isPublic(coordinateIn(contract), version))) return null;
  const proof = await log.find(contract);
  if (proof !== null) return proof;
  throw refused(`${name} is public, and not in the public log of ${registry}. Ask who runs the registry.`);
}

async function readPolicy(folder: string): Promise<WitnessPolicy | null> {
  const bytes = await readTreeFile(folder, policyName, maxPolicyBytes);
  return bytes === null ? null : parsePolicy(String(bytes), policyName);
}

/** Compares two versions of a contract. */
export type CompareContracts = (before: Side, after: Side) => Promise<Comparison>;

interface Side {
  entry: LockedContract;
  bytes: Uint8Array;
}

/** Runs the work with what compares contracts as `stele diff` does. A sandbox is started at the first comparison. */
export async function withComparer<T>(command: Command, work: (compare: CompareContracts) => Promise<T>): Promise<T> {
  return withCompiler(command, async (compiler, { limits }) => {
    const [{ compileOpened }, { createUpload }] = await Promise.all([
      import('../check/diff-command.ts'),
      import('../../source/upload.ts'),
    ]);
    const compiled = async ({ entry: { path, contract, version }, bytes }: Side) => {
      const entry = path.split('/').at(-1)!;
      const opened = { snapshot: createUpload(entry, bytes), entry, isRepository: true };
      return compileOpened(compiler, limits, `${contract}@${version}`, opened);
    };
    return work(async (before, after) =>
      compiler.compare(await compiled(before), await compiled(after), limits, usualRules),
    );
  });
}

/** How many operations changed, or fields where there are none. Descriptions do not count. */
export function extentOf({ changes }: Pick<Comparison, 'changes'>): { operations: number; fields: number } {
  const real = changes.filter(({ verdict }) => verdict !== 'docs');
  const operations = new Set(real.flatMap((change) => change.operations));
  const fields = new Set(real.flatMap(({ pointers }) => pointers.after ?? pointers.before ?? []));
  return { operations: operations.size, fields: fields.size };
}

/** A comparison in a few words, the worst first: `1 breaking, 2 safe, in 2 operations`. */
export function summaryOfChanges(
  { counts, reason, verdict }: Pick<Comparison, 'verdict' | 'counts' | 'reason'>,
  { operations, fields }: ReturnType<typeof extentOf>,
): string {
  if (reason !== null) return 'cannot be judged';
  if (verdict === 'none') return 'no changes';
  const [count, noun] = operations > 0 ? [operations, 'operation'] : [fields, 'field'];
  const where = count === 0 ? '' : `, in ${count} ${noun}${count === 1 ? '' : 's'}`;
  return countsInWords(counts) + where;
}

/** Whether the file of an entry has the locked bytes. `endings`: apart from its line endings. */
export type FileState = 'ok' | 'missing' | 'edited' | 'endings';

/** The file of an entry as it is now. */
export async function fileStateOf({ folder }: OpenLock, { path, sha256 }: LockedContract): Promise<FileState> {
  const bytes = await readTreeFile(folder, path, maxDocumentBytes);
  if (bytes === null) return 'missing';
  if (hexOf(digestOf(bytes)) === sha256) return 'ok';
  const unix = Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  return hexOf(digestOf(unix)) === sha256 ? 'endings' : 'edited';
}

/** What is wrong with a file, and what to do. */
export function describeState(state: Exclude<FileState, 'ok'>, { path, contract, version }: LockedContract): string {
  const name = `${contract}@${version}`;
  if (state === 'missing') return `${path} is missing. Run stele install without --frozen, and commit the file.`;
  if (state === 'endings')
    return `${path} has other line endings than ${name}. Add the line "${path} -text" to .gitattributes, delete the file, and run stele install.`;
  return `${path} was edited by hand: it is not ${name}. To have that back, delete the file and run stele install; to keep the edits, run stele remove ${path} --keep.`;
}

/**
 * Throws if the file at a path would be lost: it has neither the bytes of its entry nor, where
 * `next` says so, those that come now.
 */
export async function assertReplaceable(
  lock: OpenLock,
  path: string,
  entry: LockedContract | undefined,
  next: string | null,
): Promise<void> {
  const bytes = await readTreeFile(lock.folder, path, maxDocumentBytes);
  const sha256 = bytes && hexOf(digestOf(bytes));
  if (sha256 === null || sha256 === next || sha256 === entry?.sha256) return;
  if (entry) throw refused(describeState((await fileStateOf(lock, entry)) as 'edited', entry));
  const advice = 'Move it away, or choose another file with --as.';
  throw malformed(`${path} exists and is not in ${lockName}. ${advice}`);
}
