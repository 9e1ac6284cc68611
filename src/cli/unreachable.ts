import { RegistryError } from '../model/errors.ts';

const authority =
  'its certificate is of an authority that this machine does not know. Name the file of that authority in NODE_EXTRA_CA_CERTS';

/** Why a server cannot be reached, by the name or the code of the error. */
const reasons = new Map([
  ['TimeoutError', 'it does not answer in time'],
  ['ENOTFOUND', 'the name does not exist'],
  ['EAI_AGAIN', 'the name server does not answer'],
  ['ECONNREFUSED', 'it refuses the connection'],
  ['ECONNRESET', 'it closed the connection'],
  ['UND_ERR_SOCKET', 'it closed the connection'],
  ['EHOSTUNREACH', 'there is no route to the host'],
  ['ENETUNREACH', 'there is no route to the host'],
  ['ETIMEDOUT', 'it does not answer in time'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it does not answer in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'it does not answer in time'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', authority],
  ['SELF_SIGNED_CERT_IN_CHAIN', authority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', authority],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', authority],
]);

/** For `catch` after a request to this origin: throws `unreachable`, and says why. */
export function refuseUnreachable(origin: string): (cause: unknown) => never {
  return (cause) => {
    let reason: string | undefined;
    for (let one = cause; one instanceof Error && reason === undefined; one = one.cause)
      reason = reasons.get(one.name) ?? reasons.get((one as NodeJS.ErrnoException).code ?? '');
    throw new RegistryError('unreachable', `${origin} cannot be reached${reason === undefined ? '' : `: ${reason}`}.`, {
      cause,
    });
  };
}
