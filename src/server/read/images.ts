import { resourceKey } from '../../model/cache-key.ts';
import { RegistryError } from '../../model/errors.ts';
import { findImage, openBlob, type GrantedVersion } from '../../registry/read.ts';
import { nothingHere } from '../nothing-here.ts';
import { sharing, type Lifetime } from './lifetime.ts';
import type { ReadRequest } from './read-request.ts';
import { prepare, sendPrepared } from './send-document.ts';

/** An SVG that is opened by itself has its own styles, and no scripts, links or other files. */
const svgPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/** Sends an image that a version's document shows. Its name has its digest, so its bytes never change. */
export async function sendImage(
  { context: { registry }, request, response }: ReadRequest,
  granted: GrantedVersion,
  name: string,
  lifetime: Lifetime,
): Promise<void> {
  const layer = await findImage(registry, granted, name);
  if (layer === null) throw new RegistryError('not_found', nothingHere);
  const { resource } = granted;
  const shared = sharing(registry.config, resource.visibility, lifetime, { keys: [resourceKey(resource)] });
  const common = {
    ...shared,
    ...(layer.mediaType === 'image/svg+xml' && { 'Content-Security-Policy': svgPolicy }),
  };
  const content = { 'Content-Type': layer.mediaType };
  const prepared = prepare({ etag: `"${layer.digest}"`, size: layer.size, ranges: true }, { common, content });
  await sendPrepared(request, response, prepared, () => openBlob(registry, granted, layer.digest));
}
