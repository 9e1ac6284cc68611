import { RegistryError } from '../errors.ts';
import type { Checkpoint } from './checkpoint.ts';
import { parseVerifierKey, signersOf, type VerifierKey } from './note.ts';

/** Which logs are trusted, and which witnesses must have seen a checkpoint (C2SP tlog-policy). */
export interface Policy {
  /** Empty: any log. `url`: the prefix of its addresses; null: not stated. */
  logs: { key: VerifierKey; url: string | null }[];
  witnesses: PolicyWitness[];
  /** Whether witnesses with these names are enough. */
  isQuorum(names: ReadonlySet<string>): boolean;
  /** The line that says so. */
  quorum: string;
}

export interface PolicyWitness {
  name: string;
  key: VerifierKey;
  /** Where checkpoints are sent; null: not stated. */
  url: string | null;
}

const maxLines = 1000;

/** Parses a policy. Throws `malformed` with the line. `file`: what messages call it. */
export function parsePolicy(text: string, file: string): Policy {
  const lines = text.split('\n');
  const fail = (at: number, what: string): never => {
    throw new RegistryError('malformed', `${file}:${at + 1}: ${what}`);
  };
  if (lines.length > maxLines) fail(maxLines, `A policy has at most ${maxLines} lines.`);
  const [logs, witnesses]: [Policy['logs'], PolicyWitness[]] = [[], []];
  /** By name: whether these witnesses are enough for it. */
  const members = new Map<string, (names: ReadonlySet<string>) => boolean>();
  const grouped = new Set<string>();
  let quorum: Pick<Policy, 'isQuorum' | 'quorum'> | null = null;

  const keyAt = (at: number, word: string | undefined, algorithm: VerifierKey['algorithm']): VerifierKey => {
    const key = word === undefined ? null : parseVerifierKey(word);
    if (key?.algorithm !== algorithm)
      return fail(at, `${word ?? 'Nothing'} is not the Ed25519 key of a ${algorithm === 'note' ? 'log' : 'witness'}.`);
    const isTwice = [...logs, ...witnesses].some((each) => Buffer.compare(each.key.key, key.key) === 0);
    return isTwice ? fail(at, `The key ${word} is in the policy twice.`) : key;
  };
  const nameAt = (at: number, name: string | undefined): string =>
    name === undefined || name === 'none' || members.has(name)
      ? fail(at, `${name ?? 'Nothing'} is not a new name.`)
      : name;

  for (const [at, line] of lines.entries()) {
    const [kind, ...words] = line.trim().split(/[ \t]+/);
    if (!kind || kind.startsWith('#')) continue;
    if (kind === 'log') logs.push({ key: keyAt(at, words[0], 'note'), url: words[1]?.replace(/\/+$/, '') ?? null });
    else if (kind === 'witness') {
      const name = nameAt(at, words[0]);
      witnesses.push({ name, key: keyAt(at, words[1], 'cosignature'), url: words[2] ?? null });
      members.set(name, (names) => names.has(name));
    } else if (kind === 'group') {
      const [first, threshold, ...all] = words;
      const name = nameAt(at, first);
      for (const each of all) {
        if (!members.has(each)) fail(at, `${each} is not a witness or group of a line above.`);
        if (grouped.has(each)) fail(at, `${each} is in two groups.`);
        grouped.add(each);
      }
      const count =
        threshold === 'all'
          ? all.length
          : threshold === 'any'
            ? 1
            : /^\d+$/.test(threshold ?? '')
              ? Number(threshold)
              : 0;
      if (count < 1 || count > all.length) fail(at, `A group says any, all, or how many of its ${all.length} members.`);
      const enough = all.map((each) => members.get(each)!);
      members.set(name, (names) => enough.filter((isEnough) => isEnough(names)).length >= count);
    } else if (kind === 'quorum') {
      if (quorum !== null) fail(at, 'A policy has one quorum line.');
      const isQuorum = words[0] === 'none' ? () => true : members.get(words[0] ?? '');
      quorum = {
        isQuorum: isQuorum ?? fail(at, `${words[0] ?? 'Nothing'} is not a witness or group of a line above.`),
        quorum: line.trim(),
      };
    } else fail(at, `${kind} is not log, witness, group or quorum.`);
  }
  return {
    logs,
    witnesses,
    ...(quorum ?? fail(lines.length - 1, 'A policy has a quorum line: quorum none, if none is asked for.')),
  };
}

/** Why a checkpoint does not satisfy a policy; null: it does. */
export function policyFault({ logs, witnesses, isQuorum, quorum }: Policy, { note }: Checkpoint): string | null {
  const signers = signersOf(
    note,
    [...logs, ...witnesses].map(({ key }) => key),
  );
  if (signers === null) return 'a signature in it is wrong';
  if (logs.length > 0 && !logs.some(({ key }) => signers.includes(key))) return 'no log of the policy has signed it';
  const seenBy = witnesses.filter(({ key }) => signers.includes(key)).map(({ name }) => name);
  if (isQuorum(new Set(seenBy))) return null;
  return `of the witnesses of the policy, ${seenBy.length === 0 ? 'none has' : `only ${seenBy.join(', ')} have`} cosigned it (${quorum})`;
}
