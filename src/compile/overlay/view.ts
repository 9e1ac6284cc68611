import { isObject } from '../../model/json.ts';
import {
  addProblems,
  countText,
  isBlocking,
  problemAtFile,
  createReport,
  type Problem,
  type Report,
} from '../../model/problem.ts';
import type { View } from '../../model/artifact.ts';
import type { LoadFiles, LoadedFile } from '../collect.ts';
import type { Artifact, CompileInput } from '../compile.ts';
import { createBudget, TooMuchWork } from '../ruleset/spectral/pattern.ts';
import { parseFile, type ParsedFile } from '../text/parse.ts';
import { applyOverlay, isOverlay, readOverlay } from './apply-overlay.ts';
import { keepAudience, operationsIn } from './audience.ts';

/** What the compiler does with a plain document. */
export interface PlainCompiler {
  /** Bundles the document into one value. Null with the problems if that is impossible. */
  bundle(input: CompileInput, load: LoadFiles): Promise<{ bundle: unknown; problems: Problem[] }>;
  compile(input: CompileInput, load: LoadFiles): Promise<{ artifact: Artifact | null; report: Report }>;
}

/** A file is given once, and a view asks for it again: as an overlay, and before and after its audience is known. */
function remembering(load: LoadFiles): LoadFiles {
  const files = new Map<string, LoadedFile>();
  return async (paths) => {
    const wanted = paths.filter((path) => !files.has(path));
    for (const file of wanted.length > 0 ? await load(wanted) : []) files.set(file.path, file);
    return paths.flatMap((path) => files.get(path) ?? []);
  };
}

/** The most operations that an artifact names as left out. */
const maxRemoved = 1000;

/**
 * Compiles what overlays and an audience leave of a document. Overlays change the entry before its references are
 * followed; the audience is judged in the bundle, so that marks in other files count. Everything else sees the result
 * alone: checks, formats, and what is published.
 */
export async function compileView(
  { view, ...input }: CompileInput & { view: View },
  loadOnce: LoadFiles,
  plain: PlainCompiler,
): Promise<{ artifact: Artifact | null; report: Report }> {
  const { entry, limits } = input;
  const refused = (problems: Problem[]) => ({ artifact: null, report: createReport(problems) });
  const load = remembering(loadOnce);
  // Separately, because the first file is there already.
  const files = [...(await load([entry])), ...(await load(view.overlays))];
  const parsed = files.map((file) =>
    'bytes' in file
      ? parseQuietly(file.path, file.bytes, limits)
      : { ok: false as const, problems: [{ ...file.problem, severity: 'error' as const }] },
  );
  const faults = parsed.flatMap((one) => (one.ok ? [] : one.problems));
  if (faults.length > 0) return refused(faults);
  const [original, ...overlays] = parsed.flatMap((one) => (one.ok ? [one.file] : []));
  let document = original!.exact;
  if (!isObject(document) || !('openapi' in document || 'swagger' in document))
    return refused([problemAtFile('kind-mismatch', entry, 'Overlays and audiences are for OpenAPI documents.')]);
  const operations = operationsIn(document);
  const problems = applyAll(document, overlays);
  if (problems.some(({ severity }) => severity === 'error')) return refused(problems);

  const loadOf =
    (value: unknown): LoadFiles =>
    async (paths) => {
      const others = paths.filter((path) => path !== entry);
      const loaded = await load(others);
      const bytes = Buffer.from(JSON.stringify(value));
      return others.length < paths.length ? [{ path: entry, bytes }, ...loaded] : loaded;
    };
  const removed = new Set<string>();
  if (view.audience !== null) {
    const bundled = await plain.bundle(input, loadOf(document));
    if (!isObject(bundled.bundle))
      return refused([...bundled.problems.map(placeIn(original!)).map(quietly), ...problems]);
    const kept = keepAudience(bundled.bundle, view.audience);
    const bare = [
      ...kept.bodiless.map((pointer) => ({ ...problemAtFile('audience', entry, bodiless), pointer })),
      ...kept.unnamed.map((pointer) => ({ ...problemAtFile('audience', entry, unnamed), pointer })),
    ];
    if (kept.isOpened) bare.push(problemAtFile('audience', entry, unprotected));
    if (bare.length > 0) return refused([...problems, ...bare.map(placeIn(original!))]);
    if (kept.unclear > 0) problems.push(problemAtFile('audience', entry, unclearMarks(kept.unclear), 'warning'));
    for (const name of kept.removed) removed.add(name);
    document = bundled.bundle;
  }
  const left = new Set(operationsIn(document as Record<string, unknown>));
  for (const name of operations) if (!left.has(name)) removed.add(name);
  const { artifact, report } = await plain.compile(input, loadOf(document));
  const names = [...removed].slice(0, maxRemoved);
  const noted = removed.size === 0 ? problems : [...problems, countRemoved(entry, removed.size)];
  const placed = { ...report, problems: report.problems.map(placeIn(original!)) };
  return {
    artifact: artifact && { ...artifact, ...(names.length > 0 && { removed: names }) },
    report: isBlocking(report) && report.truncated ? placed : addProblems(placed, noted),
  };
}

/** Without names, as all that is said of what is left out. */
const unprotected =
  'An operation that this audience gets accepts only security schemes that are left out for it. Keep one of them, or leave out the operation.';

const bodiless =
  'What this audience gets has a body here, and all that describes it is left out. Keep one of its media types, or leave out the body or the operation.';

const unnamed =
  'The path of this operation names a parameter that is left out for this audience. Keep the parameter, or leave out the operation.';

function unclearMarks(count: number): string {
  const what = `${countText(count, 'mark')} of the document cannot be read, and what they mark was left out.`;
  return `${what} Write \`x-internal\` as true or false, and \`x-audience\` as a name or a list of names.`;
}

/** Parses a file. What is wrong with it may stand in what a view leaves out, so nothing of it is quoted. */
function parseQuietly(...given: Parameters<typeof parseFile>): ReturnType<typeof parseFile> {
  const parsed = parseFile(...given);
  return parsed.ok ? parsed : { ...parsed, problems: parsed.problems.map(quietly) };
}

/** The problem without its words and its pointer, for who may read the view and not its file. */
function quietly({ rule, severity, file, line, column }: Problem): Problem {
  const message = `The file fails the check ${rule}. "stele lint" says why. Nothing is quoted here, because the view may leave it out.`;
  return { rule, severity, file, line, column, pointer: '', message };
}

/** A number and no names: whoever may read the result need not know what it leaves out. */
function countRemoved(entry: string, count: number): Problem {
  const message = `Overlays and the audience leave out ${countText(count, 'operation')} of the document.`;
  return problemAtFile('overlay-removed', entry, message, 'info');
}

function applyAll(document: unknown, overlays: readonly ParsedFile[]): Problem[] {
  const budget = createBudget();
  const problems: Problem[] = [];
  for (const file of overlays) {
    if (!isOverlay(file.value))
      problems.push(
        problemAtFile('overlay', file.path, 'The file is not an OpenAPI Overlay: it has no "overlay" at its root.'),
      );
    const read = readOverlay(file);
    if (problems.length === 0) problems.push(...read.problems);
    if (problems.some(({ severity }) => severity === 'error')) return problems;
    try {
      problems.push(...applyOverlay(document, read.overlay, budget));
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      const message = 'Applying the overlay takes too much work. Use fewer actions, or paths that look at less.';
      problems.push(problemAtFile('overlay', file.path, message));
    }
  }
  return problems;
}

/** Places a problem of the result in the author's file, at the same node or what is nearest to it there. */
function placeIn({ path, locate }: ParsedFile): (problem: Problem) => Problem {
  return (problem) => (problem.file === path ? { ...problem, ...locate(problem.pointer) } : problem);
}
