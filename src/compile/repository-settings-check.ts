import { isSlug, parseCoordinate } from '../model/address.ts';
import { highestPlaceholder, isPathGlob, pathGlobProblem, starsIn } from '../model/glob.ts';
import type { Exemption, Problem } from '../model/problem.ts';
import { problemAt } from './kind.ts';
import type { ParsedFile } from './text/parse.ts';
import { joinPointer } from './text/pointer.ts';
import type { SettingsDefaults, SettingsResource, SettingsSite } from './repository-reader.ts';

/** An entry or the defaults, as written. */
export interface WrittenSettings extends Omit<SettingsDefaults, 'version'> {
  version?: 'document' | 'next' | 'tag' | { file: string; pointer?: string };
}

/** A `stele.yaml` that is valid by its schema. */
export interface WrittenFile {
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
export function checkSettings(
  file: ParsedFile,
  { defaults, resources = [], sites = [], discover }: WrittenFile,
): Problem[] {
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

type Report = (pointer: string, text: string) => void;

function checkSlug(slug: string | undefined, pointer: string, name: string, report: Report): void {
  if (slug === undefined || isSlug(slug)) return;
  report(
    pointer,
    `${name}: ${JSON.stringify(slug)} is not a valid slug. Use at most 63 of a-z, 0-9 and single hyphens between them, and no name of JavaScript.`,
  );
}

/** The templates that an entry inherits from the defaults. */
function inherited(entry: WrittenSettings, defaults: WrittenSettings = {}): WrittenSettings {
  if (entry.version !== undefined || entry.tags !== undefined) return {};
  const { version, tags } = defaults;
  return { ...(version !== undefined && { version }), ...(tags !== undefined && { tags }) };
}

function checkBoth({ ruleset, tags, version }: WrittenSettings, at: string, name: string, report: Report): void {
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
  report: Report,
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
