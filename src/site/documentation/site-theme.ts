import type { DeploymentContents } from '../../model/sites/deployment.ts';
import { isColour } from '../../model/sites/theme.ts';

/**
 * The stylesheet of a site: colours and fonts, and nothing else. Whatever is not exactly a colour or
 * a file of the site is left out, whoever stored it.
 */
export function themeCss({ settings, files }: Pick<DeploymentContents, 'settings' | 'files'>): string {
  const { accent, accentDark = accent, font, codeFont } = settings.theme;
  const colour = (value: string | undefined): string =>
    value !== undefined && isColour(value) ? `:root{--accent:${value};--accent-ink:${inkOn(value)}}` : '';
  // The paths of files need no quoting (`page-path.ts`).
  const face = (name: string, path: string | undefined, variable: string): string =>
    path !== undefined && Object.hasOwn(files, path)
      ? `@font-face{font-family:"${name}";src:url("${path}");font-display:swap}:root{${variable}:"${name}",system-ui,sans-serif}`
      : '';
  const dark = colour(accentDark);
  return [
    colour(accent),
    dark === '' ? '' : `@media (prefers-color-scheme:dark){${dark}}`,
    face('site', font, '--sans'),
    face('site-code', codeFont, '--mono'),
  ]
    .filter((rule) => rule !== '')
    .join('\n');
}

/** Black or white, whichever is easier to read on a colour (WCAG 2, relative luminance). */
function inkOn(colour: string): string {
  const digits = colour.length === 4 ? colour.slice(1).replaceAll(/./g, '$&$&') : colour.slice(1);
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const value = parseInt(digits.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}
