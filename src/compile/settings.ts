import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createReport, isBlocking, type Report } from '../model/problem.ts';
import type { CompileLimits, Settings } from './compile.ts';
import { problemAt } from './kind.ts';
import { parseFile } from './parse.ts';
import { joinPointer } from './pointer.ts';

const schema: object = JSON.parse(
  readFileSync(new URL('../../content/schemas/repository.json', import.meta.url), 'utf8'),
);
const validate = new Ajv2020({ useDefaults: true, allErrors: true, strict: false }).compile(schema);

/** Reads a `stele.yaml` and checks it against `content/schemas/repository.json`. `settings` is null exactly when the report blocks. */
export function readSettings(
  { path, bytes }: { path: string; bytes: Uint8Array },
  limits: CompileLimits,
): { settings: Settings | null; report: Report } {
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok) return { settings: null, report: createReport(parsed.problems) };
  const { file } = parsed;
  const value: unknown = structuredClone(file.value ?? {});
  const problems = [...parsed.problems];
  if (!validate(value)) {
    for (const { instancePath, message = 'is not valid', params } of validate.errors ?? []) {
      const extra = 'additionalProperty' in params ? String(params['additionalProperty']) : null;
      const pointer = extra === null ? instancePath : joinPointer(instancePath, extra);
      const text = `${instancePath || 'The file'} ${message}${extra === null ? '' : `: ${JSON.stringify(extra)}`}.`;
      problems.push(problemAt(file, pointer, 'settings', text, { on: extra === null ? 'value' : 'key' }));
    }
  }
  const report = createReport(problems);
  if (isBlocking(report)) return { settings: null, report };
  const given = value as Partial<Settings>;
  const resources = given.resources ?? [];
  return {
    settings: { resources, discover: given.discover ?? resources.length === 0, ignore: given.ignore ?? [] },
    report,
  };
}
