// What the reference of an API can do with JavaScript and is readable without: samples in other languages, colours, links to
// fields, unfolding all of an operation.

/** The languages of samples, as people read their names. `languages.js` writes them; it is loaded when one of them is chosen. */
const languages = {
  curl: 'curl',
  javascript: 'JavaScript',
  python: 'Python',
  go: 'Go',
  java: 'Java',
  csharp: 'C#',
  php: 'PHP',
  ruby: 'Ruby',
};
let writers = null;

const kept = 'stele-language';
let chosen = read() ?? 'curl';
const shown = new Set();
/** Settled when every sample is in the language that was chosen last. */
let written = Promise.resolve();

whenNear('.operation', prepare);
whenNear('.description pre code, .schema pre code', colour);
addAsk();
addFieldLinks();
addUnfoldAll();
// The form for a request has code, too.
addEventListener('code', ({ target }) => {
  colour(target);
});
addEventListener('toggle', ({ target }) => target.matches?.('.later') && showLater(target), true);
addEventListener('toggle', ({ target }) => target.matches?.('.responses > [open]') && closeOthers(target), true);
addEventListener('toggle', ({ target }) => target.matches?.('.options > li > details') && chooseOption(target), true);
addEventListener('toggle', ({ target }) => target.matches?.('.operation .answer[open]') && showAlike(target), true);
goToField();
addEventListener('hashchange', goToField);
addEventListener('storage', ({ key }) => key?.startsWith('try ') && key.endsWith(' server') && showAll());

function loadWriters() {
  writers ??= import(document.querySelector('[data-languages]').dataset.languages);
  return writers;
}

function read() {
  try {
    const value = localStorage.getItem(kept);
    return Object.hasOwn(languages, value) ? value : null;
  } catch {
    return null;
  }
}

/** Calls back once for each element when a reader comes near it: a page may have a thousand operations. */
function whenNear(selector, act) {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        act(target);
      }
    },
    { rootMargin: '600px' },
  );
  for (const element of document.querySelectorAll(selector)) observer.observe(element);
}

/** Adds the tools of an operation and its samples. */
function prepare(operation) {
  addTry(operation);
  const folds = operation.querySelectorAll('.parts details');
  if (folds.length > 1) addUnfold(operation.querySelector('.url'), operation.querySelector('.parts'));
  const samples = operation.querySelector('.samples');
  if (samples === null) return;
  for (const code of samples.querySelectorAll('details code')) {
    foldIn(code);
    colour(code);
  }
  addChoices(samples);
  const code = samples.querySelector(':scope > pre > code');
  if (code !== null) addRequest(samples, code);
}

const pages = new Map();

/** Puts the fields of a schema into the fold that links to it. They are on this page, or on another one of a long document. */
async function showLater(fold) {
  const link = fold.querySelector(':scope > a');
  if (!fold.open || link === null) return;
  fold.classList.remove('later');
  const url = new URL(link.href);
  const address = url.href.slice(0, -url.hash.length);
  const isHere = document.getElementById(url.hash.slice(1))?.matches('.schema');
  try {
    if (!isHere && !pages.has(address)) pages.set(address, load(address));
    const section = (isHere ? document : await pages.get(address)).getElementById(url.hash.slice(1)).cloneNode(true);
    section.querySelector('h3').remove();
    for (const each of section.querySelectorAll('a[href^="#"]')) each.href = address + each.getAttribute('href');
    for (const type of section.querySelectorAll('.type')) addLater(type);
    fold.append(...section.childNodes);
    link.remove();
  } catch {
    // The link stays, and leads there.
    pages.delete(address);
  }
}

async function load(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.statusText);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

/** A fold for the fields of a schema that is only named here. */
function addLater(type) {
  const link = type.querySelector('a');
  const row = type.parentElement;
  if (link === null || row.querySelector('ul, details') !== null) return;
  const fold = document.createElement('details');
  fold.className = 'later';
  fold.append(
    Object.assign(document.createElement('summary'), { textContent: link.textContent }),
    link.cloneNode(true),
  );
  row.append(fold);
}

/**
 * What all requests have in common, at the top of the page: their server, credentials, and the language of samples. A tab keeps
 * them, as it does those of the form for a request (`try.js`), of which a part is loaded here for what has more fields: variables,
 * sign-in, other credentials.
 */
function addAsk() {
  const ask = document.querySelector('.ask');
  const given = document.querySelector('.intro')?.dataset.ask;
  if (ask === null) return;
  const language = ask.querySelector('select');
  for (const [value, text] of Object.entries(languages)) language.append(new Option(text, value));
  language.value = chosen;
  language.addEventListener('change', () => choose(language.value));
  shown.add(() => (language.value = chosen));
  const form = document.querySelector('[data-try]').dataset.try;
  const details = ask.querySelector('details');
  const rows = document.createElement('div');
  details.before(rows);
  const { servers, schemes, isMore } = JSON.parse(given ?? '{"servers":[],"schemes":[],"isMore":true}');
  details.hidden = !isMore;
  const fill = () =>
    rows.replaceChildren(serverRow(form, servers), ...schemes.flatMap((one) => credentialRows(form, one)));
  fill();
  details.addEventListener('toggle', () => {
    // The form has the same fields.
    rows.hidden = details.open;
    if (!details.open) return fill();
    if (details.querySelector('iframe') !== null) return;
    const frame = Object.assign(document.createElement('iframe'), { title: 'Server and authorization' });
    frame.src = `${form}#settings`;
    frame.addEventListener('load', () => {
      const content = frame.contentDocument.getElementById('content');
      new ResizeObserver(() => (frame.style.height = `${content.offsetHeight}px`)).observe(content);
    });
    details.append(frame);
  });
}

/** A choice of the servers that the document names; where it names none with a host, a field for the reader's own. */
function serverRow(form, servers) {
  const before = serverKept(form);
  const whole = (url, host = 'https://SERVER') =>
    (/^https?:\/\//i.test(url) ? url : host + url.replace(/^(?!\/|$)/, '/')).replace(/\/$/, '');
  const from = whole(servers[0]?.[1] ?? '');
  const isNamed = servers.some(([, usual]) => /^https?:/i.test(usual));
  const control = document.createElement(isNamed ? 'select' : 'input');
  if (isNamed) {
    const texts = servers.map(([url, usual]) => [url, url === before.url ? before.to : whole(usual)]);
    for (const [url, text] of texts) control.append(new Option(text, url, false, url === before.url));
  } else Object.assign(control, { type: 'url', placeholder: 'https://SERVER', value: before.yours ?? '' });
  control.addEventListener('input', () => {
    const { value } = control;
    const named = servers.find(([url]) => isNamed && url === value);
    const to = named ? whole(named[1]) : whole(servers[0]?.[1] ?? '', value.replace(/\/+$/, '') || undefined);
    keptOf(form, 'server', JSON.stringify({ ...(named ? { url: value } : { yours: value }), from, to }));
    showAll();
  });
  return labelled('Server', control);
}

/** The fields of a credential, each with the name under which the tab keeps it (`try.js`). */
function fieldsOf([, type, kind, key]) {
  if (type === 'apiKey') return [['key', key]];
  if (type === 'basic' || kind.toLowerCase() === 'basic')
    return [
      ['user', 'User name'],
      ['password', 'Password'],
    ];
  return ['http', 'oauth2', 'openIdConnect'].includes(type) ? [['token', 'Token']] : [];
}

function credentialRows(form, scheme) {
  const [name, , , , oauth] = scheme;
  return fieldsOf(scheme).map(([part, text]) => {
    const type = part === 'user' ? 'text' : 'password';
    const control = Object.assign(document.createElement('input'), { type, placeholder: name, autocomplete: 'off' });
    control.value = keptOf(form, `${name} ${part}`) ?? '';
    control.addEventListener('input', () => keptOf(form, `${name} ${part}`, control.value));
    const row = labelled(text, control);
    if (oauth !== undefined) addFlows(row, form, scheme, control);
    return row;
  });
}

/** Below the field of a token what fetches one. The request goes out of a form for requests, which may reach the document's servers. */
async function addFlows(row, form, [name, , , , oauth], control) {
  const { flowFields, flowsOf, make } = await import(document.querySelector('[data-sign-in]').dataset.signIn);
  const frame = make('iframe', { hidden: true, src: `${form}#settings` });
  async function reach(url, options) {
    if (!frame.isConnected) {
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve));
    }
    return frame.contentWindow.fetch(url, options);
  }
  const parts = { row: labelled, kept: (value) => keptOf(form, `${name} client`, value), form, reach };
  const boxes = flowsOf(oauth).map((flow) => flowFields(flow, control, parts));
  // Folded for who has a token, and on phones, where it would hide what the API is.
  if (boxes.length > 0) boxes[0].open = control.value === '' && matchMedia('(min-width: 75rem)').matches;
  row.after(...boxes);
}

function labelled(text, control, note = '') {
  const label = document.createElement('label');
  label.append(text, control);
  control.placeholder ||= note;
  return label;
}

/** What this tab keeps of an API, under its coordinate, for all versions (`try.js`). With a value: it is kept. */
function keptOf(form, name, value) {
  const key = `try ${form?.replace(/@[^@/]*\/try$/, '')} ${name}`;
  try {
    if (value !== undefined) sessionStorage.setItem(key, value);
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** The base of the samples, and what it is to be. */
function serverKept(form) {
  return JSON.parse(keptOf(form, 'server')) ?? {};
}

/** A button that opens the form for a request. It is a page of its own, loaded when somebody asks for it first. */
function addTry(operation) {
  const { dataset } = operation.closest('[data-try]') ?? {};
  const url = operation.querySelector('.url');
  const path = url.querySelector('code').lastChild;
  if (dataset === undefined || path === null || operation.querySelector('.samples > pre') === null) return;
  const method = url.querySelector('.method').textContent;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'try-it';
  button.textContent = 'Try it';
  const samples = operation.querySelector('.samples');
  const curl = samples.querySelector(':scope > pre > code').textContent;
  button.addEventListener('click', () => {
    const other = samples.chosen ?? samples.querySelector(':scope > .request.chosen code')?.textContent;
    openTry(dataset.try, method, path.data, other ?? curl, other === undefined ? examplesIn(samples) : []);
  });
  url.append(button);
}

/** The example bodies of a request, by their names. */
function examplesIn(samples) {
  return [...samples.querySelectorAll(':scope > .example')].flatMap((example) => {
    const name = example.querySelector('summary').textContent;
    return name.startsWith('Body: ')
      ? [{ name: name.slice(6), text: example.querySelector('code')?.textContent ?? '' }]
      : [];
  });
}

/** One frame for all operations, unless the form is elsewhere. It has the sample as its data. */
function openTry(form, method, path, curl, examples) {
  const name = `${method} ${path}`;
  const address = `${form}#${encodeURIComponent(`${method.toLowerCase()} ${path}`)}`;
  // A site with an origin of its own may not have the registry in a frame.
  if (new URL(address, location.href).origin !== location.origin) return open(address);
  let dialog = document.querySelector('.try-dialog');
  if (dialog === null) {
    dialog = document.createElement('dialog');
    dialog.className = 'try-dialog';
    const title = document.createElement('h2');
    const close = document.createElement('button');
    close.type = 'button';
    close.textContent = 'Close';
    close.addEventListener('click', () => dialog.close());
    const head = document.createElement('div');
    head.append(title, close);
    dialog.append(head, document.createElement('iframe'));
    document.body.append(dialog);
  }
  const frame = dialog.querySelector('iframe');
  dialog.querySelector('h2').textContent = name;
  dialog.setAttribute('aria-label', `Try ${name}`);
  frame.title = `Request for ${name}`;
  Object.assign(frame.dataset, { curl, examples: JSON.stringify(examples) });
  frame.src = address;
  dialog.showModal();
}

/** The request: a choice of language, media type and example, and a button that copies. */
function addRequest(samples, code) {
  const curl = code.textContent;
  // The first option after the headers says what the body is.
  const isJsonBody = / \\\n  (-d|--data-\w+|--form-string|-F) '/.exec(curl)?.[1] === '-d';
  const bodies = [...samples.querySelectorAll(':scope > .example')].filter(
    (example) =>
      isJsonBody &&
      example.querySelector('summary').textContent.startsWith('Body: ') &&
      isJson(example.querySelector('code')?.textContent ?? ''),
  );
  let body = null;
  const tools = document.createElement('div');
  tools.className = 'tools';
  const language = select('Language', Object.entries(languages));
  language.value = chosen;
  language.addEventListener('focus', loadWriters);
  language.addEventListener('change', () => choose(language.value));
  tools.append(language);
  if (bodies.length > 0) {
    const names = bodies.map((example, at) => [String(at), example.querySelector('summary').textContent.slice(6)]);
    const example = select('Example', [['', samples.dataset.example || 'Example'], ...names]);
    example.addEventListener('change', () => {
      body = example.value === '' ? null : bodies[Number(example.value)].querySelector('code').textContent;
      written = show();
    });
    tools.append(example);
    for (const one of bodies) one.hidden = true;
  }
  const requests = [...samples.querySelectorAll(':scope > .request')];
  if (requests.length > 0) {
    const names = requests.map((one, at) => [String(at), one.querySelector('summary').textContent]);
    const type = select('Media type', [['', samples.dataset.type], ...names]);
    type.addEventListener('change', () => {
      for (const [at, one] of requests.entries()) one.classList.toggle('chosen', type.value === String(at));
      const example = tools.querySelector('[aria-label=Example]');
      // The examples are those of the first type.
      if (example !== null) example.hidden = type.value !== '';
      showTab(samples.parentElement.querySelector('.parts'), [type.selectedOptions[0].text]);
      written = show();
    });
    tools.append(type);
    for (const one of requests) one.hidden = true;
  }
  const base = samples.parentElement.querySelector('.url .base');
  const usual = base?.textContent;
  async function show() {
    language.value = chosen;
    const { from, to } = serverKept(samples.closest('[data-try]')?.dataset.try);
    const other = samples.querySelector(':scope > .request.chosen code');
    const options = optionsIn(samples.parentElement.querySelector('.parts'));
    let sample = other?.textContent ?? curl;
    const isBody = body !== null && other === null;
    if (isBody || options.length > 0) {
      const writer = await loadWriters();
      const request = writer.parseCurl(sample);
      if (isBody) request.body = { kind: 'json', text: body };
      if (request.body?.kind === 'json') request.body.text = withOptions(request.body.text, options);
      sample = writer.languages.curl(request);
    }
    samples.chosen = options.length > 0 ? sample : null;
    const isOther = from?.endsWith(usual ?? '') && sample.includes(`'${from}`);
    const text = isOther ? sample.replace(`'${from}`, () => `'${to}`) : sample;
    if (base) base.textContent = isOther ? to : usual;
    if (chosen !== 'curl') {
      const writer = await loadWriters();
      code.textContent = writer.languages[chosen](writer.parseCurl(text));
    } else code.textContent = text;
    colour(code);
  }
  shown.add(show);
  samples.addEventListener('option', () => (written = show()));
  written = Promise.all([written, show()]);
  code.parentElement.before(tools);
  code.dispatchEvent(new CustomEvent('code', { bubbles: true, detail: { place: tools, ready: () => written } }));
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function select(label, options) {
  const element = document.createElement('select');
  element.setAttribute('aria-label', label);
  for (const [value, text] of options) element.append(new Option(text, value));
  return element;
}

function choose(language) {
  chosen = language;
  try {
    localStorage.setItem(kept, language);
  } catch {
    // The choice is for this page then.
  }
  showAll();
}

function showAll() {
  written = Promise.all([...shown].map((show) => show()));
}

/** More than three examples of one answer are a choice and not tabs. */
function addChoices(samples) {
  for (const box of samples.querySelectorAll('.answers .answers')) {
    const all = [...box.children];
    if (all.length <= 3) continue;
    const choice = select(
      'Example',
      all.map((each, at) => [String(at), each.querySelector('summary').textContent]),
    );
    choice.addEventListener('change', () => (all[Number(choice.value)].open = true));
    box.classList.add('chosen');
    box.before(choice);
  }
}

/** A media type that is chosen for the fields is chosen for the sample, too, and that of a sample for the fields. */
function showAlike(tab) {
  const types = typesOf(tab);
  const operation = tab.closest('.operation');
  const samples = operation.querySelector('.samples');
  const response = tab.closest('.response') ?? tab.parentElement.closest('.samples .answer');
  if (response === null) {
    const choice = samples?.querySelector('[aria-label="Media type"]');
    const option = [...(choice?.options ?? [])].find(({ text }) => types.includes(text));
    if (tab.closest('.samples') !== null || option === undefined || option.selected) return;
    option.selected = true;
    choice.dispatchEvent(new Event('change'));
    return;
  }
  const statusOf = (one) => one.querySelector('summary > .status')?.textContent;
  for (const one of operation.querySelectorAll('.response, .samples > .answers > .answer'))
    if (one !== response && statusOf(one) === statusOf(response)) showTab(one, types);
}

/** Opens the first tab in a place that is of one of these media types. */
function showTab(place, types) {
  const tabs = [...place.querySelectorAll(':scope > .answers > .answer')];
  const alike = tabs.filter((tab) => typesOf(tab).some((type) => types.includes(type)));
  if (alike.length > 0 && !alike.some(({ open }) => open)) alike[0].open = true;
}

/** The media types in the name of a tab. */
function typesOf(tab) {
  return tab.querySelector('summary').textContent.split(/, | or /);
}

/** One response is open at a time, below the list of all, until everything is unfolded. */
function closeOthers(response) {
  const list = response.parentElement;
  if (!list.matches('.whole')) for (const one of list.children) if (one !== response) one.open = false;
}

/** One alternative of a request is open at a time, too: the one that the sample has. */
function chooseOption(option) {
  const list = option.closest('.options');
  const all = [...list.querySelectorAll(':scope > li > details')];
  if (all.every(({ dataset }) => dataset.sample === undefined)) return;
  if (option.open && !list.matches('.whole')) for (const one of all) if (one !== option) one.open = false;
  option.closest('.operation').querySelector('.samples').dispatchEvent(new Event('option'));
}

/** What the sample has for the alternatives that are open: its value, and the names of the members on the way to it. */
function optionsIn(parts) {
  return [...parts.querySelectorAll('.options')].flatMap((list) => {
    const option = list.querySelector(':scope > li > details[open]');
    if (option?.dataset.sample === undefined || list.closest('details:not([open])') !== null) return [];
    const path = [];
    for (let at = list; (at = at.parentElement.closest('.props > li')) !== null;) {
      const name = at.querySelector(':scope > code:first-child');
      if (name !== null) path.unshift(name.textContent);
    }
    return [{ path, value: JSON.parse(option.dataset.sample) }];
  });
}

/** A body with these values in their places, as far as it has them. Of a list they are its first item. */
function withOptions(text, options) {
  if (options.length === 0 || !isJson(text)) return text;
  const whole = [JSON.parse(text)];
  for (const { path, value } of options) {
    let [place, name] = [whole, 0];
    const enterList = () => {
      while (Array.isArray(place[name])) [place, name] = [place[name], 0];
    };
    const hasAll = path.every((next) => {
      enterList();
      [place, name] = [place[name] ?? {}, next];
      return Object.hasOwn(place, name);
    });
    if (!Array.isArray(value)) enterList();
    if (hasAll) place[name] = value;
  }
  return JSON.stringify(whole[0], null, 2);
}

/** Objects and lists in a long sample of JSON become folds. Their text stays as it is, so that it is copied whole. */
function foldIn(code) {
  const lines = code.textContent.split(/(?<=\n)/);
  if (lines.length < 20 || !/^[[{]\n$/.test(lines[0])) return;
  const indent = (line) => /^ */.exec(line)[0].length;
  const open = [code];
  code.textContent = '';
  for (const [at, line] of lines.entries()) {
    const place = open.at(-1);
    const isStart = at > 0 && /[[{]\n$/.test(line);
    const isEnd = open.length > 1 && indent(line) <= place.indent;
    if (isStart) {
      const summary = document.createElement('summary');
      // Its line ends where what is in it begins.
      summary.append(
        line.slice(0, -1),
        Object.assign(document.createElement('span'), { hidden: true, textContent: '\n' }),
      );
      const fold = Object.assign(document.createElement('details'), { open: true, indent: indent(line) });
      fold.append(summary);
      place.append(fold);
      open.push(fold);
    } else if (place.lastChild?.nodeType === Node.TEXT_NODE) place.lastChild.data += line;
    else place.append(line);
    if (isEnd) open.pop().firstChild.dataset.end = line.trim();
  }
}

/** Unfolds or folds everything in one part. */
function addUnfold(place, part) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'unfold';
  button.textContent = 'Expand all';
  button.addEventListener('click', () => {
    const isOpen = button.textContent === 'Expand all';
    for (const list of part.querySelectorAll('.responses, .options')) list.classList.toggle('whole', isOpen);
    for (const details of part.querySelectorAll('details:not(.answer)')) details.open = isOpen;
    button.textContent = isOpen ? 'Collapse all' : 'Expand all';
  });
  place.append(button);
}

function addUnfoldAll() {
  const place = document.querySelector('.filter');
  const part = document.querySelector('.reference');
  if (place !== null && part !== null && part.querySelector('details:not(.samples *)') !== null) addUnfold(place, part);
}

/**
 * Colours code without elements (CSS Custom Highlight API): a page of a thousand samples stays as light as its text. Browsers
 * without it show the text in one colour.
 */
function colour(code) {
  if (typeof Highlight === 'undefined') return;
  for (const [name, ranges] of Object.entries(code.ranges ?? {}))
    for (const range of ranges) CSS.highlights.get(`code-${name}`)?.delete(range);
  code.ranges = {};
  if (code.textContent.length > 20_000) return;
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    addColours(code, node, tokens, 0, node.data);
    addColours(code, node, /(?<blank>https:\/\/SERVER)\b/g, 0, node.data);
  }
}

const tokens =
  /(?<comment>(?<=^|\s)(?:#|\/\/).*)|(?<key>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.|\\(?=$))*'(?:\\''(?:[^'\\]|\\.)*')*|`[^`]*`)|(?<number>\b\d+(?:\.\d+)?\b)|(?<word>\b(?:await|const|curl|echo|false|for|func|import|if|let|new|nil|null|None|print|puts|require|return|true|True|False|using|var)\b)|(?<flag>(?<=\s)--?[A-Za-z][\w-]*)/gm;
const jsonTokens =
  /(?<key>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?<text>"(?:[^"\\\n]|\\.)*")|(?<number>-?\b\d+(?:\.\d+)?\b)|(?<word>\b(?:true|false|null)\b)/g;

/** Colours a part of a text, which begins at `start`. What a shell sees as one text may be a body of JSON. */
function addColours(code, node, expected, start, text) {
  for (const match of text.matchAll(expected)) {
    const [name] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    const startOffset = start + match.index;
    if (expected === tokens && /^['`][{[]\s/.test(match[0])) {
      addColours(code, node, jsonTokens, startOffset, match[0]);
      continue;
    }
    const range = new StaticRange({
      startContainer: node,
      startOffset,
      endContainer: node,
      endOffset: startOffset + match[0].length,
    });
    const key = `code-${name}`;
    if (!CSS.highlights.has(key)) CSS.highlights.set(key, new Highlight());
    CSS.highlights.get(key).add(range);
    (code.ranges[name] ??= []).push(range);
  }
}

/** A click on the name of a field puts the link to it into the address. */
function addFieldLinks() {
  document.querySelector('.reference')?.addEventListener('click', ({ target }) => {
    if (!target.matches('.props > li > code:first-child')) return;
    const link = linkTo(target.parentElement);
    if (link === null) return;
    history.replaceState(null, '', `#${link}`);
    mark(target.parentElement);
  });
}

/** `schema/Pet/address/street`: the part of the page, then the names of fields. */
function linkTo(field) {
  const part = field.closest('.operation, .schema');
  if (part === null) return null;
  const names = [];
  for (let at = field; at !== null && at !== part; at = at.parentElement.closest('.props > li, .operation, .schema'))
    if (at !== part) names.unshift(nameOf(at));
  return [part.id, ...names].join('/');
}

function nameOf(field) {
  const text = field.querySelector(':scope > code:first-child')?.textContent ?? 'x';
  return text.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '') || 'x';
}

/** Shows the field that the address names. Browsers find only what has an id. */
function goToField() {
  const names = decodeURIComponent(location.hash.slice(1)).split('/');
  const rest = [];
  while (names.length > 1 && document.getElementById(names.join('/')) === null) rest.unshift(names.pop());
  const part = document.getElementById(names.join('/'));
  if (goToPart(part, rest)) return;
  if (rest.length === 0 || part === null) return;
  let found = part;
  for (const name of rest) {
    const next = [...found.querySelectorAll('.props > li')].find((field) => nameOf(field) === name);
    if (next === undefined) break;
    found = next;
  }
  for (let at = found.parentElement; at !== null; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  found.scrollIntoView({ block: found === part ? 'start' : 'center' });
  if (found !== part) mark(found);
}

/** On the overview of a long document: goes on to the page that has the operation or schema. */
function goToPart(part, rest) {
  const link = part?.matches('.index > li') ? part.querySelector('a') : null;
  if (link === null) return false;
  location.replace([link.href, ...rest].join('/'));
  return true;
}

function mark(field) {
  document.querySelector('.props > li.here')?.classList.remove('here');
  field.classList.add('here');
}
