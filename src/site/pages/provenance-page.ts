import { isUrlPath } from '../../model/address.ts';
import { codingAnnotation, formatAnnotation, sourceAnnotation, type Descriptor } from '../../model/artifact.ts';
import { coordinateOf } from '../../model/resource.ts';
import { hasPublicLog } from '../../registry/transparency/log-key.ts';
import { readConfig, readManifest, type GrantedVersion } from '../../registry/read.ts';
import { dayOf, fileLinks, provenanceOf, specificationOf } from './describe-version.ts';
import { pageWithin } from './crumbs.ts';
import { docPath } from '../docs/docs.ts';
import type { Site } from '../site.ts';

/** The page of where a version came from and how it was made. */
export async function provenancePage(site: Site, granted: GrantedVersion): Promise<string> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const [config, manifest] = await Promise.all([readConfig(registry, granted), readManifest(registry, granted)]);
  const { provenance } = config;
  const coordinate = coordinateOf(resource);
  const pages = fileLinks(config);
  return site.page('provenance', {
    ...pageWithin(site, resource, 'Provenance', version.label),
    title: `Provenance of ${resource.name} ${version.label}`,
    manifest: version.manifest,
    published: dayOf(version.publishedAt),
    committed: version.createdAt === undefined ? null : dayOf(version.createdAt),
    commit: version.commit ?? null,
    specification: specificationOf(config),
    provenance: provenanceOf(config),
    approvals: provenance.approvals ?? [],
    isView: config.view !== undefined,
    files: Object.entries(provenance.blobs).map(([path, blob]) => ({
      path,
      blob,
      href: isUrlPath(path) ? path : (pages?.file(path) ?? null),
    })),
    ruleset: config.ruleset,
    validation: config.validation,
    layers: manifest.layers.map(layerOf),
    json: `${links.to(coordinate, { label: version.label, view: 'provenance' })}?format=json`,
    attestation:
      hasPublicLog(registry) && registry.config.url === site.url
        ? links.to(coordinate, { label: version.label, view: 'attestation' })
        : null,
    verify: links.path(docPath('commands')),
  });
}

function layerOf({ annotations = {}, digest, size }: Descriptor): object {
  const source = annotations[sourceAnnotation];
  const coding = annotations[codingAnnotation] ?? 'identity';
  const format = (annotations[formatAnnotation] ?? '').toUpperCase();
  return { what: source ?? (coding === 'identity' ? format : `${format}, ${coding}`), digest, size: bytes(size) };
}

/** `12.3 KB`. */
function bytes(size: number): string {
  if (size < 1000) return `${size} bytes`;
  return size < 1e6 ? `${(size / 1e3).toFixed(1)} KB` : `${(size / 1e6).toFixed(1)} MB`;
}
