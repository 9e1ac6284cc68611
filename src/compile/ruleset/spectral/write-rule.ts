/** One requirement: a field of the selected nodes, a function, and its options. */
export type Then = readonly [field: string | null, name: string, options?: Record<string, unknown>];

interface Options {
  severity?: 'error' | 'info';
  formats?: string[];
  /** Not part of `recommended`. */
  isExtra?: true;
  /** Whether the function's own messages are shown instead of the description. */
  saysWhy?: true;
  resolved?: false;
}

/** Writes a rule as in a ruleset. Without `severity` it is a warning. */
export function rule(description: string, given: string | string[], then: Then | Then[], options: Options = {}) {
  const { severity, formats, isExtra, saysWhy, resolved } = options;
  const list = (typeof then[1] === 'string' ? [then] : then) as Then[];
  return {
    description,
    given,
    recommended: isExtra !== true,
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a word of the format
    then: list.map(([field, name, functionOptions]) => ({
      ...(field !== null && { field }),
      function: name,
      ...(functionOptions && { functionOptions }),
    })),
    ...(saysWhy && { message: '{{error}}' }),
    ...(severity && { severity }),
    ...(formats && { formats }),
    ...(resolved === false && { resolved }),
  };
}
