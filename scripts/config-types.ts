/**
 * Writes the types of `registry.config.ts`, `src/config/written.ts`, from `content/schemas/config.json`: of what people
 * write, and, as `Filled…`, of the same with its defaults. `npm run types` and a build run it. The file is not kept in git.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  oneOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
}

const file = new URL('../content/schemas/config.json', import.meta.url);
const { $defs, ...root } = JSON.parse(readFileSync(file, 'utf8')) as Schema & { $defs: Record<string, Schema> };

/** `isFilled`: with the defaults of members, which are then there. */
function typeOf(schema: Schema, isFilled: boolean): string {
  const { $ref, type, oneOf, properties = {}, additionalProperties: more } = schema;
  if ($ref !== undefined) return nameOf($ref.split('/').at(-1)!, isFilled);
  if (oneOf)
    return oneOf
      .map((one) => ({ ...one, type: 'object', required: [...(schema.required ?? []), ...(one.required ?? [])] }))
      .map((one) => typeOf(one, isFilled))
      .join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each }, isFilled)).join(' | ');
  if (type === 'array') return `${isFilled ? '' : 'readonly '}(${typeOf(schema.items!, isFilled)})[]`;
  if (type === 'integer') return 'number';
  if (type !== 'object') return type!;
  if (typeof more === 'object') return `Record<string, ${typeOf(more, isFilled)}>`;
  const members = Object.entries(properties).map(([name, each]) => {
    const isThere = schema.required?.includes(name) || (isFilled && (each.default !== undefined || hasDefaults(each)));
    const about = each.description === undefined ? '' : `/** ${each.description} */\n`;
    return `${about}${JSON.stringify(name)}${isThere ? '' : '?'}: ${typeOf(each, isFilled)};\n`;
  });
  return `{\n${members.join('')}}`;
}

/** A section without required keys is always there. */
function hasDefaults({ type, properties, required }: Schema): boolean {
  return type === 'object' && properties !== undefined && required === undefined;
}

function nameOf(name: string, isFilled: boolean): string {
  return `${isFilled ? 'Filled' : 'Written'}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

const types = Object.entries({ ...$defs, config: root }).flatMap(([name, schema]) =>
  [false, true].map(
    (isFilled) =>
      `/** ${schema.description ?? name} */\nexport type ${nameOf(name, isFilled)} = ${typeOf(schema, isFilled)};\n`,
  ),
);
writeFileSync(
  new URL('../src/config/written.ts', import.meta.url),
  `// Written by scripts/config-types.ts.\n${types.join('\n')}`,
);
