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
  if (body?.kind === 'text') parts.push(`--data-raw ${quoteShell(body.text)}`);
  if (body?.kind === 'file') parts.push(`--data-binary ${quoteShell(`@${body.file}`)}`);
  // Only `--form-string` sends a value that begins with `@` or `<` as it is.
  for (const { name, value, file, type } of body?.kind === 'multipart' ? body.fields : [])
    parts.push(
      file === null && type === null
        ? `--form-string ${quoteShell(`${name}=${value}`)}`
        : // In JSON a semicolon, which ends the value, stands only in strings.
          `-F ${quoteShell(`${name}=${file === null ? value.replaceAll(';', '\\u003b') : `@${file}`};type=${type}`)}`,
    );
  return parts.join(' \\\n  ');
}

function quoteShell(text: string): string {
  return `'${text.replace(/(?!\n)\p{Cc}/gu, '').replaceAll("'", `'\\''`)}'`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 500);
}
