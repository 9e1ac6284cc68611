import { printValue } from './functions.ts';

/** What a message can mention. */
export interface MessageValues {
  property: string | number;
  error: string;
  path: string;
  description: string;
  value: unknown;
}

const longestValue = 500;

/**
 * Fills the placeholders of a message: `{{property}}`, `{{error}}`, `{{path}}`, `{{description}}`
 * and `{{value}}`, and `#{{print("property")}}` as in Spectral's own messages. Others become empty.
 */
export function fillMessage(template: string, values: MessageValues): string {
  return template.replace(/(#?)\{\{([^}\n]+)\}\}/g, (_, hash: string, inside: string) => {
    const name = inside.trim();
    if (hash === '') return placeholderText(name, values);
    const printed = /^print\(\s*["'](\w+)["']\s*\)$/.exec(name)?.[1];
    if (printed === 'property') return subjectOf(values.property);
    if (printed === 'value') return printValue(values.value).slice(0, longestValue);
    return placeholderText(printed ?? name, values);
  });
}

/** The beginning of a message about a value. */
export function subjectOf(property: string | number): string {
  return property === '' ? 'The document ' : `"${property}" property `;
}

function placeholderText(name: string, values: MessageValues): string {
  if (!Object.hasOwn(values, name)) return '';
  const value = values[name as keyof MessageValues];
  const text = typeof value === 'object' && value !== null ? printValue(value) : String(value ?? '');
  return text.slice(0, longestValue);
}
