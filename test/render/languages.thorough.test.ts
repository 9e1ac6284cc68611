import { readFileSync } from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { curlOf, sampleRequest, type SampleRequest } from '../../src/render/openapi/sample-request.ts';
import { viewOperation } from '../../src/render/openapi/operation-view.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';
import { payloads } from './payloads.ts';

interface Parsed {
  method: string;
  url: string;
  headers: SampleRequest['headers'];
  body: { kind: 'json'; text: string } | { kind: 'form'; fields: [string, string][] } | null;
}

/** What the page's script does, in this process. */
const { languages, parseCurl } = (await import(
  new URL('../../templates/assets/languages.js', import.meta.url).href
)) as { languages: Record<string, (request: Parsed) => string>; parseCurl(text: string): Parsed };

/** What a document can say in a sample: `curlOf` writes no control characters but line breaks. */
const texts = [
  ...payloads,
  `x'"\`$\{1}#{1}$x\\`,
  '@/etc/passwd',
  '\u202e\u2028\u{e0001}😀',
  '"""',
  '\\u0022',
  '<<EOF\nEOF',
].map(
  // HTML holds no lone surrogates, so a page's script never gets one.
  (text) => text.toWellFormed(),
);
const clean = (text: string) => text.replace(/(?!\n)\p{Cc}/gu, '').toWellFormed();
const line = (text: string) => clean(text.replace(/\s+/g, ' ').slice(0, 500));

const requests: SampleRequest[] = texts.flatMap((text): SampleRequest[] => {
  const url = `https://example.com/${text}`;
  const headers = [
    { name: 'X-Text', value: text, secret: null },
    { name: 'Authorization', value: 'Bearer ', secret: 'TOKEN' },
  ];
  return [
    {
      method: 'POST',
      url,
      headers,
      body: { kind: 'json', type: 'application/json', value: { [text]: [text, true, null, 1.5], __proto__x: text } },
    },
    { method: 'PUT', url, headers, body: { kind: 'form', fields: [['name', text]] } },
    { method: 'GET', url, headers: [], body: null },
  ];
});

const seen = (request: SampleRequest) => ({
  method: request.method,
  url: clean(request.url),
  headers: request.headers.map(({ name, value, secret }) => [name, line(value) + (secret === null ? '' : 'secret')]),
  json: request.body?.kind === 'json' ? (JSON.parse(clean(JSON.stringify(request.body.value))) as unknown) : null,
  form: request.body?.kind === 'form' ? request.body.fields.map(([name, value]) => [name, clean(value)]) : null,
});

test('a curl command is read back as the request that it was written from, and written again as it was', () => {
  for (const request of requests) {
    const text = curlOf(request);
    const parsed = parseCurl(text);
    const { method, url, headers, json, form } = seen(request);
    expect(parsed.method).toBe(method);
    expect(parsed.url).toBe(url);
    expect(parsed.headers.map(({ name, value, secret }) => [name, value + (secret === null ? '' : 'secret')])).toEqual(
      headers,
    );
    expect(parsed.body?.kind === 'json' ? JSON.parse(parsed.body.text) : null).toEqual(json);
    expect(parsed.body?.kind === 'form' ? parsed.body.fields : null).toEqual(form);
    expect(languages['curl']!(parsed)).toBe(text);
  }
});

test('every language that the page offers is written', () => {
  const script = readFileSync(new URL('../../templates/assets/reference.js', import.meta.url), 'utf8');
  const [, offered = ''] = /^const languages = \{\n(.*?)^\};/ms.exec(script)!;
  expect([...offered.matchAll(/^  (\w+):/gm)].map(([, name]) => name)).toEqual(Object.keys(languages));
});

test('JavaScript sends what the document says, as text', async () => {
  for (const request of requests) {
    const code = languages['javascript']!(parseCurl(curlOf(request)));
    const calls: [string, { method?: string; headers?: Record<string, string>; body?: unknown }?][] = [];
    const fetch = (...call: (typeof calls)[number]) => {
      calls.push(call);
      return { text: () => '' };
    };
    const run = new Function('fetch', 'TOKEN', 'console', `return (async () => { ${code} })()`) as (
      ...names: unknown[]
    ) => Promise<void>;
    await run(fetch, 'secret', { log: () => undefined });
    const [url, { method = 'GET', headers = {}, body = null } = {}] = calls[0]!;
    expect({
      method,
      url,
      headers: Object.entries(headers),
      json: typeof body === 'string' ? (JSON.parse(body) as unknown) : null,
      form: body instanceof URLSearchParams ? [...body] : null,
    }).toEqual(seen(request));
  }
});

/** Stands in for the package that samples use, and prints what it is told to send. */
const stub = `
import sys, types, json as encoder
TOKEN = 'secret'
requests = types.ModuleType('requests')
class Answer:
    status_code = 200
    text = ''
def request(method, url, headers={}, json=None, data=None):
    sent = dict(method=method, url=url, headers=list(headers.items()), json=json, form=data)
    sys.stdout.write(encoder.dumps(sent) + '\\n')
    return Answer()
requests.request = request
sys.modules['requests'] = requests
def print(*_): pass
`;

const hasPython = spawnSync('python3', ['-c', '']).status === 0;

describe.skipIf(!hasPython)(`Python${hasPython ? '' : ' (skipped: there is no python3)'}`, () => {
  test('sends what the document says, as text', () => {
    const codes = requests.map((request) => languages['python']!(parseCurl(curlOf(request))));
    const output = execFileSync('python3', ['-'], {
      input: `${stub}\n${codes.join('\n')}\n`,
      encoding: 'utf8',
      env: { ...process.env, PYTHONUTF8: '1' },
      maxBuffer: 64 * 1024 * 1024,
    });
    const sent = output
      .trimEnd()
      .split('\n')
      .map((row) => JSON.parse(row) as unknown);
    expect(sent).toEqual(requests.map(seen));
  });
});

const bodies: Record<string, (text: string) => SampleRequest['body']> = {
  json: (text) => ({ kind: 'json', type: 'application/json', value: { name: text } }),
  text: (text) => ({ kind: 'text', type: 'application/xml', text }),
  multipart: (text) => ({ kind: 'multipart', fields: partsWith(text) }),
};

const partsWith = (text: string) => [
  { name: 'note', value: text, file: null, type: null },
  { name: 'file', value: '', file: 'upload.png', type: 'image/png' },
];

test.each(['go', 'java', 'csharp', 'php', 'ruby'])('%s: the text of a document stays in its literals', (name) => {
  const write = languages[name]!;
  for (const [kind, body] of Object.entries(bodies)) {
    const plain = shapeOf(name, write(parseCurl(curlOf(requestWith('text', body)))));
    for (const text of texts)
      expect([kind, text, shapeOf(name, write(parseCurl(curlOf(requestWith(text, body)))))]).toEqual([
        kind,
        text,
        plain,
      ]);
  }
});

function requestWith(text: string, body: (text: string) => SampleRequest['body']): SampleRequest {
  const headers = [{ name: 'X-Text', value: text, secret: 'TOKEN' }];
  return { method: 'POST', url: `https://example.com/${text}`, headers, body: body(text) };
}

/** The code with every literal, as that language reads it, replaced by a mark. */
function shapeOf(name: string, code: string): string {
  const literals: Record<string, RegExp> = {
    go: /`[^`]*`|"(?:[^"\\\n]|\\.)*"/g,
    java: /"""\n(?:[^"\\]|\\[^]|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"/g,
    csharp: /"""\n[^]*?\n"""|"(?:[^"\\\n]|\\.)*"/g,
    php: /<<<'JSON'\n[^]*?\nJSON\b|'(?:[^'\\]|\\[^])*'/g,
    ruby: /<<~'JSON'\n[^]*?\nJSON\b|'(?:[^'\\]|\\[^])*'/g,
  };
  return code.replace(literals[name]!, '□');
}

test('a sample has no header that curl would take for a file, and no line breaks in its values', () => {
  const document = { openapi: '3.1.0', paths: {} };
  const parameter = (name: string, example: string) => ({ name, in: 'header', required: true, schema: { example } });
  const value = { parameters: [parameter('@/etc/passwd', 'x'), parameter('X-A', 'a\r\nB: c'), parameter('a b', 'x')] };
  const operation = { method: 'GET', path: '/', isWebhook: false, item: {}, value };
  const { headers } = sampleRequest(
    createSchemas(document, 'openapi', 0),
    operation,
    viewOperation(document, operation),
  );
  expect(headers).toEqual([{ name: 'X-A', value: 'a??B: c', secret: null }]);
});

test('a header that the sample has anyway is not sent twice where the document describes it as a parameter', () => {
  const document = { openapi: '3.1.0', paths: {} };
  const parameter = { name: 'content-type', in: 'header', required: true, schema: { example: 'text/plain' } };
  const content = { 'application/json': { schema: { example: { a: 1 } } } };
  const value = { parameters: [parameter], requestBody: { content } };
  const operation = { method: 'POST', path: '/', isWebhook: false, item: {}, value };
  const schemas = createSchemas(document, 'openapi', 0);
  const { headers } = sampleRequest(schemas, operation, viewOperation(document, operation));
  expect(headers).toEqual([{ name: 'Content-Type', value: 'application/json', secret: null }]);
});
