// What the console can do with JavaScript and does without it, a click or a reload later: checks a document while it is typed, takes a file by
// drag and drop, follows a run.

for (const form of document.querySelectorAll('form[data-live]')) checkWhileTyping(form);
for (const form of document.querySelectorAll('form')) sendOnce(form);
for (const form of document.querySelectorAll('form.sheet')) warnUnsent(form);
for (const area of document.querySelectorAll('.document textarea')) numberLines(area);
document.addEventListener('click', showLine);
showAgain();
showPlace();
keepManaged();

/** Keeps in this browser where the person may publish, so that pages link to the console there (`page.js`), until they sign out. */
function keepManaged() {
  const key = 'stele-manages';
  const named = [...document.querySelectorAll('[data-manages]')].map(({ dataset }) => dataset.manages);
  try {
    const kept = (localStorage.getItem(key) ?? '').split(' ').filter(Boolean);
    if (named.length > 0) localStorage.setItem(key, [...new Set([...kept, ...named])].join(' '));
    for (const form of document.querySelectorAll('.sign-out'))
      form.addEventListener('submit', () => localStorage.removeItem(key));
  } catch {
    // Without storage there is the way over the account.
  }
}

/** On a narrow screen the sections scroll, and the one that is open may be out of sight. */
function showPlace() {
  const list = document.querySelector('.console-nav ul');
  const open = list?.querySelector('[aria-current]');
  if (open) list.scrollLeft = open.offsetLeft - (list.clientWidth - open.offsetWidth) / 2;
}

/** Shows what the check finds, half a second after the last change. */
function checkWhileTyping(form) {
  const text = form.querySelector('textarea');
  const file = form.querySelector('input[type=file]');
  if (text === null) return;
  let timer;
  let running;

  async function check() {
    running?.abort();
    running = new AbortController();
    const report = document.querySelector('.report');
    const data = new FormData(form);
    data.set('do', 'check');
    if (text.value.trim() === '') return;
    report.setAttribute('aria-busy', 'true');
    try {
      const response = await fetch(form.action, { method: 'POST', body: data, signal: running.signal });
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const found = page.querySelector('.report');
      // A page without a report says that one must sign in: the button leads there.
      if (found === null) return report.removeAttribute('aria-busy');
      const notice = page.querySelector('main > .notice.bad');
      if (notice) found.querySelector('h2').after(notice);
      report.replaceWith(found);
    } catch (error) {
      if (error.name !== 'AbortError') report.removeAttribute('aria-busy');
    }
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(check, 500);
  }

  async function take(chosen) {
    text.value = await chosen.text();
    file.value = '';
    text.dispatchEvent(new Event('input', { bubbles: true }));
  }

  // The preview of a page that is there does not wait for a change.
  if (new URLSearchParams(location.search).has('file')) check();
  form.addEventListener('input', (event) => event.target !== file && soon());
  file?.addEventListener('change', () => file.files[0] && take(file.files[0]));
  text.addEventListener('dragover', (event) => {
    event.preventDefault();
    text.classList.add('over');
  });
  text.addEventListener('dragleave', () => text.classList.remove('over'));
  text.addEventListener('drop', (event) => {
    text.classList.remove('over');
    const [dropped] = event.dataTransfer.files;
    if (!dropped || file === null) return;
    event.preventDefault();
    take(dropped);
  });
}

/** Numbers the lines of a document: those in sight, since there may be a million. */
function numberLines(area) {
  const frame = document.createElement('div');
  const numbers = document.createElement('div');
  frame.className = 'numbered';
  numbers.className = 'numbers';
  numbers.ariaHidden = 'true';
  area.before(frame);
  frame.append(numbers, area);
  area.wrap = 'off';
  let count = 0;

  function show() {
    const height = Number.parseFloat(getComputedStyle(area).lineHeight);
    const first = Math.floor(area.scrollTop / height);
    const shown = Math.min(count - first, Math.ceil(area.clientHeight / height) + 1);
    numbers.textContent = Array.from({ length: Math.max(0, shown) }, (_, at) => first + at + 1).join('\n');
    numbers.scrollTop = area.scrollTop - first * height;
  }

  function recount() {
    count = area.value.split('\n').length;
    show();
  }

  area.addEventListener('input', recount);
  area.addEventListener('scroll', show);
  new ResizeObserver(show).observe(area);
  recount();
}

/** The place of a finding leads to its line of the text, which is then selected. */
function showLine(event) {
  const link = event.target.closest?.('.report .place a[href^="#"]');
  const area = link && document.querySelector(link.hash);
  if (!area) return;
  event.preventDefault();
  const line = Number(/:(\d+):\d+$/.exec(link.textContent)?.[1] ?? 1);
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = (area.scrollHeight * (line - 4)) / lines.length;
  area.scrollLeft = 0;
}

/** A second click does not send a form a second time. */
function sendOnce(form) {
  let isSent = false;
  form.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  // Back in the history, the page is as it was left.
  addEventListener('pageshow', () => (isSent = false));
}

/** Whoever leaves the page with text that was not sent is asked first. */
function warnUnsent(form) {
  let isChanged = false;
  form.addEventListener('input', () => (isChanged = true));
  form.addEventListener('submit', () => (isChanged = false));
  addEventListener('beforeunload', (event) => isChanged && event.preventDefault());
}

/** Shows the page again after the seconds that it says, as long as it says some. */
function showAgain() {
  const main = document.querySelector('main');
  if (main.dataset.again === undefined) return;
  setTimeout(async () => {
    const response = await fetch(location.href).catch(() => null);
    if (response?.redirected) return location.reload();
    if (response?.ok) {
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const next = page.querySelector('main');
      // What is the same stays, and so does the focus in it.
      if (main.innerHTML !== next.innerHTML) {
        main.replaceWith(next);
        document.querySelector('.crumbs').replaceWith(page.querySelector('.crumbs'));
        document.title = page.title;
      }
    }
    showAgain();
  }, 1000 * main.dataset.again);
}
