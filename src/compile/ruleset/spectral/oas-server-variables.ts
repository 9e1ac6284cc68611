import { isObject } from '../../../model/json.ts';
import type { Failure } from './core-function.ts';

/** How many invalid URLs of one server are counted. */
const maxInvalid = 5;
/** The most URLs to try for one server: the values of its variables multiply. */
const maxUrls = 1000;

/** Checks that the variables of a server's URL are defined, used, and give valid URLs. */
export function checkServerVariables(value: unknown): Failure[] {
  if (!isObject(value) || typeof value['url'] !== 'string') return [{ message: 'Invalid Server Object' }];
  const { url } = value;
  const variables = isObject(value['variables']) ? value['variables'] : {};
  const used = new Set([...url.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!));
  const failures: Failure[] = Object.keys(variables)
    .filter((name) => !used.has(name))
    .map((name) => ({
      message: `Server's "variables" object has unused defined "${name}" url variable.`,
      keys: ['variables', name],
    }));
  if (used.size === 0) return failures;
  const missing = [...used].filter((name) => !Object.hasOwn(variables, name));
  if (missing.length > 0)
    failures.push({
      message: `Not all server's variables are described with "variables" object. Missed: ${missing.join(', ')}.`,
      keys: ['variables'],
    });
  if (value['variables'] === undefined) return failures;
  const choices: [name: string, values: string[]][] = [];
  for (const [name, variable] of Object.entries(variables)) {
    if (!used.has(name) || !isObject(variable)) continue;
    const { enum: allowed, default: usual } = variable;
    const values = Array.isArray(allowed) ? allowed.map(String) : usual === undefined ? [] : [String(usual)];
    choices.push([name, values]);
    if (usual === undefined)
      failures.push({ message: `Server Variable "${name}" has a missing default.`, keys: ['variables', name] });
    else if (Array.isArray(allowed) && !allowed.includes(usual))
      failures.push({
        message: `Server Variable "${name}" has a default not listed in the enum.`,
        keys: ['variables', name, 'default'],
      });
  }
  return [...failures, ...invalidUrls(url, choices)];
}

function invalidUrls(url: string, choices: readonly [name: string, values: string[]][]): Failure[] {
  if (choices.length === 0) return [];
  let urls = [url];
  for (const [name, values] of choices)
    urls = urls
      .flatMap((one) => values.map((value) => one.replaceAll(`{${name}}`, () => encodeURI(value.toWellFormed()))))
      .slice(0, maxUrls);
  const invalid = urls.filter((one) => !URL.canParse(one)).slice(0, maxInvalid);
  if (invalid.length === 0) return [];
  const start = invalid.length === maxInvalid ? `At least ${maxInvalid}` : 'A few';
  const end = invalid.length === maxInvalid ? ' and more' : '';
  const message = `${start} substitutions of server variables resulted in invalid URLs: ${invalid.join(', ')}${end}`;
  return [{ message, keys: ['variables'] }];
}
