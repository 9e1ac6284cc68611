import { isObject } from '../../model/json.ts';
import type { Config } from '@redocly/openapi-core';
import { sayNoRule, sayRule, sayRuleSometimes } from './rule-at-work.ts';

type Assertions = (options: Record<string, unknown>) => unknown[];
type Call = (...given: unknown[]) => unknown;

/**
 * Lets Redocly's assertions report which of them runs. They match texts with JavaScript's regular
 * expressions, of which one call may take longer than a sandbox lives.
 */
export function sayAssertions(config: Config): Config {
  config.plugins = config.plugins.map((plugin) => {
    const sets = Object.entries(plugin.rules ?? {}).map(([version, rules]) => {
      const assertions = rules?.['assertions'] as unknown as Assertions | undefined;
      return [version, assertions === undefined ? rules : { ...rules, assertions: saying(assertions) }];
    });
    return { ...plugin, rules: Object.fromEntries(sets) } as unknown as typeof plugin;
  });
  return config;
}

function saying(assertions: Assertions): Assertions {
  return (options) => {
    const each = Object.values(options).filter(isObject);
    return assertions(options).map((visitor, at) => {
      const name = String(each[at]?.['assertionId'] ?? '');
      return mayBacktrack(each[at])
        ? wrap(visitor, () => sayRule(name), sayNoRule)
        : wrap(visitor, () => sayRuleSometimes(name));
    });
  };
}

/** The visitor with `before` and `after` around each of its functions. */
function wrap(visitor: unknown, before: () => void, after?: () => void): unknown {
  if (typeof visitor === 'function')
    return (...given: unknown[]) => {
      before();
      const result = (visitor as Call)(...given);
      after?.();
      return result;
    };
  if (!isObject(visitor)) return visitor;
  return Object.fromEntries(Object.entries(visitor).map(([key, inner]) => [key, wrap(inner, before, after)]));
}

/** Whether a rule has a text with two quantifiers, as every slow regular expression has. */
function mayBacktrack(rule: unknown): boolean {
  if (typeof rule === 'string') return /[*+{].*[*+{]/s.test(rule);
  return typeof rule === 'object' && rule !== null && Object.values(rule).some(mayBacktrack);
}
