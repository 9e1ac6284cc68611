import { digestOf } from '../../model/digest.ts';
import { watchingCommits } from '../../store/after-commit.ts';
import { performOnce } from '../../registry/idempotency.ts';
import type { Answer, Call } from './call.ts';

/**
 * Answers a POST with an `Idempotency-Key` once, and repetitions with the same response. Answers
 * other requests directly.
 */
export async function answerOnce<C extends Call>(
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
    {
      org,
      actor: author.actor,
      key,
      request: digestOf(subject),
      secret: asker.secret,
    },
    perform,
  );
  return isReplay ? { ...given, headers: { ...given.headers, 'Idempotency-Replayed': 'true' } } : given;
}
