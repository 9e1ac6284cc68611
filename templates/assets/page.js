// What a page can do with JavaScript and is readable without: copy an address, filter the reference, say where one is. Remembers nothing.

for (const element of document.querySelectorAll('.script[hidden], .filter[hidden]')) element.hidden = false;

startHere();
for (const input of document.querySelectorAll('.copy input')) addCopy(input);
addFilter();
addKeys();
addMenu();
markPlace();
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
  button.setAttribute('aria-label', `Copy the address of ${input.labels[0].textContent}`);
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
    status.textContent = count === 1 ? '1 match' : `${count} matches`;
  }

  // Once for a few quick keys: a long reference has thousands of links.
  let soon = 0;
  input.addEventListener('input', () => {
    clearTimeout(soon);
    soon = setTimeout(apply, 60);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && first !== null) {
      event.preventDefault();
      first.click();
    }
    if (event.key === 'Escape') {
      input.value = '';
      apply();
    }
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

/** The menu is open where there is room for it; on a narrow screen it closes when something in it was chosen. */
function addMenu() {
  const menu = document.querySelector('.menu');
  if (menu === null) return;
  const narrow = matchMedia('(max-width: 62rem)');
  const fit = () => (menu.open = !narrow.matches);
  fit();
  narrow.addEventListener('change', fit);
  menu.addEventListener('click', (event) => {
    if (narrow.matches && event.target.closest('a')) menu.open = false;
  });
}

/** Marks in the table of contents the part that is being read. */
function markPlace() {
  const links = new Map(
    [...document.querySelectorAll('.side a[href^="#"]')].map((link) => [decode(link.hash.slice(1)), link]),
  );
  if (links.size === 0) return;
  let current = null;
  function mark(link) {
    if (link === current) return;
    current?.removeAttribute('aria-current');
    current = link;
    link.setAttribute('aria-current', 'location');
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

/** Asks again for a page that is still being made. */
function reloadSoon() {
  const seconds = Number(document.querySelector('main')?.dataset.reload);
  if (seconds > 0) setTimeout(() => location.reload(), 1000 * seconds);
}
