/** Returns what was made of a part of the document before, or makes it. `form`: what is made of it. */
export type Once = <T>(part: object, form: string, make: () => T) => T;

/**
 * Remembers what was made of parts of documents, as long as these are in use. A part is recognized
 * by its object, so what is made may depend on the part, the form and its document only.
 */
export function createOnce(): Once {
  const known = new WeakMap<object, Map<string, unknown>>();
  return <T>(part: object, form: string, make: () => T): T => {
    const forms = known.get(part) ?? new Map<string, unknown>();
    known.set(part, forms);
    if (!forms.has(form)) forms.set(form, make());
    return forms.get(form) as T;
  };
}
