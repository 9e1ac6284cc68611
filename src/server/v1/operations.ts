import type { Name } from '../../registry/lives.ts';
import type { Registry } from '../../registry/registry.ts';
import { formatPrincipal } from '../../model/access.ts';
import { isResourceType } from '../../model/address.ts';
import { insteadOf, malformed } from '../../model/errors.ts';
import { organizationRef } from '../../model/gate.ts';
import { createTurns } from '../../scheduling/turns.ts';
import type { Body } from '../body/read-body.ts';
import { absent } from '../error-answers.ts';
import type { ServerContext } from '../server-context.ts';
import { ownDescription, type DescribedOperation, takesDocument } from './api-description.ts';
import type { Answer, Asker, Call, CallAbout } from './call.ts';
import {
  findForCall,
  findToPublish,
  requireOrganizationScope,
  requireScope,
  requireScopeForPart,
} from './require-scope.ts';
import { routes } from './routes.ts';
import { validatorOf } from './validate.ts';
import { digestOf } from '../../model/digest.ts';
import { watchingCommits } from '../../store/refs.ts';
import { performOnce } from '../../registry/idempotency.ts';

/** What an operation is asked with. */
export interface Asked {
  path: Record<string, string>;
  query: ReadonlyMap<string, string>;
  /** Header parameters that the description names. */
  headers: ReadonlyMap<string, string>;
  /** Reads the body, once access is granted. Null: there is none. */
  readBody(): Promise<Body | null>;
}

/** The operations of the management API that need a member, for `/v1` and for the console. */
export type Operations = ReturnType<typeof createOperations>;

export function createOperations(context: Omit<ServerContext, 'v1'>) {
  const { registry } = context;
  const description = ownDescription();
  const validator = validatorOf(description);
  const turns = createTurns();
  const byId = new Map(description.operations.map((operation) => [operation.id, operation]));

  /** Validates a body against the description and fills in its defaults. Throws `malformed`. */
  function checkBody(operation: DescribedOperation, body: Body | null): Body | null {
    if (operation.body === null || operation.body.isBytes) return operation.body && body;
    if (body !== null) validator.checkBody(operation, body.value, body.size);
    else if (operation.body.required) throw malformed('The request needs a JSON body.');
    return body;
  }

  /**
   * Performs an operation. Checks parameters, then access, then the body. Throws what `/v1` answers
   * as a problem.
   */
  async function perform(operation: DescribedOperation, asker: Asker, asked: Asked): Promise<Answer> {
    const { principal, org, address } = asker;
    // An invalid name cannot exist.
    if (!validator.isPath(operation, asked.path)) throw absent();
    const headers = validator.readParameters(operation, 'header', asked.headers);
    const typeName = operation.path.split('/')[2]!;
    const call: Call = {
      context,
      registry,
      asker,
      operation,
      principal,
      org,
      path: asked.path,
      author: { actor: formatPrincipal(principal), origin: address },
      query: validator.readParameters(operation, 'query', asked.query),
      body: null,
      type: isResourceType(typeName) ? typeName : null,
    };
    if (operation.method !== 'get') await readOn(registry, org);
    const readBody = async () => (operation.body === null ? null : checkBody(operation, await asked.readBody()));
    const key = headers['Idempotency-Key'] as string | undefined;
    const entry = routes.get(operation.id)!;
    if (entry.about === 'publish') {
      const target = await findToPublish(call);
      // A waiting request's body is not read yet.
      return turns.take(org, async () => answerOnce({ ...target, body: await readBody() }, key, entry.answer));
    }
    if (entry.about === 'resource' || entry.about === 'site') {
      const found = await findForCall(call);
      requireScope(found, operation.scope!);
      // The path says which of the two it is.
      const answer = entry.answer as (call: CallAbout<Name>) => Promise<Answer>;
      const answerFound = async () => answerOnce({ ...found, body: await readBody() }, key, answer);
      return takesDocument(operation) ? turns.take(org, answerFound) : answerFound();
    }
    if (entry.about === 'organization') requireOrganizationScope(call, operation.scope!);
    if (entry.about === 'part') requireScopeForPart(call, operation.scope!);
    return answerOnce({ ...call, body: await readBody() }, key, entry.answer);
  }

  return {
    find: (id: string): DescribedOperation => byId.get(id)!,
    /** The operation that reads what is at a path of the description; null if there is none. */
    reading: (path: string): DescribedOperation | null =>
      description.operations.find((each) => each.method === 'get' && each.path === path) ?? null,
    perform,
    checkBody,
  };
}

/** Reads what other nodes changed in the organization a moment ago. That its log is damaged is said by what needs it. */
export async function readOn({ refs }: Pick<Registry, 'refs'>, org: string): Promise<void> {
  await refs.readFresh(organizationRef(org)).catch(insteadOf('corrupt', null));
}

/**
 * Answers a POST with an `Idempotency-Key` once, and repetitions with the same response. Answers
 * other requests directly.
 */
async function answerOnce<C extends Call>(
  call: C,
  key: string | undefined,
  answer: (call: C) => Promise<Answer>,
): Promise<Answer> {
  const { registry, asker, org, author, body } = call;
  const perform = (operation?: string) =>
    watchingCommits(registry, (watched) =>
      answer({ ...call, registry: watched, ...(operation !== undefined && { author: { ...author, operation } }) }),
    );
  if (key === undefined) return perform();
  const subject = `${asker.subject}\n${body?.digest ?? digestOf('')}`;
  const { answer: given, isReplay } = await performOnce(
    registry,
    { org, actor: author.actor, key, request: digestOf(subject), secret: asker.secret },
    perform,
  );
  return isReplay ? { ...given, headers: { ...given.headers, 'Idempotency-Replayed': 'true' } } : given;
}
