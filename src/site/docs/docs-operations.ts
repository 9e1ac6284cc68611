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

/** A table of operations per tag of the management API. `management`: its OpenAPI document. */
export function describeOperations(management: unknown): string {
  const { tags, paths } = management as Described;
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
