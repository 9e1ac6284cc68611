// Starts Swagger UI on a document of this registry. What it sends goes without cookies, and the policy of the page lets it reach the document's servers alone.

const target = document.getElementById('try');

const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
paint();
dark.addEventListener('change', paint);

try {
  // The document itself may be one that only a session opens; what is sent to its servers later never carries one.
  const response = await fetch(target.dataset.document, { credentials: 'same-origin' });
  if (!response.ok) throw new Error('The document could not be loaded.');
  const spec = await response.json();
  await load(target.dataset.swagger);
  window.SwaggerUIBundle({
    spec,
    domNode: target,
    validatorUrl: null,
    deepLinking: false,
    docExpansion: 'list',
    persistAuthorization: false,
    withCredentials: false,
    queryConfigEnabled: false,
    requestInterceptor(request) {
      request.credentials = 'omit';
      return request;
    },
  });
} catch (error) {
  target.textContent = error.message;
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
