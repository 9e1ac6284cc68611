import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { RegistryError } from '../../model/errors.ts';
import { exportReaders, type OldVersion } from './read-exports.ts';

/** What was made of an export. */
export interface ImportedVersions {
  repository: string;
  documents: number;
  versions: number;
}

/**
 * Makes a git repository of the versions that another registry had: a commit and a tag for each, with its date.
 * Stele publishes them from there, and new versions too. `kind`: one of `exportReaders`. Throws `malformed` for an
 * export that cannot be read, and for a folder that exists; then nothing was made.
 */
export async function importVersions(kind: string, from: string, repository: string): Promise<ImportedVersions> {
  if (existsSync(repository))
    throw new RegistryError('malformed', `${repository} exists already. Name a folder that does not.`);
  const versions = (await exportReaders[kind]!(from)).toSorted(
    (a, b) => a.date - b.date || a.version.localeCompare(b.version, 'en', { numeric: true }),
  );
  if (versions.length === 0)
    throw new RegistryError('malformed', `${from} has no versions that --from ${kind} can read.`);
  const odd = versions.find(({ version }) => !/^\w[\w.+-]{0,99}$/.test(version));
  if (odd !== undefined)
    throw new RegistryError(
      'malformed',
      `${odd.name} has a version that no tag can have: ${JSON.stringify(odd.version)}.`,
    );
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
  const { status } = spawnSync('git', ['-C', repository, 'fast-import', '--quiet'], {
    input: Buffer.concat([...streamOf(versions)]),
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new RegistryError('malformed', `git could not make ${repository}. What it wrote says why.`);
  execFileSync('git', ['-C', repository, 'checkout', '--quiet', 'main']);
  const names = new Set(versions.map(({ name }) => name));
  return { repository, documents: names.size, versions: versions.length };
}

/** A stream for git fast-import: the settings first, then a commit and a tag for each version. */
function* streamOf(all: readonly OldVersion[]): Generator<Buffer> {
  const places = new Map(all.map(({ name, ending }) => [name, `apis/${name}${ending}`]));
  const entries = [...places].map(([name, path]) => `  - path: ${path}\n    slug: ${name}\n`).join('');
  const settings = `# A version is published for each tag, such as ${all[0]!.name}-v${all[0]!.version}.\ndefaults:\n  tags: '{slug}-v*'\nresources:\n${entries}`;
  const last = new Map<string, string>();
  for (const [index, { name, version, ending, date, bytes }] of all.entries()) {
    const path = `apis/${name}${ending}`;
    yield commit(index + 1, date, `${name} ${version}`);
    if (index === 0) yield file('stele.yaml', Buffer.from(settings));
    const before = last.get(name);
    if (before !== undefined && before !== path) yield Buffer.from(`D ${before}\n`);
    last.set(name, path);
    yield file(path, bytes);
    yield Buffer.from(`reset refs/tags/${name}-v${version.replace(/^v(?=\d)/, '')}\nfrom :${index + 1}\n\n`);
  }
}

function commit(mark: number, date: number, message: string): Buffer {
  const seconds = Math.floor(date / 1000);
  const head = `commit refs/heads/main\nmark :${mark}\ncommitter Import <import@localhost> ${seconds} +0000\n`;
  const from = mark === 1 ? '' : `from :${mark - 1}\n`;
  return Buffer.from(`${head}data ${Buffer.byteLength(message)}\n${message}\n${from}`);
}

function file(path: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`M 100644 inline ${path}\ndata ${bytes.byteLength}\n`), bytes, Buffer.from('\n')]);
}
