import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { table } from './docs-table.ts';

interface Described {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation | undefined>>;
}

interface Operation {
  summary: string;
  tags: string[];
  'x-scope'?: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** A table of operations for each tag of the management API. Made of `content/apis/management.yaml`, read anew. */
export function describeOperations(): string {
  const file = new URL('../../content/apis/management.yaml', import.meta.url);
  const { tags, paths } = parse(readFileSync(file, 'utf8')) as Described;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [{ path, method, ...item[method] }])),
  );
  const sections = tags.map(({ name, description }) => {
    const rows = operations
      .filter((operation) => operation.tags.includes(name))
      .map(({ method, path, summary, 'x-scope': scope }) => [
        `\`${method.toUpperCase()} ${path}\``,
        summary,
        scope === undefined ? '' : `\`${scope}\``,
      ]);
    return `### ${name}\n\n${description}\n\n${table(['operation', 'what', 'scope'], rows)}`;
  });
  return sections.join('\n\n');
}
