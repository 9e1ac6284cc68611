import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import type { Readable } from 'node:stream';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

/** A mail as the server took it. */
export interface TakenMail {
  from: string;
  to: string[];
  /** Headers, unfolded, by lower-case name. */
  headers: Map<string, string>;
  body: string;
}

export interface MailServer extends AsyncDisposable {
  /** `smtp://127.0.0.1:<port>` */
  url: string;
  mails: TakenMail[];
  /** The next mails are refused. */
  setRefusing(isRefusing: boolean): void;
}

/** A real SMTP server on this machine that keeps what it takes. */
export async function openMailServer(): Promise<MailServer> {
  const mails: TakenMail[] = [];
  let isRefusing = false;
  async function take(stream: Readable, { envelope }: SMTPServerSession): Promise<void> {
    const whole = await text(stream);
    if (isRefusing) throw new Error('mailbox full');
    const [head = '', ...rest] = whole.split('\r\n\r\n');
    const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    const body = rest.join('\r\n\r\n').replace(/=\r\n/g, '').replaceAll('=3D', '=');
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), headers, body });
  }

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: callbackify(take),
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    setRefusing: (value) => void (isRefusing = value),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
