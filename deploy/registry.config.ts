// An example for compose.yaml and kubernetes/: the store is a bucket that all nodes share.
import { defineConfig } from '@stele-registry/stele';

export default defineConfig({
  url: 'http://localhost:7700',
  proxies: 1,
  store: { kind: 's3', bucket: 'contracts', region: 'us-east-1', endpoint: 'http://bucket:9000' },
  secretKey: { env: 'STELE_SECRET_KEY' },
  organizations: { acme: { name: 'Acme' } },
});
