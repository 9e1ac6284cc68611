import { isResourceGlob } from '../../model/access.ts';
import { isSlug, parseCoordinate, slugFrom } from '../../model/address.ts';
import { isLabel, labelFromVersion } from '../../model/label.ts';

/** A string format with its error message. */
export interface StringFormat {
  isValid(text: string): boolean;
  /** Follows the place: "must be …", with a valid suggestion if one can be made from the text. */
  explain(text: string): string;
}

/**
 * By the name of their schema. The patterns in the description use only syntax that Python, Go and
 * Java support too; these check everything.
 */
export const formats: Readonly<Record<string, StringFormat>> = {
  Line: {
    isValid: (text) => /\S/.test(text),
    explain: () => 'must be one line of text: no control characters, and not blank',
  },
  Slug: {
    isValid: isSlug,
    explain: (text) => `must be 1 to 63 of a-z, 0-9 and single hyphens between them${instead(slugFrom(text))}`,
  },
  Label: {
    isValid: isLabel,
    explain: (text) =>
      `must be the label of a version: 1 to 128 of A-Z a-z 0-9 . _ + -, first and last a letter or digit, not "latest"${instead(labelFromVersion(text))}`,
  },
  RulesetCoordinate: {
    isValid: (text) => parseCoordinate(text)?.coordinate.type === 'rulesets',
    explain: () => 'must be a ruleset, such as "@acme/rulesets/style" or "@acme/rulesets/style@^1"',
  },
  ResourceGlob: {
    isValid: isResourceGlob,
    explain: () =>
      'must be a type and a name: apis, schemas, rulesets, sites or * before the slash, a-z, 0-9, - and * after it, such as "apis/pay-*"',
  },
  Replacement: {
    isValid: (text) => isLabel(text) || parseCoordinate(text) !== null,
    explain: () =>
      'must be a version of this resource, such as "2.0.0", or a coordinate, such as "@acme/apis/payments@2"',
  },
};

function instead(text: string | null): string {
  return text === null ? '' : `; ${JSON.stringify(text)} would do`;
}
