import { mapAtOnce } from '../../scheduling/waiting.ts';
import { parseCoordinate } from '../../model/address.ts';
import { digestOf, hexOf, type Digest } from '../../model/digest.ts';
import { insteadOf, notFound } from '../../model/errors.ts';
import { parseProof, type Checkpoint } from '../../model/transparency/checkpoint.ts';
import { decodeLeaf, isVersion } from '../../model/transparency/leaf.ts';
import { layerOf, openContractSource, trustedRegistry, type ContractSource } from '../lock/contract-source.ts';
import { openCheckedLog, type CheckedPublicLog } from './check-log.ts';

/** What a walk over a registry's public log has shown. */
export interface VerifiedLog {
  origin: string;
  leaves: number;
  /** Versions that are served as the log says. */
  same: number;
  /** Versions of the log that are not served: withdrawn, deleted, or private by now. */
  gone: string[];
  /** What does not hold, a sentence each. */
  wrong: string[];
}

/**
 * Walks the whole public log of a registry: checks that it is one history with what this user has seen, that
 * its leaves make up the signed root, that no version was ever another one, and that each is served as the
 * log says. Rejects with `refused` for a log that does not hold, and with `not_found` for a registry without one.
 */
export async function verifyLog(registry: string, say: (text: string) => void): Promise<VerifiedLog> {
  const source = openContractSource(registry, trustedRegistry(registry));
  const log = await openCheckedLog(registry, (path) => source.file(path), null);
  if (log === null) throw notFound(`${registry} has no public log.`);
  let head = await log.head();
  for (let round = 1; ; round++) {
    const { changed, ...found } = await compareAll(source, log, head, say);
    const next = changed.length === 0 ? head : await log.head();
    if (next.size === head.size || round === maxRounds)
      return { ...found, gone: found.gone.toSorted(), wrong: [...found.wrong, ...changed].toSorted() };
    // What changed meanwhile is in the log by now.
    head = next;
  }
}

/** How often a log that grows meanwhile is compared. A registry could let it grow to excuse what it serves. */
const maxRounds = 5;

/** Compares all that is served with a log at a head. `changed`: what differs, or changed after the head was read. */
async function compareAll(
  source: ContractSource,
  log: CheckedPublicLog,
  head: Checkpoint,
  say: (text: string) => void,
): Promise<VerifiedLog & { changed: string[] }> {
  const result = { origin: head.origin, leaves: head.size, same: 0, gone: [] as string[], wrong: [] as string[], changed: [] as string[] }; // prettier-ignore
  const facts = readFacts(await log.leaves(head), result.wrong);
  let done = 0;
  await mapAtOnce(facts.versions, 8, async ([name, digest]) => {
    const fault = await compareServed(source, name, digest).catch(insteadOf('gone', 'gone'));
    if (fault === 'gone') result.gone.push(name);
    else if (fault === null) result.same++;
    else result.wrong.push(`${name}: ${fault}`);
    say(`Comparing what is served: ${++done} of ${facts.versions.size}`);
  });
  const served = new Set(facts.versions.keys()).difference(new Set(result.gone));
  const names = new Set([
    ...facts.latest.keys(),
    ...(await listedIn(source, new Set([...facts.versions.keys()].map(orgOf)))),
  ]);
  await mapAtOnce(names, 8, async (name) => {
    say(`Looking for what is not in the log: ${name}`);
    const found = await compareHistory(source, log, name, facts, served);
    result.wrong.push(...found.wrong);
    result.changed.push(...found.changed);
  });
  return result;
}

interface Facts {
  versions: Map<string, Digest>;
  states: Map<string, string>;
  latest: Map<string, string | null>;
}

/** Reads the leaves of a log. What contradicts itself is added to `wrong`. */
export function readFacts(leaves: readonly Buffer[], wrong: string[] = []): Facts {
  const facts: Facts = { versions: new Map(), states: new Map(), latest: new Map() };
  for (const bytes of leaves) {
    const leaf = decodeLeaf(bytes);
    if (leaf?.event === 'latest') facts.latest.set(leaf.coordinate, leaf.label);
    if (leaf === null || leaf.event === 'latest' || leaf.event === 'key') continue;
    const name = `${leaf.coordinate}@${leaf.label}`;
    facts.states.set(name, isVersion(leaf) || leaf.event === 'reactivated' ? 'active' : leaf.event);
    if (!isVersion(leaf)) continue;
    const before = facts.versions.get(name);
    if (before !== undefined && before !== leaf.digest)
      wrong.push(`${name}: the log says that it is ${before}, and later that it is ${leaf.digest}`);
    facts.versions.set(name, leaf.digest);
  }
  return facts;
}

const orgOf = (name: string): string => name.slice(1, name.indexOf('/'));

async function listedIn(source: ContractSource, organizations: ReadonlySet<string>): Promise<string[]> {
  const names: string[] = [];
  for (const org of organizations)
    for (const { items } of (await source.pages(`/@${org}`)) ?? [])
      for (const item of items as { coordinate?: unknown }[])
        if (typeof item?.coordinate === 'string' && parseCoordinate(item.coordinate) !== null)
          names.push(item.coordinate);
  return names;
}

/**
 * What is served of a contract and is not as the log says, a sentence each. What was published meanwhile has a proof by
 * now. `served`: the versions of the log that are.
 */
async function compareHistory(
  source: ContractSource,
  log: CheckedPublicLog,
  contract: string,
  { versions, states, latest }: Facts,
  served: ReadonlySet<string>,
): Promise<{ wrong: string[]; changed: string[] }> {
  const { coordinate } = parseCoordinate(contract)!;
  const reading = source.history(coordinate);
  const history = await reading.catch(insteadOf('not_found', null)).catch(insteadOf('gone', null));
  const wrong: string[] = [];
  /** What a change since the head was read may have caused. */
  const changed: string[] = [];
  for (const { label: version, manifest: digest, status } of history?.versions ?? []) {
    const name = `${contract}@${version}`;
    if (versions.has(name)) {
      if (versions.get(name) !== digest)
        wrong.push(`${name}: it is listed as ${digest}, and the log says ${versions.get(name)!}`);
      else if (states.get(name) !== status.state)
        changed.push(`${name}: it is ${status.state}, and the log says ${states.get(name)!}`);
      continue;
    }
    if (status.state === 'withdrawn') continue;
    if (!(await source.isPublic(coordinate, version))) continue;
    const proof = String((await source.file(`/${contract}@${version}?proof`)) ?? '');
    const entry = { contract, version, digest };
    if (parseProof(proof) === null) wrong.push(`${contract}@${version}: it is served, and not in the log`);
    else await log.check(entry, proof);
  }
  const listed = new Set(history?.versions.map(({ label }) => `${contract}@${label}`));
  for (const name of history === null ? served : versions.keys())
    if (name.startsWith(`${contract}@`) && !listed.has(name)) changed.push(`${name}: it is not listed`);
  const said = latest.get(contract);
  if (history === null || said === undefined) return { wrong, changed };
  if (history.latest !== said)
    changed.push(
      `${contract}: latest is served as ${history.latest ?? 'nothing'}, and the log says ${said ?? 'nothing'}`,
    );
  changed.push(...(await compareLatest(source, contract, said, versions)));
  return { wrong, changed };
}

async function compareLatest(
  source: ContractSource,
  contract: string,
  label: string | null,
  versions: Facts['versions'],
): Promise<string[]> {
  const { coordinate } = parseCoordinate(contract)!;
  const digest = label === null ? undefined : versions.get(`${contract}@${label}`);
  const manifest = digest && (await source.manifest(coordinate, label!, digest).catch(insteadOf('refused', undefined)));
  const wrong: string[] = [];
  for (const format of formats) {
    const bytes = await source.latest(coordinate, format);
    const got = bytes && digestOf(bytes);
    const meant = manifest && layerOf(manifest, format);
    if ((got && hexOf(got)) !== (meant ?? null))
      wrong.push(`${contract}: its latest ${format} is ${got ?? 'not served'}, and the log says ${label ?? 'nothing'}`);
  }
  return wrong;
}

const formats = ['json', 'yaml'] as const;

/** What is wrong with a version as it is served; `gone`: it is not; null: nothing. */
async function compareServed(source: ContractSource, name: string, digest: Digest): Promise<string | null> {
  const { coordinate, selector } = parseCoordinate(name)!;
  const version = selector.kind === 'version' ? selector.version : '';
  const files = await Promise.all(formats.map((format) => source.file(`/${name}.${format}`)));
  if (files.includes(null)) return 'gone';
  const manifest = await source.manifest(coordinate, version, digest).catch(insteadOf('refused', null));
  if (manifest === null) return `its manifest is not ${digest}, or is not served`;
  for (const [at, format] of formats.entries())
    if (hexOf(digestOf(files[at]!)) !== layerOf(manifest, format))
      return `its ${format} is ${digestOf(files[at]!)}, which its manifest does not name`;
  return null;
}
