import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

/** An issuer that signs whatever it is told to: discovery and keys like everybody's, tokens as a test wants them. */
export interface Issuer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  issuer: string;
  /** Members of the discovery document that differ. */
  metadata: Record<string, unknown>;
  /** What the token endpoint answers; the nonce is the one of the newest authorization request. */
  answer: (nonce: string) => Promise<{ status?: number; body: unknown; headers?: Record<string, string> }>;
  userinfo: Record<string, unknown>;
  /** Answers every request with this status and no body. */
  status: number | null;
  /** Paths that were asked for. */
  requests: string[];
  sign(claims: JWTPayload, options?: { alg?: 'RS256' | 'ES256'; strange?: boolean }): Promise<string>;
  /** Takes the keys out of use and begins to sign with new ones. */
  rotate(): Promise<void>;
}

interface Keys {
  kid: string;
  pairs: Record<'RS256' | 'ES256', Awaited<ReturnType<typeof generateKeyPair>>>;
}

/** Its authorization endpoint sends everybody back at once, with the code `code`. */
export async function openIssuer(): Promise<Issuer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let keys = await generateKeys('one');
  const strange = await generateKeys('one');
  let nonce = '';
  const issuer: Issuer = {
    issuer: base,
    metadata: {},
    answer: async () => ({ status: 400, body: { error: 'invalid_grant' } }),
    userinfo: {},
    status: null,
    requests: [],
    async sign(claims, { alg = 'RS256', ...options } = {}) {
      const { kid, pairs } = options.strange ? strange : keys;
      return new SignJWT(claims).setProtectedHeader({ alg, kid: `${kid}-${alg}` }).sign(pairs[alg].privateKey);
    },
    async rotate() {
      keys = await generateKeys(`${keys.kid}+`);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function respond(url: URL): Promise<{ status?: number; body: unknown; headers?: Record<string, string> }> {
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return { body: { ...discoveryDocument(base), ...issuer.metadata } };
      case '/jwks':
        return { body: { keys: await publicKeys(keys) } };
      case '/authorize': {
        nonce = url.searchParams.get('nonce') ?? '';
        const back = new URL(url.searchParams.get('redirect_uri')!);
        back.search = new URLSearchParams({ code: 'code', state: url.searchParams.get('state')! }).toString();
        return { status: 303, body: null, headers: { Location: back.href } };
      }
      case '/token':
        return issuer.answer(nonce);
      case '/userinfo':
        return { body: issuer.userinfo };
      default:
        return { status: 404, body: null };
    }
  }

  server.on('request', (request, response) => {
    const url = new URL(request.url!, base);
    issuer.requests.push(url.pathname);
    if (issuer.status !== null) return void response.writeHead(issuer.status).end();
    respond(url)
      .then(({ status = 200, body, headers = {} }) =>
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body)),
      )
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
    return undefined;
  });
  return issuer;
}

function discoveryDocument(base: string) {
  return {
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    userinfo_endpoint: `${base}/userinfo`,
    jwks_uri: `${base}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
  };
}

async function generateKeys(kid: string): Promise<Keys> {
  const [RS256, ES256] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('ES256', { extractable: true }),
  ]);
  return { kid, pairs: { RS256, ES256 } };
}

async function publicKeys({ kid, pairs }: Keys) {
  return Promise.all(
    Object.entries(pairs).map(async ([alg, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      use: 'sig',
      alg,
      kid: `${kid}-${alg}`,
    })),
  );
}
