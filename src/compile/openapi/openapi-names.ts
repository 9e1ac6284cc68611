import { isObject } from '../../model/json.ts';
import { joinPointer } from '../text/pointer.ts';
import { setMember } from '../text/text.ts';

/**
 * Fixes the component names that redocly derives from file and member names. A name that OpenAPI
 * does not allow, or that its reference does not resolve to, is rewritten in allowed characters,
 * together with its references. Changes the bundle in place.
 */
export function mendNames(bundle: Record<string, unknown>, authored: unknown): void {
  const references = new Map<string, string>();
  const isSwagger = 'swagger' in bundle;
  const groups = isSwagger ? ['definitions', 'parameters', 'responses'] : Object.keys(asObject(bundle['components']));
  for (const group of groups) {
    const holder = isSwagger ? bundle : asObject(bundle['components']);
    const members = asObject(holder[group]);
    const authoredNames = asObject(
      (isSwagger ? asObject(authored) : asObject(asObject(authored)['components']))[group],
    );
    const broken = Object.keys(members).filter(
      (name) => !Object.hasOwn(authoredNames, name) && !/^[A-Za-z0-9._-]+$/.test(name),
    );
    if (broken.length === 0) continue;
    const freeName = createFreeName(new Set(Object.keys(members)));
    const renamed = new Map(broken.map((name) => [name, freeName(name)]));
    const mended: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(members)) setMember(mended, renamed.get(name) ?? name, member);
    holder[group] = mended;
    const base = isSwagger ? `#/${group}` : `#/components/${group}`;
    for (const [name, free] of renamed) references.set(`${base}/${name}`, `#${joinPointer(base.slice(1), free)}`);
  }
  if (references.size > 0) rewrite(bundle, references);
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function createFreeName(taken: Set<string>): (name: string) => string {
  const serials = new Map<string, number>();
  return (name) => {
    const plain =
      name
        .replace(/~[01]/g, '-')
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/^-+|-+$/g, '') || 'part';
    let free = plain;
    let serial = serials.get(plain) ?? 2;
    for (; taken.has(free); serial++) free = `${plain}-${serial}`;
    serials.set(plain, serial);
    taken.add(free);
    return free;
  };
}

function rewrite(bundle: unknown, references: ReadonlyMap<string, string>): void {
  const seen = new Set<object>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    const holder = node as Record<string, unknown>;
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value === 'string') {
        const mended = references.get(value);
        if (mended !== undefined) holder[key] = mended;
      } else visit(value);
    }
  };
  visit(bundle);
}
