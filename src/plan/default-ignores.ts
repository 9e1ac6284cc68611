/** Why discovery passes over files, and the patterns in gitignore syntax that say which. */
interface DefaultIgnore {
  /** Completes the sentence "`path` is not published: it is …". */
  reason: string;
  patterns: readonly string[];
}

/**
 * What discovery passes over unless a `.steleignore` takes it back, as if these lines stood at its
 * start. `content/docs/discovery.md` lists them. They name what is nearly never an API of the
 * repository itself. Each star stands at one end, so that matching takes linear time.
 */
export const defaultIgnores: readonly DefaultIgnore[] = [
  { reason: 'in a hidden folder', patterns: ['.*/'] },
  {
    reason: "another project's",
    patterns: folders(
      'bower_components jspm_packages site-packages dist-packages venv virtualenv',
      'vendor vendored third_party third-party thirdparty Pods Carthage',
    ),
  },
  {
    reason: 'built from other files',
    patterns: folders('dist build _build target out bin obj _site coverage bundled dereferenced'),
  },
  {
    reason: 'for tests',
    patterns: [
      ...folders('test tests testing __tests__ *-test *-tests *_test *_tests *.test *.tests e2e'),
      ...folders(
        'testdata test-data test_data testcases test-cases test_cases test-files test_files test-fixtures test_fixtures',
      ),
      ...folders('fixture fixtures __fixtures__ mock mocks __mocks__ __snapshots__ benchmark benchmarks'),
      ...files('test tests fixture fixtures mock mocks'),
    ],
  },
  {
    reason: 'an example',
    patterns: [
      ...folders('example examples *-example *-examples *_example *_examples'),
      ...folders('sample samples *-sample *-samples *_sample *_samples'),
      ...folders('demo demos *-demo *-demos *_demo *_demos tutorial tutorials playground playgrounds'),
      ...files('example examples sample samples demo'),
    ],
  },
  { reason: 'a template', patterns: ['*{{*', '*{%*', '*<%*', '*.tmpl.*', '*.tpl.*', '*.template.*'] },
];

function folders(...names: string[]): string[] {
  return names.flatMap((each) => each.split(' ').map((name) => `${name}/`));
}

function files(names: string): string[] {
  return names.split(' ').map((name) => `*.${name}.*`);
}
