import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';

/** The HTML templates: the files of `templates/`, by name. */
export interface Templates {
  /** Renders a template. `<%= %>` escapes its value; `<%~ %>` prints HTML that is already safe. */
  render(name: string, data: object): string;
}

const ours = fileURLToPath(new URL('../../templates/', import.meta.url));

/**
 * Opens the templates. The operator's folder overrides them by name (content/docs/templates.md).
 */
export function createTemplates(folder: string | null): Templates {
  const eta = new Eta({ views: ours, autoEscape: true, cache: true });
  const files = new Map<string, string>();
  const fileOf = (name: string): string => {
    const file = `${name.replace(/^\.?\//, '')}.eta`;
    const custom = folder === null ? null : join(folder, file);
    return custom !== null && existsSync(custom) ? custom : join(ours, file);
  };
  eta.resolvePath = (name) => files.getOrInsertComputed(name, fileOf);
  return { render: (name, data) => eta.render(name, data) };
}
