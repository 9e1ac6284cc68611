import { keyOf } from './approval-verbs.ts';
import type { Draw } from './draw.ts';
import { beginLog, faultsOfLog, writeLogs } from './log-verbs.ts';
import { day, evolve, firstDoc, newResource, send, type Life, type Plan, type Verb, type Verbs } from './life.ts';
import {
  bestOfMajor,
  latestOf,
  publish,
  rankOf,
  setStatus,
  textOf,
  type Outcome,
  type Resource,
  type Version,
} from './model.ts';

const slugs = ['pay', 'orders', 'users'];

/** A resource that takes uploads. */
function uploaded(life: Life, draw: Draw): Resource | null {
  const resource = life.resources.get(draw.of(slugs));
  return resource === undefined || resource.deletedAt !== null ? null : resource;
}

/** Any resource that is not deleted. */
function anyResource(life: Life, draw: Draw): Resource | null {
  const resource = draw.of([...life.resources.values()].filter(({ deletedAt }) => deletedAt === null));
  return resource ?? null;
}

function anyVersion(life: Life, draw: Draw): { resource: Resource; version: Version } | null {
  const resource = anyResource(life, draw);
  const version = resource && draw.of(resource.versions);
  return resource && version ? { resource, version } : null;
}

const statuses = { published: 201, unchanged: 200, conflict: 409, rejected: 422 };

function expectedAnswer(resource: Resource, { outcome, version }: Outcome): unknown {
  const said = version && { version: version.label, latest: latestOf(resource) === version };
  return { status: statuses[outcome], ...said };
}

async function publishedAnswer(asking: ReturnType<typeof send>): Promise<unknown> {
  const { status, json } = await asking;
  return { status, ...(status < 300 && { version: json['version'], latest: json['latest'] }) };
}

const change = async (life: Life, path: string, body: unknown): Promise<unknown> =>
  (await send(life, 'PATCH', path, body)).status;

const publishing: Verb = {
  weight: 24,
  asks: ['publishApi'],
  plan(life, draw) {
    const resource = uploaded(life, draw);
    return resource && publishTo(life, draw, resource);
  },
};

function publishTo(life: Life, draw: Draw, resource: Resource): Plan {
  const { slug } = resource;
  const before = life.drafts.get(slug);
  // Now and then what was published before, again.
  const old = draw.chance(0.15) ? draw.of(resource.versions) : undefined;
  const doc = old?.doc ?? (before ? evolve(before, draw) : firstDoc(slug, draw));
  const label = draw.chance(0.2) ? (old?.label ?? doc.version) : undefined;
  const isCandidate = !draw.chance(0.1);
  const rejects = draw.chance(0.1);
  const isTrial = draw.chance(0.1);
  const target = isTrial ? structuredClone(resource) : resource;
  const by = resource.approval ? draw.of(['ann', 'bob', 'the administrator']) : 'the administrator';
  const who = { by, now: life.world.now() + 1000 };
  const outcome = publish(target, { doc, label, isCandidate, rejects, isStrict: life.ruleset.isStrict, ...who });
  if (!isTrial) life.drafts.set(slug, doc);
  if (!isTrial && outcome.outcome === 'published')
    life.published.push({ slug, label: outcome.version.label, at: who.now });
  const body = {
    document: textOf(doc),
    ...(label !== undefined && { version: label }),
    ...(!isCandidate && { latest: false }),
    ...(rejects && { onConflict: 'reject' }),
    ...(isTrial && { dryRun: true }),
  };
  const { document: _, ...options } = body;
  const expected = expectedAnswer(target, outcome);
  return {
    says: `publish ${slug} ${JSON.stringify({ ...doc, ...options })} by ${by}`,
    async ask() {
      const { turn } = life.world;
      const key = by === 'the administrator' ? life.admin : await keyOf(life, by);
      // Where it was made, it is known at once, and somebody else may have had a turn meanwhile.
      life.world.turn = turn;
      return publishedAnswer(send(life, 'POST', `/v1/apis/${slug}/spec`, body, key));
    },
    expected: isTrial && outcome.outcome === 'published' ? { ...(expected as object), status: 200 } : expected,
    touches: [slug],
    isRepeatable: !isTrial && !resource.approval,
  };
}

export const resourceVerbs: Verbs = {
  create: {
    weight: 3,
    asks: ['createApi'],
    plan(life, draw) {
      const slug = draw.of(slugs);
      const visibility = draw.of(['public', 'private'] as const);
      const isTaken = life.resources.has(slug);
      if (!isTaken) life.resources.set(slug, newResource(life, slug, { visibility }));
      return {
        says: `create ${slug}, ${visibility}`,
        ask: async () => (await send(life, 'POST', '/v1/apis', { name: slug, slug, visibility })).status,
        expected: isTaken ? 409 : 201,
        isRepeatable: true,
      };
    },
  },
  publish: publishing,
  'publish at once': {
    weight: 6,
    asks: ['publishApi'],
    plan(life, draw) {
      const one = publishing.plan(life, draw);
      if (one === null) return null;
      const resources = new Map([...life.resources].filter(([slug]) => !one.touches!.includes(slug)));
      const other = publishing.plan({ ...life, resources, step: life.step + 0.5 }, draw);
      if (other === null) return one;
      return {
        says: `at once, ${one.says} and ${other.says}`,
        async ask() {
          const { world } = life;
          world.turn = 0;
          const asking = one.ask();
          world.turn = 1;
          const answers = await Promise.all([asking, other.ask(), writeLogs(life)]);
          // One process may have read a moment before what the other wrote.
          world.pass(1000);
          return answers.slice(0, 2);
        },
        expected: [one.expected, other.expected],
        touches: [...one.touches!, ...other.touches!],
      };
    },
  },
  'publish, and write the public log step by step': {
    weight: 8,
    asks: ['createApi', 'publishApi'],
    plan(life, draw) {
      const two = slugs
        .slice(0, 2)
        .map((slug) => life.resources.get(slug) ?? newResource(life, slug, { visibility: 'public' }));
      if (two.some(({ deletedAt }) => deletedAt !== null)) return null;
      const isNew = two.filter(({ slug }) => !life.resources.has(slug));
      for (const each of isNew) life.resources.set(each.slug, each);
      const [one, other] = two.map((each, at) => publishTo({ ...life, step: life.step + at / 2 }, draw, each)) as [
        Plan,
        Plan,
      ];
      const [first, second] = draw.chance(0.5) ? [0, 1] : [1, 0];
      // The third call of the log is the one that appends.
      const calls = [draw.of([0, 1, 2, 2, 2, 3])!, draw.of([0, 1, 2, 2, 2, 3])!] as const;
      const isFirstOver = draw.chance(0.7);
      return {
        says: `${one.says} by ${first}, whose log stops at ${calls[0]}, then ${other.says} by ${second}, whose log stops at ${calls[1]}; ${isFirstOver ? first : second} goes on first`,
        async ask() {
          const { world } = life;
          for (const { slug, visibility } of isNew)
            await world.call('POST', '/v1/apis', { key: life.admin, body: { name: slug, slug, visibility } });
          world.turn = first;
          const answers = [await one.ask()];
          const before = await beginLog(world.nodes[first]!, calls[0]);
          world.turn = second;
          answers.push(await other.ask());
          const after = await beginLog(world.nodes[second]!, calls[1]);
          for (const goOn of isFirstOver ? [before, after] : [after, before]) await goOn();
          world.pass(1000);
          const faults: string[] = [];
          // The one that wrote last is asked first, before the other mends what it lost.
          for (const at of isFirstOver ? [second, first] : [first, second])
            faults.push(...(await faultsOfLog(life, world.nodes[at]!)));
          return { answers, faults };
        },
        expected: { answers: [one.expected, other.expected], faults: [] },
        touches: [...one.touches!, ...other.touches!],
      };
    },
  },
  status: {
    weight: 8,
    asks: ['updateApiVersion'],
    plan(life, draw) {
      const found = anyVersion(life, draw);
      if (found === null) return null;
      const { resource, version } = found;
      const state = draw.of(['active', 'deprecated', 'yanked', 'withdrawn'] as const);
      const isFinal = version.status === 'withdrawn';
      // Headers tell whole seconds.
      const ends = draw.chance(0.5) ? Math.floor(life.world.now() / 1000 + draw.number(400) * 86_400) * 1000 : null;
      const sunset = state === 'deprecated' ? ends : null;
      if (!isFinal) setStatus(resource, version, state, sunset);
      const more = { reason: 'A life', ...(sunset !== null && { sunset: new Date(sunset).toISOString() }) };
      const body = { status: { state, ...(state !== 'active' && more) } };
      return {
        says: `${state} ${resource.slug}@${version.label}`,
        ask: () => change(life, `/v1/apis/${resource.slug}/versions/${encodeURIComponent(version.label)}`, body),
        expected: isFinal && state !== 'withdrawn' ? 409 : 200,
        touches: [resource.slug],
        isRepeatable: true,
      };
    },
  },
  pin: {
    weight: 4,
    asks: ['updateApi'],
    plan(life, draw) {
      const isPinned = draw.chance(0.6);
      const pinned = [...life.resources.values()].filter((each) => each.pinned !== null && each.deletedAt === null);
      const found = anyVersion(life, draw);
      if (found === null) return null;
      const { version } = found;
      // Half of what is unpinned has a pin, for what its latest is then.
      const resource = (!isPinned && draw.chance(0.5) && draw.of(pinned)) || found.resource;
      const isOffered = version.status === 'active' || version.status === 'deprecated';
      if (isPinned && !isOffered) return null;
      resource.pinned = isPinned ? version.label : null;
      return {
        says: isPinned ? `pin ${resource.slug} at ${version.label}` : `unpin ${resource.slug}`,
        ask: () => change(life, `/v1/apis/${resource.slug}`, { latest: resource.pinned }),
        expected: 200,
        touches: [resource.slug],
        isRepeatable: true,
      };
    },
  },
  visibility: {
    weight: 4,
    asks: ['updateApi'],
    plan(life, draw) {
      const resource = anyResource(life, draw);
      if (resource === null) return null;
      resource.visibility = draw.of(['public', 'private'] as const);
      resource.wasPublic ||= resource.visibility === 'public';
      const { slug, visibility } = resource;
      return {
        says: `make ${slug} ${visibility}`,
        ask: () => change(life, `/v1/apis/${slug}`, { visibility }),
        expected: 200,
        touches: [slug],
        isRepeatable: true,
      };
    },
  },
  gate: {
    weight: 4,
    asks: ['updateApi'],
    plan(life, draw) {
      const resource = anyResource(life, draw);
      if (resource === null) return null;
      resource.compatibility = draw.of(['none', 'semver', 'semver', 'strict', null, null] as const);
      const { slug, compatibility } = resource;
      return {
        says: `set compatibility of ${slug} to ${compatibility ?? 'the default'}`,
        ask: () => change(life, `/v1/apis/${slug}`, { compatibility }),
        expected: 200,
        touches: [slug],
        isRepeatable: true,
      };
    },
  },
  delete: {
    weight: 1,
    asks: ['deleteApi'],
    plan(life, draw) {
      const resource = uploaded(life, draw);
      if (resource === null) return null;
      resource.deletedAt = life.world.now();
      return {
        says: `delete ${resource.slug}`,
        ask: async () => (await send(life, 'DELETE', `/v1/apis/${resource.slug}`)).status,
        expected: 204,
      };
    },
  },
  undelete: {
    weight: 4,
    asks: ['undeleteApi'],
    plan(life, draw) {
      const resource = life.resources.get(draw.of(slugs));
      if (resource === undefined || resource.deletedAt === null) return null;
      const isLate = life.world.now() - resource.deletedAt > 30 * day;
      if (!isLate) resource.deletedAt = null;
      const { slug } = resource;
      return {
        says: `undelete ${slug}`,
        ask: async () => (await send(life, 'POST', `/v1/apis/${slug}/undelete`, {})).status,
        expected: isLate ? 409 : 200,
        touches: isLate ? [] : [slug],
        isRepeatable: true,
      };
    },
  },
  'publish ruleset': {
    weight: 3,
    asks: ['createRuleset', 'publishRuleset'],
    plan(life, draw) {
      const isStrict = draw.chance(0.5);
      const { ruleset } = life;
      const label = `1.0.${ruleset.labels.length}`;
      const isNew = ruleset.labels.length === 0;
      // What rejects more breaks its users.
      const isRejected = !isNew && isStrict && !ruleset.isStrict && life.defaults.compatibility !== 'none';
      if (!isRejected) {
        ruleset.labels.push(label);
        ruleset.isStrict = isStrict;
      }
      const rules = { 'operation-summary': isStrict ? 'error' : 'warn' };
      const document = JSON.stringify({ 'x-title': 'Style', 'x-version': label, rules });
      return {
        says: `publish the ruleset ${label}, ${isStrict ? 'strict' : 'lenient'}`,
        async ask() {
          if (isNew)
            await life.world.call('POST', '/v1/rulesets', { key: life.admin, body: { name: 'Style', slug: 'style' } });
          return (await send(life, 'POST', '/v1/rulesets/style/document', { document })).status;
        },
        expected: isRejected ? 422 : 201,
        isRepeatable: true,
      };
    },
  },
  ruleset: {
    weight: 3,
    asks: ['updateApi'],
    plan(life, draw) {
      const resource = anyResource(life, draw);
      if (resource === null || life.ruleset.labels.length === 0) return null;
      resource.hasRuleset = draw.chance(0.6);
      const { slug, hasRuleset } = resource;
      return {
        says: `${hasRuleset ? 'attach the ruleset to' : 'detach the ruleset from'} ${slug}`,
        ask: () => change(life, `/v1/apis/${slug}`, { ruleset: hasRuleset ? '@acme/rulesets/style' : null }),
        expected: 200,
        touches: [slug],
        isRepeatable: true,
      };
    },
  },
  'delete ruleset': {
    weight: 1,
    asks: ['deleteRuleset'],
    plan(life) {
      const isUsed = [...life.resources.values()].some(({ hasRuleset, deletedAt }) => hasRuleset && deletedAt === null);
      if (life.ruleset.labels.length === 0 || !isUsed) return null;
      return {
        says: 'delete the ruleset, which is in use',
        ask: async () => (await send(life, 'DELETE', '/v1/rulesets/style')).status,
        expected: 409,
      };
    },
  },
  read: {
    weight: 6,
    plan(life, draw) {
      const resource = anyResource(life, draw);
      if (resource === null) return null;
      const stable = resource.versions.filter(
        ({ label, status }) => rankOf(label)?.pre === null && (status === 'active' || status === 'deprecated'),
      );
      const major = rankOf(draw.of(stable)?.label ?? '')?.numbers[0];
      if (major === undefined) return null;
      const best = bestOfMajor(resource, major)!;
      return {
        says: `read ${resource.slug}@${major}`,
        async ask() {
          const path = `/@acme/apis/${resource.slug}@${major}.json`;
          const { status, headers } = await life.world.call('GET', path, { key: life.admin });
          return { status, to: headers.get('location') };
        },
        expected: { status: 307, to: `/@acme/apis/${resource.slug}@${best.label}.json` },
      };
    },
  },
};
