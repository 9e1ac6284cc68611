/** What people, scripts and enemies give for a name or a value: each place that takes one is tried with these. */

export const ofJavaScript = Object.getOwnPropertyNames(Object.prototype);

const ofFiles = ['CON', 'nul', 'aux.json', 'LPT1', 'a:b', 'a\\b', 'a.', 'a ', '.', '..', '../x', 'a/b', 'a\0b'];
const ofUnicode = ['ünï', 'ﬀ', 'e\u0301', '\u202Eabc', 'a\u200Bb', '\uFEFFa', '😀'];
const ofText = ['', ' ', '@a', '%2e%2e', 'a%00b', 'a\nb', "a'b", 'a"b', '<b>', '${a}', '-a', 'a--b'];
const ofStele = ['latest', 'sha256', 'null', 'true', '0', 'NaN', 'a'.repeat(64), 'a'.repeat(129), 'a'.repeat(10_000)];

export const badNames: readonly string[] = [...ofJavaScript, ...ofFiles, ...ofUnicode, ...ofText, ...ofStele];

/** What `"$UNSET"` and a list of nothing become. */
export const nothings = ['', ' ', ','];

/** Values by what is wrong with them. A command line holds no NUL; a folder `plain` and a file `api.json` are there. */
export const badValues: Readonly<Record<string, string>> = {
  'an item and nothing': 'a,',
  'nothing and an item': ',a',
  'the root': '/',
  'the folder above': '..',
  'two lines': 'a\nb',
  'too long': 'x'.repeat(3000),
  'of JavaScript': 'constructor',
  'of JavaScript, too': '__proto__',
  'standard input': '-',
  'the end of options': '--',
  negative: '-1',
  exponent: '1e3',
  'no number': 'NaN',
  'a number past all': '9'.repeat(20),
  'a day that is none': '2026-02-31',
  'a folder': 'plain',
  'a file': 'api.json',
  'what is not there': 'absent/none',
  'what cannot be read': '/proc/self/mem',
  'what holds nothing': '/dev/null',
  'a host without a scheme': 'contracts.example.com',
  'a URL with a password': 'https://user:pw@127.0.0.1:9/x',
  'not UTF-8': '\ufffd\ufffd',
  'letters with marks of their own': 'u\u0308ni\u0308',
  'an escape': '%2e%2e%ff',
  'a broken pattern': '[',
  everything: '*',
  'what acts on a terminal': '\u001b[31m\u202e',
};
