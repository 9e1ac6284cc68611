import type { SecretName } from './environment.ts';

/** How mail is sent. */
export interface MailConfig {
  /** `smtps://user@mail.example.com`, or `smtp://…`, which becomes TLS where there is a password. */
  smtp: string;
  /** `Stele <stele@example.com>`. */
  from: string;
  password?: SecretName;
}
