import { parseSync, Visitor } from 'oxc-parser';

/** A source file: its path from the project's root, `/` between segments, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

/** What a file does that the boundaries are about. */
interface Facts {
  path: string;
  lines: number;
  firstComment: string;
  /** Module specifiers, of types, values and `import()` alike. */
  imports: string[];
  /** `import()` of what is not a literal cannot be checked. */
  hasOpaqueImport: boolean;
  hasDefaultExport: boolean;
  readsEnvironment: boolean;
}

/**
 * DESIGN §3: `model ← the port files ← source, compile, store ← registry ← server, site ← cli`. Each layer with the layers that
 * it may import; its own it may always. The table is complete: what it does not name is refused.
 */
const layers: Record<string, readonly string[]> = {
  model: [],
  ports: ['model'],
  source: ['model', 'ports'],
  hosts: ['model', 'ports'],
  render: ['model', 'ports'],
  compile: ['model', 'ports', 'render'],
  store: ['model', 'ports'],
  config: ['model', 'ports'],
  registry: ['model', 'ports', 'config', 'source', 'compile', 'store'],
  site: ['model', 'ports', 'config', 'store', 'registry'],
  server: ['model', 'ports', 'config', 'store', 'registry', 'site'],
  log: ['model', 'config', 'registry'],
  open: ['model', 'ports', 'config', 'log', 'source', 'hosts', 'compile', 'store', 'registry', 'adapters'],
  cli: ['model', 'ports', 'config', 'source', 'compile', 'store', 'registry', 'site', 'server', 'open'],
  adapters: ['model', 'ports', 'store', 'hosts'],
};

/** The port files: interfaces that the layers around the registry meet in. */
const ports = new Set([
  'src/store/bucket.ts',
  'src/source/source.ts',
  'src/source/snapshot.ts',
  'src/compile/compile.ts',
  'src/hosts/host.ts',
]);

/** Backends and hosts: only `open.ts` imports them. */
const adapters = /^src\/(?:store\/(?:fs|memory|s3)|hosts\/(?:github|gitlab|gitea|bitbucket))(?:\.ts|\/)/;

/** A page of `open.ts`: it makes the hosts out of the configuration. */
const hostsPage = 'src/hosts/hosts.ts';

/** Single files that more may import than the rest of their folder, each with its reason. */
const doors = new Map<string, { from: readonly string[]; why: string }>([
  ['src/source/upload.ts', { from: ['server'], why: 'a body that came over HTTP is a Snapshot of one file' }],
]);

/** Packages that belong to one part of the house, by the files that may import them. */
const packages: readonly { name: RegExp; owner: RegExp }[] = [
  { name: /^(?:express|express-rate-limit|helmet|negotiator)(?:\/|$)/, owner: /^src\/server\// },
  { name: /^@redocly\//, owner: /^src\/compile\// },
  { name: /^@seriousme\//, owner: /^src\/compile\// },
  { name: /^(?:ajv|ajv-[a-z0-9-]+)(?:\/|$)/, owner: /^src\/(?:compile\/|server\/|config\.ts$)/ },
  { name: /^(?:simple-git|isomorphic-git)(?:\/|$)/, owner: /^src\/source\// },
  { name: /^@octokit\//, owner: /^src\/hosts\// },
  { name: /^@aws-sdk\//, owner: /^src\/store\/s3/ },
  { name: /^eta$/, owner: /^src\/site\// },
  { name: /^markdown-it$/, owner: /^src\/(?:render|site)\// },
  { name: /^minisearch$/, owner: /^src\/registry\// },
  { name: /^standardwebhooks$/, owner: /^src\/(?:registry|hosts)\// },
  { name: /^commander$/, owner: /^src\/cli(?:\.ts$|\/)/ },
  { name: /^zx(?:\/|$)/, owner: /^(?!src\/)/ },
];

/** Files besides `config.ts` that may read `process.env`, each with its reason. */
const environmentReaders = new Map<string, string>([['src/config.ts', 'the one place where configuration comes in']]);

/** Every way in which these files break the boundaries, one sentence each. No files, no findings. */
export function checkBoundaries(files: readonly SourceFile[]): string[] {
  const facts = files.map(readFacts);
  return [...facts.flatMap(checkFile), ...checkCycles(facts)].sort();
}

function readFacts({ path, text }: SourceFile): Facts {
  const { program, module, comments, errors } = parseSync(path, text);
  const failed = errors.find(({ severity }) => severity === 'Error');
  if (failed) throw new Error(`${path} does not parse: ${failed.message}`);
  const facts: Facts = {
    path,
    lines: text.split('\n').length - 1,
    firstComment: comments[0]?.value ?? '',
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

function checkFile(facts: Facts): string[] {
  const { path } = facts;
  const found: string[] = [];
  const layer = layerOf(path);
  if (layer === null) found.push(`${path} is in no layer of DESIGN §3`);
  if (/(?:^|\/)(?:utils?|helpers?|common|misc|shared)(?:\.ts$|\/)/.test(path))
    found.push(`${path} is named for nothing`);
  if (facts.hasDefaultExport) found.push(`${path} has a default export`);
  if (facts.readsEnvironment && !environmentReaders.has(path)) found.push(`${path} reads process.env`);
  if (facts.hasOpaqueImport && path !== 'src/config.ts') found.push(`${path} imports a module by a computed name`);
  if (facts.lines > 300 && !/\blines\b/.test(facts.firstComment)) {
    found.push(`${path} has ${facts.lines} lines, and its first comment does not say why`);
  }
  for (const specifier of facts.imports) {
    if (specifier.startsWith('.')) {
      const target = resolve(path, specifier);
      if (!target.startsWith('src/')) {
        if (layer === 'model') found.push(`${path} imports ${target}`);
        if (!/^(?:content|templates)\/|^package\.json$/.test(target))
          found.push(`${path} imports ${target}, outside src/`);
      } else if (layer !== null && !mayImport(layer, target) && !doors.get(target)?.from.includes(layer)) {
        found.push(`${path} imports ${target}: ${layer} may not import ${layerOf(target) ?? 'that'}`);
      }
      continue;
    }
    if (layer === 'model' && specifier !== 'node:crypto') found.push(`${path} imports ${specifier}: model is pure`);
    if (layer === 'ports') found.push(`${path} imports ${specifier}: a port is an interface`);
    const rule = packages.find(({ name }) => name.test(specifier));
    if (rule && !rule.owner.test(path)) found.push(`${path} imports ${specifier}, which is not its to import`);
  }
  return found;
}

function mayImport(layer: string, target: string): boolean {
  const other = layerOf(target);
  if (other === null) return false;
  return (other === layer && layer !== 'adapters') || layers[layer]!.includes(other);
}

/** The layer that a file of `src/` is in, or null. An adapter's own folder (`store/s3/`) is one with it. */
function layerOf(path: string): string | null {
  if (ports.has(path)) return 'ports';
  if (adapters.test(path)) return 'adapters';
  if (path === hostsPage) return 'open';
  const [, name] = /^src\/([a-z-]+)(?:\.ts$|\/)/.exec(path) ?? [];
  return name !== undefined && Object.hasOwn(layers, name) && name !== 'ports' && name !== 'adapters' ? name : null;
}

function resolve(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** Layers that reach each other both ways. */
function checkCycles(all: readonly Facts[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { path, imports } of all) {
    const from = layerOf(path);
    if (from === null) continue;
    for (const specifier of imports.filter((text) => text.startsWith('.'))) {
      const to = layerOf(resolve(path, specifier));
      if (to !== null && to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  function reaches(from: string, to: string, seen = new Set<string>()): boolean {
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(edges.get(from) ?? [])].some((next) => next === to || reaches(next, to, seen));
  }
  return [...edges.keys()]
    .filter((layer) => reaches(layer, layer))
    .map((layer) => `${layer}/ is part of an import cycle`);
}
