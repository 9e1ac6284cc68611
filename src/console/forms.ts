import type { Scope } from '../model/access.ts';
import type { Answer } from '../server/v1/call.ts';
import type { Field } from './fields.ts';
import type { View } from './pages.ts';
import type { Visit } from './visit.ts';

/**
 * A form that asks one operation of the management API. The operation validates what was typed and
 * decides who may do it; the form only has texts.
 */
export interface Form {
  /** Under `/console/{organization}`, as of a page. */
  path: string;
  /** Its id, as for `operationId`. */
  operation: string;
  /** The scope that it needs, if that is more than the operation's. */
  scope?: Scope;
  title: string | ((visit: Visit) => string);
  /** What the form is about, above its title, where the title does not name it. */
  about?: (visit: Visit) => Promise<string>;
  /** Paragraphs that say what will happen. */
  lead: readonly string[] | ((visit: Visit) => readonly string[]);
  submit: string;
  /** Whether something is lost that cannot be brought back. */
  isDanger?: boolean;
  fields?: readonly Field[] | ((visit: Visit) => Promise<readonly Field[]>);
  /** Members of the body that nobody types. */
  fixed?: object | ((visit: Visit) => object);
  query?: Record<string, string>;
  /** The operation that reads what the form changes. Its ETag guards against losing another's change. */
  current?: string;
  /** Whether there may be nothing to change yet. */
  isNew?: boolean;
  /** Where to go afterwards, as a path. */
  after: string | ((answer: Answer & { body: Record<string, unknown> }, visit: Visit) => string);
  /** Where to go instead of it. Default: `after`. */
  cancel?: string;
  /** What was done, in a sentence. */
  done: string;
  /** Shows the answer in place of going somewhere: it has what is shown once. */
  show?: (answer: Answer & { body: Record<string, unknown> }, visit: Visit) => View;
}

export function leadOf({ lead }: Form, visit: Visit): readonly string[] {
  return typeof lead === 'function' ? lead(visit) : lead;
}

export function titleOf({ title }: Form, visit: Visit): string {
  return typeof title === 'function' ? title(visit) : title;
}

export async function fieldsOf({ fields = [] }: Form, visit: Visit): Promise<readonly Field[]> {
  return typeof fields === 'function' ? fields(visit) : fields;
}
