import { keyOf, people } from './approval-verbs.ts';
import { day, send, type Life, type Verbs } from './life.ts';

/** Schemas that refer to each other, and an API that refers to the first: what each demands, and who wrote what is new behind a reference. */
export interface References {
  /** Of the newest version of each schema; `money` has that of `coin` of when it was published. */
  demands: { coin: string[]; money: string[] };
  count: { coin: number; money: number; wallet: number };
  /** Who wrote what of a schema is not yet in what refers to it. */
  writers: { coin: Set<string>; money: Set<string> };
  /** What `money` demanded when the API was published last. */
  published: string[];
  held: { demands: string; authors: string[]; at: number } | null;
  decision: { demands: string; verdict: 'approved' | 'rejected'; at: number } | null;
}

export const noReferences = (): References => ({
  demands: { coin: [], money: [] },
  count: { coin: 0, money: 0, wallet: 0 },
  writers: { coin: new Set(), money: new Set() },
  published: [],
  held: null,
  decision: null,
});

const at = (slug: string) => `https://registry.test/@acme/schemas/${slug}@^1`;
const isValid = (each: { at: number } | null, now: number) => each !== null && now - each.at <= 30 * day;

/** Publishes what one of these has now; the first time, makes the resource. Returns the status. */
async function put({ world, admin, ...life }: Life, path: string, document: object, by: string): Promise<number> {
  const slug = path.split('/')[1]!;
  const approval = slug === 'wallet' ? 'required' : 'none';
  const body = { name: slug, slug, visibility: 'private', compatibility: 'none', approval };
  if ((await world.call('GET', `/v1/${path}`, { key: admin })).status === 404)
    await world.call('POST', `/v1/${path.split('/')[0]}`, { key: admin, body });
  const key = await keyOf({ world, admin, ...life }, by);
  const where = `/v1/${path}/${path.startsWith('apis') ? 'spec' : 'document'}`;
  return (await world.call('POST', where, { key, body: { document: JSON.stringify(document) } })).status;
}

/** governance.md, Approval, and references.md: what a reference brings along was written by the authors of that document. */
export const referenceVerbs: Verbs = {
  'change what is referred to': {
    weight: 12,
    asks: ['createSchema', 'publishSchema'],
    plan(life, draw) {
      const { demands, count, writers } = life.references;
      const slug = count.coin === 0 ? 'coin' : count.money === 0 ? 'money' : draw.of(['coin', 'money'] as const);
      const by = draw.of(people);
      const label = `1.${count[slug]++}.0`;
      // Now and then it demands nothing any more: what was held breaks nobody then.
      const own = draw.chance(0.15) ? [] : demands[slug].filter((each) => each.startsWith(slug));
      if (draw.chance(0.5)) own.push(`${slug}${count[slug]}`);
      demands[slug] = slug === 'coin' ? own : [...own, ...demands.coin];
      writers[slug].add(by);
      if (slug === 'money') {
        writers.money = writers.money.union(writers.coin);
        writers.coin.clear();
      }
      const properties = slug === 'money' ? { coin: { $ref: at('coin') } } : {};
      const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: slug, type: 'object' };
      const document = { ...schema, description: label, required: own, properties };
      const read = async () => (await life.world.call('GET', '/@acme/apis/wallet.json', { key: life.admin })).text;
      return {
        says: `${by} publishes ${slug}@${label}, which demands ${own.join(', ') || 'nothing'}`,
        async ask() {
          const before = await read();
          const status = await put(life, `schemas/${slug}`, { ...document, 'x-version': label }, by);
          return { status, isSame: plain(await read()) === plain(before) };
        },
        expected: { status: 201, isSame: true },
      };
    },
  },
  'publish what refers': {
    weight: 12,
    asks: ['createApi', 'publishApi'],
    plan(life, draw) {
      const { references, world } = life;
      const { demands, count, writers, published } = references;
      if (count.money === 0) return null;
      const now = world.now() + 1000;
      const by = people[count.wallet % people.length]!;
      const text = demands.money.join();
      const isBreak = count.wallet > 0 && demands.money.some((each) => !published.includes(each));
      const { held, decision } = references;
      // An approval covers each change: what one of the two schemas demands, not both together.
      const isCovered = (slug: string) =>
        partOf(slug, decision!.demands.split(',')) === partOf(slug, demands.money) ||
        demands.money.every((each) => !each.startsWith(slug) || published.includes(each));
      const isApproved =
        isValid(decision, now) && decision!.verdict === 'approved' && ['coin', 'money'].every(isCovered);
      const label = `1.${count.wallet}.0`;
      const isPublished = !isBreak || isApproved;
      if (isPublished) {
        Object.assign(references, { published: demands.money, held: null, decision: null });
        count.wallet++;
        writers.money.clear();
      } else {
        const authors = [...new Set([by, ...writers.money])].sort();
        const isSame = isValid(held, now) && held?.demands === text && held.authors.join() === authors.join();
        if (!isSame) references.held = { demands: text, authors, at: now };
      }
      const content = { 'application/json': { schema: { $ref: at('money') } } };
      const post = { requestBody: { content }, responses: { 200: { description: `${draw.number(1000)}` } } };
      const document = { openapi: '3.1.0', info: { title: 'wallet', version: label }, paths: { '/pay': { post } } };
      return {
        says: `${by} publishes wallet@${label}${isPublished ? '' : ', which is held'}`,
        ask: () => put(life, 'apis/wallet', document, by),
        expected: isPublished ? 201 : 422,
      };
    },
  },
  'decide about what a reference breaks': {
    weight: 10,
    asks: ['decideApproval'],
    plan(life, draw) {
      const { references, world } = life;
      const now = world.now() + 1000;
      const { held } = references;
      if (held === null || !isValid(held, now)) return null;
      const who = draw.of(people);
      const verdict = draw.chance(0.8) ? 'approved' : 'rejected';
      const may = !held.authors.includes(who);
      if (may) references.decision = { demands: held.demands, verdict, at: now };
      return {
        says: `${who}: ${verdict} wallet, written by ${held.authors.join(' and ')}`,
        async ask() {
          const key = await keyOf(life, who);
          const { json } = await world.call('GET', '/v1/approvals?resource=apis/wallet', { key });
          const [item] = json['items'] as { id: string; mayDecide: boolean }[];
          const body = { verdict, reason: 'A life.' };
          const { status } = await send(life, 'POST', `/v1/approvals/${item?.id ?? 'none'}`, body, key);
          return { may: item?.mayDecide, status };
        },
        expected: { may, status: may ? 200 : 403 },
      };
    },
  },
};

const partOf = (slug: string, demands: readonly string[]) => demands.filter((each) => each.startsWith(slug)).join();

const plain = (text: string) => text.replace(/urn:uuid:[0-9a-f-]+/, '');
