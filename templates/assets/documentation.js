// Search of a documentation site, in the browser: the index is one file, so that it works without a server and offline.

const form = document.querySelector('.find[data-index]');
const most = 8;
let index = null;

if (form !== null) {
  addSearch(form, form.querySelector('input[type=search]'), form.querySelector('ul'));
}

/** Loads the index and the ranking, once. */
function openIndex() {
  index ??= load().catch((error) => {
    index = null;
    throw error;
  });
  return index;
}

async function load() {
  const { ranking, index: address, base, folder: own = '', folders = '[]' } = form.dataset;
  const others = JSON.parse(folders);
  // Only pages of the version that one reads.
  const fits = (route) => (others.find((folder) => route.startsWith(folder)) ?? '') === own;
  const [{ openPages }, answer] = await Promise.all([import(ranking), fetch(address, { credentials: 'same-origin' })]);
  if (!answer.ok) throw new Error('The index could not be loaded.');
  const search = openPages(await answer.json());
  return (text) =>
    search(text, most, fits).map(({ route, id, title, heading }) => ({
      href: base + route + (id === '' ? '' : `#${encodeURIComponent(id)}`),
      title,
      heading,
    }));
}

/** Suggestions below a field: arrows choose, Enter goes there, Escape closes. */
function addSearch(owner, input, list) {
  let chosen = -1;
  let asked = 0;

  function show(items, note) {
    chosen = -1;
    list.replaceChildren(...items.map(itemOf));
    if (note !== '') {
      const line = document.createElement('li');
      line.textContent = note;
      list.append(line);
    }
    list.hidden = items.length === 0 && note === '';
    input.setAttribute('aria-expanded', String(!list.hidden));
    input.removeAttribute('aria-activedescendant');
  }

  function choose(number) {
    const options = [...list.querySelectorAll('[role="option"]')];
    if (options.length === 0) return;
    chosen = (number + options.length) % options.length;
    for (const [at, option] of options.entries()) option.setAttribute('aria-selected', String(at === chosen));
    input.setAttribute('aria-activedescendant', options[chosen].id);
    options[chosen].scrollIntoView({ block: 'nearest' });
  }

  input.addEventListener('focus', () => void openIndex().catch(() => undefined), { once: true });
  input.addEventListener('input', async () => {
    const number = ++asked;
    const text = input.value.trim();
    if (text === '') return show([], '');
    try {
      const search = await openIndex();
      if (number === asked) {
        const items = search(text);
        show(items, items.length === 0 ? 'Nothing found.' : '');
      }
    } catch {
      if (number === asked) show([], 'Search is not available now.');
    }
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else if (event.key === 'ArrowUp') choose(chosen < 0 ? -1 : chosen - 1);
    else if (event.key === 'Escape') show([], '');
    else return;
    event.preventDefault();
  });
  owner.addEventListener('submit', (event) => {
    const links = list.querySelectorAll('a');
    // Without suggestions the server answers.
    if (links.length === 0) return;
    event.preventDefault();
    links[Math.max(0, chosen)]?.click();
  });
  owner.addEventListener('focusout', (event) => {
    if (!owner.contains(event.relatedTarget)) show([], '');
  });
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    input.focus();
  });
}

function itemOf({ href, title, heading }, at) {
  const item = document.createElement('li');
  item.setAttribute('role', 'option');
  item.id = `found-${at}`;
  const link = document.createElement('a');
  link.href = href;
  link.tabIndex = -1;
  link.textContent = title;
  if (heading !== '') {
    const where = document.createElement('small');
    where.textContent = heading;
    link.append(where);
  }
  item.append(link);
  return item;
}
