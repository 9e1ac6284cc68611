import { describe, expect, test } from 'vitest';
import { releaseChangelog } from '../scripts/release/changelog.ts';
import { nextVersion } from '../scripts/release/next-version.ts';

describe('the changelog', () => {
  const text = '# Changelog\n\n## Unreleased\n\n### Added\n\n- A $& thing.\n\n## 1.0.0 - 2026-01-01\n\n- First.\n';

  test('gives what is unreleased a version and a date', () => {
    expect(releaseChangelog(text, '1.1.0', '2026-02-03')).toEqual({
      notes: '### Added\n\n- A $& thing.',
      text:
        '# Changelog\n\n## Unreleased\n\n## 1.1.0 - 2026-02-03\n\n### Added\n\n- A $& thing.\n\n' +
        '## 1.0.0 - 2026-01-01\n\n- First.\n',
    });
  });

  test('takes the last part to the end', () => {
    expect(releaseChangelog('# C\n\n## Unreleased\n\n- a\n\n- b\n', '1.0.0', '2026-02-03').notes).toBe('- a\n\n- b');
  });

  test.each(['# C\n', '# C\n\n## Unreleased\n\n## 1.0.0 - 2026-01-01\n\n- First.\n'])('refuses %j', (empty) => {
    expect(() => releaseChangelog(empty, '1.1.0', '2026-02-03')).toThrow('CHANGELOG.md');
  });
});

describe('the next version', () => {
  test.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
  ])('%s of 1.2.3 is %s', (asked, next) => {
    expect(nextVersion('1.2.3', asked)).toBe(next);
  });

  test.each(['1.2.3', '1.1.9', '0.9.0', '1.3', 'v2.0.0', '01.3.0', 'next'])('is not %s', (asked) => {
    expect(() => nextVersion('1.2.3', asked)).toThrow(asked);
  });
});
