/**
 * Writes the operations of APIs, schemas and rulesets into `content/apis/management.yaml`, from `resource-operations.yaml`, which
 * has them once. What they become is kept in git, unlike other generated files: a registry publishes it from there.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Document, parse, visit } from 'yaml';

const source = new URL('resource-operations.yaml', import.meta.url);
const description = new URL('../content/apis/management.yaml', import.meta.url);

const begin =
  '  # Written by scripts/resource-operations.ts. Do not edit: its source is scripts/resource-operations.yaml.\n';
const end = '  # End of what the script writes.\n';

/** Words of a type of resource: texts, and documents as examples. */
type Words = Record<string, unknown>;

interface Source {
  words: Record<string, Words>;
  paths: Record<string, unknown>;
}

/** Returns the text of the description with the operations of its source. */
export function writeOperations(text: string): string {
  const { words, paths } = parse(readFileSync(source, 'utf8'), { merge: true }) as Source;
  const all = Object.keys(words).flatMap((types) =>
    Object.entries(fillIn(paths, types, { types, ...words[types] }) as object),
  );
  const [before, after] = [text.split(begin)[0]!, text.split(end)[1]!];
  return [before, begin, indent(formatYaml(Object.fromEntries(all))), end, after].join('');
}

/** Replaces each `<word>` by that of the type, and leaves out what is for another type. */
function fillIn(node: unknown, types: string, words: Words): unknown {
  if (typeof node === 'string') {
    const [, name] = /^<([a-z ]+)>$/i.exec(node) ?? [];
    return name === undefined
      ? node.replaceAll(/<([a-z ]+)>/gi, (_, word: string) => words[word] as string)
      : words[name];
  }
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.filter((each) => isFor(each, types)).map((each) => fillIn(each, types, words));
  const also = (node as Words)[`also for ${types}`];
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name, value]) => isFor(value, types) && name !== 'for' && !name.startsWith('also for '))
      .filter(([, value]) => !(Array.isArray(value) && value.length > 0 && value.every((each) => !isFor(each, types))))
      .map(([name, value]) => {
        const whole: unknown =
          name === 'description' && also !== undefined ? `${value as string} ${also as string}` : value;
        return [fillIn(name, types, words) as string, fillIn(whole, types, words)];
      }),
  );
}

function isFor(node: unknown, types: string): boolean {
  return ((node as { for?: string } | null)?.for ?? types) === types;
}

/** Formats values as prettier leaves them: texts that are too long for a line are folded. */
function formatYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && scalar.value.includes(' ') && scalar.value.length > 85)
        scalar.type = 'BLOCK_FOLDED';
    },
  });
  return document.toString({ singleQuote: true, lineWidth: 98 });
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

if (import.meta.main) writeFileSync(description, writeOperations(readFileSync(description, 'utf8')));
