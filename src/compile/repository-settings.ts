import { asSentence } from '../model/states.ts';
import { isSlug, parseCoordinate } from '../model/address.ts';
import { highestPlaceholder, isPathGlob, pathGlobProblem, starsIn } from '../model/glob.ts';
import { parseJson } from '../model/json.ts';
import { type Exemption, type Problem, type Report, createReport, isBlocking } from '../model/problem.ts';
import { problemAt } from './kind.ts';
import { type ParsedFile, parseFile } from './text/parse.ts';
import { joinPointer, parsePointer } from '../model/pointer.ts';
import { explainErrors } from '../model/schema-errors.ts';
import type { Settings, SettingsDefaults, SettingsResource, SettingsSite, VersionSource } from './sandboxes.ts';
import type { ErrorObject } from 'ajv';
import { readValidator } from './schema/ajv.ts';
import type { CompileLimits, FileBytes } from './compile.ts';
import type { Place } from './text/text.ts';

/** A valid `stele.yaml`: its value as JSON text, and where its entries stand, by their pointers. */
export interface Written {
  json: string;
  places: Readonly<Record<string, Place>>;
}

/** What a sandbox says of a `stele.yaml`. */
export interface CheckedSettings {
  written: Written | null;
  report: Report;
}

interface WrittenSettings extends Omit<SettingsDefaults, 'version'> {
  version?: 'document' | 'next' | 'tag' | { file: string; pointer?: string };
}

interface WrittenFile {
  defaults?: WrittenSettings;
  resources?: (WrittenSettings &
    Omit<SettingsResource, 'version' | 'at' | 'exemptions'> & { exemptions?: Omit<Exemption, 'at' | 'file'>[] })[];
  discover?: boolean;
  ignore?: string[];
  sites?: SettingsSite[];
}

/** The most patterns in one file: each is matched against every path of the tree. */
const maxPatterns = 100;

/**
 * Checks a `stele.yaml` for what its schema cannot express: patterns, templates, coordinates, and
 * keys that exclude each other.
 */
function checkSettings(file: ParsedFile, { defaults, resources = [], sites = [], discover }: WrittenFile): Problem[] {
  const problems: Problem[] = [];
  const report = (pointer: string, text: string) => problems.push(problemAt(file, pointer, 'settings', text));
  const patterns = resources.filter(({ path }) => isPathGlob(path));
  if (patterns.length > maxPatterns)
    report('/resources', `resources has ${patterns.length} entries with a pattern; the limit is ${maxPatterns}.`);
  for (const [index, entry] of resources.entries()) {
    const at = `/resources/${index}`;
    const name = `resources[${index}]`;
    checkBoth(entry, at, name, report);
    const wrong = isPathGlob(entry.path) ? pathGlobProblem(entry.path) : null;
    if (wrong !== null) report(`${at}/path`, `${name}.path ${wrong}.`);
    for (const [number, { pointer }] of (entry.exemptions ?? []).entries()) {
      const broken = pointer !== undefined && isPathGlob(pointer) ? pathGlobProblem(pointer) : null;
      if (broken !== null)
        report(`${at}/exemptions/${number}/pointer`, `${name}.exemptions[${number}].pointer ${broken}.`);
    }
    if ((entry.overlays ?? entry.audience) !== undefined && entry.slug === undefined)
      report(at, `${name} has overlays or an audience, so it needs a slug: several resources can be made of its file.`);
    checkTemplates({ ...entry, ...inherited(entry, defaults) }, at, name, report);
    if (highestPlaceholder(entry.slug ?? '') === 0) checkSlug(entry.slug, `${at}/slug`, `${name}.slug`, report);
  }
  for (const [index, { slug, versions = [] }] of sites.entries()) {
    checkSlug(slug, `/sites/${index}/slug`, `sites[${index}].slug`, report);
    for (const [number, version] of versions.entries()) {
      const at = `/sites/${index}/versions/${number}/site`;
      if ('site' in version) checkSlug(version.site, at, `sites[${index}].versions[${number}].site`, report);
    }
  }
  if (defaults === undefined) return problems;
  checkBoth(defaults, '/defaults', 'defaults', report);
  if (discover ?? resources.length === 0) checkTemplates({ path: '', ...defaults }, '/defaults', 'defaults', report);
  return problems;
}

type Complain = (pointer: string, text: string) => void;

function checkSlug(slug: string | undefined, pointer: string, name: string, report: Complain): void {
  if (slug === undefined || isSlug(slug)) return;
  report(
    pointer,
    `${name}: ${JSON.stringify(slug)} is not a valid slug. Use at most 63 of a-z, 0-9 and single hyphens between them, and no name of JavaScript.`,
  );
}

function inherited(entry: WrittenSettings, defaults: WrittenSettings = {}): WrittenSettings {
  if (entry.version !== undefined || entry.tags !== undefined) return {};
  const { version, tags } = defaults;
  return { ...(version !== undefined && { version }), ...(tags !== undefined && { tags }) };
}

function checkBoth({ ruleset, tags, version }: WrittenSettings, at: string, name: string, report: Complain): void {
  if (ruleset !== undefined && parseCoordinate(ruleset)?.coordinate.type !== 'rulesets')
    report(
      `${at}/ruleset`,
      `${name}.ruleset: ${JSON.stringify(ruleset)} is not a ruleset. Use a coordinate such as "@acme/rulesets/style".`,
    );
  if (tags !== undefined && version !== undefined && version !== 'tag')
    report(
      `${at}/version`,
      `${name} has both tags and version. With tags, versions come from git tags; remove version.`,
    );
}

function checkTemplates(
  entry: WrittenSettings & { path: string; slug?: string; name?: string },
  at: string,
  name: string,
  report: Complain,
): void {
  const stars = starsIn(entry.path);
  const version = typeof entry.version === 'object' ? entry.version.file : undefined;
  const templates = { slug: entry.slug, name: entry.name, tags: entry.tags, 'version/file': version };
  for (const [key, template] of Object.entries(templates)) {
    const pointer = at + joinPointer('', ...key.split('/'));
    const unknown =
      key === 'name' ? undefined : (template ?? '').match(/\{[^{}]*\}/g)?.find((part) => !isKnown(part, key));
    if (unknown !== undefined)
      report(pointer, `${name}.${key.replace('/', '.')} uses the unknown placeholder ${unknown}.`);
    const highest = template === undefined ? 0 : highestPlaceholder(template);
    if (highest <= stars) continue;
    const has = stars === 0 ? 'no star' : stars === 1 ? 'only one star' : `only ${stars} stars`;
    const where = entry.path === '' ? 'discovered documents have no pattern' : `its path has ${has}`;
    report(pointer, `${name}.${key.replace('/', '.')} uses {${highest}}, but ${where}.`);
  }
}

function isKnown(placeholder: string, key: string): boolean {
  return /^\{[1-9]\}$/.test(placeholder) || (key === 'tags' && placeholder === '{slug}');
}

const validate = readValidator('repository', { verbose: true });

/** The tag pattern for `version: tag` without `tags`. */
const usualTags = 'v*';

/**
 * Parses a `stele.yaml` and checks it against `content/schemas/repository.json` and the rules that
 * a schema cannot express. `written` is null exactly when the report blocks. Runs in the sandbox.
 */
export function checkSettingsFile({ path, bytes }: FileBytes, limits: CompileLimits): CheckedSettings {
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok) {
    // What an interrupted write leaves must not publish everything.
    const isEmpty = !/^[^\S\n]*[^\s#]/m.test(Buffer.from(bytes).toString());
    const says = 'The file is empty, so nothing is published. Write {} for no settings, or delete it.';
    const problems = parsed.problems.map((one) => (isEmpty ? { ...one, message: says } : one));
    return { written: null, report: createReport(problems) };
  }
  const { file } = parsed;
  const errors = validate(file.value);
  const problems = [...parsed.problems, ...explain(file, errors)];
  const value = file.value as WrittenFile;
  if (errors.length === 0) problems.push(...checkSettings(file, value));
  const report = createReport(problems);
  if (isBlocking(report)) return { written: null, report };
  const places = Object.fromEntries(pointersIn(value).map((pointer) => [pointer, file.locate(pointer)]));
  return { written: { json: JSON.stringify(value), places }, report };
}

function pointersIn({ resources = [] }: WrittenFile): string[] {
  const entries = resources.flatMap(({ exemptions = [] }, index) => {
    const pointer = `/resources/${index}`;
    return [pointer, ...exemptions.map((_, at) => `${pointer}/exemptions/${at}`)];
  });
  return ['/defaults', ...entries];
}

/** The settings in a `stele.yaml` that a sandbox checked. It may be anything, so the schema is asked again. */
export function settingsFrom(path: string, { json, places }: Written): Settings {
  const written = parseJson(json) as WrittenFile;
  const isRead = validate(written).length === 0 && pointersIn(written).every((each) => Object.hasOwn(places, each));
  if (!isRead || !(written.sites ?? []).every(({ slug }) => isSlug(slug)))
    throw new Error('The sandbox read no settings.');
  const placeOf = (pointer: string) => ({ pointer, ...places[pointer]! });
  const resources = (written.resources ?? []).map((entry, index): SettingsResource => {
    const { version: _, exemptions, ...rest } = entry;
    const pointer = `/resources/${index}`;
    const accepted = exemptions?.map((one, at) => ({
      ...one,
      at: { file: path, ...placeOf(`${pointer}/exemptions/${at}`) },
    }));
    return { ...rest, ...versionOf(entry), ...(accepted && { exemptions: accepted }), at: placeOf(pointer) };
  });
  const { version: _, ...defaults } = written.defaults ?? {};
  return {
    resources,
    defaults: { ...defaults, ...versionOf(written.defaults ?? {}), at: placeOf('/defaults') },
    discover: written.discover ?? resources.length === 0,
    ignore: written.ignore ?? [],
    ...(written.sites && { sites: written.sites }),
  };
}

function versionOf({ version, tags }: WrittenSettings): { tags?: string; version?: VersionSource } {
  if (version === 'tag') return { tags: tags ?? usualTags };
  if (version === undefined) return {};
  if (typeof version === 'string') return { version: { from: version } };
  return { version: { from: 'file', path: version.file, pointer: version.pointer ?? null } };
}

function explain(file: ParsedFile, errors: readonly ErrorObject[]): Problem[] {
  return explainErrors(errors, file.value).map(({ pointer, on, says }) =>
    problemAt(file, pointer, 'settings', asSentence(`${keyName(pointer)} ${says}`), { on }),
  );
}

/** Formats `/resources/3/slug` as `resources[3].slug`. */
function keyName(pointer: string): string {
  const name = parsePointer(pointer)
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
  return name === '' ? 'stele.yaml' : name;
}
