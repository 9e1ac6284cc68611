import { approvalVerbs } from './approval-verbs.ts';
import { audienceVerbs } from './audience-verbs.ts';
import { commandVerbs } from './command-verbs.ts';
import { copyVerbs } from './copy-verbs.ts';
import { lockVerbs } from './lock-verbs.ts';
import { logVerbs } from './log-verbs.ts';
import { organizationVerbs } from './organization-verbs.ts';
import { ownerVerbs } from './owner-verbs.ts';
import { gatedVerbs } from './gated-verbs.ts';
import { importVerbs } from './import-verbs.ts';
import { keepingVerbs } from './keeping-verbs.ts';
import { gitVerbs } from './git-verbs.ts';
import { keyVerbs } from './key-verbs.ts';
import type { Verbs } from './life.ts';
import { personVerbs } from './person-verbs.ts';
import { quotaVerbs } from './quota-verbs.ts';
import { referenceVerbs } from './reference-verbs.ts';
import { resourceVerbs } from './resource-verbs.ts';
import { siteVerbs } from './site-verbs.ts';
import { watchVerbs } from './watch-verbs.ts';

/** Everything that changes something. */
export const verbs: Verbs = {
  ...resourceVerbs,
  ...gitVerbs,
  ...siteVerbs,
  ...keepingVerbs,
  ...keyVerbs,
  ...ownerVerbs,
  ...commandVerbs,
  ...importVerbs,
  ...approvalVerbs,
  ...gatedVerbs,
  ...referenceVerbs,
  ...organizationVerbs,
  ...copyVerbs,
  ...lockVerbs,
  ...audienceVerbs,
  ...logVerbs,
  ...watchVerbs,
  ...personVerbs,
  ...quotaVerbs,
};
