import { map, type Row } from './rules-nginx-text.ts';

/**
 * Evaluates `Accept-Encoding`: the file extension of the coding with the highest weight, br before
 * zstd before gzip if equal; empty for plain bytes, `none` if not even those are accepted. A weight
 * has four digits, `0500.br`, so that weights compare as strings. `codings`: those that have files.
 */
export function codingMaps(codings: readonly string[]): string[] {
  const weighed = (coding: string, ending: string) =>
    codings.includes(coding)
      ? weigh(coding, ending, '$stele_q_else')
      : map('$http_accept_encoding', `$stele_q_${coding}`, [['default', `0000${ending}`]]);
  return [
    '# What may be packed how: each coding with its weight of four digits, and the better of two, until one is left.',
    map('$http_accept_encoding', '$stele_q_any', weights('\\*', '')),
    map('$stele_q_any', '$stele_q_else', [
      ['', '0000'],
      ['default', '$stele_q_any'],
    ]),
    // Plain bytes are acceptable unless excluded, but after every named coding.
    map('$stele_q_any', '$stele_q_unnamed', [
      ['', '0001'],
      ['default', '$stele_q_any'],
    ]),
    weighed('br', '.br'),
    weighed('zstd', '.zst'),
    weighed('gzip', '.gz'),
    weigh('identity', '', '$stele_q_unnamed'),
    better('$stele_q_1', '$stele_q_br', '$stele_q_zstd'),
    better('$stele_q_2', '$stele_q_1', '$stele_q_gzip'),
    better('$stele_q_best', '$stele_q_2', '$stele_q_identity'),
    map('$stele_q_best', '$stele_coding_weighed', [
      ['~^0000', 'none'],
      ...['.br', '.zst', '.gz'].map((ending): Row => [`~\\${ending}$`, ending]),
    ]),
    '# What browsers and tools send is looked up. Anything else is weighed: that tries some fifty patterns.',
    map('$http_accept_encoding', '$stele_coding', [
      ...usual.map((names): Row => [names, bestOf(names, codings)]),
      ['default', '$stele_coding_weighed'],
    ]),
  ];
}

/** Usual values of `Accept-Encoding`, without weights. nginx compares them without regard to capitals. */
const usual = [
  '|identity|gzip|br|zstd|gzip, deflate|gzip,deflate|deflate, gzip|gzip, br|br, gzip|gzip, deflate, br',
  'deflate, gzip, br|br, gzip, deflate|gzip, compress, deflate, br|gzip, deflate, br, zstd|deflate, gzip, br, zstd',
].flatMap((line) => line.split('|'));

/** The ending of the best of these codings, as the maps would find it. Empty: plain bytes. */
function bestOf(names: string, codings: readonly string[]): string {
  const named = names.split(',').map((name) => name.trim());
  const endings = { br: '.br', zstd: '.zst', gzip: '.gz' };
  const best = Object.entries(endings).find(([coding]) => named.includes(coding) && codings.includes(coding));
  return best?.[1] ?? '';
}

/**
 * Rows that match if the first of two numbers with equally many digits (`0500 1000`) is greater,
 * and one if they are equal.
 */
export function greater(value: string): Row[] {
  return Array.from({ length: 9 }, (_, index): Row => {
    const digit = 9 - index;
    return [`~^(\\d*)${digit}\\d*\\S* \\1[0-${digit - 1}]`, value];
  });
}

export function equal(value: string): Row {
  return ['~^(\\d+)\\S* \\1(?!\\d)', value];
}

function weigh(coding: string, ending: string, otherwise: string): string {
  const rows = weights(coding, ending);
  return map('$http_accept_encoding', `$stele_q_${coding}`, [...rows, ['default', `${otherwise}${ending}`]]);
}

function weights(name: string, ending: string): Row[] {
  const of = (weight: string) => `~*(?:^|,)\\s*${name}\\s*${weight}\\s*(?:,|$)`;
  return [
    [of('(?:;\\s*q=1(?:\\.0*)?)?'), `1000${ending}`],
    [of(';\\s*q=0(?:\\.0*)?'), `0000${ending}`],
    [of(';\\s*q=0\\.(\\d)'), `0$100${ending}`],
    [of(';\\s*q=0\\.(\\d\\d)'), `0$10${ending}`],
    [of(';\\s*q=0\\.(\\d{3})'), `0$1${ending}`],
  ];
}

function better(variable: string, first: string, second: string): string {
  return map(`${first} ${second}`, variable, [...greater(first), equal(first), ['default', second]]);
}
