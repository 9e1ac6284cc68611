import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Run } from '../../src/model/connection.ts';
import { createFixtureRepository, type FixtureFile } from '../servers/fixture-repository.ts';
import { sampleOf } from '../sample.ts';
import { runHere } from '../cli/in-process.ts';
import type { Ended } from './stele.ts';

/** A monorepo of many documents, most of them real, as one `stele.yaml` lists them. */

const corpus = new URL('../../../shared/corpus/', import.meta.url).pathname;
const isHere = existsSync(corpus);
const where = isHere ? '' : ' (skipped: no ../shared/corpus)';
const total = 80;

const settings = `defaults:
  visibility: public
  validation: lenient
resources:
  - path: services/*/openapi.yaml
    slug: "{1}"
    version: document
  - path: schemas/*.json
    type: schemas
    slug: "{1}"
    version: next
  - path: internal/**/api.yaml
    slug: internal-{1}
    visibility: private
    ruleset: "@acme/rulesets/style"
    version: { file: "internal/{1}/package.json", pointer: /version }
  - path: style.yaml
    slug: style
  - path: services/gone.yaml
ignore: [services/retired]
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-monorepo-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The files of a folder of the corpus that are no larger than this, by name. */
function small(name: string, bytes: number): [string, Buffer][] {
  const from = join(corpus, name);
  const names = readdirSync(from).filter((each) => statSync(join(from, each)).isFile());
  const fitting = names.filter((each) => statSync(join(from, each)).size <= bytes).sort();
  return fitting.map((each) => [
    parse(each)
      .name.toLowerCase()
      .replace(/[^a-z0-9]+/g, '-'),
    readFileSync(join(from, each)),
  ]);
}

const internal = (n: number, more = '') =>
  `openapi: 3.1.0\ninfo:\n  title: Internal ${n}\n  version: 0.0.0${more}\npaths: {}\n`;

test.skipIf(!isHere)(
  `${total} documents are listed by patterns, versioned as it says, and one that changes is one that is published${where}`,
  async () => {
    const services = sampleOf(small('openapi/apis-guru', 20_000), 4);
    const schemas = sampleOf(
      small('jsonschema/schemastore', 30_000).filter(([, bytes]) => !/"\$ref": *"[^#]/.test(String(bytes))),
      4,
    );
    const rest = total - services.length - schemas.length - 1;
    expect(services.length).toBeGreaterThan(4);
    expect(rest).toBeGreaterThan(20);
    const files: Record<string, FixtureFile> = {
      'stele.yaml': settings,
      'style.yaml': 'rules:\n  info-contact: error\n',
      'services/retired/openapi.yaml': internal(0),
      'services/README.md': '# Services',
    };
    for (const [name, bytes] of services) files[`services/${name}/openapi.yaml`] = bytes;
    for (const [name, bytes] of schemas) files[`schemas/${name}.json`] = bytes;
    for (let n = 0; n < rest; n++) {
      files[`internal/team-${n}/api.yaml`] = internal(n, '\n  contact: { name: Us }');
      files[`internal/team-${n}/package.json`] = JSON.stringify({ name: `team-${n}`, version: `1.${n}.0` });
    }
    const repository = createFixtureRepository(join(folder, 'mono.git'));
    repository.commit({ files });
    const config = { organizations: { acme: { repositories: [{ url: './mono.git' }] } } };
    await writeFile(join(folder, 'registry.config.ts'), `export default ${JSON.stringify(config)};\n`);
    const stele = (...args: string[]): Promise<Ended> =>
      runHere([...args, '--config', join(folder, 'registry.config.ts'), '--data', join(folder, 'data')], {
        cwd: folder,
      });
    const sync = async () => (JSON.parse((await stele('sync', '--json')).stdout) as { runs: [Run] }).runs[0];

    const first = await sync();
    const told = first.documents.filter(({ resource }) => resource === null);
    expect(told).toMatchObject([
      { path: 'stele.yaml', detail: 'stele.yaml:19:5 "services/gone.yaml": There is no such file.' },
    ]);
    const documents = first.documents.filter(({ resource }) => resource !== null);
    expect(documents).toHaveLength(total);
    expect(documents.filter(({ outcome }) => outcome !== 'published')).toEqual([]);
    const labels = new Map(documents.map(({ resource, label }) => [resource, label]));
    expect(labels.get('@acme/apis/internal-team-7')).toBe('1.7.0');
    expect(schemas.map(([name]) => labels.get(`@acme/schemas/${name}`))).toEqual(schemas.map(() => '1.0.0'));
    expect(labels.has('@acme/apis/retired')).toBe(false);

    repository.commit({
      files: {
        'internal/team-7/package.json': JSON.stringify({ name: 'team-7', version: '2.0.0' }),
        'internal/team-8/api.yaml': internal(8),
        'stele.yaml': settings.replace('  - path: services/gone.yaml\n', ''),
      },
    });
    const second = await sync();
    expect(second.documents).toMatchObject([
      { resource: '@acme/apis/internal-team-7', outcome: 'published', label: '2.0.0' },
      { resource: '@acme/apis/internal-team-8', outcome: 'rejected', label: null },
    ]);
    expect((await stele('verify', '@acme/apis/internal-team-7@2.0.0')).stdout).toMatch(/^same /);

    repository.commit({ files: { 'stele.yaml': 'resources:\n  - path: services/*/openapi.yaml\n    slug: "{2}"\n' } });
    expect(await stele('sync')).toMatchObject({
      code: 1,
      stdout:
        'rejected stele.yaml: stele.yaml:3:11 resources[0].slug uses {2}, but its path has only one star.\n' +
        'rejected @acme/apis/internal-team-8: internal/team-8/api.yaml:2:1 Info object should contain `contact` field.\n',
    });
  },
  // Two hundred documents on a machine that does other things, too.
  400_000,
);
