import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { RegistryError } from '../../model/errors.ts';
import { foldLabel, labelFromVersion } from '../../model/label.ts';
import { exportReaders, type OldVersion } from './read-exports.ts';

/** What was made of an export. */
export interface ImportedVersions {
  repository: string;
  documents: number;
  versions: number;
  /** What is not in it, and why. */
  left: { from: string; reason: string }[];
}

/** A version with the label that its tag gives it. */
type Labelled = OldVersion & { label: string };

/**
 * Makes a git repository of the versions that another registry had: a commit and a tag for each, with its date.
 * Stele publishes them from there, and new versions too. `kind`: one of `exportReaders`. Throws `malformed` for an
 * export that cannot be read, and for a folder that exists; then nothing was made.
 */
export async function importVersions(kind: string, from: string, repository: string): Promise<ImportedVersions> {
  if (existsSync(repository))
    throw new RegistryError('malformed', `${repository} exists already. Name a folder that does not.`);
  const all = (await exportReaders[kind]!(from)).toSorted(
    (a, b) => a.date - b.date || a.version.localeCompare(b.version, 'en', { numeric: true }),
  );
  const { versions, left } = labelled(all);
  if (versions.length === 0)
    throw new RegistryError('malformed', `${from} has no versions that --from ${kind} can read.`);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
  const { status } = spawnSync('git', ['-C', repository, 'fast-import', '--quiet'], {
    input: Buffer.concat([...streamOf(versions)]),
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new RegistryError('malformed', `git could not make ${repository}. What it wrote says why.`);
  execFileSync('git', ['-C', repository, 'checkout', '--quiet', 'main']);
  const names = new Set(versions.map(({ name }) => name));
  return { repository, documents: names.size, versions: versions.length, left };
}

/** The versions with their labels. Left are those that would be the document or the version that another one is. */
function labelled(all: readonly OldVersion[]): { versions: Labelled[]; left: ImportedVersions['left'] } {
  const titles = new Map(all.toReversed().map(({ name, title }) => [name, title]));
  for (const { name, title } of all) if (name === title) titles.set(name, title);
  const taken = new Map<string, string>();
  const versions: Labelled[] = [];
  const left: ImportedVersions['left'] = [];
  for (const version of all) {
    const { name, title, from } = version;
    const label = labelFromVersion(version.version.replace(/^v(?=\d)/, ''));
    const key = `${name} ${foldLabel(label ?? '')}`;
    const reason =
      titles.get(name) !== title
        ? `It would be ${name}, as ${titles.get(name)} is. Rename one of them.`
        : label === null || label.endsWith('.lock')
          ? `No tag can be made of the version ${JSON.stringify(version.version)}.`
          : taken.has(key)
            ? `It would be ${label} of ${name}, as ${taken.get(key)} is.`
            : null;
    if (reason !== null) left.push({ from, reason });
    else {
      taken.set(key, from);
      versions.push({ ...version, label: label! });
    }
  }
  return { versions, left };
}

/** A stream for git fast-import: the settings first, then a commit and a tag for each version. */
function* streamOf(all: readonly Labelled[]): Generator<Buffer> {
  // One path for all versions, since a tag is looked for at the path that the newest commit names. JSON is YAML, too.
  const isYaml = new Set(all.filter(({ ending }) => ending === '.yaml').map(({ name }) => name));
  const pathOf = (name: string) => `apis/${name}${isYaml.has(name) ? '.yaml' : '.json'}`;
  const names = [...new Set(all.map(({ name }) => name))];
  const entries = names.map((name) => `  - path: ${pathOf(name)}\n    slug: ${JSON.stringify(name)}\n`).join('');
  const settings = `# A version is published for each tag, such as ${all[0]!.name}/v${all[0]!.label}.\ndefaults:\n  tags: '{slug}/v*'\nresources:\n${entries}`;
  for (const [index, { name, label, date, bytes }] of all.entries()) {
    yield commit(index + 1, date, `${name} ${label}`);
    if (index === 0) yield file('stele.yaml', Buffer.from(settings));
    yield file(pathOf(name), bytes);
    yield Buffer.from(`reset refs/tags/${name}/v${label}\nfrom :${index + 1}\n\n`);
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
