import { isObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { maxFindings, problemAt } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { parseJsonPath, type JsonPath } from './json-path.ts';

/** One change of an overlay. */
export interface Action {
  /** Its pointer in the overlay. */
  at: string;
  target: JsonPath;
  does: { how: 'remove' } | { how: 'update'; value: unknown } | { how: 'copy'; from: JsonPath } | { how: 'nothing' };
}

/** An OpenAPI Overlay of version 1.0 or 1.1. */
export interface Overlay {
  file: ParsedFile;
  /** Whether values that cannot be merged are an error, as since version 1.1. Before, the new one replaces the old one. */
  isStrict: boolean;
  actions: readonly Action[];
}

/** Whether a value is an OpenAPI Overlay of some version. */
export function isOverlay(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, 'overlay');
}

/** The members of each object of an overlay, and whether they are required. `copy` and `description` of `info` came with 1.1. */
const members = {
  root: { overlay: true, info: true, extends: false, actions: true },
  info: { title: true, version: true, description: false },
  action: { target: true, description: false, update: false, copy: false, remove: false },
} as const;

/** Reads an overlay. With an error among its problems it cannot be applied. */
export function readOverlay(file: ParsedFile): { overlay: Overlay; problems: Problem[] } {
  const problems: Problem[] = [];
  const actions: Action[] = [];
  const { exact: value } = file;
  const say = (pointer: string, message: string, on: 'key' | 'value' = 'value') => {
    if (problems.length < maxFindings) problems.push(problemAt(file, pointer, 'overlay', message, { on }));
  };
  const check = (given: unknown, pointer: string, name: string, kind: keyof typeof members): boolean => {
    if (!isObject(given)) say(pointer, `${name} must be an object.`);
    if (!isObject(given)) return false;
    for (const key of Object.keys(given)) {
      const isFrom11 = key === 'copy' || (kind === 'info' && key === 'description');
      if (key.startsWith('x-') || (Object.hasOwn(members[kind], key) && (isStrict || !isFrom11))) continue;
      const hint = isFrom11 ? ' It came with version 1.1 of the specification.' : '';
      say(joinPointer(pointer, key), `${name} has no member ${JSON.stringify(key.slice(0, 100))}.${hint}`, 'key');
    }
    for (const [key, isRequired] of Object.entries(members[kind]))
      if (isRequired && !Object.hasOwn(given, key)) say(pointer, `${name} needs ${JSON.stringify(key)}.`);
    for (const key of ['extends', 'title', 'version', 'description', 'target', 'copy'])
      if (Object.hasOwn(given, key) && typeof given[key] !== 'string')
        say(joinPointer(pointer, key), `${JSON.stringify(key)} must be a text.`);
    return true;
  };
  const root = isObject(value) ? value : {};
  const version = typeof root['overlay'] === 'string' ? /^1\.([01])\.[0-9]+$/.exec(root['overlay']) : null;
  const isStrict = version?.[1] === '1';
  if (!check(value, '', 'The overlay', 'root')) return { overlay: { file, isStrict, actions }, problems };
  if (version === null && Object.hasOwn(root, 'overlay'))
    say('/overlay', '"overlay" must be the version of the specification that it follows: "1.0.0" or "1.1.0".');
  if (Object.hasOwn(root, 'info')) check(root['info'], '/info', '"info"', 'info');
  const listed: unknown = root['actions'];
  if (Object.hasOwn(root, 'actions') && (!Array.isArray(listed) || listed.length === 0))
    say('/actions', '"actions" must be a list of at least one action.');
  const path = (text: unknown, pointer: string): JsonPath => {
    try {
      if (typeof text === 'string') return parseJsonPath(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      say(pointer, `The path cannot be read: ${error.message}`);
    }
    return [];
  };
  const seen = new Set<string>();
  for (const [index, action] of (Array.isArray(listed) ? listed : []).entries()) {
    const at = `/actions/${index}`;
    const name = `actions[${index}]`;
    if (!check(action, at, name, 'action')) continue;
    const given = action as Record<string, unknown>;
    const text = JSON.stringify(given);
    if (seen.has(text)) say(at, `${name} is in the list twice.`);
    seen.add(text);
    const { remove, update, copy } = given;
    if (remove !== undefined && typeof remove !== 'boolean') say(`${at}/remove`, '"remove" must be true or false.');
    if (update !== undefined && copy !== undefined) say(at, `${name} has both "update" and "copy". Keep one of them.`);
    actions.push({
      at,
      target: path(given['target'], `${at}/target`),
      does:
        remove === true
          ? { how: 'remove' }
          : copy !== undefined
            ? { how: 'copy', from: path(copy, `${at}/copy`) }
            : update !== undefined
              ? { how: 'update', value: update }
              : { how: 'nothing' },
    });
  }
  return { overlay: { file, isStrict, actions }, problems };
}
