// An OpenID Connect provider for trying Stele: every name and every password is right, and everybody is in the group `platform`.
// It forgets everything when it ends. Its keys are known to everybody: never use it for real.
import { Provider } from 'oidc-provider';

const issuer = process.env.ISSUER ?? 'http://localhost:9000';
const registry = process.env.REGISTRY ?? 'http://localhost:7700';

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'stele',
      client_secret: process.env.STELE_CLIENT_SECRET ?? 'an-example-and-no-secret-at-all-2222222222',
      redirect_uris: [`${registry}/login/callback`],
      post_logout_redirect_uris: [`${registry}/`],
    },
  ],
  claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
  // The groups are in the ID token, not only at the userinfo endpoint.
  conformIdTokenClaims: false,
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, name: id, groups: ['platform'] }) }),
});
provider.listen(new URL(issuer).port, () => console.log(`sign-in at ${issuer}`));
