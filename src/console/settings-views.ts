import { quotaNames, type QuotaName } from '../config/organization-config.ts';
import { facts, type Page } from './pages.ts';
import { assertMay, perform, here, type Answered } from './console-request.ts';

const inFindings = {
  error: 'errors reject a document',
  warn: 'errors and warnings reject a document',
  none: 'none rejects a document',
} as const;
const inBreaks = { none: 'are allowed', semver: 'need a higher major version', strict: 'need an exemption' } as const;
const inImpact = {
  none: 'users that a new version breaks are not looked for',
  warn: 'checks list the users that a new version breaks',
  block: 'a version that breaks one that uses it is rejected',
} as const;
const inApproval = {
  none: 'breaking changes need nobody’s approval',
  required: 'breaking changes and exemptions wait until somebody else approves them',
} as const;

/** The defaults for all resources of the organization. */
export const settingsPage: Page = {
  path: '/settings',
  async show(request) {
    assertMay(request, 'admin');
    const { body } = await perform(request, 'getOrganization');
    const { ruleset, configured } = body;
    const limits = await perform(request, 'getLimits');
    const { blockOn, ratchet, compatibility, impact, approval, fromConfiguration: fixed } = body;
    const fact = (name: string, text: string) =>
      fixed.includes(name) ? { text, more: 'set by the configuration of the registry' } : text;
    const rulesetPage = ruleset === null ? null : request.site.links.path(`/${ruleset}`);
    return {
      title: 'Settings',
      lead: 'What a new version must pass, where its resource does not say otherwise. Published versions stay.',
      sections: [
        {
          title: 'Default ruleset',
          lead: 'It checks each new version of an API. Schemas and rulesets are checked only by one that they name themselves.',
          facts: facts([
            [
              'Ruleset',
              rulesetPage === null
                ? 'none'
                : {
                    text: ruleset!,
                    href: rulesetPage,
                    isCode: true,
                    ...(configured && { more: 'set by the configuration of the registry' }),
                  },
            ],
          ]),
          actions: configured
            ? []
            : [{ text: ruleset === null ? 'Choose one' : 'Change', href: here(request, '/settings/ruleset') }],
        },
        {
          title: 'Defaults',
          facts: facts([
            ['Visibility', fact('visibility', body.visibility)],
            ['Findings', fact('blockOn', `${inFindings[blockOn]}${ratchet ? ', if they are new' : ''}`)],
            ['Breaks', fact('compatibility', `breaking changes ${inBreaks[compatibility]}`)],
            ['Impact', fact('impact', inImpact[impact])],
            ['Approval', fact('approval', inApproval[approval])],
            [
              'Specification',
              fact('validation', `violations ${body.validation === 'lenient' ? 'are warnings' : 'reject a document'}`),
            ],
          ]),
          actions: [{ text: 'Change', href: here(request, '/settings/defaults') }],
        },
        {
          title: 'Teams',
          lead: 'Contacts of the owners of APIs, schemas and rulesets. They come from the configuration of the registry.',
          columns: ['Owner', 'Name', 'Mail', 'Chat', 'On call'],
          rows: Object.entries(body.teams).map(([name, { title = '', mail, chat, onCall }]) => ({
            cells: [
              { text: name, isCode: true },
              { text: title },
              { text: mail ?? '', ...(mail && { href: `mailto:${mail}` }) },
              ...[chat, onCall].map((url) => ({ text: url ?? '', ...(url && { href: url }) })),
            ],
          })),
          empty: 'No team is configured.',
        },
        {
          title: 'Quotas',
          lead: 'What the organization has, and may have at most. The operator of the registry can change them.',
          facts: facts(quotaNames.map((name) => [quotaTitles[name], quotaText(name, limits.body)])),
        },
      ],
    };
  },
};

const quotaTitles: Readonly<Record<QuotaName, string>> = {
  bytes: 'Bytes',
  resources: 'Resources',
  versions: 'Versions',
  keys: 'Live keys',
  sites: 'Sites',
  drafts: 'Files sent',
};

function quotaText(name: QuotaName, { usage, quotas }: Answered<'getLimits'>): string {
  const [used, limit] = [usage![name], quotas[name]].map((count) => count?.toLocaleString('en-US'));
  return limit === undefined ? `${used}, without a limit` : `${used} of ${limit}`;
}
