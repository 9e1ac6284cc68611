import { withoutRegistry } from '../../compile/reference.ts';
import { Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import type { Comparer } from '../../compile/sandboxes.ts';
import type { Compiler, Published } from '../../compile/compile.ts';
import type { Config } from '../../config.ts';
import { changeRulesIn } from '../../config/organization-config.ts';
import { formatCoordinate, parseCoordinate } from '../../model/address.ts';
import {
  enumVerdicts,
  isAtLeast,
  usualRules,
  type Comparison,
  type EnumVerdict,
  type Verdict,
} from '../../model/comparison.ts';
import { notFound, refused, gone } from '../../model/errors.ts';
import { selectVersion, type Resource, type Version } from '../../model/resource.ts';
import type { Registry } from '../../registry/registry.ts';
import { openFolder } from '../../source/folder.ts';
import { isRevision } from '../../source/git-names.ts';
import {
  isCoordinate,
  requireCoordinate,
  withCompiler,
  withRegistryToRead,
  type CommonOptions,
} from '../command-context.ts';
import { adviseRepository, formatReport, print, printJson, withProgress } from '../output.ts';
import { diffFormats, formatDiff, type ComparedNames, type DiffFormat } from './finding-formats.ts';
import { fetchDocument, isUrl, urlIn } from './fetch-document.ts';

interface DiffOptions extends CommonOptions {
  failOn?: Extract<Verdict, 'breaking' | 'unknown' | 'risky'>;
  format: DiffFormat;
  registry?: string;
  enums?: EnumVerdict;
}

/** `stele diff BEFORE AFTER`: prints what changed between two documents. Writes nothing. */
export function diffCommand(): Command {
  return new Command('diff')
    .description('Compare two documents, and say what breaks their clients.')
    .argument(
      '<before>',
      'a file, a file of a commit (origin/main:openapi.yaml), a URL, or the coordinate of a version',
    )
    .argument('<after>', 'the same')
    .option('--registry <url>', 'read coordinates from this registry, with the key in STELE_KEY')
    .addOption(
      new Option(
        '--fail-on <verdict>',
        'exit with 1 if a change has this verdict or a worse one; without it, changes exit with 0',
      ).choices(['breaking', 'unknown', 'risky']),
    )
    .addOption(
      new Option('--enums <verdict>', 'the verdict where a response gains a value of an enum').choices(enumVerdicts),
    )
    .addOption(new Option('--format <format>', 'output format').choices(diffFormats).default('text'))
    .action(async (before: string, after: string, _options: unknown, command: Command) => {
      const { failOn, format, json } = command.optsWithGlobals<DiffOptions>();
      const { comparison, names } = await compare(command, before, after);
      if (json === true) printJson(comparison);
      else print(formatDiff(comparison, format, names));
      if (failOn !== undefined && isAtLeast(comparison.verdict, failOn)) process.exitCode = 1;
    });
}

interface Compared {
  comparison: Comparison;
  names: ComparedNames;
}

/** A document, and how it was named; a coordinate without a version is named with it, and why it is that one. */
interface NamedDocument {
  document: Published;
  name: string;
  /** What it is in the data folder. */
  published?: { resource: Resource; version: Version };
}

async function compare(command: Command, before: string, after: string): Promise<Compared> {
  const { registry: remote, enums } = command.optsWithGlobals<DiffOptions>();
  const run = async (compiler: Compiler & Comparer, config: Config, registry: Registry | null): Promise<Compared> => {
    const { limits } = config;
    const named = [before, after].find(isCoordinate);
    const org = (named && parseCoordinate(named)?.coordinate.org) ?? null;
    const judged = { before: null, at: new Date().toISOString() };
    const rules = { ...(org === null ? usualRules : changeRulesIn(config, org, judged)), ...(enums && { enums }) };
    const documentNamed = async (name: string): Promise<NamedDocument> => {
      const isHere = isCoordinate(name) && remote === undefined;
      if (isHere) return publishedDocument(registry!, name);
      const { label, ...opened } = await openDocument(name, limits, remote);
      const document = await compileOpened(compiler, limits, name, opened);
      return { document, name: label === null ? name : withVersion(name, label) };
    };
    const one = await documentNamed(before);
    const other = await documentNamed(after);
    const { compareWith } = await import('../../registry/compare-versions.ts');
    const comparison = await withProgress('Comparing', () => {
      if (!one.published) return compiler.compare(one.document, other.document, limits, rules);
      const at = other.published?.version.publishedAt;
      const next = { ...other.document, ...(at && { at }), ...(enums && { rules: { enums } }) };
      return compareWith(registry!, one.published.resource, one.published.version, next, {});
    });
    // A published version has no file here.
    const text = Buffer.from(other.document.source?.bytes ?? []).toString();
    return { comparison, names: { before: one.name, after: other.name, file: after, text } };
  };
  if (remote !== undefined || ![before, after].some(isCoordinate))
    return withCompiler(command, (compiler, config) => run(compiler, config, null));
  return withRegistryToRead(command, (registry) => run(registry.compiler, registry.config, registry));
}

type OpenedDocument = Omit<Awaited<ReturnType<typeof openFolder>>, 'root'>;

/** Compiles a file into the document that would be published. Throws `refused` if it is not valid. */
export async function compileOpened(
  compiler: Compiler,
  limits: Config['limits'],
  name: string,
  { snapshot, entry, isRepository }: OpenedDocument,
): Promise<Published> {
  const input = { type: null, entry, validation: 'lenient', ruleset: null, limits } as const;
  const { artifact, report, files } = await withProgress(`Reading ${name}`, () =>
    compiler.compile(input, withoutRegistry(snapshot)),
  );
  adviseRepository(name, report, isRepository);
  if (artifact === null) throw refused(`${name} is not a valid document:\n${formatReport(report)}`);
  const { publishedAs } = await import('../../registry/compare-versions.ts');
  const bytes = files[0]?.bytes;
  return { ...publishedAs(artifact), ...(bytes && { source: { path: entry, bytes } }) };
}

/** A file, also one of a commit, or what is at a URL, or the version of a coordinate in a remote registry, with its label. */
async function openDocument(
  name: string,
  limits: Config['limits'],
  remote: string | undefined,
): Promise<OpenedDocument & { label: string | null }> {
  const url = isUrl(name) ? name : remote !== undefined && isCoordinate(name) ? urlIn(remote, name) : null;
  if (url !== null) {
    const { address, ...fetched } = await fetchDocument(url, limits.fileBytes, remote);
    const served = isCoordinate(name) ? parseCoordinate(address.slice(address.indexOf('@'))) : null;
    const label = served?.selector.kind === 'version' ? served.selector.version : null;
    return { ...fetched, isRepository: true, label };
  }
  if (existsSync(name) || !isRevision(name)) return { ...(await openFolder(name, limits)), label: null };
  const { openRevision } = await import('../../source/revision.ts');
  return { ...(await openRevision(name, limits, process.cwd())), isRepository: true, label: null };
}

function withVersion(name: string, label: string): string {
  const { coordinate, selector } = requireCoordinate(name);
  const whole = `${formatCoordinate(coordinate)}@${label}`;
  if (selector.kind === 'latest') return `${whole}, the latest version,`;
  return selector.kind === 'digest' || selector.version === label ? name : `${whole}, the highest of ${name},`;
}

async function publishedDocument(registry: Registry, name: string): Promise<NamedDocument> {
  const { coordinate, selector } = requireCoordinate(name);
  const { findResource } = await import('../../registry/lives.ts');
  const { readPublished } = await import('../../registry/derived.ts');
  const resource = await findResource(registry, coordinate);
  const version = resource && selectVersion(resource, selector)?.version;
  const advice = '--registry <url> asks a registry.';
  if (!resource || !version) throw notFound(`There is no version ${name} in the data folder. ${advice}`);
  if (version.status.state === 'withdrawn') throw gone(`${name} was withdrawn.`);
  const document = await readPublished(registry, version);
  return { document, name: withVersion(name, version.label), published: { resource, version } };
}
