import ignore from 'ignore';

/**
 * Applies patterns in gitignore syntax to paths: the last pattern that matches wins, `!` takes a
 * file back, and nothing in an excluded folder can be taken back. Case does not matter. Returns for
 * each path the index of the pattern that excludes it, or -1. A pattern with several `**`
 * may take very long, so this runs in the sandbox.
 */
export function findIgnored(patterns: readonly string[], paths: readonly string[]): number[] {
  const rules = ignore({ allowRelativePaths: true }).add(
    patterns.map((pattern, index) => ({ pattern, mark: `${index}` })),
  );
  return paths.map((path) => Number(rules.test(path).rule?.mark ?? -1));
}
