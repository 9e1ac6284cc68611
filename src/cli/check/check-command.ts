import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { readEnvironment } from '../../config/environment.ts';
import { readUserDefaults } from '../../config/load-config.ts';
import { formatCoordinate, type Coordinate } from '../../model/address.ts';
import { isRegistryError, type RegistryError, malformed } from '../../model/errors.ts';
import { impactGroups } from '../../model/dependency.ts';
import { createReport, type Report } from '../../model/problem.ts';
import { fileOf } from '../../model/artifact.ts';
import { shownState } from '../../model/states.ts';
import type { components } from '../../server/v1/management.d.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Candidate } from '../../sync/discover-repository.ts';
import { requireCoordinate, withRegistryToRead, type CommonOptions } from '../command-context.ts';
import { complain, formatJson, print, seenFromHere, withProgress } from '../output.ts';
import { exitCodeOf } from '../process-end.ts';
import { askRegistry, bodyIn, organizationOfKey, readOpenTarget } from '../registry-client.ts';
import { readDocument, type Upload } from '../remote-registry.ts';
import {
  findingsInReport,
  type Finding,
  formatFindings,
  formatLint,
  lintFormats,
  type LintFormat,
} from './finding-formats.ts';

interface CheckOptions extends CommonOptions {
  registry?: string;
  org?: string;
  as?: string;
  impact?: boolean;
  format: LintFormat;
  report?: CheckOutput[];
}

interface CheckOutput {
  format: LintFormat;
  file: string;
}

/** What publishing one document would say, as `--json` prints it: what `POST /v1/check` says, and where the document is. */
type Checked = Omit<components['schemas']['Checked'], 'report'> & { path: string; coordinate: string; report: Report };

/** `stele check [FILE…]`: asks a running registry what publishing would say. Writes nothing. */
export function checkCommand(): Command {
  return new Command('check')
    .description('Check what publishing the documents of this repository would do, without publishing them.')
    .argument('[files...]', 'default: every document that a sync of the repository would publish')
    .option('--registry <url>', 'ask the running registry at this URL, with the key in STELE_KEY if it is set')
    .option('--org <name>', 'organization of the documents (default: that of the key)')
    .option('--as <coordinate>', 'check one file as this resource')
    .option('--impact', 'say which APIs and schemas of the registry the new versions break (needs a key)')
    .addOption(new Option('--format <format>', 'output format').choices(lintFormats).default('text'))
    .option('--report <format=file>', 'write the findings in this format to a file, too (repeatable)', addReport)
    .action(async (files: string[], _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CheckOptions>();
      const { format, json } = options;
      const remote = options.registry ?? readUserDefaults().registry;
      if (remote === undefined) throw malformed('Name a registry: --registry <url>. stele lint needs none.');
      const as = options.as === undefined ? null : requireCoordinate(options.as).coordinate;
      if (as !== null && files.length !== 1) throw malformed('Give one file with --as.');
      const org = as?.org ?? options.org ?? (await organizationOfKey(remote, null).catch(explainNoOrganization));
      // An empty store: planning here needs only the files.
      const nowhere = { kind: 'fs', path: '' } as const;
      const { checked, settings, problem } = await withRegistryToRead(
        command,
        (registry) => checkFiles(registry, remote, org, files, { as, impact: options.impact === true }),
        (config) => ({ ...config, store: nowhere }),
      );
      if (problem !== null && checked.length === 0) throw problem;
      if (settings.counts.error > 0) process.exitCode ??= 1;
      if (checked.some(({ outcome }) => outcome !== 'published' && outcome !== 'unchanged')) process.exitCode ??= 1;
      for (const { format: each, file } of options.report ?? [])
        writeFileSync(file, `${formatChecked(checked, settings, each)}\n`);
      const shown = json ? 'json' : format;
      const text = formatChecked(checked, settings, shown);
      if (text !== '') print(text);
      if (shown !== 'json') for (const one of checked) complain(describe(one));
      if (problem !== null) throw problem;
      if (checked.length === 0 && shown !== 'json')
        complain('There is no document that a sync would publish. stele discover . shows why.');
    });
}

function addReport(value: string, before: CheckOutput[] = []): CheckOutput[] {
  const [, name, file] = /^([a-z]+)=(.+)$/s.exec(value) ?? [];
  const format = lintFormats.find((each) => each === name);
  if (format !== undefined && file !== undefined) return [...before, { format, file }];
  const example = `Use a format (${lintFormats.join(', ')}) and a file, such as markdown=report.md.`;
  throw malformed(`${JSON.stringify(value)} is not a report. ${example}`);
}

function explainNoOrganization(error: unknown): never {
  if (readEnvironment().key) throw error;
  throw malformed('Name the organization with --org, or set STELE_KEY to a key of it.');
}

async function checkFiles(
  registry: Registry,
  remote: string,
  org: string,
  files: readonly string[],
  { as, impact }: { as: Coordinate | null; impact: boolean },
): Promise<{ checked: (Checked & { upload: Upload })[]; settings: Report; problem: RegistryError | null }> {
  const { openWorkTree } = await import('../../source/revision.ts');
  const [{ candidatesIn }, { refusable }] = await Promise.all([
    import('../../sync/discover-repository.ts'),
    import('../../sync/publish-document.ts'),
  ]);
  const { snapshot, root, remote: repository } = await openWorkTree(process.cwd(), registry.config.limits);
  const { candidates: all, report: settings } = await candidatesIn(registry, org, snapshot);
  const named = files.map((file) => candidatesFor(all, root, file, as));
  const chosen = files.length === 0 ? all : named.flatMap((found) => (typeof found === 'string' ? [] : found));
  const unusable = named.filter((found) => typeof found === 'string');
  const problem = unusable.length === 0 ? null : malformed(unusable.join('\n'));
  const checkOne = async (
    about: Pick<Checked, 'path' | 'coordinate'>,
    coordinate: Coordinate,
    { path, view: fileView, stated: readStated, tags, coordinate: _planned, ...settled }: Candidate,
  ): Promise<Checked & { upload: Upload }> => {
    const file = join(root, fileOf({ path, view: fileView }));
    const view = fileView && { overlays: fileView.overlays, audience: fileView.audience };
    const upload = await readDocument(registry.compiler, registry.config, file, coordinate, view);
    const { body: document, report } = upload;
    if (document === null)
      return { ...about, upload, outcome: 'rejected', version: null, isNew: false, detail: null, report };
    const stated = await readStated?.();
    const body = {
      coordinate: about.coordinate,
      ...document,
      ...settled,
      ...(stated !== undefined && { stated }),
      ...(tags !== undefined && { tagged: true }),
      ...(view && { view }),
      ...(repository !== null && { repository }),
      ...(impact && { impact }),
    };
    const answer = await withProgress(`Checking ${path}`, () => askRegistry(remote, 'POST', '/v1/check', { body }));
    return {
      ...about,
      upload,
      ...(tags && { tags }),
      ...(bodyIn(answer) as unknown as Omit<Checked, 'path' | 'coordinate'>),
    };
  };
  const isAnonymous = readOpenTarget(remote).key === undefined;
  /** Without a key, some documents can be checked. */
  const unlessAnonymous = (error: unknown) => {
    if (!isAnonymous || !isRegistryError(error, 'unauthenticated')) throw error;
    process.exitCode = exitCodeOf(error.code);
    return { refusal: error.message };
  };
  const checked: (Checked & { upload: Upload })[] = [];
  for (const candidate of chosen) {
    const coordinate = as ?? candidate.coordinate;
    const about = { path: candidate.path, coordinate: formatCoordinate(coordinate) };
    const result = await refusable(() => checkOne(about, coordinate, candidate)).catch(unlessAnonymous);
    if ('refusal' in result) {
      const report = createReport([]);
      const upload = { body: null, files: [], report, root };
      const detail = result.refusal;
      checked.push({ ...about, upload, outcome: 'conflict', version: null, isNew: false, detail, report });
    } else checked.push(result);
  }
  return { checked, settings: seenFromHere(root, settings).report, problem };
}

/** What a sync would publish from a file, views too; as a text, why that is nothing. */
function candidatesFor(
  all: readonly Candidate[],
  root: string,
  file: string,
  as: Coordinate | null,
): Candidate[] | string {
  const path = relative(root, resolve(realpathSync('.'), file)).replaceAll('\\', '/');
  if (!existsSync(file)) return `There is no file ${file}.`;
  const candidates = all.filter((each) => (as === null ? fileOf(each) : each.path) === path);
  if (candidates.length > 0) return candidates;
  if (as !== null)
    return [{ path, coordinate: as, onConflict: 'revise', settings: { ruleset: null, validation: null } }];
  return `${file} would not be published. "stele discover ." says why; --as checks it as a resource.`;
}

/** `settings`: what is wrong in `stele.yaml`. */
function formatChecked(
  checked: readonly (Checked & { upload: Upload })[],
  settings: Report,
  format: LintFormat,
): string {
  const isWell = settings.problems.length === 0;
  if (format === 'json') {
    const documents = checked.map(({ upload: _upload, ...one }) => one);
    return formatJson({ documents, ...(!isWell && { settings }) });
  }
  if (format === 'text' || format === 'lines') {
    const texts = checked.map(({ report, upload }) => {
      const seen = seenFromHere(upload.root, report, upload.files);
      return formatLint(seen.report, format, seen.files);
    });
    return [formatLint(settings, format, []), ...texts].filter((text) => text !== '').join('\n');
  }
  const about = findingsInReport(settings);
  if (format !== 'markdown') return formatFindings(format, [...about, ...checked.flatMap(findingsIn)], 'documents');
  const parts = checked.map((one) => `**${describe(one)}**\n\n${formatFindings(format, findingsIn(one), one.path)}`);
  if (!isWell) parts.unshift(formatFindings(format, about, about[0]!.file));
  return parts.join('\n\n');
}

/** The findings of a document. A conflict is one of them. */
function findingsIn({ path, outcome, detail, report }: Checked): Finding[] {
  const findings = findingsInReport(report);
  if (outcome !== 'conflict') return findings;
  const [file = path] = path.split('#');
  const conflict = { level: 'error', rule: 'conflict', message: detail ?? '', file, pointer: '' } as const;
  return [...findings, { ...conflict, place: null, url: null, accepted: null }];
}

function describe({ path, coordinate, outcome, version, isNew, detail, tags, report, impact }: Checked): string {
  const hidden = report.hidden ? ` ${report.hidden} findings are of a ruleset that you may not read.` : '';
  const tag = tags === undefined || tags === '*' ? 'a tag' : `a tag ${tags}`;
  const fate =
    version === null ? `is valid; it is published when ${tag} is pushed` : `would be published as ${version}`;
  if (outcome === 'published')
    return [
      `${path} ${fate}${isNew ? ', a new resource' : ''}.${detail === null ? '' : ` ${detail}`}`,
      ...linesOf(impact),
    ].join('\n');
  if (outcome === 'unchanged') return `${path} is published as ${version} already.`;
  if (outcome === 'conflict') return `${path} would not be published: ${detail}`;
  if (outcome === 'waiting') return `${path} ${shownState(outcome).text}: a version of ${coordinate}.`;
  return `${path} would be rejected as a version of ${coordinate}.${hidden}`;
}

function linesOf(impact: Checked['impact']): string[] {
  return (impact ? impactGroups(impact) : []).flatMap(({ title, broken, consumers }) => [
    title,
    ...broken.map(({ coordinate, version, detail }) => `  ${coordinate}@${version}: ${detail}`),
    ...consumers.map(({ name, version }) => `  ${name}, with ${version}`),
  ]);
}
