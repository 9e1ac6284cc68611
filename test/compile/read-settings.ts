import type { CompileLimits, FileBytes } from '../../src/compile/compile.ts';
import { checkSettingsFile, settingsFrom } from '../../src/compile/repository-settings.ts';
import type { ReadSettings } from '../../src/compile/sandboxes.ts';

/** Reads a `stele.yaml` in this process: what the sandbox does, and what is made of its answer. */
export function readSettings(file: FileBytes, limits: CompileLimits): ReadSettings {
  const { written, report } = checkSettingsFile(file, limits);
  return { settings: written && settingsFrom(file.path, written), report };
}
