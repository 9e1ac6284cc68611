// Starts Swagger UI on one operation of a document (`#get /pets`), or on all of it. What it sends goes without cookies, and the policy of
// the page lets it reach the document's servers alone.

const target = document.getElementById('try');
document.getElementById('origin').textContent = location.origin;
// In the reference this page is in a frame, which has a title of its own.
document.documentElement.classList.toggle('framed', parent !== window);

const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
paint();
dark.addEventListener('change', paint);

let ui = null;
try {
  // The document itself may be one that only a session opens; what is sent to its servers later never carries one.
  const response = await fetch(target.dataset.document, { credentials: 'same-origin' });
  if (!response.ok) throw new Error('The document could not be loaded.');
  const document = await response.json();
  await load(target.dataset.swagger);
  show(document);
  addEventListener('hashchange', () => show(document));
} catch (error) {
  target.textContent = error.message;
}

/** Shows the operation in the address. Keeps the credentials and the server from before. */
function show(whole) {
  const [method, ...words] = decodeURIComponent(location.hash.slice(1)).split(' ');
  const one = cut(whole, method, words.join(' '));
  const credentials = ui?.authSelectors.authorized()?.toJS() ?? {};
  const server = ui?.oas3Selectors?.selectedServer();
  target.replaceChildren();
  ui = window.SwaggerUIBundle({
    spec: one ?? whole,
    domNode: target,
    validatorUrl: null,
    deepLinking: false,
    docExpansion: one === null ? 'list' : 'full',
    tryItOutEnabled: one !== null,
    defaultModelsExpandDepth: -1,
    defaultModelRendering: 'example',
    persistAuthorization: false,
    withCredentials: false,
    queryConfigEnabled: false,
    requestInterceptor(request) {
      request.credentials = 'omit';
      return request;
    },
    onComplete() {
      if (Object.keys(credentials).length > 0) ui.authActions.authorize(credentials);
      if (server) ui.oas3Actions.setSelectedServer(server);
    },
  });
  target.classList.toggle('one', one !== null);
}

/** The document with one operation and what it refers to; null if it has no such operation. */
function cut(whole, method, path) {
  const item = own(whole.paths, path);
  const operation = own(own(item, '$ref') === undefined ? item : find(whole, item.$ref), method);
  if (operation === undefined) return null;
  const { openapi, swagger, info, servers, host, basePath, schemes, consumes, produces } = whole;
  const security = operation.security ?? whole.security ?? [];
  const shared = { parameters: item.parameters, servers: item.servers };
  const one = JSON.parse(
    JSON.stringify({ openapi, swagger, info, servers, host, basePath, schemes, consumes, produces, security }),
  );
  one.paths = { [path]: { ...shared, [method]: operation } };
  const names = new Set(security.flatMap((each) => Object.keys(each ?? {})));
  for (const name of names)
    for (const place of [['components', 'securitySchemes'], ['securityDefinitions']]) {
      const scheme = own(place.reduce(own, whole), name);
      if (scheme !== undefined) put(one, [...place, name], scheme);
    }
  const seen = new Set();
  const queue = [one];
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const reference = own(value, '$ref');
    if (typeof reference === 'string' && !seen.has(reference)) {
      seen.add(reference);
      const found = find(whole, reference);
      if (found !== undefined && !reference.startsWith('#/paths/')) {
        put(one, keysOf(reference), found);
        queue.push(found);
      }
    }
    queue.push(...Object.values(value).filter((each) => typeof each === 'object' && each !== null));
  }
  return one;
}

function own(value, key) {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? value[key] : undefined;
}

function find(whole, reference) {
  return reference.startsWith('#/') ? keysOf(reference).reduce(own, whole) : undefined;
}

function keysOf(reference) {
  return decodeURIComponent(reference)
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function put(value, keys, found) {
  let at = value;
  for (const key of keys.slice(0, -1)) {
    if (own(at, key) === undefined) Object.defineProperty(at, key, { value: {}, enumerable: true, writable: true });
    at = at[key];
  }
  Object.defineProperty(at, keys.at(-1), { value: found, enumerable: true, writable: true, configurable: true });
}

function load(source) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = source;
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('Swagger UI could not be loaded.')));
    document.head.append(script);
  });
}

// Swagger UI leaves some of its fields without names, and is a part of this page.
new MutationObserver(nameFields).observe(target, { childList: true, subtree: true });

function nameFields() {
  for (const field of target.querySelectorAll(':is(select, input, textarea):not([aria-label])')) {
    const isSelect = field.tagName === 'SELECT';
    if (!isSelect && field.labels?.length > 0) continue;
    const row = field.closest('[data-param-name]');
    const place = field.closest('.servers') === null ? 'Media type' : 'Server';
    const name = row?.dataset.paramName ?? (isSelect ? place : field.placeholder || 'Request body');
    field.setAttribute('aria-label', name);
  }
  const servers = target.querySelector('.scheme-container');
  if (servers !== null) Object.assign(servers, { role: 'region', ariaLabel: 'Servers and authorization' });
  for (const heading of target.querySelectorAll('h3, h4, h5')) heading.ariaLevel = '2';
  // Long ones scroll, which the keyboard must reach.
  for (const pre of target.querySelectorAll('pre:not([tabindex])')) pre.tabIndex = 0;
}
