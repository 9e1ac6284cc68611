/**
 * Writes each OpenAPI document of a folder in other ways, changes its leaves and those of each JSON Schema one at a time, and
 * leaves out members of them:
 *
 *   node scripts/leaves.ts ../shared/corpus/openapi [--only PART-OF-A-NAME] [--leaves 50] [--seed 1] [--share 1/2]
 *
 * Another way of writing that is called breaking, risky or unknown, and a leaf that changes, or a member that
 * comes or goes, without a word or a reason here, is printed. Exits with 1 if there is one.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { argv } from 'zx';
import { runCompile } from '../src/compile/run.ts';
import { checkConfig } from '../src/config/load-config.ts';
import { compareDocuments } from '../src/diff/compare-documents.ts';
import { problemAtFile } from '../src/model/problem.ts';
import type { Comparison } from '../src/model/comparison.ts';
import type { Json } from '../test/diff/given.ts';
import { rewrites } from '../test/diff/rewrites.ts';

const { limits } = checkConfig({}, { base: '/nowhere', data: '/nowhere/data' });
const folder = resolve(String(argv._[0] ?? '../shared/corpus/openapi'));
const only = String(argv['only'] ?? '');
const most = Number(argv['leaves'] ?? 50);
const largest = Number(argv['bytes'] ?? 400_000);
/** Which of how many parts of the files, where several processes share them. */
const [share, shares] = String(argv['share'] ?? '1/1')
  .split('/')
  .map(Number) as [number, number];
let state = Number(argv['seed'] ?? 1);
let wrong = 0;
const counts = new Map<string, number>();
const known = new WeakMap<object, [string, unknown][]>();

/** Leaves that may change without a word, by their pointer and where they stand, and why. */
const silent: readonly (readonly [pointer: RegExp, why: string, isIt?: (document: Json, keys: string[]) => boolean])[] = [
  [/^\/info\/version$/, 'It differs in nearly every version.'],
  [/^\/version$/, 'Its label says it.', isSchema],
  [
    /\/(?:produces|consumes)(?:\/\d+)?$/,
    'Without a schema, a response of 2.0 has no content, and an operation without a body consumes none.',
  ],
  [
    /\/parameters\/[^/]+\/(?:required|explode|name)$/,
    'What stands in a path is always sent, a body has no name, and a text has no parts.',
  ],
  [/\/variables\/[^/]+\/default$/, 'A value that is not listed is not valid.'],
  [/^\/(?:components\/securitySchemes|securityDefinitions)(?:\/|$)/, 'It may be needed by nothing.'],
  [/\/\$(?:id|anchor|dynamicAnchor)$|^\/id$/, 'What refers to it is compared.'],
  [/./, 'What stands beside a reference does not count; since 3.1, in a schema it does, and a description elsewhere.', isBesideReference],
  [/^\/servers(?:\/|$)/, 'Every path has servers of its own.', ({ paths }) => Object.values(paths as Json).every((item) => item === null || (item as Json)['servers'] !== undefined || operationsOf(item as Json).length === 0)],
  [/\/type$/, 'Another branch allows all numbers.', (document, keys) => nodeAt(document, keys) === 'integer' && Array.isArray(nodeAt(document, keys.slice(0, -2))) && (nodeAt(document, keys.slice(0, -2)) as Json[]).some((one) => one['type'] === 'number')],
  [/\/nullable$/, 'JSON Schema does not know it.', isSchema],
  [/\/type\/\d+$/, 'The values that are listed say it.', (document, keys) => 'enum' in (nodeAt(document, keys.slice(0, -2)) as Json)],
  [/.\/definitions\/[^/]+\/./, 'Within another schema, it is of those who refer to it.', (document, keys) => { const at = keys.lastIndexOf('definitions'); return at > 0 && !JSON.stringify(document).includes(`"#/${keys.slice(0, at + 2).join('/')}"`); }],
  [/\/additionalItems$/, 'All items have one schema.', (document, keys) => !Array.isArray((nodeAt(document, keys.slice(0, -1)) as Json)['items'])],
  [/\/additionalItems$/, 'The list may not be longer.', (document, keys) => { const { items, maxItems } = nodeAt(document, keys.slice(0, -1)) as Json; return Array.isArray(items) && maxItems === items.length; }],
  [/\/(?:anyOf|oneOf)\//, 'A branch beside it allows anything.', isBesideAnything],
  [/\/maxItems$/, 'The list of its items ends before.', (document, keys) => { const { items, additionalItems } = nodeAt(document, keys.slice(0, -1)) as Json; return Array.isArray(items) && additionalItems === false; }],
  [/\/propertyNames(?:\/.*)?$/, 'Only objects have names.', (document, keys) => ![undefined, 'object'].includes((nodeAt(document, keys.slice(0, keys.lastIndexOf('propertyNames'))) as Json)['type'] as string)],
  [/\/minProperties$/, 'As many are required.', hasAsMany],
  [/\/(?:type|m(?:ax|in)(?:Length|imum))$/, 'Every schema that extends it lists its values.', isListedAround],
  [/\/(?:maximum|minimum)$/, 'No multiple is between the two.', (document, keys) => (nodeAt(document, keys.slice(0, -1)) as Json)['multipleOf'] !== undefined],
  [/^\/paths\/[^/]+\/parameters\/\d+(?:\/|$)/, 'Every operation has its own parameter of this name.', isReplaced],
  [/\/collectionFormat$/, 'Only lists are written as lists.', (document, keys) => (nodeAt(document, keys.slice(0, -1)) as Json)['type'] !== 'array'],
  [/\/m(?:ax|in)imum$/, 'Its format is as narrow, or only numbers have limits.', isLimitMoot],
  [/\/items(?:\/.*)?$/, 'Only lists have items.', (document, keys) => isOfAnother(document, keys, 'items', 'array')],
  [/./, 'What is only written is in no response, and what is only read in no request.', isOneWay],
  [/\/m(?:ax|in)Length$/, 'The values that are listed keep it, and only texts have a length.', (document, keys) => { const { enum: values, type = 'string' } = nodeAt(document, keys.slice(0, -1)) as Json; return values !== undefined || type !== 'string'; }],
  [/\/(?:format|readOnly|type|description)$/, 'Another part of `allOf` says it of the same place.', isSaidBeside],
  [/\/type$/, 'Multiples of an integer are integers.', (document, keys) => Number.isInteger((nodeAt(document, keys.slice(0, -1)) as Json)['multipleOf'])],
  [/\/additionalProperties$/, 'Lists have no members.', (document, keys) => (nodeAt(document, keys.slice(0, -1)) as Json)['type'] === 'array'],
  [/\/responses\/.*\/readOnly$/, 'What is read may be read.'],
  [/\/parameters\/[^/]+(?:\/|$)/, 'What a document says of these headers is ignored.', isIgnored],
  [/^\/components\/schemas\/[^/]+\/./, 'Only headers of which nothing counts have it, or items of what is no list.', isOfIgnored],
  [/\/nullable$/, 'Since 3.1 it says nothing, and before where no type is said.', ({ openapi, ...document }, keys) => /^3\.[12]/.test(String(openapi)) || !('type' in (nodeAt(document as Json, keys.slice(0, -1)) as Json))],
  [/\/uniqueItems$/, 'There is one item.', (document, keys) => { const { items, additionalItems } = nodeAt(document, keys.slice(0, -1)) as Json; return additionalItems === false && (items as unknown[]).length === 1; }],
  [/\/required\/\d+$/, 'Only objects have members.', (document, keys) => isOfAnother(document, keys, 'required', 'object')],
  [/\/properties(?:\/.*)?$/, 'Only objects have members.', (document, keys) => isOfAnother(document, keys, 'properties', 'object')],
  [/\/(?:uniqueItems|m(?:ax|in)Items)$/, 'Only lists have items.', (document, keys) => (nodeAt(document, keys.slice(0, -1)) as Json)['type'] !== 'array'],
  [/\/type$/, 'Where all listed values are of another type, it is a slip.', (document, keys) => ['enum', 'const'].some((key) => key in (nodeAt(document, keys.slice(0, -1)) as Json))],
  [/\/required$/, 'What stands in a path is always sent.', isInPath],
  [/\/(?:x-[^/]+|title|description|type)$/, 'The schemas that it is a part of say the same themselves.', isSaidAround],
  [/\/example(?:\/.*)?$/, 'The schemas that it is a part of have another example before it.', isSecond],
  [/^\/paths\/[^/]+(?:\/|$)/, 'A path without operations is not there.', (document, keys) => operationsOf(nodeAt(document, keys.slice(0, 2)) as Json).length === 0],
  [/\/parameters\/\d+\/\$ref$/, 'What stands in a path is always sent.', (document, keys) => (follow(document, nodeAt(document, keys.slice(0, -1))) as Json)['in'] === 'path'],
]; // prettier-ignore

/** Members that may come and go without a word, by their name and value, and why. */
const usual: readonly (readonly [member: RegExp, why: string, isIt?: (document: Json, keys: string[]) => boolean])[] = [
  [/^(?:openapi|swagger|info|paths) /, 'Without it, it is no document.'],
  [/^\w+ \[\]$|^security \[{}\]$|^(?:definitions|schema|items|additionalProperties|headers|content|callbacks|links|properties|encoding) \{\}$/, 'It says nothing.'],
  [/^(?:deprecated|uniqueItems|required|nullable|readOnly|writeOnly|allowReserved|allowEmptyValue|x-nullable|exclusive\w+) false$|^additionalProperties true$|^pattern "(?:\^\.\*\$|\.\*)"$/, 'It is so without it.'],
  [/^min(?:Length|Items|Properties) 0$|^jsonSchemaDialect "https:..spec.openapis.org.oas.3/, 'It is so without it.'],
  [/^(?:schemes \["https"\]|0 "https"|style "(?:form|simple)"|collectionFormat "csv")$/, 'It is so without it.'],
  [/^(?:contentType |\w+ \{(?:"\w+":\{)?"contentType":)"application\/json"/, 'Objects in forms are JSON without it.'],
  [/^type /, 'What is listed beside it has this type.', (document, keys) => ['enum', 'const'].some((key) => key in (nodeAt(document, keys.slice(0, -1)) as Json))],
  [/^\d+ "integer"$/, 'Integers are numbers.', (document, keys) => (nodeAt(document, keys.slice(0, -1)) as unknown[]).includes('number')],
  [/^type /, 'Every branch beside it has this type.', (document, keys) => isOfBranches(document, nodeAt(document, keys.slice(0, -1)) as Json)],
  [/^(?:type|format|readOnly|title|description|x-[^ ]+) /, 'Another part of `allOf` says it of the same place.', isSaidBeside],
  [/^\d+ "/, 'What is around the condition requires it.', (document, keys) => keys.at(-2) === 'required' && keys.at(-3) === 'then' && isRequiredAround(document, keys)],
  [/^\d+ "/, 'Another part of `allOf` requires it.', (document, keys) => keys.at(-2) === 'required' && isSaidBeside(document, keys.slice(0, -1), [nodeAt(document, keys)])],
  [/^\S+ \{(?:.*,)?"readOnly":true/, 'What is only read is in no request.', (document, keys) => isOnlyIn(document, keys, '/requestBody')],
  [/^(?:(?:all|any)Of \[|0 )\{"\$ref":"[^"]*"\}\]?$/, 'Of what is both in `allOf` and in `anyOf`, one is enough.', isInBoth],
  [/^description /, 'Every reference to it says the same.', isSaidByAll],
  [/^m(?:ax|in)imum /, 'Its format is as narrow, or only numbers have limits.', isLimitMoot],
  [/^minProperties /, 'As many are required.', hasAsMany],
  [/^(?:type|m(?:ax|in)(?:Length|imum)) /, 'Every schema that extends it lists its values.', isListedAround],
  [/^application.json;? ?charset=utf-8 |^\S+ \{/, 'The same media type is beside it.', (document, keys) => keys.at(-2) === 'content' && isSaidTwiceIn(nodeAt(document, keys.slice(0, -1)) as Json, keys.at(-1)!)],
  [/^components \{\}$/, 'There are no components.'],
  [/^(?:components|securitySchemes) /, 'There are no operations, and nothing but schemes.', ({ paths, components, webhooks }) => Object.values({ ...(paths as Json), ...(webhooks as Json) }).every((item) => operationsOf(item as Json).length === 0) && Object.keys((components ?? {}) as Json).join() === 'securitySchemes'],
  [/^\d+ \{"description":[^{}]*\}$/, 'Another part of `allOf` has the same description.', (document, keys) => keys.at(-2) === 'allOf' && isSaidBeside(document, [...keys, 'description'])],
  [/^x-/, 'Other parts have the same, and nothing else changed.', (document, keys) => JSON.stringify(document).split(`${JSON.stringify(keys.at(-1))}:${JSON.stringify(nodeAt(document, keys))}`).length > 2],
  [/^required \[|^properties \{|^\S+ \{"type"/, 'Another part of `allOf` says the same of its members.', isSaidBeside],
  [/^(?:name |xml \{"name":"[^"]*"\}$)/, 'The root of XML is called as its component, and a member as its property.', isNameOfRoot],
  [/^(?:type "string"|required true)/, 'What stands in a path is a text, and is always sent.', isInPath],
  [/^\$ref /, 'It says no more than what stands beside it.', isBeside],
  [/^(?:schema|\$ref) /, 'It refers to what allows everything.', (document, keys) => Object.keys(follow(document, nodeAt(document, keys.at(-1) === '$ref' ? keys.slice(0, -1) : keys)) as Json).length === 0],
  [/^parameters \{\}$/, 'It says nothing.'],
  [/^\w+ \{\}$/, 'There are no components of this kind.', (_, keys) => keys.length === 2 && keys[0] === 'components'],
  [/^enum \[(?:true,false|false,true)\]$/, 'There are no other booleans.', (document, keys) => (nodeAt(document, keys.slice(0, -1)) as Json)['type'] === 'boolean'],
  [/^security \[|^\d+ \{/, 'Every operation has its own.', (document, keys) => keys[0] === 'security' && Object.values(document['paths'] as Json).flatMap((item) => operationsOf(item as Json)).every((one) => one['security'] !== undefined)],
  [/^(?:servers|security) /, 'The document has the same.', (document, keys) => JSON.stringify(nodeAt(document, keys)) === JSON.stringify(document[keys.at(-1)!])],
  [/^0 \{\}$/, 'Nobody need sign in without it either.', (document, keys) => keys.at(-2) === 'security' && (nodeAt(document, keys.slice(0, -1)) as unknown[]).length === 1],
  [/^\d+ \{"type":"null"\}$/, 'The type around it refuses null.', (document, keys) => isRefused(nodeAt(document, keys.slice(0, -2)) as Json)],
  [/^\d+ \{/, 'Another part of the same list says the same, or the path.', isSaidTwice],
  [/^\$ref /, 'Another part of `allOf` says it of the same place.', isSaidBeside],
  [/^(?:type "string"|propertyNames \{"type":"string"\})$/, 'Names are texts.', (_, keys) => keys.slice(-2).includes('propertyNames')],
  [/^\S+ \{/, 'What is around the branch says the same of it.', isOfSchemaAround],
  [/^\d+ \{"\$ref":"[^"]*"\}$/, 'Where it is used, another part refers to the same.', isReferredBeside],
  [/^\d+ \{/, 'Another branch allows it.', (document, keys) => keys.at(-2) === 'anyOf' && (nodeAt(document, keys.slice(0, -1)) as Json[]).some((one, at) => String(at) !== keys.at(-1) && (isDeepStrictEqual(one, nodeAt(document, keys)) || (isDeepStrictEqual(nodeAt(document, keys), { type: 'integer' }) && isDeepStrictEqual(one, { type: 'number' }))))],
  [/^basePath "\/"$/, 'It is so without it.'],
  [/^\S+ \{(?:.*,)?"writeOnly":true/, 'What is only written is in no response.', (document, keys) => isOnlyIn(document, keys, '/responses')],
  [/^deprecated "|^m(?:ax|in)imum "/, 'A text is no boolean, and no number.'],
  [/^parameters \[/, 'What a document says of these headers is ignored.', (document, keys) => (nodeAt(document, keys) as unknown[]).every((_, at) => isIgnored(document, [...keys, String(at)]))],
  [/ [{[]/, 'Within another schema, it is of those who refer to it.', (_, keys) => keys.lastIndexOf('definitions') > 0 && keys.length - keys.lastIndexOf('definitions') <= 2],
  [/^patternProperties \{"[^"]*":\{"\$comment":"[^"]*"\}\}$/, 'All others may have anything, too.', (document, keys) => Object.keys(((nodeAt(document, keys.slice(0, -1)) as Json)['additionalProperties'] ?? {}) as Json).length === 0],
  [/^type /, 'Another part of `allOf` may say it: its reference is not followed here.', (document, keys) => keys.at(-3) === 'allOf' && (nodeAt(document, keys.slice(0, -2)) as Json[]).some(({ $ref }) => typeof $ref === 'string' && !$ref.startsWith('#'))],
  [/^additionalItems /, 'All items have one schema.', (document, keys) => !Array.isArray((nodeAt(document, keys.slice(0, -1)) as Json)['items'])],
  [/^pattern /, 'The values that are listed match it.', (document, keys) => { const { enum: values, pattern } = nodeAt(document, keys.slice(0, -1)) as { enum?: unknown[]; pattern: string }; return values?.every((value) => new RegExp(pattern, 'u').test(String(value))) ?? false; }],
  [/^\d+ "/, 'Only objects have members.', (document, keys) => keys.at(-2) === 'required' && isOfAnother(document, keys, 'required', 'object')],
  [/^\$ref /, 'Another part of the same list says the same.', (document, keys) => isSaidTwice(document, keys.slice(0, -1))],
  [/^parameters \[/, 'Every operation has its own, or the path has the same.', (document, keys) => keys.length < 5 && (nodeAt(document, keys) as unknown[]).every((_, at) => (keys.length === 3 ? isReplaced : isSaidTwice)(document, [...keys, String(at)]))],
]; // prettier-ignore

/** Whether a schema around it has a keyword that counts for another type than its own. */
function isOfAnother(document: Json, keys: string[], keyword: string, type: string): boolean {
  const typeAt = (at: number) => (nodeAt(document, keys.slice(0, at)) as Json)['type'];
  return keys.some((key, at) => key === keyword && typeof typeAt(at) === 'string' && typeAt(at) !== type);
}

/** Whether a reference leads to what the schema beside it says itself, or to both booleans. */
function isBeside(document: Json, keys: string[]): boolean {
  const { $ref, ...own } = nodeAt(document, keys.slice(0, -1)) as Json;
  const target = Object.entries(follow(document, { $ref }) as Json);
  const isBoth = (key: string, value: unknown) =>
    key === 'enum' && own['type'] === 'boolean' && (value as unknown[]).length === 2;
  return target.every(([key, value]) => JSON.stringify(own[key]) === JSON.stringify(value) || isBoth(key, value));
}

function isInBoth(document: Json, keys: string[]): boolean {
  const at = Math.max(keys.lastIndexOf('allOf'), keys.lastIndexOf('anyOf'));
  const { allOf, anyOf } = nodeAt(document, keys.slice(0, at)) as Json;
  return allOf !== undefined && JSON.stringify(allOf) === JSON.stringify(anyOf);
}

/** Whether a schema around a condition requires the same name. */
function isRequiredAround(document: Json, keys: string[]): boolean {
  const name = nodeAt(document, keys);
  return keys.some(
    (_, at) =>
      at <= keys.length - 3 &&
      ((nodeAt(document, keys.slice(0, at)) as Json)['required'] as unknown[] | undefined)?.includes(name),
  );
}

/** Whether a union around it has a branch that says nothing. */
function isBesideAnything(document: Json, keys: string[]): boolean {
  return keys.some((key, at) => {
    const branches = key === 'anyOf' ? (nodeAt(document, keys.slice(0, at + 1)) as unknown[]) : [];
    return branches.some((one) => one === true || JSON.stringify(one) === '{}');
  });
}

/** Whether each branch of a union has a type that stands beside it, or values of that. */
function isOfBranches(document: Json, { type, anyOf, oneOf }: Json): boolean {
  const isOf = (value: unknown) => [type].flat().includes(value);
  const isHeld = ({ type: own, const: value, enum: values, ...rest }: Json): boolean =>
    isOf(own) || isOf(typeof value) || (Array.isArray(values) && values.every((one) => isOf(typeof one))) || Array.isArray(rest['anyOf'] ?? rest['oneOf']) && isOfBranches(document, { type, ...rest });
  return ((anyOf ?? oneOf) as unknown[] | undefined)?.every((one) => isHeld(follow(document, one) as Json)) ?? false;
} // prettier-ignore

/** Whether the schema around a branch of a union, or a condition, says the same of this property. */
function isOfSchemaAround(document: Json, keys: string[]): boolean {
  const [union, branch, holder, name] = keys.slice(-4) as [string, string, string, string];
  const length = branch === 'then' || branch === 'else' ? -3 : -4;
  if ((length === -4 && !/^(?:any|one)Of$/.test(union)) || holder !== 'properties') return false;
  return isDeepStrictEqual(nodeAt(document, keys), nodeAt(document, [...keys.slice(0, length), 'properties', name]));
}

/** Whether a schema has a type, and not null. */
function isRefused({ type }: Json): boolean {
  return type !== undefined && type !== 'null' && !(Array.isArray(type) && type.includes('null'));
}

/** Whether every schema that has it by `allOf` has an example of its own, or of another part before it. */
function isSecond(document: Json, keys: string[]): boolean {
  const at = keys[0] === 'components' ? 3 : 2;
  const reference = `#/${keys.slice(0, at).join('/')}`;
  const owners = membersOf(document).flatMap(([, value]) => {
    const { allOf, ...own } = (value ?? {}) as Json;
    const place = Array.isArray(allOf) ? allOf.findIndex((one: Json) => one['$ref'] === reference) : -1;
    return place < 0 ? [] : [[own, ...(allOf as Json[]).slice(0, place).map((one) => follow(document, one) as Json)]];
  });
  return owners.length > 0 && owners.every((before) => before.some((one) => 'example' in one));
}

/** Whether a limit is that of its format, or one of what is no number. */
function isLimitMoot(document: Json, keys: string[]): boolean {
  const { type, format } = nodeAt(document, keys.slice(0, -1)) as Json;
  const isOfFormat = format === 'int32' && Math.abs(Number(nodeAt(document, keys))) >= 2 ** 31 - 1;
  return isOfFormat || (typeof type === 'string' && type !== 'number' && type !== 'integer');
}

/** Whether more members are required than the least number, or as many. */
function hasAsMany(document: Json, keys: string[]): boolean {
  const { required = [], minProperties } = nodeAt(document, keys.slice(0, -1)) as { required?: string[]; minProperties: number };
  return required.length >= minProperties && (keys.at(-1) !== 'minProperties' || required.length > minProperties || minProperties === 1);
} // prettier-ignore

/** Whether another way of writing the same media type has the same content. */
function isSaidTwiceIn(content: Json, type: string): boolean {
  const plain = (one: string) => one.toLowerCase().replace(/; *charset=utf-8$/, '');
  return Object.keys(content).some((one) => one !== type && plain(one) === plain(type) && JSON.stringify(content[one]) === JSON.stringify(content[type]));
} // prettier-ignore

/** Whether every schema that has its component by `allOf` lists the values of this place. */
function isListedAround(document: Json, keys: string[]): boolean {
  const component = `#/${keys.slice(0, keys[0] === 'components' ? 3 : 2).join('/')}`;
  const isIt = (part: unknown) => (part as Json | null)?.['$ref'] === component;
  const owners = membersOf(document).flatMap(([, parts]) => (Array.isArray(parts) && parts.some(isIt) ? [parts] : []));
  const place = keys.slice(keys[0] === 'components' ? 3 : 2, -1);
  return owners.length > 0 && owners.every((parts) => parts.some((part) => 'enum' in ((nodeAt(part as Json, place) ?? {}) as Json)));
} // prettier-ignore

/** Whether everything that refers to its component says the same beside that. */
function isSaidByAll(document: Json, keys: string[]): boolean {
  const reference = `#/${keys.slice(0, -1).join('/')}`;
  const users = membersOf(document).flatMap(([, value]) => ((value as Json | null)?.['$ref'] === reference ? [value as Json] : []));
  return users.length > 0 && users.every((one) => one[keys.at(-1)!] === nodeAt(document, keys));
} // prettier-ignore

/** Whether only requests, or only responses, have the component that it belongs to. */
function isOnlyIn(document: Json, keys: string[], place: '/requestBody' | '/responses', depth = 6): boolean {
  const name = `"#/${keys.slice(0, keys[0] === 'components' ? 3 : 2).join('/')}"`;
  const has = (one: Json) => JSON.stringify(one).includes(name);
  const ends = (place === '/responses' ? ['/requestBody', '/parameters'] : ['/responses']);
  const elsewhere = membersOf(document).flatMap(([pointer, value]) => (ends.some((end) => pointer.endsWith(end)) ? [value as Json] : []));
  const others = membersOf(document).filter(([pointer, value]) => /^\/(?:definitions|components\/schemas)\/[^/]+$/.test(pointer) && has(value as Json));
  return depth > 0 && !elsewhere.some(has) && others.every(([pointer]) => isOnlyIn(document, keysOf(pointer), place, depth - 1));
} // prettier-ignore

/** Whether it belongs to a parameter in a path. */
function isInPath(document: Json, keys: string[]): boolean {
  const at = keys.lastIndexOf('parameters');
  return at >= 0 && (follow(document, nodeAt(document, keys.slice(0, at + 2))) as Json)['in'] === 'path';
}

/** Whether another part of its `allOf`, or a parameter of the whole path, is the same but for its description. */
function isSaidTwice(document: Json, keys: string[]): boolean {
  const textOf = (one: unknown) => JSON.stringify(follow(document, one), (key, value: unknown) => (key === 'description' ? undefined : value));
  const parts = keys.at(-2) === 'allOf' ? (nodeAt(document, keys.slice(0, -1)) as unknown[]).toSpliced(Number(keys.at(-1)), 1) : [];
  const ofPath = keys.length === 5 && keys[3] === 'parameters' ? ((nodeAt(document, keys.slice(0, 2)) as Json)['parameters'] as unknown[] | undefined) : [];
  return [...parts, ...(ofPath ?? [])].some((one) => textOf(one) === textOf(nodeAt(document, keys)));
} // prettier-ignore

/** Whether every schema that has it by `allOf` says it itself, or all that have that. */
function isSaidAround(document: Json, keys: string[], depth = 5): boolean {
  const name = keys.at(-1)!;
  const at = keys.findIndex((key) => ['allOf', 'oneOf', 'anyOf'].includes(key));
  if (at >= 0) return name in (nodeAt(document, keys.slice(0, at)) as Json);
  const reference = `#/${keys.slice(0, -1).join('/')}`;
  const refers = (value: unknown) => Array.isArray(value) && value.some((one: Json) => one['$ref'] === reference);
  const owners = membersOf(document).filter(([, value]) => ['allOf', 'oneOf', 'anyOf'].some((key) => refers((value as Json | null)?.[key])));
  return owners.length > 0 && owners.every(([pointer, owner]) => name in (owner as Json) || (depth > 0 && isSaidAround(document, [...keysOf(pointer), name], depth - 1)));
} // prettier-ignore

/** Whether another part of the `allOf` around it, of its own, or of all that refer to it, says the same there. */
function isSaidBeside(document: Json, keys: string[], value = nodeAt(document, keys)): boolean {
  const saysAt = (parts: readonly unknown[], path: readonly string[], depth = 9): boolean =>
    parts.some((part) => {
      const one = follow(document, part) as Json;
      const isHere = isSaidIn(document, nodeAt(one, path.slice(0, -1)) as Json, keys.at(-1)!, value);
      return isHere || (depth > 0 && saysAt((one['allOf'] ?? []) as unknown[], path, depth - 1));
    });
  const { allOf, $ref } = nodeAt(document, keys.slice(0, -1)) as Json;
  if (isSaidIn(document, { allOf, $ref }, keys.at(-1)!, value)) return true;
  const around = keys.flatMap((key, at) => (key === 'allOf' ? [at] : []));
  const isSaidAt = (at: number) => {
    const { allOf: parts, ...own } = nodeAt(document, keys.slice(0, at)) as { allOf: unknown[] };
    const path = keys.slice(at + 2).filter((key, index, rest) => key !== 'allOf' && rest[index - 1] !== 'allOf');
    return saysAt([own, ...parts.toSpliced(Number(keys[at + 1]), 1)], path);
  };
  if (around.length > 0) return around.some(isSaidAt);
  const component = keys.slice(0, keys[0] === 'components' ? 3 : 2);
  const isIt = (part: unknown) => (part as Json | null)?.['$ref'] === `#/${component.join('/')}`;
  const owners = membersOf(document).flatMap(([pointer, parts]) => (pointer.endsWith('/allOf') && Array.isArray(parts) && parts.some(isIt) ? [parts] : []));
  return owners.length > 0 && owners.every((parts) => saysAt(parts.filter((part) => !isIt(part)), keys.slice(component.length)));
} // prettier-ignore

/** Whether all that refer to its component stand beside another part that refers to the same as it. */
function isReferredBeside(document: Json, keys: string[]): boolean {
  const { $ref } = nodeAt(document, keys) as Json;
  const users = membersOf(document).filter(([, value]) => value === `#/${keys.slice(0, 3).join('/')}`);
  return users.length > 0 && users.every(([pointer]) => isSaidBeside(document, keysOf(pointer), $ref));
}

/** Whether the root of this schema, or a property, would have the same name without it. */
function isNameOfRoot(document: Json, keys: string[]): boolean {
  const at = keys.lastIndexOf('xml');
  const { name } = (at < 0 ? {} : nodeAt(document, keys.slice(0, at + 1))) as Json;
  return name !== undefined && keys[at - 1] === name && (at <= 3 || keys[at - 2] === 'properties');
}

/** Whether a schema, or a part of its `allOf`, however deep, says this. Of what is required: the same and more. */
function isSaidIn(document: Json, schema: Json | undefined, key: string, value: unknown, depth = 0): boolean {
  if (depth > 20) return false;
  const own = schema?.[key];
  if (own !== undefined && JSON.stringify(own) === JSON.stringify(value)) return true;
  if (key === 'required' && Array.isArray(own) && Array.isArray(value) && value.every((one) => own.includes(one))) return true;
  const { allOf, $ref } = schema ?? {};
  const parts = [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), ...($ref === undefined ? [] : [{ $ref }])];
  return parts.some((one) => isSaidIn(document, follow(document, one) as Json, key, value, depth + 1));
} // prettier-ignore

/** Words that a specification lists, where any other one makes a document that is not published. */
const words: Readonly<Record<string, readonly string[]>> = {
  type: ['string', 'integer', 'number', 'boolean', 'array', 'object'],
  in: ['query', 'header', 'cookie'],
  style: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  collectionFormat: ['csv', 'ssv', 'pipes', 'multi'],
};

/** Whether it belongs to a header that other parts of a document describe. */
function isIgnored(document: Json, keys: string[]): boolean {
  const at = keys.lastIndexOf('parameters');
  const { in: where, name } = follow(document, nodeAt(document, keys.slice(0, at + 2))) as Json;
  return where === 'header' && /^(?:accept|content-type|authorization)$/i.test(String(name));
}

/** Whether only such headers have its component, or what is of another type than a list. */
function isOfIgnored(document: Json, keys: string[]): boolean {
  const reference = `#/${keys.slice(0, 3).join('/')}`;
  const users = membersOf(document).filter(([, value]) => value === reference).map(([pointer]) => keysOf(pointer));
  const isMoot = (user: string[]) => isOfAnother(document, user, 'items', 'array') || (user.includes('parameters') && isIgnored(document, user));
  return users.length > 0 && users.every(isMoot);
} // prettier-ignore

function isOneWay(document: Json, keys: string[]): boolean {
  return keys.some((_, at) => {
    const { readOnly, writeOnly } = (nodeAt(document, keys.slice(0, at)) ?? {}) as Json;
    return readOnly === true || writeOnly === true;
  });
}

function isBesideReference(document: Json, keys: string[]): boolean {
  const at = keys.findIndex((_, index) => typeof (nodeAt(document, keys.slice(0, index)) as Json)?.['$ref'] === 'string');
  if (at < 0 || keys.at(-1) === '$ref') return false;
  const isModern = /^3\.[12]/.test(String(document['openapi']));
  const isInSchema = keys.slice(0, at).some((key) => ['schema', 'schemas', 'properties'].includes(key));
  return !isModern || (!isInSchema && !['description', 'summary'].includes(keys[at]!));
} // prettier-ignore

function operationsOf(item: Json): Json[] {
  const methods = /^(?:get|put|post|delete|options|head|patch|trace|query|additionalOperations)$/;
  return Object.entries(item ?? {}).flatMap(([key, one]) => (methods.test(key) ? [one as Json] : []));
}

function isReplaced(document: Json, keys: string[]): boolean {
  const item = nodeAt(document, keys.slice(0, 2)) as Json;
  const nameOf = (one: unknown) => { const { in: where, name } = follow(document, one) as Json; return `${where} ${name}`; };
  const own = nameOf(nodeAt(document, keys.slice(0, 4)));
  return operationsOf(item).every((operation) => (operation['parameters'] as unknown[] | undefined)?.some((one) => nameOf(one) === own));
} // prettier-ignore

function follow(document: Json, node: unknown): unknown {
  const { $ref } = (node ?? {}) as Json;
  if ($ref === '#') return document;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return node ?? {};
  return follow(document, nodeAt(document, keysOf(decodeURIComponent($ref.slice(1)))));
}

function nodeAt(document: Json, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((node, key) => (node as Json | undefined)?.[key], document);
}

function keysOf(pointer: string): string[] {
  return pointer.slice(1).split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')); // prettier-ignore
}

for (const path of (await filesIn(folder))
  .filter((one) => one.includes(only))
  .sort()
  .filter((_, at) => at % shares === share - 1)) {
  const document = await documentAt(path);
  if (document === null) continue;
  count('documents');
  for (const [name, rewrite] of Object.entries(isSchema(document) ? {} : rewrites)) {
    const other = rewrite(document);
    if (other === null) continue;
    count(name);
    for (const [before, after, way] of [
      [document, other, name],
      [other, document, `${name}, back`],
    ] as const) {
      const { verdict, changes, reason } = compare(before, after);
      if (verdict === 'none' || verdict === 'docs' || verdict === 'safe') continue;
      // The root of XML may be called as the component is, which another way of writing moves.
      const isTold = (change: Comparison['changes'][number]) => change.verdict === 'unknown' && change.code.endsWith('-xml-root-changed'); // prettier-ignore
      if (verdict === 'unknown' && changes.every((change) => isTold(change) || /^(?:safe|docs)$/.test(change.verdict))) continue; // prettier-ignore
      // Of what no operation uses, all but schemas is compared as it is written.
      const isText = ({ code, message }: Comparison['changes'][number]) => code === 'component-changed' && message.includes('no operation uses it'); // prettier-ignore
      if (verdict === 'risky' && changes.every((change) => isText(change) || /^(?:safe|docs)$/.test(change.verdict))) continue; // prettier-ignore
      report(`${path}: ${way}: ${verdict} ${reason ?? ''}`, changes);
    }
  }
  changeLeaves(path, document);
}
console.log(Object.fromEntries(counts), `${wrong} wrong`);
process.exitCode = wrong > 0 ? 1 : 0;

function report(says: string, changes: Comparison['changes']): void {
  wrong++;
  console.log(says);
  for (const { verdict, code, message, pointers } of changes.slice(0, 3))
    if (verdict !== 'safe' && verdict !== 'docs') console.log(`    ${verdict} ${code}: ${message} ${pointers.before}`);
}

function changeLeaves(path: string, document: Json): void {
  // Without paths, nothing is served.
  if (!isSchema(document) && Object.keys(document['paths'] ?? {}).length === 0) return;
  const isSilent = (pointer: string) =>
    silent.some(([pattern, , isIt]) => pattern.test(pointer) && holds(isIt, document, keysOf(pointer)));
  const members = membersOf(document).filter(([pointer]) => !isSilent(pointer));
  const leaves = members.filter(([, value]) => typeof value !== 'object' || value === null);
  for (let at = 0; at < Math.min(most, leaves.length); at++) {
    const [pointer, value] = leaves[Math.floor(random() * leaves.length)]!;
    const other = replaced(document, pointer, anotherValue(keysOf(pointer).at(-1)!, value));
    const { verdict } = compare(document, other);
    count(`leaf ${verdict}`);
    if (verdict === 'none') report(`${path}: ${pointer} (${JSON.stringify(value)}) says nothing`, []);
  }
  const removable = members.filter(([pointer, value]) => !isUsual(document, keysOf(pointer), value));
  for (let at = 0; at < Math.min(most, removable.length); at++) {
    const [pointer, value] = removable[Math.floor(random() * removable.length)]!;
    const other = replaced(document, pointer, undefined);
    for (const [before, after, way] of [[document, other, 'removed'], [other, document, 'added']] as const) {
      const { verdict } = compare(before, after);
      count(`${way} ${verdict}`);
      if (verdict === 'none') report(`${path}: ${pointer} (${JSON.stringify(value)?.slice(0, 100)}), ${way}, says nothing`, []);
    }
  } // prettier-ignore
}

/** Another number, also where a double has no room for one more. */
function larger(value: number): number {
  return value + 1 === value ? value * 2 : value + 1;
}

function anotherValue(key: string, value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return larger(value);
  const listed = words[key] ?? [];
  const at = listed.indexOf(String(value));
  return at < 0 ? `${String(value)}x` : listed[(at + 1) % listed.length];
}

function isUsual(document: Json, keys: string[], value: unknown): boolean {
  const member = `${keys.at(-1)} ${JSON.stringify(value)}`;
  return usual.some(([pattern, , isIt]) => pattern.test(member) && holds(isIt, document, keys));
}

/** Whether a row holds. It may be about a property that is called as a keyword, and no schema at all. */
function holds(isIt: ((document: Json, keys: string[]) => boolean) | undefined, document: Json, keys: string[]): boolean {
  try {
    return isIt?.(document, keys) ?? true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
} // prettier-ignore

/** All members of a document, with their pointers. Rows ask for each leaf. */
function membersOf(document: Json): [string, unknown][] {
  return known.getOrInsertComputed(document, () => membersBelow(document, ''));
}

function membersBelow(value: unknown, pointer: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return [[at, member], ...membersBelow(member, at)];
  });
}

/** `value`: undefined removes it. */
function replaced(document: Json, pointer: string, value: unknown): Json {
  const keys = keysOf(pointer);
  const key = keys.at(-1)!;
  const other = JSON.parse(JSON.stringify(document)) as Json;
  const parent = nodeAt(other, keys.slice(0, -1)) as Json;
  if (value !== undefined) parent[key] = value;
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return other;
}

function isSchema(document: Json): boolean {
  return document['openapi'] === undefined && document['swagger'] === undefined;
}

function compare(before: Json, after: Json): Comparison {
  const published = (value: Json) => ({
    type: isSchema(value) ? ('schemas' as const) : ('apis' as const),
    kind: isSchema(value) ? ('json-schema' as const) : ('openapi' as const),
    json: Buffer.from(JSON.stringify(value)),
  });
  return compareDocuments(published(before), published(after));
}

async function filesIn(root: string): Promise<string[]> {
  const all = await readdir(root, { recursive: true, withFileTypes: true });
  return all.filter((file) => file.isFile() && /\.(?:ya?ml|json)$/i.test(file.name)).map((file) => join(file.parentPath, file.name)); // prettier-ignore
}

/** A document as it would be published. Null: it is rejected, or too large. */
async function documentAt(path: string): Promise<Json | null> {
  const bytes = await readFile(path);
  if (
    bytes.length > largest ||
    /package(?:-lock)?\.json$/.test(path) ||
    !/openapi|swagger|\$schema/.test(bytes.toString('utf8', 0, 100_000))
  )
    return null;
  const entry = relative(folder, path);
  const load = async (paths: string[]) =>
    await Promise.all(
      paths.map(async (one) => {
        const found = await readFile(join(folder, one)).catch(() => null);
        return found === null
          ? { path: one, problem: problemAtFile('file-missing', one, 'There is no such file.') }
          : { path: one, bytes: found };
      }),
    );
  const compiled = async (type: 'apis' | 'schemas') =>
    (await runCompile({ type, entry, validation: 'lenient', ruleset: null, limits }, load)).artifact;
  const artifact = (await compiled('apis')) ?? (await compiled('schemas'));
  const json = artifact?.representations.find(({ format, coding }) => format === 'json' && coding === 'identity');
  return json && /openapi|json-schema/.test(artifact!.kind)
    ? (JSON.parse(Buffer.from(json.bytes).toString()) as Json)
    : null;
}

function count(key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Numbers from 0 to 1, the same for the same seed. */
function random(): number {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
}
