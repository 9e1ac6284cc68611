#!/usr/bin/env node
// Makes a git repository of the versions that another registry had: a commit and a tag for each, with its date.
// Stele publishes them from there, and new versions too. See content/docs/moving-in.md.
//
//   versions-to-git.mjs folder    FOLDER REPOSITORY   {name}/{version}.yaml, and dates.tsv: path, tab, date
//   versions-to-git.mjs documents FOLDER REPOSITORY   {name}/{any file}: the version is in the document; dates.tsv as above
//   versions-to-git.mjs apicurio  FOLDER REPOSITORY   an export of Apicurio Registry, unzipped
//   versions-to-git.mjs backstage FOLDER REPOSITORY   catalog-info.yaml files with `definition`s in them
//   versions-to-git.mjs swaggerhub OWNER[/API] REPOSITORY   asks SwaggerHub, with the key in SWAGGERHUB_API_KEY
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

const [kind, folder, repository] = process.argv.slice(2);
const readers = {
  folder: (root) => readFolder(root, (path) => basename(path, extname(path))),
  documents: (root) => readFolder(root, (path, bytes) => versionIn(bytes) ?? stop(`${path} has no version in it.`)),
  apicurio: readApicurio,
  backstage: readBackstage,
  swaggerhub: readSwaggerhub,
};
if (!Object.hasOwn(readers, kind ?? '') || !repository)
  stop(`Usage: versions-to-git.mjs ${Object.keys(readers).join('|')} FOLDER REPOSITORY`);
if (kind !== 'swaggerhub' && !existsSync(folder)) stop(`There is no folder ${folder}.`);
if (existsSync(repository)) stop(`${repository} exists already. Name a folder that does not.`);

const versions = (await readers[kind](folder)).toSorted((a, b) => a.date - b.date || byVersion(a.version, b.version));
if (versions.length === 0) stop(`There are no versions in ${folder}.`);
execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
const made = spawnSync('git', ['-C', repository, 'fast-import', '--quiet'], {
  input: Buffer.concat([...streamOf(versions)]),
  stdio: ['pipe', 'inherit', 'inherit'],
});
if (made.status !== 0) stop('git could not make the repository.');
execFileSync('git', ['-C', repository, 'checkout', '--quiet', 'main']);
const names = new Set(versions.map(({ name }) => name));
console.log(`${repository}: ${countOf(names.size, 'document')}, ${countOf(versions.length, 'version')}`);

function countOf(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function stop(message) {
  console.error(message);
  process.exit(2);
}

function byVersion(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** A name that may be a slug, a path and a tag. */
function slugOf(name) {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** The version that a document names; undefined: it names none. */
function versionIn(bytes) {
  const document = parse(bytes.toString());
  const version = document?.info?.version ?? document?.['x-version'] ?? document?.version;
  return version === undefined ? undefined : String(version);
}

function endingOf(bytes) {
  return /^\s*[{[]/.test(bytes.toString()) ? '.json' : '.yaml';
}

function readFolder(root, versionOf) {
  const table = join(root, 'dates.tsv');
  const lines = existsSync(table) ? readFileSync(table, 'utf8').split(/\r?\n/) : [];
  const dates = new Map(lines.filter(Boolean).map((line) => line.split('\t')));
  return globSync('*/*.{yaml,yml,json}', { cwd: root }).map((path) => {
    const date = dates.has(path) ? Date.parse(dates.get(path)) : statSync(join(root, path)).mtimeMs;
    if (Number.isNaN(date)) stop(`${table}: ${dates.get(path)} is not a date. Use one such as 2025-01-31.`);
    const bytes = readFileSync(join(root, path));
    return { name: slugOf(dirname(path)), version: versionOf(path, bytes), ending: extname(path), date, bytes };
  });
}

async function readSwaggerhub(wanted) {
  const { SWAGGERHUB_URL: url = 'https://api.swaggerhub.com', SWAGGERHUB_API_KEY: key } = process.env;
  const ask = async (address, accept) => {
    const response = await fetch(new URL(address, url), { headers: { accept, ...(key && { authorization: key }) } });
    return response.ok ? response : stop(`SwaggerHub answers ${response.status} for ${address}.`);
  };
  const list = async (path) => {
    const items = [];
    for (let page = 0; ; page++) {
      const { apis, totalCount } = await (await ask(`${path}?limit=100&page=${page}`, 'application/json')).json();
      items.push(...apis.map(({ properties }) => Object.fromEntries(properties.map((each) => [each.type, each]))));
      if (apis.length === 0 || items.length >= totalCount) return items;
    }
  };
  // The URL of an API ends with its version: /apis/OWNER/API/VERSION.
  const pathOf = (facts) => new URL(facts.Swagger.url).pathname.split('/').slice(1, 4).join('/');
  const apis = wanted.includes('/') ? [`apis/${wanted}`] : (await list(`/apis/${wanted}`)).map(pathOf);
  const found = [];
  for (const api of apis)
    for (const { 'X-Version': version, 'X-Created': created } of await list(`/${api}`)) {
      const document = await ask(`/${api}/${encodeURIComponent(version.value)}`, 'application/yaml');
      const bytes = Buffer.from(await document.arrayBuffer());
      const name = slugOf(api.split('/').at(-1));
      found.push({ name, version: version.value, ending: endingOf(bytes), date: Date.parse(created.value), bytes });
    }
  return found;
}

function readApicurio(root) {
  const load = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const contents = new Map(
    globSync('content/*.Content.json', { cwd: root }).map((path) => {
      const { contentId } = load(path);
      return [contentId, readFileSync(join(root, path.replace(/\.json$/, '.data')))];
    }),
  );
  return globSync('groups/*/artifacts/*/versions/*.ArtifactVersion.json', { cwd: root }).flatMap((path) => {
    const { artifactId, version, contentId, createdOn, state } = load(path);
    const bytes = contents.get(contentId);
    if (bytes === undefined || state === 'DISABLED') return [];
    return [{ name: slugOf(artifactId), version, ending: endingOf(bytes), date: createdOn, bytes }];
  });
}

function readBackstage(root) {
  return globSync('**/catalog-info.{yaml,yml}', { cwd: root }).flatMap((path) => {
    const entities = parseAllDocuments(readFileSync(join(root, path), 'utf8')).map((each) => each.toJS());
    return entities.flatMap((entity) => {
      const { definition } = entity?.spec ?? {};
      if (entity?.kind !== 'API' || typeof definition !== 'string') return [];
      const bytes = Buffer.from(definition);
      const name = slugOf(entity.metadata.name);
      const date = statSync(join(root, path)).mtimeMs;
      return [{ name, version: versionIn(bytes) ?? '1.0.0', ending: endingOf(bytes), date, bytes }];
    });
  });
}

/** A stream for git fast-import: the settings first, then a commit and a tag for each version. */
function* streamOf(all) {
  const places = new Map(all.map(({ name, ending }) => [name, `apis/${name}${ending}`]));
  const entries = [...places].map(([name, path]) => `  - path: ${path}\n    slug: ${name}\n`).join('');
  const settings = `# A version is published for each tag, such as ${all[0].name}-v${all[0].version}.\ndefaults:\n  tags: '{slug}-v*'\nresources:\n${entries}`;
  const last = new Map();
  for (const [index, { name, version, ending, date, bytes }] of all.entries()) {
    const path = `apis/${name}${ending}`;
    yield commit(index + 1, date, `${name} ${version}`);
    if (index === 0) yield file('stele.yaml', Buffer.from(settings));
    if (last.has(name) && last.get(name) !== path) yield Buffer.from(`D ${last.get(name)}\n`);
    last.set(name, path);
    yield file(path, bytes);
    yield Buffer.from(`reset refs/tags/${name}-v${version.replace(/^v(?=\d)/, '')}\nfrom :${index + 1}\n\n`);
  }
}

function commit(mark, date, message) {
  const seconds = Math.floor(date / 1000);
  const head = `commit refs/heads/main\nmark :${mark}\ncommitter Import <import@localhost> ${seconds} +0000\n`;
  const from = mark === 1 ? '' : `from :${mark - 1}\n`;
  return Buffer.from(`${head}data ${Buffer.byteLength(message)}\n${message}\n${from}`);
}

function file(path, bytes) {
  return Buffer.concat([Buffer.from(`M 100644 inline ${path}\ndata ${bytes.byteLength}\n`), bytes, Buffer.from('\n')]);
}
