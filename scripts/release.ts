/**
 * Makes a release of the repository in the working folder: version, changelog, tarball, container image, provenance.
 *
 *   node scripts/release.ts 1.4.0 | major | minor | patch
 *     --dry-run      write everything into the folder and change nothing here; what would stop a release is said
 *     --out <folder> where the files go (default: a temporary folder)
 *     --no-check     without `npm run check`
 *     --no-image     without the container image
 *     --no-trial     without installing the tarball, which needs the registry of packages
 *
 * Everything is made in a clone, so that nothing but what is committed gets in. Only when all of it is done does this
 * repository get the release's commit and tag. Nothing is pushed or published: the last lines say how.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { $, argv, echo, tmpdir } from 'zx';
import { releaseChangelog } from './release/changelog.ts';
import { buildImage, findImageBuilder } from './release/image.ts';
import { nextVersion } from './release/next-version.ts';
import { provenanceOf, type Artifact } from './release/provenance.ts';
import { tryTarball } from './release/try-tarball.ts';

/** Files that name the image of the package's version. */
const deployed = [
  'helm/Chart.yaml',
  'kubernetes/single/kustomization.yaml',
  'kubernetes/bucket/kustomization.yaml',
].map((file) => `deploy/${file}`);

const root = process.cwd();
const isDry = argv['dry-run'] === true;
const startedOn = new Date().toISOString();
const here = $({ cwd: root });
const clone = tmpdir();
const there = $({ cwd: clone });

try {
  await release();
} catch (error) {
  echo(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await rm(clone, { recursive: true, force: true });
}

async function release(): Promise<void> {
  const asked = argv._[0];
  if (asked === undefined) throw new Error('Which version? Write one such as 1.4.0, or major, minor or patch.');
  const version = nextVersion((await manifestIn(root)).version, asked);
  const tag = `v${version}`;
  const builder = argv['image'] === false ? null : await findImageBuilder();
  await assertReleasable(tag, builder);
  const out = resolve(argv['out'] ?? tmpdir());
  await mkdir(out, { recursive: true });

  await here`git clone --quiet --no-hardlinks . ${clone}`;
  const notes = await commitRelease(version, tag);
  await writeFile(join(out, 'notes.md'), `${notes}\n`);
  const files = [await pack(out), await describePackages(out)];
  if (argv['trial'] !== false) await tryTarball(files[0]!);
  if (builder !== null) {
    files.push(join(out, `stele-${version}.image.tar`));
    const bytes = await buildImage(builder, clone, `stele:${version}`, files.at(-1)!);
    if (bytes !== null) echo(`The image ran and stopped; it has ${(bytes / 1e6).toFixed(0)} MB.`);
  }
  const artifacts = await Promise.all(files.map(artifactOf));
  await writeFile(join(out, 'SHA256SUMS'), artifacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
  const provenance = provenanceOf(artifacts, {
    version,
    commit: (await there`git rev-parse HEAD`).stdout.trim(),
    repository: await repositoryUrl(),
    lock: await artifactOf(join(clone, 'package-lock.json')),
    node: process.version,
    startedOn,
    finishedOn: new Date().toISOString(),
  });
  await writeFile(join(out, 'provenance.json'), `${JSON.stringify(provenance, null, 2)}\n`);

  if (isDry) return echo(`${tag} is in ${out}. Nothing changed here.`);
  await here`git fetch --quiet ${clone} refs/tags/${tag}:refs/tags/${tag}`;
  await here`git merge --quiet --ff-only ${tag}`;
  echo(`${tag} is committed and tagged; its files are in ${out}. To publish it:`);
  echo(`  git push origin main ${tag}\n  npm publish ${files[0]}`);
  if (builder !== null) echo(`  skopeo copy docker-archive:${files.at(-1)} docker://<your registry>/stele:${version}`);
}

/** Refuses what must not be released. A dry run says it and goes on. */
async function assertReleasable(tag: string, builder: string | null): Promise<void> {
  const stops: string[] = [];
  if ((await here`git status --porcelain`).stdout !== '') stops.push('There are changes that are not committed.');
  const branch = (await here`git branch --show-current`).stdout.trim();
  if (branch !== 'main') stops.push(`The branch is ${branch || 'none'}. Releases are made from main.`);
  if ((await here`git tag --list ${tag}`).stdout !== '') stops.push(`The tag ${tag} exists.`);
  if (builder === null && argv['image'] !== false)
    stops.push('No container image: podman, buildah and docker are missing or do not work here (or say --no-image).');
  for (const stop of stops) echo(stop);
  if (stops.length > 0 && !isDry) throw new Error('Nothing was released.');
  if (argv['check'] !== false) await here({ stdio: 'inherit' })`npm run check`;
}

/** Commits and tags the version and its changelog in the clone. Answers what is new in it, in Markdown. */
async function commitRelease(version: string, tag: string): Promise<string> {
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
  const { version: before } = await manifestIn(clone);
  await there`npm version --no-git-tag-version --ignore-scripts ${version}`;
  for (const file of deployed) {
    const place = join(clone, file);
    if (existsSync(place)) await writeFile(place, (await readFile(place, 'utf8')).replaceAll(before, version));
  }
  const path = join(clone, 'CHANGELOG.md');
  const { text, notes } = releaseChangelog(await readFile(path, 'utf8'), version, startedOn.slice(0, 10));
  await writeFile(path, text);
  const name = (await here({ nothrow: true })`git config user.name`).stdout.trim() || 'Stele release';
  const email = (await here({ nothrow: true })`git config user.email`).stdout.trim() || 'release@localhost';
  const author = ['-c', `user.name=${name}`, '-c', `user.email=${email}`];
  await there`git ${author} commit --quiet --message ${`release: ${version}`} --all`;
  await there`git ${author} tag --annotate --message ${`Stele ${version}`} ${tag}`;
  return notes;
}

/** Makes the tarball. Answers its path. */
async function pack(out: string): Promise<string> {
  await there`npm pack --pack-destination ${out}`;
  const { name, version } = await manifestIn(clone);
  return join(out, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
}

/** Writes what the program consists of, by its lock: a CycloneDX bill of materials. Answers its path. */
async function describePackages(out: string): Promise<string> {
  const { name, version } = await manifestIn(clone);
  const path = join(out, `${name.replace('@', '').replace('/', '-')}-${version}.cdx.json`);
  const { stdout } = await there`npm sbom --package-lock-only --omit dev --sbom-format cyclonedx`;
  await writeFile(path, stdout);
  return path;
}

async function artifactOf(path: string): Promise<Artifact> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { name: basename(path), sha256: hash.digest('hex') };
}

async function manifestIn(folder: string): Promise<{ name: string; version: string }> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { name: string; version: string };
}

/** The https address of `origin`, without a user or a password; null where it has none. */
async function repositoryUrl(): Promise<string | null> {
  const origin = (await here({ nothrow: true })`git remote get-url origin`).stdout.trim();
  if (!origin.startsWith('https://')) return null;
  const url = new URL(origin);
  return `https://${url.host}${url.pathname}`;
}
