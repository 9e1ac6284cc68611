import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';

/** The HTML around what is shown: files of `templates/`, by name. */
export interface Templates {
  /** The template's text with this data. What it prints with `<%= %>` is escaped; `<%~ %>` is for HTML that is safe already. */
  render(name: string, data: object): string;
}

const ours = fileURLToPath(new URL('../../templates/', import.meta.url));

/** Stele's own templates; a file of the same name in the operator's folder takes the place of ours (content/docs/templates.md). */
export function createTemplates(folder: string | null): Templates {
  const eta = new Eta({ views: ours, autoEscape: true, cache: true });
  eta.resolvePath = (name) => {
    const file = `${name.replace(/^\.?\//, '')}.eta`;
    const own = folder === null ? null : join(folder, file);
    return own !== null && existsSync(own) ? own : join(ours, file);
  };
  return { render: (name, data) => eta.render(name, data) };
}
