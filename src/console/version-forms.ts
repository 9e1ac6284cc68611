import type { Form } from './forms.ts';
import { subjectOf } from './visit.ts';

const path = '/:type/:slug/versions/:version';
const after = '/:type/:slug';
const reason = {
  name: '/status/reason',
  label: 'Reason',
  hint: 'Readers see it.',
  kind: 'line',
  isRequired: true,
  maxLength: 1000,
} as const;

/** Forms about one version. */
export const versionForms: readonly Form[] = [
  {
    path: `${path}/deprecate`,
    operation: 'update{one}Version',
    title: (visit) => `Deprecate ${subjectOf(visit)}`,
    lead: ['Readers still get it, with a notice and the headers Deprecation and Sunset. You can undo this.'],
    submit: 'Deprecate',
    fields: [
      reason,
      {
        name: '/status/replacement',
        label: 'Use instead',
        kind: 'line',
        hint: 'A version of this resource, such as 2.0.0, or a coordinate.',
      },
      { name: '/status/sunset', label: 'It may end on', kind: 'date' },
    ],
    fixed: { status: { state: 'deprecated' } },
    after,
    done: 'The version is deprecated.',
  },
  {
    path: `${path}/yank`,
    operation: 'update{one}Version',
    title: (visit) => `Yank ${subjectOf(visit)}`,
    lead: ['Requests for exactly this version still get it. Ranges and latest skip it. You can undo this.'],
    submit: 'Yank',
    isDanger: true,
    fields: [reason],
    fixed: { status: { state: 'yanked' } },
    after,
    done: 'The version is yanked.',
  },
  {
    path: `${path}/withdraw`,
    operation: 'update{one}Version',
    scope: 'admin',
    title: (visit) => `Withdraw ${subjectOf(visit)}`,
    lead: [
      'Nobody can read this version any more: its URL answers 410 with your reason, and its bytes are deleted.',
      'This cannot be undone, and the label is never used again.',
    ],
    submit: 'Withdraw it for ever',
    isDanger: true,
    fields: [reason],
    fixed: { status: { state: 'withdrawn' } },
    after,
    done: 'The version is withdrawn.',
  },
  {
    path: `${path}/restore`,
    operation: 'update{one}Version',
    title: (visit) => `Make ${subjectOf(visit)} active`,
    lead: ['It is no longer deprecated or yanked, and may become the latest version again.'],
    submit: 'Make it active',
    fixed: { status: { state: 'active' } },
    after,
    done: 'The version is active.',
  },
];
