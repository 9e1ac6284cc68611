// Pairs of APIs that differ in what is no schema, with what a client or server of the old one could do that fails now.
import fc from 'fast-check';
import { api, type Json } from './given.ts';

/** `lost`: what worked and fails now. Null: nothing. Undefined: that is not defined. */
export interface ApiPair {
  before: Json;
  after: Json;
  lost: unknown;
}

const subset = <One>(all: readonly One[], minLength = 0) => fc.subarray([...all], { minLength });
/** One thing, and what it became: often the same. */
const changed = <One>(one: fc.Arbitrary<One>) =>
  fc.tuple(one, fc.option(one)).map(([old, current]) => [old, current ?? old] as const);
/** A map, and one with another entry and without one of its own. */
const changedMap = (keys: readonly string[], value: fc.Arbitrary<unknown>) => {
  const map = fc.dictionary(fc.constantFrom(...keys), value, { minKeys: 1, maxKeys: 4 });
  const edited = fc.tuple(map, fc.constantFrom(...keys), fc.option(value), fc.nat(4)).map(([old, key, one, at]) => {
    const left = Object.entries({ ...old, ...(one !== null && { [key]: one }) }).filter(([name], index) => name === key || index !== at); // prettier-ignore
    return [old, Object.fromEntries(left)] as const;
  });
  return fc
    .oneof(edited, fc.tuple(map, map).map((both) => both as readonly [Json, Json]))
    .filter(([, current]) => Object.keys(current).length > 0); // prettier-ignore
};

const schemes: Json[] = [
  { type: 'apiKey', in: 'header', name: 'X' },
  { type: 'apiKey', in: 'header', name: 'x' },
  { type: 'apiKey', in: 'query', name: 'X' },
  { type: 'http', scheme: 'basic' },
  { type: 'http', scheme: 'Bearer' },
  { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://a.example', scopes: { r: '', w: '' } } } },
  { type: 'openIdConnect', openIdConnectUrl: 'https://a.example' },
  { type: 'mutualTLS' },
];
const schemeNames = ['a', 'b', 'constructor'];

interface Sent {
  id: string;
  scopes: string[];
}

/** Who may call: what a client of one alternative sends must be enough for one of the new ones. */
const security: fc.Arbitrary<ApiPair> = fc
  .record({
    defined: changed(fc.tuple(...schemeNames.map(() => fc.constantFrom(...schemes)))),
    needs: changed(fc.array(fc.dictionary(fc.constantFrom(...schemeNames), subset(['r', 'w']), { maxKeys: 3 }), { maxLength: 3 })), // prettier-ignore
  })
  .map(({ defined, needs }) => {
    const [old, current] = [0, 1].map((at) => {
      const all = Object.fromEntries(schemeNames.map((name, index) => [name, defined[at]![index]!]));
      const sent = (name: string) => {
        const { type, in: where, name: key, scheme } = all[name]!;
        if (type === 'http') return `http ${String(scheme).toLowerCase()}`;
        return type === 'apiKey' ? `${where} ${where === 'header' ? String(key).toLowerCase() : key}` : `${type} ${name}`; // prettier-ignore
      };
      const alternatives = needs[at]!.map((one) =>
        Object.entries(one).map(([name, scopes]) => ({ id: sent(name), scopes })),
      );
      const document = api({ security: needs[at] }, { components: { securitySchemes: all } });
      return { document, alternatives: alternatives.length === 0 ? [[]] : alternatives };
    });
    const isEnough = (has: readonly Sent[], needed: readonly Sent[]) =>
      needed.every(({ id, scopes }) => {
        const same = has.filter((one) => one.id === id);
        return same.length > 0 && scopes.every((scope) => same.some((one) => one.scopes.includes(scope)));
      });
    const lost = old!.alternatives.find((one) => !current!.alternatives.some((other) => isEnough(one, other)));
    return { before: old!.document, after: current!.document, lost: lost ?? null };
  });

const described = subset(['b', 'c']).map((more) => ({ schema: { enum: ['a', ...more] } }));
type Described = { schema: { enum: string[] } };
const mediaTypes = ['application/json', 'application/json;v=1', 'text/plain', 'text/plain;charset=latin1', 'image/png', 'text/csv']; // prettier-ignore
/** One more within each range. */
const asked = [...mediaTypes, 'application/xml', 'text/html', 'image/gif', 'audio/ogg'];

function entryFor(type: string, content: Json): Described | undefined {
  const [essence, ...parameters] = type.split(';');
  const isCharset = parameters.some((one) => one.startsWith('charset='));
  const keys = [type, ...(isCharset ? [] : [essence!]), `${essence!.split('/')[0]}/*`, '*/*'];
  return content[keys.find((key) => Object.hasOwn(content, key)) ?? ''] as Described | undefined;
}

/** What one document allows and the other one does not, of what both describe, or all that the first one does. */
function beyond(sender: Described | undefined, receiver: Described | undefined, isAll: boolean): unknown[] {
  if (sender === undefined || (receiver === undefined && !isAll)) return [];
  return sender.schema.enum.filter((value) => !receiver?.schema.enum.includes(value));
}

const ranges = ['*/*', 'application/*', 'text/*', 'image/*'];
const contentsOf = (types: readonly string[]) => changedMap([...types, ...ranges], described);

/** Media types of a request: what is sent must be taken. */
const requests: fc.Arbitrary<ApiPair> = contentsOf(mediaTypes).map(([old, current]) => {
  const lost = asked.find((type) => beyond(entryFor(type, old), entryFor(type, current), true).length > 0);
  const document = (content: Json) => api({ requestBody: { content } });
  return { before: document(old), after: document(current), lost: lost ?? null };
});

/** Media types of a response: one that was named must be there, and be understood. One without parameters is a range. */
const responses: fc.Arbitrary<ApiPair> = contentsOf(mediaTypes.filter((type) => !type.includes(';'))).map(
  ([old, current]) => {
    const lost = asked.find((type) => {
      const [was, is] = [entryFor(type, old), entryFor(type, current)];
      return (Object.hasOwn(old, type) && is === undefined) || beyond(is, was, false).length > 0;
    });
    // What becomes of types that only a range names is a matter of opinion.
    const isClear =
      ranges.every((range) => Object.hasOwn(old, range) || !Object.hasOwn(current, range)) &&
      asked.every((type) => (entryFor(type, old) === undefined) === (entryFor(type, current) === undefined));
    const document = (content: Json) => api({ responses: { 200: { description: 'd', content } } });
    return { before: document(old), after: document(current), lost: lost ?? (isClear ? null : undefined) };
  },
);

const statusKeys = ['200', '201', '204', '302', '404', '500', '2XX', '4XX', '5XX', 'default'];

/** Statuses: what comes with one must be what was said of it. */
const statuses: fc.Arbitrary<ApiPair> = changedMap(statusKeys, described).map(([old, current]) => {
  const entryOf = (status: string, all: Json) => {
    const isOther = !/^[23]/.test(status) || !Object.keys(all).some((key) => /^[23]/.test(key));
    return (all[status] ?? all[`${status[0]}XX`] ?? (isOther ? all['default'] : undefined)) as Described | undefined;
  };
  const lost = ['200', '201', '204', '302', '404', '409', '500'].find(
    (status) => beyond(entryOf(status, current), entryOf(status, old), false).length > 0,
  );
  // Without a status of success, clients that wait for it fail, whatever comes instead.
  const isClear = Object.keys(old).every((key) => !/^[23d]/.test(key) || Object.hasOwn(current, key));
  const document = (all: Json) =>
    api({
      responses: Object.fromEntries(
        Object.entries(all).map(([status, one]) => [status, { description: 'd', content: { 'application/json': one } }]),
      ),
    });
  return { before: document(old), after: document(current), lost: lost ?? (isClear ? null : undefined) };
}); // prettier-ignore

const urls = ['https://a.example', 'https://{env}.example', 'https://a.example/v{n}', '/v1', 'https://A.example/', 'https://a.example:443', 'https://{env}.example/v{n}']; // prettier-ignore
const server = fc
  .record({ url: fc.constantFrom(...urls), env: subset(['a', 'b', 'eu'], 1), n: subset(['1', '2', '3'], 1) })
  .map(({ url, ...all }) => {
    const used = Object.entries(all).filter(([name]) => url.includes(`{${name}}`));
    return { url, variables: Object.fromEntries(used.map(([name, values]) => [name, { default: values[0], enum: values }])) }; // prettier-ignore
  });

/** Servers: each address must still be one. */
const servers: fc.Arbitrary<ApiPair> = changed(fc.array(server, { minLength: 1, maxLength: 2 })).map(
  ([old, current]) => {
    const addresses = (all: typeof old) =>
      all.flatMap(({ url, variables }) =>
        Object.entries(variables)
          .reduce((some, [name, one]) => some.flatMap((text) => one.enum.map((value) => text.replace(`{${name}}`, value))), [url])
          .map((text) => text.toLowerCase().replace(/\/$/, '').replace(':443', '')),
      ); // prettier-ignore
    const now = new Set(addresses(current));
    const lost = addresses(old).find((one) => !now.has(one));
    return { before: api({}, { servers: old }), after: api({}, { servers: current }), lost: lost ?? null };
  },
);

const styles: Readonly<Record<string, string[]>> = {
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  path: ['simple', 'label', 'matrix'],
  header: ['simple'],
  cookie: ['form'],
};
const string = { type: 'string' };
type Written = string | string[] | Record<string, string>;
const valuesOf: readonly (readonly [Json, Written[]])[] = [
  [string, ['x']],
  [{ type: 'array', items: string }, [['x', 'y'], ['x']]],
  [{ type: 'object', properties: { a: string, b: string } }, [{ a: 'x', b: 'y' }]],
  [{ type: ['string', 'array'], items: string }, ['x', ['x', 'y'], ['x']]],
]; // prettier-ignore

/** How a value is written (OpenAPI 3.1, style values). Null: that is not defined. */
function serialize(value: Written, style: string, explode: boolean): string | null {
  const isScalar = typeof value === 'string';
  const isList = Array.isArray(value);
  const entries = isList ? value.map((one) => ['q', one]) : Object.entries(isScalar ? {} : value);
  const plain = isScalar ? value : isList ? value.join() : entries.flat().join();
  const pairs = entries.map(([name, one]) => `${name}=${one}`);
  const named = isScalar || !explode ? `q=${plain}` : null;
  const exploded = isList && explode ? value : explode ? pairs : null;
  if (style === 'form') return named ?? pairs.join('&');
  if (style === 'matrix') return `;${named ?? pairs.join(';')}`;
  if (style === 'simple') return isScalar ? plain : (exploded?.join() ?? plain);
  if (style === 'label') return `.${isScalar ? plain : (exploded?.join('.') ?? plain)}`;
  if (style === 'deepObject')
    return isScalar || isList ? null : entries.map(([name, one]) => `q[${name}]=${one}`).join('&');
  return isList && !explode ? `q=${value.join(style === 'spaceDelimited' ? '%20' : '|')}` : null;
}

/** Styles: what is written for a value must be read as before. */
const parameters: fc.Arbitrary<ApiPair> = fc
  .constantFrom(...Object.keys(styles))
  .chain((where) => {
    const told = fc.record({ style: fc.constantFrom(...styles[where]!), explode: fc.boolean() }, { requiredKeys: [] });
    return fc.record({ where: fc.constant(where), of: fc.constantFrom(...valuesOf), told: fc.tuple(told, told) });
  })
  .map(({ where, of: [schema, values], told }) => {
    const path = where === 'path' ? '/things/{q}' : '/things';
    const document = (said: Json) => {
      const parameter = { in: where, name: 'q', required: where === 'path', schema, ...said };
      return api({}, { paths: { [path]: { get: { parameters: [parameter], responses: { 200: { description: 'd' } } } } } }); // prettier-ignore
    };
    const write = (value: Written, said: { style?: string; explode?: boolean }) => {
      const style = said.style ?? styles[where]![0]!;
      return serialize(value, style, said.explode ?? style === 'form');
    };
    const texts = values.map((value) => told.map((one) => write(value, one)));
    const lost = texts.find(([was, is]) => was !== null && is !== null && was !== is);
    const nothing = texts.flat().includes(null) ? undefined : null;
    return { before: document(told[0]), after: document(told[1]), lost: lost ?? nothing };
  });

export const apiPairs = { security, requests, responses, statuses, servers, parameters };
