import { posix } from 'node:path';
import type { Settings } from '../compile/sandboxes.ts';
import type { Repository } from '../model/connection.ts';
import { createReport, type Problem, type Report, type Severity } from '../model/problem.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Registry } from '../registry/registry.ts';

/** A place in `stele.yaml`. */
export type SettingsPlace = Pick<Problem, 'pointer' | 'line' | 'column'>;

/** Adds a problem at a place in `stele.yaml` to its report. */
export type AddProblem = (at: SettingsPlace, rule: string, message: string, severity?: Severity) => void;

/** The `stele.yaml` of a commit and its report. */
export interface SettingsFile {
  /** Its path in the repository, whether it exists or not: the root of the followed folder. */
  path: string;
  /** Null when the file is missing or invalid. */
  settings: Settings | null;
  isRefused: boolean;
  addProblem: AddProblem;
  report(): Report;
}

/** The path of a repository's `stele.yaml`: the root of the followed folder. */
export function settingsPath({ discover }: Pick<Repository, 'discover'>): string {
  return posix.join(discover ?? '', 'stele.yaml');
}

/** The files that decide which documents a repository has, and with which settings. */
export function planningFiles({ discover }: Pick<Repository, 'discover'>): string[] {
  return ['stele.yaml', '.steleignore'].map((name) => posix.join(discover ?? '', name));
}

/** A commit of a repository that is read. */
export interface Reading {
  registry: Registry;
  repository: Repository;
  snapshot: Snapshot;
  signal?: AbortSignal | undefined;
}

/** Reads the `stele.yaml` of a commit in the sandbox. */
export async function readSettingsOf({ registry, repository, snapshot, signal }: Reading): Promise<SettingsFile> {
  const { org } = repository;
  const path = settingsPath(repository);
  const [file] = await snapshot.read([path]);
  const isAbsent = !file?.found && (file === undefined || file.problem.rule === 'file-missing');
  const problems: Problem[] = [];
  let settings: Settings | null = null;
  if (file?.found) {
    const read = await registry.compiler.readSettings(file, registry.config.limits, { org, signal });
    settings = read.settings;
    problems.push(...read.report.problems);
  } else if (file !== undefined && !isAbsent) problems.push(file.problem);
  return {
    path,
    settings,
    isRefused: settings === null && !isAbsent,
    addProblem: (at, rule, message, severity = 'error') =>
      void problems.push({ rule, severity, message, file: path, ...at }),
    report: () => createReport(problems),
  };
}
