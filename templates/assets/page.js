// What a page can do with JavaScript and is readable without: copy an address, filter the reference, say where one is. Remembers only the theme.

for (const element of document.querySelectorAll('.script[hidden], .filter[hidden]')) element.hidden = false;

startHere();
for (const input of document.querySelectorAll('.copy input, .copy textarea')) addCopy(input);
addFilter();
addKeys();
addSearch();
addMenu();
addVersionChoice();
markPlace();
showManage();
reloadSoon();

/**
 * Has the first Tab start at the top of the page. Chromium would find that out itself by looking at every element of the page, and lay out each part that
 * was spared until it comes into view (`content-visibility`): minutes for the longest references.
 */
function startHere() {
  if (location.hash !== '' || document.activeElement !== document.body) return;
  document.body.tabIndex = -1;
  document.body.focus({ preventScroll: true });
  document.body.blur();
  document.body.removeAttribute('tabindex');
}

/** A button beside an address that copies it. */
function addCopy(input) {
  input.addEventListener('focus', () => input.select());
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute(
    'aria-label',
    input.matches('textarea') ? 'Copy the HTML' : `Copy: ${input.labels[0].textContent}`,
  );
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(input.value);
      button.textContent = 'Copied';
    } catch {
      // Without https or permission there is no clipboard: what is selected can be copied by hand.
      input.select();
      button.textContent = 'Selected';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  input.after(button);
}

/** Shows of the table of contents what has all the words. Enter goes to the first, Escape shows all again. */
function addFilter() {
  const input = document.getElementById('filter');
  if (input === null) return;
  const status = document.getElementById('filter-count');
  const lists = [...document.querySelectorAll('.side .nav')].filter(
    (list) => list.parentElement.closest('.nav') === null,
  );
  const links = lists.flatMap((list) => [...list.querySelectorAll('a')]);
  const texts = links.map((link) => `${link.textContent} ${decode(link.hash)}`.toLowerCase());
  const wereOpen = new Map();
  let first = null;

  function apply() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const items = lists.flatMap((list) => [...list.querySelectorAll('li')]);
    for (const item of items) item.hidden = words.length > 0;
    let count = 0;
    first = null;
    if (words.length === 0) {
      for (const [details, open] of wereOpen) details.open = open;
      wereOpen.clear();
      fields.replaceChildren();
      status.textContent = '';
      return;
    }
    for (const [index, link] of links.entries()) {
      if (!words.every((word) => texts[index].includes(word))) continue;
      count++;
      first ??= link;
      for (let at = link; at !== null && !lists.includes(at); at = at.parentElement) {
        if (at.tagName === 'LI') at.hidden = false;
        if (at.tagName === 'DETAILS' && !at.open) {
          if (!wereOpen.has(at)) wereOpen.set(at, false);
          at.open = true;
        }
      }
    }
    const found = listFields(words);
    fields.replaceChildren(...found);
    status.textContent = count + found.length === 1 ? '1 match' : `${count + found.length} matches`;
  }

  const fields = document.createElement('ul');
  fields.className = 'found-fields';
  status.parentElement.after(fields);
  let names = null;

  /** Links to the fields whose names have all the words, at most thirty. */
  function listFields(words) {
    if (words.join('').length < 2) return [];
    names ??= fieldNames();
    const found = [];
    for (const { part, name } of names) {
      if (!words.every((word) => name.toLowerCase().includes(word))) continue;
      const link = document.createElement('a');
      link.href = `#${part.id}/${name.replace(/[^A-Za-z0-9._-]+/g, '-')}`;
      const where = document.createElement('span');
      where.textContent = ` in ${part.id.slice(part.id.indexOf('/') + 1)}`;
      const label = document.createElement('code');
      label.textContent = name;
      const text = document.createElement('span');
      text.append(label, where);
      link.append(text);
      const item = document.createElement('li');
      item.append(link);
      found.push(item);
      if (found.length === 30) break;
    }
    return found;
  }

  /** The names of fields with the schema that they belong to, or else the operation; each name once for a part. */
  function fieldNames() {
    const all = [];
    for (const part of document.querySelectorAll('.schema, .operation')) {
      const own = new Set(
        [...part.querySelectorAll('.props > li > code:first-child')].map(({ textContent }) => textContent),
      );
      for (const name of own) all.push({ part, name });
    }
    return all.sort((a, b) => Number(b.part.className === 'schema') - Number(a.part.className === 'schema'));
  }

  // Once for a few quick keys: a long reference has thousands of links.
  let soon = 0;
  input.addEventListener('input', () => {
    clearTimeout(soon);
    soon = setTimeout(apply, 60);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    // What was typed last counts, too.
    clearTimeout(soon);
    if (event.key === 'Escape') input.value = '';
    apply();
    if (event.key !== 'Enter' || first === null) return;
    event.preventDefault();
    first.click();
  });
  // Going back brings the text back, too.
  if (input.value !== '') apply();
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `/` goes to the filter or the search. */
function addKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.('input, textarea, select, [contenteditable], #try')) return;
    const menu = document.querySelector('.menu');
    const filter = document.getElementById('filter');
    const target = filter ?? document.getElementById('search') ?? document.getElementById('find');
    if (target === null) return;
    event.preventDefault();
    if (target === filter && !filter.checkVisibility({ contentVisibilityAuto: true })) menu.open = true;
    target.focus();
    target.select();
  });
}

/** Suggestions, and a dialog under Ctrl-K: loaded when somebody is about to search. Before the K comes the key that is held with it. */
function addSearch() {
  const { suggest } = document.querySelector('.top')?.dataset ?? {};
  if (suggest === undefined) return;
  const load = () => import(suggest);
  for (const input of document.querySelectorAll('.find input, form.search input[type="search"]')) {
    if (input === document.activeElement) load();
    else input.addEventListener('focus', load, { once: true });
  }
  if (document.getElementById('found') !== null) load();
  document.addEventListener('keydown', async (event) => {
    if (!(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return;
    const isSearch = event.key.toLowerCase() === 'k';
    if (isSearch) event.preventDefault();
    const { toggleDialog } = await load();
    if (isSearch) toggleDialog();
  });
}

/** The menu is open where there is room for it; on a narrow screen it closes when something in it was chosen. */
function addMenu() {
  const menu = document.querySelector('.menu');
  if (menu === null) return;
  const narrow = matchMedia('(max-width: 62rem)');
  fold(menu, narrow);
  fold(document.querySelector('.site-toc > details[open]'), narrow);
  menu.addEventListener('click', (event) => {
    if (narrow.matches && event.target.closest('a')) menu.open = false;
  });
}

/** Keeps details open except where there is no room beside them. A link into them opens them, too. */
function fold(details, narrow) {
  if (details === null) return;
  const fit = () => (details.open = !narrow.matches);
  fit();
  narrow.addEventListener('change', fit);
  document.addEventListener('click', ({ target }) => {
    const hash = target.closest('a')?.hash ?? '';
    if (hash.length > 1 && details.querySelector(`[id="${CSS.escape(hash.slice(1))}"]`) !== null) details.open = true;
  });
}

/** A choice of version above the table of contents. It stays at the operation that is being read. */
function addVersionChoice() {
  const versions = [...document.querySelectorAll('#versions .versions a')];
  const place = document.querySelector('.menu-body');
  if (place === null || versions.length < 2) return;
  const choice = document.createElement('select');
  choice.setAttribute('aria-label', 'Version');
  for (const link of versions) {
    const words = [...link.parentElement.querySelectorAll('.tag')].map(({ textContent }) => ` ${textContent}`);
    const isCurrent = link.hasAttribute('aria-current');
    choice.append(new Option(`${link.textContent}${words.join('')}`, link.href, isCurrent, isCurrent));
  }
  choice.addEventListener('change', () => {
    const here = document.querySelector('.side .nav a[aria-current]');
    location.href = choice.value + (here === null ? '' : here.hash);
  });
  const line = document.createElement('p');
  line.className = 'choose';
  line.append(choice);
  place.prepend(line);
}

/** Marks in the table of contents the part that is being read. */
function markPlace() {
  const links = new Map(
    [...document.querySelectorAll('.side a[href^="#"]')].map((link) => [decode(link.hash.slice(1)), link]),
  );
  if (links.size === 0) return;
  let current = null;
  let opened = null;
  function mark(link) {
    if (link === current) return;
    current?.removeAttribute('aria-current');
    current = link;
    link.setAttribute('aria-current', 'location');
    const group = link.closest('.nav details');
    // A group that was opened for the reader is closed again behind them; one that they opened stays.
    if (opened !== null && opened !== group) opened.open = false;
    if (opened !== group) opened = null;
    if (group !== null && !group.open) {
      group.open = true;
      opened = group;
    }
    keepInView(link);
  }
  const inView = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) inView.add(target);
        else inView.delete(target);
      }
      // The innermost: a group contains its operations.
      const [deepest] = [...inView].sort((a, b) => (a.contains(b) ? 1 : b.contains(a) ? -1 : 0));
      if (deepest) mark(links.get(deepest.id));
    },
    { rootMargin: '-5% 0px -85% 0px' },
  );
  for (const id of links.keys()) {
    const part = document.getElementById(id);
    if (part !== null && part.tagName !== 'MAIN') observer.observe(part);
  }
}

/** Scrolls the table of contents, and nothing else, to a link in it. */
function keepInView(link) {
  const side = link.closest('.side');
  const { top, bottom } = side.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  if (place.height === 0 || (place.top >= top && place.bottom <= bottom)) return;
  side.scrollTop += place.top - top - (bottom - top) / 3;
}

/** Links to the console, for who may publish there. The console keeps their organizations in this browser. */
function showManage() {
  let organizations = [];
  try {
    organizations = (localStorage.getItem('stele-manages') ?? '').split(' ');
  } catch {
    // Without storage there is the way over the account.
  }
  for (const link of document.querySelectorAll('[data-manage]'))
    link.hidden = !organizations.includes(link.dataset.manage);
}

/** Asks again for a page that is still being made. */
function reloadSoon() {
  const seconds = Number(document.querySelector('main')?.dataset.reload);
  if (seconds > 0) setTimeout(() => location.reload(), 1000 * seconds);
}
