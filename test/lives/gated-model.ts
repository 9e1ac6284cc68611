import type { Draw } from './draw.ts';

/** An API whose breaks have to be approved: operations that it may lose, and what its part demands of requests. */
export interface Contract {
  title: string;
  version: string;
  operations: readonly string[];
  demands: readonly string[];
  note: number;
  /** The file of its part. */
  part: string;
}

/** What `stele.yaml` says of a file. */
export interface Entry {
  slug: string;
  approval: boolean;
  isTagged: boolean;
}

/** What a commit has, by the names of files. */
export interface Tree {
  files: Map<string, Contract>;
  entries: Map<string, Entry>;
  /** Whether nobody can read `stele.yaml`. */
  isGarbled: boolean;
}

export const noTree = (): Tree => ({ files: new Map(), entries: new Map(), isGarbled: false });

export const copyOf = ({ files, entries, isGarbled }: Tree): Tree => ({
  files: new Map(files),
  entries: new Map(entries),
  isGarbled,
});

export const firstContract = (title: string): Contract => ({
  title,
  version: '1.0.0',
  operations: ['a', 'b', 'c', 'd', 'e'],
  demands: [],
  note: 0,
  part: `parts/${title}.json`,
});

function textOf({ title, version, operations, note, part }: Contract): string {
  const responses = { 200: { description: 'Done' } };
  const requestBody = { content: { 'application/json': { schema: { $ref: part } } } };
  const paths = Object.fromEntries(operations.map((name) => [`/${name}`, { get: { responses } }]));
  // Most of it is of this contract alone, so that half of it is known again.
  const lines = Array.from({ length: 200 }, (_, at) => `${title} ${at}`);
  const info = { title, version, description: `Note ${note}` };
  const all = { ...paths, [`/${title}`]: { post: { requestBody, responses } } };
  return JSON.stringify({ openapi: '3.1.0', info, paths: all, 'x-lines': lines });
}

/** The contract in a published document. */
export function contractIn(text: string): Contract {
  const { info, paths } = JSON.parse(text) as { info: { title: string; version: string }; paths: object };
  const operations = Object.keys(paths).flatMap((path) => (path === `/${info.title}` ? [] : [path.slice(1)]));
  const demands = JSON.parse(/"required":(\[.*?\])/.exec(JSON.stringify(JSON.parse(text)))?.[1] ?? '[]') as string[];
  return { ...firstContract(info.title), version: info.version, operations, demands };
}

export function textsOf({ files, entries, isGarbled }: Tree, count: number): Record<string, string> {
  const lines = [...entries].map(([path, { slug, approval, isTagged }]) => {
    const gate = `approval: ${approval ? 'required' : 'none'}, compatibility: none`;
    return `  - { path: ${path}, slug: ${slug}, ${gate}${isTagged ? ", tags: 'v*'" : ''} }\n`;
  });
  const all = [...files].flatMap(([path, contract]) => {
    const schema = { type: 'object', required: contract.demands };
    return [[path, textOf(contract)] as const, [contract.part, JSON.stringify(schema)] as const];
  });
  const settings = `discover: false\nresources:\n${lines.join('')}${isGarbled ? 'resources: [\n' : ''}`;
  return { 'stele.yaml': settings, 'README.md': `Commit ${count}`, ...Object.fromEntries(all) };
}

/** What breaks between two contracts. What another contract demands is of an operation that nobody used. */
export function breaksOf(before: Contract, after: Contract): string[] {
  const gone = before.operations.filter((name) => !after.operations.includes(name));
  const demanded = after.demands.filter((name) => !before.demands.includes(name));
  return before.title === after.title ? [...gone, ...demanded] : [`/${before.title}`, ...gone];
}

/** An edit of a tree by one commit. Returns the titles of what it changed; none: it does not apply. */
type Edit = (tree: Tree, path: string, draw: Draw, count: number, slugs: readonly string[]) => readonly string[];

function change(next: (contract: Contract, draw: Draw, count: number) => Partial<Contract>): Edit {
  return ({ files }, path, draw, count) => {
    const contract = files.get(path)!;
    const [major = 0, minor = 0] = contract.version.split('.').map(Number);
    const version = draw.chance(0.5) ? `${major + 1}.0.0` : `${major}.${minor + 1}.0`;
    files.set(path, { ...contract, version, ...next(contract, draw, count) });
    return [contract.title];
  };
}

function move({ files, entries }: Tree, path: string, to: string): string[] {
  const contract = files.get(path)!;
  for (const each of [files, entries] as Map<string, unknown>[]) {
    each.set(to, each.get(path));
    each.delete(path);
  }
  return [contract.title];
}

function say({ files, entries }: Tree, path: string, given: Partial<Entry>): string[] {
  entries.set(path, { ...entries.get(path)!, ...given });
  return [files.get(path)!.title];
}

function garble(tree: Tree, path: string, isGarbled: boolean): string[] {
  if (tree.isGarbled === isGarbled) return [];
  tree.isGarbled = isGarbled;
  return [tree.files.get(path)!.title];
}

const nextSlug = ({ entries }: Tree, path: string, count: number) =>
  `${entries.get(path)!.slug.replace(/-\d+$/, '')}-${count}`;

const names = ['a', 'b', 'c', 'd', 'e'];

export const edits: Readonly<Record<string, readonly [weight: number, edit: Edit]>> = {
  break: [6, change(({ operations }, draw) => ({ operations: operations.filter((name) => name !== draw.of(names)) }))],
  demand: [3, change(({ demands }, _, count) => ({ demands: [...demands, `d${count}`] }))],
  add: [3, change(({ operations }, draw) => ({ operations: [...new Set([...operations, draw.of(names)])].sort() }))],
  note: [4, change((_, draw) => ({ note: draw.number(1000) }))],
  'move the part of': [2, change(({ title }, _, count) => ({ part: `parts/${title}-${count}.json` }))],
  move: [4, (tree, path, _, count) => move(tree, path, `moved-${count}.json`)],
  'give another slug to': [
    4,
    (tree, path, draw, count) => say(tree, path, { slug: nextSlug(tree, path, count), approval: draw.chance(0.6) }),
  ],
  'give an earlier slug to': [
    2,
    (tree, path, draw, _, slugs) => {
      const taken = new Set([...tree.entries.values()].map(({ slug }) => slug));
      const slug = draw.of(slugs.filter((each) => !taken.has(each)));
      return slug === undefined ? [] : say(tree, path, { slug });
    },
  ],
  'swap with another the slug of': [
    2,
    (tree, path, draw) => {
      const { entries } = tree;
      const other = draw.of([...entries.keys()].filter((each) => each !== path));
      if (other === undefined) return [];
      const [one, two] = [entries.get(path)!.slug, entries.get(other)!.slug];
      return [...say(tree, path, { slug: two }), ...say(tree, other, { slug: one })];
    },
  ],
  split: [
    2,
    (tree, path, draw, count) => {
      const contract = tree.files.get(path)!;
      const [taken, left] = [contract.operations.slice(0, 2), contract.operations.slice(2)];
      const title = `${contract.title}s${count}`;
      tree.files.set(path, { ...contract, operations: left, version: `${Number.parseInt(contract.version) + 1}.0.0` });
      tree.files.set(`split-${count}.json`, { ...firstContract(title), operations: taken });
      tree.entries.set(`split-${count}.json`, { slug: title, approval: draw.chance(0.5), isTagged: false });
      return [contract.title, title];
    },
  ],
  'put a decoy in place of': [
    3,
    (tree, path, draw, count) => {
      const entry = tree.entries.get(path)!;
      const title = `decoy${count}`;
      tree.entries.set(path, { ...entry, slug: nextSlug(tree, path, count), approval: draw.chance(0.4) });
      tree.files.set(`decoy-${count}.json`, firstContract(title));
      tree.entries.set(`decoy-${count}.json`, entry);
      return [tree.files.get(path)!.title, title];
    },
  ],
  'drop a file beside': [
    1,
    (tree, path, draw) => {
      const other = draw.of([...tree.files.keys()].filter((each) => each !== path));
      if (other === undefined || tree.files.size < 3) return [];
      const { title } = tree.files.get(other)!;
      for (const each of [tree.files, tree.entries]) each.delete(other);
      return [title];
    },
  ],
  'list no more': [
    1,
    (tree, path) => {
      if (tree.entries.size < 2) return [];
      tree.entries.delete(path);
      return [tree.files.get(path)!.title];
    },
  ],
  'garble the settings beside': [2, (tree, path) => garble(tree, path, true)],
  'mend the settings beside': [6, (tree, path) => garble(tree, path, false)],
  'publish tags of': [1, (tree, path) => say(tree, path, { isTagged: true })],
  'publish the branch of': [1, (tree, path) => say(tree, path, { isTagged: false })],
};

export const editNames = Object.entries(edits).flatMap(([name, [weight]]) =>
  Array.from({ length: weight }, () => name),
);

/** A three-way merge by file. Null: both sides changed one. */
export function mergeTrees(base: Tree, ours: Tree, theirs: Tree): Tree | null {
  const merged = { ...copyOf(ours), isGarbled: ours.isGarbled || theirs.isGarbled };
  for (const kind of ['files', 'entries'] as const) {
    const [before, own, other] = [base, ours, theirs].map((tree) => tree[kind] as Map<string, unknown>);
    for (const path of new Set([...before!.keys(), ...other!.keys()])) {
      const text = (of: Map<string, unknown>) => JSON.stringify(of.get(path));
      if (text(other!) === text(before!) || text(other!) === text(own!)) continue;
      if (text(own!) !== text(before!)) return null;
      const value = other!.get(path);
      if (value === undefined) merged[kind].delete(path);
      else (merged[kind] as Map<string, unknown>).set(path, value);
    }
  }
  const slugs = [...merged.entries.values()].map(({ slug }) => slug);
  return new Set(slugs).size === slugs.length && [...merged.entries.keys()].every((path) => merged.files.has(path))
    ? merged
    : null;
}
