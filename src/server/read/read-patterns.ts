import type { Address } from '../../model/address.ts';

const documentPattern = '/@{org}/{type}/{slug}';

const viewPatterns = {
  page: '/@{org}/{type}/{slug}/index.html',
  markdown: '/@{org}/{type}/{slug}/index.md',
  part: '/@{org}/{type}/{slug}/part-{part}',
  image: '/@{org}/{type}/{slug}/image-{image}',
  try: '/@{org}/{type}/{slug}/try',
  embed: '/@{org}/{type}/{slug}/embed',
  report: '/@{org}/{type}/{slug}/report',
  provenance: '/@{org}/{type}/{slug}/provenance',
  manifest: '/@{org}/{type}/{slug}/manifest',
  attestation: '/@{org}/{type}/{slug}/attestation',
  versions: '/@{org}/{type}/{slug}/versions',
  dependants: '/@{org}/{type}/{slug}/dependants',
  diff: '/@{org}/{type}/{slug}/diff',
  'diff-json': '/@{org}/{type}/{slug}/diff.json',
  'diff-markdown': '/@{org}/{type}/{slug}/diff.md',
};

/** The route pattern of an address, for metrics. Their number is finite, whatever clients request. */
export function patternOf(address: Address | null): string {
  if (address === null) return 'unmatched';
  if (address.kind === 'organization') return '/@{org}';
  if (address.kind === 'type') return '/@{org}/{type}';
  if (address.kind === 'graph') return '/@{org}/graph';
  if (address.kind === 'site') return '/sites/{org}/{site}';
  return address.view === 'document' ? documentPattern : viewPatterns[address.view];
}
