import { isObject } from '../../../model/json.ts';
import type { Context, CoreFunction, Failure } from './core-function.ts';
import { operationsIn } from './oas-operations.ts';

/** The functions of the OWASP set besides the core functions. */
export const owaspFunctions: readonly [name: string, create: CoreFunction][] = [
  [
    'owaspIsSecured',
    ({ methods }) =>
      (value, context) =>
        checkSecured(value, context, new Set(methods as string[])),
  ],
  [
    'owaspAdminIsApart',
    ({ adminUrl }) =>
      (value, context) =>
        checkAdmin(value, context, String(adminUrl)),
  ],
];

/** Operations with one of these methods that have no security requirement, neither of their own nor of the document. */
function checkSecured(value: unknown, context: Context, methods: ReadonlySet<string>): Failure[] {
  if (!isObject(value)) return [];
  return [...operationsIn(context.graph.follow(value['paths']), context)].flatMap(({ path, method, operation }) => {
    if (!methods.has(method)) return [];
    const security = operation['security'] === undefined ? value['security'] : operation['security'];
    const isOpen = !security || (Array.isArray(security) && security.length === 0);
    const message = `${method.toUpperCase()} ${path} has no security scheme.`;
    return isOpen ? [{ message, keys: ['paths', path, method, 'security', 'securitySchemes'] }] : [];
  });
}

/** Security requirements of operations of administrators that other operations have too. */
function checkAdmin(value: unknown, context: Context, adminUrl: string): Failure[] {
  if (!isObject(value)) return [];
  const shared = new Set<string>();
  const ofAdmins: { requirement: string; path: string; keys: (string | number)[] }[] = [];
  for (const { path, method, operation } of operationsIn(context.graph.follow(value['paths']), context)) {
    const security: unknown[] = Array.isArray(operation['security']) ? operation['security'] : [];
    for (const [at, entry] of security.entries()) {
      if (typeof entry !== 'object') continue;
      const requirement = JSON.stringify(entry);
      if (path.includes(adminUrl)) ofAdmins.push({ requirement, path, keys: ['paths', path, method, 'security', at] });
      else shared.add(requirement);
    }
  }
  return ofAdmins
    .filter(({ requirement }) => shared.has(requirement))
    .map(({ path, keys }) => ({
      message: `${path} has a security requirement that is not for administrators alone.`,
      keys,
    }));
}
