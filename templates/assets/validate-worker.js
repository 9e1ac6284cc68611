// The side of validate.js that may be stopped at any time.

self.addEventListener('message', async ({ data: { module, schema, draft, instance } }) => {
  try {
    const { Validator } = await import(module);
    const { valid, errors } = new Validator(schema, draft, false).validate(instance);
    self.postMessage({ valid, errors: errors.map(({ instanceLocation, error }) => ({ instanceLocation, error })) }, []);
  } catch (error) {
    self.postMessage({ error: String(error?.message ?? error) }, []);
  }
});
