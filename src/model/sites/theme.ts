import { isFilePath } from './page-path.ts';

/**
 * How a site looks besides Stele's own styles. Colours are `#rgb` or `#rrggbb`; images and fonts are
 * files of the site. Nothing else gets into its stylesheet.
 */
export interface Theme {
  /** Of links and marks, on light ground. */
  accent?: string;
  /** The same on dark ground. Default: `accent`. */
  accentDark?: string;
  /** An image for the header. */
  logo?: string;
  /** The same on dark ground. Default: `logo`. */
  logoDark?: string;
  icon?: string;
  /** A font for text, and one for code. */
  font?: string;
  codeFont?: string;
}

/** Members of a theme that are paths of files in the site. */
export const themeFiles = ['logo', 'logoDark', 'icon', 'font', 'codeFont'] as const;

/** Members of a theme that are colours. */
const themeColours = ['accent', 'accentDark'] as const;

/** Whether the text is a colour that a theme may have. */
export function isColour(text: string): boolean {
  return /^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text);
}

/** The members of a theme that are not what they should be. */
export function faultsIn(theme: Theme): string[] {
  return themeColours.flatMap((name) =>
    theme[name] === undefined || isColour(theme[name])
      ? []
      : [`${name} must be a colour such as #0a7d55: ${JSON.stringify(theme[name].slice(0, 50))} is not.`],
  );
}

/** The extensions that a member may name. */
const extensions: Readonly<Record<(typeof themeFiles)[number], RegExp>> = {
  logo: /\.(?:png|jpe?g|gif|webp|avif|svg)$/i,
  logoDark: /\.(?:png|jpe?g|gif|webp|avif|svg)$/i,
  icon: /\.(?:png|ico|svg)$/i,
  font: /\.(?:woff2?|ttf|otf)$/i,
  codeFont: /\.(?:woff2?|ttf|otf)$/i,
};

/** Whether a file can be this part of a theme, by its name. */
export function fitsTheme(name: (typeof themeFiles)[number], path: string): boolean {
  return isFilePath(path) && extensions[name].test(path);
}

/** The largest file of a theme, in bytes: every page loads it. */
export const themeFileBytes = 1024 * 1024;
