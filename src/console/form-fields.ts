import { describedField, describedParameter } from './described-field.ts';
import type { Field } from './fields.ts';
import type { Form } from './forms.ts';
import { ruledLatest } from './latest-notice.ts';
import { operationId, perform, type ConsoleRequest } from './console-request.ts';

/** The fields of a form from the operation's description, completed from the registry's state. */
export async function fieldsOf(form: Form, request: ConsoleRequest): Promise<readonly Field[]> {
  const operation = request.operations.find(operationId(request, form.operation));
  const values = await form.complete?.(request);
  const fields: Field[] = [];
  for (const name of form.fields ?? []) {
    const field = name.startsWith('?')
      ? describedParameter(operation, name)
      : describedField(operation, name, form.current !== undefined);
    const complete = completions[name];
    const more = values?.[name] ?? (complete ? await complete(request) : {});
    if (field !== null && more !== null) fields.push({ ...field, ...more });
  }
  return fields;
}

/** What the registry's state adds to a field of this name, in every form. Null: the form is better without it. */
const completions: Readonly<Record<string, (request: ConsoleRequest) => Promise<Partial<Field> | null>>> = {
  async '/ruleset'(request) {
    const query = { limit: '100' };
    const asked = { ...request, type: 'rulesets' as const };
    const { body } = await perform<{ items: { coordinate: string }[] }>(asked, 'list{many}', { query });
    return { options: body.items.map(({ coordinate }) => ({ value: coordinate, text: coordinate })) };
  },

  async '/latest'(request) {
    const { body } = await perform<{ items: { version: string; status: { state: string } }[] }>(
      request,
      'list{one}Versions',
      { query: { limit: '100' } },
    );
    const { latestPinned } = (await perform<{ latestPinned: boolean }>(request, 'get{one}')).body;
    const offered = body.items.filter(({ status }) => ['active', 'deprecated'].includes(status.state));
    const ruled = await ruledLatest(request);
    const options = [
      { value: '', text: `chosen by the rules${ruled === null ? '' : `: now ${ruled}`}` },
      ...offered.map(({ version, status }) => ({
        value: version,
        text: status.state === 'active' ? version : `${version}, ${status.state}`,
      })),
    ];
    // A version that the rules chose is no pin: saving the form unchanged must not pin it.
    return { kind: 'select', options, write: (latest) => (latestPinned ? String(latest) : '') };
  },

  async '/repository'({ context }) {
    return { hint: `An https or ssh URL, on one of ${context.registry.config.sync.hosts.join(', ')}.` };
  },

  async '/credential'({ context }) {
    const options = Object.keys(context.registry.config.credentials).map((value) => ({ value, text: value }));
    if (options.length === 0) return null;
    return { kind: 'select', options: [{ value: '', text: 'none' }, ...options] };
  },
};
