/** What an organization may have at most. `content/schemas/config.json` says what each counts. */
export const quotaNames = ['bytes', 'resources', 'versions', 'keys', 'sites', 'drafts'] as const;

export type QuotaName = (typeof quotaNames)[number];

/** Null: as many as it likes. */
export type Quotas = Record<QuotaName, number | null>;
