import type { Scope } from '../model/access.ts';
import type { Answer } from '../server/v1/call.ts';
import type { Field } from './fields.ts';
import type { View } from './pages.ts';
import type { ConsoleRequest } from './console-request.ts';

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
  title: string | ((request: ConsoleRequest) => string);
  /** What the form is about, above its title, where the title does not name it. */
  about?: (request: ConsoleRequest) => Promise<string>;
  /** Paragraphs that say what will happen. */
  lead: readonly string[] | ((request: ConsoleRequest) => readonly string[]);
  /** What it will change for others, as things are now. */
  notice?: (request: ConsoleRequest) => Promise<View['notice'] | null>;
  submit: string;
  /** Whether something is lost that cannot be brought back. */
  isDanger?: boolean;
  /**
   * What one fills in, in order: members of the body as JSON Pointers, query parameters as `?name`. The description of
   * the operation has their labels, kinds, limits and help.
   */
  fields?: readonly string[];
  /** Additional properties of fields of this form, by name. */
  complete?: (request: ConsoleRequest) => Promise<Readonly<Record<string, Partial<Field>>>>;
  /** Members of the body that nobody types. */
  fixed?: object | ((request: ConsoleRequest) => object);
  query?: Record<string, string>;
  /** The operation that reads what the form changes. Its ETag guards against losing another's change. */
  current?: string;
  /** Whether there may be nothing to change yet. */
  isNew?: boolean;
  /** Where to go afterwards, as a path. */
  after:
    | string
    | ((answer: Answer & { body: Record<string, unknown> }, request: ConsoleRequest) => string | Promise<string>);
  /** Where to go instead of it. Default: `after`. */
  cancel?: string;
  /** What was done, in a sentence. */
  done: string;
  /** Shows the answer in place of going somewhere: it has what is shown once. */
  show?: (answer: Answer & { body: Record<string, unknown> }, request: ConsoleRequest) => View;
}

export function leadOf({ lead }: Form, request: ConsoleRequest): readonly string[] {
  return typeof lead === 'function' ? lead(request) : lead;
}

export function titleOf({ title }: Form, request: ConsoleRequest): string {
  return typeof title === 'function' ? title(request) : title;
}
