import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { parseSync, Visitor } from 'oxc-parser';
import { parseAllDocuments } from 'yaml';
import { describe, expect, test } from 'vitest';
import { exitMeanings } from '../src/cli/process-end.ts';
import { createProgram } from '../src/cli/program.ts';
import { readSettings } from './compile/read-settings.ts';
import { defineConfig, type UserConfig } from '../src/config.ts';
import { checkConfig } from '../src/config/load-config.ts';
import { parseAddress } from '../src/model/address.ts';
import { eventTypes } from '../src/model/event.ts';
import { problemTypes } from '../src/server/error-answers.ts';
import { readDescription } from '../src/server/v1/api-description.ts';
import { readDocLink, readDocs } from '../src/site/docs/docs.ts';
import { renderDoc } from '../src/site/docs/docs-page.ts';
import { describeCommands, makeReferences } from '../scripts/reference.ts';
import { readHistory, type Noted } from '../scripts/bench/history.ts';
import { fillPage, plots } from '../scripts/bench/history-figures.ts';
import { limits } from './compile/limits.ts';
import { run } from './compile/run.ts';

/** What the documentation says is held against the code. */

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const commands = describeCommands(await createProgram());
const problems = Object.entries(problemTypes).map(([code, kind]) => ({ code, ...kind }));
const pages = readDocs();
const pageOf = (name: string) => pages.find((page) => page.name === name)!.markdown;

test('what the program says of itself is what scripts/reference.ts writes', async () => {
  const made = await makeReferences();
  const kept = readdirSync(new URL('content/reference/', root));
  expect(kept.toSorted()).toEqual(Object.keys(made).toSorted());
  for (const name of kept) expect(read(`content/reference/${name}`), `Run node scripts/reference.ts`).toBe(made[name]);
});

describe('nothing is missing:', () => {
  const missing = (name: string, texts: readonly string[]) => texts.filter((text) => !pageOf(name).includes(text));

  test('every problem of a request', () => {
    expect(problems.length).toBeGreaterThan(15);
    expect(
      missing(
        'problems',
        problems.map(({ code }) => `### ${code}\n`),
      ),
    ).toEqual([]);
  });

  test('every rule of a problem in a document, and no other', () => {
    const known = pageOf('rules')
      .match(/^- `[a-z-]+`/gm)!
      .map((row) => row.slice(3, -1));
    const made = rulesIn(['model', 'compile', 'registry', 'plan', 'sync', 'source', 'render', 'sites']);
    expect(made.length).toBeGreaterThan(50);
    expect(made.filter((rule) => !known.includes(rule))).toEqual([]);
    expect(known.filter((rule) => !made.includes(rule))).toEqual([]);
  });

  test('every exit code, with its meaning', () => {
    const rows = pageOf('commands')
      .match(/^\| \d+ .*$/gm)!
      .map((row) => row.split('|').map((cell) => cell.trim()));
    expect(rows.map(([, code, meaning]) => [code, meaning])).toEqual(Object.entries(exitMeanings));
  });

  test('every key of the configuration', () => {
    const keys = configurationKeys(JSON.parse(read('content/schemas/config.json')) as ConfigSchema);
    expect(keys.length).toBeGreaterThan(80);
    expect(
      missing(
        'configuration',
        keys.map((key) => `| \`${key}\``),
      ),
    ).toEqual([]);
    const headings = renderDoc(pageOf('configuration'), (href) => href).headings.map(({ text }) => text);
    expect(headings).toEqual(expect.arrayContaining(keys.filter((key) => /^\w+$/.test(key))));
  });

  test('every variable of the environment', () => {
    const names = [...read('src/config/environment.ts').matchAll(/process\.env\.(\w+)/g)].map(
      ([, name]) => `- \`${name}\``,
    );
    expect(new Set(names).size).toBe(5);
    expect(missing('configuration', names)).toEqual([]);
  });

  test('every command, argument and option', () => {
    expect(commands.length).toBeGreaterThan(9);
    expect(
      missing('commands', [
        ...commands.map(({ name }) => `### ${name}\n`),
        ...commands.flatMap(({ arguments: taken }) => taken.map(({ name }) => `| \`${name}\``)),
        ...commands.flatMap(({ options }) => options.map(({ flags }) => `| \`${flags}\``)),
      ]),
    ).toEqual([]);
  });

  test('every operation of the management API, with its scope', () => {
    const { operations } = readDescription();
    const lines = pageOf('management-api').split('\n');
    const untold = operations.filter(({ method, path, scope }) => {
      const line = lines.find((each) => each.startsWith(`| \`${method.toUpperCase()} ${path}\` |`));
      return line === undefined || (scope !== null && !line.includes(`\`${scope}\``));
    });
    expect(untold.map(({ id }) => id)).toEqual([]);
  });

  test('every event, and no other', () => {
    expect(
      missing(
        'events',
        eventTypes.map((type) => `\`${type}\``),
      ),
    ).toEqual([]);
    const said = [...pageOf('events').matchAll(/`((?:version|latest|visibility|sync|source|site)\.[a-z-]+)`/g)];
    const unknown = said.map(([, name]) => name!).filter((name) => !(eventTypes as readonly string[]).includes(name));
    expect(unknown.filter((name) => !/^sync\.(?:interval|hosts)$/.test(name))).toEqual([]);
  });

  test('every view of a resource, at its address', () => {
    const rows = [...pageOf('urls').matchAll(/^\| `(…\/\{slug\}[^`]*)` *\| `([a-z-]+)` *\|/gm)];
    const views = rows.map(([, path, view]) => {
      const filled = path!
        .replace('…', '/@acme/apis')
        .replace('{slug}', 'pay')
        .replace(/\[?@\{version\}\]?/, '@1.0.0');
      const address = parseAddress(filled.replace(/\?.*/, ''));
      expect(address, path).toMatchObject({ kind: 'resource', view });
      return view;
    });
    const [, source] = /const tails = \{([^}]+)\}/.exec(read('src/model/address.ts'))!;
    // A view may have two addresses: of the newest version, and of each.
    expect([...new Set(views)].toSorted()).toEqual(
      [...source!.matchAll(/^  '?([a-z-]+)'?: /gm)].map(([, view]) => view).toSorted(),
    );
  });

  test('every feed and discovery document', () => {
    for (const path of ['/feed', '/feeds/{org}', '/feeds/{org}/{type}/{slug}'])
      expect(missing('search', [`\`${path}.atom\``, `\`${path}.json\``])).toEqual([]);
    expect(
      missing('search', ['/llms.txt', '/.well-known/api-catalog', '/sitemap.xml', '/robots.txt', '/search/index.json']),
    ).toEqual([]);
  });

  test('every template', () => {
    const files = readdirSync(new URL('templates', root)).filter((name) => name.endsWith('.eta'));
    expect(
      missing(
        'templates',
        files.map((name) => `\`${name}\``),
      ),
    ).toEqual([]);
  });
});

describe('links', () => {
  const anchors = new Map(pages.map(({ name, markdown }) => [name, idsOf(markdown)]));

  test.each(pages)('of $name lead somewhere', ({ name, markdown }) => {
    const wrong: string[] = [];
    renderDoc(markdown, (href) => {
      if (href.startsWith('https://')) return href;
      const link = readDocLink(href) ?? (href.startsWith('#') ? { name, hash: href } : null);
      const ids = link && anchors.get(link.name);
      if (!ids || (link.hash !== '' && !ids.has(link.hash.slice(1)))) wrong.push(href);
      return href;
    });
    expect(wrong).toEqual([]);
  });

  test('lead to every page', () => {
    const linked = new Set(
      pages.flatMap(({ markdown }) => [...markdown.matchAll(/\]\(([a-z-]+)\.md/g)].map(([, name]) => name)),
    );
    expect(pages.map(({ name }) => name).filter((name) => name !== 'index' && !linked.has(name))).toEqual([]);
  });

  function idsOf(markdown: string): Set<string> {
    return new Set(renderDoc(markdown, (href) => href).headings.map(({ id }) => id));
  }
});

describe('examples', () => {
  const blocks = (language: string) =>
    pages.flatMap(({ name, markdown }) =>
      [...markdown.matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)^ *\`\`\`$`, 'gms'))].map(([, indent, text]) => ({
        name,
        text: text!.replaceAll(new RegExp(`^${indent!}`, 'gm'), ''),
      })),
    );

  test('in TypeScript are configurations that Stele takes', () => {
    expect(blocks('ts').length).toBeGreaterThan(3);
    for (const { name, text } of blocks('ts')) {
      const code = stripTypeScriptTypes(text)
        .replace(/^import .*$/m, '')
        .replace('export default', 'return');
      const make = new Function('defineConfig', code) as (define: typeof defineConfig) => UserConfig;
      expect(() => checkConfig(make(defineConfig), { base: '/', data: '.stele' }), name).not.toThrow();
    }
  });

  test('in YAML are read, and those of stele.yaml taken', () => {
    for (const { name, text } of blocks('yaml')) {
      expect(
        parseAllDocuments(text).flatMap(({ errors }) => errors),
        name,
      ).toEqual([]);
      if (!/^resources:/m.test(text)) continue;
      const { report } = readSettings({ path: 'stele.yaml', bytes: Buffer.from(text) }, limits);
      expect(report.problems, `${name}: ${text}`).toEqual([]);
    }
  });

  test('of rulesets are published', async () => {
    const examples = blocks('yaml').filter(
      ({ text }) => /^rules:/m.test(text) && !/^(?:functions|plugins):/m.test(text),
    );
    expect(examples).toHaveLength(2);
    for (const { text } of examples) {
      const { lines, artifact } = await run({ 'style.yaml': text }, { type: 'rulesets' });
      expect(lines).toEqual([]);
      expect(artifact).toMatchObject({ title: 'Acme style', version: '1.0.0' });
    }
  });

  test('in JSON are JSON', () => {
    for (const { text } of blocks('json')) expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  test('of commands name existing commands and options', () => {
    const lines = blocks('sh').flatMap(({ text }) =>
      text.split('\n').filter((line) => /^(?:\$ )?(?:npx )?stele /.test(line)),
    );
    expect(lines.length).toBeGreaterThan(20);
    for (const line of lines) {
      const words = line.replace(/^(?:\$ )?(?:npx )?stele /, '').split(/\s+(?![^']*'(?:[^']*'[^']*')*[^']*$)/);
      const command = commands.find(({ name }) => `stele ${words.join(' ')} `.startsWith(`${name} `));
      expect(command, line).toBeDefined();
      const flags = command!.options.flatMap((option) => option.flags.match(/--[a-z-]+/g)!);
      const used = words.filter((word) => word.startsWith('--'));
      expect(
        used.filter((flag) => !flags.includes(flag)),
        line,
      ).toEqual([]);
    }
  });

  test('of requests ask for what the management API answers', () => {
    const { operations } = readDescription();
    const asked = blocks('sh').flatMap(({ text }) =>
      text
        .replaceAll('\\\n', ' ')
        .split('\n')
        .filter((line) => line.startsWith('curl ') && line.includes('https://contracts.example.com/v1/')),
    );
    expect(asked.length).toBeGreaterThan(4);
    for (const line of asked) {
      const [, path] = /https:\/\/contracts\.example\.com(\/v1\/\S+)/.exec(line)!;
      const method = /-X (\w+)/.exec(line)?.[1] ?? 'GET';
      const found = operations.find(
        (operation) =>
          operation.method === method.toLowerCase() &&
          new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path!),
      );
      expect(found, line).toBeDefined();
      const body = /--json '([^']*)'/.exec(line)?.[1];
      if (body !== undefined) expect(() => JSON.parse(body) as unknown, line).not.toThrow();
    }
  });
});

describe('figures of benchmarks', () => {
  const page = read('docs/performance.md');
  const note = (row: Noted['row'], value: number, x?: number): Noted => {
    const noted: Noted = { row, value, seen: '', commit: 'abc', date: '2026-01-01', machine: 'any' };
    return x === undefined ? noted : { ...noted, x };
  };

  test('are those of the history', () => {
    expect(fillPage(page, readHistory())).toBe(page);
    for (const { name, svg } of plots(readHistory())) expect(read(`docs/bench/${name}.svg`)).toBe(svg);
  });

  test('are the newest ones, with the goal that they meet or miss, beside those of the commit before', () => {
    const old = { ...note('cold', 0.3), commit: '0b2a3ef3' };
    const history = [old, note('cold', 0.6), note('cold', 0.4), note('help', 80)];
    const rows = fillPage(page, history).split('\n');
    expect(rows.find((row) => row.includes('`cold`'))).toContain('| ≥ 0.5 | 0.30 | 0.40 | **missed** | abc |');
    expect(rows.find((row) => row.includes('`help`'))).toContain('| ≤ 150 |  | 80.0 | met | abc |');
  });

  test('of a curve are points of a picture', () => {
    const history = [10, 1000].map((x) => note('curve publish by versions', 2, x));
    expect(fillPage(page, history)).toContain('](bench/publish-by-versions.svg)');
    expect(plots(history)[0]!.svg.match(/<circle /g)).toHaveLength(2);
  });
});

test('files that the documentation names are there', () => {
  const folders = new Map([
    ['README.md', ''],
    ['src/README.md', 'src/'],
    ...readdirSync(new URL('docs', root))
      .filter((name) => name.endsWith('.md'))
      .map((name) => [`docs/${name}`, ''] as const),
  ]);
  const named = [...folders].flatMap(([document, base]) =>
    [...read(document).matchAll(/`((?:src|test|docs|content|scripts|[a-z]+)\/[\w./-]+\.(?:ts|md|json|yaml))`/g)].map(
      ([, path]) => ({ document, path: /^(?:src|test|docs|content|scripts)\//.test(path!) ? path! : `${base}${path}` }),
    ),
  );
  expect(named.length).toBeGreaterThan(15);
  const absent = named.filter(({ path }) => !exists(path));
  expect(absent).toEqual([]);
});

test('links of README.md and docs/ lead to files', () => {
  const documents = ['README.md', 'src/README.md', ...readdirSync(new URL('docs', root)).map((name) => `docs/${name}`)];
  const absent = documents
    .filter((document) => document.endsWith('.md'))
    .flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, href]) =>
        new URL(href!, new URL(document, 'file:///')).pathname.slice(1),
      ),
    )
    .filter((path) => !exists(path));
  expect(absent).toEqual([]);
});

function exists(path: string): boolean {
  try {
    read(path);
    return true;
  } catch {
    return false;
  }
}

interface ConfigSchema {
  $ref?: string;
  $defs?: Record<string, ConfigSchema>;
  properties?: Record<string, ConfigSchema>;
  additionalProperties?: boolean | ConfigSchema;
  items?: ConfigSchema;
  oneOf?: ConfigSchema[];
}

/** Every key that a configuration may have, as the page writes it. */
function configurationKeys(schema: ConfigSchema): string[] {
  const walk = (given: ConfigSchema, path: string): string[] => {
    const each = given.$ref === undefined ? given : { ...schema.$defs![given.$ref.replace('#/$defs/', '')], ...given };
    const named =
      typeof each.additionalProperties === 'object' ? walk(each.additionalProperties, `${path}.<name>`) : [];
    return [
      path,
      ...[each, ...(each.oneOf ?? [])].flatMap(({ properties = {} }) =>
        Object.entries(properties).flatMap(([name, value]) => walk(value, `${path}.${name}`)),
      ),
      ...named,
      ...(each.items === undefined ? [] : walk(each.items, `${path}[]`)),
    ];
  };
  return Object.entries(schema.properties!).flatMap(([name, value]) => walk(value, name));
}

/** The names of rules that problems are made with, read from the syntax trees: what `rule` is, and what the makers of problems are given. */
function rulesIn(folders: readonly string[]): string[] {
  const makers =
    /^(?:problemAt|problemAtFile|addProblem|refuse|refused|stop|note|fail|about|problemOf|noteAt|issueOf)$/;
  const found = new Set<string>();
  interface Node {
    type: string;
    [member: string]: unknown;
  }
  const add = (node: unknown): void => {
    const { type, value, consequent, alternate, left, right, types, literal } = (node ?? {}) as Node;
    if (type === 'Literal' && typeof value === 'string' && /^(?!warning$)[a-z]+(?:-[a-z]+)*$/.test(value))
      found.add(value);
    if (type === 'TSLiteralType') add(literal);
    for (const inner of [consequent, alternate, left, right, ...((types as unknown[] | undefined) ?? [])])
      if (inner !== undefined && type !== 'BinaryExpression') add(inner);
  };
  const nameOf = (node: unknown): string => String((node as { name?: unknown } | null)?.name ?? '');
  for (const folder of folders) {
    for (const file of readdirSync(new URL(`src/${folder}`, root), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts'),
    )) {
      const { program } = parseSync(file, read(`src/${folder}/${file}`));
      new Visitor({
        Property: ({ key, value }) => nameOf(key) === 'rule' && add(value),
        AssignmentPattern: ({ left, right }) => nameOf(left) === 'rule' && add(right),
        TSPropertySignature: ({ key, typeAnnotation }) =>
          ['rule', 'died'].includes(nameOf(key)) && add(typeAnnotation?.typeAnnotation),
        CallExpression: ({ callee, arguments: given }) =>
          makers.test(nameOf(callee)) && given.slice(0, 3).forEach((each) => add(each)),
      }).visit(program);
    }
  }
  // Severities, words and nouns that stand beside.
  for (const other of ['error', 'warning', 'info', 'key', 'operation', 'schema-or-list']) found.delete(other);
  return [...found];
}
