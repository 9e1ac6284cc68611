/** Returns what was made of a part of the document before, or makes it. `form`: what is made of it. */
export type Once = <T>(part: object, form: string, make: () => T) => T;

/** Use it for one output of one document: a part is recognized by its object. */
export function createOnce(): Once {
  const known = new Map<object, Map<string, unknown>>();
  return <T>(part: object, form: string, make: () => T): T => {
    const forms = known.get(part) ?? new Map<string, unknown>();
    known.set(part, forms);
    if (!forms.has(form)) forms.set(form, make());
    return forms.get(form) as T;
  };
}
