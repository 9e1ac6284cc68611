import { backup, restore } from '../../src/registry/maintenance/backup.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { verify } from '../../src/registry/verify.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { expectedStanding, standingOf, type Life } from './life.ts';
import { faultsOfLog } from './log-verbs.ts';
import { latestOf, textOf, type Resource } from './model.ts';
import type { Answer, Node } from './world.ts';

/** Everything that was acknowledged, on this node. Returns what is not as the model has it. */
export async function checkNode(life: Life, node: Node, where: string): Promise<string[]> {
  const found: string[] = [];
  const note = (what: string, got: unknown, wanted: unknown): void => {
    if (JSON.stringify(got) !== JSON.stringify(wanted))
      found.push(`${where}: ${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
  };
  const { world, admin } = life;
  const get = (path: string, key: string | null) => world.call('GET', path, { key }, node);
  for (const resource of life.resources.values()) {
    const { slug, versions, deletedAt, visibility } = resource;
    const path = `/@acme/apis/${slug}`;
    for (const { label, doc, status, sunset = null } of versions) {
      const { status: got, text, headers } = await get(`${path}@${label}.json`, admin);
      const wanted = deletedAt !== null || status === 'withdrawn' ? 410 : 200;
      note(`status of ${slug}@${label}`, got, wanted);
      if (wanted !== 200 || got !== 200) continue;
      note(`bytes of ${slug}@${label}`, text, textOf(doc));
      note(`deprecation of ${slug}@${label}`, headers.has('deprecation'), status === 'deprecated');
      note(`end of ${slug}@${label}`, headers.get('sunset'), sunset === null ? null : new Date(sunset).toUTCString());
    }
    const latest = latestOf(resource);
    const { status: got, text } = await get(`${path}.json`, admin);
    note(`status of ${slug}`, got, deletedAt !== null ? 410 : latest === null ? 404 : 200);
    if (deletedAt === null && latest !== null && got === 200) note(`bytes of ${slug}`, text, textOf(latest.doc));
    if (visibility === 'private') found.push(...(await tellApart(life, node, resource)));
    else {
      const open = await get(`${path}.json`, null);
      note(`status of ${slug} for nobody`, open.status, deletedAt !== null ? 410 : latest === null ? 404 : 200);
    }
  }
  for (const [slug, versions] of life.gated.versions)
    for (const { label, text } of versions)
      note(`bytes of ${slug}@${label}`, (await get(`/@acme/apis/${slug}@${label}.json`, admin)).text, text);
  for (const { secret, isRevoked, expiresAt, id } of life.keys) {
    const isGood = !isRevoked && (expiresAt ?? Infinity) > world.now();
    note(`key ${id}`, (await get('/v1/me', secret)).status, isGood ? 200 : 401);
  }
  for (const site of life.sites.values()) {
    const deployed = site.deployments.find(({ id }) => id === site.current);
    const text = deployed && site.deletedAt === null ? deployed.files.get('index.md') : null;
    const path = `/sites/acme/${site.slug}/index.md`;
    const ours = await get(path, admin);
    const others = await get(path, null);
    note(`site ${site.slug}`, ours.status === 200 ? ours.text : null, text);
    note(
      `site ${site.slug} for nobody`,
      others.status === 200 ? others.text : null,
      site.visibility === 'public' ? text : null,
    );
  }
  return found;
}

/** How an outsider could tell a private resource from one that does not exist. */
async function tellApart({ world, partner }: Life, node: Node, { slug, versions }: Resource): Promise<string[]> {
  const absent = 'x'.repeat(slug.length);
  const label = versions.at(-1)?.label ?? '1.0.0';
  const places = [
    '',
    '.json',
    `@${label}`,
    `@${label}.yaml`,
    '@^1',
    '/versions',
    '/diff',
    '/report',
    '/index.md',
    '/try',
  ];
  const paths = (name: string) => [
    ...places.map((place) => [`/@acme/apis/${name}${place}`, null] as const),
    [`/v1/apis/${name}`, partner] as const,
    [`/@acme/apis/${name}`, partner] as const,
    [`/v2/acme/apis/${name}/tags/list`, null] as const,
    [`/feeds/acme/apis/${name}.atom`, null] as const,
  ];
  const plain = (answer: Answer) => plainAnswer(answer).replaceAll(slug, absent);
  const seen = await Promise.all(
    paths(slug).map(async ([path, key]) => plain(await world.call('GET', path, { key }, node))),
  );
  const wanted = await Promise.all(
    paths(absent).map(async ([path, key]) => plain(await world.call('GET', path, { key }, node))),
  );
  return paths(slug).flatMap(([path], at) =>
    seen[at] === wanted[at]
      ? []
      : [`An outsider can tell ${path} from what is absent: ${seen[at]} instead of ${wanted[at]}`],
  );
}

/** An answer without what differs between any two. */
function plainAnswer({ status, headers, text }: Answer): string {
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit'].includes(name));
  return `${status} ${JSON.stringify(kept)} ${text.replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'UUID')}`;
}

/** What must hold at the end of a life: on all nodes, on a new one, in the store, and in a backup that was restored. */
export async function checkLife(life: Life): Promise<string[]> {
  const { world } = life;
  const found: string[] = [];
  world.pass(1000);
  for (const [at, node] of world.nodes.entries()) found.push(...(await checkNode(life, node, `node ${at}`)));
  for (const resource of life.resources.values())
    if (resource.deletedAt === null) {
      const [got, wanted] = [await standingOf(life, resource.slug), expectedStanding(resource)];
      found.push(...differences(got, wanted, `standing of ${resource.slug}: `));
    }
  const [first] = world.nodes as [Node];
  found.push(...(await faultsOfLog(life, first)));
  const { damages, unlogged, unknown } = await fsck(first.registry);
  for (const { key, detail } of damages) found.push(`fsck: ${key}: ${detail}`);
  for (const name of [...unlogged, ...unknown]) found.push(`fsck: ${name} is only here, or only in the public log`);
  for (const { slug, versions, deletedAt, from } of life.resources.values())
    for (const { label, status } of versions) {
      if (from === null || deletedAt !== null || status === 'withdrawn') continue;
      const coordinate = { org: 'acme', type: 'apis', slug } as const;
      const { outcome } = await verify(first.registry, coordinate, { kind: 'version', version: label });
      if (outcome !== 'same') found.push(`verify ${slug}@${label}: ${outcome}`);
    }
  const [copy, again] = [createMemoryBucket(), createMemoryBucket()];
  for (const { key, detail } of (await backup(first.registry, copy)).damages) found.push(`backup: ${key}: ${detail}`);
  for (const { key, detail } of (await restore(copy, again, [])).damages) found.push(`restore: ${key}: ${detail}`);
  const restored = await world.open(again);
  found.push(...(await checkNode(life, restored, 'restored')));
  for (const { key, detail } of (await fsck(restored.registry)).damages)
    found.push(`fsck, restored: ${key}: ${detail}`);
  await restored.close();
  found.push(...world.errors.map((error) => `logged: ${error}`));
  return found;
}

/** What differs, member by member. */
export function differences(got: unknown, wanted: unknown, at = ''): string[] {
  if (isSame(got, wanted)) return [];
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isRecord(got) || !isRecord(wanted)) return [`${at}${show(got)} instead of ${show(wanted)}`];
  const names = [...new Set([...Object.keys(got), ...Object.keys(wanted)])];
  return names.flatMap((name) => differences(got[name], wanted[name], `${at}${name}: `));
}

function isSame(a: unknown, b: unknown): boolean {
  return show(a) === show(b);
}

/** As JSON, with the members in order. */
function show(value: unknown): string {
  const ordered = (_: string, each: unknown): unknown =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return JSON.stringify(value, ordered) ?? 'nothing';
}
