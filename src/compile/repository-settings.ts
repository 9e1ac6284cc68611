import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { closest } from '../model/errors.ts';
import { createReport, isBlocking, type Problem, type Report } from '../model/problem.ts';
import { findTwinsByText } from './schema/ajv-unique-items.ts';
import { errorsOf } from './schema/ajv-errors.ts';
import type { CompileLimits } from './compile.ts';
import type { Settings, SettingsResource, VersionSource } from './repository-reader.ts';
import { problemAt } from './kind.ts';
import { parseFile, type ParsedFile } from './text/parse.ts';
import { joinPointer, parsePointer } from './text/pointer.ts';
import { checkSettings, type WrittenFile, type WrittenSettings } from './repository-settings-check.ts';

findTwinsByText();
const around: object = JSON.parse(
  readFileSync(new URL('../../content/schemas/repository.json', import.meta.url), 'utf8'),
);
const options = { allErrors: true, strict: false, verbose: true, meta: false, validateSchema: false };
let validate: ValidateFunction | null = null;

/** The tag pattern for `version: tag` without `tags`. */
const usualTags = 'v*';

/**
 * Parses a `stele.yaml` and checks it against `content/schemas/repository.json` and the rules that
 * a schema cannot express. `settings` is null exactly when the report blocks. Runs in the sandbox.
 */
export function readSettings(
  { path, bytes }: { path: string; bytes: Uint8Array },
  limits: CompileLimits,
): { settings: Settings | null; report: Report } {
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok) return { settings: null, report: createReport(parsed.problems) };
  const { file } = parsed;
  // Only now: many sandboxes never read settings.
  validate ??= new Ajv2020(options).compile(around);
  const errors = errorsOf(validate, file.value);
  const problems = [...parsed.problems, ...errors.flatMap((error) => explain(file, error) ?? [])];
  const written = file.value as WrittenFile;
  if (errors.length === 0) problems.push(...checkSettings(file, written));
  const report = createReport(problems);
  if (isBlocking(report)) return { settings: null, report };
  const resources = (written.resources ?? []).map((entry, index): SettingsResource => {
    const { version: _, exemptions, ...rest } = entry;
    const pointer = `/resources/${index}`;
    return {
      ...rest,
      ...versionOf(entry),
      ...(exemptions && {
        exemptions: exemptions.map((one, at) => ({
          ...one,
          at: { file: file.path, ...placeOf(file, `${pointer}/exemptions/${at}`) },
        })),
      }),
      at: placeOf(file, pointer),
    };
  });
  const { version: _, ...defaults } = written.defaults ?? {};
  const settings: Settings = {
    resources,
    defaults: { ...defaults, ...versionOf(written.defaults ?? {}), at: placeOf(file, '/defaults') },
    discover: written.discover ?? resources.length === 0,
    ignore: written.ignore ?? [],
    ...(written.sites && { sites: written.sites }),
  };
  return { settings, report };
}

function placeOf(file: ParsedFile, pointer: string): SettingsResource['at'] {
  return { pointer, ...file.locate(pointer) };
}

/** The tag pattern or version source of an entry. */
function versionOf({ version, tags }: WrittenSettings): { tags?: string; version?: VersionSource } {
  if (version === 'tag') return { tags: tags ?? usualTags };
  if (version === undefined) return {};
  if (typeof version === 'string') return { version: { from: version } };
  return { version: { from: 'file', path: version.file, pointer: version.pointer ?? null } };
}

/** Turns a schema error into a problem that names the key. Null for an error that others repeat. */
function explain(
  file: ParsedFile,
  { instancePath, keyword, message, params, parentSchema }: ErrorObject,
): Problem | null {
  if (keyword === 'if') return null;
  const name = keyName(instancePath);
  const parentObject = parentSchema as { properties?: object; description?: string } | undefined;
  const problem = (text: string, pointer = instancePath, on: 'key' | 'value' = 'value') =>
    problemAt(file, pointer, 'settings', text, { on });
  if ('additionalProperty' in params) {
    const written = String(params['additionalProperty']);
    const hint = closest(written, Object.keys(parentObject?.properties ?? {}));
    return problem(
      `${name} has no key ${JSON.stringify(written.slice(0, 100))}.${hint}`,
      joinPointer(instancePath, written),
      'key',
    );
  }
  if ('missingProperty' in params) return problem(`${name} is missing the key "${String(params['missingProperty'])}".`);
  const allowed: unknown = params['allowedValues'];
  if (Array.isArray(allowed)) return problem(`${name} must be ${orList(allowed)}.`);
  if (keyword === 'pattern' && parentObject?.description !== undefined)
    return problem(`${name} has an invalid value. ${parentObject.description}`);
  return problem(`${name} ${(message ?? 'is not valid').replace(',', ' or ')}.`);
}

/** Formats `/resources/3/slug` as `resources[3].slug`. */
function keyName(pointer: string): string {
  const name = parsePointer(pointer)
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
  return name === '' ? 'stele.yaml' : name;
}

function orList(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? texts[0]! : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)!}`;
}
