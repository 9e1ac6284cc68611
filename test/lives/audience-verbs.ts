import { isDeepStrictEqual } from 'node:util';
import { commit, sync } from './git-verbs.ts';
import { evolve, firstDoc, send, type Life, type Repo, type Verbs } from './life.ts';
import { publicPart, textOf, type Doc, type Overlay } from './model.ts';

const settings = `resources:
  - { path: api.json, slug: faces }
  - { path: api.json, slug: faces-public, audience: public, overlays: [public.overlay.json] }
`;

const books = ['book', 'tome'];

const sitesOf = (sites: readonly string[]): string =>
  sites.length === 0
    ? ''
    : `sites:\n${sites.map((slug) => `  - { path: docs, slug: ${slug}, title: Book }\n`).join('')}`;

const textOfOverlay = ({ note, removes }: Overlay): string => {
  const actions = [
    ...(note === null ? [] : [{ target: '$.info', update: { description: `Note ${note}` } }]),
    ...(removes === null ? [] : [{ target: `$.paths['/${removes}']`, remove: true }]),
    // An overlay has an action at least; this one changes nothing.
    { target: '$.openapi', update: '3.1.0' },
  ];
  return JSON.stringify({ overlay: '1.0.0', info: { title: 'Public', version: '1' }, actions });
};

/** Commits a document and its overlay, and what the two entries of `stele.yaml` publish of them. */
export function commitFaces(life: Life, repo: Repo, doc: Doc, overlay: Overlay): void {
  const files = new Map([
    ['faces', doc],
    ['faces-public', publicPart(doc, overlay)],
  ]);
  const texts = {
    'stele.yaml': settings + sitesOf(life.book.sites),
    'api.json': textOf(doc),
    'public.overlay.json': textOfOverlay(overlay),
    'docs/index.md': life.book.text,
  };
  // What was rejected is looked at again when one of its files is another, also where the same is left of them.
  const isOther = !isDeepStrictEqual([doc, overlay], [repo.files.get('faces'), life.overlay]);
  if (isOther && repo.seen.get('faces-public')?.outcome === 'rejected') repo.seen.delete('faces-public');
  life.overlay = overlay;
  commit(life, repo, files, texts);
}

export const firstFace = (draw: Parameters<typeof firstDoc>[1]): Doc => ({
  ...firstDoc('Faces', draw),
  internal: ['b'],
});

/** What overlays and an audience leave of one file, beside all of it. */
export const audienceVerbs: Verbs = {
  'push another document of two audiences': {
    weight: 5,
    asks: ['syncRepository'],
    plan(life, draw) {
      const repo = life.repos.get('faces')!;
      const doc = evolve(repo.files.get('faces')!, draw);
      const internal = draw.chance(0.5) ? doc.operations.filter(() => draw.chance(0.3)) : doc.internal!;
      commitFaces(life, repo, { ...doc, internal }, life.overlay);
      return sync(life, repo, `push ${JSON.stringify({ ...doc, internal })} for two audiences, and sync`);
    },
  },
  'push another overlay': {
    weight: 4,
    asks: ['syncRepository'],
    plan(life, draw) {
      const repo = life.repos.get('faces')!;
      const doc = repo.files.get('faces')!;
      const note = draw.chance(0.6) ? draw.number(1000) : null;
      // What matches nothing is a warning.
      const removes = draw.chance(0.6) ? draw.of(['a', 'c', 'd']) : null;
      commitFaces(life, repo, doc, { note, removes });
      return sync(life, repo, `push the overlay ${JSON.stringify({ note, removes })}, and sync`);
    },
  },
  'push sites': {
    weight: 4,
    asks: ['syncRepository'],
    plan(life, draw) {
      const repo = life.repos.get('faces')!;
      const text = `# Book\n\nText ${draw.number(1000)}\n`;
      const sites = books.filter(() => draw.chance(0.6));
      life.book = { text, sites };
      commitFaces(life, repo, repo.files.get('faces')!, life.overlay);
      const { says, ask, expected } = sync(life, repo, `push the sites ${sites.join(', ') || 'none'}, and sync`);
      const standing = async (slug: string) => {
        const { json } = await send(life, 'GET', `/v1/sites/${slug}/connection`);
        if (json['state'] !== 'synced') return [slug, null];
        return [slug, (await life.world.call('GET', `/sites/acme/${slug}/index.md`, { key: life.admin })).text];
      };
      return {
        says,
        ask: async () => [await ask(), await Promise.all(books.map(standing))],
        expected: [expected, books.map((slug) => [slug, sites.includes(slug) ? text : null])],
        isRepeatable: true,
      };
    },
  },
};
