// Searching: suggestions while somebody types, a dialog under Ctrl-K or ⌘K, and, on a static host, the results themselves. Everything works without this
// file where a server searches: the form is sent, and the page has the results. What a server does not answer is looked up in the files of the index.

const top = document.querySelector('.top');
const { search: page, shards: module } = top.dataset;
const most = 8;
const pause = 120;
// Milliseconds until an index that is not complete is asked again.
const again = 2000;

let index = null;
let docs = null;
let anywhere = null;

for (const input of document.querySelectorAll(':is(.find, form.search) input[type="search"]')) suggest(input);
showFound();

/** A file of the index of a host without a server. */
async function load(path) {
  const answer = await fetch(`${page}/${path}`, { credentials: 'omit' });
  if (!answer.ok) throw new Error(`${path} could not be loaded.`);
  return answer.json();
}

function openIndex() {
  index ??= import(module).then(({ openShards }) => openShards(load));
  return index;
}

/** The index of the documentation there. */
function openDocs() {
  const ranking = new URL('pages.js', new URL(module, location.href)).href;
  docs ??= Promise.all([import(ranking), load('docs.json')]).then(
    ([pages, found]) => pages.openDocs(found),
    (error) => {
      // The next word tries again.
      docs = null;
      throw error;
    },
  );
  return docs;
}

function isInDocs() {
  return document.querySelector('input[name="in"]') !== null;
}

/** What to suggest for a text. */
async function ask(text) {
  if (index === null) {
    const asked = `${page}/suggest.json?q=${encodeURIComponent(text)}${isInDocs() ? '&in=docs' : ''}`;
    const answer = await fetch(asked, { credentials: 'same-origin' });
    if (!answer.ok) throw new Error(`Search answered ${answer.status}.`);
    const found = await answer.json();
    // A static host sends the same file whatever is asked.
    if (found.query === text) return found;
  }
  const pages = isInDocs() ? (await openDocs()).suggest(text) : [];
  const found = await (await openIndex()).search(text);
  const items = [...pages, ...(await found.hits(0, most)).map(asItem)].slice(0, most);
  return { items, complete: true, didYouMean: found.instead };
}

function asItem({ resource, item }) {
  const { title, coordinate, url, description } = resource;
  const kind = { apis: 'API', schemas: 'schema', rulesets: 'ruleset', sites: 'site' }[resource.type];
  if (item === null) return { kind, name: title, summary: description, title, coordinate, url };
  return { ...item, title, coordinate, url: urlOf(resource, item) };
}

/** The address of a part of a document, or of a page of a site. */
function urlOf({ url }, { kind, anchor }) {
  return kind === 'page' ? url + anchor : `${url}#${anchor}`;
}

/** Shows suggestions below a search field: links, which the arrow keys go through. */
function suggest(input) {
  const status = element('p', 'away');
  status.setAttribute('role', 'status');
  const list = element('ul', 'suggestions');
  list.hidden = true;
  input.after(status, list);
  let soon = 0;
  let asked = '';

  /** `words`: in the dialog for all to see. */
  function show(links, words = '') {
    list.replaceChildren(...links.map((link) => element('li', '', link)));
    list.hidden = links.length === 0;
    status.textContent =
      words || (links.length === 0 ? '' : `${links.length} suggestions. The arrow keys go through them.`);
    status.className = words !== '' && input.closest('dialog') !== null ? 'quiet' : 'away';
  }

  async function update() {
    const text = input.value.trim();
    if (text === asked) return;
    asked = text;
    if (text.length < 2) return show([]);
    const found = await ask(text).catch(() => null);
    if (asked !== text) return;
    if (found === null) return show([], 'Search does not answer now.');
    const { items, complete, didYouMean } = found;
    // Who is choosing already chooses among what is there.
    if (list.contains(document.activeElement)) asked = '';
    else {
      const links = [...(didYouMean === null ? [] : [correction(didYouMean)]), ...items.map(suggestion)];
      const none = links.length === 0 ? 'Nothing found.' : '';
      show(links, complete ? none : 'The search index is still being made.');
    }
    if (complete || input.value.trim() !== text || input.closest('dialog')?.open === false) return;
    clearTimeout(soon);
    soon = setTimeout(() => {
      asked = '';
      update();
    }, again);
  }

  function close() {
    clearTimeout(soon);
    asked = '';
    show([]);
  }

  input.addEventListener('input', () => {
    clearTimeout(soon);
    soon = setTimeout(update, pause);
  });
  input.form.addEventListener('keydown', (event) => {
    const isDown = event.key === 'ArrowDown';
    if (list.hidden || event.isComposing) return;
    if (isDown || event.key === 'ArrowUp') {
      event.preventDefault();
      const stops = [input, ...list.querySelectorAll('a')];
      const at = stops.indexOf(document.activeElement);
      stops.at((at + (isDown ? 1 : -1)) % stops.length).focus();
    } else if (event.key === 'Escape' && input.closest('dialog') === null) {
      event.preventDefault();
      input.focus();
      close();
    }
  });
  // What was typed until this script came.
  if (input === document.activeElement && input.value !== input.defaultValue) update();
  // Where the focus goes is known only afterwards.
  input.form.addEventListener('focusout', () => {
    setTimeout(() => {
      if (!input.form.contains(document.activeElement) && input.closest('dialog') === null) close();
    }, 200);
  });
}

function suggestion({ kind, name, summary, title, url }) {
  const about = summary ? element('span', 'summary', summary) : '';
  const link = element('a', '', ...named(kind, name), about, ' ', element('span', 'of', title));
  link.href = url;
  return link;
}

function correction(text) {
  const link = element('a', '', 'Did you mean ', element('strong', '', text), '?');
  link.href = `${page}?q=${encodeURIComponent(text)}`;
  return link;
}

/** Opens or closes a dialog for searching from anywhere. Made when it is first opened. */
export function toggleDialog() {
  anywhere ??= makeDialog();
  if (anywhere.open) return anywhere.close();
  anywhere.showModal();
  anywhere.querySelector('input').select();
}

function makeDialog() {
  const input = element('input', '');
  Object.assign(input, { type: 'search', name: 'q', id: 'anywhere', autocomplete: 'off', maxLength: 200 });
  input.placeholder = 'Search the registry';
  const label = element('label', 'away', 'Search the registry');
  label.htmlFor = 'anywhere';
  const form = element('form', '', label, input);
  form.action = page;
  form.setAttribute('role', 'search');
  const keys = element('p', 'keys', '↑ ↓ to choose, Enter to open, Esc to close');
  const dialog = element('dialog', 'anywhere', form, keys);
  dialog.setAttribute('aria-label', 'Search the registry');
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  suggest(input);
  return dialog;
}

/** The results, where the page came without them. */
async function showFound() {
  const place = document.getElementById('found');
  const asked = new URLSearchParams(location.search);
  const text = (asked.get('q') ?? '').trim().slice(0, 200);
  if (place === null || text === '' || place.dataset.query === text) return;
  document.querySelector('.hints')?.remove();
  const type = document.getElementById('type');
  const input = document.getElementById('search');
  input.value = text;
  type.value = asked.get('type') ?? '';
  say('Searching…');
  try {
    if (asked.get('in') === 'docs') {
      const kept = Object.assign(element('input', ''), { type: 'hidden', name: 'in', value: 'docs' });
      input.form.append(kept);
      place.replaceChildren(foundDocs((await openDocs()).find(text)), element('h2', '', 'Contracts'));
    } else place.replaceChildren();
    const shards = await openIndex();
    const found = await shards.search(text, { org: asked.get('org'), type: type.value || null });
    if (found.count === 0) return place.append(element('p', 'empty', 'Nothing contains one of these words.'));
    if (found.instead !== null) {
      const link = element('a', '', found.instead);
      link.href = `?q=${encodeURIComponent(found.instead)}`;
      place.append(element('p', 'instead', 'Not every word was found as written. These are results for ', link, '.'));
    }
    const rows = element('ul', 'rows');
    place.append(rows);
    await more(place, rows, found, 0);
  } catch {
    say('The search index could not be loaded.');
  }

  function say(words) {
    place.replaceChildren(element('p', 'empty', words));
  }
}

/** Pages of the documentation, as the server shows them (`search.eta`). */
function foundDocs(pages) {
  const rows = pages.map(({ title, heading, href, description }) =>
    linkedRow(href, heading || title, heading && title, element('p', '', description)),
  );
  const none = element('p', 'empty', 'No page has these words.');
  const list = rows.length === 0 ? none : element('ul', 'rows', ...rows);
  return element('section', '', element('h2', '', 'Documentation'), list);
}

/** The next ten hits, each below its resource. */
async function more(place, rows, found, from) {
  const to = from + 10;
  for (const { resource, item } of await found.hits(from, to)) addHit(rows, resource, item);
  if (to >= found.count) return;
  const button = element('button', '', 'More');
  button.type = 'button';
  button.addEventListener('click', () => {
    button.remove();
    more(place, rows, found, to);
  });
  place.append(button);
}

function addHit(rows, resource, item) {
  const known = [...rows.children].find((row) => row.dataset.coordinate === resource.coordinate);
  const row = known ?? rowOf(resource);
  if (known === undefined) rows.append(row);
  if (item === null) return;
  const link = element(
    'a',
    '',
    ...named(item.kind, item.name),
    item.summary ? element('span', 'summary', item.summary) : '',
  );
  link.href = urlOf(resource, item);
  row.querySelector('.matches').append(element('li', '', link));
}

function rowOf({ coordinate, type, title, description, version, url }) {
  const about = description === '' ? [] : [element('p', '', description)];
  const facts = element('p', 'facts', type === 'sites' ? 'documentation' : element('code', '', version));
  const row = linkedRow(url, title, coordinate, ...about, element('ul', 'matches'), facts);
  row.dataset.coordinate = coordinate;
  return row;
}

/** `of`: where the title is; empty for none. */
function linkedRow(href, title, of, ...below) {
  const link = element('a', '', element('strong', '', title), of === '' ? '' : element('span', 'coordinate', of));
  link.href = href;
  return element('li', 'row', link, ...below);
}

/** `GET` as a badge before its path; else the kind before the name. */
function named(kind, name) {
  if (kind === 'page') return [element('span', 'kind', kind), ' ', name, ' '];
  if (kind !== 'operation') return [element('span', 'kind', kind), ' ', element('code', '', name), ' '];
  const [method, ...path] = name.split(' ');
  const known = /^[a-z]+$/i.test(method) ? method.toLowerCase() : '';
  return [element('span', `method ${known}`, method), ' ', element('code', '', path.join(' ')), ' '];
}

/** An element of text and elements: nothing that comes from the index is ever read as HTML. */
function element(name, className, ...content) {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...content);
  return made;
}
