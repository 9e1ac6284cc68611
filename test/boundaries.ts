import { parseSync, Visitor } from 'oxc-parser';

/** A source file: its path from the project's root, `/` between segments, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

/** What a file does that the boundaries are about. */
interface Facts {
  path: string;
  /** Module specifiers, of types, values and `import()` alike. */
  imports: string[];
  /** `import()` of what is not a literal cannot be checked. */
  hasOpaqueImport: boolean;
  hasDefaultExport: boolean;
  readsEnvironment: boolean;
}

/** The rules of the house, as the map states them. */
export interface HouseMap {
  /** Rooms by name, each with its paths (`src/store/`, `src/open.ts`) and the rooms that it may import besides itself. */
  rooms: Map<string, { paths: string[]; mayImport: string[] }>;
  /** Packages, `@scope/*` and `ajv-*` included, by the paths that may import them: files, folders, or whole rooms by their first. */
  packages: Map<string, string[]>;
}

/**
 * Reads the two tables of `src/README.md`. A row of the first names a room by the word before the colon, else by its first folder or file.
 * Throws when a row names a room that no row describes.
 */
export function readMap(markdown: string): HouseMap {
  const rooms: HouseMap['rooms'] = new Map();
  const packages: HouseMap['packages'] = new Map();
  for (const line of markdown.split('\n').filter((text) => text.startsWith('|') && text.includes('`'))) {
    const cells = line.split('|').slice(1, -1);
    const [first, last] = [cells[0]!, cells.at(-1)!];
    const named = [...first.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    if (cells.length === 2) {
      const owners = [...last.matchAll(/`([^`]+)`/g)].map(([, path]) => `src/${path}`);
      for (const name of named) packages.set(name, owners);
    } else {
      const room = /^\s*([a-z]+):/.exec(first)?.[1] ?? named[0]!.replace(/\/$|\.ts$/, '');
      const names = last.split(',').map((name) => name.trim());
      rooms.set(room, { paths: named.map((path) => `src/${path}`), mayImport: names.filter(Boolean) });
    }
  }
  const pathsOf = (path: string) => [...rooms.values()].find(({ paths }) => paths[0] === path)?.paths ?? [path];
  for (const [name, owners] of packages) packages.set(name, owners.flatMap(pathsOf));
  for (const [room, row] of rooms) {
    const unknown = row.mayImport.filter((name) => !rooms.has(name));
    if (unknown.length > 0)
      throw new Error(`src/README.md: ${room} may import ${unknown.join(', ')}, which has no row`);
  }
  return { rooms, packages };
}

/** Single files that more may import than the rest of their room, each with its reason. */
const doors = new Map<string, { from: readonly string[]; why: string }>([
  [
    'src/source/upload.ts',
    { from: ['server', 'console'], why: 'a body that came over HTTP is a Snapshot of one file' },
  ],
]);

/** Files that may read `process.env`, each with its reason. */
const environmentReaders = new Map<string, string>([
  ['src/config/environment.ts', 'the one place where configuration comes in'],
]);

/** Every way in which these files break the rules of the map, one sentence each. No files, no findings. */
export function checkBoundaries(files: readonly SourceFile[], map: HouseMap): string[] {
  const facts = files.map(readFacts);
  const found = facts.flatMap((each) => checkFile(each, map));
  return [...found, ...checkRoomCycles(facts, map), ...checkFileCycles(facts)].sort();
}

function readFacts({ path, text }: SourceFile): Facts {
  const { program, module, errors } = parseSync(path, text);
  const failed = errors.find(({ severity }) => severity === 'Error');
  if (failed) throw new Error(`${path} does not parse: ${failed.message}`);
  const facts: Facts = {
    path,
    imports: [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ],
    hasOpaqueImport: false,
    hasDefaultExport: module.staticExports.some(({ entries }) =>
      entries.some(({ exportName }) => exportName.kind === 'Default' || exportName.name === 'default'),
    ),
    readsEnvironment: module.staticImports.some(
      ({ moduleRequest, entries }) =>
        /^(?:node:)?process$/.test(moduleRequest.value) && entries.some(({ importName }) => importName.name === 'env'),
    ),
  };
  new Visitor({
    ImportExpression({ source }) {
      if (source.type === 'Literal' && typeof source.value === 'string') facts.imports.push(source.value);
      else facts.hasOpaqueImport = true;
    },
    TSImportType({ source }) {
      facts.imports.push(source.value);
    },
    MemberExpression({ object, property }) {
      if (isNamed(property, 'env') && (isNamed(object, 'process') || isNamed(propertyOf(object), 'process'))) {
        facts.readsEnvironment = true;
      }
    },
    VariableDeclarator({ id, init }) {
      if (id.type !== 'ObjectPattern' || !isNamed(init, 'process')) return;
      if (id.properties.some((property) => property.type === 'RestElement' || isNamed(property.key, 'env'))) {
        facts.readsEnvironment = true;
      }
    },
  }).visit(program);
  return facts;
}

type Node = { type: string; name?: unknown; value?: unknown; property?: unknown };

function isNamed(node: unknown, name: string): boolean {
  const { type, name: identifier, value } = (node ?? {}) as Node;
  return (type === 'Identifier' && identifier === name) || (type === 'Literal' && value === name);
}

function propertyOf(node: unknown): unknown {
  return (node as Node).type === 'MemberExpression' ? (node as Node).property : null;
}

function checkFile(facts: Facts, map: HouseMap): string[] {
  const { path } = facts;
  const found: string[] = [];
  const room = roomOf(map, path);
  if (room === null) found.push(`${path} is in no room of src/README.md`);
  if (/(?:^|\/)(?:utils?|helpers?|common|misc|shared)(?:\.ts$|\/)/.test(path))
    found.push(`${path} is named for nothing`);
  if (facts.hasDefaultExport) found.push(`${path} has a default export`);
  if (facts.readsEnvironment && !environmentReaders.has(path)) found.push(`${path} reads process.env`);
  if (facts.hasOpaqueImport && path !== 'src/config/load-config.ts')
    found.push(`${path} imports a module by a computed name`);
  for (const specifier of facts.imports) {
    if (specifier.startsWith('.')) {
      const target = resolve(path, specifier);
      if (!target.startsWith('src/')) {
        if (room === 'model') found.push(`${path} imports ${target}`);
        if (!/^(?:content|templates)\/|^package\.json$/.test(target))
          found.push(`${path} imports ${target}, outside src/`);
      } else if (room !== null && !isAllowed(map, room, target) && !doors.get(target)?.from.includes(room)) {
        found.push(`${path} imports ${target}: ${room} may not import ${roomOf(map, target) ?? 'that'}`);
      }
      continue;
    }
    if (room === 'model' && specifier !== 'node:crypto') found.push(`${path} imports ${specifier}: model is pure`);
    if (room === 'ports') found.push(`${path} imports ${specifier}: a port is an interface`);
    const owners = ownersOf(map, specifier);
    if (owners && !owners.some((owner) => isIn(path, owner))) {
      found.push(`${path} imports ${specifier}, which is not its to import`);
    }
  }
  return found;
}

function isAllowed(map: HouseMap, room: string, target: string): boolean {
  const other = roomOf(map, target);
  if (other === null) return false;
  return (other === room && room !== 'adapters') || map.rooms.get(room)!.mayImport.includes(other);
}

/** The room that a file of `src/` is in: the one with the longest path that it is at or under. Null: none. */
function roomOf({ rooms }: HouseMap, path: string): string | null {
  let found: { room: string; length: number } | null = null;
  for (const [room, { paths }] of rooms) {
    const length = Math.max(...paths.filter((each) => isIn(path, each)).map((each) => each.length));
    if (length > (found?.length ?? 0)) found = { room, length };
  }
  return found?.room ?? null;
}

/** Whether the file is the one that the map names, or in its folder (`store/fs/` counts as `store/fs.ts`). */
function isIn(path: string, named: string): boolean {
  return path === named || path.startsWith(named.endsWith('/') ? named : named.replace(/\.ts$/, '/'));
}

/** The paths that may import a package, or null when the map does not name it. */
function ownersOf({ packages }: HouseMap, specifier: string): string[] | null {
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  for (const [pattern, owners] of packages) {
    if (pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))) return owners;
  }
  return null;
}

function resolve(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** Rooms that reach each other both ways. */
function checkRoomCycles(all: readonly Facts[], map: HouseMap): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { path, imports } of all) {
    const from = roomOf(map, path);
    if (from === null) continue;
    for (const specifier of imports.filter((text) => text.startsWith('.'))) {
      const to = roomOf(map, resolve(path, specifier));
      if (to !== null && to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  return cyclic(edges).map((room) => `${room}/ is part of an import cycle`);
}

/** Files that reach each other both ways, by imports of types too. */
function checkFileCycles(all: readonly Facts[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { path, imports } of all) {
    const relative = imports.filter((text) => text.startsWith('.')).map((specifier) => resolve(path, specifier));
    edges.set(path, new Set(relative));
  }
  return cyclic(edges).map((path) => `${path} is part of an import cycle`);
}

function cyclic(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  function reaches(from: string, to: string): boolean {
    const seen = new Set<string>();
    const open = [...(edges.get(from) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === to) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(edges.get(next) ?? []));
    }
    return false;
  }
  return [...edges.keys()].filter((node) => reaches(node, node));
}
