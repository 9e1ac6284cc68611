import { existsSync, globSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, normalize, relative, sep } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readSwaggerHubAccess } from '../../config/environment.ts';
import { isRegistryError, unreachable, malformed } from '../../model/errors.ts';
import { timeOf } from '../../model/time.ts';
import { refuseUnreachable } from '../registry-client.ts';
import { slugFrom } from '../../model/address.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { spawnSync } from 'node:child_process';
import { foldLabel, labelFromVersion } from '../../model/label.ts';

interface OldVersion {
  /** Where it stands in the export, for people. */
  from: string;
  /** What the other registry called the document. */
  title: string;
  /** A slug, and a part of a path and of a tag. */
  name: string;
  version: string;
  ending: '.json' | '.yaml';
  /** Milliseconds since 1970. */
  date: number;
  bytes: Uint8Array;
}

interface Left {
  from: string;
  reason: string;
}

/** What versions are read from, by what `stele import --from` calls it. All throw `malformed` for what they cannot read. */
const exportReaders: Readonly<
  Record<string, (from: string) => (OldVersion | Left)[] | Promise<(OldVersion | Left)[]>>
> = {
  /** `{name}/{version}.yaml`, and `dates.tsv`: path, tab, date. */
  folder: (root) => readFolder(root, (path) => basename(path, extname(path))),
  /** `{name}/{any file}`: the version is in the document. */
  documents: (root) => readFolder(root, (path, bytes) => versionIn(bytes) ?? fail(`${path} has no version in it.`)),
  /** An export of Apicurio Registry, unzipped. */
  apicurio: readApicurio,
  /** `catalog-info.yaml` files with definitions in them. */
  backstage: readBackstage,
  /** An owner, or one API of an owner, of SwaggerHub. */
  swaggerhub: (wanted) =>
    readSwaggerHub(wanted).catch((error: unknown) => {
      throw isRegistryError(error) ? error : unreachable(`What SwaggerHub sent cannot be read: ${String(error)}.`);
    }),
};

function fail(message: string): never {
  throw malformed(message);
}

function versionIn(bytes: Uint8Array): string | null {
  const document = parse(Buffer.from(bytes).toString()) as JsonObject | null;
  const info = isObject(document?.['info']) ? document['info'] : {};
  const version = info['version'] ?? document?.['x-version'] ?? document?.['version'];
  return version === undefined || version === null ? null : String(version as string | number);
}

function endingOf(bytes: Uint8Array): OldVersion['ending'] {
  return /^\s*[{[]/.test(Buffer.from(bytes).toString('utf8', 0, 200)) ? '.json' : '.yaml';
}

function nameFrom(text: string): string {
  return slugFrom(text) ?? fail(`No name can be made of ${JSON.stringify(text)}.`);
}

/** Makes something of a file of an export, which may be anybody's: no link leads out of it. */
function fromFile<T>(root: string, path: string, read: (bytes: Buffer) => T): T {
  try {
    const whole = join(realpathSync(root), path);
    if (realpathSync(whole) !== whole || !statSync(whole).isFile()) fail(`${path} is not a plain file.`);
    return read(readFileSync(whole));
  } catch (error) {
    return isRegistryError(error) ? fail(error.message) : fail(`${path} cannot be read: ${String(error)}.`);
  }
}

function readFolder(root: string, versionOf: (path: string, bytes: Uint8Array) => string): (OldVersion | Left)[] {
  const table = join(root, 'dates.tsv');
  const lines = existsSync(table) ? readFileSync(table, 'utf8').split(/\r?\n/).filter(Boolean) : [];
  const dates = new Map(lines.map((line) => line.split('\t')).map(([path, date]) => [normalize(path!), date]));
  const absent = [...dates.keys()].find((path) => !existsSync(join(root, path)));
  if (absent !== undefined) fail(`${table} names ${absent}, which is not there.`);
  // Stars alone pass over what is hidden. No link is followed.
  const entries = globSync(['**/*', '**/.*', '**/.*/**/*', '**/.*/**/.*'], { cwd: root, withFileTypes: true });
  const isDocument = (name: string) => /\.(?:ya?ml|json)$/i.test(name);
  const found = entries.filter((entry) => isDocument(entry.name) || entry.isSymbolicLink());
  return found.map(({ parentPath, name: called }) => {
    const path = relative(root, join(parentPath, called));
    if (!isDocument(called)) return { from: path, reason: 'It is a link, which is not followed.' };
    const title = dirname(path);
    if (path.split(sep).some((each) => each.startsWith('.'))) return { from: path, reason: 'It is hidden.' };
    if (title === '.' || dirname(title) !== '.')
      return { from: path, reason: `It is not directly in a subfolder of ${root}, which has one for each document.` };
    return fromFile(root, path, (bytes) => {
      const stated = dates.get(path);
      const date = stated === undefined ? statSync(join(root, path)).mtimeMs : timeOf(stated);
      if (!(date >= 0)) fail(`${table}: ${stated} is not a date since 1970. Use one such as 2025-01-31.`);
      const ending = /\.json$/i.test(path) ? '.json' : '.yaml';
      return { from: path, title, name: nameFrom(title), version: versionOf(path, bytes), ending, date, bytes };
    });
  });
}

function readApicurio(root: string): (OldVersion | Left)[] {
  const load = (path: string) => fromFile(root, path, (bytes) => JSON.parse(String(bytes)) as JsonObject);
  const contents = new Map(
    globSync('content/*.Content.json', { cwd: root }).map((path) => {
      const data = path.replace(/\.json$/, '.data');
      return [load(path)['contentId'], fromFile(root, data, (bytes) => bytes)] as const;
    }),
  );
  return globSync('groups/*/artifacts/*/versions/*.ArtifactVersion.json', { cwd: root }).flatMap(
    (path): (OldVersion | Left)[] => {
      const { artifactId, version, contentId, createdOn, state } = load(path);
      if (state === 'DISABLED') return [{ from: path, reason: 'It is disabled.' }];
      const bytes = contents.get(contentId) ?? fail(`${path}: its content ${String(contentId)} is not in the export.`);
      const [title, date] = [dirname(path).split('/').slice(1, 4).join('/'), Number(createdOn ?? NaN)];
      const name = nameFrom(String(artifactId));
      return [{ from: path, title, name, version: String(version), ending: endingOf(bytes), date, bytes }];
    },
  );
}

function readBackstage(root: string): (OldVersion | Left)[] {
  return globSync('**/catalog-info.{yaml,yml}', { cwd: root }).flatMap((path) =>
    fromFile(root, path, (text) => {
      const entities = parseAllDocuments(String(text)).map((each) => each.toJS() as unknown);
      return entities.flatMap((entity): (OldVersion | Left)[] => {
        if (!isObject(entity) || entity['kind'] !== 'API' || !isObject(entity['spec'])) return [];
        const { definition } = entity['spec'];
        const title = String((entity['metadata'] as JsonObject)['name']);
        if (typeof definition !== 'string')
          return [
            { from: `${title} in ${path}`, reason: 'It has no inline definition. Follow the repository of its file.' },
          ];
        const bytes = Buffer.from(definition);
        const [name, date] = [nameFrom(title), statSync(join(root, path)).mtimeMs];
        const version = versionIn(bytes) ?? '1.0.0';
        return [{ from: path, title, name, version, ending: endingOf(bytes), date, bytes }];
      });
    }),
  );
}

type Facts = Readonly<Record<string, { value?: string; url?: string }>>;

async function readSwaggerHub(wanted: string): Promise<(OldVersion | Left)[]> {
  const { url, key } = readSwaggerHubAccess();
  async function ask(address: string, accept: string, allowed: readonly number[] = []): Promise<Response> {
    const headers = { accept, ...(key && { authorization: key }) };
    const response = await fetch(url.replace(/\/$/, '') + address, { headers }).catch(refuseUnreachable(url));
    if (response.ok || allowed.includes(response.status)) return response;
    throw unreachable(`SwaggerHub answers ${response.status} for ${address}.`);
  }
  async function list(path: string): Promise<Facts[]> {
    const items: Facts[] = [];
    for (let page = 0; ; page++) {
      const answer = await ask(`${path}?limit=100&page=${page}`, 'application/json');
      const { apis, totalCount } = (await answer.json()) as {
        apis: { properties: { type: string; value?: string; url?: string }[] }[];
        totalCount: number;
      };
      items.push(...apis.map(({ properties }) => Object.fromEntries(properties.map((each) => [each.type, each]))));
      if (apis.length === 0 || items.length >= totalCount) return items;
    }
  }
  // The URL of an API ends with its version: /apis/OWNER/API/VERSION.
  const pathOf = (facts: Facts) => new URL(facts['Swagger']!.url!).pathname.split('/').slice(-4, -1).join('/');
  const apis = wanted.includes('/') ? [`apis/${wanted}`] : (await list(`/apis/${wanted}`)).map(pathOf);
  const versions: (OldVersion | Left)[] = [];
  for (const api of apis)
    for (const facts of await list(`/${api}`)) {
      const version = facts['X-Version']!.value!;
      const from = `${api}/${version}`;
      const document = await ask(`/${api}/${encodeURIComponent(version)}`, 'application/yaml', [403, 404]);
      const bytes = await document.bytes();
      if (!document.ok) {
        versions.push({ from, reason: `SwaggerHub answers ${document.status} for it. The key may not read it.` });
        continue;
      }
      const date = Date.parse(facts['X-Created']!.value!);
      const title = api.split('/').at(-1)!;
      versions.push({ from, title, name: nameFrom(title), version, ending: endingOf(bytes), date, bytes });
    }
  return versions;
}

/** What was made of an export. */
export interface ImportedVersions {
  repository: string;
  documents: number;
  versions: number;
  left: Left[];
}

type Labelled = OldVersion & { label: string };

/**
 * Makes a git repository of the versions that another registry had: a commit and a tag for each, with its date.
 * Stele publishes them from there, and new versions too. `kind`: one of `exportReaders`. Throws `malformed` for an
 * export that cannot be read, and for a folder that exists; then nothing was made.
 */
export async function importVersions(kind: string, from: string, repository: string): Promise<ImportedVersions> {
  if (existsSync(repository)) fail(`${repository} exists already. Name a folder that does not.`);
  if (kind !== 'swaggerhub' && !existsSync(from)) fail(`The folder ${from} does not exist.`);
  const found: (OldVersion | Left)[] = await exportReaders[kind]!(from);
  const all = found
    .filter((each): each is OldVersion => 'date' in each)
    .toSorted((a, b) => a.date - b.date || a.version.localeCompare(b.version, 'en', { numeric: true }));
  const undated = all.find(({ date }) => !(date >= 0) || Number.isNaN(new Date(date).getTime()));
  if (undated) fail(`${undated.from} has no date since 1970.`);
  const stray = found.filter((each): each is Left => 'reason' in each);
  const { versions, left } = labelled(all, stray);
  if (versions.length === 0) fail(`${from} has no versions that --from ${kind} can read.`);
  const git = (args: readonly string[], input = Buffer.alloc(0)) => {
    const { status, error } = spawnSync('git', args, { input, stdio: ['pipe', 'inherit', 'inherit'] });
    if (status === 0) return;
    rmSync(repository, { recursive: true, force: true });
    fail(error ? `git cannot be run: ${error.message}.` : `git could not make ${repository}. Its output says why.`);
  };
  git(['init', '--quiet', '--initial-branch=main', repository]);
  git(['-C', repository, 'fast-import', '--quiet'], Buffer.concat([...streamOf(versions)]));
  git(['-C', repository, 'checkout', '--quiet', 'main']);
  const names = new Set(versions.map(({ name }) => name));
  return { repository, documents: names.size, versions: versions.length, left };
}

/** The versions with their labels. Left are those that would be the document or the version that another one is. */
function labelled(all: readonly OldVersion[], left: Left[]): { versions: Labelled[]; left: Left[] } {
  const titles = new Map(all.toReversed().map(({ name, title }) => [name, title]));
  for (const { name, title } of all) if (name === title) titles.set(name, title);
  const taken = new Map<string, string>();
  const versions: Labelled[] = [];
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
