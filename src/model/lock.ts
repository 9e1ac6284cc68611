import { parseCoordinate, parseSelector } from './address.ts';
import { isDigest, type Digest } from './digest.ts';
import { malformed } from './errors.ts';
import { isLabel } from './label.ts';

/** The name of a lock: it says which version of which contract each file below its folder is. */
export const lockName = 'contracts.lock';

/** A contract whose bytes are a file of the repository. */
export interface LockedContract {
  /** The file, from the lock's folder: `schemas/money.json`. */
  path: string;
  /** Its coordinate without a version. */
  contract: string;
  /** What `stele update` may move it to: a range, a label or a digest. */
  range: string;
  /** The label of the version that it is. */
  version: string;
  /** URL of the registry, without a slash at the end. */
  registry: string;
  /** The file's bytes, 64 hexadecimal digits. */
  sha256: string;
  /** The version's identity: the digest of its manifest. */
  digest: Digest;
}

/** The most entries and characters of a lock. */
export const maxContracts = 2000;
export const maxLockLength = 2 ** 21;
const maxLineLength = 2000;

const header = '# Written by stele add. Do not edit.';
const keys = ['path', 'contract', 'range', 'version', 'registry', 'sha256', 'digest'] as const;

/** What each value must be. A check returns what is wrong, or null. */
const checks: Readonly<Record<(typeof keys)[number], (text: string) => string | null>> = {
  path: pathFault,
  contract: (text) => (isContract(text) ? null : 'is not a coordinate such as @acme/schemas/money'),
  range: (text) => (parseSelector(text) !== null ? null : 'is not a range such as ^1'),
  version: (text) => (isLabel(text) ? null : 'is not the label of a version'),
  registry: registryFault,
  sha256: (text) => (/^[0-9a-f]{64}$/.test(text) ? null : 'is not 64 hexadecimal digits'),
  digest: (text) => (isDigest(text) ? null : 'is not a digest such as sha256:…'),
};

function isContract(text: string): boolean {
  return parseCoordinate(text)?.selector.kind === 'latest' && !text.slice(1).includes('@');
}

/**
 * What is wrong with the path of a file in a lock; null: nothing. It leads nowhere but below the lock's
 * folder, into no folder that begins with a dot (`.git`), and is a file on every system.
 */
export function pathFault(path: string): string | null {
  if (path.length > 500) return 'has more than 500 characters';
  if (/^(?:[a-z]:|[/\\])|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(path)) return 'leads out of the folder of contracts.lock';
  if (/[\p{C}\\:*?"<>|]/u.test(path)) return 'has characters that a path may not have here';
  const names = path.split('/');
  if (names.some((name) => name.startsWith('.') || /^git~\d/i.test(name)))
    return 'has a name that begins with a dot, such as .git';
  if (names.some((name) => name === '' || /[. ]$/.test(name)))
    return 'has a name that is empty or ends in a dot or space';
  if (names.some((name) => device.test(name))) return 'has a name that Windows keeps for a device';
  return /\.(?:json|ya?ml)$/i.test(path) ? null : 'must end in .json, .yaml or .yml';
}

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:\.|$)/i;

/** What is wrong with the URL of a registry in a lock; null: nothing. */
export function registryFault(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is not the URL of a registry';
  if (url.username !== '' || url.password !== '') return 'holds a user name or a password. Put the key into STELE_KEY';
  return url.search === '' && url.hash === '' && !text.endsWith('/')
    ? null
    : 'may have no slash, query or fragment at the end';
}

/**
 * Reads the text of a lock. Throws `malformed`, with the line and what to do, for anything that
 * `formatLock` does not write. `name`: what the messages call the file.
 */
export function parseLock(text: string, name: string = lockName): LockedContract[] {
  const fail = (line: number, what: string): never => {
    throw malformed(`${name}:${line}: ${what}`);
  };
  if (text.length > maxLockLength)
    fail(1, `The file has more than ${maxLockLength} characters. Split it: each folder may have a ${lockName}.`);
  const all = text.split(/\r?\n/);
  const long = all.findIndex((line) => line.length > maxLineLength);
  if (long >= 0) fail(long + 1, `This line has more than ${maxLineLength} characters. ${restore}`);
  const conflict = all.findIndex((line) => /^(?:<{7}|>{7}|={7}$|\|{7})/.test(line));
  if (conflict >= 0)
    fail(
      conflict + 1,
      `There is a merge conflict. Keep one side (git checkout --ours ${lockName}), and run stele add again for what the other side added.`,
    );
  const lines = all.flatMap((line, index) => (/^\s*(?:#|$)/.test(line) ? [] : [{ line, at: index + 1 }]));
  const [version, start, ...rest] = lines;
  const stated = /^version: (\S+)$/.exec(version?.line ?? '')?.[1];
  if (stated !== undefined && stated !== '1')
    fail(
      version!.at,
      `The format of this file is version ${stated}, and this program reads version 1. Use a newer stele.`,
    );
  if (stated === undefined || !/^contracts:(?: \[\])?$/.test(start?.line ?? ''))
    fail(version?.at ?? 1, `This is not a lock. ${restore}`);
  const contracts: LockedContract[] = [];
  const paths = createPaths();
  for (let at = 0; at < rest.length; at += keys.length) {
    if (contracts.length === maxContracts)
      fail(
        rest[at]!.at,
        `There are more than ${maxContracts} contracts. Split the file: each folder may have a ${lockName}.`,
      );
    const entry = keys.map((key, index) => {
      const given = rest[at + index];
      if (given === undefined) fail(all.length, `The file is cut: an entry ends before its ${key}. ${restore}`);
      const { line, at: number } = given!;
      const beginning = `${index === 0 ? '  - ' : '    '}${key}: `;
      const value = line.startsWith(beginning) ? readScalar(line.slice(beginning.length)) : null;
      if (value === null) return fail(number, `${key} is expected here. ${restore}`);
      const fault = checks[key](value);
      return [
        key,
        fault === null
          ? value
          : fail(number, `${key} ${JSON.stringify(value.replace(/\/\/.*@/, '//…@'))} ${fault}. ${restore}`),
      ];
    });
    const contract = Object.fromEntries(entry) as LockedContract;
    const isNew = paths.add(contract.path);
    if (isNew !== null) fail(rest[at]!.at, `${isNew}. Run stele remove ${contract.path}, or ${lowerFirst(restore)}`);
    contracts.push(contract);
  }
  return contracts;
}

const restore = `Only stele writes this file: restore it (git checkout ${lockName}).`;

function lowerFirst(text: string): string {
  return text[0]!.toLowerCase() + text.slice(1);
}

/** The paths of a lock. `add` returns what is wrong with another one; null: nothing. */
function createPaths() {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  return {
    add(path: string): string | null {
      // Some file systems ignore case and Unicode form.
      const folded = path.normalize('NFC').toLowerCase();
      const parents = [...folded.matchAll(/\//g)].map(({ index }) => folded.slice(0, index));
      const other = files.get(folded) ?? folders.get(folded) ?? parents.map((each) => files.get(each)).find(Boolean);
      if (other !== undefined)
        return other === path ? `There are two entries for ${path}` : `${path} and ${other} cannot both be files`;
      files.set(folded, path);
      for (const each of parents) folders.set(each, path);
      return null;
    },
  };
}

/** The text of a lock: YAML, a block for each entry, sorted by path, so that git merges what two branches add. */
export function formatLock(contracts: readonly LockedContract[]): string {
  const sorted = contracts.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.map((contract) =>
    keys.map((key, index) => `${index === 0 ? '  - ' : '    '}${key}: ${formatScalar(contract[key])}\n`).join(''),
  );
  return `${header}\nversion: 1\ncontracts:${blocks.length === 0 ? ' []' : ''}\n${blocks.join('')}`;
}

/** What YAML 1.1 or 1.2 reads as something else than a string. */
const words =
  /^(?:true|false|yes|no|on|off|y|n|null|~|0[xob][0-9a-f_]*|[\d_]*\.?[\d_]*(?:e[+-]?\d+)?|\d{4}-\d\d?-\d\d?.*)$/i;

function formatScalar(text: string): string {
  const isPlain = /^[A-Za-z0-9^~](?:[A-Za-z0-9._/+^~-]|:(?!$))*$/.test(text) && !words.test(text);
  return isPlain ? text : `'${text.replaceAll("'", "''")}'`;
}

function readScalar(text: string): string | null {
  const quoted = /^'((?:[^']|'')*)'$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replaceAll("''", "'");
  return /^[^'"\s](?:[^'"]*[^'"\s])?$/.test(text) ? text : null;
}
