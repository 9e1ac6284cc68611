// Writes a sample request in several languages. The page has it as a curl command, which is read back here: so a page needs no second
// copy of each request. Texts of the document are string literals of each language, whatever they contain.

/** Reads a curl command that this registry wrote (`src/render/openapi/sample-request.ts`). */
export function parseCurl(text) {
  const words = wordsOf(text);
  const request = { method: null, url: '', headers: [], body: null };
  for (let at = 1; at < words.length; at++) {
    const [name] = words[at];
    const value = () => words[++at];
    if (name === '--globoff') continue;
    else if (name === '-X') request.method = value()[0];
    else if (name === '--head') request.method = 'HEAD';
    else if (name === '-H') {
      const [line, secret] = value();
      const colon = line.indexOf(': ');
      request.headers.push({ name: line.slice(0, colon), value: line.slice(colon + 2), secret });
    } else if (name === '-d') request.body = { kind: 'json', text: value()[0] };
    else if (name === '--data-urlencode') {
      const [field] = value();
      const equals = field.indexOf('=');
      request.body ??= { kind: 'form', fields: [] };
      request.body.fields.push([field.slice(0, equals), field.slice(equals + 1)]);
    } else if (name === '--data-raw') request.body = { kind: 'text', text: value()[0] };
    else if (name === '--data-binary') request.body = { kind: 'file', file: value()[0].slice(1) };
    else if (name === '--form-string' || name === '-F') {
      const [field] = value();
      const equals = field.indexOf('=');
      const content = field.slice(equals + 1);
      const [, part, type] = name === '-F' ? /^([^;]*);type=(.*)$/s.exec(content) : ['', content, null];
      const file = name === '-F' && part.startsWith('@') ? part.slice(1) : null;
      request.body ??= { kind: 'multipart', fields: [] };
      request.body.fields.push({ name: field.slice(0, equals), value: file === null ? part : '', file, type });
    } else request.url = name;
  }
  request.method ??= request.body === null ? 'GET' : 'POST';
  return request;
}

/** The words of a command, each with the variable at its end or null. */
function wordsOf(text) {
  const words = [];
  let word = null;
  for (const [, quoted, escaped, variable, plain, space] of text.matchAll(
    /'([^']*)'|\\(['\n])|"\$([A-Z_]+)"|([^\s'"\\]+)|(\s+)/g,
  )) {
    if (space !== undefined || escaped === '\n') {
      word = null;
      continue;
    }
    if (word === null) words.push((word = ['', null]));
    if (variable === undefined) word[0] += quoted ?? escaped ?? plain;
    else word[1] = variable;
  }
  return words;
}

/** The functions that write a request. `reference.js` has the names that people read. */
export const languages = {
  curl,
  javascript,
  python,
  go,
  java,
  csharp,
  php,
  ruby,
};

function curl({ method, url, headers, body }) {
  const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = [`curl${/[{[]/.test(url) ? ' --globoff' : ''} ${shell(url)}`];
  if (method !== (body === null ? 'GET' : 'POST'))
    parts.push(method === 'HEAD' ? '--head' : `-X ${/^[A-Z]+$/.test(method) ? method : shell(method)}`);
  for (const { name, value, secret } of headers)
    parts.push(`-H ${shell(`${name}: ${value}`)}${secret === null ? '' : `"$${secret}"`}`);
  if (body?.kind === 'json') parts.push(`-d ${shell(body.text)}`);
  if (body?.kind === 'form')
    for (const [name, value] of body.fields) parts.push(`--data-urlencode ${shell(`${name}=${value}`)}`);
  if (body?.kind === 'text') parts.push(`--data-raw ${shell(body.text)}`);
  if (body?.kind === 'file') parts.push(`--data-binary ${shell(`@${body.file}`)}`);
  for (const { name, value, file, type } of partsOf(body))
    parts.push(
      type === null
        ? `--form-string ${shell(`${name}=${value}`)}`
        : `-F ${shell(`${name}=${file === null ? value : `@${file}`};type=${type}`)}`,
    );
  return parts.join(' \\\n  ');
}

/** The fields of a form with files. */
function partsOf(body) {
  return body?.kind === 'multipart' ? body.fields : [];
}

function javascript({ method, url, headers, body }) {
  const options = [];
  if (method !== 'GET') options.push(`method: ${quote(method)},`);
  if (headers.length > 0) {
    const lines = headers.map((header) => ownKey(`    ${quote(header.name)}: ${valueOf(header, quote)},`));
    options.push(`headers: {\n${lines.join('\n')}\n  },`);
  }
  if (body?.kind === 'json')
    options.push(`body: JSON.stringify(${ownKey(literal(body.text)).replaceAll('\n', '\n  ')}),`);
  if (body?.kind === 'form') options.push(`body: new URLSearchParams([${pairs(body.fields, '[', ']')}]),`);
  if (body?.kind === 'text') options.push(`body: ${quote(body.text)},`);
  if (body?.kind === 'file') options.push(`body: new Blob(["…"]), // ${body.file}`);
  if (body?.kind === 'multipart') options.push('body: form,');
  const form = partsOf(body).map(({ name, value, file, type }) =>
    file === null
      ? `form.append(${quote(name)}, ${type === null ? quote(value) : `new Blob([${quote(value)}], { type: ${quote(type)} })`});\n`
      : `form.append(${quote(name)}, new Blob(["…"], { type: ${quote(type)} }), ${quote(file)});\n`,
  );
  const before = form.length === 0 ? '' : `const form = new FormData();\n${form.join('')}`;
  const rest = options.length === 0 ? '' : `, {\n  ${options.join('\n  ')}\n}`;
  return `${before}const response = await fetch(${quote(url)}${rest});\nconsole.log(response.status, await response.text());`;
}

/** In a JavaScript object `__proto__` is an ordinary member only if computed. */
function ownKey(text) {
  return text.replace(/^( *)"__proto__":/gm, '$1["__proto__"]:');
}

function python({ method, url, headers, body }) {
  const lines = [`    ${quote(method)},`, `    ${quote(url)},`];
  if (headers.length > 0)
    lines.push(
      `    headers={\n${headers.map((one) => `        ${quote(one.name)}: ${valueOf(one, quote)},`).join('\n')}\n    },`,
    );
  if (body?.kind === 'json') {
    const words = { true: 'True', false: 'False', null: 'None' };
    lines.push(`    json=${literal(body.text, words).replaceAll('\n', '\n    ')},`);
  }
  if (body?.kind === 'form') lines.push(`    data=[${pairs(body.fields, '(', ')')}],`);
  if (body?.kind === 'text') lines.push(`    data=${quote(body.text)}.encode(),`);
  if (body?.kind === 'file') lines.push(`    data=open(${quote(body.file)}, "rb"),`);
  if (body?.kind === 'multipart') {
    const fields = partsOf(body).map(({ name, value, file, type }) =>
      file === null
        ? `        (${quote(name)}, (None, ${quote(value)}${type === null ? '' : `, ${quote(type)}`})),`
        : `        (${quote(name)}, (${quote(file)}, open(${quote(file)}, "rb"), ${quote(type)})),`,
    );
    lines.push(`    files=[\n${fields.join('\n')}\n    ],`);
  }
  return `import requests\n\nresponse = requests.request(\n${lines.join('\n')}\n)\nprint(response.status_code, response.text)`;
}

function go(request) {
  const { method, url, headers, text } = withText(request);
  const body = text === null ? 'nil' : 'strings.NewReader(body)';
  const raw = isBlock(text) && !text.includes('`') ? `\`${text}\`` : quote(text ?? '');
  return [
    ...(text === null ? [] : [`body := ${raw}`]),
    `request, err := http.NewRequest(${quote(method)}, ${quote(url)}, ${body})`,
    'if err != nil {\n\tlog.Fatal(err)\n}',
    ...headers.map((one) => `request.Header.Set(${quote(one.name)}, ${valueOf(one, quote)})`),
    'response, err := http.DefaultClient.Do(request)',
    'if err != nil {\n\tlog.Fatal(err)\n}',
    'defer response.Body.Close()',
    'answer, _ := io.ReadAll(response.Body)',
    'fmt.Println(response.Status, string(answer))',
  ].join('\n');
}

function java(request) {
  const { method, url, headers, text } = withText(request);
  const block = isBlock(text)
    ? `"""\n${text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"""')}"""`
    : quote(text ?? '');
  const publisher = text === null ? 'noBody()' : `ofString(${block})`;
  return [
    'var request = HttpRequest.newBuilder()',
    `    .uri(URI.create(${quote(url)}))`,
    ...headers.map((one) => `    .header(${quote(one.name)}, ${valueOf(one, quote)})`),
    `    .method(${quote(method)}, HttpRequest.BodyPublishers.${publisher})`,
    '    .build();',
    'var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    'System.out.println(response.statusCode() + " " + response.body());',
  ].join('\n');
}

function csharp(request) {
  const { method, url, headers, text, type } = withText(request);
  const raw = isBlock(text) && !text.includes('"""') ? `"""\n${text}\n"""` : quote(text ?? '');
  return [
    'using var client = new HttpClient();',
    `using var request = new HttpRequestMessage(new HttpMethod(${quote(method)}), ${quote(url)});`,
    ...headers
      .filter(({ name }) => name.toLowerCase() !== 'content-type')
      .map((one) => `request.Headers.TryAddWithoutValidation(${quote(one.name)}, ${valueOf(one, quote)});`),
    ...(text === null
      ? []
      : [
          `request.Content = new StringContent(${raw});`,
          `request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(${quote(type)});`,
        ]),
    'using var response = await client.SendAsync(request);',
    'Console.WriteLine(await response.Content.ReadAsStringAsync());',
  ].join('\n');
}

function php(request) {
  const { method, url, headers, text } = withText(request);
  const isJson = request.body?.kind === 'json' && isBlock(text);
  const lines = headers.map(
    ({ name, value, secret }) => `        ${single(`${name}: ${value}`)}${secret === null ? '' : ` . $${secret}`},`,
  );
  const body = isJson ? `<<<'JSON'\n${text}\nJSON` : withBreaks(text ?? '', ' . "\\r\\n" . ');
  return [
    `$curl = curl_init(${single(url)});`,
    'curl_setopt_array($curl, [',
    `    CURLOPT_CUSTOMREQUEST => ${single(method)},`,
    '    CURLOPT_RETURNTRANSFER => true,',
    ...(lines.length === 0 ? [] : ['    CURLOPT_HTTPHEADER => [', ...lines, '    ],']),
    ...(text === null ? [] : [`    CURLOPT_POSTFIELDS => ${body},`]),
    ']);',
    'echo curl_exec($curl);',
  ].join('\n');
}

function ruby(request) {
  const { method, url, headers, text } = withText(request);
  // Other texts could have a line that ends a block.
  const isJson = request.body?.kind === 'json' && isBlock(text);
  return [
    "require 'net/http'\n",
    `uri = URI(${single(url)})`,
    `request = Net::HTTPGenericRequest.new(${single(method)}, ${text !== null}, true, uri)`,
    ...headers.map((one) => `request[${single(one.name)}] = ${valueOf(one, single)}`),
    ...(text === null
      ? []
      : [`request.body = ${isJson ? `<<~'JSON'\n${text}\nJSON` : withBreaks(text, ' + "\\r\\n" + ')}`]),
    "response = Net::HTTP.start(uri.hostname, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }",
    'puts response.code, response.body',
  ].join('\n');
}

/** Whether a text is written on lines of its own. Those that end with CRLF are not: code does not keep them. */
function isBlock(text) {
  return text !== null && text.includes('\n') && !text.includes('\r');
}

/** A text with CRLF as a sum of literals in single quotes. */
function withBreaks(text, between) {
  return text.split('\r\n').map(single).join(between);
}

/** The body as text, with the header that a form needs. */
function withText({ method, url, headers, body }) {
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value;
  if (body === null) return { method, url, headers, text: null, type };
  if (body.kind === 'json') return { method, url, headers, text: body.text, type: type ?? 'application/json' };
  if (body.kind === 'text' || body.kind === 'file')
    return { method, url, headers, text: body.text ?? '…', type: type ?? 'application/octet-stream' };
  if (body.kind === 'multipart') {
    const boundary = { name: 'Content-Type', value: 'multipart/form-data; boundary=stele-sample', secret: null };
    return { method, url, headers: [...headers, boundary], text: multipartText(body.fields), type: boundary.value };
  }
  const form = { name: 'Content-Type', value: 'application/x-www-form-urlencoded', secret: null };
  return {
    method,
    url,
    headers: [...headers, form],
    text: new URLSearchParams(body.fields).toString(),
    type: form.value,
  };
}

/** The fields of a form as they are sent (RFC 7578). Where a file would be is an ellipsis. */
function multipartText(fields) {
  const name = (text) =>
    `"${text.replace(/["\r\n]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`)}"`;
  const parts = fields.map(({ name: field, value, file, type }) => {
    const more = `${file === null ? '' : `; filename=${name(file)}`}${type === null ? '' : `\r\nContent-Type: ${type}`}`;
    return `--stele-sample\r\nContent-Disposition: form-data; name=${name(field)}${more}\r\n\r\n${file === null ? value : '…'}\r\n`;
  });
  return `${parts.join('')}--stele-sample--\r\n`;
}

function valueOf({ value, secret }, write) {
  if (secret === null) return write(value);
  return value === '' ? secret : `${write(value)} + ${secret}`;
}

function pairs(fields, open, close) {
  return fields.map(([name, value]) => `${open}${quote(name)}, ${quote(value)}${close}`).join(', ');
}

/**
 * A string literal in double quotes that JavaScript, Python, Go, Java and C# read alike. Characters that are invisible or change the
 * order of others are written as escapes.
 */
function quote(text) {
  return JSON.stringify(text.toWellFormed()).replace(
    /(?![^\u{0}-\u{ffff}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A string literal in single quotes, as PHP and Ruby read it. */
function single(text) {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** A JSON text as a literal, with other words for `true`, `false` and `null`. */
function literal(text, words = {}) {
  return text.replace(/"(?:[^"\\]|\\.)*"|true|false|null/g, (token) =>
    token.startsWith('"') ? quote(JSON.parse(token)) : (words[token] ?? token),
  );
}
