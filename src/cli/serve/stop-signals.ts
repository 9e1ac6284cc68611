/** The signals that stop a server in order. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
