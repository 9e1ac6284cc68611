// What every page has with JavaScript: the theme that a reader chose, set before anything is drawn, and a button on each piece of code that copies it.

const themes = ['system', 'light', 'dark'];
const root = document.documentElement;

// A frame in somebody else's page has the theme that its address asks for.
if (root.dataset.theme === undefined) showTheme(keptTheme());
addEventListener('DOMContentLoaded', () => {
  addThemeButton();
  addCopyButtons();
});

function keptTheme() {
  try {
    const kept = localStorage.getItem('stele-theme');
    return themes.includes(kept) ? kept : 'system';
  } catch {
    return 'system';
  }
}

function showTheme(theme) {
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const source of document.querySelectorAll('picture > [media]'))
    source.media = { system: '(prefers-color-scheme: dark)', light: 'not all', dark: 'all' }[theme];
}

/** A button that goes from one theme to the next. */
function addThemeButton() {
  const top = document.querySelector('.top');
  if (top === null) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'theme';
  let theme = keptTheme();
  const next = () => themes[(themes.indexOf(theme) + 1) % themes.length];
  const show = () => {
    showTheme(theme);
    button.title = `Theme: ${theme}`;
    button.setAttribute('aria-label', `Theme: ${theme}. Change it to ${next()}.`);
  };
  button.addEventListener('click', () => {
    theme = next();
    try {
      localStorage.setItem('stele-theme', theme);
    } catch {
      // The choice is for this page then.
    }
    show();
  });
  show();
  top.append(button);
}

/** Scripts that show code later say so with the event `code`. `detail`: where the button belongs, and what to wait for before it copies. */
function addCopyButtons() {
  addEventListener('code', ({ target, detail }) => addCopy(target, detail ?? {}));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        addCopy(target.querySelector('code') ?? target);
      }
    },
    { rootMargin: '600px' },
  );
  for (const pre of document.querySelectorAll('main pre')) if (!pre.matches('.samples > pre')) observer.observe(pre);
}

function addCopy(code, { place = null, ready = () => Promise.resolve() } = {}) {
  const pre = code.closest('pre') ?? code.parentElement;
  if (place === null && pre.parentElement.matches('.code')) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy-code';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await ready();
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      // Without https or permission there is no clipboard: what is selected can be copied by hand.
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  if (place !== null) return place.append(button);
  const box = document.createElement('div');
  box.className = 'code';
  pre.replaceWith(box);
  box.append(pre, button);
}
