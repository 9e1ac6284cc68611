import type { Form } from './forms.ts';
import { noticeOfStatus } from './latest-notice.ts';
import { subjectOf } from './console-request.ts';

const path = '/:type/:slug/versions/:version';
const after = '/:type/:slug';
/** Forms about one version. */
export const versionForms: readonly Form[] = [
  {
    path: `${path}/deprecate`,
    operation: 'update{one}Version',
    title: (request) => `Deprecate ${subjectOf(request)}`,
    lead: [
      'Everybody still gets it, with a warning on its page and in headers. It can stay the latest. You can undo this.',
    ],
    submit: 'Deprecate',
    fields: ['/status/reason', '/status/replacement', '/status/sunset'],
    fixed: { status: { state: 'deprecated' } },
    notice: noticeOfStatus('deprecated'),
    after,
    done: 'The version is deprecated.',
  },
  {
    path: `${path}/yank`,
    operation: 'update{one}Version',
    title: (request) => `Yank ${subjectOf(request)}`,
    lead: [
      'For a version that nobody should start to use. Who names exactly this version still gets it, so nothing that uses it breaks.',
      'Who names a range or no version gets another one. You can undo this. To take it from everybody, withdraw it.',
    ],
    submit: 'Yank',
    isDanger: true,
    fields: ['/status/reason'],
    fixed: { status: { state: 'yanked' } },
    notice: noticeOfStatus('yanked'),
    after,
    done: 'The version is yanked.',
  },
  {
    path: `${path}/withdraw`,
    operation: 'update{one}Version',
    scope: 'admin',
    title: (request) => `Withdraw ${subjectOf(request)}`,
    lead: [
      'For a version that must not be read any more, such as one with a secret in it. Whoever uses it breaks: its URL answers 410 with your reason, and its bytes are deleted.',
      'This cannot be undone, and the label is never used again. To keep others from choosing it, yank it.',
    ],
    submit: 'Withdraw it for ever',
    isDanger: true,
    fields: ['/status/reason'],
    fixed: { status: { state: 'withdrawn' } },
    notice: noticeOfStatus('withdrawn'),
    after,
    done: 'The version is withdrawn.',
  },
  {
    path: `${path}/restore`,
    operation: 'update{one}Version',
    title: (request) => `Make ${subjectOf(request)} active`,
    lead: ['It is no longer deprecated or yanked, and may become the latest version again.'],
    submit: 'Make it active',
    fixed: { status: { state: 'active' } },
    notice: noticeOfStatus('active'),
    after,
    done: 'The version is active.',
  },
];
