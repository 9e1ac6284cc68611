/** Returns the remembered result for a part of the document, or makes it. `form`: names the result. */
export type Once = <T>(part: object, form: string, make: () => T) => T;

/**
 * Remembers results for parts of documents, as long as these are in use. A part is recognized by
 * its object, so a result may depend only on the part, the form and the document.
 */
export function createOnce(): Once {
  const results = new WeakMap<object, Map<string, unknown>>();
  return <T>(part: object, form: string, make: () => T): T => {
    const forms = results.get(part) ?? new Map<string, unknown>();
    results.set(part, forms);
    if (!forms.has(form)) forms.set(form, make());
    return forms.get(form) as T;
  };
}
