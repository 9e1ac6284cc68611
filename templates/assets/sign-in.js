// Fetches tokens from the authorization server of an API. The top of a reference and the form for a request have its fields.

/** The OAuth flows that a page can go through, with the fields of OpenAPI 2.0 under their names of 3.0. */
export function flowsOf(scheme) {
  const old = { accessCode: 'authorizationCode', application: 'clientCredentials' };
  const flows = scheme.flows ?? { [old[scheme.flow] ?? '']: scheme };
  return ['authorizationCode', 'clientCredentials']
    .filter((kind) => flows[kind]?.tokenUrl !== undefined)
    .map((kind) => ({ ...flows[kind], kind }));
}

/**
 * The fields of a flow, which fetch a token and put it into its field (`control`). `row`: a field with its label. `kept`: reads and keeps
 * the client. `form`: URL of the form for a request. `reach`: a `fetch` that may reach the authorization server.
 */
export function flowFields(flow, control, { row, kept, form, reach }) {
  const isCode = flow.kind === 'authorizationCode';
  const scopes = scopeBoxes(Object.entries(flow.scopes ?? {}));
  const button = make('button', { type: 'button' }, isCode ? 'Sign in and get a token' : 'Get a token');
  const said = make('small', { role: 'status' });
  const box = make('details', {}, make('summary', {}, isCode ? 'Authorization code, with PKCE' : 'Client credentials'));
  const id = make('input', { value: kept() ?? '', autocomplete: 'off', spellcheck: false });
  // A secret is not kept.
  const secret = make('input', { type: 'password', autocomplete: 'off' });
  box.append(row('Client id', id), row('Client secret', secret, isCode ? 'Only if the client has one.' : ''));
  if (scopes.boxes.length > 0) box.append(scopes.field);
  const back = redirectUri(form);
  if (isCode) box.append(make('p', { className: 'quiet' }, 'Redirect URI to register: ', make('code', {}, back)));
  box.append(make('p', { className: 'actions' }, button), said);
  button.addEventListener('click', async () => {
    said.className = 'quiet';
    said.textContent = isCode ? 'Waiting for the sign-in in the other window …' : 'Waiting for the server …';
    kept(id.value);
    try {
      const client = { id: id.value, secret: secret.value };
      const scope = scopes.boxes
        .filter(({ checked }) => checked)
        .map(({ value }) => value)
        .join(' ');
      const fields = isCode ? await signIn(flow, client, scope, back) : { grant_type: 'client_credentials', scope };
      control.value = await fetchToken(flow, client, fields, reach);
      said.textContent = 'The token is in its field.';
      control.dispatchEvent(new Event('input', { bubbles: true }));
    } catch (error) {
      said.className = 'wrong';
      said.textContent = error.message;
    }
  });
  return box;
}

/** A box for each scope, and before several one for all. */
function scopeBoxes(scopes) {
  const field = make('fieldset', { className: 'scopes' }, make('legend', {}, 'Scopes'));
  const check = (value, ...words) => {
    const box = make('input', { type: 'checkbox', value });
    field.append(make('label', {}, box, ...words));
    return box;
  };
  const all = scopes.length > 1 ? check('', 'all') : null;
  const boxes = scopes.map(([scope, text]) =>
    check(scope, make('span', {}, make('code', {}, scope), text ? ` ${brief(text)}` : '')),
  );
  field.addEventListener('change', ({ target }) => {
    if (target === all) for (const box of boxes) box.checked = all.checked;
    else if (all !== null) all.checked = boxes.every(({ checked }) => checked);
  });
  return { field, boxes };
}

/** Where an authorization server sends the code: one address for all versions of an API. */
function redirectUri(form) {
  const { origin, pathname } = new URL(form, location.href);
  return origin + pathname.replace(/@[^@/]*\/try$/, '/try');
}

/** Opens the authorization server in a window, and waits for its code (RFC 6749, RFC 7636). */
async function signIn({ authorizationUrl }, { id }, scope, back) {
  if (crypto.subtle === undefined) throw new Error('A sign-in needs a page that is served over https.');
  const [verifier, state] = [randomText(), randomText()];
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const url = new URL(authorizationUrl, location.href);
  if (!/^https?:$/.test(url.protocol))
    throw new Error('The document’s authorizationUrl does not begin with https:// or http://.');
  const wanted = {
    response_type: 'code',
    client_id: id,
    redirect_uri: back,
    ...(scope !== '' && { scope }),
    state,
    code_challenge: base64url(new Uint8Array(hash)),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
  const channel = new BroadcastChannel('stele-oauth');
  const answer = new Promise((resolve) => {
    channel.addEventListener('message', ({ data }) => data.state === state && resolve(data));
  });
  open(url, '_blank', 'popup,width=600,height=720');
  const { code, error, error_description: words } = await answer;
  channel.close();
  if (code === undefined) throw new Error(`The authorization server refused: ${words ?? error}`);
  return { grant_type: 'authorization_code', code, redirect_uri: back, code_verifier: verifier };
}

async function fetchToken({ tokenUrl }, { id, secret }, fields, reach) {
  const given = Object.entries({ ...fields, ...(secret === '' && { client_id: id }) }).filter(
    ([, value]) => value !== '',
  );
  const pair = [id, secret].map(encodeURIComponent).join(':');
  const url = String(new URL(tokenUrl, location.href));
  const headers = { Accept: 'application/json', ...(secret !== '' && { Authorization: `Basic ${btoa(pair)}` }) };
  const body = new URLSearchParams(given);
  const options = { method: 'POST', headers, body, credentials: 'omit', referrerPolicy: 'no-referrer' };
  const response = await reach(url, options).catch((error) => {
    throw new Error(why(error, url, ''));
  });
  const answer = await response.json().catch(() => ({}));
  if (typeof answer.access_token === 'string') return answer.access_token;
  throw new Error(`The server gave no token: ${answer.error_description ?? answer.error ?? response.status}`);
}

function randomText() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Why a browser showed no answer, as far as it tells. `blocked`: what the policy of the page forbade. */
export function why(error, url, blocked) {
  // The error may be of a frame, which has a TypeError of its own.
  if (error.name !== 'TypeError' || !URL.canParse(url)) return `The request cannot be sent: ${error.message}`;
  const { protocol, origin, hostname } = new URL(url);
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(hostname);
  if (location.protocol === 'https:' && protocol === 'http:' && !isLocal)
    return `The browser did not send it: this page is served over https, and ${origin} is plain http (mixed content).`;
  if (blocked !== '')
    return `The browser did not send it: ${origin} is not one of the document’s servers, which are all that this page may reach.`;
  if (!navigator.onLine) return 'The browser did not send it: this computer is offline.';
  return `No answer that a browser may show. Either ${origin} cannot be reached, or it does not allow pages of ${location.origin} to read its answers (CORS): it would have to send Access-Control-Allow-Origin, and to answer OPTIONS for a body of JSON, a key or a token.`;
}

/** An element with these properties and children. */
export function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** The first words of a description, without Markdown. */
export function brief(text) {
  const line = String(text)
    .split(/\n\s*\n/)[0]
    .replace(/<[^>]*>|[*_`#]|\]\([^)]*\)|\[/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
