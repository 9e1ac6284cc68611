// Validates an instance by the schema of the page, in a worker: what a schema's patterns can cost is cut off, and nothing leaves the browser.

const form = document.querySelector('#validate form');
const verdict = form.querySelector('.verdict');
const longest = 5000;
const shown = 100;
let worker = null;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  worker?.terminate();
  let instance;
  try {
    instance = JSON.parse(form.elements.instance.value);
  } catch (error) {
    say('bad', `This is not JSON: ${error.message}`);
    return;
  }
  say('', 'Validating…');
  try {
    const { valid, errors } = await validate(instance);
    if (valid) say('good', 'Valid.');
    else say('bad', `Not valid: ${errors.length === 1 ? '1 problem' : `${errors.length} problems`}.`, errors);
  } catch (error) {
    say('bad', error.message);
  }
});

async function validate(instance) {
  const { schema: url, draft, module } = form.dataset;
  const response = await fetch(url);
  if (!response.ok) throw new Error('The schema could not be loaded.');
  const schema = await response.json();
  const own = new Worker(form.dataset.worker, { type: 'module' });
  worker = own;
  try {
    return await new Promise((resolve, reject) => {
      const cutOff = setTimeout(() => reject(new Error('Validation took too long in the browser.')), longest);
      own.addEventListener('message', ({ data }) => {
        clearTimeout(cutOff);
        if (data.error === undefined) resolve(data);
        else reject(new Error(`The schema could not be used: ${data.error}`));
      });
      own.addEventListener('error', () => reject(new Error('The validator could not be loaded.')));
      own.postMessage({ module, schema, draft, instance }, []);
    });
  } finally {
    own.terminate();
  }
}

function say(kind, text, errors = []) {
  verdict.className = `verdict ${kind}`;
  verdict.textContent = text;
  if (errors.length === 0) return;
  const list = document.createElement('ul');
  for (const { instanceLocation, error } of errors.slice(0, shown)) {
    const item = document.createElement('li');
    const place = document.createElement('code');
    place.textContent = instanceLocation;
    item.append(place, ` ${error}`);
    list.append(item);
  }
  verdict.append(list);
}
