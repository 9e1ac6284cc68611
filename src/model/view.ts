/** What is published of a document, instead of all of it. */
export interface View {
  /** Paths of OpenAPI Overlays, in the order in which they are applied. */
  overlays: string[];
  /** Whose document it is: what `x-internal` and `x-audience` exclude is left out. Null: nothing is. */
  audience: string | null;
}

/** A view of a file, one of several documents that a repository makes of it. */
export interface FileView extends View {
  /** Path of the file. */
  file: string;
}

/** The path of a view among the documents of a repository. `#` keeps it apart from files. */
export function viewPath(file: string, slug: string): string {
  return `${file}#${slug}`;
}

/** The path of the file that a document is read from. */
export function fileOf({ path, view }: { path: string; view?: FileView | undefined }): string {
  return view?.file ?? path;
}

/** The path under which a version keeps what its view left of the entry, instead of the files that it was made from. */
export function resultPath(entry: string): string {
  return `view/${entry}`;
}

/** The path of the file in a version that its document is compiled from again. */
export function storedEntry({ provenance, view }: { provenance: { path: string }; view?: View | undefined }): string {
  return view === undefined ? provenance.path : resultPath(provenance.path);
}

/** A view in words: `the overlays a.yaml and b.yaml, for the audience public`. */
export function viewInWords({ overlays, audience }: View): string {
  const files = `${overlays.length === 1 ? 'the overlay' : 'the overlays'} ${overlays.join(', ')}`;
  const reader = `the audience ${audience}`;
  if (overlays.length === 0) return `for ${reader}`;
  return audience === null ? `with ${files}` : `with ${files}, for ${reader}`;
}
