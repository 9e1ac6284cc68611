// The form for one request (`#get /pets`): server, authorization, parameters and body, then what the server answered. It reads the
// document; the sample body is that of the page whose frame this is. Requests go without cookies, and the policy of the page lets them
// reach the document's servers alone. Credentials are remembered for the tab.

const target = document.getElementById('try');
const { languages, parseCurl } = await import(target.dataset.languages);
const longestAnswer = 200_000;
let whole = null;
let ids = 0;

// In the reference this page is in a frame, which has a title of its own.
document.documentElement.classList.toggle('framed', parent !== window);

try {
  // The document itself may be one that only a session opens; what is sent to its servers later never carries one.
  const response = await fetch(target.dataset.document, { credentials: 'same-origin' });
  if (!response.ok) throw new Error('The document could not be loaded. Reload the page.');
  whole = await response.json();
  show();
  addEventListener('hashchange', show);
} catch (error) {
  target.textContent = error.message;
}

/** Shows the form for the operation in the address, or a list of operations. */
function show() {
  const [method, ...words] = decodeURIComponent(location.hash.slice(1)).split(' ');
  const path = words.join(' ');
  const item = behind(own(whole.paths, path)) ?? {};
  const operation = own(item, method);
  if (operation === undefined) return target.replaceChildren(operationList());
  const sample = parent === window ? null : readSample();
  target.replaceChildren(formFor(method.toUpperCase(), path, item, operation, sample));
}

/** The sample request and the example bodies of the operation, from the page around this frame. */
function readSample() {
  const { curl, examples } = frameElement.dataset;
  return curl === undefined ? null : { ...parseCurl(curl), examples: JSON.parse(examples) };
}

function operationList() {
  const list = make('ul', { className: 'index' });
  for (const [path, item] of entries(whole.paths))
    for (const method of ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])
      if (own(behind(item), method) !== undefined)
        list.append(
          make(
            'li',
            {},
            make('a', { href: `#${encodeURIComponent(`${method} ${path}`)}` }, `${method.toUpperCase()} ${path}`),
          ),
        );
  return list;
}

function formFor(method, path, item, operation, sample) {
  const server = serverFields(operation, item);
  const auth = authFields(operation);
  const parameters = parametersOf(item, operation).map((one) => parameterField(one, path, sample));
  const body = bodyFields(operation, item, sample);
  const curl = make('code', {}, '');
  const answer = make('section', { className: 'try-answer', ariaLabel: 'Response', tabIndex: -1 });
  const send = make('button', { className: 'button main' }, 'Send');
  const read = () => requestOf(method, path, server, auth, parameters, body);
  const update = () => {
    try {
      curl.textContent = languages.curl(read());
      curl.dispatchEvent(new Event('code', { bubbles: true }));
    } catch (error) {
      curl.textContent = error.message;
    }
  };
  const places = [
    ['path', 'Path parameters'],
    ['query', 'Query parameters'],
    ['header', 'Headers'],
    ['cookie', 'Cookies'],
  ];
  const form = make(
    'form',
    { noValidate: false },
    group('Server', server.rows),
    group('Authorization', auth.rows),
    ...places.map(([place, title]) =>
      group(
        title,
        parameters.filter((one) => one.place === place).map(({ row }) => row),
      ),
    ),
    group('Body', body?.rows ?? []),
    make('p', { className: 'actions' }, send),
  );
  form.addEventListener('input', () => {
    auth.remember();
    update();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    answer.replaceChildren(make('p', { className: 'quiet' }, 'Waiting for the server …'));
    try {
      answer.replaceChildren(...(await sendRequest(read())));
    } catch (error) {
      answer.replaceChildren(make('p', { className: 'wrong', role: 'alert' }, error.message));
    }
    send.disabled = false;
    answer.querySelectorAll('code').forEach((code) => code.dispatchEvent(new Event('code', { bubbles: true })));
    answer.focus({ preventScroll: true });
    answer.scrollIntoView({ block: 'nearest' });
  });
  const box = make(
    'div',
    {},
    form,
    make('h2', {}, 'As curl'),
    make('pre', { tabIndex: 0 }, curl),
    make('h2', {}, 'Response'),
    answer,
  );
  answer.append(make('p', { className: 'quiet' }, 'Nothing sent yet.'));
  setTimeout(update);
  return box;
}

/* Fields */

function group(title, rows) {
  return rows.length === 0 ? '' : make('fieldset', {}, make('legend', {}, title), ...rows);
}

/** A field with its label, type and description. */
function rowOf(name, control, { type = '', isRequired = false, description = '' } = {}) {
  const id = `field-${++ids}`;
  control.id = id;
  const about = make('small', { id: `${id}-about` }, brief(description));
  if (description !== '') control.setAttribute('aria-describedby', about.id);
  const label = make(
    'label',
    { htmlFor: id },
    make('code', {}, name),
    type === '' ? '' : make('span', { className: 'type' }, ` ${type}`),
  );
  if (isRequired) label.append(' ', make('span', { className: 'flag required' }, 'required'));
  return make('div', { className: 'try-row' }, label, control, description === '' ? '' : about);
}

function input(value, more = {}) {
  return make('input', { value, autocomplete: 'off', spellcheck: false, ...more });
}

function select(values, chosen) {
  const control = make(
    'select',
    {},
    ...values.map(([value, text]) => new Option(text, value, false, value === chosen)),
  );
  return control;
}

function serverFields(operation, item) {
  const all = [operation.servers, item.servers, whole.servers].find((list) => list?.length > 0) ?? oldServers();
  const values = new Map();
  const rows = [];
  const chosen = select(
    all.map(({ url, description }, at) => [String(at), description ? `${url} · ${brief(description)}` : url]),
  );
  const variables = make('div', {});
  const update = () => {
    variables.replaceChildren();
    for (const [name, variable] of entries(all[Number(chosen.value)]?.variables)) {
      const usual = String(variable.default ?? variable.enum?.[0] ?? '');
      const control = Array.isArray(variable.enum)
        ? select(
            variable.enum.map((one) => [String(one), String(one)]),
            usual,
          )
        : input(usual);
      values.set(name, control);
      variables.append(rowOf(name, control, variable));
    }
  };
  chosen.addEventListener('change', update);
  update();
  if (all.length > 0) rows.push(rowOf('URL', chosen), variables);
  else
    rows.push(
      make('p', { className: 'quiet' }, 'The document names no server. Copy the request as curl and put yours in.'),
    );
  const url = () => {
    const written = all[Number(chosen.value)]?.url ?? 'https://example.com';
    return written.replace(/\{([^{}]*)\}/g, (text, name) => values.get(name)?.value ?? text).replace(/\/$/, '');
  };
  return { rows, url };
}

/** The servers of OpenAPI 2.0. */
function oldServers() {
  if (typeof whole.host !== 'string') return [];
  return (whole.schemes ?? ['https']).map((scheme) => ({ url: `${scheme}://${whole.host}${whole.basePath ?? ''}` }));
}

/** The first alternatives of credentials. What is entered is kept in this tab, by the document and the name of the scheme. */
function authFields(operation) {
  const alternatives = (operation.security ?? whole.security ?? []).filter((one) => Object.keys(one).length > 0);
  const schemes = whole.components?.securitySchemes ?? whole.securityDefinitions;
  const key = (name, part) => `try ${target.dataset.document.replace(/@[^@/]*$/, '')} ${name} ${part}`;
  const fields = [];
  const inside = make('div', {});
  const chosen = select(alternatives.map((one, at) => [String(at), Object.keys(one).join(' and ')]));
  const field = (name, part, words, type) => {
    const control = input(kept(key(name, part)) ?? '', { type });
    fields.push({ control, key: key(name, part), name });
    inside.append(rowOf(words, control));
    return control;
  };
  let writers = [];
  const update = () => {
    inside.replaceChildren();
    fields.length = 0;
    writers = Object.keys(alternatives[Number(chosen.value)] ?? {}).map((name) => {
      const scheme = behind(own(schemes, name)) ?? {};
      const isBasic = scheme.type === 'basic' || String(scheme.scheme).toLowerCase() === 'basic';
      if (scheme.type === 'apiKey') {
        const control = field(name, 'key', scheme.name, 'password');
        return (request) =>
          control.value !== '' &&
          request[own({ query: 'query', cookie: 'cookies' }, scheme.in) ?? 'headers'].push([
            scheme.name,
            control.value,
          ]);
      }
      if (isBasic) {
        const user = field(name, 'user', 'User name', 'text');
        const word = field(name, 'password', 'Password', 'password');
        const bytes = () => String.fromCharCode(...new TextEncoder().encode(`${user.value}:${word.value}`));
        return (request) => user.value !== '' && request.headers.push(['Authorization', `Basic ${btoa(bytes())}`]);
      }
      if (!['http', 'oauth2', 'openIdConnect'].includes(scheme.type)) return () => {};
      const control = field(name, 'token', 'Token', 'password');
      return (request) => control.value !== '' && request.headers.push(['Authorization', `Bearer ${control.value}`]);
    });
  };
  chosen.addEventListener('change', update);
  update();
  const rows = alternatives.length > 1 ? [rowOf('With', chosen), inside] : alternatives.length === 1 ? [inside] : [];
  return {
    rows,
    remember: () => fields.forEach(({ control, key: name }) => kept(name, control.value)),
    write: (request) => writers.forEach((writer) => writer(request)),
  };
}

function parametersOf(item, operation) {
  const all = new Map();
  for (const one of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(behind))
    if (one && !['body', 'formData'].includes(one.in)) all.set(`${one.in} ${one.name}`, one);
  return [...all.values()];
}

/** A parameter. Of a list each item has a line. */
function parameterField(from, path, sample) {
  const schema = behind(from.schema ?? Object.values(from.content ?? {})[0]?.schema ?? from) ?? {};
  const type = [schema.type].flat().find((name) => name !== 'null') ?? '';
  const example = [
    from.example,
    behind(Object.values(from.examples ?? {})[0])?.value,
    schema.example,
    schema.examples?.[0],
    schema.default,
  ].find((one) => one !== undefined);
  const isRequired = from.required === true || from.in === 'path';
  const usual = isRequired ? (example ?? schema.enum?.[0] ?? inSample(from, path, sample)) : '';
  const values = schema.enum ?? (type === 'boolean' ? [true, false] : null);
  const isText = typeof usual === 'object' || type === 'array' || type === 'object';
  const text = Array.isArray(usual) ? usual.map(textOf).join('\n') : textOf(usual);
  const hint = example === undefined || isRequired ? '' : `e.g. ${textOf(example).slice(0, 100)}`;
  const control =
    values !== null && !isText
      ? select(
          [
            ...(isRequired ? [] : [['', '–']]),
            ...values.filter((one) => one !== null).map((one) => [String(one), String(one)]),
          ],
          text,
        )
      : isText
        ? make('textarea', {
            value: text,
            rows: 2,
            spellcheck: false,
            placeholder: type === 'array' ? 'one value on each line' : '{ }',
          })
        : input(text, { placeholder: hint, ...(/^(?:integer|number)$/.test(type) && { inputMode: 'decimal' }) });
  control.required = isRequired;
  const about = type === 'array' ? 'list' : [type, schema.format].filter(Boolean).join(' · ');
  return {
    from,
    place: from.in,
    control,
    type,
    row: rowOf(from.name, control, { type: about, isRequired, description: from.description }),
  };
}

/** What the sample request has for a parameter. */
function inSample({ name, in: place }, path, sample) {
  if (place === 'header') return sample?.headers.find((header) => header.name === name)?.value ?? '';
  const [address, query] = (sample?.url ?? '').split('?');
  if (place !== 'path') return new URLSearchParams(query).get(name) ?? '';
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  const pattern = escaped.replaceAll(`{${name}}`, '([^/]*)').replace(/\{[^{}]*\}/g, '[^/]*');
  return decodeURIComponent(new RegExp(`${pattern}$`).exec(address)?.[1] ?? '');
}

/** The value of a parameter; null: it is left out. */
function valueOf({ control, type }) {
  const text = control.value;
  if (text === '') return null;
  if (type === 'array') return text.split('\n').filter((line) => line !== '');
  return type === 'object' ? parse(text, `${control.labels[0].textContent}: this is not JSON.`) : text;
}

/** A parameter in the query: pairs of names and values, joined as its style wants it. */
function pairsOf({ from }, value) {
  const isOld = from.schema === undefined && from.content === undefined;
  const style = from.style ?? 'form';
  const isExploded = isOld ? from.collectionFormat === 'multi' : (from.explode ?? style === 'form');
  const joint =
    { spaceDelimited: ' ', pipeDelimited: '|', ssv: ' ', tsv: '\t', pipes: '|' }[from.collectionFormat ?? style] ?? ',';
  if (from.content !== undefined || typeof value !== 'object') return [[from.name, textOf(value)]];
  if (Array.isArray(value))
    return isExploded ? value.map((one) => [from.name, textOf(one)]) : [[from.name, value.map(textOf).join(joint)]];
  if (style === 'deepObject') return entries(value).map(([key, one]) => [`${from.name}[${key}]`, textOf(one)]);
  return isExploded
    ? entries(value).map(([key, one]) => [key, textOf(one)])
    : [[from.name, entries(value).flat().map(textOf).join(joint)]];
}

/** A parameter in the path or a header: with commas, or as `label` and `matrix` want it. */
function inline({ from }, value, encode) {
  const joint = from.style === 'label' ? '.' : from.style === 'matrix' && from.explode ? `;${from.name}=` : ',';
  const list =
    typeof value !== 'object'
      ? [value]
      : Array.isArray(value)
        ? value
        : entries(value).flatMap(([key, one]) => (from.explode ? [`${key}=${textOf(one)}`] : [key, one]));
  const start = { label: '.', matrix: `;${from.name}=` }[from.style] ?? '';
  return start + list.map((one) => encode(textOf(one))).join(joint);
}

function bodyFields(operation, item, sample) {
  const all = bodiesOf(operation, item);
  if (all.length === 0) return null;
  const chosen = select(
    all.map(({ type }) => [type, type]),
    all.find(({ type }) => type === typeIn(sample))?.type ?? all[0].type,
  );
  const inside = make('div', {});
  let read = () => null;
  const update = () => {
    const one = all.find(({ type }) => type === chosen.value);
    read = /^multipart\/|urlencoded/i.test(one.type) ? formOf(one, inside, sample) : textBodyOf(one, inside, sample);
  };
  chosen.addEventListener('change', update);
  update();
  return {
    rows:
      all.length > 1
        ? [rowOf('Content type', chosen), inside]
        : [make('p', { className: 'quiet' }, all[0].type), inside],
    read: () => read(),
  };
}

function bodiesOf(operation, item) {
  const { content } = behind(operation.requestBody) ?? {};
  if (content !== undefined) return entries(content).map(([type, media]) => ({ type, ...behind(media) }));
  const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(behind);
  const body = all.find((one) => one?.in === 'body');
  const fields = all.filter((one) => one?.in === 'formData');
  const types = operation.consumes ?? whole.consumes ?? [];
  if (body) return (types.length > 0 ? types : ['application/json']).map((type) => ({ type, schema: body.schema }));
  if (fields.length === 0) return [];
  const properties = Object.fromEntries(fields.map((one) => [one.name, one]));
  const schema = { properties, required: fields.filter(({ required }) => required === true).map(({ name }) => name) };
  const usual = fields.some(({ type }) => type === 'file')
    ? 'multipart/form-data'
    : 'application/x-www-form-urlencoded';
  return [{ type: types.find((type) => /form/.test(type)) ?? usual, schema }];
}

function typeIn(sample) {
  const { body, headers } = sample ?? {};
  if (body?.kind === 'multipart') return 'multipart/form-data';
  if (body?.kind === 'form') return 'application/x-www-form-urlencoded';
  return headers?.find(({ name }) => name === 'Content-Type')?.value;
}

/** A text to edit, or a file. */
function textBodyOf({ type, schema, example, examples }, inside, sample) {
  const isText =
    /json|xml|yaml|^text\/|graphql|^\*\/\*$/i.test(type) && !/^(?:binary|base64)$/.test(behind(schema)?.format);
  if (!isText) {
    const file = make('input', { type: 'file' });
    inside.replaceChildren(rowOf('File', file));
    return () => (file.files[0] ? { kind: 'file', file: file.files[0].name, bytes: file.files[0], type } : null);
  }
  const isSame = typeIn(sample) === type && 'text' in (sample.body ?? {});
  const first = example ?? behind(Object.values(examples ?? {})[0])?.value;
  const editor = make('textarea', {
    rows: 12,
    spellcheck: false,
    value: isSame ? sample.body.text : first === undefined ? '' : textOf(first, 2),
  });
  const wrong = make('small', { className: 'wrong', role: 'status' });
  const isJson = /json/i.test(type);
  editor.addEventListener('input', () => (wrong.textContent = isJson ? whyNotJson(editor.value) : ''));
  const names = isSame ? sample.examples : [];
  const choice = select([['', 'Example'], ...names.map(({ name }, at) => [String(at), name])]);
  choice.addEventListener(
    'change',
    () => (editor.value = choice.value === '' ? sample.body.text : names[Number(choice.value)].text),
  );
  inside.replaceChildren(...(names.length > 0 ? [rowOf('Example', choice)] : []), rowOf('Body', editor), wrong);
  return () =>
    editor.value === ''
      ? null
      : { kind: isJson ? 'json' : 'text', text: editor.value, type: type === '*/*' ? 'application/json' : type };
}

function whyNotJson(text) {
  try {
    if (text !== '') JSON.parse(text);
    return '';
  } catch (error) {
    return `This is not JSON: ${error.message}`;
  }
}

/** The fields of a form. Binary ones are files. */
function formOf({ type, schema }, inside, sample) {
  const { properties, required = [] } = behind(schema) ?? {};
  const fields = entries(properties).map(([name, written]) => {
    const one = behind(written) ?? {};
    const inner = one.type === 'array' ? (behind(one.items) ?? {}) : one;
    const isFile =
      one.type === 'file' || /^(?:binary|base64)$/.test(inner.format) || inner.contentMediaType !== undefined;
    const given = sample?.body?.fields
      ?.map((field) => (Array.isArray(field) ? { name: field[0], value: field[1] } : field))
      .find((field) => field.name === name);
    const isRequired = required.includes(name);
    const usual = given?.value ?? (isRequired ? textOf(one.example ?? one.default ?? one.enum?.[0] ?? '') : '');
    const control = isFile
      ? make('input', { type: 'file', multiple: one.type === 'array' })
      : Array.isArray(one.enum)
        ? select([['', '–'], ...one.enum.map((value) => [String(value), String(value)])], usual)
        : input(usual);
    control.required = isRequired;
    return {
      name,
      control,
      isFile,
      isObject: typeof one.properties === 'object',
      row: rowOf(name, control, { type: isFile ? 'file' : one.type, isRequired, description: one.description }),
    };
  });
  inside.replaceChildren(...fields.map((field) => field.row));
  const isMultipart = /^multipart/i.test(type);
  return () => {
    const filled = fields.flatMap(({ name, control, isFile, isObject }) => {
      if (isFile)
        return [...control.files].map((file) => ({
          name,
          value: '',
          file: file.name,
          bytes: file,
          type: file.type || 'application/octet-stream',
        }));
      return control.value === ''
        ? []
        : [{ name, value: control.value, file: null, type: isObject ? 'application/json' : null }];
    });
    return isMultipart
      ? { kind: 'multipart', fields: filled }
      : { kind: 'form', fields: filled.map(({ name, value }) => [name, value]) };
  };
}

/* The request */

function requestOf(method, path, server, auth, parameters, body) {
  const parts = { headers: [], query: [], cookies: [] };
  let address = path;
  for (const one of parameters) {
    const value = valueOf(one);
    const { from, place } = one;
    if (place === 'path')
      address = address.replaceAll(`{${from.name}}`, () =>
        value === null ? `{${from.name}}` : inline(one, value, encodeURIComponent),
      );
    else if (value === null) continue;
    else if (place === 'query') parts.query.push(...pairsOf(one, value));
    else if (place === 'header') parts.headers.push([from.name, inline(one, value, String)]);
    else if (place === 'cookie') parts.cookies.push([from.name, inline(one, value, String)]);
  }
  auth.write(parts);
  const content = body?.read() ?? null;
  if (content?.type !== undefined) parts.headers.push(['Content-Type', content.type]);
  if (parts.cookies.length > 0) parts.headers.push(['Cookie', parts.cookies.map((pair) => pair.join('=')).join('; ')]);
  const query = parts.query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  return {
    method,
    url: `${server.url()}${address}${query === '' ? '' : `?${query}`}`,
    headers: parts.headers.map(([name, value]) => ({ name, value: value.replace(/[\r\n]+/g, ' '), secret: null })),
    body: content,
  };
}

function bytesOf(body) {
  if (body === null) return undefined;
  if (body.kind === 'file') return body.bytes;
  if (body.kind === 'form') return new URLSearchParams(body.fields);
  if (body.kind !== 'multipart') return body.text;
  const form = new FormData();
  for (const { name, value, file, bytes, type } of body.fields)
    if (file !== null) form.append(name, bytes, file);
    else form.append(name, type === null ? value : new Blob([value], { type }));
  return form;
}

/** Sends a request. Returns the elements that show the answer, or why there is none. */
async function sendRequest({ method, url, headers, body }) {
  let blocked = '';
  const note = ({ blockedURI }) => (blocked = blockedURI);
  document.addEventListener('securitypolicyviolation', note);
  const start = performance.now();
  try {
    const sent = headers.filter(({ name }) => name !== 'Cookie').map(({ name, value }) => [name, value]);
    // A browser sends no body with these.
    const content = /^(?:GET|HEAD)$/.test(method) ? undefined : bytesOf(body);
    const options = { method, headers: sent, body: content, credentials: 'omit', referrerPolicy: 'no-referrer' };
    const response = await fetch(url, options);
    const bytes = await response.arrayBuffer();
    const left = [sent.length < headers.length ? 'cookies' : '', body !== null && content === undefined ? 'body' : ''];
    return shown(response, bytes, Math.round(performance.now() - start), left.filter(Boolean).join(' and '));
  } catch (error) {
    // The event comes after the promise.
    await new Promise((resolve) => setTimeout(resolve));
    return [
      make('p', { className: 'wrong', role: 'alert' }, why(error, url, blocked)),
      make(
        'p',
        { className: 'quiet' },
        'The curl command above sends the same request from a terminal, where none of this matters.',
      ),
    ];
  } finally {
    document.removeEventListener('securitypolicyviolation', note);
  }
}

/** Why a browser showed no answer, as far as it tells. */
function why(error, url, blocked) {
  if (!(error instanceof TypeError) || !URL.canParse(url)) return `The request cannot be sent: ${error.message}`;
  const { protocol, origin, hostname } = new URL(url);
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(hostname);
  if (location.protocol === 'https:' && protocol === 'http:' && !isLocal)
    return `The browser did not send it: this page is served over https, and ${origin} is plain http (mixed content).`;
  if (blocked !== '')
    return `The browser did not send it: ${origin} is not one of the document’s servers, which are all that this page may reach.`;
  if (!navigator.onLine) return 'The browser did not send it: this computer is offline.';
  return `No answer that a browser may show. Either ${origin} cannot be reached, or it does not allow pages of ${location.origin} to read its answers (CORS): it would have to send Access-Control-Allow-Origin, and to answer OPTIONS for a body of JSON, a key or a token.`;
}

function shown(response, bytes, milliseconds, left) {
  const { status, statusText } = response;
  const size = bytes.byteLength < 10_000 ? `${bytes.byteLength} bytes` : `${Math.round(bytes.byteLength / 1024)} KB`;
  const type = response.headers.get('Content-Type') ?? '';
  const line = make(
    'p',
    { role: 'status' },
    make('b', { className: `status s${String(status)[0]}` }, String(status)),
    ` ${statusText} · ${milliseconds} ms · ${size}`,
  );
  const note =
    left === ''
      ? []
      : [make('p', { className: 'quiet' }, `Sent without its ${left}, which a browser does not send. curl does.`)];
  const list = make(
    'dl',
    {},
    ...[...response.headers].flatMap(([name, value]) => [
      make('dt', {}, make('code', {}, name)),
      make('dd', {}, value),
    ]),
  );
  const all = make(
    'details',
    {},
    make('summary', {}, `${list.children.length / 2} headers that the server shows to pages`),
    list,
  );
  return [line, ...note, all, ...contentOf(bytes, type)];
}

function contentOf(bytes, type) {
  if (bytes.byteLength === 0) return [make('p', { className: 'quiet' }, 'No body.')];
  if (/^(?:image|audio|video)\/|octet-stream|pdf|zip/i.test(type)) return [make('p', {}, save(bytes, type))];
  const text = new TextDecoder().decode(bytes);
  const nice = /json/i.test(type) && whyNotJson(text) === '' ? JSON.stringify(JSON.parse(text), null, 2) : text;
  const cut =
    nice.length > longestAnswer
      ? [make('p', { className: 'quiet' }, `${nice.length - longestAnswer} more characters. `, save(bytes, type))]
      : [];
  return [make('pre', { tabIndex: 0 }, make('code', {}, nice.slice(0, longestAnswer))), ...cut];
}

function save(bytes, type) {
  const button = make('button', { type: 'button' }, 'Save the body');
  button.addEventListener('click', () => {
    const link = make('a', { href: URL.createObjectURL(new Blob([bytes], { type })), download: 'response' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  return button;
}

/* Small things */

/** A text that this tab remembers; with a value, that is remembered. A browser may keep nothing. */
function kept(name, value) {
  try {
    if (value !== undefined) sessionStorage.setItem(name, value);
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function own(value, key) {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? value[key] : undefined;
}

function entries(value) {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** The object, or what its reference leads to, with the parts of `allOf` in it. */
function behind(value, hops = 20) {
  const reference = own(value, '$ref');
  if (typeof reference === 'string' && hops > 0) {
    const keys = reference.startsWith('#/') ? decodeURIComponent(reference).slice(2).split('/') : [];
    return behind(keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(own, whole), hops - 1);
  }
  if (!Array.isArray(own(value, 'allOf')) || hops <= 0) return value;
  const parts = value.allOf.map((one) => behind(one, hops - 5) ?? {});
  const properties = Object.assign({}, ...parts.map((one) => one.properties), value.properties);
  return Object.assign({}, ...parts, value, {
    properties,
    required: [...parts, value].flatMap((one) => one.required ?? []),
    allOf: undefined,
  });
}

function textOf(value, spaces) {
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, spaces) : String(value ?? '');
}

function parse(text, message) {
  if (whyNotJson(text) !== '') throw new Error(message);
  return JSON.parse(text);
}

/** The first words of a description, without Markdown. */
function brief(text) {
  const line = String(text)
    .split(/\n\s*\n/)[0]
    .replace(/<[^>]*>|[*_`#]|\]\([^)]*\)|\[/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
