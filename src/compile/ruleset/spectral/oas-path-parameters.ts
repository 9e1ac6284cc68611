import { isObject } from '../../../model/json.ts';
import type { Context, Failure } from './core-function.ts';
import { operationsIn } from './oas-operations.ts';

type Keys = readonly (string | number)[];

/** Checks that the parameters in paths and the defined path parameters are the same. */
export function checkPathParameters(value: unknown, context: Context): Failure[] {
  if (!isObject(value)) return [];
  const failures: Failure[] = [];
  const shapes = new Map<string, string>();
  const fail = (message: string, keys: Keys) => failures.push({ message, keys });
  const operations = Map.groupBy(operationsIn(value, context), ({ path }) => path);
  for (const [path, written] of Object.entries(value)) {
    const item = context.graph.follow(written);
    if (!isObject(item)) continue;
    const shape = path.replace(placeholder, '%');
    const twin = shapes.get(shape);
    if (twin !== undefined) fail(`Paths "${twin}" and "${path}" must not be equivalent.`, [path]);
    else shapes.set(shape, path);
    const expected = new Set<string>();
    for (const [whole] of path.matchAll(placeholder)) {
      const name = whole.replace(/[{}?*;]/g, '');
      if (expected.has(name)) fail(`Path "${path}" must not use parameter "{${name}}" multiple times.`, [path]);
      expected.add(name);
    }
    const shared = defined(item['parameters'], [path, 'parameters'], context, fail);
    for (const { method, operation } of operations.get(path) ?? []) {
      const ofOperation = defined(operation['parameters'], [path, method, 'parameters'], context, fail);
      const all = new Map([...shared, ...ofOperation]);
      for (const [name, keys] of all)
        if (!expected.has(name)) fail(`Parameter "${name}" must be used in path "${path}".`, keys);
      for (const name of expected)
        if (!all.has(name))
          fail(`Operation must define parameter "{${name}}" as expected by path "${path}".`, [path, method]);
    }
  }
  return failures;
}

const placeholder = /\{;?\??[a-zA-Z0-9_-]+\*?\}/g;

/** The path parameters of a list, each with its place. */
function defined(
  parameters: unknown,
  base: Keys,
  { graph }: Context,
  fail: (message: string, keys: Keys) => void,
): Map<string, Keys> {
  const byPlace = new Map<string, Keys>();
  for (const [at, written] of Array.isArray(parameters) ? parameters.entries() : []) {
    const parameter = graph.follow(written);
    if (!isObject(parameter) || parameter['in'] !== 'path' || parameter['name'] === undefined) continue;
    const name = String(parameter['name']);
    const keys = [...base, at];
    if (parameter['required'] !== true)
      fail(`Path parameter "${name}" must have "required" property that is set to "true".`, keys);
    if (byPlace.has(name)) fail(`Path parameter "${name}" must not be defined multiple times.`, keys);
    else byPlace.set(name, keys);
  }
  return byPlace;
}
