import type { Draw } from './draw.ts';
import { day, send, type Life, type ModelSite, type Verbs } from './life.ts';

const slugs = ['handbook', 'guide'];

function standing(life: Life, draw: Draw): ModelSite | null {
  const site = life.sites.get(draw.of(slugs));
  return site === undefined || site.deletedAt !== null ? null : site;
}

export const siteVerbs: Verbs = {
  'create site': {
    weight: 4,
    asks: ['createSite'],
    plan(life, draw) {
      const slug = draw.of(slugs);
      const visibility = draw.of(['public', 'private'] as const);
      const before = life.sites.get(slug);
      const isTaken = before !== undefined && before.deletedAt === null;
      const made = { slug, visibility, files: new Map(), deployments: [], current: null, deletedAt: null };
      if (!isTaken) life.sites.set(slug, made);
      return {
        says: `create the site ${slug}, ${visibility}`,
        ask: async () => (await send(life, 'POST', '/v1/sites', { title: slug, slug, visibility })).status,
        expected: isTaken ? 409 : 201,
        isRepeatable: true,
      };
    },
  },
  'put page': {
    weight: 6,
    asks: ['putSiteFile'],
    plan(life, draw) {
      const site = standing(life, draw);
      if (site === null) return null;
      const path = draw.of(['index.md', 'index.md', 'start.md']);
      const isEmpty = path !== 'index.md' && draw.chance(0.3);
      const raw = isEmpty ? '' : `# ${site.slug}\n\nText ${draw.number(1000)}\n`;
      site.files.set(path, raw);
      return {
        says: `put ${isEmpty ? 'an empty ' : ''}${path} into ${site.slug}`,
        ask: async () =>
          (await life.world.call('PUT', `/v1/sites/${site.slug}/files/${path}`, { key: life.admin, raw })).status,
        expected: 200,
        isRepeatable: true,
      };
    },
  },
  'delete page': {
    weight: 2,
    asks: ['deleteSiteFile'],
    plan(life, draw) {
      const site = standing(life, draw);
      if (site === null) return null;
      const path = 'start.md';
      const isThere = site.files.delete(path);
      return {
        says: `delete ${path} of ${site.slug}`,
        ask: async () => (await send(life, 'DELETE', `/v1/sites/${site.slug}/files/${path}`)).status,
        expected: isThere ? 204 : 404,
      };
    },
  },
  'publish site': {
    weight: 6,
    asks: ['deploySite'],
    plan(life, draw) {
      const site = standing(life, draw);
      if (site === null || !site.files.has('index.md')) return null;
      const { slug } = site;
      const same = site.deployments.find(({ id }) => id === site.current);
      const isSame = same !== undefined && isEqual(same.files, site.files);
      return {
        says: `publish the site ${slug}`,
        async ask() {
          const { status, json } = await send(life, 'POST', `/v1/sites/${slug}/publish`, {});
          if (status < 300) noteDeployment(site, json, new Map(site.files));
          return status;
        },
        expected: isSame ? 200 : 201,
        isRepeatable: true,
      };
    },
  },
  'publish a deployment again': {
    weight: 4,
    asks: ['deploySite'],
    plan(life, draw) {
      const site = standing(life, draw);
      if (site === null) return null;
      const { slug } = site;
      const deployment = String(draw.number(4) + 1);
      const there = site.deployments.find(({ id }) => id === deployment);
      return {
        says: `publish deployment ${deployment} of ${slug} again`,
        async ask() {
          const { status, json } = await send(life, 'POST', `/v1/sites/${slug}/publish`, { deployment });
          if (there !== undefined && status < 300) noteDeployment(site, json, there.files);
          return status < 300;
        },
        expected: there !== undefined,
        isRepeatable: true,
      };
    },
  },
  preview: {
    weight: 5,
    asks: ['previewSite'],
    plan(life, draw) {
      const site = standing(life, draw);
      const index = site?.files.get('index.md');
      if (!site || index === undefined) return null;
      return {
        says: `preview ${site.slug}`,
        async ask() {
          const { status, json } = await send(life, 'POST', `/v1/sites/${site.slug}/previews`);
          const path = status === 201 ? new URL(String(json['url'])).pathname : '';
          life.previews.push({ path, site, index, madeAt: life.world.now() });
          return status;
        },
        expected: 201,
      };
    },
  },
  'open previews': {
    weight: 4,
    plan(life) {
      const { previews, world } = life;
      const open = previews.filter(({ madeAt }) => world.now() - madeAt < 6 * day);
      return {
        says: 'open all previews, as nobody',
        async ask() {
          const seen = await Promise.all(open.map(({ path }) => world.call('GET', path, { accept: 'text/html' })));
          return seen.map(({ status }) => status);
        },
        expected: open.map(({ site }) => (site.visibility === 'public' && site.deletedAt === null ? 200 : 404)),
      };
    },
  },
  'site visibility': {
    weight: 3,
    asks: ['updateSite'],
    plan(life, draw) {
      const site = standing(life, draw);
      if (site === null) return null;
      site.visibility = draw.of(['public', 'private'] as const);
      const { slug, visibility } = site;
      return {
        says: `make the site ${slug} ${visibility}`,
        ask: async () => (await send(life, 'PATCH', `/v1/sites/${slug}`, { visibility })).status,
        expected: 200,
        isRepeatable: true,
      };
    },
  },
  'delete site': {
    weight: 3,
    asks: ['deleteSite'],
    plan(life, draw) {
      const site = standing(life, draw);
      if (site === null) return null;
      site.deletedAt = life.world.now();
      return {
        says: `delete the site ${site.slug}`,
        ask: async () => (await send(life, 'DELETE', `/v1/sites/${site.slug}`)).status,
        expected: 204,
      };
    },
  },
  'undelete site': {
    weight: 2,
    asks: ['undeleteSite'],
    plan(life, draw) {
      const site = life.sites.get(draw.of(slugs));
      if (site === undefined || site.deletedAt === null) return null;
      const isLate = life.world.now() - site.deletedAt > 30 * day;
      if (!isLate) site.deletedAt = null;
      return {
        says: `undelete the site ${site.slug}`,
        ask: async () => (await send(life, 'POST', `/v1/sites/${site.slug}/undelete`, {})).status,
        expected: isLate ? 409 : 200,
        isRepeatable: true,
      };
    },
  },
  'read site': {
    weight: 4,
    plan(life, draw) {
      const site = life.sites.get(draw.of(slugs));
      if (site === undefined) return null;
      const deployed = site.deployments.find(({ id }) => id === site.current);
      const isThere = deployed !== undefined && site.deletedAt === null;
      const text = isThere ? deployed.files.get('index.md') : null;
      return {
        says: `read the site ${site.slug}, as its reader and as nobody`,
        async ask() {
          const path = `/sites/acme/${site.slug}/index.md`;
          const ours = await life.world.call('GET', path, { key: life.admin });
          const others = await life.world.call('GET', path);
          return [ours.status === 200 ? ours.text : null, others.status === 200 ? others.text : null];
        },
        expected: [text, site.visibility === 'public' ? text : null],
      };
    },
  },
};

/** The program names deployments. The same request again names the same. */
function noteDeployment(site: ModelSite, json: Record<string, unknown>, files: Map<string, string>): void {
  const { id } = json['deployment'] as { id: string };
  site.current = id;
  if (!site.deployments.some((each) => each.id === id)) site.deployments.push({ id, files });
}

function isEqual(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}
