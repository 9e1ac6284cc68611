// What the members of an OpenAPI document hold, in all versions from 2.0 to 3.2. A name alone does
// not tell: `properties` in a schema is a keyword, and in a map of properties a name of the author.

/** The methods of a path item (OpenAPI 3.2 §4.9), lower case. */
export const methods: ReadonlySet<string> = new Set('get put post delete options head patch trace query'.split(' '));

/** Whether it is an extension beside paths and addresses. The name of a webhook may begin alike. */
export function isBesidePaths(key: string, isWebhook: boolean): boolean {
  return !isWebhook && key.startsWith('x-');
}

/** Identifies a parameter of an operation. Header names ignore case. */
export function parameterKey(place: string, name: string): string {
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`;
}

/** Members that are maps: their members are names of the author, or of a protocol, and what these hold are nodes. */
const maps = new Set(
  [
    'paths webhooks x-webhooks callbacks responses parameters requestBodies headers examples links pathItems',
    'mediaTypes securitySchemes securityDefinitions schemas definitions $defs properties patternProperties',
    'dependentSchemas content encoding variables additionalOperations',
  ].flatMap((line) => line.split(' ')),
);

/** Maps that may have extensions beside their members. Those of an operation's responses look like names. */
const extended = new Set(['paths', 'x-webhooks']);

/** Keywords of a schema that hold data of users: nothing in them is a schema or a reference. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example']);

/** Members besides those that hold data of users, or only names. */
const data = new Set('value dataValue mapping required security scopes'.split(' '));

/** What a member holds: data of users, an extension, a map of names, or else one node or a list of them. */
export type Holds = 'data' | 'extension' | 'map' | 'node';

/**
 * What the member `key` of an object holds. `within`: the name of the map that the object is; null: it is a node.
 * `isOld`: in OpenAPI 2.0, `examples` are whole bodies by media type.
 */
export function holdsOf(within: string | null, key: string, value: unknown, isOld = false): Holds {
  if (key.startsWith('x-') && (within === null ? key !== 'x-webhooks' : extended.has(within))) return 'extension';
  if (within !== null) return 'node';
  const isMap = maps.has(key) && !Array.isArray(value) && !(isOld && key === 'examples');
  if (isMap) return 'map';
  return dataKeywords.has(key) || data.has(key) ? 'data' : 'node';
}
