import { equal, greater } from './rules-nginx-coding.ts';
import { map, unless, type Row } from './rules-nginx-text.ts';
import type { RulesTable } from './rules-table.ts';

/** The digits of a position that are compared. A longer number is past the end of every file. */
const digits = 12;
const beyondAll = '9'.repeat(digits);

/**
 * Evaluates `Range`: `part` if nginx may handle it, `beyond` if it starts past the end of a plain
 * document, else empty, which sends everything. nginx checks it too, but only after writing the
 * header fields of a success.
 */
export function rangeMaps({ versions }: Pick<RulesTable, 'versions'>): string[] {
  const sizes = versions.flatMap(({ path, sizes: own }) =>
    own.map(([ending, size]): Row => [`${path}${ending}`, String(size).padStart(digits, '0')]),
  );
  return [
    '# Byte ranges of plain documents: where they begin and end, and the size.',
    map('$http_range', '$stele_first', [
      ['~*^bytes=\\s*-0+\\s*$', beyondAll],
      ['~*^bytes=\\s*-\\d+\\s*$', '0'.repeat(digits)],
      ...padded((number) => `^bytes=\\s*${number}-\\d*\\s*$`),
    ]),
    map('$http_range', '$stele_last', [
      ...padded((number) => `^bytes=\\s*\\d+-${number}\\s*$`),
      ['default', beyondAll],
    ]),
    map('$stele_file', '$stele_size', sizes),
    map('$stele_first $stele_last', '$stele_backwards', greater('1')),
    map('$stele_first $stele_size', '$stele_beyond', [...greater('1'), equal('1')]),
    map('$http_if_range $stele_etag', '$stele_same', [
      ['~^ ', '1'],
      ['~^(\\S+) \\1$', '1'],
    ]),
    unless('$http_range', '$stele_part'),
    map(
      '$request_method$stele_coded $stele_first,$stele_size,$stele_same,$stele_backwards,$stele_beyond',
      '$stele_part_if',
      [
        ['~^GET \\d+,\\d+,1,,$', 'part'],
        ['~^GET \\d+,\\d+,1,,1$', 'beyond'],
      ],
    ),
  ];
}

/** Rows that pad a number of any length with zeros. */
function padded(pattern: (number: string) => string): Row[] {
  const rows = Array.from({ length: digits }, (_, index): Row => {
    const length = index + 1;
    return [`~*${pattern(`0*(\\d{${length}})`)}`, `${'0'.repeat(digits - length)}$1`];
  });
  return [...rows, [`~*${pattern('\\d+')}`, beyondAll]];
}
