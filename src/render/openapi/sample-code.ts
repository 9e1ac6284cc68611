import type { SampleRequest } from './sample-request.ts';

/**
 * A request as a curl command for a POSIX shell. Text from the document is in single quotes, where
 * shells interpret nothing, and without control characters, which terminals interpret.
 */
export function curlOf({ method, url, headers, body }: SampleRequest): string {
  const parts = [`curl${url.includes('{') || url.includes('[') ? ' --globoff' : ''} ${quoteShell(url)}`];
  const isPlain = body === null ? method === 'GET' : method === 'POST';
  if (!isPlain)
    parts.push(method === 'HEAD' ? '--head' : `-X ${/^[A-Z]+$/.test(method) ? method : quoteShell(method)}`);
  for (const { name, value, secret } of headers)
    parts.push(`-H ${quoteShell(`${oneLine(name)}: ${oneLine(value)}`)}${secret === null ? '' : `"$${secret}"`}`);
  if (body?.kind === 'json') parts.push(`-d ${quoteShell(JSON.stringify(body.value, null, 2))}`);
  if (body?.kind === 'form')
    for (const [name, value] of body.fields) parts.push(`--data-urlencode ${quoteShell(`${name}=${value}`)}`);
  return parts.join(' \\\n  ');
}

/**
 * The same in JavaScript. Text from the document is in JSON strings, which are valid JavaScript.
 */
export function fetchOf({ method, url, headers, body }: SampleRequest): string {
  const options: string[] = [];
  if (method !== 'GET') options.push(`  method: ${quoteScript(method)},`);
  if (headers.length > 0) {
    const lines = headers.map(({ name, value, secret }) => {
      const text = secret === null ? quoteScript(value) : value === '' ? secret : `${quoteScript(value)} + ${secret}`;
      return ownKey(`    ${quoteScript(name)}: ${text},`);
    });
    options.push(`  headers: {\n${lines.join('\n')}\n  },`);
  }
  if (body?.kind === 'json')
    options.push(`  body: JSON.stringify(${ownKey(JSON.stringify(body.value, null, 2)).replaceAll('\n', '\n  ')}),`);
  if (body?.kind === 'form') options.push(`  body: new URLSearchParams(${JSON.stringify(body.fields)}),`);
  const rest = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch(${quoteScript(url)}${rest});`;
}

/** `__proto__` is an ordinary member in JSON, but in a JavaScript object only if computed. */
function ownKey(text: string): string {
  return text.replace(/^( *)"__proto__":/gm, '$1["__proto__"]:');
}

function quoteShell(text: string): string {
  return `'${text.replace(/(?!\n)\p{Cc}/gu, '').replaceAll("'", `'\\''`)}'`;
}

function quoteScript(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 500);
}
