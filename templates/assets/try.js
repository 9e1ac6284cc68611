// The form for one request (`#get /pets`): server, authorization, parameters and body, then what the server answered. It reads the
// document; the sample body is that of the page whose frame this is. Requests go without cookies, and the policy of the page lets them
// reach the document's servers alone. Credentials are remembered for the tab.

const target = document.getElementById('try');
const { languages, parseCurl } = await import(target.dataset.languages);
const { brief, flowFields, flowsOf, make, why } = await import(target.dataset.signIn);
const longestAnswer = 200_000;
// Stands for the server, where the document names none (`sample-request.ts`).
const unknownServer = 'https://SERVER';
// The tokens of JSON.
const space = /[ \t\r\n]*/y;
const quoted = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
let whole = null;
let ids = 0;

// In the reference this page is in a frame, which has a title of its own.
document.documentElement.classList.toggle('framed', parent !== window);

const settings = '#settings';
const asked = new URLSearchParams(location.search);
if (asked.has('state')) {
  // An authorization server sent a window of its own here: the form that waits takes the answer (`signIn`).
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
  new BroadcastChannel('stele-oauth').postMessage(Object.fromEntries(asked));
  history.replaceState(null, '', location.pathname);
  target.textContent = 'You can close this window.';
  close();
} else
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

/** Shows the form for the operation in the address, what all operations share (`#settings`), or a list of operations. */
function show() {
  if (location.hash === settings) {
    const [server, auth] = [serverFields({}, {}), authFields({})];
    const form = make('form', {}, group('Server', server.rows), group('Authorization', auth.rows));
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('input', () => keepAll(server, auth));
    return target.replaceChildren(form);
  }
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

/** Keeps server and credentials for this tab. The page around this frame writes its samples for the server. */
function keepAll(server, auth) {
  server.remember();
  auth.remember();
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
    keepAll(server, auth);
    update();
  });
  let sending = null;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    // The same button cancels.
    if (sending !== null) return sending.abort();
    sending = new AbortController();
    send.textContent = 'Cancel';
    answer.replaceChildren(make('p', { className: 'quiet' }, 'Waiting for the server …'));
    answer.scrollIntoView({ block: 'nearest' });
    try {
      answer.replaceChildren(...(await sendRequest(read(), sending.signal, answer)));
    } catch (error) {
      answer.replaceChildren(make('p', { className: 'wrong', role: 'alert' }, error.message));
    }
    sending = null;
    send.textContent = 'Send';
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
  const before = JSON.parse(kept(keyOf('server')) ?? '{}');
  const chosen = select(
    all.map(({ url, description }, at) => [String(at), description ? `${url} · ${brief(description)}` : url]),
    String(
      Math.max(
        0,
        all.findIndex(({ url }) => url === before.url),
      ),
    ),
  );
  const inside = make('div', {});
  const update = () => {
    inside.replaceChildren();
    values.clear();
    for (const [name, variable] of entries(all[Number(chosen.value)]?.variables)) {
      const usual = String(own(before.variables, name) ?? variable.default ?? variable.enum?.[0] ?? '');
      const control = Array.isArray(variable.enum)
        ? select(
            variable.enum.map((one) => [String(one), String(one)]),
            usual,
          )
        : input(usual);
      values.set(name, control);
      inside.append(rowOf(name, control, variable));
    }
  };
  chosen.addEventListener('change', update);
  update();
  if (all.length > 0) rows.push(rowOf('URL', chosen), inside);
  const yours = input(before.yours ?? '', { type: 'url', placeholder: unknownServer });
  if (!all.some(({ url: one }) => isWhole(one)))
    rows.push(
      rowOf('URL', yours, {
        description:
          'The document names no server. Copy the request as curl: a page may send only to servers that it names.',
      }),
    );
  const host = () => yours.value.replace(/\/+$/, '') || unknownServer;
  const url = () => {
    const written = all[Number(chosen.value)]?.url ?? '';
    const filled = written.replace(/\{([^{}]*)\}/g, (text, name) => values.get(name)?.value ?? text);
    return wholeUrl(filled, host()).replace(/\/$/, '');
  };
  const remember = () => {
    const variables = Object.fromEntries([...values].map(([name, control]) => [name, control.value]));
    const one = { url: all[Number(chosen.value)]?.url, variables, yours: yours.value };
    kept(keyOf('server'), JSON.stringify({ ...one, from: usualUrl(all[0] ?? { url: '' }), to: url() }));
  };
  return { rows, url, remember };
}

/** The URL of a server with the defaults of its variables, as samples have it. */
function usualUrl({ url, variables }) {
  const usual = (one) => String(one.default || one.enum?.[0] || '');
  const filled = entries(variables).reduce((text, [name, one]) => text.replaceAll(`{${name}}`, () => usual(one)), url);
  return wholeUrl(filled, unknownServer).replace(/\/$/, '');
}

function isWhole(url) {
  return /^https?:\/\//i.test(url);
}

function wholeUrl(url, host) {
  return isWhole(url) ? url : host + url.replace(/^(?!\/|$)/, '/');
}

/** The servers of OpenAPI 2.0. */
function oldServers() {
  if (typeof whole.host !== 'string') return [];
  return (whole.schemes ?? ['https']).map((scheme) => ({ url: `${scheme}://${whole.host}${whole.basePath ?? ''}` }));
}

/** What this tab keeps of an API: by its coordinate, for all versions. */
function keyOf(...parts) {
  return ['try', target.dataset.document.replace(/@[^@/]*$/, ''), ...parts].join(' ');
}

/** Alternatives of credentials. What is entered is kept in this tab, by the API and the name of the scheme. */
function authFields(operation) {
  const schemes = whole.components?.securitySchemes ?? whole.securityDefinitions;
  const each = entries(schemes).map(([name]) => ({ [name]: [] }));
  const needed = (operation.security ?? whole.security ?? []).filter((one) => Object.keys(one).length > 0);
  const alternatives = operation.responses === undefined && needed.length === 0 ? each : needed;
  const key = keyOf;
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
          (scheme.in === 'query'
            ? request.query.push(...pairsOf({ from: { name: scheme.name } }, control.value))
            : request[scheme.in === 'cookie' ? 'cookies' : 'headers'].push([scheme.name, control.value]));
      }
      if (isBasic) {
        const user = field(name, 'user', 'User name', 'text');
        const word = field(name, 'password', 'Password', 'password');
        const bytes = () => String.fromCharCode(...new TextEncoder().encode(`${user.value}:${word.value}`));
        return (request) => user.value !== '' && request.headers.push(['Authorization', `Basic ${btoa(bytes())}`]);
      }
      if (!['http', 'oauth2', 'openIdConnect'].includes(scheme.type)) return () => {};
      const control = field(name, 'token', 'Token', 'password');
      const parts = {
        row: (words, one, description) => rowOf(words, one, { description }),
        kept: (value) => kept(key(name, 'client'), value),
        form: location.pathname,
        reach: fetch,
      };
      inside.append(...flowsOf(scheme).map((flow) => flowFields(flow, control, parts)));
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

/** A parameter in the query: `name=value`, as often and joined as its style wants it. */
function pairsOf({ from }, value) {
  const isOld = from.schema === undefined && from.content === undefined;
  const style = from.style ?? 'form';
  const isExploded = isOld ? from.collectionFormat === 'multi' : (from.explode ?? style === 'form');
  const joint =
    { spaceDelimited: '%20', pipeDelimited: '%7C', ssv: '%20', tsv: '%09', pipes: '%7C' }[
      from.collectionFormat ?? style
    ] ?? ',';
  const encode = from.allowReserved === true ? encodeSome : encodeURIComponent;
  const pair = (name, one) => `${encodeURIComponent(name)}=${encode(textOf(one))}`;
  const join = (list) => `${encodeURIComponent(from.name)}=${list.map((one) => encode(textOf(one))).join(joint)}`;
  if (from.content !== undefined || typeof value !== 'object') return [pair(from.name, value)];
  if (style === 'deepObject') return deepPairs(from.name, value).map(([name, one]) => pair(name, one));
  if (Array.isArray(value)) return isExploded ? value.map((one) => pair(from.name, one)) : [join(value)];
  return isExploded ? entries(value).map(([key, one]) => pair(key, one)) : [join(entries(value).flat())];
}

/** Percent-encodes a text, but keeps reserved characters that mean nothing in a query. */
function encodeSome(text) {
  return encodeURIComponent(text).replace(/%(?:3A|2F|3F|40|24|2C|3B)/g, decodeURIComponent);
}

/** `name[key][0]` for each value in an object or a list. */
function deepPairs(name, value) {
  return typeof value === 'object' && value !== null
    ? entries(value).flatMap(([key, one]) => deepPairs(`${name}[${key}]`, one))
    : [[name, textOf(value)]];
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
  const isJson = /json/i.test(type);
  const row = rowOf('Body', editor);
  if (isJson) addJsonHelp(row, editor);
  const names = isSame ? sample.examples : [];
  const choice = select([['', 'Example'], ...names.map(({ name }, at) => [String(at), name])]);
  choice.addEventListener('change', () => {
    editor.value = choice.value === '' ? sample.body.text : names[Number(choice.value)].text;
    editor.dispatchEvent(new Event('input', { bubbles: true }));
  });
  inside.replaceChildren(...(names.length > 0 ? [rowOf('Example', choice)] : []), row);
  return () =>
    editor.value === ''
      ? null
      : { kind: isJson ? 'json' : 'text', text: editor.value, type: type === '*/*' ? 'application/json' : type };
}

/** Says below an editor where its text is not JSON, and offers to lay it out where it is. */
function addJsonHelp(row, editor) {
  const said = make('small', { className: 'wrong', role: 'status', id: `${editor.id}-wrong` });
  const button = make('button', { type: 'button', className: 'lay-out' }, 'Format');
  const update = () => {
    said.textContent = whyNotJson(editor.value);
    button.disabled = said.textContent !== '' || editor.value === '';
    editor.ariaInvalid = String(said.textContent !== '');
  };
  button.addEventListener('click', () => {
    // Numbers keep their digits; a browser without them cannot lay out.
    const exact = (_, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
    editor.value = JSON.stringify(JSON.parse(editor.value, exact), null, 2);
    editor.dispatchEvent(new Event('input', { bubbles: true }));
  });
  editor.setAttribute('aria-describedby', said.id);
  editor.addEventListener('input', update);
  row.append(said, ...('rawJSON' in JSON ? [button] : []));
  update();
}

/** Where a text is not JSON, and what was expected there. Browsers say it in some cases only. */
function whyNotJson(text) {
  let at = 0;
  const take = (pattern) => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const need = (pattern, what) => {
    take(space);
    if (!take(pattern)) throw new SyntaxError(what);
  };
  const list = (end, close, item) => {
    take(space);
    for (let isFirst = true; !take(end); isFirst = false) {
      if (!isFirst) need(/,/y, `a comma or ${close}`);
      item();
      take(space);
    }
  };
  const value = () => {
    take(space);
    if (take(/\[/y)) list(/\]/y, ']', value);
    else if (take(/\{/y)) list(/\}/y, '}', member);
    else if (!take(quoted)) need(scalar, 'a value');
  };
  const member = () => {
    need(quoted, 'a name in quotes');
    need(/:/y, 'a colon');
    value();
  };
  try {
    if (text.trim() === '') return '';
    value();
    need(/$/y, 'the end');
    return '';
  } catch (error) {
    // Nested too deeply for this look; its server decides.
    if (error instanceof RangeError) return '';
    const lines = text.slice(0, at).split('\n');
    return `Not JSON at line ${lines.length}, column ${lines.at(-1).length + 1}: ${error.message} is expected.`;
  }
}

/** The fields of a form: those that it needs have values of the sample. */
function formOf({ type, schema, encoding }, inside, sample) {
  const { properties, required = [] } = behind(schema) ?? {};
  const given = (sample?.body?.fields ?? []).map((one) => (Array.isArray(one) ? { name: one[0], value: one[1] } : one));
  const fields = entries(properties).map(([name, written]) => {
    const usual = given.filter((one) => one.name === name && !one.file).map(({ value }) => value);
    return { name, ...formField(name, written, required.includes(name), usual, 0) };
  });
  inside.replaceChildren(...fields.map((field) => field.row));
  const isMultipart = /^multipart/i.test(type);
  return () => {
    const filled = fields.flatMap(({ name, read }) => {
      const value = read();
      return value === undefined ? [] : [[name, value]];
    });
    return isMultipart
      ? { kind: 'multipart', fields: filled.flatMap(([name, value]) => partsOf(name, value)) }
      : { kind: 'form', fields: filled.flatMap(([name, value]) => formPairs(name, value, own(encoding, name) ?? {})) };
  };
}

/** A field and what it holds: undefined if it is left out. Objects have a field for each member, and lists a line for each item. */
function formField(name, written, isRequired, usual, depth) {
  const one = plainOf(written);
  const item = one.type === 'array' ? plainOf(one.items) : one;
  const about = { type: one.type === 'array' ? 'list' : one.type, isRequired, description: one.description };
  if (item.type === 'file' || /^(?:binary|base64)$/.test(item.format) || item.contentMediaType !== undefined) {
    const control = make('input', { type: 'file', multiple: one.type === 'array', required: isRequired });
    const read = () => (control.files.length === 0 ? undefined : [...control.files]);
    return { row: rowOf(name, control, { ...about, type: 'file' }), read };
  }
  if (one.properties !== undefined && depth < 3) {
    const members = entries(one.properties).map(([key, member]) => {
      const isNeeded = isRequired && (one.required ?? []).includes(key);
      return [key, formField(key, member, isNeeded, [], depth + 1)];
    });
    const box = make(
      'details',
      { open: isRequired },
      make('summary', {}, make('code', {}, name), ` ${brief(one.description ?? '')}`),
    );
    box.append(...members.map(([, { row }]) => row));
    const read = () => {
      const filled = members.map(([key, member]) => [key, member.read()]).filter(([, value]) => value !== undefined);
      return filled.length === 0 ? undefined : Object.fromEntries(filled);
    };
    return { row: box, read };
  }
  const isOfObjects = one.type === 'object' || item.type === 'object' || item.properties !== undefined;
  const values = item.enum ?? (item.type === 'boolean' ? [true, false] : null);
  const first = isRequired ? (usual.length > 0 ? usual : [textOf(one.example ?? one.default ?? one.enum?.[0])]) : [];
  const hint = isRequired || usual.length === 0 ? '' : `e.g. ${usual[0].slice(0, 100)}`;
  const options = (values ?? []).filter((value) => value !== null).map((value) => [String(value), String(value)]);
  const isList = one.type === 'array';
  const control =
    values !== null && isList
      ? Object.assign(select(options), { multiple: true, size: Math.min(4, options.length) })
      : values !== null
        ? select([...(isRequired ? [] : [['', '–']]), ...options], first[0])
        : isList || isOfObjects
          ? make('textarea', {
              value: first.join('\n'),
              rows: 2,
              spellcheck: false,
              placeholder: isList
                ? isOfObjects
                  ? 'one object of JSON on each line'
                  : 'one value on each line'
                : '{ }',
            })
          : input(first[0] ?? '', { placeholder: hint });
  control.required = isRequired;
  const parsed = (text) => (isOfObjects ? parse(text, `${name}: this is not JSON.`) : text);
  const read = () => {
    if (control.multiple)
      return control.selectedOptions.length > 0 ? [...control.selectedOptions].map(({ value }) => value) : undefined;
    if (control.value.trim() === '') return undefined;
    return isList
      ? control.value
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(parsed)
      : parsed(control.value);
  };
  return { row: rowOf(name, control, about), read };
}

/** A schema, or the first alternative of one that says nothing else. */
function plainOf(schema) {
  const one = behind(schema) ?? {};
  const choice = [...(one.anyOf ?? []), ...(one.oneOf ?? [])]
    .map((each) => behind(each))
    .find((each) => each?.type !== 'null');
  const plain = one.type === undefined && one.properties === undefined && choice ? { ...choice, ...one } : one;
  return { ...plain, type: [plain.type].flat().find((name) => name !== 'null') };
}

/** The fields of a property in a form, by its encoding. */
function formPairs(name, value, { style, explode }) {
  if (typeof value !== 'object') return [[name, textOf(value)]];
  if (style === 'deepObject') return deepPairs(name, value);
  if (!Array.isArray(value)) return [[name, textOf(value)]];
  if (explode !== false) return value.map((one) => [name, textOf(one)]);
  return [[name, value.map((one) => textOf(one)).join({ spaceDelimited: ' ', pipeDelimited: '|' }[style] ?? ',')]];
}

/** A part for a value, and for each item of a list. */
function partsOf(name, value) {
  return [value].flat().map((one) => {
    if (one instanceof File)
      return { name, value: '', file: one.name, bytes: one, type: one.type || 'application/octet-stream' };
    return { name, value: textOf(one), file: null, type: typeof one === 'object' ? 'application/json' : null };
  });
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
  const query = parts.query.join('&');
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

/** Sends a request. What comes is shown at `place` as it comes. Returns the elements that show all of it, or why there is none. */
async function sendRequest({ method, url, headers, body }, signal, place) {
  let blocked = '';
  const note = ({ blockedURI }) => (blocked = blockedURI);
  document.addEventListener('securitypolicyviolation', note);
  const start = performance.now();
  const chunks = [];
  let response = null;
  const sent = headers.filter(({ name }) => name !== 'Cookie').map(({ name, value }) => [name, value]);
  // A browser sends no body with these.
  const content = /^(?:GET|HEAD)$/.test(method) ? undefined : bytesOf(body);
  const left = [sent.length < headers.length ? 'cookies' : '', body !== null && content === undefined ? 'body' : ''];
  const all = async (end) => {
    const bytes = await new Blob(chunks).arrayBuffer();
    return shown(response, bytes, Math.round(performance.now() - start), left.filter(Boolean).join(' and '), end);
  };
  try {
    const options = { method, headers: sent, body: content, credentials: 'omit', referrerPolicy: 'no-referrer' };
    response = await fetch(url, { ...options, signal });
    await readInto(response, chunks, place);
    return await all('');
  } catch (error) {
    // The event comes after the promise.
    await new Promise((resolve) => setTimeout(resolve));
    if (response !== null) return all(signal.aborted ? 'Cancelled.' : `The answer broke off: ${error.message}`);
    if (signal.aborted) return [make('p', { className: 'quiet', role: 'status' }, 'Cancelled.')];
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

/** Reads a body to its end. Text, such as server-sent events, is shown as it comes. */
async function readInto(response, chunks, place) {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const code = make('code', {});
  const decoder = new TextDecoder();
  if (!isBinary(response.headers.get('Content-Type') ?? ''))
    place.replaceChildren(statusLine(response, 'more comes …'), make('pre', { tabIndex: 0 }, code));
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    chunks.push(value);
    if (code.textContent.length < longestAnswer) code.append(decoder.decode(value, { stream: true }));
  }
}

function isBinary(type) {
  return /^(?:image|audio|video)\/|octet-stream|pdf|zip/i.test(type);
}

function statusLine({ status, statusText }, words) {
  const number = make('b', { className: `status s${String(status)[0]}` }, String(status));
  return make('p', { role: 'status' }, number, ` ${[statusText, words].filter(Boolean).join(' · ')}`);
}

function shown(response, bytes, milliseconds, left, end) {
  const size = bytes.byteLength < 10_000 ? `${bytes.byteLength} bytes` : `${Math.round(bytes.byteLength / 1024)} KB`;
  const type = response.headers.get('Content-Type') ?? '';
  const line = statusLine(response, [`${milliseconds} ms`, size, end].filter(Boolean).join(' · '));
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
    make('summary', {}, `Headers that the server shows to pages: ${list.children.length / 2}`),
    list,
  );
  return [line, ...note, all, ...contentOf(bytes, type)];
}

function contentOf(bytes, type) {
  if (bytes.byteLength === 0) return [make('p', { className: 'quiet' }, 'No body.')];
  if (isBinary(type)) return [make('p', {}, save(bytes, type))];
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
