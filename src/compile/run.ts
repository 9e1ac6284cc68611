import { exempt, expiredProblem, findingKey, knownAmong, maxKnownFindings } from '../model/gate.ts';
import {
  type Exemption,
  blocks,
  createReport,
  type Problem,
  type Report,
  isBlocking,
  problemAtFile,
} from '../model/problem.ts';
import type { CompileGate, CompileInput, Artifact, Representation } from './compile.ts';
import { isUrlPath, type ResourceType } from '../model/address.ts';
import { imagePaths, maxImages } from '../model/image.ts';
import { isParsed, isStackFull, problemAt, type KindResult, type PathsOf, type Files } from './kind.ts';
import { documentKinds } from './kinds.ts';
import type { ParsedFile } from './text/parse.ts';
import { kinds, signsOfKinds, types, type Kind } from '../model/kinds.ts';
import { collect, type LoadFiles } from './collect.ts';
import type { Interpreter } from './interpreter/interpreter.ts';
import { isCode } from './interpreter/modules.ts';
import { readCode } from './ruleset/ruleset-code.ts';
import { kindOf } from './detect.ts';
import { sayOtherKind } from './other-kinds.ts';
import { isTooManyRounds } from './openapi/redocly-rounds.ts';
import { eachNode } from '../model/pointer.ts';
import { formatsOf, represent } from './text/represent.ts';
import { firstParagraph } from '../render/markdown.ts';
import { lintIgnorePaths, readLintIgnore, type LintIgnore } from './lint-ignore.ts';
import { compileView, type PlainCompiler } from './overlay/view.ts';
import { isOverlay, readOverlay } from './overlay/apply-overlay.ts';
import { lintWithRuleset } from './ruleset/ruleset-evaluate.ts';
import { sayCode, clearRule } from './ruleset/rule-at-work.ts';
import { rulesetReferencePaths } from './ruleset/ruleset-files.ts';

const usual: CompileGate = { blockOn: 'error', exemptions: [], today: '', known: null };

/**
 * Makes the report of a document that a ruleset checked. `problems`: the document's own, whose
 * errors block always. `findings`: the ruleset's, which block as the gate says. `ignored`: the
 * exemptions of a `.redocly.lint-ignore.yaml`.
 */
export function passGate(
  problems: readonly Problem[],
  findings: readonly Problem[],
  { ruleset, gate = usual }: Pick<CompileInput, 'ruleset' | 'gate'>,
  ignored: readonly Exemption[] = [],
): Report {
  if (ruleset === null) return createReport(problems);
  const { blockOn, exemptions, today, ratchet } = gate;
  const { left, exempted, expired, unused } = exempt(findings, [...exemptions, ...ignored], today);
  const accepted = knownAmong(left, gate.known ?? []);
  const marked = left.map((finding): Problem => ({
    ...finding,
    ofRuleset: true,
    ...(accepted.has(finding) && { known: true as const }),
  }));
  const about = [...expired.map(expiredProblem), ...unused.map(unusedProblem)];
  const report = createReport([...problems, ...marked, ...about]);
  // Counted in a separate report, since the same finding may be reported twice.
  const blocking = createReport([
    ...problems.filter(({ severity }) => severity === 'error'),
    ...marked.filter((finding) => finding.known !== true && blocks(finding, blockOn)),
  ]);
  const total = blocking.counts.error + blocking.counts.warning;
  return {
    ...report,
    ...(total !== report.counts.error && { blocking: total }),
    gate: {
      ruleset: { name: ruleset.name, digest: ruleset.digest },
      ...(ruleset.extended && {
        extended: Object.fromEntries(Object.entries(ruleset.extended).map(([name, { digest }]) => [name, digest])),
      }),
      blockOn,
      ...(exemptions.length > 0 && { exemptions }),
      ...((exemptions.length > 0 || ignored.length > 0) && { today }),
      ...(ratchet !== undefined && { ratchet }),
    },
    ...(gate.listsKnown && { known: [...new Set(left.map(findingKey))].slice(0, maxKnownFindings) }),
    ...(exempted.length > 0 && {
      exempted: exempted.slice(0, maxExemptions).map((finding) => ({ ...finding, ofRuleset: true as const })),
    }),
  };
}

const maxExemptions = 1000;

function unusedProblem({ rule, at }: Exemption): Problem {
  const message = `${rule}: The exemption matches no finding. Remove it, unless it approves a breaking change.`;
  return { rule: 'exemption-unused', severity: 'info', message, ...at };
}

/** Images as descriptions write them: Markdown's and HTML's. */
const written = /!\[[^\]\n]{0,500}\]\(\s*<?([^()\s<>]{1,1000})|<img\s[^<>]{0,1000}?src=["']([^"'<>]{1,1000})["']/gi;

/**
 * The paths where the images may be that the descriptions of these files show, in order and without
 * those that are in `files`. Extra paths do no harm: only images are shown.
 */
function shownImages(files: Files, isUsed: (path: string) => boolean): string[] {
  const images = new Set<string>();
  for (const [path, file] of files) {
    if (!isUsed(path) || isUrlPath(path)) continue;
    if (!/!\[|<img\s/i.test(file.text ?? '')) continue;
    for (const text of isParsed(file) ? textsOf(file.value) : [file.text!]) {
      for (const [, markdown, html] of text.matchAll(written))
        for (const each of imagePaths(markdown ?? html!, path)) if (!files.has(each)) images.add(each);
      if (images.size >= maxImages * 2) break;
    }
  }
  return [...images].slice(0, maxImages * 2);
}

function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  eachNode(value, (node) => {
    for (const text of Object.values(node)) if (typeof text === 'string') texts.push(text);
  });
  return texts;
}

/** Compiles one document: collects its files, compiles it, and encodes it. Runs in the sandbox. */
export async function runCompile(
  input: CompileInput,
  load: LoadFiles,
  interpreter: Interpreter | null = null,
): Promise<{ artifact: Artifact | null; report: Report }> {
  try {
    const { view } = input;
    const used = input.code === undefined ? null : interpreter;
    return await (view === undefined
      ? compileEntry(input, load, used)
      : compileView({ ...input, view }, load, plainWith(used)));
  } catch (error) {
    if (isTooManyRounds(error)) {
      const message = 'References lead through too many others. Reference the targets directly.';
      return refused([problemAtFile('limit-references', input.entry, message)]);
    }
    // Libraries follow references recursively, so thousands of nested schemas overflow the stack.
    if (!isStackFull(error)) throw error;
    const message = 'References are nested too deeply: through thousands of schemas. Flatten the chain of references.';
    return refused([problemAtFile('limit-depth', input.entry, message)]);
  }
}

/** How a view's result is compiled: as a document of its own, which is not in its author's words any more. */
const plainWith = (interpreter: Interpreter | null): PlainCompiler => ({
  compile: (input, load) => compileEntry(input, load, interpreter, true),
  async bundle(input, load) {
    const pathsOf = () => documentKinds.openapi.paths;
    const { files, findings, overLimit } = await collect(input.entry, input.limits, load, pathsOf);
    const entry = files.get(input.entry);
    const problems = overLimit === null ? [...findings.values()].flat() : [overLimit];
    if (overLimit !== null || !isParsed(entry)) return { bundle: null, problems };
    const given = { entry, files, input: { ...input, validation: 'lenient' as const, ruleset: null } };
    const { bundle, problems: others } = await documentKinds.openapi.compile(given);
    return { bundle: bundle === entry.value ? entry.exact : bundle, problems: others };
  },
});

async function compileEntry(
  input: CompileInput,
  load: LoadFiles,
  interpreter: Interpreter | null,
  isRewritten = false,
): Promise<{ artifact: Artifact | null; report: Report }> {
  const { limits } = input;
  const { files: collected, findings, overLimit } = await collect(input.entry, limits, load, createPathsOf(input.type));
  if (overLimit !== null) return refused([overLimit]);
  const first = collected.get(input.entry);
  const isRuleset =
    isCode(input.entry) || (isParsed(first) && (kindOf(first.value)?.type ?? input.type) === 'rulesets');
  if (interpreter !== null && isRuleset) sayCode(input.entry);
  const code = interpreter === null || !isRuleset ? null : await readCode(input.entry, collected, interpreter, load);
  clearRule();
  const files = code?.files ?? collected;
  const entry = files.get(input.entry);
  if (code?.problems.some(({ severity }) => severity === 'error')) return refused(code.problems);
  if (isCode(input.entry) && code === null) return refused([problemAtFile('ruleset-refused', input.entry, codeIsOff)]);
  if (!isParsed(entry)) {
    const other = entry === undefined || entry.text === null ? null : sayOtherKind(entry.text, undefined);
    return refused(
      other === null ? (findings.get(input.entry) ?? []) : [problemAtFile('kind-unknown', input.entry, other)],
    );
  }

  if (isOverlay(entry.value) && input.type === null && input.reportOnly)
    return refused([...(findings.get(input.entry) ?? []), ...readOverlay(entry).problems]);
  const kind = kindToCompile(entry, files, input);
  if (typeof kind !== 'string') return refused([kind, ...(findings.get(input.entry) ?? [])]);
  const result = await documentKinds[kind].compile({ entry, files, input, code });
  const problems = [...(code?.problems ?? []), ...result.problems];
  const isUsed = (path: string) => path === input.entry || (result.used?.has(path) ?? true);
  for (const [path, found] of findings) if (isUsed(path)) problems.push(...found);
  let styled: Problem[] = [];
  const ignored: Exemption[] = [];
  if (input.ruleset !== null && result.bundle !== null) {
    const date = Date.parse(input.code?.date ?? input.gate?.today ?? '') || 0;
    styled = await lintWithRuleset({ entry, files }, input.ruleset, interpreter, date).finally(clearRule);
    if (styled.length > 0)
      for (const read of await loadIgnored(input, load, new Set(files.keys()))) {
        ignored.push(...read.exemptions);
        problems.push(...read.problems);
      }
  }
  const report = passGate(problems, styled, input, ignored);
  if (result.bundle === null || isBlocking(report)) return { artifact: null, report };

  const formats = formatsOf(entry, result.bundle, isRewritten);
  const bytes = Math.max(Buffer.byteLength(formats.json), Buffer.byteLength(formats.yaml));
  if (bytes > limits.bundleBytes)
    return refused([
      ...problems,
      problemAtFile(
        'limit-bundle-bytes',
        input.entry,
        `The bundled document has ${bytes} bytes; the limit is ${limits.bundleBytes}.`,
      ),
    ]);
  if (input.reportOnly) return { artifact: null, report };
  // The caller keeps what was loaded. Images are not looked at here.
  const images = shownImages(files, isUsed).slice(0, Math.max(0, limits.files - files.size - 2));
  if (images.length > 0) await load(images);
  return { artifact: artifactOf(result, await represent(formats)), report };
}

async function loadIgnored(
  { entry, limits }: CompileInput,
  load: LoadFiles,
  files: ReadonlySet<string>,
): Promise<LintIgnore[]> {
  const loaded = await load(lintIgnorePaths(entry));
  return loaded.flatMap((file) => ('bytes' in file ? [readLintIgnore(file.path, file.bytes, limits, files)] : []));
}

const codeIsOff =
  'The ruleset is code, which is not run here. The operator can allow it with "rulesets.functions" in the configuration.';

/** The entry is read first. Its kind decides how references are found in all files. */
function createPathsOf(type: ResourceType | null): (file: ParsedFile) => PathsOf {
  let paths: PathsOf | null = null;
  const kindFor = (file: ParsedFile): Kind => {
    const kind = kindOf(file.value)?.kind;
    return kind ?? types[type ?? (rulesetReferencePaths(file).length > 0 ? 'rulesets' : 'schemas')].usual;
  };
  return (file) => (paths ??= documentKinds[kindFor(file)].paths);
}

const summaryLength = 300;

function artifactOf(result: KindResult, representations: Representation[]): Artifact {
  const { kind, specification, title, description, version } = result;
  const summary = firstParagraph(result.summary || description, summaryLength);
  return { type: kinds[kind].type, kind, specification, title, description, summary, version, representations };
}

function kindToCompile(entry: ParsedFile, files: Files, { type }: CompileInput): Kind | Problem {
  const found = kindOf(entry.value);
  const unknown = (message: string) => problemAt(entry, '', 'kind-unknown', message);
  if (found !== null && (type === null || type === found.type)) return found.kind;
  if (found !== null) {
    const message = `The document is ${types[found.type].noun}, not ${types[type!].noun}.`;
    return problemAt(entry, '', 'kind-mismatch', message);
  }
  const other = sayOtherKind(entry.text, entry.value);
  if (other !== null) return unknown(other);
  if (type !== null) return types[type].unmarked === null ? types[type].usual : unknown(types[type].unmarked);
  // Other tools' configurations extend files, too, but no rulesets.
  const others = [...files.values()].flatMap((file) => (file !== entry && isParsed(file) ? [kindOf(file.value)] : []));
  if (others.some((each) => each?.type === 'rulesets')) return types.rulesets.usual;
  return unknown(`Unknown kind of document. ${signsOfKinds}`);
}

function refused(problems: Problem[]): { artifact: null; report: Report } {
  return { artifact: null, report: createReport(problems) };
}
