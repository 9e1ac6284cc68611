import { readSecret } from '../config/environment.ts';
import type { MailConfig } from '../config/mail-config.ts';
import { newsOf } from './chat-messages.ts';
import type { Event } from '../model/event.ts';
import type { Attempt } from '../model/webhook.ts';
import type { Registry } from '../registry/registry.ts';

/** Milliseconds for each step of SMTP. */
const timeLimit = 10_000;
/** The most events of a digest to list. */
const maxListed = 200;

/** A mail about events. */
export interface News {
  to: string;
  events: readonly Event[];
  /** The page on which one unsubscribes, and to which a mail program posts (RFC 8058). */
  unsubscribe: string;
  /** The page with all watches of the person. */
  manage: string;
}

/**
 * Sends a mail with what happened, and returns the result. Never rejects. Text that somebody published stands in
 * it as plain text on one line, and never in an address: nodemailer encodes headers, and what it gets has no
 * control characters.
 */
export async function sendMail({ now }: Pick<Registry, 'now'>, config: MailConfig, news: News): Promise<Attempt> {
  const startedAt = performance.now();
  const at = now().toISOString();
  const attempt = (error: string | null): Attempt => ({
    at,
    status: null,
    milliseconds: Math.round(performance.now() - startedAt),
    error,
  });
  try {
    const { createTransport } = await import('nodemailer');
    const { hostname: host, port, protocol, username } = new URL(config.smtp);
    const isSecure = protocol === 'smtps:';
    const transport = createTransport({
      host,
      port: Number(port || (isSecure ? 465 : 587)),
      secure: isSecure,
      requireTLS: !isSecure && config.password !== undefined,
      ...(config.password && { auth: { user: decodeURIComponent(username), pass: readSecret(config.password) } }),
      connectionTimeout: timeLimit,
      greetingTimeout: timeLimit,
      socketTimeout: timeLimit,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const lines = news.events.slice(0, maxListed).map(lineOf);
    const more = news.events.length - lines.length;
    const [first] = news.events;
    await transport.sendMail({
      from: config.from,
      to: { name: '', address: news.to },
      subject: news.events.length === 1 ? newsOf(first!).title : `${news.events.length} changes of contracts you watch`,
      text: [
        ...lines,
        ...(more > 0 ? [`And ${more} more.`] : []),
        `You get this because you watch it: ${news.manage}\nUnsubscribe: ${news.unsubscribe}\n`,
      ].join('\n\n'),
      // The same for each attempt, so that mail programs show a repeated one once.
      messageId: `<${first!.id}.${news.events.length}@${new URL(news.unsubscribe).hostname}>`,
      headers: {
        'List-Unsubscribe': `<${news.unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        'Auto-Submitted': 'auto-generated',
      },
    });
    return attempt(null);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return attempt(`The mail was not taken: ${(code ?? message).slice(0, 200)}.`);
  }
}

function lineOf(event: Event): string {
  const { title, detail, url } = newsOf(event);
  return [title, detail, url].filter(Boolean).join('\n');
}
